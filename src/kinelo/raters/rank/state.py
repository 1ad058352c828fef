"""What a rater of contests knows: a belief for every slot, by kind and name."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.contests import Slots as NamedSlots
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.rank.kernels import ContestColumns
from kinelo.raters.rank.luck import Luck
from kinelo.raters.rank.numbers import A_UNIT, NO_UNITS, centred_numbers
from kinelo.raters.slots import Key, SlotRow, stored_number
from kinelo.raters.start import SETTLED, Start
from kinelo.raters.state import LEAST_ROOM, NEVER
from kinelo.raters.stored import FIRST_DAY, LAST_DAY, SEPARATOR, stored, stored_names

NO_LUCK = Luck()
DAYS_APART = 7
"""How far apart contests without dates are taken to be."""


class RankState:
    """Beliefs of the filter (``known``), and the slot of every name of every kind."""

    def __init__(
        self,
        kinds: tuple[str, ...],
        advantages: tuple[str, ...] = (),
        conditions: tuple[str, ...] = (),
        luck: Luck = NO_LUCK,
        units: Mapping[str, float] = NO_UNITS,
    ) -> None:
        self.kinds, self.advantages, self.conditions, self.luck = kinds, advantages, conditions, luck
        self.units = units
        self.names: list[tuple[str, str]] = []
        self.index: dict[tuple[str, str], int] = {}
        self.contests = 0
        self.dated = False
        self.unseen: dict[int, int] = {}
        self.known = SlotBeliefs(
            np.zeros((0, 1)), np.zeros((0, 1)), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8),
            np.full(2, LONG_AGO, np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.names)

    def __deepcopy__(self, memo: dict[int, Any]) -> RankState:
        """A state of its own; a hundred thousand names are not copied one by one."""
        other = copy.copy(self)
        other.names, other.index, other.unseen = self.names.copy(), self.index.copy(), self.unseen.copy()
        other.known = copy.deepcopy(self.known, memo)
        return other

    def _grow(self) -> None:
        room = self.known.last.size
        if len(self) > room:
            extra = max(len(self), room + room // 2, LEAST_ROOM) - room
            known = self.known
            self.known = SlotBeliefs(
                np.pad(known.x, ((0, extra), (0, 0))),
                np.pad(known.v, ((0, extra), (0, 0))),
                np.pad(known.last, (0, extra), constant_values=NEVER),
                np.pad(known.games, (0, extra)),
                np.pad(known.kind, (0, extra)),
                known.clock,
            )

    def _place(self, kind: str, name: str) -> int:
        """The slot of a name, given to it where it has none."""
        key = kind, name
        place = self.index.get(key)
        if place is None:
            place = self.index[key] = len(self.names)
            self.names.append(key)
            self._grow()
            self.known.kind[place] = self.kinds.index(kind)
        return place

    def seat(self, kind: str, start: Start, x: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Let those of a table begin with these strengths and variances."""
        for k, name in enumerate(start.names):
            place = self._place(kind, name)
            known = self.known
            known.x[place, 0], known.v[place, 0], known.last[place] = x[k], v[k], start.day[k]
            known.games[place] = 1 if start.matches[k] == SETTLED else start.matches[k]
            if start.matches[k] == SETTLED:
                self.unseen[place] = 1
            if start.day[k] != NEVER:
                self.dated, known.clock[1] = True, max(known.clock[1], start.day[k])

    def begin(self, day: int) -> None:
        """Let ratings to begin with that name no day hold on the day of the first contest."""
        self.known = self.as_seen_on(day)

    def as_seen_on(self, day: int) -> SlotBeliefs:
        """What is known as it is for contests from this day on; the state itself does not change."""
        last = self.known.last
        waiting = (last == NEVER) & (self.known.games > 0)
        return self.known._replace(last=np.where(waiting, day, last)) if waiting.any() else self.known

    def columns(self, contests: Contests, admit: bool) -> tuple[ContestColumns, tuple[str, ...]]:
        """Contests as loops take them, and names never met; those are given slots where they are admitted."""
        kinds = self.luck.rated(contests.kinds)
        if (kinds, self.luck.rated(contests.advantages)) != (self.kinds, self.advantages):
            raise InputError(
                f"These contests rate {', '.join(kinds)}, but the rater {', '.join(self.kinds) or 'nothing'}; "
                "read them with the same slots= and advantages=."
            )
        tables, unknown = [], []
        for number, kind in enumerate(kinds):
            if kind in self.units:
                share = centred_numbers(contests, kind)[:, None] / self.units[kind]
                place = self._place(kind, A_UNIT) if admit else self.index.get((kind, A_UNIT), -1 - number)
                tables.append((np.where(share != 0.0, 0, -1), np.array([place, -1]), share))
                continue
            slots = levels_of_each(contests, kind) if kind in self.conditions else contests.slots[kind]
            places = np.full(len(slots.names) + 1, -1 - number, np.int64)
            for code in _in_order(slots.codes):
                place = self.index.get((kind, slots.names[code]))
                if not slots.advantage and (place is None or self.known.games[place] == 0):
                    unknown.append(slots.names[code])
                if place is None and admit:
                    place = self._place(kind, slots.names[code])
                if place is not None:
                    places[code] = place
            playing = slots.playing()
            there = np.maximum(playing.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            tables.append((slots.codes, places, playing / there))
        there = np.hstack([codes for codes, _, _ in tables]) >= 0
        slot = np.hstack([places[codes] for codes, places, _ in tables])[there]
        share = np.hstack([share for _, _, share in tables])
        offsets = np.append(0, np.cumsum(there.sum(axis=1)))
        day = self._days(contests) if admit else self._days_ahead(contests)
        unknown_distance = np.full(contests.place.size, 0.5)
        came = unknown_distance if contests.distance is None else np.nan_to_num(contests.distance, nan=0.5)
        columns = ContestColumns(
            contests.first, day, contests.weight, self.luck.variance(contests), contests.place, contests.ended, came,
            offsets, slot, share[there],
        )  # fmt: skip
        return columns, tuple(unknown)

    def adopt(self, other: RankState) -> None:
        """Give slots to the names of another state, which began as this one did and has rated nothing."""
        begun, own, room = len(self), self.known, other.known
        self.names, self.index, self.dated = list(other.names), dict(other.index), other.dated
        parts = {name: np.zeros_like(getattr(room, name)) for name in ("x", "v", "last", "games")}
        parts["last"][:] = NEVER
        for name, part in parts.items():
            part[:begun] = getattr(own, name)[:begun]
        self.known = room._replace(clock=own.clock, **parts)

    def _days(self, contests: Contests) -> NDArray[np.int64]:
        """Days of contests; those without dates follow one another at equal distances."""
        if contests.dated:
            self.dated = True
            return contests.day
        if self.dated:
            return np.full(len(contests), self.known.clock[1])
        return DAYS_APART * (self.contests + np.arange(len(contests), dtype=np.int64))

    def _days_ahead(self, contests: Contests) -> NDArray[np.int64]:
        """Days of contests to come: the last day known where they have none, the next where none is known at all."""
        if contests.dated and (self.dated or not self.contests):
            return contests.day
        return np.full(len(contests), self.known.clock[1] if self.dated else DAYS_APART * self.contests)

    def keys_of(self, contests: Contests) -> list[Key]:
        """The slots that contests read and write, in the order in which they would be made."""
        keys: list[Key] = []
        for kind in self.luck.rated(contests.kinds):
            if kind in self.units:
                keys.append((kind, A_UNIT))
                continue
            slots = levels_of_each(contests, kind) if kind in self.conditions else contests.slots[kind]
            keys += [(kind, slots.names[code]) for code in _in_order(slots.codes)]
        return keys

    def slot_rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rows of some slots, or of all in their order."""
        known, keys = self.known, self.names if keys is None else keys
        rows = []
        for key in keys:
            at = self.index[key]
            unseen = {"unseen": self.unseen[at]} if at in self.unseen else None
            numbers = known.x.item(at, 0), known.v.item(at, 0), known.games.item(at), known.last.item(at)
            rows.append(SlotRow(*key, *numbers, unseen))
        return rows

    def take_slots(self, rows: Sequence[SlotRow]) -> None:
        """Put rows in; slots that are new are made in order."""
        for row in rows:
            if row.kind not in self.kinds:
                raise InputError(f"The table slot holds the kind {row.kind!r:.60}, which the book does not rate.")
            at, known = self._place(row.kind, row.name), self.known
            known.x[at, 0], known.v[at, 0], known.games[at], known.last[at] = row.mean, row.variance, *row[4:6]
            if row.more is not None and "unseen" in row.more:
                self.unseen[at] = int(stored_number(row.more, "unseen", 0, 0))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        names = [SEPARATOR.join(key) for key in self.names] or [""]
        kept = {name: values[:size] for name, values in self.known._asdict().items() if name != "clock"}
        return {
            **kept,
            "clock": self.known.clock,
            "names": np.array(names, dtype=str),
            "kinds": np.array(list(self.kinds) or [""], dtype=str),
            "advantages": np.array(list(self.advantages) or [""], dtype=str),
            "contests": np.array([self.contests, int(self.dated)]),
            "unseen": np.array([self.unseen.get(place, 0) for place in range(size)], np.int64),
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        conditions: tuple[str, ...] = (),
        luck: Luck = NO_LUCK,
        units: Mapping[str, float] = NO_UNITS,
    ) -> RankState:
        """What :meth:`to_arrays` gave."""
        kinds = tuple(kind for kind in stored_names(arrays, "kinds") if kind)
        advantages = tuple(kind for kind in stored_names(arrays, "advantages") if kind)
        state = cls(kinds, advantages, conditions, luck, units)
        pairs = [name.split(SEPARATOR, 1) for name in stored_names(arrays, "names") if name]
        if not set(advantages) <= set(kinds) or not all(len(pair) == 2 and pair[0] in kinds for pair in pairs):
            raise InputError("The array 'names' of a stored state must hold names of its kinds, each of them once.")
        state.names = [(kind, name) for kind, name in pairs]
        state.index = {key: place for place, key in enumerate(state.names)}
        size = len(state.names)
        state.contests, dated = stored(arrays, "contests", "i", (2,), 0).tolist()
        state.dated = bool(dated)
        unseen = stored(arrays, "unseen", "i", (size,), 0)
        state.unseen = {place: int(unseen[place]) for place in np.flatnonzero(unseen).tolist()}
        state.known = SlotBeliefs(
            stored(arrays, "x", "f", (size, 1)), stored(arrays, "v", "f", (size, 1), 0),
            stored(arrays, "last", "i", (size,), FIRST_DAY, LAST_DAY), stored(arrays, "games", "i", (size,), 0),
            stored(arrays, "kind", "i", (size,), 0, len(state.kinds)),
            stored(arrays, "clock", "i", (2,), FIRST_DAY, LAST_DAY),
        )  # fmt: skip
        return state


def levels_of_each(contests: Contests, kind: str) -> NamedSlots:
    """A condition as slots: one for everybody under every level, such as ``Ann · wet``, for each of a team."""
    owner = next(slots for slots in contests.slots.values() if not slots.advantage)
    level = contests.slots[kind]
    width = max(len(level.names), 1)
    both = (owner.codes >= 0) & (level.codes[:, :1] >= 0)
    found, codes = np.unique(
        np.where(both, owner.codes.astype(np.int64) * width + level.codes[:, :1], -1), return_inverse=True
    )
    none = int(found.size > 0 and found[0] < 0)
    names = tuple(f"{owner.names[k // width]} · {level.names[k % width]}" for k in found[none:].tolist())
    return NamedSlots(codes.reshape(owner.codes.shape).astype(np.int32) - none, names, True)


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance."""
    known = codes[codes >= 0]
    values, first = np.unique(known, return_index=True)
    return values[np.argsort(first)].tolist()
