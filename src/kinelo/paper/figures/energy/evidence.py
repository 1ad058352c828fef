"""E, the distance to R* and the centred second moment over time, with the values theory gives for late times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, stationary_of
from kinelo.paper.summary import scale_of
from kinelo.studies.study import Study
from kinelo.theory.relaxation import relaxation


@dataclass(frozen=True, kw_only=True)
class EnergyRun(Kinetic):
    """Integrals of one run over time, and their computed limits."""

    nu: float
    common_sigma: float
    time: Array
    energy: Array
    distance: Array
    variance: Array
    asymptote: Array
    predicted_energy: float
    predicted_variance: float
    gap: float


@dataclass(frozen=True)
class Energy:
    """Evidence of Figure 9."""

    runs: Mapping[str, EnergyRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Energy:
    """Follow every run."""
    return Energy({name: _follow(figure.studies[name], run) for name, run in runs.items()})


def _follow(study: Study, run: xr.Dataset) -> EnergyRun:
    teams = continuum_of(run)
    state = stationary_of(study.system, teams, run.attrs["closure"])
    gap = relaxation(study.system, teams, closure=run.attrs["closure"]).gap
    time, distance = run.series_time.values, run.stationary_distance.values
    late = int(np.argmax(distance < 0.05 * distance[0])) if distance[0] > 0 else 0
    return EnergyRun(
        **vars(conservation(run)),
        nu=scale_of(study),
        common_sigma=float(run.sigma.values[0]),
        time=time,
        energy=run.energy.values,
        distance=distance,
        variance=run.second_moment.values - run.mean_rating.values**2,
        asymptote=distance[late] * np.exp(-2 * gap * (time - time[late])),
        predicted_energy=state.mean_square_bias,
        predicted_variance=float(state.teams.mean((state.rating - state.teams.mean(state.rating)) ** 2)),
        gap=gap,
    )
