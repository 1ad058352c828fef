r"""A newcomer in a settled league: its expected rating match by match, how widely that spreads, how long it takes.

With mean m, variance U and, under form, covariance C with its own strength, one match moves

    ``m += γ(⟨E s⟩ − ⟨E b⟩)``,  ``U += 2γ(C⟨E s'⟩ − U⟨E b'⟩) + γ²Var(S − b)``,

the means taken over opponents whose ratings are normal about the places where they have settled. Points are only passed
on, so what the newcomer gains the others lose.

An open league: a team that leaves takes its rating along and a newcomer brings ``start``, so the mean rating moves by
``rate·(start − E R_leaving)`` per match of a team, and the mean strength by ``rate·(E θ_new − E θ_leaving)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.crowd import representatives
from kinelo.equilibrium.limit import stationary
from kinelo.equilibrium.moving.form import FormClosure
from kinelo.equilibrium.moving.performance import normal_only
from kinelo.equilibrium.noise import WHOLE_COVARIANCE, normal_nodes
from kinelo.equilibrium.teams import Teams, teams_of
from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Turnover, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, number, positive

SMOOTH = 0.05
SETTLED = 1e-5
LONGEST = 4000


@dataclass(frozen=True)
class Inflation:
    """How an open league drifts, per match of a team.

    Attributes
    ----------
    rating, strength
        Change of the league's mean rating and mean strength.
    """

    rating: float
    strength: float

    @property
    def excess(self) -> float:
        """Inflation proper: by how much ratings rise beyond strengths; deflation where negative."""
        return self.rating - self.strength


@dataclass(frozen=True)
class Newcomer:
    """The expected path of a newcomer's rating.

    Attributes
    ----------
    theta, start
        Its strength and its first rating.
    matches, rating, spread
        Matches played, expected rating then, and the standard deviation of the rating about it.
    settles_at
        The rating it has in the end.
    taken
        Points that the rest of the league loses to it in all, ``settles_at − start``.
    inflation
        What an open league does to its mean, with :class:`~kinelo.model.dynamics.Turnover`; else None.
    """

    theta: float
    start: float
    matches: Array = field(repr=False)
    rating: Array = field(repr=False)
    spread: Array = field(repr=False)
    settles_at: float
    inflation: Inflation | None = None

    @property
    def taken(self) -> float:
        """Points that go from the rest of the league to the newcomer, or the other way where negative."""
        return self.settles_at - self.start

    def matches_until(self, tolerance: float) -> float:
        """Matches until the expected rating is within ``tolerance`` points of where it settles.

        >>> import kinelo as kn
        >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
        >>> found = kn.newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
        >>> 20 < found.matches_until(0.2) < 100
        True
        """
        gap = np.abs(self.rating - self.settles_at)
        outside = np.flatnonzero(gap > positive("tolerance", tolerance))
        if outside.size == 0:
            return 0.0
        last = int(outside[-1])
        if last + 1 == gap.size:
            # Beyond the path the gap falls by the same factor from match to match.
            rate = math.log(gap[-2] / gap[-1]) / (self.matches[-1] - self.matches[-2]) if gap[-2] > gap[-1] else 0.0
            return float(self.matches[-1] + math.log(gap[-1] / tolerance) / rate) if rate > 0 else math.inf
        share = (gap[last] - tolerance) / (gap[last] - gap[last + 1])
        return float(self.matches[last] + share * (self.matches[last + 1] - self.matches[last]))


def newcomer(
    system: RatingSystem,
    strengths: Strength | Continuum,
    theta: float,
    start: float,
    *,
    dynamics: Dynamics | None = None,
) -> Newcomer:
    """Follow a newcomer of strength ``theta`` that starts with rating ``start`` in a league that has settled.

    Parameters
    ----------
    system, strengths
        The rating system (every pair playing, one γ) and the league that the newcomer joins.
    theta, start
        Strength and first rating of the newcomer; its performances vary as those of the league.
    dynamics
        None for strengths at rest, Form or Walk for moving ones (theta is then the newcomer's own mean, or its strength
        of the day), Turnover for an open league, whose inflation is computed too.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
    >>> 3.0 < found.settles_at < 3.5, round(found.taken - found.settles_at, 9)
    (True, -1.0)
    """
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a RatingSystem, not {system!r}.")
    if not isinstance(system.pairing, AllPlayAll) or not isinstance(system.gamma, float):
        raise InputError("A newcomer is followed under AllPlayAll with one gamma for all; simulate plays the rest.")
    if dynamics is not None and not isinstance(dynamics, Form | Walk | Turnover):
        raise InputError(f"dynamics must be None, Form, Walk or Turnover for a newcomer, not {dynamics!r}.")
    teams = teams_of(strengths)
    normal_only(teams)
    motion = dynamics if isinstance(dynamics, Form | Walk) else None
    field_ = _opponents(system, strengths, teams, motion)
    path = _Path(system, field_, number("theta", theta), motion)
    matches, rating, spread, end = path.follow(number("start", start))
    inflation = open_league(system, strengths, dynamics) if isinstance(dynamics, Turnover) else None
    return Newcomer(float(theta), float(start), matches, rating, spread, end, inflation)


def open_league(system: RatingSystem, strengths: Strength | Continuum, turnover: Turnover) -> Inflation:
    """How mean rating and mean strength of an open league move, per match of a team, as it stands today."""
    state = stationary(system, strengths)
    teams = state.teams
    if turnover.leaving == "random":
        theta, rating = teams.mean(teams.theta), teams.mean(state.rating)
    else:
        who = int(np.argmin(teams.theta) if turnover.leaving == "weakest" else np.argmax(teams.theta))
        theta, rating = float(teams.theta[who]), float(state.rating[who])
    return Inflation(turnover.rate * (turnover.start - rating), turnover.rate * (turnover.arriving - theta))


@dataclass(frozen=True)
class _Opponents:
    theta: Array
    sigma: Array
    rating: Array
    variance: Array
    mass: Array
    form: float


def _opponents(
    system: RatingSystem, strengths: Strength | Continuum, teams: Teams, motion: Form | Walk | None
) -> _Opponents:
    if motion is not None:
        closure = FormClosure(system.outcome, teams, motion)
        found, teams = closure.at(system.step), closure.teams
        form = motion.spread**2 if isinstance(motion, Form) else 0.0
        return _Opponents(teams.theta, teams.sigma, found.rating, found.variance, teams.mass, form)
    if teams.finite and teams.size > WHOLE_COVARIANCE:
        teams, _ = representatives(teams)
        found = FormClosure(system.outcome, teams, None).at(system.step)
        return _Opponents(teams.theta, teams.sigma, found.rating, found.variance, teams.mass, 0.0)
    state = stationary(system, strengths, noise="gaussian")
    return _Opponents(teams.theta, teams.sigma, state.rating, state.variance, teams.mass, 0.0)


class _Path:
    """The recursion of mean, variance and covariance from one match to the next."""

    def __init__(self, system: RatingSystem, others: _Opponents, theta: float, motion: Form | Walk | None) -> None:
        self._outcome, self._gamma, self._others, self._motion = system.outcome, system.step, others, motion
        sigma = math.sqrt(float(others.mass @ others.sigma**2))
        spread = np.sqrt(2 * others.form + sigma**2 + others.sigma**2)
        self._results, self._drive, _, tie = self._means(theta - others.theta, spread)
        self._decided = 1 - float(others.mass @ tie)
        self._score, self._pull = (float(others.mass @ one) for one in (self._results, self._drive))

    def _means(self, centre: Array, spread: Array) -> tuple[Array, Array, Array, Array]:
        """``E b, E b', E b²`` and the probability of a tie against each opponent."""
        outcome: Outcome = self._outcome
        x, weight = normal_nodes(float(spread.max()) * outcome.nu)
        z = centre[None, :] + x[:, None] * spread[None, :]
        b = outcome.b(z)
        return weight @ b, weight @ outcome.b_prime(z), weight @ (b * b), weight @ outcome.tie_probability(z)

    def change(self, state: Array) -> Array:
        """Change of (m, U, C) by one match."""
        others, gamma = self._others, self._gamma
        m, U, C = state
        mean, slope, square, _ = self._means(m - others.rating, np.sqrt(max(U, 0.0) + others.variance))
        drift, pull = self._score - float(others.mass @ mean), float(others.mass @ slope)
        shake = self._decided - 2 * float(others.mass @ (self._results * mean)) + float(others.mass @ square)
        lag, forget = 0.0, 0.0
        if isinstance(self._motion, Walk):
            lag = self._motion.step**2
        elif isinstance(self._motion, Form):
            forget = -math.expm1(-self._motion.rate)
        follow = C + gamma * (others.form * self._pull - C * pull)
        return np.array(
            [
                gamma * drift,
                2 * gamma * (C * self._pull - U * pull) + gamma**2 * (shake - drift**2) + lag,
                follow * (1 - forget) - C,
            ]
        )

    def follow(self, start: float) -> tuple[Array, Array, Array, float]:
        """Matches, means and spreads until the mean has settled, and where that is."""
        stride = max(1, math.floor(SMOOTH / (self._gamma * self._outcome.steepest)))
        state, matches, states = np.array([start, 0.0, 0.0]), [0.0], [np.array([start, 0.0, 0.0])]
        for _ in range(LONGEST):
            move = self._stride(state, stride)
            state = state + move
            matches.append(matches[-1] + stride)
            states.append(state)
            if np.abs(move).max() / stride <= SETTLED * self._gamma:
                break
        rows = np.array(states)
        return np.array(matches), rows[:, 0], np.sqrt(np.maximum(rows[:, 1], 0.0)), self._end(state)

    def _stride(self, state: Array, stride: int) -> Array:
        """One match; or, where steps are small, several at once by the classical Runge–Kutta rule."""
        first = self.change(state)
        if stride == 1:
            return first
        second = self.change(state + stride / 2 * first)
        third = self.change(state + stride / 2 * second)
        fourth = self.change(state + stride * third)
        return stride / 6 * (first + 2 * second + 2 * third + fourth)

    def _end(self, state: Array) -> float:
        """Where the recursion rests, by Newton's method from the end of the path."""
        for _ in range(60):
            move = self.change(state)
            slopes = np.column_stack([(self.change(state + 1e-5 * one) - move) / 1e-5 for one in np.eye(3)])
            if self._others.form == 0:
                slopes[2, 2] = -1.0
            step = np.linalg.solve(slopes, -move)
            state = state + step
            if np.abs(step).max() <= 1e-9:
                break
        return float(state[0])
