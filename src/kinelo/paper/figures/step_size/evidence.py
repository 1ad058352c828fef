"""Simulated and computed slope against γ for each σ, and the γ at which it is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import homogeneous_league, simulated
from kinelo.studies.study import Study
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum
from kinelo.theory.unbiased import unbiased_gamma

NODES = 24
"""Enough of them for a slope to nine digits at ν = 0.5; the default of 80 costs ten times as much with noise."""


@dataclass(frozen=True)
class Points:
    """Simulated slopes with their standard errors, one per run."""

    sigma: Array
    gamma: Array
    slope: Array
    slope_error: Array


@dataclass(frozen=True)
class Lines:
    """Computed slopes over (σ, γ), and the unbiased γ* of each σ."""

    sigma: Array
    gamma: Array
    slope: Array
    unbiased: Array


@dataclass(frozen=True)
class StepSize:
    """Evidence of Figure 7."""

    simulated: Points
    computed: Lines


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> StepSize:
    """Summarise the simulations, and compute the lines."""
    points = []
    for name, study in figure.studies.items():
        summary = simulated(runs[name])
        points.append((homogeneous_league(study).sigma, study.system.step, summary.slope, summary.slope_error))
    some = next(iter(figure.studies.values()))
    gammas, sigmas = np.array(figure.parameters["gamma"]), sorted({point[0] for point in points})
    lines = np.array([[_slope(some, sigma, gamma) for gamma in gammas] for sigma in sigmas])
    return StepSize(
        Points(*(np.array(column) for column in zip(*points))),
        Lines(np.array(sigmas), gammas, lines, np.array([_unbiased(some, sigma) for sigma in sigmas])),
    )


def _slope(study: Study, sigma: float, gamma: float) -> float:
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=NODES)
    return stationary(RatingSystem(study.system.outcome, gamma=float(gamma)), teams, noise="gaussian").slope


def _unbiased(study: Study, sigma: float) -> float:
    if sigma == 0:
        return 0.0
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=NODES)
    return unbiased_gamma(study.system.outcome, teams)
