"""The name in a figure file → the function that prepares the numbers to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import xarray as xr

from kinelo.errors import InputError
from kinelo.paper import homogeneous, kinetic, leagues, theory
from kinelo.paper.figure import FigureStudy
from kinelo.paper.leagues import Evidence

Prepare = Callable[[FigureStudy, Mapping[str, xr.Dataset]], Evidence]

PREPARATIONS: Mapping[str, Prepare] = {
    "spread": leagues.spread,
    "leagues": leagues.leagues,
    "outliers": leagues.outliers,
    "marginals": kinetic.marginals,
    "homogeneous_macro": kinetic.homogeneous_macro,
    "energy": kinetic.energy,
    "homogeneous_micro": homogeneous.homogeneous_micro,
    "scale": homogeneous.scale,
    "step_size": homogeneous.step_size,
    "closures": theory.closures,
    "phase_diagram": theory.phase_diagram,
}


def preparation(figure: FigureStudy) -> Prepare:
    """Return the function that prepares a figure, or say which there are."""
    try:
        return PREPARATIONS[figure.draw]
    except KeyError:
        accepted = ", ".join(PREPARATIONS)
        raise InputError(f"{figure.source}: draw must be one of {accepted}, not {figure.draw!r}.") from None
