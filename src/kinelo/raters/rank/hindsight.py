"""Strengths given all contests, those before and those after: messages along every slot until they agree.

A contest says of each of its slots a normal density, with precision ``Λ`` and pull ``h``. What a slot is believed to be
when it takes part is the product of three: what the contests before say of it (carried forwards in time), what this one
says, and what those after say (carried backwards). Through ``x' = f x + g + noise`` with variance ``q``, where ``g`` is
what experience brings, the last becomes ``Λ ← f² Λ/(1 + Λ q)``, ``h ← f (h − Λ g)/(1 + Λ q)``.

How a contest is read depends on what is believed of all its entrants. The first sweep reads it as the filter does, from
the past alone; each further one reads it again, with everything that the others show of its entrants, before and after.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.contests import Contests
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import fade_all
from kinelo.raters.rank.kernels import (
    ContestColumns,
    ContestModel,
    entry_levels,
    filter_contests,
    gained_all,
    room_for_expected,
)
from kinelo.raters.rank.state import RankState
from kinelo.raters.state import NEVER

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

MOST_SWEEPS = 12
SETTLED_SWEEP = 2.5e-3
"""Largest move of a strength in a sweep after which no further one is made, in units of the noise: half a point."""


class Appearances(NamedTuple):
    """Each slot in each of its contests, in order: those of contest ``c`` are ``begin[c]:begin[c + 1]``.

    ``slot`` and ``day`` (appearances); ``before`` is the one before of the same slot, −1 for none; ``f`` and ``q`` are
    the factor on a strength and the variance that the time since it and the contest brought, ``gain`` what experience
    did.
    """

    begin: Whole
    slot: Whole
    day: Whole
    before: Whole
    f: Array
    q: Array
    gain: Array


def list_appearances(columns: ContestColumns, model: ContestModel, known: SlotBeliefs) -> Appearances:
    """Who appears when; of slots that have a rating to begin with, time runs from its day."""
    per_contest = np.diff(columns.offsets[columns.first])
    contest = np.repeat(np.arange(per_contest.size), per_contest)
    size = known.last.size
    pairs = np.unique(contest * size + columns.slot)
    contest, slot = pairs // size, pairs % size
    day = columns.day[contest]
    order = np.argsort(slot, kind="stable")
    same = np.append(False, slot[order][1:] == slot[order][:-1])
    before = np.full(slot.size, -1)
    before[order[same]] = order[np.flatnonzero(same) - 1]
    last = np.where(before >= 0, day[before], np.where(known.last[slot] == NEVER, day, known.last[slot]))
    first_of_slot = np.maximum.accumulate(np.where(same, 0, np.arange(slot.size)))
    games = np.empty(slot.size, np.int64)
    games[order] = np.arange(slot.size) - first_of_slot
    games += known.games[slot]
    kinds, f, q, gain = model.kinds, np.empty(slot.size), np.empty(slot.size), np.zeros(slot.size)
    for kind in range(kinds.walk.shape[0]):
        of_kind = known.kind[slot] == kind
        f[of_kind], q[of_kind] = fade_all(
            day[of_kind] - last[of_kind], float(kinds.rho[kind, 0]), float(kinds.walk[kind, 0])
        )
        of_kind &= games > 0
        q[of_kind] += float(model.contest_walk[kind, 0])
        gain[of_kind] = gained_all(games[of_kind], float(model.experience[kind, 0]))
    begin = np.searchsorted(contest, np.arange(per_contest.size + 1))
    return Appearances(begin, slot, day, before, f, q, gain)


def one_contest(columns: ContestColumns, c: int) -> ContestColumns:
    """The columns of contest ``c`` alone."""
    lo, hi = columns.first[c], columns.first[c + 1]
    at, to = columns.offsets[lo], columns.offsets[hi]
    return columns._replace(
        first=np.array([0, hi - lo]),
        day=columns.day[c : c + 1],
        weight=columns.weight[c : c + 1],
        noise=columns.noise[c : c + 1],
        place=columns.place[lo:hi],
        ended=columns.ended[lo:hi],
        offsets=columns.offsets[lo : hi + 1] - at,
        slot=columns.slot[at:to],
        share=columns.share[at:to],
    )


class ContestSmoother:
    """What all contests together say of every appearance, in precisions and pulls (2, appearances).

    ``past`` is what the contests before it say, ``said`` what its own does, ``later`` what those after it do. The
    beliefs handed over are used as working memory.
    """

    def __init__(self, columns: ContestColumns, model: ContestModel, known: SlotBeliefs) -> None:
        self.columns, self.kinds, self.known = columns, model.kinds, known
        nothing = 0.0 * model.experience  # beliefs handed to it have what a contest adds in them
        self.model = model._replace(experience=nothing, contest_walk=nothing)
        self.begun, self.begin = known.games > 0, (known.x[:, 0].copy(), known.v[:, 0].copy())
        self.appearances = list_appearances(columns, model, known)
        self.past, self.said, self.later = (np.zeros((2, self.appearances.slot.size)) for _ in range(3))

    def settle(self) -> tuple[Array, Array]:
        """Mean and variance of each appearance, once sweeps no longer move them against one another.

        The level of all together is seen by no contest and may still drift: ratings are differences.
        """
        mean, variance = self._sweep()
        for _ in range(MOST_SWEEPS - 1):
            before = mean
            mean, variance = self._sweep()
            if np.abs(self._among_others(mean - before)).max(initial=0.0) < SETTLED_SWEEP:
                break
        return mean, variance

    def _sweep(self) -> tuple[Array, Array]:
        """Go forwards and backwards through all contests once; mean and variance of each appearance."""
        self.sweep_forwards()
        self.sweep_backwards()
        precision, pull = self.past + self.said + self.later
        return pull / precision, 1.0 / precision

    def _among_others(self, values: Array) -> Array:
        """Numbers of appearances less their mean over those of the same kind in the same contest."""
        at, kinds = self.appearances, self.kinds.walk.shape[0]
        contest = np.repeat(np.arange(at.begin.size - 1), np.diff(at.begin))
        group = contest * kinds + self.known.kind[at.slot]
        total, number = np.bincount(group, values), np.bincount(group)
        return values - (total / np.maximum(number, 1))[group]

    def sweep_forwards(self) -> None:
        """Read every contest in order of time."""
        self.known.games[:] = self.begun
        for c in range(self.columns.day.size):
            entries = slice(self.appearances.begin[c], self.appearances.begin[c + 1])
            slot, part = self.appearances.slot[entries], one_contest(self.columns, c)
            self.past[:, entries] = self._carried(entries, part)
            cavity = self.past[:, entries] + self.later[:, entries]
            self._believe(slot, cavity, part)
            filter_contests(part, self.model, self.known, room_for_expected(part.place.size))
            after = 1.0 / self.known.v[slot, 0]
            self.said[:, entries] = np.maximum(after - cavity[0], 0.0), after * self.known.x[slot, 0] - cavity[1]

    def _carried(self, entries: slice, part: ContestColumns) -> Array:
        """What is believed of the slots of a contest on its day from the contests before it."""
        at = self.appearances
        slot, before = at.slot[entries], at.before[entries]
        new = (before < 0) & ~self.begun[slot]
        precision, pull = self.past[:, before] + self.said[:, before]
        with np.errstate(invalid="ignore", divide="ignore"):  # of those without a contest before
            mean = at.f[entries] * np.where(before >= 0, pull / precision, self.begin[0][slot]) + at.gain[entries]
            spread = at.f[entries] ** 2 * np.where(before >= 0, 1.0 / precision, self.begin[1][slot]) + at.q[entries]
            natural = np.stack([1.0 / spread, mean / spread])
        if new.any():
            self._believe(slot[~new], (natural + self.later[:, entries])[:, ~new], part)
            level = np.empty((self.kinds.walk.shape[0], 1))
            entry_levels(0, part, self.model, self.known, level)
            kind = self.known.kind[slot[new]]
            natural[0, new] = 1.0 / self.kinds.prior[kind, 0]
            natural[1, new] = level[kind, 0] * natural[0, new]
        return natural

    def _believe(self, slot: Whole, natural: Array, part: ContestColumns) -> None:
        """Let the beliefs of slots be these precisions and pulls, on the day of a contest."""
        self.known.v[slot, 0] = 1.0 / natural[0]
        self.known.x[slot, 0] = natural[1] / natural[0]
        self.known.last[slot], self.known.games[slot] = part.day[0], 1

    def sweep_backwards(self) -> None:
        """Carry what contests say to those before them."""
        at = self.appearances
        self.later[:] = 0.0
        for c in range(self.columns.day.size - 1, -1, -1):
            entries = slice(at.begin[c], at.begin[c + 1])
            there = at.before[entries] >= 0
            precision, pull = (self.said[:, entries] + self.later[:, entries])[:, there]
            f, weaker = at.f[entries][there], 1.0 + precision * at.q[entries][there]
            pull -= precision * at.gain[entries][there]
            self.later[:, at.before[entries][there]] = f * f * precision / weaker, f * pull / weaker


def smoothed_states(
    state: RankState, contests: Contests, model: ContestModel, stops: Sequence[int]
) -> Iterator[SlotBeliefs]:
    """Beliefs of a fresh state after the first ``stops[0]``, ``stops[1]``, … contests, given all of them.

    As in the filter, that of a slot is of the day of its last contest.
    """
    columns, _ = state.columns(contests, admit=True)
    begun = copy.deepcopy(state.known)
    smoother = ContestSmoother(columns, model, state.known)
    mean, variance = smoother.settle()
    at, shown, done = smoother.appearances, begun, 0
    for stop in stops:
        own = slice(at.begin[done], at.begin[stop])
        shown.x[at.slot[own], 0], shown.v[at.slot[own], 0] = mean[own], variance[own]
        shown.last[at.slot[own]] = at.day[own]
        np.add.at(shown.games, at.slot[own], 1)
        shown.clock[:] = columns.day[0], columns.day[stop - 1]
        done = stop
        yield copy.deepcopy(shown)
