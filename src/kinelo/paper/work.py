"""How much work a run is, for a progress bar that knows the time left."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinelo.paper.figure import FigureStudy
from kinelo.studies.simulation import total_matches
from kinelo.studies.study import Study

SECONDS_PER_MATCH = 8e-9
SECONDS_PER_CELL, SECONDS_PER_STEP = 3e-9, 1e-4
SECONDS_PER_FIGURE = 1.0
"""Typical figures of a two-core machine; only their ratios matter."""


@dataclass(frozen=True)
class Work:
    """``units`` are what the run counts its progress in: matches, or kinetic time."""

    units: float
    seconds: float
    matches: int


def run_work(study: Study) -> Work:
    """Work of one run; none for a study that only names a league."""
    if study.simulate is not None:
        matches = total_matches(study)
        return Work(matches, matches * SECONDS_PER_MATCH, matches)
    if study.solve is not None and study.population is not None:
        grid = study.teams.grid
        steps = study.solve.until / grid.r.width
        return Work(study.solve.until, steps * (math.prod(grid.shape) * SECONDS_PER_CELL + SECONDS_PER_STEP), 0)
    return Work(1.0, 0.0, 0)


def figure_work(figure: FigureStudy) -> float:
    """Seconds for a figure's runs and its drawing."""
    return SECONDS_PER_FIGURE + sum(run_work(study).seconds for study in figure.studies.values())
