"""Exact σ of each team, σ over drawn line-ups as the paper has it, and its root mean square over many leagues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.studies.study import Study, required


@dataclass(frozen=True)
class TeamSpread:
    """Mean and spread of each team of a league; ``inner_95`` holds 95 % of all but its last two, over many leagues."""

    theta: Array
    sigma: Array
    drawn_sigma: Array
    expected_sigma: Array
    inner_95: tuple[float, float]


@dataclass(frozen=True)
class Spread:
    """Evidence of Figure 1: leagues by name."""

    leagues: Mapping[str, TeamSpread]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Spread:
    """Measure the spread of every league that the study names."""
    return Spread({name: _spread(study, figure.parameters) for name, study in figure.studies.items()})


def _spread(study: Study, parameters: Mapping[str, int]) -> TeamSpread:
    league = study.strengths
    many = np.array([_another(study, seed).sigma for seed in range(1, parameters["averaged_leagues"] + 1)])
    low, high = np.quantile(many[:, : league.teams - 2], [0.025, 0.975])
    return TeamSpread(
        theta=league.theta,
        sigma=league.sigma,
        drawn_sigma=_drawn(league, parameters),
        expected_sigma=np.sqrt(np.mean(many**2, axis=0)),
        inner_95=(float(low), float(high)),
    )


def _another(study: Study, seed: int) -> Strength:
    return required("league", study.league).model_copy(update={"seed": seed}).build()


def _drawn(league: Strength, parameters: Mapping[str, int]) -> Array:
    generator = np.random.default_rng(parameters["seed"])
    teams = np.repeat(np.arange(league.teams), parameters["lineups"])
    return league.draw(generator, teams).reshape(league.teams, -1).std(axis=1, ddof=1)
