"""Contests through the filter of slots: advance, believe, read the ranking, learn; compiled.

An entrant performs ``Σ share · slot + noise``; the unit of strength is the standard deviation of that noise. What its
place shows of the performance (:mod:`kinelo.raters.rank.ranking`) is handed to each of its slots,

    ``x += v · share · pull``, ``v −= (v · share)² precision``.

A slot of several entrants (a car with two drivers) adds up what each shows, as precisions. A newcomer begins at

    ``newcomer_follows mean + newcomer``,

where ``mean`` is that of those of its kind in the same contest who are known: beside them where newcomers enter the
fields they belong to, at a level of their own where anybody enters any field. An advantage begins at 0. Who has taken
part in ``n`` contests is believed to be stronger in the next one, by

    ``experience (1 − e^{−1/τ}) e^{−(n − 1)/τ}``, ``τ = LEARNT`` contests,

which is ``experience`` in all. Without it others pay for what newcomers learn, and newcomers are forecast too low.
Beside what the days since the last contest do, each contest taken part in adds ``contest_walk²`` to the variance: who
plays often moves more in a year than who plays twice.

Places say nothing of the level of a field, which is known through its entrants alone: an error of it is common to all
of them, and adds up where newcomers learn while others leave. Where fields are alike, their level is that of all
contests, 0. Each performance is therefore read as lying higher by a part of the way of the field's level to 0,

    ``pull += precision · lift``, ``lift = −anchor k/(k + ALIKE anchor) · level``,

the less the fewer (``k``) there are, since small fields differ by chance.

Raters a little apart go through the contests side by side, as a batch. The first reads each ranking; the others read it
by the slopes of that, so that their losses differ from its own as derivatives say.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.model.outcome import CHESS_NU
from kinelo.play.formula import inlined, inner, kernel
from kinelo.raters.filter.alone import SlotBeliefs, on_day
from kinelo.raters.filter.belief import informed, move_clock
from kinelo.raters.filter.kinds import Kinds
from kinelo.raters.rank.law import PerformanceLaw
from kinelo.raters.rank.ranking import ContestField, Ranking, Shown, new_grid, read_ranking

Array = NDArray[np.float64]
NOISE = 1.0
"""Variance of a performance around the strength: the unit."""
POINTS_PER_UNIT = 1.0 / (math.sqrt(math.pi) * CHESS_NU)
"""Rating points per unit of strength: between equals the expected result rises by 1/√π a unit, ln 10/800 a point."""
LEAST = 1e-9
MOST_TOLD = 0.999
"""What a retirement counts at most, next to a last place."""
LEARNT = 10.0
"""Contests in which a newcomer gains ``1 − 1/e`` of what experience brings."""
ALIKE = 20.0
"""Entrants of a field for which chance moves its level as far as the error that an anchor of 1 takes away."""


class ContestColumns(NamedTuple):
    """Contests as loops take them.

    Contest ``c`` has the entries ``first[c]:first[c + 1]`` in order of places, its day (int), its weight, and
    ``noise``, the variance of a performance around the strength in units of the usual one. Entry ``e`` has its place,
    how it ended (int8), and the slots ``offsets[e]:offsets[e + 1]`` with their shares. A negative slot stands for
    somebody who has never been met: ``−1 − kind``.
    """

    first: NDArray[np.int64]
    day: NDArray[np.int64]
    weight: Array
    noise: Array
    place: Array
    ended: NDArray[np.int8]
    offsets: NDArray[np.int64]
    slot: NDArray[np.int64]
    share: Array


class ContestModel(NamedTuple):
    """Numbers of the kinds of slots; where newcomers of each kind begin, what they gain by experience and the variance
    that a contest adds (kinds, members), and whether they begin against the others of their kind (kinds); what a
    retirement counts (members); how much the
    level of a field is drawn to that of all, and how much of it newcomers have (members each); the law of a
    performance.
    """

    kinds: Kinds
    level: Array
    experience: Array
    contest_walk: Array
    beside: NDArray[np.bool_]
    retirement: Array
    anchor: Array
    newcomer_follows: Array
    law: PerformanceLaw


class Expected(NamedTuple):
    """What was expected of each performance: mean, variance, and ``log Z`` among those who finished, NaN for the others
    (entries, members each).
    """

    mean: Array
    variance: Array
    log_chance: Array


def room_for_expected(entries: int, batch: int = 1) -> Expected:
    """Room for what is expected of so many entries."""
    return Expected(*np.empty((3, entries, batch)))


class Work(NamedTuple):
    """What is believed of the slots of one contest (``x``, ``v``; entries of slots, members), of newcomers (kinds,
    members), and what the contest says of each slot (``precision``, ``pull``; slots, members), which is 0 between
    contests.
    """

    x: Array
    v: Array
    level: Array
    precision: Array
    pull: Array


@partial(inner, _nrt=True)
def room_for(columns, model, slots):
    """Room for the largest of some contests among so many slots."""
    held, batch = 1, model.anchor.size
    for c in range(columns.first.size - 1):
        held = max(held, columns.offsets[columns.first[c + 1]] - columns.offsets[columns.first[c]])
    return Work(
        np.empty((held, batch)), np.empty((held, batch)), np.empty(model.level.shape), np.zeros((slots, batch)),
        np.zeros((slots, batch)),
    )  # fmt: skip


@inlined
def gained(games, experience):
    """What the next contest adds to who has taken part in so many (int)."""
    if experience == 0.0:
        return 0.0
    return experience * (1.0 - math.exp(-1.0 / LEARNT)) * math.exp((1.0 - games) / LEARNT)


def gained_all(games: NDArray[np.int64], experience: float) -> Array:
    """The same as :func:`gained` for an array of numbers of contests."""
    return experience * -math.expm1(-1.0 / LEARNT) * np.exp((1.0 - games) / LEARNT)


@inlined
def in_contest(at, q, day, model, s):
    """Mean and variance of a slot that has been met, in a contest on a day (int), in member ``q``."""
    kind = s.kind[at]
    x, v = on_day(at, kind, q, day, model.kinds, s)
    return x + gained(s.games[at], model.experience[kind, q]), v + model.contest_walk[kind, q]


@kernel
def entry_levels(c, columns, model, s, level):
    """Where newcomers of contest ``c`` begin, by kind (kinds, members): at 0 where all of a kind are.

    Where there are none, levels are left alone.
    """
    begin, end, fresh = columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]], False
    for e in range(begin, end):
        fresh = fresh or columns.slot[e] < 0 or s.games[columns.slot[e]] == 0
    if not fresh:
        return
    number = np.zeros(level.shape[0])
    level[:] = 0.0
    for e in range(begin, end):
        at = columns.slot[e]
        if at >= 0 and s.games[at] > 0:
            number[s.kind[at]] += 1.0
            for q in range(level.shape[1]):
                level[s.kind[at], q] += in_contest(at, q, columns.day[c], model, s)[0]
    for kind in range(level.shape[0]):
        for q in range(level.shape[1]):
            if not model.beside[kind]:
                level[kind, q] = model.level[kind, q]
            elif number[kind] > 0.0:
                mean = level[kind, q] / number[kind]
                level[kind, q] = model.newcomer_follows[q] * mean + model.level[kind, q]


@inner
def believe_entries(c, columns, model, s, work, expected):
    """Expect performances of contest ``c``, and believe something of its slots (``work.x``, ``work.v``)."""
    begin = columns.offsets[columns.first[c]]
    for a in range(columns.first[c], columns.first[c + 1]):
        for q in range(s.x.shape[1]):
            m, S = 0.0, NOISE * columns.noise[c]
            for e in range(columns.offsets[a], columns.offsets[a + 1]):
                at, w, j = columns.slot[e], columns.share[e], e - begin
                if at >= 0 and s.games[at] > 0:
                    work.x[j, q], work.v[j, q] = in_contest(at, q, columns.day[c], model, s)
                else:
                    kind = -1 - at if at < 0 else s.kind[at]
                    work.x[j, q], work.v[j, q] = work.level[kind, q], model.kinds.prior[kind, q]
                m += w * work.x[j, q]  # mean of the performance
                S += w * w * work.v[j, q]  # its variance, noise included
            expected.mean[a, q], expected.variance[a, q] = m, S


@inlined
def lift_of(field, anchor, q):
    """How much higher performances are read than places show, in a member: a part of the way of the level to 0."""
    if anchor == 0.0:
        return 0.0
    size, level = field.mean.shape[0], 0.0
    for k in range(size):
        level += field.mean[k, q]
    return -level * anchor / (size + ALIKE * anchor)


@inner
def learn_contest(c, columns, model, field, shown, s, work):
    """Hand what contest ``c`` showed of its entries to their slots."""
    lo, begin, end = columns.first[c], columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]]
    for q in range(s.x.shape[1]):
        lift = lift_of(field, model.anchor[q], q)
        for k in range(field.mean.shape[0]):
            precision = shown.precision[k, q]
            pull = shown.pull[k, q] + max(precision, 0.0) * lift
            for e in range(columns.offsets[lo + k], columns.offsets[lo + k + 1]):
                at, w = columns.slot[e], columns.share[e]
                rest = max(1.0 - w * w * work.v[e - begin, q] * precision, LEAST)  # of the others: this slot taken out
                work.precision[at, q] += w * w * precision / rest
                work.pull[at, q] += w * pull / rest
        for e in range(begin, end):
            at, j = columns.slot[e], e - begin
            precision = max(work.precision[at, q], 0.0)
            s.x[at, q], s.v[at, q] = informed(work.x[j, q], max(work.v[j, q], LEAST), precision, work.pull[at, q])
        for e in range(begin, end):
            work.precision[columns.slot[e], q] = work.pull[columns.slot[e], q] = 0.0


@inner
def count_contest(c, columns, s, seen):
    """Note that the slots of contest ``c`` took part in it, once each; ``seen`` (slots, members) is left at 0."""
    begin, end = columns.offsets[columns.first[c]], columns.offsets[columns.first[c + 1]]
    for e in range(begin, end):
        at = columns.slot[e]
        if seen[at, 0] == 0.0:
            s.last[at] = max(columns.day[c], s.last[at])
            s.games[at] += 1
            seen[at, 0] = 1.0
    for e in range(begin, end):
        seen[columns.slot[e], 0] = 0.0


@inner
def count_entries(c, columns, model, counts):
    """How much each entry of contest ``c`` counts (entries of it, members)."""
    for e in range(columns.first[c], columns.first[c + 1]):
        for q in range(counts.shape[1]):
            counts[e - columns.first[c], q] = 1.0 if columns.ended[e] == 0 else min(model.retirement[q], MOST_TOLD)


@partial(inner, _nrt=True)
def read_contest(c, columns, model, expected, memory):
    """Read the ranking of contest ``c``, of which performances are ``expected``: the field, what is shown of it, and
    memory for the grid of the next one. ``log Z`` of its entries is written to ``expected``.
    """
    lo, hi, batch = columns.first[c], columns.first[c + 1], expected.mean.shape[1]
    counts = np.empty((hi - lo, batch))
    count_entries(c, columns, model, counts)
    field = ContestField(expected.mean[lo:hi], expected.variance[lo:hi], counts, columns.place[lo:hi])
    grid = new_grid(field, model.law, memory)
    for e in range(lo, hi):
        for q in range(batch):
            expected.log_chance[e, q] = math.nan
    shown = Shown(np.zeros((hi - lo, batch)), np.zeros((hi - lo, batch)), expected.log_chance[lo:hi])
    read_ranking(Ranking(field, model.law, columns.weight[c], grid), shown)
    return field, shown, grid.memory


@kernel
def run_contests(columns, model, s, expected, expecting, reading, learning):
    """Go through contests in order (bool each): expect performances from the beliefs ``s``, read rankings given what is
    ``expected``, and learn from them.
    """
    memory = np.empty((4, 2))
    work = room_for(columns, model, s.last.size if learning else 0)
    for c in range(columns.first.size - 1):
        if expecting:
            entry_levels(c, columns, model, s, work.level)
            believe_entries(c, columns, model, s, work, expected)
        if reading:
            field, shown, memory = read_contest(c, columns, model, expected, memory)
            if learning:
                move_clock(columns.day[c], s.clock)
                learn_contest(c, columns, model, field, shown, s, work)
                count_contest(c, columns, s, work.pull)


def filter_contests(columns: ContestColumns, model: ContestModel, s: SlotBeliefs, expected: Expected) -> None:
    """Filter contests in order; ``expected`` receives what was expected of each performance before its contest."""
    run_contests(columns, model, s, expected, True, True, True)


def score_contests(columns: ContestColumns, model: ContestModel, s: SlotBeliefs, expected: Expected) -> None:
    """Write ``log Z`` of entries in contests of which means and variances are expected; nothing is learnt."""
    run_contests(columns, model, s, expected, False, True, False)


def expect_contests(columns: ContestColumns, model: ContestModel, s: SlotBeliefs, expected: Expected) -> None:
    """Mean and variance (entries, members) of the performances in contests, all from the beliefs as they stand."""
    run_contests(columns, model, s, expected, True, False, False)
