r"""The error of an open league: newcomers enter at one rating, others leave at random.

A team leaves at δ per match of a team, and a newcomer takes its place with a strength θ of the pool, form of its own
and the rating ``start``. Strengths are those of the pool in the end, whoever began. Taking together all who share a θ,
whatever their age, mean m, covariance C and variance U of their ratings stand still where matches undo arrivals:

* ``γ Σ_j w_j E[s − b] + δ(start − m) = 0``;
* ``C(ω + δ + γB_r) = γVB_θ``, B_r and B_θ the mean slopes of results in ratings and in strengths;
* ``U(2γB_r + δ) = 2γB_θC + γ²Q + δ(start − m)²``.

The last term is why newcomers cost more than their share: their distance counts until it is closed. A walk by s per
match is form with ``V = s²/δ`` and ω = 0, because it begins anew with each newcomer. Points are passed on only, so the
mean rating settles at ``start``. Among N teams the mean of those who play moves with each arrival, which the error
about it does not see: δ counts ``(1 − 1/N)(1 + 1/2N)`` times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Turnover, Walk
from kinelo.model.schedule import Period, Rounds
from kinelo.model.strength import Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.closure import LeagueClosure, Solution, State
from kinelo.theory.covariance import PairSlopes, StrengthMotion
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.many_teams import representatives
from kinelo.theory.moving.following import Moments, Parts
from kinelo.theory.teams import Continuum, Teams, check_field, normal_only, teams_of

SMALL_STEP = 1e-6
MOST_KINDS = 60
"""Strengths of the pool that are taken one by one; more are taken in groups."""


class OpenState(NamedTuple):
    """Moments of strengths and ratings over all who play, newcomers included, and their error by cause.

    Lag is what newcomers have not made up for yet, and what form or a walk is ahead by; bias what those who stay miss
    for good, because performances vary.
    """

    moments: Moments
    parts: Parts


class OpenLeague:
    """An open league at any step size, each solved from the last where that is near.

    Parameters
    ----------
    system
        Its step size is not looked at.
    strengths
        How many teams play, and how performances vary; their own strengths are forgotten.
    dynamics
        Form, Walk or None, beside arrivals and departures.
    turnover
        Who comes; only leaving at random has a theory.
    """

    def __init__(
        self, system: RatingSystem, strengths: Strength | Continuum, dynamics: Dynamics | None, turnover: Turnover
    ) -> None:
        _check(system, strengths, dynamics, turnover)
        teams = teams_of(strengths)
        check_field(system, teams)
        number = teams.number
        crowd = 1.0 if number is None else (1 - 1 / number) * (1 + 1 / (2 * number))
        self._closure = _OpenClosure(system, _pool(teams, turnover), dynamics, turnover, crowd)
        self._last: tuple[float, State] | None = None

    def __call__(self, gamma: float) -> OpenState:
        """The league at γ."""
        closure = self._closure
        gamma = max(gamma, 1e-12 / closure.system.outcome.steepest)
        guess = None
        if self._last is not None and 0.5 <= gamma / self._last[0] <= 2:
            guess = self._last[1]
        with few_threads(closure.teams.size):
            found = closure.solve(gamma, closure.first_ratings(gamma), guess)
        self._last = (gamma, found.state)
        return closure.summary(found)


def _check(
    system: RatingSystem, strengths: Strength | Continuum, dynamics: Dynamics | None, turnover: Turnover
) -> None:
    """Refuse open leagues of which there is no theory."""
    if turnover.leaving != "random":
        raise InputError(f'The error of an open league is computed where teams leave at "random", not {turnover!r}.')
    if not isinstance(dynamics, Form | Walk | None):
        raise InputError(f"The error of an open league is computed at rest, with Form or Walk, not {dynamics!r}.")
    if not system.pairing.constant or isinstance(system.schedule, Rounds | Period):
        raise InputError("The error of an open league is computed for AllPlayAll, every match rated at once.")
    sigma = teams_of(strengths).sigma
    if np.ptp(sigma) > 1e-12 * float(sigma.max()):
        raise InputError("The error of an open league is computed for one common sigma, not for unequal ones.")


def _pool(teams: Teams, turnover: Turnover) -> Teams:
    """Newcomers' strengths as teams that all meet; equal ones once, a league takes two at least."""
    normal_only(teams)
    theta, count = np.unique(turnover.pool, return_counts=True)
    if theta.size == 1:
        theta, count = np.repeat(theta, 2), np.repeat(count, 2)
    kinds = Teams(Normal(theta, float(teams.sigma[0])), count / count.sum(), finite=False)
    return kinds if kinds.size <= MOST_KINDS else replace(representatives(kinds, MOST_KINDS).teams, behind=None)


def _motion(dynamics: Dynamics | None, rate: float) -> StrengthMotion:
    if isinstance(dynamics, Form):
        return StrengthMotion(dynamics.spread**2, dynamics.rate)
    return StrengthMotion(dynamics.step**2 / rate) if isinstance(dynamics, Walk) else StrengthMotion()


class _OpenClosure(LeagueClosure):
    """The balances above, solved as those of a closed league are."""

    def __init__(
        self, system: RatingSystem, pool: Teams, dynamics: Dynamics | None, turnover: Turnover, crowd: float
    ) -> None:
        super().__init__(system, pool, motion=_motion(dynamics, turnover.rate), whole=False)
        self._start, self._leaving = turnover.start, crowd * turnover.rate
        # Mean square by which ratings that have settled miss strengths, because performances vary.
        self._lasting = 0.0
        if pool.sigma.any():
            settled = LeagueClosure(system, pool, whole=False).solve(SMALL_STEP / system.outcome.steepest, pool.theta)
            off = settled.state.rating - pool.theta
            self._lasting = pool.mean(off**2) - pool.mean(off) ** 2

    def first_ratings(self, gamma: float) -> Array:
        """Mean ratings if b were a straight line."""
        pull = gamma * self._outcome.steepest
        theta = self.teams.theta
        return self._start + pull / (pull + self._leaving) * (theta - self.teams.mean(theta))

    def arrivals(self, gamma: Array, rating: Array) -> tuple[Array, Array]:
        """What newcomers add to the drift of their kind, in units of γ, and how it falls with the rating."""
        return self._leaving * (self._start - rating) / gamma, self._leaving / gamma

    def _covariances(self, gamma: Array, pairs: PairSlopes, rating: Array) -> tuple[Array, Array]:
        restoring, shaking = pairs.restoring.sum(axis=1), pairs.shaking.sum(axis=1)
        if (restoring <= 0).any():
            raise LinAlgError("nothing holds the ratings together")
        C, driven = np.zeros(gamma.size), np.zeros(gamma.size)
        if pairs.driving is not None:
            driving = gamma * pairs.driving.sum(axis=1)
            C = self.motion.variance * driving / (self.batch.forgotten + self._leaving + gamma * restoring)
            driven = 2 * driving * C
        brought = self._leaving * (self._start - rating) ** 2
        return C, (driven + gamma**2 * shaking + brought) / (2 * gamma * restoring + self._leaving)

    def summary(self, solution: Solution) -> OpenState:
        """Moments over the league and its error by cause."""
        teams, V, rating = self.teams, self.motion.variance, solution.state.rating
        x, y = teams.theta - teams.mean(teams.theta), rating - teams.mean(rating)
        between = Moments(*(teams.mean(one) for one in (x * x, x * y, y * y)))
        moments = between + Moments(V, teams.mean(solution.state.C), teams.mean(solution.state.U))
        noise = teams.mean(solution.state.U - self.without_luck(solution).U)
        rest = moments.error - noise
        bias = min(self._lasting, rest)
        return OpenState(moments, Parts(noise, rest - bias, bias))
