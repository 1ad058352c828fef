"""One normal belief about one strength, ``N(x, v)``: what rest, entry and a match do to it, in numbers alone.

Every filter here is made of these functions: the one that keeps a variance per slot (``filter/alone.py``), the one that
keeps the covariance (``filter/together.py``), that of contests (``rank/kernels.py``), Glicko's (``glicko/kernels.py``)
and the audit's (``advice/audit/kernels.py``).

**Rest** of ``t`` years. ``dx = −ρ x dt + dW`` with variance ``walk`` a year:

    ``x ← f x``, ``v ← f² v + q``,  ``f = e^{−ρt}``, ``q = walk (1 − f²)/2ρ``.

**Entry.** A newcomer is a part of his mates, a part of his foes and a part of the level at which newcomers enter.

**What a match shows.** An observation law says how far what is seen lies from what was expected, over its variance
(``shift``), and how much of that variance it takes away (``left``). A margin ``y`` with noise: ``(y − ŷ)/S`` and
``1/S``. A result, by Davidson's law: from the moments of the difference given the result. A ranking
(:mod:`kinelo.raters.rank.ranking`) says a ``precision`` and a ``pull`` of each entrant.

**Update** of a slot with share ``h``: ``x ← x + h v · shift``, ``v ← v − (h v)² · left``; in precisions
``1/v ← 1/v + precision``, ``x ← x + v · pull``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel, part

YEAR = 365.25
START, TODAY = range(2)
LONG_AGO = -(2**60)
"""Days before this have never been: the clock of a rater that has seen no match."""
LEAST_SHARE = 1e-9
"""Share of those known on a side below which nobody is said to be."""
STEEPEST_PROMISE = 300.0
"""Largest exponent of a result's chance."""


@kernel
def fade(days, rho, walk):
    """``f`` on a strength after a rest, and the variance ``q`` the rest adds (``walk`` is a variance per year)."""
    years = max(days, 0) / YEAR
    a = rho * years
    if a < 1e-2:  # a few terms instead of an exponential, because most rests are of a few days
        f = 1.0 - a * (1.0 - a / 2.0 * (1.0 - a / 3.0 * (1.0 - a / 4.0)))
        return f, walk * years * (1.0 - a * (1.0 - a * (2.0 / 3.0 - a * (1.0 / 3.0 - a * 2.0 / 15.0))))
    f = math.exp(-a)
    return f, walk * (1.0 - f * f) / (2.0 * rho)


def fade_all(days: NDArray, rho: float, walk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same as :func:`fade` for an array of rests."""
    years = np.maximum(days, 0) / YEAR
    f = np.exp(-rho * years)
    return f, walk * (years if rho == 0.0 else -np.expm1(-2.0 * rho * years) / (2.0 * rho))


@part
def rested(x, v, f, q):
    """Mean and variance (floats) after a rest that :func:`fade` describes; ``x`` counts from what it returns to."""
    return f * x, f * f * v + q


@kernel
def years_since_start(day, clock):
    """Years (float) since the first match; none before it."""
    return max(day - clock[START], 0) / YEAR if clock[START] > LONG_AGO else 0.0


@kernel
def move_clock(day, clock):
    """Note in the clock (2) that a match is played on ``day`` (int)."""
    if clock[START] <= LONG_AGO:
        clock[START] = day
    clock[TODAY] = max(day, clock[TODAY])


@part
def lateness(day, clock):
    """How much (float) newcomers of a day owe to the level of newcomers: it has to be learnt first."""
    return 1.0 - math.exp(-years_since_start(day, clock))


@part
def entry_parts(whole, gift, late, mates, foes):
    """How much (three floats) a newcomer is given of his mates, his foes and the level.

    ``gift`` are these parts of his kind, ``mates`` and ``foes`` the shares (floats) of those of both sides who are
    known. A kind that is ``whole`` is the mean of its mates, where there are any.
    """
    if whole and mates > LEAST_SHARE:
        return 1.0 / mates, 0.0, 0.0
    lean = gift[1] if foes > 0.0 else 0.0
    return gift[0], lean, gift[2] * (1.0 - lean) * late


@part
def observe_margin(y, mean, S):
    """``shift`` and ``left`` (floats) of a match that shows ``y`` around ``mean`` with the variance ``S``."""
    left = 1.0 / S
    return (y - mean) * left, left


@part
def observe_result(S, games, nu, kappa, mean, variance, x, weight):
    """Likelihood of a result ``S`` in [−1, 1] over differences ``N(mean, variance)``, and ``shift`` and ``left`` once
    it has counted ``games`` times.

    Davidson's law without its ``log κ``; nodes ``x`` and their ``weight`` (arrays) are those of a standard normal.
    """
    sd = math.sqrt(variance)
    L, M0, M1, M2 = 0.0, 0.0, 0.0, 0.0
    for n in range(x.size):
        u = min(max(nu * (mean + sd * x[n]), -STEEPEST_PROMISE), STEEPEST_PROMISE)
        e = math.exp(u)
        power = e if S == 1.0 else (1.0 / e if S == -1.0 else (1.0 if S == 0.0 else math.exp(S * u)))  # e^{Su}
        like = power / (e + 1.0 / e + kappa)
        L += weight[n] * like
        if games != 1.0:
            like = like**games
        like *= weight[n]
        M0 += like  # moments of the standardised difference after the match
        M1 += like * x[n]
        M2 += like * x[n] * x[n]
    M1, M2 = M1 / M0, M2 / M0
    return L, sd * M1 / variance, (1.0 - M2 + M1 * M1) / variance


@part
def learnt(x, v, share, shift, left):
    """Mean and variance (floats) of a slot with this share, after what a match showed."""
    gain = share * v  # C: covariance of the slot with what the match shows
    return x + gain * shift, v - gain * gain * left


@part
def informed(x, v, precision, pull):
    """Mean and variance (floats) times a normal factor of this precision, whose score at ``x`` is ``pull``."""
    v = 1.0 / (1.0 / v + precision)
    return x + v * pull, v
