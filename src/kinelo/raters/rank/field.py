"""The entrants of a contest on a grid of performances, compiled.

Raters a little apart stand side by side, as a batch; the grid is that of the first. How far the law of an entrant lies
elsewhere in another member is written in points of the grid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import inlined, inner, kernel
from kinelo.raters.rank.law import both_logs, both_slopes

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


NO_MEMORY = np.empty((4, 0))


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
    number, first, found = finishers(field), np.int64(0), False
    while first < number:
        last = end_of_tie(field, first)
        found, first = found or is_wide(field, first, last, number), last
    return found


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
