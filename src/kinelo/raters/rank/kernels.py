"""Contests through the filter of slots: advance, believe, read the ranking, learn; compiled.

An entrant performs ``Σ share · slot + noise``; the unit of strength is the standard deviation of that noise. What its
place shows of the performance (:mod:`kinelo.raters.rank.field`) is handed to each of its slots: with prior variance
``S`` of the performance and posterior mean and variance ``m + shift``, ``τ``,

    ``x += v · share · shift/S``, ``v −= (v · share)² (S − τ)/S²``.

A slot of several entrants (a car with two drivers) adds up what each shows, as precisions. A newcomer begins at the
mean of those of its kind in the same contest who are known, plus ``newcomer``; an advantage begins at 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel
from kinelo.raters.filter.alone import on_day
from kinelo.raters.random_walk import move_clock
from kinelo.raters.rank.field import Field, Shown, fill_logs, lay_grid, read_ranking

Array = NDArray[np.float64]
NOISE = 1.0
"""Variance of a performance around the strength: the unit."""
LEAST = 1e-9


class ContestColumns(NamedTuple):
    """Contests as loops take them.

    Contest ``c`` has the entries ``first[c]:first[c + 1]`` in order of places, its day (int) and its weight; entry
    ``e`` has its place, how it ended (int8), and the slots ``offsets[e]:offsets[e + 1]`` with their shares. A negative
    slot stands for somebody who has never been met: ``−1 − kind``.
    """

    first: NDArray[np.int64]
    day: NDArray[np.int64]
    weight: Array
    place: Array
    ended: NDArray[np.int8]
    offsets: NDArray[np.int64]
    slot: NDArray[np.int64]
    share: Array


class Newcomers(NamedTuple):
    """Where newcomers of each kind begin, and whether against the others of their kind (kinds); what a retirement
    counts.
    """

    level: Array
    beside: NDArray[np.bool_]
    retirement: float


@kernel
def entry_levels(lo, hi, columns, day, p, new, s, level):
    """Where newcomers among entries ``lo`` to ``hi`` begin on a day, by kind (kinds): at 0 where all of a kind are."""
    number = np.zeros(level.size)
    level[:] = 0.0
    for e in range(columns.offsets[lo], columns.offsets[hi]):
        at = columns.slot[e]
        if at >= 0 and s.games[at] > 0:
            level[s.kind[at]] += on_day(at, s.kind[at], 0, day, p, s)[0]
            number[s.kind[at]] += 1.0
    for kind in range(level.size):
        if not new.beside[kind]:
            level[kind] = new.level[kind]
        elif number[kind] > 0.0:
            level[kind] = level[kind] / number[kind] + new.level[kind]


@kernel
def believe_entries(lo, hi, columns, day, p, new, s, level, x, v, mean, variance):
    """Mean and variance of the performances of entries ``lo`` to ``hi``, and of their slots (``x``, ``v``)."""
    entry_levels(lo, hi, columns, day, p, new, s, level)
    begin = columns.offsets[lo]
    for a in range(lo, hi):
        m, S = 0.0, NOISE
        for e in range(columns.offsets[a], columns.offsets[a + 1]):
            at, w, j = columns.slot[e], columns.share[e], e - begin
            if at >= 0 and s.games[at] > 0:
                x[j], v[j] = on_day(at, s.kind[at], 0, day, p, s)
            else:
                kind = -1 - at if at < 0 else s.kind[at]
                x[j], v[j] = level[kind], p.prior[kind, 0]
            m += w * x[j]
            S += w * w * v[j]
        mean[a - lo], variance[a - lo] = m, S


@kernel
def learn_contest(lo, hi, columns, field, shown, x, v, s, precision, pull):
    """Hand what a contest showed of its entries to their slots; ``precision`` and ``pull`` (slots) are left at 0."""
    begin = columns.offsets[lo]
    day_entries = columns.offsets[hi] - begin
    for a in range(lo, hi):
        k = a - lo
        if field.counts[k] == 0.0:
            continue
        shift = shown.shift[k] / field.variance[k]
        left = (field.variance[k] - shown.variance[k]) / (field.variance[k] * field.variance[k])
        for e in range(columns.offsets[a], columns.offsets[a + 1]):
            w, prior = columns.share[e], v[e - begin]
            rest = max(1.0 - w * w * prior * left, LEAST)
            precision[columns.slot[e]] += w * w * left / rest
            pull[columns.slot[e]] += w * shift / rest
    for j in range(day_entries):
        at = columns.slot[begin + j]
        after = 1.0 / (1.0 / max(v[j], LEAST) + max(precision[at], 0.0))
        s.x[at, 0] = x[j] + after * pull[at]
        s.v[at, 0] = after
    for j in range(day_entries):
        at = columns.slot[begin + j]
        precision[at] = pull[at] = 0.0


@kernel
def count_contest(lo, hi, columns, day, s, seen):
    """Note that the slots of entries ``lo`` to ``hi`` took part in a contest on a day (int), once each.

    ``seen`` (slots) is left at 0.
    """
    for e in range(columns.offsets[lo], columns.offsets[hi]):
        at = columns.slot[e]
        if seen[at] == 0.0:
            s.last[at] = max(day, s.last[at])
            s.games[at] += 1
            seen[at] = 1.0
    for e in range(columns.offsets[lo], columns.offsets[hi]):
        seen[columns.slot[e]] = 0.0


@kernel
def filter_contests(columns, p, new, s, mean, variance, log_chance):
    """Filter contests in order; ``mean`` and ``variance`` (entries) receive what was expected of each performance.

    ``log_chance`` (entries) receives ``log Z`` among those who finished, NaN for the others.
    """
    sizes = columns.first[1:] - columns.first[:-1]
    most = max(np.max(sizes), 1)
    held = 1
    for c in range(sizes.size):
        held = max(held, columns.offsets[columns.first[c + 1]] - columns.offsets[columns.first[c]])
    x, v, level = np.empty(held), np.empty(held), np.empty(p.walk.shape[0])
    counts, finished = np.empty(most), np.empty(most)
    precision, pull = np.zeros(s.x.shape[0]), np.zeros(s.x.shape[0])
    logs = np.empty(2)
    for c in range(sizes.size):
        lo, hi, day = columns.first[c], columns.first[c + 1], columns.day[c]
        size = hi - lo
        believe_entries(lo, hi, columns, day, p, new, s, level, x, v, mean[lo:hi], variance[lo:hi])
        move_clock(day, s.clock)
        retired = 0.0
        for k in range(size):
            finished[k] = 1.0 if columns.ended[lo + k] == 0 else 0.0
            counts[k] = 1.0 if columns.ended[lo + k] == 0 else min(new.retirement, 0.999)
            retired += counts[k] - finished[k]
        shown = Shown(np.zeros(size), np.ones(size), np.full(size, np.nan))
        field = Field(mean[lo:hi], variance[lo:hi], columns.place[lo:hi], counts[:size])
        low, step, points = lay_grid(field)
        if logs.size < 2 * size * points:
            logs = np.empty(2 * size * points)
        below = logs[: size * points].reshape(size, points)
        above = logs[size * points : 2 * size * points].reshape(size, points)
        fill_logs(field, low, step, below, above)
        among = Field(field.mean, field.variance, field.place, finished[:size])
        read_ranking(among, 1.0, low, step, below, above, shown)
        for k in range(size):
            log_chance[lo + k] = shown.log_chance[k]
        if retired > 0.0 or columns.weight[c] != 1.0:
            read_ranking(field, columns.weight[c], low, step, below, above, shown)
        learn_contest(lo, hi, columns, field, shown, x, v, s, precision, pull)
        count_contest(lo, hi, columns, day, s, pull)


@kernel
def expect_contests(columns, p, new, s, mean, variance):
    """Mean and variance (entries) of the performances in contests, all from the beliefs as they stand."""
    level = np.empty(p.walk.shape[0])
    for c in range(columns.first.size - 1):
        lo, hi = columns.first[c], columns.first[c + 1]
        held = columns.offsets[hi] - columns.offsets[lo]
        x, v = np.empty(held), np.empty(held)
        believe_entries(lo, hi, columns, columns.day[c], p, new, s, level, x, v, mean[lo:hi], variance[lo:hi])
