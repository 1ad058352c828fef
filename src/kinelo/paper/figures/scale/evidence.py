"""Homogeneous teams for several ν; for the early runs the slope over time with the one that relaxation predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import Homogeneous, homogeneous, scale_of, slope_over_time
from kinelo.studies.study import Study
from kinelo.theory.relaxation import relaxation

EARLY = "early, "


@dataclass(frozen=True)
class EarlyRun:
    """Slope of R on θ while the ratings settle, simulated and predicted; matches per team until near its end."""

    nu: float
    time: Array
    slope: Array
    predicted: Array
    matches_to_one_percent: float
    matches_to_ten_percent: float
    measured_to_ten_percent: float


@dataclass(frozen=True)
class Scale:
    """Evidence of Figure 6."""

    final: Mapping[str, Homogeneous]
    early: Mapping[str, EarlyRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Scale:
    """Summarise the long runs, and follow the early ones."""
    found = {name: homogeneous(study, runs[name]) for name, study in figure.studies.items()}
    early = {
        name: _early(study, runs[name], found[name].computed_slope)
        for name, study in figure.studies.items()
        if name.startswith(EARLY)
    }
    return Scale({name: run for name, run in found.items() if name not in early}, early)


def _early(study: Study, run: xr.Dataset, end: float) -> EarlyRun:
    time, slope = slope_over_time(run)
    settling = relaxation(study.system, study.strengths)
    return EarlyRun(
        nu=scale_of(study),
        time=time,
        slope=slope,
        predicted=end * -np.expm1(-study.system.step * settling.gap * time),
        matches_to_one_percent=settling.matches_per_team(0.01),
        matches_to_ten_percent=settling.matches_per_team(0.1),
        measured_to_ten_percent=_time_to_ninety_percent(time, slope, end),
    )


def _time_to_ninety_percent(time: Array, slope: Array, end: float) -> float:
    """When the slope first reaches nine tenths of its final value, between two records."""
    reached = np.flatnonzero(slope >= 0.9 * end)
    if not reached.size:
        return float("inf")
    k = max(int(reached[0]), 1)
    part = (0.9 * end - slope[k - 1]) / (slope[k] - slope[k - 1])
    return float(time[k - 1] + part * (time[k] - time[k - 1]))
