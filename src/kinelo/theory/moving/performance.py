r"""What results say about strengths that move: the expected result as a function of their difference alone.

``s(z) = E b(z + √(σ_i² + σ_j²) ξ)`` with normal performances about the strengths of the day; without them s = b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Fixed, Normal
from kinelo.model.validation import Array
from kinelo.theory.pair_means import Function, smoothed
from kinelo.theory.teams import Teams


@dataclass(frozen=True)
class Results:
    """Results of two teams whose performances spread by σ about their strengths: mean, slope, mean square."""

    outcome: Outcome
    sigma: float = 0.0

    def _smooth(self, function: Function) -> Function:
        return smoothed(function, self.outcome.nu, math.sqrt(2) * self.sigma)

    def mean(self, z: Array) -> Array:
        """``s(z)``."""
        return self._smooth(self.outcome.b)(z)

    def slope(self, z: Array) -> Array:
        """``s'(z)``."""
        return self._smooth(self.outcome.b_prime)(z)

    def square(self, z: Array) -> Array:
        """``E S²``: one less the probability of a tie."""
        if not self.outcome.has_ties:
            return np.ones(np.shape(z))
        return 1 - self._smooth(self.outcome.tie_probability)(z)


def common_sigma(teams: Teams) -> float:
    """The one spread of performances that all teams share."""
    normal_only(teams)
    if np.ptp(teams.sigma) > 1e-12 * float(teams.sigma.max()):
        raise InputError(
            f"Strengths that learn are computed for one common sigma, not for spreads from {teams.sigma.min():g} to "
            f"{teams.sigma.max():g}; simulate plays unequal ones."
        )
    return float(teams.sigma[0])


def normal_only(teams: Teams) -> None:
    """Refuse laws of performance for which nothing about moving strengths is computed."""
    if not isinstance(teams.strengths, Fixed | Normal):
        raise InputError(
            f"Strengths that move are computed for Fixed or Normal performances, not {type(teams.strengths).__name__}; "
            "simulate plays every law."
        )
