"""What a ranking shows of the performance of each entrant: one integral per entrant, compiled.

Entrant ``a`` performs ``x_a``, normal with mean ``m_a`` and variance ``S_a`` before the contest; ``F_b`` is the
distribution of ``b``'s performance. Given ``x_a = x`` the others come before or behind ``a`` independently of one
another, so that with the sets of those ahead and those behind

    ``Z_a = P(these ahead of a, those behind) = ∫ f_a(x) Π_ahead (1 − F_b(x)) Π_behind F_b(x) dx``

exactly, and the same integrand is the density of ``x_a`` given that. A tie counts as half of each. For two entrants
``Z`` is the probability of the result; for many it pins ``x_a`` to a quantile of the field. In order of places the
sums of ``log F_b`` over those behind and of ``log(1 − F_b)`` over those ahead run on from one entrant to the next, on
one grid for all: the cost is that of ``k`` entrants times the points of the grid.

A part ``π`` of all performances may be off (an accident, an ill day): ``LOWER`` deviations lower, with one ``WIDE``
times as large, so that the law is a mixture of two normal ones. With ``ψ`` the slope of ``−log f_a`` the strength
moves by ``v E ψ(x_a)``: ``v (x_a − m_a)/S_a`` where the law is normal, and less after a bad day where it is not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr

from kinelo.forecasts.places import LOWER, WIDE
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
LEAST_POINTS = 8
NEGLIGIBLE = -18.0
"""Logarithm of a density, over its highest, that is not summed."""
BESIDE = 2
"""Points beyond those summed that an interpolation needs."""

_EDGE, _PER_UNIT = 8.0, 32
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class Law(NamedTuple):
    """The law of a performance, in deviations from its mean, from ``least`` to ``_EDGE``: a cubic in every cell.

    ``logs`` has those of ``log F`` and of ``log(1 − F)`` (cells, 8), the others those of the logarithm of the density,
    of ``ψ`` and of its slope (cells, 4); ``off`` is the part of performances that are off.
    """

    logs: Array
    log_density: Array
    psi: Array
    psi_slope: Array
    least: float
    off: float


def law_of(off: float) -> Law:
    """The law with a part of performances that are off."""
    least = -_EDGE if off == 0.0 else -WIDE * _EDGE - LOWER
    z = np.arange(least - 1.0 / _PER_UNIT, _EDGE + 3.0 / _PER_UNIT, 1.0 / _PER_UNIT)
    low = (z + LOWER) / WIDE
    with np.errstate(divide="ignore"):
        usual, other = np.log1p(-off), np.log(off)
    narrow, wide = usual - 0.5 * z * z, other - 0.5 * low * low - math.log(WIDE)
    part, apart = expit(wide - narrow), z - low / WIDE
    below = np.logaddexp(usual + log_ndtr(z), other + log_ndtr(low))
    above = np.logaddexp(usual + log_ndtr(-z), other + log_ndtr(-low))
    return Law(
        np.hstack([cubics(below), cubics(above)]),
        cubics(np.logaddexp(narrow, wide) - _HALF_LOG_2PI),
        cubics(z - part * apart),
        cubics(1.0 - part * (1.0 - 1.0 / WIDE**2) - part * (1.0 - part) * apart**2),
        least,
        off,
    )


def cubics(values: Array) -> Array:
    """Coefficients (cells, 4), from the constant up, of the cubics through each four values that follow one another:
    the cell lies between the second and the third.
    """
    a, b, c, d = values[:-3], values[1:-2], values[2:-1], values[3:]
    first, second, third = c - a / 3.0 - b / 2.0 - d / 6.0, (a + c) / 2.0 - b, (d - a) / 6.0 + (b - c) / 2.0
    return np.column_stack([b, first, second, third])


class Field(NamedTuple):
    """Entrants of one contest in order of places: mean and variance of performances, places, and how much each counts.

    All are (entrants); ``counts`` is 1 for who finished, less for others; entrants who tie have equal places.
    """

    mean: Array
    variance: Array
    place: Array
    counts: Array


class Grid(NamedTuple):
    """Points of a contest: the first, the step, ``log F`` and ``log(1 − F)`` of every entrant (entrants, points)."""

    low: float
    step: float
    below: Array
    above: Array


class Shown(NamedTuple):
    """What a contest showed of each entrant: posterior less prior mean, posterior variance, log Z (entrants each)."""

    shift: Array
    variance: Array
    log_chance: Array


@inlined
def log_tail(z):
    """``log Φ(z)`` far below 0."""
    z2 = 1.0 / (z * z)
    return -0.5 * z * z - math.log(-z) - _HALF_LOG_2PI - z2 * (1.0 - z2 * (2.5 - z2 * 37.0 / 3.0))


@inlined
def both_logs(z, law):
    """``log F(z)`` and ``log(1 − F(z))``, by the cubics of a table; beyond it by expansions."""
    if z >= _EDGE:
        return 0.0, (log_tail(-z) if law.off == 0.0 else log_tail(-(z + LOWER) / WIDE) + math.log(law.off))
    if z < law.least:
        return (log_tail(z) if law.off == 0.0 else log_tail((z + LOWER) / WIDE) + math.log(law.off)), 0.0
    at = (z - law.least) * _PER_UNIT
    k = int(at)
    t, c = at - k, law.logs
    return (
        c[k, 0] + t * (c[k, 1] + t * (c[k, 2] + t * c[k, 3])),
        c[k, 4] + t * (c[k, 5] + t * (c[k, 6] + t * c[k, 7])),
    )


@inlined
def looked_up(table, z, least):
    """Value at ``z`` by the cubics of a table from ``least`` to ``_EDGE``, and at its ends beyond it."""
    at = (min(max(z, least), _EDGE) - least) * _PER_UNIT
    k = int(at)
    t = at - k
    return table[k, 0] + t * (table[k, 1] + t * (table[k, 2] + t * table[k, 3]))


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
def log_density(z, law):
    """Logarithm of the density at ``z``, in standard deviations."""
    if law.off == 0.0:
        return -0.5 * z * z - _HALF_LOG_2PI
    return looked_up(law.log_density, z, law.least)


@inlined
def slopes(z, law):
    """``ψ`` and its derivative at ``z``, in standard deviations."""
    if law.off == 0.0:
        return z, 1.0
    return looked_up(law.psi, z, law.least), looked_up(law.psi_slope, z, law.least)


@kernel
def lay_grid(field, law):
    """First point, step and number of points of a grid on which those of a field who count are looked at."""
    low, high, least, size = math.inf, -math.inf, math.inf, 0
    lower = REACH if law.off == 0.0 else LOWER + 0.8 * REACH * WIDE
    for a in range(field.mean.size):
        if field.counts[a] > 0.0:
            s = math.sqrt(field.variance[a])
            low, high, least = min(low, field.mean[a] - lower * s), max(high, field.mean[a] + REACH * s), min(least, s)
            size += 1
    if size == 0:
        return 0.0, 1.0, LEAST_POINTS
    step = least * min(max(STEP / math.sqrt(1.0 + 0.64 * size), FINEST), COARSEST)
    points = max(int((high - low) / step) + 2, LEAST_POINTS)
    return low, (high - low) / (points - 1), points


@kernel
def fill_logs(field, law, grid):
    """Write ``log F`` and ``log(1 − F)`` of each entrant who counts."""
    below, above = grid.below, grid.above
    for a in range(field.mean.size):
        if field.counts[a] > 0.0:
            scale = 1.0 / math.sqrt(field.variance[a])
            z, dz = (grid.low - field.mean[a]) * scale, grid.step * scale
            for g in range(below.shape[1]):
                below[a, g], above[a, g] = both_logs(z, law)
                z += dz


@inlined
def add_scaled(total, factor, part):
    """Add ``factor`` times an array (points) to another."""
    for g in range(total.size):
        total[g] += factor * part[g]


@inlined
def write_density(total, top, others, own, entrant, law):
    """Write the logarithm of a density to ``total`` (points) wherever it counts, and return its highest point with the
    first and one beyond the last point written.

    ``others`` (points) is what the ranking says, of which ``own`` (points) is the entrant's part; ``entrant`` is the
    weight of both, and ``z`` of the first point and of a step. The highest is sought from ``top`` on, over dips that
    are not deep: between the two parts of a law there is none.
    """
    weight, z, dz = entrant
    first, last, beyond = top, top, 0
    total[top] = log_density(z + top * dz, law) + weight * (others[top] - own[top])
    while last + 1 < total.size and beyond < BESIDE:
        last += 1
        total[last] = log_density(z + last * dz, law) + weight * (others[last] - own[last])
        top = last if total[last] > total[top] and last < total.size - 1 else top
        beyond = beyond + 1 if total[last] - total[top] < NEGLIGIBLE else 0
    beyond = 0
    while first > 0 and beyond < BESIDE:
        first -= 1
        total[first] = log_density(z + first * dz, law) + weight * (others[first] - own[first])
        top = first if total[first] > total[top] and first > 0 else top
        beyond = beyond + 1 if total[first] - total[top] < NEGLIGIBLE else 0
    return top, first, last + 1


@kernel
def summed(log_density, top, lo, hi, grid, law, mean, variance, moments):
    """Logarithm of the integral of a density that is known from point ``lo`` to before ``hi``, by how much the mean of
    a normal law of this mean and variance would have moved, and the variance that would be left (floats); the last two
    only where ``moments`` are asked for.
    """
    step = grid.step
    bend = 2.0 * log_density[top] - log_density[top - 1] - log_density[top + 1]
    width = step / math.sqrt(bend) if bend > 0.0 else math.inf
    most, total, first, second, bent = log_density[top], 0.0, 0.0, 0.0, 0.0
    scale = 1.0 / math.sqrt(variance)
    z, dz = (grid.low - mean) * scale, step * scale
    middle = slopes(z + top * dz, law)[0]
    coarse = step > TOO_COARSE * width  # the density is narrower than the grid, on which its logarithm is smooth
    centre = top + 0.5 * (log_density[top + 1] - log_density[top - 1]) / bend if coarse else 0.0
    centre = min(max(centre, lo + 1.0), hi - 2.000001)
    for j in range(-NODES if coarse else lo, NODES + 1 if coarse else hi):
        if coarse:
            at = centre + j * width / step
            if at < lo + 1.0 or at >= hi - 2:
                continue
            k = int(at)
            height = cubic(log_density, k, at - k) - most
        else:
            at, height = float(j), log_density[j] - most
        if height > NEGLIGIBLE:
            e = math.exp(height)
            total += e
            if moments:
                slope, curve = slopes(z + at * dz, law)
                slope -= middle
                first, second, bent = first + e * slope, second + e * slope * slope, bent + e * curve
    first /= total
    left = bent / total - max(second / total - first * first, 0.0)
    log_chance = most + math.log(total * (width if coarse else step) * scale)
    return log_chance, (middle + first) / scale, max(variance * (1.0 - left), 1e-12)


@kernel
def read_ranking(field, law, weight, grid, shown, moments):
    """What the places of a field show of everybody who counts, the whole of it with a weight (float); without moments,
    only the chance of each place.

    Of who does not finish nothing is said about the order among them: ``counts`` below 1 marks those.
    """
    below, above = grid.below, grid.above
    size, points = below.shape
    ahead, behind, own = np.zeros(points), np.zeros(points), np.zeros(points)
    others, total = np.empty(points), np.empty(points)
    for a in range(size):
        if field.counts[a] > 0.0:
            add_scaled(behind, field.counts[a], below[a])
    first, top = 0, points - 2
    while first < size:
        last = first
        while last < size and field.place[last] == field.place[first]:
            if field.counts[last] > 0.0:
                add_scaled(behind, -field.counts[last], below[last])
            last += 1
        for g in range(points):
            others[g] = ahead[g] + behind[g]
        for b in range(first, last if last > first + 1 else first):
            if field.counts[b] == 1.0:
                add_scaled(others, 0.5, below[b])
                add_scaled(others, 0.5, above[b])
        for a in range(first, last):
            c, m, S = field.counts[a], field.mean[a], field.variance[a]
            if c == 0.0:
                continue
            scale = 1.0 / math.sqrt(S)
            entrant = weight * c, (grid.low - m) * scale, grid.step * scale
            if last > first + 1:
                part = 0.5 if c == 1.0 else 0.0
                for g in range(points):
                    own[g] = part * (below[a, g] + above[a, g])
            top, lo, hi = write_density(total, top, others, own, entrant, law)
            log_chance, shift, left = summed(total, top, lo, hi, grid, law, m, S, moments)
            shown.log_chance[a], shown.shift[a], shown.variance[a] = log_chance, shift, left
        for a in range(first, last):
            if field.counts[a] > 0.0:
                add_scaled(ahead, field.counts[a], above[a])
        own[:] = 0.0
        first = last
