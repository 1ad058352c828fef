r"""How well ratings follow strengths that learn: the closure for equal teams.

With ``B_ρ = E b'(Δρ)``, ``B_s = E s'(Δρ)``, H what a match teaches (less its α) and e = S − b(Δr), learning is form
whose variance follows from itself and which learns from the match that moves a rating:

    ``2cV = σ²(N − 1)/N + γ(E H² + α²(N − 2)/N)``,  ``C = (V B_s + γE[He])/(B_r + c)``

with the decay ``c = κB_ρ``, or ``αB_ρ − βB_s`` where winners learn from results. The α² is the shot noise of random
pairing: a team that happens to play more learns more.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import root_scalar

from kinelo.errors import NoStationaryState
from kinelo.model.dynamics import Learning
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.covariance import Motion
from kinelo.theory.moving.following import TrackedTeams, tracked
from kinelo.theory.moving.performance import Results
from kinelo.theory.moving.profile import refuse_unsettled
from kinelo.theory.pair_means import WIDEST, PairMeans
from kinelo.theory.teams import Teams

SMALLEST = 1e-12
"""γ sup b' that stands for infinitely small steps."""


def learning_closure(results: Results, learning: Learning, gamma: float, teams: int | None = None) -> TrackedTeams:
    """Moments of a league of equal teams that learns, every pair playing; ``teams`` None for many.

    γ = 0 is the limit of small steps.
    """
    refuse_unsettled(learning)
    step = max(gamma, SMALLEST / results.outcome.steepest)
    closure = LearningClosure(results, learning, step, teams)
    return tracked(closure, closure.solve(step, np.zeros(2)))


class LearningClosure(LeagueClosure):
    """The closure of equal teams whose strengths have the variance that learning at this step gives them."""

    def __init__(self, results: Results, learning: Learning, gamma: float, teams: int | None) -> None:
        self._learning, self._lesson = learning, gamma
        V = _strength_variance(results, learning, gamma, teams)
        spread = math.sqrt(2 * V)
        self._plain = PairMeans(results.outcome, np.zeros(1), np.array([spread]))
        own = PairMeans(results.outcome, np.zeros(1), np.array([math.hypot(spread, math.sqrt(2) * results.sigma)]))
        equals = Teams(Normal([0.0, 0.0], results.sigma), np.full(2, 0.5), finite=False)
        motion = Motion(V, gamma * _decay(learning, self._plain, own))
        super().__init__(RatingSystem(results.outcome), equals, motion=motion)
        self._expected = float(self._plain.product(own, np.array([2 * V]))[0])
        self._known = float(1 - own.tie[0])

    def _learnt(self, noise: PairMeans, covariance: Array, both: Array) -> float:
        """``γE[He]``."""
        learning = self._learning
        plain = PairMeans.product(self._plain_like(noise), noise, covariance)
        seen = self._expected - float(plain[0])
        if learning.on == "expected":
            return -self._lesson * learning.pull * seen
        return self._lesson * (-learning.alpha * seen + learning.beta * (self._known - float(both[0])))

    def _plain_like(self, noise: PairMeans) -> PairMeans:
        """The means over Δρ once for each of the pairs that are looked at."""
        if self._plain.spread.size != noise.spread.size:
            pairs = np.full(noise.spread.size, self._plain.spread[0])
            self._plain = PairMeans(self._outcome, np.zeros(pairs.size), pairs)
        return self._plain


def _strength_variance(results: Results, learning: Learning, gamma: float, teams: int | None) -> float:
    """Strengths do not know of ratings, so V is found first, alone."""
    few = 0.0 if teams is None else 1 / teams

    def excess(V: float) -> float:
        spread = math.sqrt(2 * V)
        if not spread * results.outcome.nu <= WIDEST:
            raise NoStationaryState("The spread of strengths is too wide for the Gaussian closure; simulate it.")
        plain, own = (
            PairMeans(results.outcome, np.zeros(1), np.array([one]))
            for one in (spread, math.hypot(spread, math.sqrt(2) * results.sigma))
        )
        source = (1 - few) * learning.diffusion**2 + gamma * _learned_square(learning, plain, own, V)
        shot = gamma * learning.alpha**2 * (1 - 2 * few)
        return source + shot - 2 * V * _decay(learning, plain, own)

    low, high = 0.0, learning.diffusion**2 / (2 * learning.pull * results.outcome.steepest)
    while excess(high) > 0:
        low, high = high, 1.5 * high
    return float(root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-15 * high).root)


def _decay(learning: Learning, plain: PairMeans, own: PairMeans) -> float:
    if learning.on == "expected":
        return learning.pull * float(plain.slope[0])
    return learning.alpha * float(plain.slope[0]) - learning.beta * float(own.slope[0])


def _learned_square(learning: Learning, plain: PairMeans, own: PairMeans, V: float) -> float:
    """``E H²`` without its α."""
    square = float(plain.square[0])
    if learning.on == "expected":
        return learning.pull**2 * square
    product = float(plain.product(own, np.array([2 * V]))[0])
    both = -2 * learning.alpha * learning.beta * product
    return learning.alpha**2 * square + both + learning.beta**2 * float(1 - own.tie[0])
