r"""The strengths of a league that learns: ``g ∝ exp(−(2/σ²) A*g)``, A the antiderivative of the pull.

In the frame ρ − αt a strength drifts by ``−(k*g)(ρ)`` per unit of kinetic time, ``k = κb`` (or ``αb − βs`` where
winners learn from results), and diffuses with σ. For k increasing the profile is the unique minimiser, up to shifts, of
``½σ²∫g ln g + ½∬A(ρ − ρ')gg'``. Its tails fall as ``e^{−2κ|ρ|/σ²}``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Learning
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.moving.performance import Results
from kinelo.theory.pair_means import Function

GOAL = 1e-13
AGREED = 1e-11
ITERATIONS = 400
FINEST = 2**17


@dataclass(frozen=True)
class StrengthProfile:
    """The stationary density of strengths about their mean, on an equidistant grid.

    Attributes
    ----------
    strength, density
        The grid, centred at 0, and g on it.

    >>> import kinelo as kn
    >>> profile = kn.theory.strength_profile(kn.Tanh(nu=1.0), kn.Learning(alpha=1.0, diffusion=1.0))
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


@dataclass(frozen=True)
class Pull:
    """What draws strengths together: k(z) and its antiderivative A(z)."""

    outcome: Outcome
    learning: Learning
    sigma: float = 0.0

    def force(self, z: Array) -> Array:
        """``k(z)``: κb, or αb − βs."""
        if self._plain:
            return self.learning.pull * self.outcome.b(z)
        results = Results(self.outcome, self.sigma)
        return self.learning.alpha * self.outcome.b(z) - self.learning.beta * results.mean(z)

    def potential(self, z: Array) -> Array:
        """``A(z)``."""
        if self._plain:
            return self.learning.pull * self.outcome.antiderivative(z)
        smooth = Results(self.outcome, self.sigma)._smooth(self.outcome.antiderivative)
        return self.learning.alpha * self.outcome.antiderivative(z) - self.learning.beta * smooth(z)

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
    pull = Pull(outcome, learning, sigma)
    half, step = _first_grid(pull)
    last = None
    while True:
        found = _on_grid(pull, half, step)
        if found.density[0] > 1e-18 * found.density.max():
            half *= 1.5
            continue
        if last is not None and abs(found.variance / last - 1) <= AGREED:
            return found
        last, step = found.variance, step / 2


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


def _first_grid(pull: Pull) -> tuple[float, float]:
    """Half-width and step from the two limits of the profile: normal in the middle, exponential in the tails."""
    learning, outcome = pull.learning, pull.outcome
    tail = learning.diffusion**2 / (2 * learning.pull)
    stiffness = max(
        float(pull.force(np.array(1e-6 / outcome.nu))) * 1e6 * outcome.nu, 1e-3 * learning.pull * outcome.nu
    )
    core = math.sqrt(learning.diffusion**2 / (2 * stiffness))
    return 40 * tail + 9 * core, min(0.5 * max(core, tail), 0.4 / outcome.nu)


def _on_grid(pull: Pull, half: float, step: float) -> StrengthProfile:
    count = math.ceil(half / step)
    if count > FINEST:
        raise NoStationaryState("The strength profile has tails too long to be resolved on a grid.")
    grid: Array = np.arange(-count, count + 1, dtype=np.float64) * step
    kernel = pull.potential(np.arange(-2 * count, 2 * count + 1, dtype=np.float64) * step)
    length = next_fast_len(kernel.size + grid.size - 1, real=True)
    transformed: Array = np.asarray(rfft(kernel, length))
    cold = 2 / pull.learning.diffusion**2
    exponent, mixing = cold * pull.potential(grid), Mixing()
    change = math.inf
    for _ in range(ITERATIONS):
        density = _normalised(exponent, step)
        spread: Array = np.asarray(irfft(transformed * np.asarray(rfft(density, length)), length))
        image = cold * step * spread[2 * count : kernel.size]
        image = (image + image[::-1]) / 2
        image -= image.min()
        change = float(np.abs(_normalised(image, step) - density).max() / density.max())
        if change <= GOAL:
            return StrengthProfile(grid, _normalised(image, step))
        exponent = mixing.propose(exponent, image, change)
    if change > 1e3 * GOAL:
        raise NoStationaryState(f"The strength profile was not found: it still changes by {change:.2g}.")
    return StrengthProfile(grid, _normalised(exponent, step))


def _normalised(exponent: Array, step: float) -> Array:
    density = np.exp(exponent.min() - exponent)
    return density / (density.sum() * step)
