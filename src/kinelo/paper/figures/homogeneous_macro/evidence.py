"""The density in (θ, r) at the end of each run, with the stationary maps of both closures.

Runs whose name begins with "check" are not drawn: they say how much of what is seen comes from the width of the cells
and from the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, given, stationary_of
from kinelo.paper.summary import line_through
from kinelo.theory.teams import Continuum

CHECK = "check, "


@dataclass(frozen=True, kw_only=True)
class MacroRun(Kinetic):
    """Homogeneous teams at the end of a run; a map is NaN where there is none."""

    theta: Array
    r: Array
    theta_r: Array
    mean_given_theta: Array
    exact_map: Array
    taylor_map: Array
    slope: float
    common_sigma: float
    closure: str
    cell: float
    time: float


@dataclass(frozen=True)
class Macro:
    """Evidence of Figure 5."""

    runs: Mapping[str, MacroRun]
    checks: Mapping[str, MacroRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Macro:
    """Summarise every run."""
    found = {name: _summary(figure.studies[name].system, run) for name, run in runs.items()}
    return Macro(
        {name: run for name, run in found.items() if not name.startswith(CHECK)},
        {name.removeprefix(CHECK): run for name, run in found.items() if name.startswith(CHECK)},
    )


def _summary(system: RatingSystem, run: xr.Dataset) -> MacroRun:
    end = run.isel(time=-1)
    theta, r, teams = end.theta.values, end.r.values, continuum_of(run)
    mean, _ = given(end.density_theta_r.values, r)
    return MacroRun(
        **vars(conservation(run)),
        theta=theta,
        r=r,
        theta_r=end.density_theta_r.values,
        mean_given_theta=mean,
        exact_map=_map(system, teams, "exact", theta),
        taylor_map=_map(system, teams, "taylor", theta),
        slope=line_through(theta, mean)[0],
        common_sigma=float(end.sigma.values[0]),
        closure=run.attrs["closure"],
        cell=float(r[1] - r[0]),
        time=float(end.time),
    )


def _map(system: RatingSystem, teams: Continuum, closure: Closure, theta: Array) -> Array:
    try:
        return stationary_of(system, teams, closure).rating_of(theta)
    except NoStationaryState:
        return np.full(theta.size, np.nan)
