"""Orbits of the mean map and noise of rounds over γ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.schedule import Rounds
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.theory.limit import stationary
from kinelo.theory.moving.rounds import critical_gamma


@dataclass(frozen=True)
class RoundsEvidence:
    """Points of orbits as (γ, rating), periods over γ, thresholds, and noise over some γ."""

    orbit: Array
    gamma: Array
    period: Array
    critical: float
    fastest: float
    bound: float
    noisy_gamma: Array
    noise: Array
    noise_by_match: Array


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> RoundsEvidence:
    """Follow the mean map at each γ."""
    p = figure.parameters
    outcome, league = Tanh(p["nu"]), Fixed(np.linspace(p["theta"][0], p["theta"][1], p["teams"]))
    found = critical_gamma(outcome, league)
    low, high = p["gamma"]
    gamma = np.linspace(low, high, p["points"])
    orbits = [found.beyond(float(one)) for one in gamma]
    points = [(one, rating[p["teams"] // 2]) for one, orbit in zip(gamma, orbits) for rating in orbit.ratings]
    some = np.linspace(low, high, p["noisy"])
    noise, by_match = (
        [_noise(RatingSystem(outcome, gamma=float(one), schedule=schedule), league) for one in some]
        for schedule in (Rounds(), None)
    )
    return RoundsEvidence(
        np.array(points), gamma, np.array([orbit.period for orbit in orbits]), found.critical, found.fastest,
        found.bound, some, np.array(noise), np.array(by_match),
    )  # fmt: skip


def _noise(system: RatingSystem, league: Fixed) -> float:
    return float(np.sqrt(stationary(system, league, noise="gaussian").variance.mean()))
