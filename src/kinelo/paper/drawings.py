"""The name in a figure file → the function that draws it; light to import, as the process that draws needs no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kinelo.pictures import paper_homogeneous, paper_kinetic, paper_leagues, paper_theory

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

DRAWINGS: Mapping[str, Callable[[Mapping[str, xr.Dataset]], Figure]] = {
    "spread": paper_leagues.draw_spread,
    "leagues": paper_leagues.draw_leagues,
    "outliers": paper_leagues.draw_outliers,
    "marginals": paper_kinetic.draw_marginals,
    "homogeneous_macro": paper_kinetic.draw_homogeneous_macro,
    "energy": paper_kinetic.draw_energy,
    "homogeneous_micro": paper_homogeneous.draw_homogeneous_micro,
    "scale": paper_homogeneous.draw_scale,
    "step_size": paper_homogeneous.draw_step_size,
    "closures": paper_theory.draw_closures,
    "phase_diagram": paper_theory.draw_phase_diagram,
}
