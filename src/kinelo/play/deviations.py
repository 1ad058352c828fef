"""Glicko's match: each side carries the variance v = RD² of its rating.

``g = (1 + 12ν²v/π²)^{−½}`` of the opponent's v, ``b(gΔ) = tanh νgΔ``, ``I = ν²g² sech² νgΔ``; then
``v⁺ = v/(1 + vI)`` and ``r += νg v⁺ (S − b(gΔ))``; at rest v grows by c² per unit of time up to its largest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinelo.model.steps import GLICKO
from kinelo.play.formula import formula
from kinelo.play.laws import logistic

PI_SQUARE = math.pi * math.pi


class Deviation(NamedTuple):
    """Glicko's numbers: whether it is on, ν, c² per unit of T, the first and the largest v."""

    on: bool
    nu: float
    growth: float
    start: float
    largest: float


@formula
def rested(variance, growth, largest, elapsed):
    """v after ``elapsed`` units of T without a match."""
    return min(variance + growth * elapsed, max(largest, variance))


@formula
def discount(nu, variance):
    """g: how much a result against an opponent with this variance counts; 1 where the rating is certain."""
    return 1.0 / math.sqrt(1.0 + GLICKO * nu * nu * variance)


@formula
def natural_discount(phi2):
    """The same in Glickman's natural units, ``φ² = (2ν)² v``, in the order of operations that rating books keep."""
    return 1.0 / math.sqrt(1.0 + 3.0 * phi2 / PI_SQUARE)


@formula
def informed(nu, variance, z):
    """g, b(gΔ) and the information I of a match against an opponent with this variance, at a difference Δ = ``z``."""
    g = discount(nu, variance)
    b = logistic(nu, 0.0, g * z)
    steep = nu * g
    return g, b, steep * steep * (1.0 - b * b)  # sech² = 1 − tanh²


@formula
def sharpened(variance, information):
    """v after matches with this much information in all."""
    return variance / (1.0 + variance * information)
