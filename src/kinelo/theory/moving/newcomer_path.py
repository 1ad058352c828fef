r"""The recursion of a newcomer's rating from one match to the next.

Mean m and variance U of the rating, its covariance C with the newcomer's own strength, mean and variance of that
strength, and under Glicko v = RD². With γ the step of the match and g_j the discount of an opponent (1 under Elo),

    ``m += γ⟨g(E s − E b(gΔ))⟩``,  ``U += 2γ(C⟨gE s'⟩ − U⟨g²E b'(gΔ)⟩) + γ²Var``,

means taken over opponents whose ratings are normal about the places where they have settled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.dynamics import Form, Learning, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.steps import DeviationSteps
from kinelo.model.validation import Array
from kinelo.theory.moving.glicko import discount
from kinelo.theory.pair_means import PairMeans

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
        m, U, C, strength, own, v = state
        learns = isinstance(self._motion, Learning)
        results, slopes, _, tie = (
            self._means(strength - others.theta, self._performance(max(own, 0.0))) if learns else self._known
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
            follow = C + gamma * (own * drive - C * pull)
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
        _, _, C, strength, own, _ = state
        mass, spread = others.mass, np.sqrt(max(own, 0.0) + others.form) * np.ones(others.mass.size)
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
        move[AT_OWN] = gamma * (learning.diffusion**2 - 2 * decay * own) + gamma**2 * (chance - towards**2)
        move[AT_SHARED] = gamma * (own * drive - C * pull - decay * C) + gamma**2 * luck
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
            move = self._stride(state, stride, matches[-1])
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

    def _stride(self, state: Array, stride: int, match: float) -> Array:
        """One match; or, where steps are small, several at once by the classical Runge–Kutta rule."""
        first = self.change(state, match)
        if stride == 1:
            return first
        second = self.change(state + stride / 2 * first, match)
        third = self.change(state + stride / 2 * second, match)
        fourth = self.change(state + stride * third, match)
        return stride / 6 * (first + 2 * second + 2 * third + fourth)

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
