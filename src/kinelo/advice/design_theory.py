r"""What theory says of a system before a match is played: E = noise + lag + bias, where there is a theory.

- Strengths that move, one γ for all: :func:`kinelo.tracking`. A step that falls with matches has the value it has
  halfway through the matches that are judged.
- Strengths at rest: the stationary ratings with their noise.
- Glicko, at rest and with strengths that move: the closure with the steps that its deviations settle at.
- An open league, one γ for all, at rest, with form or with a walk: :mod:`kinelo.theory.moving.open_league`.
- An open league at rest whose steps fall (departures per match δ, at random): newcomers of strength θ begin at one
  rating, and after n matches theirs has the mean m and the variance v,
  ``m ← m + γ_n E[s − b]``, ``v ← (1 − γ_n μ)² v + γ_n²(q + μ²E)``, among opponents of age n with chance δ(1 − δ)ⁿ. μ is
  the mean slope of results there, q the luck of a result and E the error of an opponent. The league's is the mean of
  ``v + (m − θ)²`` about that of ``m − θ``. In a contest of k the luck is that of a contest, and the errors of k − 1
  opponents are averaged: ``γ²(q + μ²E/(k − 1))``.

Elsewhere (steps by rating, pairing by rating of strengths that move, open leagues that the weakest leave) there is no
theory here, only simulation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Turnover, parts_of
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.theory.moving.following import Parts
from kinelo.theory.moving.glicko import settled_deviations
from kinelo.theory.moving.open_league import OpenLeague
from kinelo.theory.moving.tracking import error_of
from kinelo.theory.worth import contest_share

OLDEST = 1e-6
ROUNDS = 8
DESIGN_NODES = 15
GRID = 80


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
            steps = system.gamma.at(np.zeros(1), np.array([matches]), np.zeros(1, bool))
            system = replace(system, gamma=float(steps[0]))
        if dynamics is None and isinstance(system.gamma, DeviationSteps):
            settled = settled_deviations(system, strengths, noise="gaussian")
            off = settled.rating - strengths.theta
            return Parts(float(settled.variance.mean()), 0.0, float(np.var(off, ddof=1)))
        return error_of(system, strengths, dynamics)
    except (InputError, NoStationaryState):
        return None


def _falling_in_open_league(system: RatingSystem, strengths: Strength, turnover: Turnover) -> Parts | None:
    """The recursion above; what is left of unknown starts counts as lag."""
    rule: Any = system.gamma
    apart = isinstance(system.schedule, Rounds | Period)
    plain = isinstance(system.pairing, AllPlayAll) and not apart and turnover.leaving == "random"
    if not plain or not isinstance(rule, FallingSteps) or np.any(getattr(strengths, "sigma", 0.0)):
        return None
    theta, count = np.unique(turnover.pool, return_counts=True)
    mass, outcome = count / count.sum(), system.outcome
    age = np.arange(int(np.ceil(np.log(OLDEST) / np.log1p(-turnover.rate))))
    weight = turnover.rate * (1 - turnover.rate) ** age
    gamma = rule.at(np.zeros(age.size), age, np.zeros(age.size, bool)).tolist()
    gap = theta[:, None] - theta[None, :]
    tie = np.where(outcome.has_ties, outcome.tie_probability(gap), 0.0)
    expected, luck = outcome.b(gap) @ mass, (1 - tie - outcome.b(gap) ** 2) @ mass
    if system.sides > 2:
        luck = luck * contest_share(system, turnover.pool)
    others, spread, off = theta, np.zeros(theta.size), 0.0
    rating, variance = np.empty((2, age.size, theta.size))
    for _ in range(ROUNDS):
        scores = _Scores(outcome, mass, others, spread, np.append(theta, turnover.start))
        rating[0], variance[0] = turnover.start, 0.0
        for n, step in enumerate(gamma[:-1]):
            score, slope = scores.at(rating[n], variance[n])
            rating[n + 1] = rating[n] + step * (expected - score)
            shaken = luck + slope**2 * off / (system.sides - 1)
            variance[n + 1] = (1 - step * slope) ** 2 * variance[n] + step**2 * shaken
        others = weight @ rating
        spread = weight @ (variance + rating**2) - others**2
        off = float(mass @ (spread + (others - theta) ** 2)) - float(mass @ (others - theta)) ** 2
    noise = float(mass @ (weight @ variance))
    return Parts(noise=noise, lag=off - noise, bias=0.0)


class _Scores:
    """Mean result that opponents with normal ratings make one expect of a normal rating, and its slope: on a grid."""

    def __init__(self, outcome: Outcome, mass: np.ndarray, others: np.ndarray, spread: np.ndarray, about: np.ndarray):
        reach = float(np.ptp(about)) or 1.0
        self._x = np.linspace(about.min() - reach / 2, about.max() + reach / 2, GRID)
        self._v = np.linspace(0.0, reach**2 / 4, GRID // 4)
        node, share = np.polynomial.hermite_e.hermegauss(DESIGN_NODES)
        z = np.multiply.outer(np.sqrt(self._v[:, None] + spread), node) + (
            self._x[:, None, None, None] - others[:, None]
        )
        shares = np.multiply.outer(mass, share / share.sum())
        self._score, self._slope = ((law(z) * shares).sum(axis=(2, 3)) for law in (outcome.b, outcome.b_prime))

    def at(self, rating: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Score and slope, by straight lines between the points of the grid."""
        places = []
        for axis, value in ((self._x, rating), (self._v, variance)):
            place = np.clip((value - axis[0]) / (axis[1] - axis[0]), 0, axis.size - 1.001)
            below = place.astype(int)
            places.append((below, place - below))
        (i, p), (j, q) = places
        weights = ((i, j, (1 - p) * (1 - q)), (i + 1, j, p * (1 - q)), (i, j + 1, (1 - p) * q), (i + 1, j + 1, p * q))
        tables = self._score, self._slope
        score, slope = (np.sum([w * table[a, b] for a, b, w in weights], axis=0) for table in tables)
        return score, slope
