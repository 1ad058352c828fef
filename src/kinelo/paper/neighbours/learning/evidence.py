"""Error of ratings against γ, computed and simulated, and the spread of a league that is driven apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.dynamics import Learning
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.tracking import tracking
from kinelo.theory.teams import teams_of

APART = "apart"
SETTLED = 0.25
"""Part of a run that is left out, as its way to the stationary state."""


@dataclass(frozen=True)
class LearningEvidence:
    """Computed errors over γ, their limit, simulated ones with standard errors, and the spreads of the league apart."""

    gamma: Array
    error: Array
    floor: float
    slope: float
    run_gamma: Array
    run_error: Array
    run_uncertainty: Array
    time: Array
    strength_spread: Array
    rating_spread: Array
    predicted_spread: Array


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> LearningEvidence:
    """Compute the line, and measure the runs."""
    studies = {name: study for name, study in figure.studies.items() if name != APART}
    first = next(iter(studies.values()))
    learning = first.motion
    if not isinstance(learning, Learning):
        raise InputError(f"{figure.source}: the runs must have learning as their dynamics.")
    found = tracking(first.system, first.strengths, learning)
    outcome, correction = first.system.outcome, found.moments - found.closure
    gamma = np.linspace(0.0, max(study.system.step for study in studies.values()), 25)
    teams = teams_of(first.strengths)
    error = np.array([(learning_closure(outcome, learning, one, teams).moments + correction).error for one in gamma])
    measured = np.array([(study.system.step, *simulated_error(runs[name])) for name, study in studies.items()])
    apart, system = runs[APART], figure.studies[APART].system
    time = system.step * apart.time.values
    nu = system.outcome.nu
    return LearningEvidence(
        gamma=gamma,
        error=error,
        floor=found.limit.error if found.limit else float(error[0]),
        slope=found.limit.rating_slope if found.limit else math.nan,
        run_gamma=measured[:, 0],
        run_error=measured[:, 1],
        run_uncertainty=measured[:, 2],
        time=time,
        strength_spread=apart.strength.std("team").mean("realisation").values,
        rating_spread=apart.rating.std("team").mean("realisation").values,
        predicted_spread=(3 * math.pi**2 * time / (8 * nu**2)) ** (1 / 3) / math.sqrt(5),
    )


def simulated_error(run: xr.Dataset) -> tuple[float, float]:
    """Mean square error about the league's means, and its standard error over realisations."""
    late = run.isel(time=slice(int(SETTLED * run.sizes["time"]), None))
    gap = (late.rating - late.strength).transpose("realisation", "time", "team").values
    each = gap.var(axis=-1, ddof=1).mean(axis=-1)
    return float(each.mean()), float(each.std(ddof=1) / math.sqrt(each.size))
