"""What a ranking shows of the performance of each entrant: one integral per entrant, compiled.

Entrant ``a`` performs ``x_a`` with mean ``m_a`` and variance ``S_a`` before the contest; ``F_b`` is the distribution of
``b``'s performance. Given ``x_a = x`` the others come before or behind ``a`` independently of one another, so that with
the sets of those ahead and those behind

    ``Z_a = P(these ahead of a, those behind) = ∫ f_a(x) Π_ahead (1 − F_b(x)) Π_behind F_b(x) dx``

exactly, and the same integrand is the density of ``x_a`` given that. A tie of few counts as half of each; one of many
is read between cuts (see below). For two entrants ``Z`` is the probability of the result; for many it pins ``x_a`` to a
quantile of the field. In order of places the sum of ``log F_b`` over those behind and of ``log(1 − F_b)`` over those
ahead runs on from one entrant to the next, on one grid for all: the cost is that of ``k`` entrants times the points of
the grid. With ``ψ`` the slope of ``−log f_a`` the strength moves by ``v E ψ(x_a)``, which is ``v (x_a − m_a)/S_a``
where the law is normal.

Raters a little apart are a batch, of which the first is read so. Where another member expects performances ``m_a +
dm_a`` with deviations ``s_a + ds_a``, the density of ``z_a = (x_a − m_a)/s_a`` has another logarithm, by

    ``Δ_a = Σ_{b≠a} r_b · (dx_a − dx_b)``,  ``dx_b = dm_b + ds_b (x − m_b)/s_b``,

``r_b`` being the slope of ``log F_b`` or ``log(1 − F_b)``. So ``log Z_a`` moves by ``E Δ_a``, and the mean of any
function of ``z_a`` by its covariance with ``Δ_a``: sums over the same grid, without an exponential. The grid is that of
the first member; how far the law of an entrant lies elsewhere in another one is written in points of it.

Entrants who share a place each came between those ahead and those behind, in an order that nobody knows. Where few of a
field tie, a tie that counts half of each order puts them where they were. Where many do (all behind the first ten), it
would say that they performed alike. What is known is that the performance ``x`` of each lies between two cuts: the
least of those ahead of the tie, and the greatest of those behind it. With ``A`` ahead, ``T`` tied and ``B`` behind,
``a`` left out of ``T``, these have the densities

    ``−d/dy Π_A (1 − F_b) · Π_{T,B} F_b``,  ``d/dy Π_B F_b · Π_{A,T} (1 − F_b)``,

of which the integrals are the chances that ``A`` come before all others and ``B`` behind them. What the tie shows of
``x`` is ``g(x) = P(lower cut < x) − P(upper cut < x)``: exact where nobody is behind, where the others are alike, and
where ``a`` is alone in its place, as ``g`` is then ``Π_A (1 − F_b) Π_B F_b`` over its integral. ``log Z_a`` is the
logarithm of ``∫ f_a g dx`` and half of those of the two chances.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import inlined, inner, kernel
from kinelo.raters.rank.law import (
    BESIDE,
    NEGLIGIBLE,
    PerformanceLaw,
    both_logs,
    both_slopes,
    moments,
    new_density,
    weigh,
    weigh_again,
    write_density,
)

Array = NDArray[np.float64]

REACH = 4.5
"""Standard deviations beyond the outermost means that the grid covers."""
FINEST, COARSEST = 0.16, 0.45
"""Bounds of the step of the grid, in standard deviations of a performance."""
STEP = 1.25
"""Step of a sum over a density, in its standard deviations: an error of 1e-5 at most."""
LEAST_POINTS, MOST_POINTS = 8, 1 << 16
"""Bounds of the points of a grid: between somebody known well and somebody of whom nothing is known it is coarse."""
LEAST_WIDE, LEAST_LAST, PART = 8, 3, 10
"""A tie of at least so many, or of so many in the last place where the first is nobody else's, and in any case of more
than the field over the third number, is read between cuts."""
FINER = 0.5
"""Part of the step that a grid has where such a tie is read: sums up to a cut are less exact than whole ones."""
SURELY = 1e-9
"""Chance to lie between two cuts from which on it is the difference of two chances."""
LEAST_CHANCE = 1e-300
DENSITY_ROW, MOMENT_ROWS = (np.int64(0), np.int64(1)), (np.int64(1), np.int64(3))
"""Rows of a density, from the first to before the last: the density itself, and the means over it."""


class ContestField(NamedTuple):
    """Entrants of one contest in order of places: mean and variance of performances and how much each counts (entrants,
    members), and places (entrants).

    ``counts`` is 1 for who finished, less for others, of whose order among them nothing is said; entrants who tie have
    equal places.
    """

    mean: Array
    variance: Array
    counts: Array
    place: Array


class ContestGrid(NamedTuple):
    """Points of a contest: the first, the step, ``log F`` and ``log(1 − F)`` of every entrant (entrants, points).

    Where there are several members, their slopes from point to point too (entrants, points), and by how many points
    each other member has the law of an entrant moved: ``move + stretch · point`` (entrants, members − 1). ``memory``
    (4, any) is what holds the first four.
    """

    low: float
    step: float
    below: Array
    above: Array
    below_slope: Array
    above_slope: Array
    move: Array
    stretch: Array
    memory: Array


@inlined
def counted(field, a):
    """Whether an entrant counts in any member."""
    total = 0.0
    for q in range(field.counts.shape[1]):
        total += field.counts[a, q]
    return total > 0.0


@inlined
def end_of_tie(field, first):
    """One beyond the last of those who have the place of entrant ``first``."""
    last = first + 1
    while last < field.place.size and field.place[last] == field.place[first]:
        last += 1
    return last


@inlined
def finishers(field):
    """How many of a field finished: the first so many."""
    number = 0
    while number < field.place.size and field.counts[number, 0] == 1.0:
        number += 1
    return number


@inlined
def is_wide(field, first, last, number):
    """Whether those who tie, from ``first`` to before ``last`` of so many who finished, are read between cuts.

    A few may as well be equal, unless the first places are all that is known.
    """
    tied, rest = last - first, last == number and first > 0 and end_of_tie(field, 0) == 1
    return PART * tied > number and (tied >= LEAST_WIDE or (tied >= LEAST_LAST and rest))


@inlined
def has_wide_tie(field):
    """Whether some of those who finished share a place that is read between cuts."""
    number, first, wide = finishers(field), np.int64(0), False
    while first < number:
        last = end_of_tie(field, first)
        wide, first = wide or is_wide(field, first, last, number), last
    return wide


@inner
def lay_grid(field, law):
    """First point, step and number of points of a grid on which those of a field who count are looked at."""
    low, high, least, size = math.inf, -math.inf, math.inf, 0
    lower = upper = REACH
    if law.off > 0.0:
        lower, upper = law.depth + 0.8 * REACH * law.wide, max(REACH, 0.8 * REACH * law.wide - law.depth)
    for a in range(field.mean.shape[0]):
        if counted(field, a):
            m, s = field.mean[a, 0], math.sqrt(field.variance[a, 0])
            low, high, least = min(low, m - lower * s), max(high, m + upper * s), min(least, s)
            size += 1
    if size == 0:
        return 0.0, 1.0, LEAST_POINTS
    step = least * min(max(STEP / math.sqrt(1.0 + 0.64 * size), FINEST), COARSEST)
    step = FINER * step if has_wide_tie(field) else step
    points = max(int(min((high - low) / step, MOST_POINTS)) + 2, LEAST_POINTS)
    return low, (high - low) / (points - 1), points


@kernel
def new_grid(field, law, memory):
    """A field on a grid that suits it, in the memory of an earlier one where that is large enough."""
    low, step, points = lay_grid(field, law)
    size, batch = field.mean.shape
    if memory.shape[1] < size * points:
        memory = np.empty((4, size * points))
    sloping = size * points if batch > 1 else 0
    shape, slopes = (size, points), (size if batch > 1 else 0, points if batch > 1 else 0)
    grid = ContestGrid(
        low,
        step,
        memory[0, : size * points].reshape(shape),
        memory[1, : size * points].reshape(shape),
        memory[2, :sloping].reshape(slopes),
        memory[3, :sloping].reshape(slopes),
        np.empty((size, batch - 1)),
        np.empty((size, batch - 1)),
        memory,
    )
    fill_logs(field, law, grid)
    return grid


@inner
def fill_logs(field, law, grid):
    """Write ``log F`` and ``log(1 − F)`` of each entrant who counts, and what other members need."""
    for a in range(field.mean.shape[0]):
        if not counted(field, a):
            continue
        s = math.sqrt(field.variance[a, 0])
        begin, dz = (grid.low - field.mean[a, 0]) / s, grid.step / s
        for g in range(grid.below.shape[1]):
            grid.below[a, g], grid.above[a, g] = both_logs(begin + g * dz, law)
        for g in range(grid.below_slope.shape[1]):
            falls, rises = both_slopes(begin + g * dz, law)
            grid.below_slope[a, g], grid.above_slope[a, g] = falls * dz, rises * dz
        for q in range(1, field.mean.shape[1]):
            stretch = math.sqrt(field.variance[a, q]) / s - 1.0
            grid.stretch[a, q - 1] = stretch
            grid.move[a, q - 1] = (field.mean[a, q] - field.mean[a, 0]) / grid.step + begin / dz * stretch


class Ranking(NamedTuple):
    """A field, the law of performances, how much its order counts (float), and the grid it is read on."""

    field: ContestField
    law: PerformanceLaw
    weight: float
    grid: ContestGrid


class Shown(NamedTuple):
    """What a contest showed of each entrant (entrants, members): ``pull`` is the mean of ``ψ`` over the deviation of
    the performance, ``precision`` by how much its variance falls, over its square; ``log_chance`` is ``log Z`` among
    those who finished, NaN for the others.
    """

    pull: Array
    precision: Array
    log_chance: Array


class Order(NamedTuple):
    """What the order says of whoever comes next: a logarithm and its slope (points), and by how much it differs in
    other members where that entrant stays as it is (members − 1, points).
    """

    value: Array
    slope: Array
    change: Array


class Cut(NamedTuple):
    """A cut between places: the chance that a performance at each point is on the right side of it (points), by how
    much that differs in other members (members − 1, points), and the logarithm of the chance of its order with its
    differences (members).
    """

    within: Array
    change: Array
    level: Array


class Tie(NamedTuple):
    """Orders of those ahead of entrants who tie, of those behind them, and of all but those ahead and but those behind;
    the cuts above and below, and what they say together.
    """

    ahead: Order
    behind: Order
    not_ahead: Order
    not_behind: Order
    upper: Cut
    lower: Cut
    between: Order


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
def find_cut(side, edge, others, terms, density, cut):
    """Where a cut lies: write the chance that a performance at each point is on its right side, and what that differs
    by in other members, to ``cut``; the logarithm of the chance of its order is its ``level``.

    ``edge`` is the order of those at the cut, who are ahead of it (``side`` −1) or behind it (1), ``others`` that of
    all others; ``own`` is what the entrant who is left out says in it: value, slope, move and stretch.
    """
    log, weight, size, top = density.log, density.weight[0], density.log.size, np.int64(1)
    value, slope, move, stretch = terms
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
            below, above = max(lower.within[g], LEAST_CHANCE), max(upper.within[g], LEAST_CHANCE)
            between = below + above - 1.0
            if between > SURELY:
                order.change[q, g] = level + (lower.change[q, g] + upper.change[q, g]) / between
            else:
                order.change[q, g] = level + lower.change[q, g] / below + upper.change[q, g] / above
    for g in range(value.size):
        below, above = max(lower.within[g], LEAST_CHANCE), max(upper.within[g], LEAST_CHANCE)
        between = below + above - 1.0
        value[g] = math.log(between) if between > SURELY else math.log(below) + math.log(above)
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


@inner
def place_entrant(b, behind, ahead, order, ranking):
    """Let an entrant come so much more behind, and so much more ahead (floats), of whoever is next."""
    if behind != 0.0:
        add_entrant(b, behind, ranking.grid.below, ranking.grid.below_slope, order, ranking)
    if ahead != 0.0:
        add_entrant(b, ahead, ranking.grid.above, ranking.grid.above_slope, order, ranking)


@inner
def add_entrant(b, part, value, slope, order, ranking):
    """Add a part of what an entrant says, with these values and slopes (entrants, points), to an order."""
    grid, counts = ranking.grid, ranking.field.counts
    scale = part * counts[b, 0]  # Σ log F_b of those behind, Σ log(1 − F_b) of those ahead
    for g in range(order.value.size):
        order.value[g] += scale * value[b, g]
    for g in range(order.slope.size):
        order.slope[g] += scale * slope[b, g]
    for q in range(order.change.shape[0]):
        move, stretch, surplus = scale * grid.move[b, q], scale * grid.stretch[b, q], counts[b, q + 1] - counts[b, 0]
        for g in range(order.slope.size):
            order.change[q, g] -= slope[b, g] * (move + stretch * g)  # − r_b dx_b
        if surplus != 0.0:
            for g in range(order.slope.size):
                order.change[q, g] += part * surplus * value[b, g]


@partial(inner, fastmath={"reassoc", "contract"})
def add_changes(a, span, rows, order, ranking, density):
    """Add to some rows of ``density.change`` what an order makes of them in other members, over a span of points."""
    grid, counts, change, (lo, hi) = ranking.grid, ranking.field.counts, density.change, span
    for k in range(rows[0], rows[1] if change.shape[1] > 0 else 0):
        weight, level, moving, stretching = density.weight[k], 0.0, 0.0, 0.0
        for g in range(lo, hi):
            level += weight[g] * order.value[g]
            moving += weight[g] * order.slope[g]
            stretching += weight[g] * order.slope[g] * g
        for q in range(change.shape[1]):
            moved = moving * grid.move[a, q] + stretching * grid.stretch[a, q]
            for g in range(lo, hi):
                moved += weight[g] * order.change[q, g]
            change[k, q] += counts[a, 0] * moved + (counts[a, q + 1] - counts[a, 0]) * level


@inner
def note_shown(a, chance, means, ranking, density, shown):
    """Note what the density of an entrant shows, in every member: the logarithm of the chance of the place, and the
    means of ``ψ`` and ``ψ' − ψ²``.
    """
    variance, change, weight = ranking.field.variance, density.change, ranking.weight
    for member in range(variance.shape[1]):
        mean, bend = means
        shown.log_chance[a, member] = chance
        if member > 0:
            shown.log_chance[a, member] += change[0, member - 1]
            mean, bend = mean + weight * change[1, member - 1], bend + weight * change[2, member - 1]
        shown.pull[a, member] = mean / math.sqrt(variance[a, member])  # E ψ/s
        shown.precision[a, member] = (bend + mean * mean) / variance[a, member]  # (E ψ' − Var ψ)/s²


@inner
def read_entrant(a, top, orders, ranking, density, shown):
    """What its place shows of one entrant; the highest point (int) of its density is sought from ``top`` on.

    ``orders`` are that of those who finished, that of the others, and whether what all of them say is read apart.
    """
    finished, others, apart = orders
    field, law, scale = ranking.field, ranking.law, 1.0 / math.sqrt(ranking.field.variance[a, 0])
    z, dz = (ranking.grid.low - field.mean[a, 0]) * scale, ranking.grid.step * scale
    weighed, lo, hi, begin, chance = False, top, top, top, math.nan
    for k in range(3):
        for q in range(density.change.shape[1]):
            density.change[k, q] = 0.0
    if field.counts[a, 0] == 1.0:
        begin, lo, hi = write_density(density.log, top, finished.value, (1.0, z, dz), law)
        log_sum, fine = weigh(density, begin, lo, hi)
        chance = log_sum + math.log(dz)  # log Z_a
        add_changes(a, (lo, hi), DENSITY_ROW, finished, ranking, density)
        weighed = not apart or (fine and ranking.weight == 1.0 and weigh_again(density, lo, hi))
    if not weighed:
        for g in range(density.order.size):
            density.order[g] = finished.value[g] + others.value[g]
        weight = ranking.weight * field.counts[a, 0]
        top, lo, hi = write_density(density.log, begin, density.order, (weight, z, dz), law)
        weigh(density, top, lo, hi)
    means = moments(density, lo, hi, z, dz, law)
    add_changes(a, (lo, hi), MOMENT_ROWS, finished, ranking, density)
    if apart:
        add_changes(a, (lo, hi), MOMENT_ROWS, others, ranking, density)
    note_shown(a, chance, means, ranking, density, shown)
    return begin


@inlined
def new_order(points, batch):
    """An order of nobody."""
    return Order(np.zeros(points), np.zeros(points if batch > 1 else 0), np.zeros((batch - 1, points)))


@inlined
def new_cut(points, batch):
    """Room for a cut."""
    return Cut(np.empty(points), np.empty((batch - 1, points)), np.empty(batch))


@inlined
def new_tie(points, batch):
    """Room for those who tie."""
    return Tie(
        new_order(points, batch), new_order(points, batch), new_order(points, batch), new_order(points, batch),
        new_cut(points, batch), new_cut(points, batch), new_order(points, batch),
    )  # fmt: skip


@inner
def write_sum(first, second, part, order):
    """Write an order and a part of another one to a third."""
    for g in range(order.value.size):
        order.value[g] = first.value[g] + part * second.value[g]
    for q in range(order.change.shape[0]):
        for g in range(order.value.size):
            order.change[q, g] = first.change[q, g] + part * second.change[q, g]


@inner
def begin_tie(first, last, finished, tie, ranking):
    """Prepare those who tie, from ``first`` to before ``last``, to be read; ``finished`` is the order without them."""
    write_sum(finished, tie.ahead, -1.0, tie.behind)
    write_sum(tie.behind, tie.ahead, 0.0, tie.not_ahead)
    write_sum(tie.ahead, tie.behind, 0.0, tie.not_behind)
    for a in range(first, last):
        place_entrant(a, 1.0, 0.0, tie.not_ahead, ranking)
        place_entrant(a, 0.0, 1.0, tie.not_behind, ranking)


@inner
def read_tie(a, some, tie, ranking, density):
    """Write what it says of an entrant to lie between the cuts; ``some`` says whether anybody is ahead, and behind."""
    grid = ranking.grid
    at = min(a, grid.below_slope.shape[0])  # one member has no slopes, and none are asked for
    if some[0]:
        terms = (grid.below[a], grid.below_slope[at:].reshape(-1), grid.move[a], grid.stretch[a])
        find_cut(-1.0, tie.ahead, tie.not_ahead, terms, density, tie.upper)
    else:
        forget_cut(tie.upper)
    if some[1]:
        terms = (grid.above[a], grid.above_slope[at:].reshape(-1), grid.move[a], grid.stretch[a])
        find_cut(1.0, tie.behind, tie.not_behind, terms, density, tie.lower)
    else:
        forget_cut(tie.lower)
    write_between(tie.lower, tie.upper, tie.between)


@kernel
def read_ranking(ranking, shown):
    """What the places of a field show of everybody who counts: alone, those who finished say how likely each of their
    places was, and all together what is shown of a performance.
    """
    points, batch = ranking.grid.below.shape[1], ranking.field.mean.shape[1]
    tie = new_tie(points if has_wide_tie(ranking.field) else 0, batch)
    read_places(new_order(points, batch), new_order(points, batch), tie, new_density(points, batch), ranking, shown)


@inner
def read_places(finished, others, tie, density, ranking, shown):
    """Read entrants in order of places, beginning with orders of nobody."""
    field, size, apart = ranking.field, ranking.field.mean.shape[0], ranking.weight != 1.0
    number = finishers(field)
    for a in range(size):
        if counted(field, a):
            there = field.counts[a, 0] == 1.0
            apart = apart or not there
            place_entrant(a, 1.0, 0.0, finished if there else others, ranking)
    first, top, known = np.int64(0), density.log.size - 2, False
    while first < size:
        last = end_of_tie(field, first)
        wide = field.counts[first, 0] == 1.0 and is_wide(field, first, last, number)
        for step in range(3):  # they come next; each of them is read; they are ahead of whoever follows
            if wide and step == 1:
                begin_tie(first, last, finished, tie, ranking)
            for a in range(first, last):
                if not counted(field, a):
                    continue
                there = field.counts[a, 0] == 1.0
                order, half = finished if there else others, 0.5 if there and last > first + 1 and not wide else 0.0
                if step == 1:
                    if half > 0.0:
                        place_entrant(a, -half, -half, order, ranking)
                    if apart and there and not known:
                        write_factor(others, density)
                        known = True
                    if wide:
                        read_tie(a, (first > 0, last < number), tie, ranking, density)
                        order = tie.between
                    top = read_entrant(a, top, (order if there else finished, others, apart), ranking, density, shown)
                    if half > 0.0:
                        place_entrant(a, half, half, order, ranking)
                    continue
                if step == 0:
                    place_entrant(a, half - 1.0, half, order, ranking)
                else:
                    place_entrant(a, -half, 1.0 - half, order, ranking)
                    if there and tie.ahead.value.size > 0:
                        place_entrant(a, 0.0, 1.0, tie.ahead, ranking)
                known = known and there
        first = last


@inlined
def write_factor(others, density):
    """Write what those who did not finish say of others, as a factor."""
    for g in range(density.factor.size):
        density.factor[g] = math.exp(others.value[g])
