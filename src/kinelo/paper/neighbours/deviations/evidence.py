"""RD over matches from two starts, and the mean rating of a lopsided league over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.steps import DeviationSteps
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.theory.moving.glicko import deviation_after, settled_deviations

RUN = "lopsided"


@dataclass(frozen=True)
class DeviationEvidence:
    """Matches and RD of two teams; time and mean rating of a league, its speeds computed and simulated."""

    matches: Array
    falling: Array
    rising: Array
    settled: float
    time: Array
    mean: Array
    still_speed: float
    noisy_speed: float
    speed: float
    speed_error: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> DeviationEvidence:
    """Compute RD and speeds, and measure the run."""
    study, run = figure.studies[RUN], runs[RUN]
    rule, outcome = study.system.gamma, study.system.outcome
    if not isinstance(rule, DeviationSteps):
        raise InputError(f"{figure.source}: the run must be rated with deviations.")
    growth = float(figure.parameters["growth"])
    settled = math.sqrt(growth / outcome.nu)
    matches = np.linspace(0, 60, 121)
    paths = [deviation_after(growth, outcome.nu**2, start, matches) for start in (2 * settled, settled / 2)]
    time = run.time.values
    means = run.rating.mean("team").transpose("realisation", "time").values
    late = time >= time[-1] / 5
    speeds = np.array([np.polyfit(time[late], one[late], 1)[0] for one in means])
    return DeviationEvidence(
        matches=matches,
        falling=paths[0],
        rising=paths[1],
        settled=settled,
        time=time,
        mean=means.mean(axis=0),
        still_speed=settled_deviations(outcome, study.strengths, rule.growth).travel_speed,
        noisy_speed=settled_deviations(outcome, study.strengths, rule.growth, noise="gaussian").travel_speed,
        speed=float(speeds.mean()),
        speed_error=float(speeds.std(ddof=1) / math.sqrt(speeds.size)),
    )
