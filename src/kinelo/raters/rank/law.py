"""The law of a performance in deviations from its mean, as cubics of a table: what a field of entrants is read with.

A part ``π`` of all performances may be off (an accident, an ill day, a lucky one): some deviations lower (``depth``),
with one that is two to three times as large (``wide``), so that the law is a mixture of two normal ones. ``ψ`` is the
slope of ``−log f``, which is ``z`` where the law is normal, and less after such a day where it is not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr

from kinelo.forecasts.places import DEEPEST, width_of
from kinelo.play.formula import inlined

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
