r"""Means over the noise of rating differences, pair by pair.

With Δ normal, ``f = w (s − b)`` and ``g = w (S² − 2 s b + b²)``, a pair drifts by ``E f``, is held by the slope
``−E f'`` and shaken by ``E g``. Derivatives are means as well, by Stein's identity: ``E f^(k) = E f h_k(x) / σ^k`` with
x the standardised Δ, σ its deviation, ``h_1 = x``, ``h_2 = x² − 1``, ``h_3 = x³ − 3x``. A derivative says how the mean
of the one below changes with the mean of Δ and, halved, how that of the one two below changes with its variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from kinelo.model.expectation import Closure, expected_result, expected_tie
from kinelo.model.outcome import Outcome
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.teams import Teams

Index = NDArray[np.intp]

WIDEST = 60.0
CACHED = 1 << 14


class Bends(NamedTuple):
    """Further derivatives: the second of the drift and the first of the shake are antisymmetric."""

    drift_second: Array
    drift_third: Array
    shake_first: Array
    shake_second: Array


@dataclass(frozen=True)
class PairMeans:
    """Means over the noise of a pair: its drift (antisymmetric), its restoring slope and its shake (symmetric).

    ``bends`` say how these change, where everyone plays everyone.
    """

    drift: Array
    slope: Array
    shake: Array
    bends: Bends | None


class Results:
    """First two moments of the results of all pairs."""

    def __init__(self, system: RatingSystem, teams: Teams, closure: Closure) -> None:
        self.mean = expected_result(system.outcome, teams.strengths, closure)
        self.square = 1 - expected_tie(system.outcome, teams.strengths)


def normal_nodes(sharpness: float) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoidal rule for a standard normal; ``sharpness`` is its spread in units of what
    the integrand resolves.
    """
    step = min(0.7, 0.33 / max(sharpness, 1e-9))
    half = math.ceil(8.3 / step)
    x: Array = np.arange(-half, half + 1, dtype=np.float64) * step
    weight: Array = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


def pair_means(system: RatingSystem, results: Results, rating: Array, variance: Array) -> PairMeans:
    """Average over the noise of every pair; ``variance`` is the matrix of the variances of ``R_i − R_j``."""
    rows, columns = _pairs(rating.size)
    centre = rating[rows] - rating[columns]
    spread = np.sqrt(variance[rows, columns])
    mean, square = results.mean[rows, columns], results.square[rows, columns]
    pairing = system.pairing.softened()
    sharpness = float(spread.max()) / min(system.outcome.finest, pairing.finest)
    if not sharpness <= WIDEST:
        raise LinAlgError("the ratings run apart")
    x, weight = normal_nodes(sharpness)
    place, sign = _places(rating.size)
    if pairing.constant:
        drift, slope, shake, bends = _plain_means(system.outcome, x, weight, centre, spread, mean, square)
        signs = (sign, None, sign, None)
        laid_out = Bends(*(one[place] if odd is None else one[place] * odd for one, odd in zip(bends, signs)))
        return PairMeans(drift[place] * sign, slope[place], shake[place], laid_out)
    drift, slope, shake = np.zeros_like(centre), np.zeros_like(centre), np.zeros_like(centre)
    for node, share in zip(x, weight):
        z = centre + node * spread
        b, w = system.outcome.b(z), pairing.w(z) * share
        push = w * (mean - b)
        drift += push
        slope -= push * node
        shake += w * (square - 2 * mean * b + b * b)
    slope *= _inverse(spread)
    return PairMeans(drift[place] * sign, slope[place], shake[place], None)


def _plain_means(
    outcome: Outcome, x: Array, weight: Array, centre: Array, spread: Array, mean: Array, square: Array
) -> tuple[Array, Array, Array, Bends]:
    """Drift, slope, shake and bends for w ≡ 1, where the means of ``b h_k`` and ``b² h_k`` say it all."""
    hermite = weight * np.stack([np.ones_like(x), x, x**2 - 1, x**3 - 3 * x])
    score, energy = np.empty((4, centre.size)), np.empty((3, centre.size))
    # As many pairs at a time as stay in the processor's cache.
    size = max(1, CACHED // x.size)
    for begin in range(0, centre.size, size):
        part = slice(begin, begin + size)
        z = np.multiply.outer(x, spread[part])
        z += centre[part]
        b = np.asarray(outcome.b(z))
        score[:, part] = hermite @ b
        energy[:, part] = hermite[:3] @ (b * b)
    shake, per = energy - 2 * mean * score[:3], _inverse(spread)
    bends = Bends(-score[2] * per**2, -score[3] * per**3, shake[1] * per, shake[2] * per**2)
    return mean - score[0], score[1] * per, square + shake[0], bends


def _inverse(spread: Array) -> Array:
    """1/σ, and 0 for a team against itself."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


@lru_cache(maxsize=4)
def _pairs(size: int) -> tuple[Index, Index]:
    rows, columns = np.triu_indices(size)
    return rows, columns


@lru_cache(maxsize=4)
def _places(size: int) -> tuple[Index, Array]:
    """Where the pair of i and j stands among all pairs, and −1 below the diagonal."""
    rows, columns = _pairs(size)
    place = np.empty((size, size), dtype=np.intp)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return place, np.where(np.tri(size, k=-1, dtype=np.bool_), -1.0, 1.0)


def difference_variance(covariance: Array, finite: bool) -> Array:
    """Variances of ``R_i − R_j``; on the diagonal of a continuum, of two different teams at the same node."""
    own = np.diag(covariance)
    total = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(total, 0.0 if finite else 2 * own)
    return np.maximum(total, 0.0)


def laplacian(pairs: Array) -> Array:
    """Matrix of ``h → Σ_j pairs_ij (h_i − h_j)``."""
    return np.diag(pairs.sum(axis=1)) - pairs
