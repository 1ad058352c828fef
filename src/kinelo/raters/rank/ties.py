"""Entrants who share a place: each came between those ahead and those behind, in an order that nobody knows; compiled.

Where few of a field tie, a tie that counts half of each order puts them where they were. Where many do (all behind the
first ten), it would say that they performed alike. What is known is that the performance ``x`` of each lies between two
cuts: the least of those ahead of the tie, and the greatest of those behind it. With ``A`` ahead, ``T`` tied and ``B``
behind, ``a`` left out of ``T``, these have the densities

    ``−d/dy Π_A (1 − F_b) · Π_{T,B} F_b``,  ``d/dy Π_B F_b · Π_{A,T} (1 − F_b)``,

of which the integrals are the chances that ``A`` come before all others and ``B`` behind them. What the tie shows of
``x`` is ``g(x) = P(lower cut < x) − P(upper cut < x)``: exact where nobody is behind, where the others are alike, and
where ``a`` is alone in its place, as ``g`` is then ``Π_A (1 − F_b) Π_B F_b`` over its integral. ``log Z_a`` is the
logarithm of ``∫ f_a g dx`` and half of those of the two chances.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import inlined, inner
from kinelo.raters.rank.density import BESIDE, NEGLIGIBLE, weigh

LEAST_BETWEEN = 1e-13


@inlined
def slope_at(values, g):
    """Slope of an array from point to point."""
    last = values.size - 1
    if g < 2 or g > last - 2:
        lo, hi = max(g - 1, 0), min(g + 1, last)
        return (values[hi] - values[lo]) / (hi - lo)
    return (8.0 * (values[g + 1] - values[g - 1]) - values[g + 2] + values[g - 2]) / 12.0


@inlined
def add_up(weight, lo, hi, total):
    """Write the sums of weights up to the points of a grid, each with half of its own, to ``total``."""
    running = 0.0
    for g in range(lo, hi):
        bend = (weight[g + 1] if g + 1 < hi else 0.0) - (weight[g - 1] if g > lo else 0.0)
        total[g] = running + 0.5 * weight[g] - bend / 24.0
        running += weight[g]


@inner
def find_cut(side, edge, others, own, density, cut):
    """Where a cut lies: write the chance that it is below each point, and what that differs by in other members, to
    ``cut``; the logarithm of the chance of its order is its ``level``.

    ``edge`` is the order of those at the cut, who are ahead of it (``side`` −1) or behind it (1), ``others`` that of
    all others; ``own`` is what the entrant who is left out says in it: value, slope, move and stretch.
    """
    log, weight, size, top = density.log, density.weight[0], density.log.size, np.int64(1)
    value, slope, move, stretch = own
    for g in range(size):
        falls = max(side * slope_at(edge.value, g), 1e-300)
        log[g] = edge.value[g] + others.value[g] - value[g] + math.log(falls)
        top = g if log[g] > log[top] and 0 < g < size - 1 else top
    lo, hi = top, top + 1
    while lo > 0 and log[lo] - log[top] > NEGLIGIBLE:
        lo -= 1
    while hi < size and log[hi - 1] - log[top] > NEGLIGIBLE:
        hi += 1
    lo, hi = max(lo - BESIDE, 0), min(hi + BESIDE, size)
    cut.level[0] = weigh(density, top, lo, hi)[0]
    for g in range(size):
        cut.below[g] = 0.0 if g < lo else 1.0
    add_up(weight, lo, hi, cut.below)
    for q in range(cut.change.shape[0]):
        moved, mean = density.weight[1], 0.0
        for g in range(lo, hi):
            moved[g] = edge.change[q, g] + others.change[q, g] + slope[g] * (move[q] + stretch[q] * g)
            moved[g] += slope_at(edge.change[q], g) / slope_at(edge.value, g)
            mean += weight[g] * moved[g]
        for g in range(lo, hi):
            moved[g] = weight[g] * (moved[g] - mean)
        for g in range(size):
            cut.change[q, g] = 0.0
        add_up(moved, lo, hi, cut.change[q])
        cut.level[q + 1] = mean


@inner
def write_between(lower, upper, order):
    """Write what it says of a performance to lie between two cuts, to ``order``."""
    value = order.value
    for g in range(value.size):
        value[g] = math.log(max(lower.below[g] - upper.below[g], LEAST_BETWEEN))
    for q in range(order.change.shape[0]):
        level = 0.5 * (lower.level[q + 1] + upper.level[q + 1])
        for g in range(value.size):
            between = lower.below[g] - upper.below[g]
            moved = (lower.change[q, g] - upper.change[q, g]) / between if between > LEAST_BETWEEN else 0.0
            order.change[q, g] = moved + level
    for g in range(order.slope.size):
        order.slope[g] = slope_at(value, g)
    for g in range(value.size):
        value[g] += 0.5 * (lower.level[0] + upper.level[0])


@inlined
def forget_cut(below, cut):
    """A cut that lies beyond all points, because nobody is there."""
    for g in range(cut.below.size):
        cut.below[g] = below
    for q in range(cut.change.shape[0]):
        for g in range(cut.below.size):
            cut.change[q, g] = 0.0
    for q in range(cut.level.size):
        cut.level[q] = 0.0
