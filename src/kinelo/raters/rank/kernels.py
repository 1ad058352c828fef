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

from kinelo.play.formula import inlined, kernel
from kinelo.raters.filter.alone import on_day
from kinelo.raters.filter.kinds import Kinds
from kinelo.raters.random_walk import move_clock
from kinelo.raters.rank.field import Field, Grid, Law, Shown, fill_logs, lay_grid, read_ranking

Array = NDArray[np.float64]
NOISE = 1.0
"""Variance of a performance around the strength: the unit."""
LEAST = 1e-9


class ContestColumns(NamedTuple):
    """Contests as loops take them.

    Contest ``c`` has the entries ``first[c]:first[c + 1]`` in order of places, its day (int) and its weight; entry
    ``e`` has its place, how it ended (int8), how far it came (1 is all the way, ½ where it is unknown), and the slots
    ``offsets[e]:offsets[e + 1]`` with their shares. A negative slot stands for somebody who has never been met:
    ``−1 − kind``.
    """

    first: NDArray[np.int64]
    day: NDArray[np.int64]
    weight: Array
    place: Array
    ended: NDArray[np.int8]
    distance: Array
    offsets: NDArray[np.int64]
    slot: NDArray[np.int64]
    share: Array


class ContestModel(NamedTuple):
    """Numbers of the kinds of slots; where newcomers of each kind begin, and whether against the others of their kind
    (kinds); what a retirement half-way counts, and how much more one at the end does than one at the start; the law
    of a performance.
    """

    kinds: Kinds
    level: Array
    beside: NDArray[np.bool_]
    retirement: float
    late_retirement: float
    law: Law


class Expected(NamedTuple):
    """What was expected of each performance: mean, variance, and ``log Z`` among those who finished (entries each)."""

    mean: Array
    variance: Array
    log_chance: Array


class Work(NamedTuple):
    """What is believed of the slots of one contest (``x``, ``v``), of newcomers (kinds), and what the contest says of
    each slot (``precision``, ``pull``), which is 0 between contests.
    """

    x: Array
    v: Array
    level: Array
    precision: Array
    pull: Array


@kernel
def room_for(columns, model, s):
    """Room for the largest of some contests."""
    held = 1
    for c in range(columns.first.size - 1):
        held = max(held, columns.offsets[columns.first[c + 1]] - columns.offsets[columns.first[c]])
    slots, kinds = s.x.shape[0], model.level.size
    return Work(np.empty(held), np.empty(held), np.empty(kinds), np.zeros(slots), np.zeros(slots))


@kernel
def entry_levels(c, columns, model, s, level):
    """Where newcomers of contest ``c`` begin, by kind (kinds): at 0 where all of a kind are."""
    number = np.zeros(level.size)
    level[:] = 0.0
    for e in range(columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]]):
        at = columns.slot[e]
        if at >= 0 and s.games[at] > 0:
            level[s.kind[at]] += on_day(at, s.kind[at], 0, columns.day[c], model.kinds, s)[0]
            number[s.kind[at]] += 1.0
    for kind in range(level.size):
        if not model.beside[kind]:
            level[kind] = model.level[kind]
        elif number[kind] > 0.0:
            level[kind] = level[kind] / number[kind] + model.level[kind]


@kernel
def believe_entries(c, columns, model, s, work, expected):
    """Expect performances of contest ``c``, and believe something of its slots (``work.x``, ``work.v``)."""
    entry_levels(c, columns, model, s, work.level)
    begin = columns.offsets[columns.first[c]]
    for a in range(columns.first[c], columns.first[c + 1]):
        m, S = 0.0, NOISE
        for e in range(columns.offsets[a], columns.offsets[a + 1]):
            at, w, j = columns.slot[e], columns.share[e], e - begin
            if at >= 0 and s.games[at] > 0:
                work.x[j], work.v[j] = on_day(at, s.kind[at], 0, columns.day[c], model.kinds, s)
            else:
                kind = -1 - at if at < 0 else s.kind[at]
                work.x[j], work.v[j] = work.level[kind], model.kinds.prior[kind, 0]
            m += w * work.x[j]
            S += w * w * work.v[j]
        expected.mean[a], expected.variance[a] = m, S


@kernel
def learn_contest(c, columns, field, shown, s, work):
    """Hand what contest ``c`` showed of its entries to their slots."""
    lo, begin, end = columns.first[c], columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]]
    for k in range(field.mean.size):
        if field.counts[k] == 0.0:
            continue
        shift = shown.shift[k] / field.variance[k]
        left = (field.variance[k] - shown.variance[k]) / (field.variance[k] * field.variance[k])
        for e in range(columns.offsets[lo + k], columns.offsets[lo + k + 1]):
            w, prior = columns.share[e], work.v[e - begin]
            rest = max(1.0 - w * w * prior * left, LEAST)
            work.precision[columns.slot[e]] += w * w * left / rest
            work.pull[columns.slot[e]] += w * shift / rest
    for e in range(begin, end):
        at, j = columns.slot[e], e - begin
        after = 1.0 / (1.0 / max(work.v[j], LEAST) + max(work.precision[at], 0.0))
        s.x[at, 0] = work.x[j] + after * work.pull[at]
        s.v[at, 0] = after
    for e in range(begin, end):
        work.precision[columns.slot[e]] = work.pull[columns.slot[e]] = 0.0


@kernel
def count_contest(c, columns, s, seen):
    """Note that the slots of contest ``c`` took part in it, once each; ``seen`` (slots) is left at 0."""
    begin, end = columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]]
    for e in range(begin, end):
        at = columns.slot[e]
        if seen[at] == 0.0:
            s.last[at] = max(columns.day[c], s.last[at])
            s.games[at] += 1
            seen[at] = 1.0
    for e in range(begin, end):
        seen[columns.slot[e]] = 0.0


@inlined
def weight_of_retirement(distance, model):
    """How much it tells that somebody did not finish who came so far."""
    return min(max(model.retirement + model.late_retirement * (distance - 0.5), 0.0), 0.999)


@kernel
def filter_contests(columns, model, s, expected):
    """Filter contests in order; ``expected`` receives what was expected of each performance before its contest.

    ``log_chance`` is that of the places of those who finished, NaN for the others.
    """
    sizes = columns.first[1:] - columns.first[:-1]
    most = max(np.max(sizes), 1)
    counts, finished, logs = np.empty(most), np.empty(most), np.empty(2)
    work = room_for(columns, model, s)
    for c in range(sizes.size):
        lo, hi, size = columns.first[c], columns.first[c + 1], sizes[c]
        believe_entries(c, columns, model, s, work, expected)
        move_clock(columns.day[c], s.clock)
        again = columns.weight[c] != 1.0
        for k in range(size):
            there = columns.ended[lo + k] == 0
            finished[k] = 1.0 if there else 0.0
            counts[k] = 1.0 if there else weight_of_retirement(columns.distance[lo + k], model)
            again = again or counts[k] != finished[k]
        shown = Shown(np.zeros(size), np.ones(size), np.full(size, np.nan))
        field = Field(expected.mean[lo:hi], expected.variance[lo:hi], columns.place[lo:hi], counts[:size])
        low, step, points = lay_grid(field, model.law)
        if logs.size < 2 * size * points:
            logs = np.empty(2 * size * points)
        below = logs[: size * points].reshape(size, points)
        above = logs[size * points : 2 * size * points].reshape(size, points)
        grid = Grid(low, step, below, above)
        fill_logs(field, model.law, grid)
        among = Field(field.mean, field.variance, field.place, finished[:size])
        read_ranking(among, model.law, 1.0, grid, shown, not again)
        for k in range(size):
            expected.log_chance[lo + k] = shown.log_chance[k]
        if again:
            read_ranking(field, model.law, columns.weight[c], grid, shown, True)
        learn_contest(c, columns, field, shown, s, work)
        count_contest(c, columns, s, work.pull)


@kernel
def expect_contests(columns, model, s, expected):
    """Mean and variance (entries) of the performances in contests, all from the beliefs as they stand."""
    work = room_for(columns, model, s)
    for c in range(columns.first.size - 1):
        believe_entries(c, columns, model, s, work, expected)
