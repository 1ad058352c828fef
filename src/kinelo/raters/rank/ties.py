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

SURELY = 1e-9
"""Chance to lie between two cuts from which on it is the difference of two chances."""
LEAST_CHANCE = 1e-300


@inlined
def slope_at(values, g):
    """Slope of an array from point to point."""
    last = values.size - 1
    if g < 2 or g > last - 2:
        lo, hi = max(g - 1, 0), min(g + 1, last)
        return (values[hi] - values[lo]) / (hi - lo)
    return (8.0 * (values[g + 1] - values[g - 1]) - values[g + 2] + values[g - 2]) / 12.0


@inlined
def add_up(weight, span, side, total):
    """Write the sums of weights up to the points of a grid, each with half of its own, to ``total``: from the lowest on
    (``side`` 1) or from the highest (−1), over the first and to before the last of ``span``.

    Between its second and its third, and no further, weights are smooth enough for the slope of them to count in full.
    """
    begin, lo, hi, end = span
    running, step = 0.0, np.int64(side)
    for j in range(end - begin):
        g = begin + j if side > 0.0 else end - 1 - j
        bend = weight[g + step] if begin <= g + step < end else 0.0
        bend -= weight[g - step] if begin <= g - step < end else 0.0
        if g < lo or g >= hi:
            most = 6.0 * abs(weight[g])
            bend = min(max(bend, -most), most)
        total[g] = running + 0.5 * weight[g] - bend / 24.0
        running += weight[g]


@inner
def find_cut(side, edge, others, own, density, cut):
    """Where a cut lies: write the chance that a performance at each point is on its right side, and what that differs
    by in other members, to ``cut``; the logarithm of the chance of its order is its ``level``.

    ``edge`` is the order of those at the cut, who are ahead of it (``side`` −1) or behind it (1), ``others`` that of
    all others; ``own`` is what the entrant who is left out says in it: value, slope, move and stretch.
    """
    log, weight, size, top = density.log, density.weight[0], density.log.size, np.int64(1)
    value, slope, move, stretch = own
    for g in range(size):
        falls = max(side * slope_at(edge.value, g), LEAST_CHANCE)
        log[g] = edge.value[g] + others.value[g] - value[g] + math.log(falls)
        top = g if log[g] > log[top] and 0 < g < size - 1 else top
    lo, hi = top, top + 1
    while lo > 0 and log[lo] - log[top] > NEGLIGIBLE:
        lo -= 1
    while hi < size and log[hi - 1] - log[top] > NEGLIGIBLE:
        hi += 1
    lo, hi = max(lo - BESIDE, 0), min(hi + BESIDE, size)
    cut.level[0] = weigh(density, top, lo, hi)[0]
    span = (np.int64(0), lo, hi, hi) if side > 0.0 else (lo, lo, hi, size)
    for g in range(span[0], span[3]):
        if g < lo or g >= hi:  # hardly any of the cut, but all that is known of a performance out there
            weight[g] = math.exp(log[g] - cut.level[0])
    for g in range(size):
        cut.within[g] = 1.0
    add_up(weight, span, side, cut.within)
    for q in range(cut.change.shape[0]):
        moved, mean = density.weight[1], 0.0
        for g in range(span[0], span[3]):
            moved[g] = edge.change[q, g] + others.change[q, g] + slope[g] * (move[q] + stretch[q] * g)
            falls = slope_at(edge.value, g)
            moved[g] += slope_at(edge.change[q], g) / falls if side * falls > LEAST_CHANCE else 0.0
            mean += weight[g] * moved[g]
        for g in range(span[0], span[3]):
            moved[g] = weight[g] * (moved[g] - mean)
        for g in range(size):
            cut.change[q, g] = 0.0
        add_up(moved, span, side, cut.change[q])
        cut.level[q + 1] = mean


@inner
def write_between(lower, upper, order):
    """Write what it says of a performance to lie between two cuts, to ``order``.

    Far out, where their sum less 1 is rounding, the product of the chances is that of the one that is not 1.
    """
    value = order.value
    for q in range(order.change.shape[0]):
        level = 0.5 * (lower.level[q + 1] + upper.level[q + 1])
        for g in range(value.size):
            one, other = max(lower.within[g], LEAST_CHANCE), max(upper.within[g], LEAST_CHANCE)
            between = one + other - 1.0
            if between > SURELY:
                order.change[q, g] = level + (lower.change[q, g] + upper.change[q, g]) / between
            else:
                order.change[q, g] = level + lower.change[q, g] / one + upper.change[q, g] / other
    for g in range(value.size):
        one, other = max(lower.within[g], LEAST_CHANCE), max(upper.within[g], LEAST_CHANCE)
        between = one + other - 1.0
        value[g] = math.log(between) if between > SURELY else math.log(one) + math.log(other)
    for g in range(order.slope.size):
        order.slope[g] = slope_at(value, g)
    for g in range(value.size):
        value[g] += 0.5 * (lower.level[0] + upper.level[0])


@inlined
def forget_cut(cut):
    """A cut that lies beyond all points, because nobody is there."""
    for g in range(cut.within.size):
        cut.within[g] = 1.0
    for q in range(cut.change.shape[0]):
        for g in range(cut.within.size):
            cut.change[q, g] = 0.0
    for q in range(cut.level.size):
        cut.level[q] = 0.0
