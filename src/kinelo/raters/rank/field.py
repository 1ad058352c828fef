"""What a ranking shows of the performance of each entrant: one integral per entrant, compiled.

Entrant ``a`` performs ``x_a``, normal with mean ``m_a`` and variance ``S_a`` before the contest; ``F_b`` is the
distribution of ``b``'s performance. Given ``x_a = x`` the others come before or behind ``a`` independently of one
another, so that with the sets of those ahead and those behind

    ``Z_a = P(these ahead of a, those behind) = ∫ f_a(x) Π_ahead (1 − F_b(x)) Π_behind F_b(x) dx``

exactly, and the same integrand is the density of ``x_a`` given that. A tie counts as half of each. For two entrants
``Z`` is the probability of the result; for many it pins ``x_a`` to a quantile of the field. In order of places the
sums of ``log F_b`` over those behind and of ``log(1 − F_b)`` over those ahead run on from one entrant to the next, on
one grid for all: the cost is that of ``k`` entrants times the points of the grid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from kinelo.play.formula import inlined, kernel

Array = NDArray[np.float64]

REACH = 4.5
"""Standard deviations beyond the outermost means that the grid covers."""
FINEST, COARSEST = 0.16, 0.45
"""Bounds of the step of the grid, in standard deviations of a performance."""
STEP = 1.1
"""Step of a sum over a density, in its standard deviations: an error of 1e-7."""
TOO_COARSE = 1.3
NODES = 6
NEGLIGIBLE = -32.0

_EDGE, _PER_UNIT = 8.0, 32
_LOG_CDF = log_ndtr(np.arange(-_EDGE - 2.0 / _PER_UNIT, _EDGE + 3.0 / _PER_UNIT, 1.0 / _PER_UNIT))
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Field(NamedTuple):
    """Entrants of one contest in order of places: mean and variance of performances, places, and how much each counts.

    All are (entrants); ``counts`` is 1 for who finished, less for others; entrants who tie have equal places.
    """

    mean: Array
    variance: Array
    place: Array
    counts: Array


class Shown(NamedTuple):
    """What a contest showed of each entrant: posterior less prior mean, posterior variance, log Z (entrants each)."""

    shift: Array
    variance: Array
    log_chance: Array


@inlined
def log_cdf(z):
    """``log Φ(z)``, by a cubic through four entries of a table; beyond it by its expansion."""
    if z >= _EDGE:
        return 0.0
    if z < -_EDGE:
        z2 = 1.0 / (z * z)
        return -0.5 * z * z - math.log(-z) - _HALF_LOG_2PI - z2 * (1.0 - z2 * (2.5 - z2 * 37.0 / 3.0))
    at = (z + _EDGE) * _PER_UNIT
    k = int(at)
    return cubic(_LOG_CDF, k + 2, at - k)


@inlined
def cubic(values, k, t):
    """Value between entries ``k`` and ``k + 1`` at ``t`` (float in [0, 1]), by the four entries around."""
    a, b, c, d = values[k - 1], values[k], values[k + 1], values[k + 2]
    return (
        b
        + t * (c - a / 3.0 - b / 2.0 - d / 6.0)
        + t * t * ((a + c) / 2.0 - b)
        + t * t * t * ((d - a) / 6.0 + (b - c) / 2.0)
    )


@inlined
def both_logs(z):
    """``log Φ(z)`` and ``log Φ(−z)`` within the table, which is the same from both ends."""
    at = (z + _EDGE) * _PER_UNIT
    k = int(at)
    t = at - k
    u, w, r = 1.0 - t, 2.0 - t, 1.0 + t
    p, q, c, d = -t * u * w / 6.0, r * u * w / 2.0, r * t * w / 2.0, -r * t * u / 6.0
    low, high = k + 1, _LOG_CDF.size - 2 - k
    return (
        p * _LOG_CDF[low] + q * _LOG_CDF[low + 1] + c * _LOG_CDF[low + 2] + d * _LOG_CDF[low + 3],
        p * _LOG_CDF[high] + q * _LOG_CDF[high - 1] + c * _LOG_CDF[high - 2] + d * _LOG_CDF[high - 3],
    )


@kernel
def lay_grid(field):
    """First point, step and number of points of a grid on which those of a field who count are looked at."""
    low, high, least, size = math.inf, -math.inf, math.inf, 0
    for a in range(field.mean.size):
        if field.counts[a] > 0.0:
            s = math.sqrt(field.variance[a])
            low, high, least = min(low, field.mean[a] - REACH * s), max(high, field.mean[a] + REACH * s), min(least, s)
            size += 1
    if size == 0:
        return 0.0, 1.0, 4
    step = least * min(max(STEP / math.sqrt(1.0 + 0.64 * size), FINEST), COARSEST)
    points = max(int((high - low) / step) + 2, 4)
    return low, (high - low) / (points - 1), points


@kernel
def fill_logs(field, low, step, below, above):
    """``log F`` and ``log(1 − F)`` at the points of a grid (entrants, points) of each entrant who counts."""
    for a in range(field.mean.size):
        if field.counts[a] > 0.0:
            scale = 1.0 / math.sqrt(field.variance[a])
            z, dz = (low - field.mean[a]) * scale, step * scale
            for g in range(below.shape[1]):
                if -_EDGE < z < _EDGE:
                    below[a, g], above[a, g] = both_logs(z)
                else:
                    below[a, g], above[a, g] = log_cdf(z), log_cdf(-z)
                z += dz


@inlined
def add_scaled(total, factor, part):
    """Add ``factor`` times an array (points) to another."""
    for g in range(total.size):
        total[g] += factor * part[g]


@kernel
def summed(log_density, low, step, mean):
    """Logarithm of the integral of a density on a grid, its mean less ``mean``, and its variance (floats)."""
    points = log_density.size
    top = 1
    for g in range(2, points - 1):
        if log_density[g] > log_density[top]:
            top = g
    bend = 2.0 * log_density[top] - log_density[top - 1] - log_density[min(top + 1, points - 1)]
    width = step / math.sqrt(bend) if bend > 0.0 else math.inf
    most, z0, z1, z2 = log_density[top], 0.0, 0.0, 0.0
    middle = low + top * step
    if step <= TOO_COARSE * width:
        for g in range(points):
            if log_density[g] - most > NEGLIGIBLE:
                e, x = math.exp(log_density[g] - most), (g - top) * step
                z0, z1, z2 = z0 + e, z1 + e * x, z2 + e * x * x
        weight = step
    else:  # the density is narrower than the grid, on which its logarithm is smooth
        tilt = 0.5 * (log_density[min(top + 1, points - 1)] - log_density[top - 1])
        centre = min(max(top + tilt / bend, 1.0), points - 2.000001)
        for j in range(-NODES, NODES + 1):
            at = centre + j * width / step
            if at < 1.0 or at >= points - 2:
                continue
            k = int(at)
            e, x = math.exp(cubic(log_density, k, at - k) - most), (at - top) * step
            z0, z1, z2 = z0 + e, z1 + e * x, z2 + e * x * x
        weight = width
    z1 /= z0
    return most + math.log(z0 * weight), middle + z1 - mean, max(z2 / z0 - z1 * z1, 1e-12)


@kernel
def read_ranking(field, weight, low, step, below, above, shown):
    """What the places of a field show of everybody who counts, the whole of it with a weight (float).

    ``below`` and ``above`` (entrants, points) are those of :func:`fill_logs`. Of who does not finish nothing is said
    about the order among them: ``counts`` below 1 marks those.
    """
    size, points = below.shape
    ahead, behind, tied, total = np.zeros(points), np.zeros(points), np.empty(points), np.empty(points)
    for a in range(size):
        if field.counts[a] > 0.0:
            add_scaled(behind, field.counts[a], below[a])
    first = 0
    while first < size:
        last = first
        tied[:] = 0.0
        while last < size and field.place[last] == field.place[first]:
            if field.counts[last] > 0.0:
                add_scaled(behind, -field.counts[last], below[last])
            if field.counts[last] == 1.0:
                add_scaled(tied, 0.5, below[last])
                add_scaled(tied, 0.5, above[last])
            last += 1
        for a in range(first, last):
            c, m, S = field.counts[a], field.mean[a], field.variance[a]
            if c == 0.0:
                continue
            own = 0.5 if c == 1.0 else 0.0
            constant = -_HALF_LOG_2PI - 0.5 * math.log(S)
            for g in range(points):
                x = low + g * step - m
                others = ahead[g] + behind[g] + tied[g] - own * (below[a, g] + above[a, g])
                total[g] = constant - 0.5 * x * x / S + weight * c * others
            shown.log_chance[a], shown.shift[a], shown.variance[a] = summed(total, low, step, m)
        for a in range(first, last):
            if field.counts[a] > 0.0:
                add_scaled(ahead, field.counts[a], above[a])
        first = last
