"""What a filter knows of everyone, by name: beliefs about slots, and which slots belong to whom.

Three slots are there before any match: the level at which newcomers enter, and the advantages of the first-named side
at home and on neutral ground; and one for what each covariate is worth. All others are made when matches ask for them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import UNDATED
from kinelo.raters.filter.active import Active, ring_of
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import TODAY
from kinelo.raters.filter.entries import Entries, Rotations
from kinelo.raters.filter.smoother import symmetric
from kinelo.raters.filter.together import Joint
from kinelo.raters.state import LEAST_ROOM, NEVER, Levels, RaterState, StateColumn, check_strengths
from kinelo.raters.stored import ANY, FIRST_DAY, LAST_DAY, stored

Array = NDArray[np.float64]
Places = NDArray[np.int64]

LEVEL, HOME, NEUTRAL, STRENGTH, OWN, STAND_IN, CONDITION = range(7)
"""Kinds of slots: the three that are always there, strengths of those who are rated, what a side has beside it (at its
own ground, or whoever plays), who stands in for a line-up that is not known, and levels of conditions, a kind each."""
FIXED_SLOTS = 3
MOST_TOGETHER = 5000
"""SlotBeliefs beyond which no covariance is kept."""


class Lists(NamedTuple):
    """Matches as lists of entries: as they are forecast (none: as they are played) and as they are played, line-ups of
    which one will play, and names never met."""

    ahead: Entries
    played: Entries
    rotations: Rotations
    unknown: tuple[str, ...]


class SlotState(RaterState):
    """Beliefs about slots in arrays that grow; ``own`` of ``known`` says which slot is the strength of a name."""

    known: Any
    columns: ClassVar[Mapping[str, StateColumn]]

    def __init__(self, known: Any, fixed: Sequence[tuple[float, float]], apart: Sequence[bool], full: bool) -> None:
        super().__init__(known, dict.fromkeys(self.columns, -1))
        self.full, self.apart, self.fixed = full, tuple(apart), len(fixed)
        self.levels = Levels(())
        self.under = np.empty((0, 0), np.int64)
        """SlotBeliefs of strengths at levels of conditions (slots, levels); −1 where there is none."""
        mean, variance = np.array(fixed, float).T
        self.size = self.joined = first = self.fixed
        # Covariates are of the last kinds.
        kinds = np.append(np.arange(FIXED_SLOTS), len(self.apart) - first + np.arange(FIXED_SLOTS, first))
        self.beliefs = Joint(
            x=mean.copy(),
            v=variance.copy(),
            row=np.arange(first) if full else np.full(first, -1),
            C=np.diag(variance) if full else np.empty((0, 0)),
            rows=np.array([first]),
            last=np.full(first, NEVER),
            games=np.ones(first, np.int64),
            kind=kinds.astype(np.int8),
            clock=np.full(2, -(2**62)),
        )
        self.waiting = True

    @property
    def own(self) -> Places:
        """SlotBeliefs of the strengths of all names."""
        return self.known.own[: len(self)]

    def make(self, kind: int, count: int) -> Places:
        """So many new slots of a kind."""
        first, b = self.size, self.beliefs
        self.size += count
        extra = max(self.size, len(b.x) + len(b.x) // 2, LEAST_ROOM) - len(b.x)
        if self.size > len(b.x):
            b = b._replace(
                x=np.append(b.x, np.zeros(extra)),
                v=np.append(b.v, np.zeros(extra)),
                row=np.append(b.row, np.full(extra, -1)),
                last=np.append(b.last, np.full(extra, NEVER)),
                games=np.append(b.games, np.zeros(extra, np.int64)),
                kind=np.append(b.kind, np.zeros(extra, np.int8)),
            )
        b.kind[first : self.size] = kind
        self.beliefs = b
        if self.full and not self.apart[kind]:
            self._make_rows(count)
        return np.arange(first, self.size)

    def _make_rows(self, count: int) -> None:
        """Room in the covariance for so many more, unless it would not fit."""
        self.joined += count
        C = self.beliefs.C
        if self.joined > MOST_TOGETHER + FIXED_SLOTS:
            raise too_many(self.joined - FIXED_SLOTS)
        if self.joined > len(C):
            extra = max(self.joined, len(C) + len(C) // 2, LEAST_ROOM) - len(C)
            self.beliefs = self.beliefs._replace(C=np.pad(C, (0, extra)))

    def make_missing(self, table: str, places: NDArray[Any], kind: int) -> None:
        """SlotBeliefs of a kind for those places of a table of slots that have none."""
        slots = self.under.reshape(-1) if table == "under" else getattr(self.known, table)
        missing = places[slots[places] < 0]
        if missing.size:
            missing = missing if missing.size == 1 else _in_order(missing)
            slots[missing] = self.make(kind, missing.size)

    def adopt(self, other: SlotState) -> None:
        """Be, in a fresh state, as another was once it had made the slots of its first matches; what is believed of the
        slots that are always there stays.
        """
        beliefs = self.beliefs
        for name in ("name_indices", "known", "levels", "under", "size", "joined", "waiting", "before"):
            setattr(self, name, getattr(other, name))
        b = other.beliefs
        C = np.zeros((self.joined, self.joined) if self.full else (0, 0))
        self.beliefs = Joint._make(map(np.copy, b._replace(C=C)))
        first = self.fixed
        self.beliefs.x[:first], self.beliefs.v[:first] = beliefs.x[:first], beliefs.v[:first]
        if self.full:
            self.beliefs.C[:first, :first] = beliefs.C[:first, :first]

    def use_conditions(self, conditions: tuple[str, ...]) -> None:
        """Begin without any level of these conditions."""
        self.levels = Levels(conditions)

    def with_effects(self, entries: Entries, numbers: Array) -> Entries:
        """The entries, and beside them the covariates of each match (matches, covariates) that are not 0."""
        if not numbers.shape[1] or not entries.offsets.size:
            return entries
        match, which = np.nonzero(numbers)
        own = np.repeat(np.arange(len(numbers)), np.diff(entries.offsets))
        slots, shares = [entries.slot, FIXED_SLOTS + which], [entries.share, numbers[match, which]]
        return _by_match(slots, shares, [own, match], len(numbers))

    def with_levels(self, entries: Entries, codes: NDArray[np.int64], keep: bool) -> Entries:
        """The entries, and beside each strength what it is better by at the levels of its match (matches, conditions).

        A level never met, and a match that says no level, adds nothing; a strength that has not met a level is a
        newcomer to it.
        """
        if not self.levels.conditions or not entries.offsets.size:
            return entries
        match = np.repeat(np.arange(len(codes)), np.diff(entries.offsets))
        kinds = np.where(entries.slot < 0, -1 - entries.slot, self.beliefs.kind[np.maximum(entries.slot, 0)])
        strong = np.flatnonzero((kinds == STRENGTH) | (kinds == STAND_IN))
        if keep:  # room for every level of every slot
            check_strengths(self.levels, len(self))
            levels, (size, width) = len(self.levels), self.under.shape
            if levels > width or self.size > size:
                wide = np.full((max(self.size, size), levels), -1)
                wide[:size, :width] = self.under
                self.under = wide
        slots, shares, of = [entries.slot], [entries.share], [match]
        width = self.under.shape[1]
        for c in range(codes.shape[1]):
            there = strong[codes[match[strong], c] >= 0]
            strength, level, kind = entries.slot[there], codes[match[there], c], CONDITION + c
            if keep:
                self.make_missing("under", strength * width + level, kind)
            under = np.full(strength.size, -1)
            listed = (strength >= 0) & (strength < len(self.under)) & (level < width)
            under[listed] = self.under[strength[listed], level[listed]]
            slots.append(np.where(under >= 0, under, -1 - kind))
            shares.append(entries.share[there])
            of.append(match[there])
        return _by_match(slots, shares, of, len(codes))

    def in_batch(self, count: int = 1) -> SlotBeliefs:
        """The beliefs as the loop without covariance takes them: views where there is one, else copies."""
        b, size = self.beliefs, self.size
        x, v = b.x[:, None], b.v[:, None]
        if count == 1:
            return SlotBeliefs(x, v, b.last, b.games, b.kind, b.clock)
        x, v = (np.repeat(values[:size], count, axis=1) for values in (x, v))
        return SlotBeliefs(x, v, b.last[:size], b.games[:size], b.kind[:size], b.clock)

    def seat(self, names: tuple[str, ...], games: Places, unseen: Places, day: NDArray[Any]) -> None:
        """Let these begin, in a fresh state: matches they have played, so many of them not shown, and last days."""
        self.name_index.places(names)
        self.grow()
        self.make_missing("own", np.arange(len(names)), STRENGTH)
        b, slots = self.beliefs, self.own
        b.games[slots], b.last[slots] = games, day
        if self.full:
            b.row[slots] = np.arange(self.fixed, self.fixed + slots.size)
            b.rows[0] = self.fixed + slots.size
        self.before = unseen

    @property
    def latest(self) -> int:
        """Day of the last match used."""
        return int(self.beliefs.clock[TODAY])

    def arrive(self, day: int) -> None:
        """Let those who wait for the first match have waited since this day."""
        if self.waiting:
            last = self.beliefs.last
            last[(last == NEVER) & (self.beliefs.games > 0)] = day
            self.waiting = False

    def as_seen_on(self, day: int) -> SlotState:
        """The state as it is for matches from this day on; the state itself does not change."""
        if not self.waiting:
            return self
        seen, b = copy.copy(self), self.beliefs
        seen.beliefs = b._replace(last=np.where((b.last == NEVER) & (b.games > 0), day, b.last))
        return seen

    def games_shown(self) -> Places:
        """Matches played by everyone, without those that are only supposed."""
        games = self.beliefs.games[self.own]
        games[: self.before.size] -= self.before
        return games

    def last_played(self) -> NDArray[np.datetime64]:
        """Last day of everyone; NaT where there is none, and for all where the matches have no dates."""
        day = self.beliefs.last[self.own]
        known = (day != NEVER) & np.any((day != NEVER) & (day != UNDATED.view(np.int64)))
        return np.where(known, day.astype("datetime64[D]"), np.datetime64("NaT"))

    def here(self) -> NDArray[np.bool_]:
        """Who has a rating: everyone who has played or began with one."""
        return (self.own >= 0) & (self.beliefs.games[self.own] > 0)

    def strengths(self) -> Array:
        """Means of the strengths of all names."""
        return self.beliefs.x[self.own]

    def variance_of(self, slot: int) -> float:
        """Variance of what is believed of a slot; 0 where it is certain."""
        b = self.beliefs
        if not self.full:
            return float(b.v[slot])
        return float(b.C[b.row[slot], b.row[slot]]) if b.row[slot] >= 0 else 0.0

    def variances(self) -> Array:
        """Variances of the strengths of all names; 0 of those who have not played."""
        b, own = self.beliefs, self.own
        if not self.full:
            return b.v[own]
        rows = b.row[own]
        return np.where(rows >= 0, np.diagonal(b.C)[rows], 0.0)

    def covariance(self) -> Array:
        """Covariance of the strengths of all names, symmetric."""
        if not self.full:
            return np.diag(self.variances())
        rows = np.where(self.own >= 0, self.beliefs.row[self.own], -1)
        whole = symmetric(self.beliefs.C)[np.ix_(rows, rows)]
        whole[rows < 0], whole[:, rows < 0] = 0.0, 0.0
        return whole

    def at_level(self, level: int, before: float) -> tuple[Array, Array]:
        """Mean and variance of what everyone is better by at a level; ``before`` is the variance before any match."""
        slots = np.full(len(self), -1)
        known = self.own < len(self.under)
        slots[known] = self.under[self.own[known], level]
        met = (slots >= 0) & (self.beliefs.games[slots] > 0)
        return np.where(met, self.beliefs.x[slots], 0.0), np.where(met, self.beliefs.v[slots], before)

    def relative(self, days: int | None, belief: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Strengths and variances relative to the average of those who played within ``days`` of the last match.

        ``belief``, means and covariance or variances, takes the place of what the filter believes of the strengths;
        without ``days`` they are absolute.
        """
        strength, spread = belief or (self.strengths(), self.covariance() if self.full else self.variances())
        variance = spread if spread.ndim == 1 else np.diagonal(spread)
        if days is None:
            return strength, np.maximum(variance, 0.0)
        b = self.beliefs
        active = (b.last[self.own] >= b.clock[TODAY] - days) & (b.games[self.own] > 0)
        share = active / max(active.sum(), 1)
        common = spread * share if spread.ndim == 1 else spread @ share
        return strength - share @ strength, np.maximum(variance - 2 * common + share @ common, 0.0)

    def active(self, days: int, matches: int) -> Active:
        """Who has played within ``days`` of the last match, with room for their mean before so many matches."""
        b, own = self.beliefs, self.own
        own = own[(b.last[own] >= b.clock[TODAY] - days) & (b.games[own] > 0)]
        ring = ring_of(own[np.argsort(b.last[own], kind="stable")], self.size)
        return Active(*ring, np.array([b.x[own].sum(), own.size]), np.empty(matches), STRENGTH, days)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        b, size, rows = self.beliefs, self.size, int(self.beliefs.rows[0])
        slots = {f"slot_{name}": getattr(b, name)[:size] for name in ("x", "v", "row", "last", "games", "kind")}
        C = b.C[:rows, :rows] if self.full else b.C
        more = {"C": C, "clock": b.clock, "levels": self.levels.to_array(), "under": self.under}
        return super().to_arrays() | slots | more

    def _sizes(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
        return super()._sizes(arrays) | {"slots": len(arrays["slot_x"])}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        size, joint = len(arrays["slot_x"]), len(arrays["C"])
        limits = {"v": (0, None), "row": (-1, joint), "last": (FIRST_DAY, LAST_DAY), "games": (0, None)}
        limits |= {"x": (None, None), "kind": (0, len(self.apart))}
        slots = {
            name: stored(arrays, f"slot_{name}", "f" if name in "xv" else "i", (size,), *limits[name])
            for name in ("x", "v", "row", "last", "games", "kind")
        }
        C = stored(arrays, "C", "f", (joint, joint))
        self.full, self.size = C.size > 0, size
        rows = joint if self.full else self.fixed
        self.beliefs = Joint(
            **slots, C=C, rows=np.array([rows]), clock=stored(arrays, "clock", "i", (2,), FIRST_DAY, LAST_DAY)
        )
        self.levels.from_array(arrays["levels"])
        self.under = stored(arrays, "under", "i", (ANY, ANY), -1, size)
        if len(self.under) > size or self.under.shape[1] > len(self.levels):
            raise InputError("The array 'under' of a stored state is larger than its slots and levels are many.")
        self.joined = rows
        if self.full:
            self._make_rows(int(np.count_nonzero(~np.array(self.apart)[slots["kind"]] & (slots["row"] < 0))))
        b = self.beliefs
        self.waiting = bool(np.any((b.last == NEVER) & (b.games > 0)))


def _by_match(slots: list[Places], shares: list[Array], of: list[Places], matches: int) -> Entries:
    """Entries from lists of slots, their shares and their matches."""
    match = np.concatenate(of)
    order = np.argsort(match, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(match, minlength=matches)))
    return Entries(offsets, np.concatenate(slots)[order], np.concatenate(shares)[order])


def _in_order(values: NDArray[Any]) -> NDArray[Any]:
    """Each of the values once, in order of first appearance."""
    found, first = np.unique(values, return_index=True)
    return found[np.argsort(first)]


def too_many(names: int) -> InputError:
    """What to say where a full covariance would not fit."""
    return InputError(
        f"{names:,} strengths are too many for a full covariance (at most {MOST_TOGETHER:,}); "
        "use covariance='diagonal'."
    )
