r"""Where ratings end up when whole rounds or periods are rated at once.

Between two ratings of n matches a disturbance of rate λ (per match of a team and γ) shrinks by ``1 − nγλ``: too large a
step overshoots, and noise is larger than match by match.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import root_scalar

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.schedule import Rounds, Schedule
from kinelo.model.strength import Strength
from kinelo.theory.limit import with_noise
from kinelo.theory.moving.rounds import critical_gamma
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum, Teams

TOLERANCE = 0.01


@dataclass(frozen=True)
class Scheduled:
    """The state just before ratings move, matches of a team until a disturbance is down to 1 %, and the unbiased γ."""

    state: StationaryState
    matches: float
    unbiased: float | None
    noise_when_unbiased: float | None


def scheduled(schedule: Schedule, strengths: Strength | Continuum, still: StationaryState) -> Scheduled:
    """What a schedule makes of a league whose ratings rest at ``still`` as γ → 0."""
    system, teams = still.system, still.teams
    if not system.pairing.constant:
        raise InputError("Rounds and periods are judged under AllPlayAll only; simulate plays the rest.")
    if not teams.finite and isinstance(schedule, Rounds):
        raise InputError("Rounds() needs a number of teams, which a continuum has not; give Period(matches).")
    critical = critical_gamma(system.outcome, strengths)
    # In a continuum L is a mean over opponents already.
    opponents = teams.size - 1 if teams.finite else 1
    matches = teams.size - 1 if isinstance(schedule, Rounds) else schedule.matches
    gamma, share = system.step, matches / opponents

    def noisy(step: float) -> StationaryState:
        return with_noise(replace(still, system=replace(system, gamma=step, schedule=schedule)))

    fastest, slowest = 1 - gamma * share * critical.largest, 1 - gamma * share * critical.slowest
    factor = max(abs(fastest), abs(slowest))
    state = replace(noisy(gamma), stable=fastest > -1)
    settling = matches * math.log(TOLERANCE) / math.log(factor) if 0 < factor < 1 else math.inf
    unbiased = _unbiased(noisy, teams, 2 / (share * critical.largest))
    noise = None if not unbiased else math.sqrt(teams.mean(noisy(unbiased).variance))
    return Scheduled(state, settling, unbiased, noise)


def _unbiased(noisy: Callable[[float], StationaryState], teams: Teams, most: float) -> float | None:
    """γ at which the slope of ratings on strengths is 1, short of where ratings overshoot; None if there is none."""
    if np.ptp(teams.theta) == 0:
        return None
    if not teams.sigma.any():
        return 0.0

    def excess(gamma: float) -> float:
        return noisy(gamma).slope - 1

    try:
        if excess(0.01 * most) > 0 or excess(0.9 * most) < 0:
            return None
        found = root_scalar(excess, bracket=(0.01 * most, 0.9 * most), method="brentq", xtol=1e-6 * most)
        return float(found.root)
    except NoStationaryState:
        return None
