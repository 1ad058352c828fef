r"""Strengths that learn: their stationary law, and how well ratings follow them.

In the frame ρ − αt a strength drifts by ``−(k*g)(ρ)`` per unit of kinetic time, ``k = κb`` (or ``αb − βs`` where
winners learn from results), and diffuses with σ. So ``g ∝ exp(−(2/σ²) A*g)``, A the antiderivative of k. For k
increasing the profile g is the unique minimiser, up to shifts, of ``½σ²∫g ln g + ½∬A(ρ − ρ')gg'``. Its tails fall as
``e^{−2κ|ρ|/σ²}``.

The closure for equal teams: with ``B_ρ = E b'(Δρ)``, ``B_s = E s'(Δρ)``, H what a match teaches (less its α) and
e = S − b(Δr), learning is form whose variance follows from itself and which learns from the match that moves a rating:

    ``2cV = σ²(N − 1)/N + γ(E H² + α²(N − 2)/N)``,  ``C = (V B_s + γE[He])/(B_r + c)``

with the decay ``c = κB_ρ``, or ``αB_ρ − βB_s`` where winners learn from results. The α² is the shot noise of random
pairing: a team that happens to play more learns more. Where k meet at once H and e are means over k − 1 opponents,
``E H² = [⟨h_ab²⟩ + (k − 2)⟨h_ab h_ac⟩]/(k − 1)`` and E[He] alike, and N − k takes the place of N − 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import root_scalar

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Learning
from kinelo.model.outcome import Outcome
from kinelo.model.schedule import Field
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, nonnegative
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.contests import performance_laws
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.fixed_point import ACCEPTED_RESIDUAL, fixed_point
from kinelo.theory.moving.following import TrackedTeams, follow
from kinelo.theory.pair_means import WIDEST, Function, PairMeans, smooth
from kinelo.theory.teams import Teams, common_sigma

LEARNING_AGREEMENT = 1e-11
MOST_LEARNING_NODES = 2**17
VANISHING_STEP = 1e-12
"""γ sup b' that stands for infinitely small steps."""


@dataclass(frozen=True)
class StrengthProfile:
    """The stationary density of strengths about their mean, on an equidistant grid.

    Attributes
    ----------
    strength, density
        The grid, centred at 0, and g on it.

    >>> import kinelo as kn
    >>> profile = kn.theory.strength_profile(kn.Tanh(nu=1.0), kn.model.Learning(alpha=1.0, diffusion=1.0))
    >>> step = profile.strength[1] - profile.strength[0]
    >>> round(float(profile.density.sum() * step), 6)
    1.0
    """

    strength: Array = field(repr=False)
    density: Array = field(repr=False)

    @property
    def weight(self) -> Array:
        """Mass of each point of the grid; they sum to one."""
        return self.density * (self.strength[1] - self.strength[0])

    @cached_property
    def variance(self) -> float:
        """Var ρ."""
        return float(self.weight @ self.strength**2)

    @cached_property
    def kurtosis(self) -> float:
        """Fourth moment over the squared variance: 3 for a normal law, 4.2 for a logistic one."""
        return float(self.weight @ self.strength**4) / self.variance**2

    def mean_of(self, function: Function, points: Array) -> Array:
        """``(function*g)(ρ)`` at the given points."""
        result = np.empty(points.size)
        size = max(1, 2**21 // self.strength.size)
        for first in range(0, points.size, size):
            part = slice(first, first + size)
            result[part] = function(points[part, None] - self.strength[None, :]) @ self.weight
        return result


def expected_score(outcome: Outcome, sigma: float) -> Function:
    """``s(z) = E b(z + √2 σ ξ)``: the mean result of two teams whose performances spread by σ about their strengths."""
    return smooth(outcome.b, outcome.nu, math.sqrt(2) * sigma)


@dataclass(frozen=True)
class LearningPull:
    """What draws strengths together: k(z) and its antiderivative A(z)."""

    outcome: Outcome
    learning: Learning
    sigma: float = 0.0

    def force(self, z: Array) -> Array:
        """``k(z)``: κb, or αb − βs."""
        if self._plain:
            return self.learning.pull * self.outcome.b(z)
        score = expected_score(self.outcome, self.sigma)
        return self.learning.alpha * self.outcome.b(z) - self.learning.beta * score(z)

    def potential(self, z: Array) -> Array:
        """``A(z)``."""
        if self._plain:
            return self.learning.pull * self.outcome.antiderivative(z)
        blurred = smooth(self.outcome.antiderivative, self.outcome.nu, math.sqrt(2) * self.sigma)
        return self.learning.alpha * self.outcome.antiderivative(z) - self.learning.beta * blurred(z)

    @property
    def _plain(self) -> bool:
        return self.sigma == 0 or self.learning.on == "expected" or self.learning.beta == 0


def strength_profile(outcome: Outcome, learning: Learning, sigma: float = 0.0) -> StrengthProfile:
    """Stationary strengths of a large league that learns, every pair playing, in the limit of small γ.

    Parameters
    ----------
    outcome, learning
        The outcome function, and how teams learn.
    sigma
        Spread of performances about strengths; it matters only where winners learn from results.

    Raises
    ------
    NoStationaryState
        Unless α > β and diffusion > 0.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> profile = strength_profile(Tanh(nu=1.0), Learning(alpha=1.0, diffusion=1.0))
    >>> round(profile.variance, 9), round(profile.kurtosis, 6)  # Ψ(½) of ν²Var ρ = Ψ(νσ²/2κ)
    (1.097512434, 3.715142)
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"outcome must be an Outcome such as Tanh or Davidson, not {outcome!r}.")
    refuse_unsettled(learning)
    pull = LearningPull(outcome, learning, nonnegative("sigma", sigma))
    # Half-width and step from the two limits of the profile: normal in the middle, exponential in the tails.
    tail = learning.diffusion**2 / (2 * learning.pull)
    rise = float(pull.force(np.array(1e-6 / outcome.nu))) * 1e6 * outcome.nu
    core = math.sqrt(learning.diffusion**2 / (2 * max(rise, 1e-3 * learning.pull * outcome.nu)))
    half, step = 40 * tail + 9 * core, min(0.5 * max(core, tail), 0.4 / outcome.nu)
    last = None
    while True:
        profile = _on_grid(pull, half, step)
        if profile.density[0] > 1e-18 * profile.density.max():
            half *= 1.5
            continue
        if last is not None and abs(profile.variance / last - 1) <= LEARNING_AGREEMENT:
            return profile
        last, step = profile.variance, step / 2


def refuse_unsettled(learning: Learning) -> None:
    """Say why strengths have no stationary law."""
    if not isinstance(learning, Learning):
        raise InputError(f"dynamics must be Learning here, not {learning!r}.")
    if learning.diffusion == 0 or learning.pull <= 0:
        reason = "spread for ever" if learning.diffusion > 0 or learning.pull < 0 else "do not settle at one spread"
        reason = "collapse to one point" if learning.diffusion == 0 and learning.pull > 0 else reason
        raise NoStationaryState(
            f"Strengths that learn with alpha = {learning.alpha:g}, beta = {learning.beta:g}, diffusion = "
            f"{learning.diffusion:g} {reason}: a stationary law takes alpha > beta and diffusion > 0."
        )


def _on_grid(pull: LearningPull, half: float, step: float) -> StrengthProfile:
    count = math.ceil(half / step)
    if count > MOST_LEARNING_NODES:
        raise NoStationaryState("The strength profile has tails too long to be resolved on a grid.")
    grid: Array = np.arange(-count, count + 1, dtype=np.float64) * step
    kernel = pull.potential(np.arange(-2 * count, 2 * count + 1, dtype=np.float64) * step)
    length = next_fast_len(kernel.size + grid.size - 1, real=True)
    transformed: Array = np.asarray(rfft(kernel, length))
    cold = 2 / pull.learning.diffusion**2

    def look(exponent: Array) -> tuple[Array, float, Array]:
        density = _normalise(exponent, step)
        spread: Array = np.asarray(irfft(transformed * np.asarray(rfft(density, length)), length))
        image = cold * step * spread[2 * count : kernel.size]
        image = (image + image[::-1]) / 2
        image -= image.min()
        new = _normalise(image, step)
        return image, float(np.abs(new - density).max() / density.max()), new

    density, _ = fixed_point(look, cold * pull.potential(grid), accepted=ACCEPTED_RESIDUAL)
    return StrengthProfile(grid, density)


def _normalise(exponent: Array, step: float) -> Array:
    density = np.exp(exponent.min() - exponent)
    return density / (density.sum() * step)


def learning_closure(outcome: Outcome, learning: Learning, gamma: float, teams: Teams, sides: int = 2) -> TrackedTeams:
    """Moments of a league of equal teams that learns, every pair playing; γ = 0 is the limit of small steps.

    Of the teams their number and their common spread of performances matter; ``sides`` meet at once.
    """
    refuse_unsettled(learning)
    step = max(gamma, VANISHING_STEP / outcome.steepest)
    closure = LearningClosure(outcome, learning, step, teams, sides)
    return follow(closure, closure.solve(step, np.zeros(2)))


class LearningClosure(LeagueClosure):
    """The closure of equal teams whose strengths have the variance that learning at this step gives them."""

    def __init__(self, outcome: Outcome, learning: Learning, gamma: float, teams: Teams, sides: int) -> None:
        self._learning, self._lesson, sigma = learning, gamma, common_sigma(teams)
        V = _strength_variance(outcome, learning, gamma, sigma, (1 / teams.size if teams.finite else 0.0, sides))
        self._plain, means = _equal_means(outcome, V, sigma)
        equals = Teams(Normal([0.0, 0.0], sigma), np.full(2, 0.5), finite=False)
        motion = StrengthMotion(V, gamma * _decay(learning, self._plain, means))
        schedule = Field(sides) if sides > 2 else None
        super().__init__(RatingSystem(outcome, schedule=schedule), equals, motion=motion)
        self._sides = sides
        # Against the same opponent, and against another one: E b(Δρ)s(Δρ), and E S².
        self._expected = [float(self._plain.product(means, np.array([shared]))[0]) for shared in (2 * V, V)]
        self._known = [float(1 - means.tie[0]), _alike(outcome, V, sigma, sides)]

    def _learning_term(self, noise: PairMeans, covariance: Array, both: Array) -> float:
        """``γE[He]``."""
        same = self._taught(noise, covariance, float(both[0]), 0)
        if self._sides == 2:
            return self._lesson * same
        assert self._form is not None
        mixed = float(self._form.product(noise, covariance / 2)[0])
        return self._lesson * _mean_of_two(self._sides, same, self._taught(noise, covariance / 2, mixed, 1))

    def _taught(self, noise: PairMeans, covariance: Array, both: float, other: int) -> float:
        """``E h_ab e_ab``, or ``E h_ab e_ac`` with another opponent."""
        learning, pairs = self._learning, noise.spread.size
        if self._plain.spread.size != pairs:  # the means over Δρ once for each of the pairs that are looked at
            self._plain = PairMeans(self._outcome, np.zeros(pairs), np.full(pairs, self._plain.spread[0]))
        seen = self._expected[other] - float(self._plain.product(noise, covariance)[0])
        if learning.on == "expected":
            return -learning.pull * seen
        return -learning.alpha * seen + learning.beta * (self._known[other] - both)


def _equal_means(outcome: Outcome, V: float, sigma: float) -> tuple[PairMeans, PairMeans]:
    """Means over the gap of two strengths of variance V, and of the performances about them."""
    spread = math.sqrt(2 * V)
    both = (spread, math.hypot(spread, math.sqrt(2) * sigma))
    plain, own = (PairMeans(outcome, np.zeros(1), np.array([one])) for one in both)
    return plain, own


def _mean_of_two(sides: int, same: float, other: float) -> float:
    """Mean of the square, or product, of means over all opponents in a contest of so many sides."""
    return (same + (sides - 2) * other) / (sides - 1)


def _alike(outcome: Outcome, V: float, sigma: float, sides: int) -> float:
    """``E S_ab S_ac`` where more than two meet: a third where luck alone decides, or all."""
    if sides == 2:
        return 0.0
    f, G = performance_laws(outcome, Normal([0.0, 0.0], math.hypot(math.sqrt(V), sigma)))
    return float((f[0] * G[0] ** 2).sum())


def _strength_variance(
    outcome: Outcome, learning: Learning, gamma: float, sigma: float, league: tuple[float, int]
) -> float:
    """Strengths do not know of ratings, so V is found first, alone; ``league`` is 1/N and how many meet at once."""
    few, sides = league

    def excess(V: float) -> float:
        if not math.sqrt(2 * V) * outcome.nu <= WIDEST:
            raise NoStationaryState("The spread of strengths is too wide for the Gaussian closure; simulate it.")
        plain, means = _equal_means(outcome, V, sigma)
        lesson = _lesson_square(learning, plain, means, 2 * V, 1 - means.tie[0])
        if sides > 2:
            other = _lesson_square(learning, plain, means, V, _alike(outcome, V, sigma, sides))
            lesson = _mean_of_two(sides, lesson, other)
        source = (1 - few) * learning.diffusion**2 + gamma * lesson
        shot = gamma * learning.alpha**2 * (1 - sides * few)
        return source + shot - 2 * V * _decay(learning, plain, means)

    low, high = 0.0, learning.diffusion**2 / (2 * learning.pull * outcome.steepest)
    while excess(high) > 0:
        low, high = high, 1.5 * high
    return float(root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-15 * high).root)


def _decay(learning: Learning, plain: PairMeans, own: PairMeans) -> float:
    if learning.on == "expected":
        return learning.pull * float(plain.slope[0])
    return learning.alpha * float(plain.slope[0]) - learning.beta * float(own.slope[0])


def _lesson_square(learning: Learning, plain: PairMeans, blurred: PairMeans, shared: float, results: float) -> float:
    """``E H²`` of a match without its α; or ``E h_ab h_ac``, with the covariance of both gaps and ``E S_ab S_ac``."""
    square = float(plain.product(plain, np.array([shared]))[0])
    if learning.on == "expected":
        return learning.pull**2 * square
    product = float(plain.product(blurred, np.array([shared]))[0])
    both = -2 * learning.alpha * learning.beta * product
    return learning.alpha**2 * square + both + learning.beta**2 * float(results)
