r"""Means over pairs of teams whose ratings, or strengths and ratings, are jointly normal.

With h_k the orthonormal Hermite polynomials, X normal with mean m and spread τ and ξ its standardised value, let
``f_k = E f(X) h_k(ξ)``. Then

* ``E f = f_0``, and derivatives are means as well (Stein): ``E f^(k) = √k! f_k/τ^k``. A derivative says how the mean
  of the one below changes with m and, halved, how that of the one two below changes with τ²;
* two such variables with covariance c give ``E f(X) g(Y) = Σ_k (c/τ_Xτ_Y)^k f_k g_k`` (Mehler): a product over a pair
  costs one quadrature per variable instead of one in the plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import NoStationaryState
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array

Index = NDArray[np.intp]
Function = Callable[[Array], Array]

WIDEST = 60.0
CACHED_MEANS = 1 << 14
FIRST_ORDER = 4
MOST_TERMS = 64
NARROW_NOISE = 1e-3
FREE_RATE = 1e-10
"""Share of the largest rate below which a mode is a shift of teams that never meet, and free."""


def normal_nodes(sharpness: float, finest: float = 0.7, reach: float = 8.3) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoidal rule for a standard normal; ``sharpness`` is its spread in units of what
    the integrand resolves.
    """
    step = min(finest, 0.33 / max(sharpness, 1e-9))
    half = math.ceil(reach / step)
    x: Array = np.arange(-half, half + 1, dtype=np.float64) * step
    weight: Array = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


def smooth(function: Function, nu: float, spread: float) -> Function:
    """``z → E function(z + spread ξ)`` with ξ standard normal."""
    if spread == 0:
        return function
    x, weight = normal_nodes(spread * nu)
    x = x * spread

    def mean(z: Array) -> Array:
        z = np.asarray(z)
        total = np.zeros(z.shape)
        for part in _cached_parts(x.size, z.size):
            total += np.tensordot(weight[part], function(np.add.outer(x[part], z)), 1)
        return total

    return mean


def _cached_parts(count: int, each: int) -> Iterator[slice]:
    """As many of so many columns at a time as stay in the processor's cache, with so many values each."""
    size = max(1, CACHED_MEANS // max(1, each))
    return (slice(begin, begin + size) for begin in range(0, count, size))


class PairMeans:
    """Means of b and b² over ``N(centre, spread²)``, one entry per pair.

    Attributes
    ----------
    series
        ``E b h_k``, one row per k: the first four, or as many as products with other means take.
    square
        ``E b²`` and its first two derivatives.
    """

    def __init__(self, outcome: Outcome, centre: Array, spread: Array, *, products: bool = True) -> None:
        sharpness = float(spread.max(initial=0.0)) / outcome.finest
        if not sharpness <= WIDEST:
            raise NoStationaryState("Ratings run apart: they spread too widely for the equations of their noise.")
        terms = min(MOST_TERMS, 24 + int(24 * sharpness)) if products else FIRST_ORDER
        x, weight = normal_nodes(sharpness, *((0.4, 9.5) if products else ()))
        hermite = hermite_rows(x, terms) * weight
        self.spread, pairs = spread, centre.size
        self.series, square = np.empty((terms, pairs)), np.empty((3, pairs))
        self._asked = outcome, centre, x, weight
        # Differences of b say nothing of its slope where the spread is hardly more than rounding.
        narrow = bool((spread < NARROW_NOISE * outcome.finest).any())
        slope = np.empty(pairs) if narrow else None
        for part in _cached_parts(pairs, x.size):
            z = np.multiply.outer(x, spread[part])
            z += centre[part]
            b = np.asarray(outcome.b(z))
            self.series[:, part] = hermite @ b
            square[:, part] = hermite[:3] @ (b * b)
            if slope is not None:
                slope[part] = weight @ outcome.b_prime(z)
        per = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        self.slope = self.series[1] * per if slope is None else slope
        self.second, self.third = math.sqrt(2) * self.series[2] * per**2, math.sqrt(6) * self.series[3] * per**3
        self.square = square[0]
        self.square_first, self.square_second = square[1] * per, math.sqrt(2) * square[2] * per**2

    @property
    def mean(self) -> Array:
        """``E b``."""
        return self.series[0]

    @cached_property
    def tie(self) -> Array:
        """Probability of a tie."""
        outcome, centre, x, weight = self._asked
        total = np.zeros(centre.size)
        if outcome.has_ties:
            for part in _cached_parts(total.size, x.size):
                total[part] = weight @ outcome.tie_probability(np.multiply.outer(x, self.spread[part]) + centre[part])
        return total

    def product(self, other: PairMeans, covariance: Array, remaining: Array | None = None) -> Array:
        """``E b(X) b(Y)`` for X here and Y there with the given covariance.

        With ``remaining``, its mean over days on which the covariance is so many parts of the given one.
        """
        scale = self.spread * other.spread
        correlation = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
        terms = min(len(self.series), len(other.series))
        parts = self.series[:terms] * other.series[:terms]
        if remaining is not None:
            parts *= (remaining[:, None] ** np.arange(terms)).mean(axis=0)[:, None]
        total = parts[-1]
        for part in parts[-2::-1]:
            total *= correlation
            total += part
        return total


def powers(base: Array, count: int) -> Array:
    """``base⁰, base¹, …`` one after the other along a new first axis."""
    rows = np.empty((count, *base.shape))
    rows[0], rows[1:] = 1.0, base
    return np.multiply.accumulate(rows, axis=0, out=rows)


@lru_cache(maxsize=8)
def _hermite(half: int, step: float, terms: int) -> Array:
    x = np.arange(-half, half + 1, dtype=np.float64) * step
    rows = [np.ones_like(x), x]
    for k in range(2, terms):
        rows.append((x * rows[-1] - math.sqrt(k - 1) * rows[-2]) / math.sqrt(k))
    return np.array(rows[:terms])


def hermite_rows(x: Array, terms: int) -> Array:
    """Orthonormal Hermite polynomials at equidistant points about 0, one row per degree."""
    return _hermite(x.size // 2, float(x[1] - x[0]), terms)


class Triangle:
    """Pairs i < j of a league (and i = j in a continuum, whose nodes stand for many teams), as vectors or matrices."""

    def __init__(self, size: int, diagonal: bool) -> None:
        self.size = size
        self.rows, self.columns = _triangle(size, 0 if diagonal else 1)
        self._above, self._below = _places(size, 0 if diagonal else 1)

    def gap(self, values: Array) -> Array:
        """``values_i − values_j``."""
        return values[self.rows] - values[self.columns]

    def total(self, values: Array) -> Array:
        """``values_i + values_j``."""
        return values[self.rows] + values[self.columns]

    def matrix(self, values: Array, sign: int = 1) -> Array:
        """All pairs from those of the triangle; ``sign`` −1 for what changes sign with the order of the teams."""
        full = np.zeros(self.size * self.size)
        full[self._below] = values if sign == 1 else sign * values
        full[self._above] = values
        return full.reshape(self.size, self.size)

    def matrices(self, rows: Array) -> Array:
        """One matrix for each row of values; the first changes sign with the order of the teams, the next does not."""
        full = np.zeros((len(rows), self.size * self.size))
        full[:, self._below] = rows
        full[::2, self._below] *= -1
        full[:, self._above] = rows
        return full.reshape(-1, self.size, self.size)


@lru_cache(maxsize=8)
def _triangle(size: int, above: int) -> tuple[Index, Index]:
    rows, columns = np.triu_indices(size, above)
    return rows, columns


@lru_cache(maxsize=8)
def _places(size: int, above: int) -> tuple[Index, Index]:
    """Where pairs lie in a flattened matrix, above its diagonal and below."""
    rows, columns = _triangle(size, above)
    return rows * size + columns, columns * size + rows


def laplacian(pairs: Array) -> Array:
    """Matrix of ``h → Σ_j pairs_ij (h_i − h_j)``."""
    matrix = -pairs
    matrix.flat[:: len(pairs) + 1] += pairs.sum(axis=1)
    return matrix


def mass_laplacian(pairs: Array, mass: Array) -> Array:
    """Symmetric matrix of ``h → Σ_j μ_j pairs_ij (h_i − h_j)``, for h in units of 1/√μ."""
    root = np.sqrt(mass)
    matrix = -pairs * np.multiply.outer(root, root)
    matrix[np.diag_indices_from(matrix)] += pairs @ mass
    return matrix
