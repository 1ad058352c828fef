r"""Two teams alike: means over the differences of their strengths and ratings, jointly normal.

``Δρ ~ N(0, 2V)``, ``Δr ~ N(0, 2U)``, ``Cov(Δρ, Δr) = 2C``: the Gaussian closure of a league of equals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinelo.errors import NoStationaryState
from kinelo.theory.moving.performance import Results
from kinelo.theory.pair_means import normal_nodes

WIDEST = 40.0


@dataclass(frozen=True)
class StrengthMeans:
    """Means over Δρ alone: B_ρ = E b', B_s = E s', and E b², E bs, E s², E S²."""

    slope: float
    result_slope: float
    square: float
    product: float
    result_square: float
    decided: float


def strength_means(results: Results, V: float) -> StrengthMeans:
    """Means over the difference of two strengths of variance V each."""
    x, weight = _nodes(results, V)
    z = math.sqrt(2 * V) * x
    b, s = results.outcome.b(z), results.mean(z)
    return StrengthMeans(
        float(weight @ results.outcome.b_prime(z)),
        float(weight @ results.slope(z)),
        float(weight @ b**2),
        float(weight @ (b * s)),
        float(weight @ s**2),
        float(weight @ results.square(z)),
    )


@dataclass(frozen=True)
class RatingMeans:
    """Means over Δρ and Δr: B_r = E b'(Δr), E b(Δr)², E b(Δρ)b(Δr), E s(Δρ)b(Δr)."""

    slope: float
    square: float
    with_strength: float
    with_result: float


def rating_means(results: Results, V: float, C: float, U: float) -> RatingMeans:
    """Means over the differences of strengths and ratings."""
    x, weight = _nodes(results, U)
    y, other = _nodes(results, V)
    outcome, z = results.outcome, math.sqrt(2 * U) * x
    b = outcome.b(z)
    correlation = min(max(C / math.sqrt(V * U), -1.0), 1.0)
    gap = math.sqrt(2 * V) * (correlation * x[:, None] + math.sqrt(1 - correlation**2) * y[None, :])
    return RatingMeans(
        float(weight @ outcome.b_prime(z)),
        float(weight @ b**2),
        float((weight * b) @ outcome.b(gap) @ other),
        float((weight * b) @ results.mean(gap) @ other),
    )


def _nodes(results: Results, variance: float):
    sharpness = math.sqrt(2 * variance) * results.outcome.nu
    if not sharpness <= WIDEST:
        raise NoStationaryState("The spread of strengths or ratings is too wide for the Gaussian closure; simulate it.")
    return normal_nodes(sharpness)
