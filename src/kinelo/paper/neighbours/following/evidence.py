"""The error of following form over γ with its parts, simulated errors, and that of Glicko."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.neighbours.learning.evidence import simulated_error
from kinelo.theory.moving.best import best_gamma, error_curve

FILTER = "Glicko"


@dataclass(frozen=True)
class FollowingEvidence:
    """Error and parts over γ, the best γ, simulated errors with standard errors, and Glicko's."""

    gamma: Array
    parts: Array
    best: float
    least: float
    run_gamma: Array
    run_error: Array
    run_uncertainty: Array
    glicko: float
    glicko_uncertainty: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> FollowingEvidence:
    """Compute the curve, and measure the runs."""
    studies = {name: study for name, study in figure.studies.items() if name != FILTER}
    first = next(iter(studies.values()))
    outcome, league, form = first.system.outcome, first.strengths, first.motion
    measured = np.array([(study.system.step, *simulated_error(runs[name])) for name, study in studies.items()])
    curve, gamma = error_curve(outcome, league, form), np.linspace(0.02, 1.1 * measured[:, 0].max(), 30)
    rows = np.array([(one.noise, one.lag, one.bias) for one in map(curve, gamma)])
    best = best_gamma(outcome, league, form)
    glicko, doubt = simulated_error(runs[FILTER])
    return FollowingEvidence(
        gamma, rows, best.gamma, best.error, measured[:, 0], measured[:, 1], measured[:, 2], glicko, doubt
    )
