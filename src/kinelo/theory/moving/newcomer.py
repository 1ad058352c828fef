"""A newcomer in a settled league: its expected rating match by match, how widely that spreads, how long it takes.

**Path.** Mean m and variance U of the rating, its covariance C with the newcomer's own strength, mean and variance of
that strength, and under Glicko v = RD². With γ the step of the match and g_j the discount of an opponent (1 under Elo),

    ``m += γ⟨g(E s − E b(gΔ))⟩``,  ``U += 2γ(C⟨gE s'⟩ − U⟨g²E b'(gΔ)⟩) + γ²Var``,

means taken over opponents whose ratings are normal about the places where they have settled. Points are only passed on,
so what the newcomer gains the others lose (under one γ for all).

**An open league.** A team that leaves takes its rating along and a newcomer brings ``start``, so the mean rating moves
by ``rate·(start − E R_leaving)`` per match of a team, and the mean strength by ``rate·(E θ_new − E θ_leaving)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Dynamics, Form, Learning, Turnover, Walk, parts_of
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.steps import ELITE, DeviationSteps, FallingSteps, FideSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, number, positive
from kinelo.theory.caveats import Caveat, caveats_of
from kinelo.theory.closure import settled_steps
from kinelo.theory.limit import stationary
from kinelo.theory.moving.following import follow_league
from kinelo.theory.moving.glicko import deviation_tracking, discount, settled_deviations
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.teams import Continuum, Teams, as_system, normal_only, teams_of

PATH_SMOOTHNESS = 0.05
STEADY = 1e-5
MOST_PATH_STEPS = 4000
AT_RATING, AT_SPREAD, AT_SHARED, AT_STRENGTH, AT_OWN, AT_DEVIATION = range(6)

StepOf = Callable[[float, float], float]
"""γ after so many matches, at a mean rating."""


@dataclass(frozen=True)
class SettledLeague:
    """Who a newcomer meets: strengths, performances, ratings and their variances, deviations under Glicko.

    ``form`` is the variance of a strength about ``theta``, ``shared`` its covariance with the rating.
    """

    theta: Array
    sigma: Array
    rating: Array
    variance: Array
    mass: Array
    form: float = 0.0
    shared: Array | float = 0.0
    deviation: Array | None = None


@dataclass(frozen=True)
class NewcomerPath:
    """A path: matches, rating, spread and strength along it, and where the rating rests."""

    matches: Array
    rating: Array
    spread: Array
    strength: Array
    end: float


class NewcomerRecursion:
    """The recursion for one newcomer."""

    def __init__(
        self,
        outcome: Outcome,
        step: StepOf | DeviationSteps,
        others: SettledLeague,
        theta: float,
        motion: Form | Walk | Learning | None,
        smooth: float | None,
    ) -> None:
        self._outcome, self._step, self._others, self._motion = outcome, step, others, motion
        self._theta, self._smooth = theta, smooth
        self._sigma = math.sqrt(float(others.mass @ others.sigma**2))
        deviation = np.zeros(others.mass.size) if others.deviation is None else others.deviation
        self._g = discount(outcome.nu, deviation**2)
        self._active = [AT_RATING, AT_SPREAD]
        if isinstance(motion, Form | Learning):
            self._active.append(AT_SHARED)
        if isinstance(motion, Learning):
            self._active += [AT_STRENGTH, AT_OWN]
        if isinstance(step, DeviationSteps):
            self._active.append(AT_DEVIATION)
        self._known = self._means(theta - others.theta, self._performance(others.form))
        self._own = others.form if isinstance(motion, Form) else 0.0

    def _performance(self, own: float) -> Array:
        others = self._others
        return np.sqrt(own + others.form + self._sigma**2 + others.sigma**2)

    def _means(self, centre: Array, spread: Array) -> tuple[Array, Array, Array, Array]:
        """``E b, E b', E b²`` and the probability of a tie against each opponent."""
        found = PairMeans(self._outcome, centre, spread, products=False)
        return found.mean, found.slope, found.square, found.tie

    def change(self, state: Array, match: float) -> Array:
        """Change of the state by one match."""
        others, g = self._others, self._g
        m, U, C, strength, variance, v = state
        learns = isinstance(self._motion, Learning)
        results, slopes, _, tie = (
            self._means(strength - others.theta, self._performance(max(variance, 0.0))) if learns else self._known
        )
        mean, slope, square, _ = self._means(g * (m - others.rating), g * np.sqrt(max(U, 0.0) + others.variance))
        mass = others.mass
        drift, drive = float(mass @ (g * (results - mean))), float(mass @ (g * slopes))
        pull = float(mass @ (g**2 * slope))
        # E[sb] of two normal variables, to the first order of their covariance.
        product = results * mean + (C + others.shared) * g * slopes * slope
        shake = float(mass @ (g**2 * (1 - tie - 2 * product + square)))
        gamma, new_v = self._step_and_variance(match, m, v, pull)
        move = np.zeros(6)
        move[AT_RATING] = gamma * drift
        move[AT_SPREAD] = 2 * gamma * (C * drive - U * pull) + gamma**2 * (shake - drift**2)
        move[AT_DEVIATION] = new_v - v
        if isinstance(self._motion, Walk):
            move[AT_SPREAD] += self._motion.step**2
        elif isinstance(self._motion, Form):
            follow = C + gamma * (variance * drive - C * pull)
            move[AT_SHARED] = follow * math.exp(-self._motion.rate) - C
        elif isinstance(self._motion, Learning):
            move += self._learning_move(gamma, state, results, slopes, tie, drive, pull)
        return move

    def _learning_move(
        self, gamma: float, state: Array, results: Array, slopes: Array, tie: Array, drive: float, pull: float
    ) -> Array:
        """What a match teaches, in the frame of the growing mean strength."""
        learning, others = self._motion, self._others
        assert isinstance(learning, Learning)
        _, _, C, strength, variance, _ = state
        mass, spread = others.mass, np.sqrt(max(variance, 0.0) + others.form) * np.ones(others.mass.size)
        mean, slope, square, _ = (
            float(mass @ one) for one in self._means(strength - others.theta, np.maximum(spread, 1e-9))
        )
        towards, decay, chance, luck = learning.pull * mean, learning.pull * slope, learning.pull**2 * square, 0.0
        if learning.on == "result":
            score, decided = float(mass @ results), 1 - float(mass @ tie)
            towards = learning.alpha * mean - learning.beta * score
            decay = learning.alpha * slope - learning.beta * float(mass @ slopes)
            chance = learning.alpha**2 * square - 2 * learning.alpha * learning.beta * mean * score
            chance += learning.beta**2 * decided
            luck = learning.beta * (decided - score**2)
        move = np.zeros(6)
        move[AT_STRENGTH] = -gamma * towards
        move[AT_OWN] = gamma * (learning.diffusion**2 - 2 * decay * variance) + gamma**2 * (chance - towards**2)
        move[AT_SHARED] = gamma * (variance * drive - C * pull - decay * C) + gamma**2 * luck
        return move

    def _step_and_variance(self, match: float, m: float, v: float, pull: float) -> tuple[float, float]:
        """The step of a match, and v after it."""
        if not isinstance(self._step, DeviationSteps):
            return self._step(match, m), v
        nu, rule = self._outcome.nu, self._step
        rested = min(v + rule.growth**2, float(rule.largest or rule.start) ** 2)
        after = rested / (1 + rested * nu * pull)
        return nu * after, after

    def follow(self, start: float) -> NewcomerPath:
        """The path until the mean has settled, or for the longest time that is followed."""
        v = self._step.start**2 if isinstance(self._step, DeviationSteps) else 0.0
        state = np.array([start, 0.0, 0.0, self._theta, self._own, v])
        stride = (
            1 if self._smooth is None else max(1, math.floor(PATH_SMOOTHNESS / (self._smooth * self._outcome.steepest)))
        )
        states, matches = [state], [0.0]
        for _ in range(MOST_PATH_STEPS):
            # One match; or, where steps are small, several at once by the classical Runge–Kutta rule.
            match = matches[-1]
            move = first = self.change(state, match)
            if stride > 1:
                second = self.change(state + stride / 2 * first, match)
                third = self.change(state + stride / 2 * second, match)
                fourth = self.change(state + stride * third, match)
                move = stride / 6 * (first + 2 * second + 2 * third + fourth)
            state = state + move
            matches.append(matches[-1] + stride)
            states.append(state)
            gamma = self._step_and_variance(matches[-1], state[AT_RATING], state[AT_DEVIATION], 1.0)[0]
            if np.abs(move[self._active]).max() / stride <= STEADY * gamma:
                break
        rows = np.array(states)
        spread = np.sqrt(np.maximum(rows[:, AT_SPREAD], 0.0))
        return NewcomerPath(
            np.array(matches), rows[:, AT_RATING], spread, rows[:, AT_STRENGTH], self._end(state, matches[-1])
        )

    def _end(self, state: Array, match: float) -> float:
        """Where the recursion rests, by Newton's method from the end of the path."""
        active = self._active
        for _ in range(60):
            move = self.change(state, match)[active]
            slopes = np.empty((len(active), len(active)))
            for column, k in enumerate(active):
                beside = state.copy()
                # Small beside every scale of rating, and far above rounding.
                beside[k] += 1e-5 / self._outcome.nu ** (1 if k in (AT_RATING, AT_STRENGTH) else 2)
                slopes[:, column] = (self.change(beside, match)[active] - move) / (beside[k] - state[k])
            try:
                step = np.linalg.solve(slopes, -move)
            except np.linalg.LinAlgError:
                raise NoStationaryState(
                    "No rating holds a newcomer so far from the league: results there do not change with the rating."
                ) from None
            state = state.copy()
            state[active] += step
            if np.abs(step).max() * self._outcome.nu <= 1e-9:
                break
        return float(state[AT_RATING])


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
    matches, rating, spread, strength
        Matches played, expected rating then, the standard deviation of the rating about it, and the expected strength
        (under learning, counted from the league's growing mean).
    settles_at
        The rating it has in the end.
    taken
        Points that the rest of the league loses to it in all, ``settles_at − start``.
    inflation
        What an open league does to its mean, with :class:`~kinelo.model.dynamics.Turnover`; else None.
    caveats
        Why the answer may be off; see :class:`~kinelo.theory.caveats.Caveat`.
    """

    theta: float
    start: float
    matches: Array = field(repr=False)
    rating: Array = field(repr=False)
    spread: Array = field(repr=False)
    strength: Array = field(repr=False)
    settles_at: float
    inflation: Inflation | None = None
    caveats: tuple[Caveat, ...] = ()

    @property
    def taken(self) -> float:
        """Points that go from the rest of the league to the newcomer, or the other way where negative."""
        return self.settles_at - self.start

    def matches_until(self, tolerance: float) -> float:
        """Matches until the expected rating is within ``tolerance`` points of where it settles.

        >>> import kinelo as kn
        >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
        >>> found = kn.theory.newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
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
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    theta: float,
    start: float,
    *,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
) -> Newcomer:
    """Follow a newcomer of strength ``theta`` that starts with rating ``start`` in a league that has settled.

    Parameters
    ----------
    system, strengths
        The rating system (every pair playing; one γ, FallingSteps, FideSteps or DeviationSteps) and the league that
        the newcomer joins, whose teams have played for long.
    theta, start
        Strength and first rating of the newcomer; its performances vary as those of the league.
    dynamics
        None for strengths at rest, Form, Walk or Learning for moving ones (theta is then the newcomer's own mean, its
        strength of the day, or its strength beside a league whose mean is that of ``strengths``), Turnover for an
        open league, whose inflation is computed too.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = newcomer(system, kn.Fixed([0.0, 1.0, 2.0, 3.0]), theta=3.0, start=1.0)
    >>> 3.0 < found.settles_at < 3.5, round(found.taken - found.settles_at, 9)
    (True, -1.0)
    """
    system = as_system(system)
    if not isinstance(system.pairing, AllPlayAll) or system.schedule is not None:
        raise InputError("A newcomer is followed under AllPlayAll, match by match; simulate plays the rest.")
    motion, open_ = parts_of(dynamics)
    if isinstance(motion, Learning) and not isinstance(system.gamma, float):
        raise InputError(f"Learning moves strengths by one gamma for all teams, not by {system.gamma!r}.")
    teams = teams_of(strengths)
    normal_only(teams)
    step = _step_of(system.gamma)
    others = _opponents(system, strengths, teams, motion)
    smooth = system.gamma if isinstance(system.gamma, float) else None
    path = NewcomerRecursion(system.outcome, step, others, number("theta", theta), motion, smooth)
    way = path.follow(number("start", start))
    inflation = None if open_ is None else open_league(system, strengths, open_)
    steps = 0.0 if isinstance(system.gamma, DeviationSteps) else settled_steps(system, teams.theta)
    caveats = caveats_of(system, teams, "joint", steps, dynamics=motion)
    return Newcomer(
        float(theta), float(start), way.matches, way.rating, way.spread, way.strength, way.end, inflation,
        caveats,
    )  # fmt: skip


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


def _opponents(
    system: RatingSystem, strengths: Strength | Continuum, teams: Teams, motion: Form | Walk | Learning | None
) -> SettledLeague:
    """The league as it has settled."""
    outcome, rule = system.outcome, system.gamma
    if isinstance(motion, Learning):
        rest = learning_closure(outcome, motion, system.step, teams).moments
        one = np.ones(1)
        middle = teams.mean(teams.theta) * one
        return SettledLeague(middle, teams.sigma[:1], middle, rest.U * one, one, rest.V, rest.C)
    form = motion.spread**2 if isinstance(motion, Form) else 0.0
    if isinstance(rule, DeviationSteps):
        if motion is None:
            moved = settled_deviations(system, strengths, noise="gaussian")
        else:
            moved, _ = deviation_tracking(outcome, teams, rule, motion)
        teams = moved.teams
        return SettledLeague(
            teams.theta, teams.sigma, moved.rating, moved.variance, teams.mass, form, moved.covariance, moved.deviation
        )
    if motion is None:
        state = stationary(system, strengths, noise="gaussian")
        return SettledLeague(teams.theta, teams.sigma, state.rating, state.variance, teams.mass)
    rest = follow_league(system, teams, motion)
    return SettledLeague(teams.theta, teams.sigma, rest.rating, rest.variance, teams.mass, form, rest.covariance)


def _step_of(rule: object) -> StepOf | DeviationSteps:
    """The newcomer's step after so many matches, at a mean rating."""
    if isinstance(rule, float):
        return lambda match, rating: rule
    if isinstance(rule, DeviationSteps):
        return rule
    if isinstance(rule, FallingSteps | FideSteps):
        highest = [-math.inf]

        def step(match: float, rating: float) -> float:
            if match == 0:
                highest[0] = -math.inf
            highest[0] = max(highest[0], rating)
            one, reached = np.array([rating]), np.array([highest[0] >= ELITE])
            return float(rule.at(one, np.array([int(match)]), reached)[0])

        return step
    raise InputError(f"A newcomer has a step of its own: give one gamma or a step rule, not {rule!r}.")
