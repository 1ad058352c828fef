r"""What theory says of a system before a match is played: E = noise + lag + bias, where there is a theory.

- Strengths that move, one γ for all: :func:`kinelo.tracking`. A step that falls with matches has the value it has
  halfway through the matches that are judged.
- Strengths at rest: the stationary ratings with their noise.
- Glicko, at rest and with strengths that move: the closure with the steps that its deviations settle at.
- An open league, one γ for all, at rest, with form or with a walk: :mod:`kinelo.theory.moving.open_league`.
- An open league at rest whose steps fall (departures per match δ, at random): a newcomer's error after n matches obeys
  ``E_{n+1} = (1 − γ_n μ)² E_n + γ_n²(q + μ²E)`` from E₀ = Var θ of newcomers, because points are passed on only and so
  the league's mean rating settles at the start; the league's is ``E = Σ δ(1 − δ)ⁿ E_n``. Errors of newcomers are large,
  so μ is the mean slope over gaps blurred by both teams' errors, ``E b'(z + √(E_n + E) Z)``. In a contest of k the luck
  q is that of a contest, and the errors of k − 1 opponents are averaged: ``γ²(q + μ²E/(k − 1))``.

Elsewhere (steps by rating, pairing by rating of strengths that move, open leagues that the weakest leave) there is no
theory here, only simulation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Turnover, parts_of
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps, StepRule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.moving.following import Parts
from kinelo.theory.moving.glicko import discount, settled_deviations
from kinelo.theory.moving.open_league import OpenLeague
from kinelo.theory.moving.tracking import error_of
from kinelo.theory.worth import contest_share

OLDEST = 1e-6
ROUNDS = 12
DESIGN_NODES = 15
GRID = 40


def expected_error(system: RatingSystem, strengths: Strength, dynamics: Any, matches: float) -> Parts | None:
    """E of a system by theory after so many matches of a team, and its parts; None where there is no theory."""
    dynamics, turnover = parts_of(dynamics)
    try:
        if turnover is not None:
            if isinstance(system.gamma, float):
                return OpenLeague(system, strengths, dynamics, turnover)(system.gamma).parts
            return _falling_in_open_league(system, strengths, turnover) if dynamics is None else None
        if dynamics is not None and not isinstance(system.pairing, AllPlayAll):
            return None
        if isinstance(system.gamma, FideSteps):
            return None
        if isinstance(system.gamma, FallingSteps):
            system = replace(system, gamma=settled_step(system, strengths, matches))
        if dynamics is None and isinstance(system.gamma, DeviationSteps):
            return _deviations_at_rest(system, strengths)
        return error_of(system, strengths, dynamics)
    except (InputError, NoStationaryState):
        return None


def settled_step(system: RatingSystem, strengths: Strength, matches: float) -> float:
    """The step of a typical team after so many matches."""
    rule = system.gamma
    if isinstance(rule, DeviationSteps):
        square = settled_deviations(system, strengths).deviation ** 2
        seen = float(np.mean(discount(system.outcome.nu, square) ** 2))
        return float(system.outcome.nu * square.mean() * seen)
    if isinstance(rule, StepRule):
        return float(rule.at(np.zeros(1), np.array([matches]), np.zeros(1, bool))[0])
    return float(np.min(rule))


def _deviations_at_rest(system: RatingSystem, strengths: Strength) -> Parts:
    settled = settled_deviations(system, strengths, noise="gaussian")
    off = settled.rating - strengths.theta
    return Parts(float(settled.variance.mean()), 0.0, float(np.var(off, ddof=1)))


def _falling_in_open_league(system: RatingSystem, strengths: Strength, turnover: Turnover) -> Parts | None:
    """The recursion above; what is left of unknown starts counts as lag."""
    rule: Any = system.gamma
    apart = isinstance(system.schedule, Rounds | Period)
    plain = isinstance(system.pairing, AllPlayAll) and not apart and turnover.leaving == "random"
    if not plain or not isinstance(rule, FallingSteps) or np.any(getattr(strengths, "sigma", 0.0)):
        return None
    pool = turnover.pool
    age = np.arange(int(np.ceil(np.log(OLDEST) / np.log1p(-turnover.rate))))
    weight = turnover.rate * (1 - turnover.rate) ** age
    gamma = rule.at(np.zeros(age.size), age, np.zeros(age.size, bool))
    start, error, noise = float(pool.var()), 0.0, 0.0
    for _ in range(ROUNDS):
        pairs = _PoolPairs(system, pool, 2 * (start + error))
        path = _path(gamma, pairs, start, (error, noise))
        error, noise = (weight @ path).tolist()
    return Parts(noise=noise, lag=error - noise, bias=0.0)


def _path(gamma: np.ndarray, pairs: _PoolPairs, start: float, others: tuple[float, float]) -> np.ndarray:
    """A newcomer's error match by match, all of it and the part that is luck's, among others with such errors."""
    path = np.empty((gamma.size, 2))
    error, noise = start, 0.0
    for n, step in enumerate(gamma.tolist()):
        path[n] = error, noise
        mu = pairs.slope(error + others[0])
        keep, passed = (1 - step * mu) ** 2, (step * mu) ** 2 / pairs.opponents
        luck = step**2 * pairs.luck
        error, noise = keep * error + passed * others[0] + luck, keep * noise + passed * others[1] + luck
    return path


class _PoolPairs:
    """Pairs of the pool: mean slope of results where gaps are off by a normal error, and the luck of a result."""

    def __init__(self, system: RatingSystem, pool: np.ndarray, widest: float) -> None:
        outcome, self.opponents = system.outcome, system.sides - 1
        gap = (pool[:, None] - pool[None, :]).ravel()
        x, weight = np.polynomial.hermite_e.hermegauss(DESIGN_NODES)
        blurred = gap[:, None, None] + np.sqrt(np.linspace(0.0, widest, GRID))[:, None] * x
        self._slopes = (outcome.b_prime(blurred) @ (weight / weight.sum())).mean(axis=0).tolist()
        self._rungs = (GRID - 1) / widest if widest > 0 else 0.0
        tie = np.where(outcome.has_ties, outcome.tie_probability(gap), 0.0)
        self.luck = float(np.mean(1 - tie - outcome.b(gap) ** 2))
        if system.sides > 2:
            self.luck *= contest_share(system, pool)

    def slope(self, variance: float) -> float:
        """A straight line between the rungs of the grid, in plain numbers: thousands of matches ask one by one."""
        at = min(variance * self._rungs, GRID - 1.0)
        below = min(int(at), GRID - 2)
        return self._slopes[below] + (at - below) * (self._slopes[below + 1] - self._slopes[below])
