r"""Means over pairs of teams whose strengths and ratings are jointly normal, by Hermite series.

With h_k the orthonormal Hermite polynomials and ``b_k(m, τ) = E b(m + τξ) h_k(ξ)``, two normal variables with
covariance c give ``E b(X) b(Y) = Σ_k (c/τ_Xτ_Y)^k b_k(X) b_k(Y)`` (Mehler). Normal performances only widen τ_X. So a
product over a pair costs one quadrature per variable instead of one in the plane.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.pair_means import WIDEST

MOST_TERMS = 64
REACH = 10.0


class PairMeans:
    """Means of b over ``N(centre, spread²)``, one entry per pair: mean, slope, mean square, Hermite series."""

    def __init__(self, outcome: Outcome, centre: Array, spread: Array) -> None:
        sharpness = float(spread.max()) * outcome.nu
        if not sharpness <= WIDEST:
            raise NoStationaryState("Ratings run apart: they spread too widely for the equations of their noise.")
        x, weight = _nodes(sharpness)
        series = _hermite(x, min(MOST_TERMS, 24 + int(24 * sharpness))) * weight
        self.spread = spread
        self.series = np.zeros((len(series), centre.size))
        self.slope, self.square, self.tie = (np.zeros(centre.size) for _ in range(3))
        for first in range(0, centre.size, 4096):
            part = slice(first, first + 4096)
            z = centre[None, part] + x[:, None] * spread[None, part]
            b = outcome.b(z)
            self.series[:, part] = series @ b
            self.slope[part] = weight @ outcome.b_prime(z)
            self.square[part] = weight @ (b * b)
            if outcome.has_ties:
                self.tie[part] = weight @ outcome.tie_probability(z)

    @property
    def mean(self) -> Array:
        """``E b``."""
        return self.series[0]

    def product(self, other: PairMeans, covariance: Array) -> Array:
        """``E b(X) b(Y)`` for X here and Y there with the given covariance."""
        scale = self.spread * other.spread
        correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
        total = np.zeros_like(correlation)
        terms = min(len(self.series), len(other.series))
        for mine, theirs in zip(self.series[terms - 1 :: -1], other.series[terms - 1 :: -1]):
            total = total * correlation + mine * theirs
        return total


def _nodes(sharpness: float) -> tuple[Array, Array]:
    step = min(0.3, 0.33 / max(sharpness, 1e-9))
    half = math.ceil(REACH / step)
    x: Array = np.arange(-half, half + 1, dtype=np.float64) * step
    weight: Array = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


def _hermite(x: Array, terms: int) -> Array:
    rows = [np.ones_like(x), x]
    for k in range(2, terms):
        rows.append((x * rows[-1] - math.sqrt(k - 1) * rows[-2]) / math.sqrt(k))
    return np.array(rows)
