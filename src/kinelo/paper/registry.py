"""Which functions make which figure: the name in a figure file → what prepares its numbers, and what draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import xarray as xr
from matplotlib.figure import Figure

from kinelo.errors import InputError
from kinelo.paper import homogeneous, kinetic, leagues, theory
from kinelo.paper.figure import FigureStudy
from kinelo.paper.leagues import Evidence
from kinelo.pictures import paper_homogeneous, paper_kinetic, paper_leagues, paper_theory

Prepare = Callable[[FigureStudy, Mapping[str, xr.Dataset]], Evidence]
Draw = Callable[[Mapping[str, xr.Dataset]], Figure]

DRAWINGS: dict[str, tuple[Prepare, Draw]] = {
    "spread": (leagues.spread, paper_leagues.draw_spread),
    "leagues": (leagues.leagues, paper_leagues.draw_leagues),
    "outliers": (leagues.outliers, paper_leagues.draw_outliers),
    "marginals": (kinetic.marginals, paper_kinetic.draw_marginals),
    "homogeneous_macro": (kinetic.homogeneous_macro, paper_kinetic.draw_homogeneous_macro),
    "energy": (kinetic.energy, paper_kinetic.draw_energy),
    "homogeneous_micro": (homogeneous.homogeneous_micro, paper_homogeneous.draw_homogeneous_micro),
    "scale": (homogeneous.scale, paper_homogeneous.draw_scale),
    "step_size": (homogeneous.step_size, paper_homogeneous.draw_step_size),
    "closures": (theory.closures, paper_theory.draw_closures),
    "phase_diagram": (theory.phase_diagram, paper_theory.draw_phase_diagram),
}


def drawing(figure: FigureStudy) -> tuple[Prepare, Draw]:
    """Return the two functions of a figure, or say which there are."""
    try:
        return DRAWINGS[figure.draw]
    except KeyError:
        accepted = ", ".join(DRAWINGS)
        raise InputError(f"{figure.source}: draw must be one of {accepted}, not {figure.draw!r}.") from None
