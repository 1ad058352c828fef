"""How a strength moves while nobody plays, ``dx = −ρ x dt + walk dW``, and the clock of a rater; compiled."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel

YEAR = 365.25
START, TODAY = range(2)
LONG_AGO = -(2**60)
"""Days before this have never been: the clock of a rater that has seen no match."""


@kernel
def fade(days, rho, walk):
    """Factor on a strength after a rest, and the variance the rest adds (``walk`` is a variance per year)."""
    years = max(days, 0) / YEAR
    a = rho * years
    if a < 1e-2:  # a few terms instead of an exponential, because most rests are of a few days
        f = 1.0 - a * (1.0 - a / 2.0 * (1.0 - a / 3.0 * (1.0 - a / 4.0)))
        return f, walk * years * (1.0 - a * (1.0 - a * (2.0 / 3.0 - a * (1.0 / 3.0 - a * 2.0 / 15.0))))
    f = math.exp(-a)
    return f, walk * (1.0 - f * f) / (2.0 * rho)


def rested(days: NDArray, rho: float, walk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same as :func:`fade` for an array of rests."""
    years = np.maximum(days, 0) / YEAR
    f = np.exp(-rho * years)
    return f, walk * (years if rho == 0.0 else -np.expm1(-2.0 * rho * years) / (2.0 * rho))


@kernel
def years_since_start(day, clock):
    """Years (float) since the first match; none before it."""
    return max(day - clock[START], 0) / YEAR if clock[START] > LONG_AGO else 0.0


@kernel
def years_since_last(day, clock):
    """Years (float) since the latest match; none before the first."""
    return max(day - clock[TODAY], 0) / YEAR if clock[TODAY] > LONG_AGO else 0.0


@kernel
def move_clock(day, clock):
    """Note in the clock (2) that a match is played on ``day`` (int)."""
    if clock[START] <= LONG_AGO:
        clock[START] = day
    clock[TODAY] = max(day, clock[TODAY])
