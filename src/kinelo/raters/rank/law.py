"""The law of a performance in deviations from its mean, as cubics of a table: what a field of entrants is read with.

A part ``π`` of all performances may be off (an accident, an ill day, a lucky one): some deviations lower (``depth``),
with one that is two to three times as large (``wide``), so that the law is a mixture of two normal ones. ``ψ`` is the
slope of ``−log f``, which is ``z`` where the law is normal, and less after such a day where it is not.

The density of one entrant's performance, that law times what the order says, stands on a grid of points
(:class:`Density`): its integral, and means over it; compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr

from kinelo.forecasts.places import DEEPEST, width_of
from kinelo.play.formula import inlined, inner

Array = NDArray[np.float64]

_EDGE, _PER_UNIT = 8.0, 32
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


class PerformanceLaw(NamedTuple):
    """The law of a performance from ``least`` to ``most``: a cubic in every cell.

    ``logs`` has those of ``log F`` and of ``log(1 − F)`` (cells, 8), the others those of the logarithm of the density
    and of ``ψ`` (cells, 4); ``off`` is the part of performances that are off, ``depth`` how much lower they lie and
    ``wide`` their deviation.
    """

    logs: Array
    log_density: Array
    psi: Array
    least: float
    most: float
    off: float
    depth: float
    wide: float


def law_of(off: float, depth: float = DEEPEST) -> PerformanceLaw:
    """The law with a part of performances that are off, so many deviations lower."""
    wide_of_off, least, most = width_of(depth), -_EDGE, _EDGE
    if off > 0.0:
        least, most = -wide_of_off * _EDGE - depth, max(_EDGE, wide_of_off * _EDGE - depth)
    z = least + np.arange(-1, math.ceil((most - least) * _PER_UNIT) + 3) / _PER_UNIT
    low = (z + depth) / wide_of_off
    with np.errstate(divide="ignore"):
        usual, other = np.log1p(-off), np.log(off)
    narrow, wide = usual - 0.5 * z * z, other - 0.5 * low * low - math.log(wide_of_off)
    part, apart = expit(wide - narrow), z - low / wide_of_off
    below = np.logaddexp(usual + log_ndtr(z), other + log_ndtr(low))
    above = np.logaddexp(usual + log_ndtr(-z), other + log_ndtr(-low))
    return PerformanceLaw(
        np.hstack([cubics(below), cubics(above)]),
        cubics(np.logaddexp(narrow, wide) - _HALF_LOG_2PI),
        cubics(z - part * apart),
        least,
        most,
        off,
        depth,
        wide_of_off,
    )


def cubics(values: Array) -> Array:
    """Coefficients (cells, 4), from the constant up, of the cubics through each four values that follow one another:
    the cell lies between the second and the third.
    """
    a, b, c, d = values[:-3], values[1:-2], values[2:-1], values[3:]
    first, second, third = c - a / 3.0 - b / 2.0 - d / 6.0, (a + c) / 2.0 - b, (d - a) / 6.0 + (b - c) / 2.0
    return np.column_stack([b, first, second, third])


@inlined
def log_tail(z):
    """``log Φ(z)`` far below 0."""
    z2 = 1.0 / (z * z)
    return -0.5 * z * z - math.log(-z) - _HALF_LOG_2PI - z2 * (1.0 - z2 * (2.5 - z2 * 37.0 / 3.0))


@inlined
def both_logs(z, law):
    """``log F(z)`` and ``log(1 − F(z))``, by the cubics of a table; beyond it by expansions."""
    if not z < law.most:  # what is no number reads no table
        return 0.0, (log_tail(-z) if law.off == 0.0 else log_tail(-(z + law.depth) / law.wide) + math.log(law.off))
    if z < law.least:
        return (log_tail(z) if law.off == 0.0 else log_tail((z + law.depth) / law.wide) + math.log(law.off)), 0.0
    at = (z - law.least) * _PER_UNIT
    k = int(at)
    t, c = at - k, law.logs
    return (
        c[k, 0] + t * (c[k, 1] + t * (c[k, 2] + t * c[k, 3])),
        c[k, 4] + t * (c[k, 5] + t * (c[k, 6] + t * c[k, 7])),
    )


@inlined
def both_slopes(z, law):
    """Derivatives by ``z`` of ``log F(z)`` and ``log(1 − F(z))``."""
    if not law.least <= z < law.most:
        u, pace = ((z + law.depth) / law.wide, 1.0 / law.wide) if law.off > 0.0 else (z, 1.0)
        slope = -(u + 1.0 / u) * pace
        return (0.0, slope) if z >= law.most else (slope, 0.0)
    at = (z - law.least) * _PER_UNIT
    k = int(at)
    t, c = at - k, law.logs
    return (
        (c[k, 1] + t * (2.0 * c[k, 2] + 3.0 * t * c[k, 3])) * _PER_UNIT,
        (c[k, 5] + t * (2.0 * c[k, 6] + 3.0 * t * c[k, 7])) * _PER_UNIT,
    )


@inlined
def cell(z, law):
    """The cell of the table in which ``z`` lies, and where in it (float in [0, 1]); the ends beyond the table."""
    at = (min(max(law.least, z), law.most) - law.least) * _PER_UNIT
    k = int(at)
    return k, at - k


@inlined
def log_density(z, law):
    """Logarithm of the density at ``z``, in standard deviations."""
    if law.off == 0.0:
        return -0.5 * z * z - _HALF_LOG_2PI
    (k, t), c = cell(z, law), law.log_density
    return c[k, 0] + t * (c[k, 1] + t * (c[k, 2] + t * c[k, 3]))


@inlined
def slopes(z, law):
    """``ψ`` and its derivative at ``z``, in standard deviations."""
    if law.off == 0.0:
        return z, 1.0
    (k, t), c = cell(z, law), law.psi
    slope = (c[k, 1] + t * (2.0 * c[k, 2] + 3.0 * t * c[k, 3])) * _PER_UNIT
    return c[k, 0] + t * (c[k, 1] + t * (c[k, 2] + t * c[k, 3])), slope


TOO_COARSE = 1.3
"""Step of a grid, in standard deviations of a density, beyond which points in between are summed."""
NODES = 6
NEGLIGIBLE = -14.0
"""Logarithm of a density, over its highest, that is not summed."""
ENOUGH = 0.01
"""Part of a density from which on what was not summed of it remains negligible."""
BESIDE = 2
"""Points beyond those summed that an interpolation needs."""


class Density(NamedTuple):
    """Room for the density of one entrant: what the order says, what those say who did not finish (no logarithm), the
    logarithm of the density (points); weights of points (3, points) in means and in covariances with ``ψ`` and
    ``ψ' − ψ²``, and these of what differs in other members (3, members − 1).
    """

    order: Array
    factor: Array
    log: Array
    weight: Array
    change: Array


@inner
def write_density(total, top, others, entrant, law):
    """Write the logarithm of a density to ``total`` (points) wherever it counts, and return its highest point with the
    first and one beyond the last point written.

    ``others`` (points) is what the order says; ``entrant`` is the weight of it, and ``z`` of the first point and of a
    step. The highest is sought from ``top`` on, over dips that are not deep: between the two parts of a law there is
    none.
    """
    weight, z, dz = entrant
    first, last, beyond = top, top, 0
    total[top] = log_density(z + top * dz, law) + weight * others[top]
    while last + 1 < total.size and beyond < BESIDE:
        last += 1
        total[last] = log_density(z + last * dz, law) + weight * others[last]
        top = last if total[last] > total[top] and last < total.size - 1 else top
        beyond = beyond + 1 if total[last] - total[top] < NEGLIGIBLE else 0
    beyond = 0
    while first > 0 and beyond < BESIDE:
        first -= 1
        total[first] = log_density(z + first * dz, law) + weight * others[first]
        top = first if total[first] > total[top] and first > 0 else top
        beyond = beyond + 1 if total[first] - total[top] < NEGLIGIBLE else 0
    return top, first, last + 1


@inlined
def divide(weight, lo, hi, total):
    """Divide the weights of points by their sum."""
    for g in range(lo, hi):
        weight[g] /= total


@inner
def weigh(density, top, lo, hi):
    """Weights of points ``lo`` to before ``hi`` in means over a density of which the logarithm is known there, the
    logarithm of its sum over points, and whether they lie close enough for that.

    Where the density is narrower than the grid, on which its logarithm is smooth, it is summed at points in between,
    and what cubics take from the points of the grid is their weight.
    """
    log, weight = density.log, density.weight[0]
    bend = 2.0 * log[top] - log[top - 1] - log[top + 1]
    if bend <= TOO_COARSE * TOO_COARSE:
        total = 0.0
        for g in range(lo, hi):
            weight[g] = math.exp(log[g] - log[top])
            total += weight[g]
        divide(weight, lo, hi, total)
        return log[top] + math.log(total), True
    total, width = 0.0, 1.0 / math.sqrt(bend)
    for g in range(lo, hi):
        weight[g] = 0.0
    centre = min(max(top + 0.5 * (log[top + 1] - log[top - 1]) / bend, lo + 1.0), hi - 2.000001)
    for j in range(-NODES, NODES + 1):
        at = centre + j * width
        if at >= lo + 1.0 and at < hi - 2:
            k = int(at)
            a, b, c, d = cubic_weights(at - k)
            e = math.exp(a * log[k - 1] + b * log[k] + c * log[k + 1] + d * log[k + 2] - log[top])
            total += e
            weight[k - 1] += a * e
            weight[k] += b * e
            weight[k + 1] += c * e
            weight[k + 2] += d * e
    divide(weight, lo, hi, total)
    return log[top] + math.log(total * width), False


@inner
def weigh_again(density, lo, hi):
    """Weigh a density times ``density.factor``, which is 1 at most; whether enough of it lies where the first does."""
    weight, factor, total = density.weight[0], density.factor, 0.0
    for g in range(lo, hi):
        weight[g] *= factor[g]
        total += weight[g]
    if total < ENOUGH:
        return False
    divide(weight, lo, hi, total)
    return True


@inlined
def cubic_weights(t):
    """Weights of four values that follow one another in the cubic through them, at ``t`` (float in [0, 1]) from the
    second to the third.
    """
    return (
        -t * (1.0 - t) * (2.0 - t) / 6.0,
        (1.0 + t) * (1.0 - t) * (2.0 - t) / 2.0,
        (1.0 + t) * t * (2.0 - t) / 2.0,
        -(1.0 + t) * t * (1.0 - t) / 6.0,
    )


@inner
def moments(density, lo, hi, z, dz, law):
    """Means of ``ψ`` and of ``ψ' − ψ²`` over a density that has been weighed; what other members need is prepared."""
    weight, mean, bend = density.weight, 0.0, 0.0
    for g in range(lo, hi):
        psi, slope = slopes(z + g * dz, law)
        weight[1, g], weight[2, g] = weight[0, g] * psi, weight[0, g] * (slope - psi * psi)
        mean += weight[1, g]
        bend += weight[2, g]
    for g in range(lo, hi if density.change.shape[1] > 0 else lo):
        weight[1, g] -= mean * weight[0, g]
        weight[2, g] -= bend * weight[0, g]
    return mean, bend


@inlined
def new_density(points, batch):
    """Room for a density on so many points."""
    return Density(
        np.empty(points), np.empty(points), np.empty(points), np.empty((3, points)), np.empty((3, batch - 1))
    )
