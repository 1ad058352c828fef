"""How a strength moves while nobody plays, ``dx = −ρ x dt + walk dW``, and the clock of a rater; compiled."""

from __future__ import annotations

import math

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


@kernel
def years_since_start(day, clock):
    """Years since the first match; none before it."""
    return max(day - clock[START], 0) / YEAR if clock[START] > LONG_AGO else 0.0


@kernel
def years_since_last(day, clock):
    """Years since the latest match; none before the first."""
    return max(day - clock[TODAY], 0) / YEAR if clock[TODAY] > LONG_AGO else 0.0


@kernel
def move_clock(day, clock):
    """Note that a match is played on ``day``."""
    if clock[START] <= LONG_AGO:
        clock[START] = day
    clock[TODAY] = max(day, clock[TODAY])


@kernel
def fade_slopes(days, rho):
    """Factor ``f`` of a rest and the variance ``A`` it adds per unit of ``walk``, and the derivatives of both by ρ."""
    years = max(days, 0) / YEAR
    a = rho * years
    if a < 1e-2:
        f = 1.0 - a * (1.0 - a / 2.0 * (1.0 - a / 3.0 * (1.0 - a / 4.0)))
        A = years * (1.0 - a * (1.0 - a * (2.0 / 3.0 - a * (1.0 / 3.0 - a * 2.0 / 15.0))))
        return f, A, -years * f, -years * years * (1.0 - a * (4.0 / 3.0 - a * (1.0 - a * 8.0 / 15.0)))
    f = math.exp(-a)
    A = (1.0 - f * f) / (2.0 * rho)
    return f, A, -years * f, (years * f * f - A) / rho
