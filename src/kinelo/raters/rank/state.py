"""What a rater of contests knows: a belief for every slot, by kind and name; and how a book keeps it, row by row."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.noise import NoiseFactors
from kinelo.raters.rank.entries import A_UNIT, ContestEntries, centred_numbers
from kinelo.raters.rank.kernels import POINTS_PER_UNIT, ContestColumns
from kinelo.raters.slots import Key, Points, SlotRow, Slots, numbers_shared, stored_number, texts_shared
from kinelo.raters.start import SETTLED, Start
from kinelo.raters.state import LEAST_ROOM, NEVER
from kinelo.raters.stored import FIRST_DAY, LAST_DAY, SEPARATOR, stored, stored_names

Array = NDArray[np.float64]
DAYS_APART = 7
"""How far apart contests without dates are taken to be."""


class RankState:
    """Beliefs of the filter (``known``), and the slot of every name of every kind of ``entries``."""

    def __init__(self, entries: ContestEntries) -> None:
        self.entries = entries
        self.names: list[Key] = []
        self.index: dict[Key, int] = {}
        self.contests = 0
        self.dated = False
        self.unseen: dict[int, int] = {}
        self.vague: list[int] = []
        """Places of those who begin with a rating and are as uncertain as newcomers."""
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

    def place(self, kind: str, name: str) -> int:
        """The slot of a name, given to it where it has none."""
        key = kind, name
        place = self.index.get(key)
        if place is not None:
            return place
        place = self.index[key] = len(self.names)
        self.names.append(key)
        known, room = self.known, self.known.last.size
        if place >= room:
            extra = max(place + 1, room + room // 2, LEAST_ROOM) - room
            known = self.known = SlotBeliefs(
                np.pad(known.x, ((0, extra), (0, 0))),
                np.pad(known.v, ((0, extra), (0, 0))),
                np.pad(known.last, (0, extra), constant_values=NEVER),
                np.pad(known.games, (0, extra)),
                np.pad(known.kind, (0, extra)),
                known.clock,
            )
        known.kind[place] = self.entries.kinds.index(kind)
        return place

    def seat(self, start: Start, strength: Array, deviation: Array, prior: Mapping[str, float]) -> None:
        """Let those of a table begin with these strengths and deviations, which are those of their kind where none is
        said; ``car: Red`` is of the kind car, a plain name of the first kind.
        """
        rated = [kind for kind in self.entries.kinds if kind not in self.entries.advantages]
        rows: dict[str, list[tuple[int, str]]] = {}
        for row, name in enumerate(start.names if rated else ()):
            kind, colon, rest = name.partition(": ")
            kind, rest = (kind, rest) if colon and kind in rated else (rated[0], name)
            rows.setdefault(kind, []).append((row, rest))
        columns = (strength, deviation, start.matches, start.day)
        numbers = list(zip(*(column.tolist() for column in columns), strict=True))
        for kind, row, name in ((kind, *pair) for kind, pairs in rows.items() for pair in pairs):
            place, (x, spread, matches, day) = self.place(kind, name), numbers[row]
            if math.isnan(spread):
                spread = prior[kind]
                self.vague.append(place)
            known = self.known
            known.x[place, 0], known.v[place, 0], known.last[place] = x, spread**2, day
            known.games[place] = 1 if matches == SETTLED else matches
            if matches == SETTLED:
                self.unseen[place] = 1
            if day != NEVER:
                self.dated, known.clock[1] = True, max(known.clock[1], day)

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
        entries = self.entries
        kinds, advantages = entries.kinds_in(contests)
        if (kinds, advantages) != (entries.kinds, entries.advantages):
            raise InputError(
                f"These contests rate {', '.join(kinds)}, but the rater {', '.join(entries.kinds) or 'nothing'}; "
                "read them with the same slots= and advantages=."
            )
        tables, unknown = [], []
        for number, kind in enumerate(kinds):
            if kind in entries.units:
                share = centred_numbers(contests, kind)[:, None] / entries.units[kind]
                place = self.place(kind, A_UNIT) if admit else self.index.get((kind, A_UNIT), -1 - number)
                tables.append((np.where(share != 0.0, 0, -1), np.array([place, -1]), share))
                continue
            slots = entries.slots_of(contests, kind)
            places = np.full(len(slots.names) + 1, -1 - number, np.int64)
            for code in _in_order(slots.codes):
                place = self.index.get((kind, slots.names[code]))
                if not slots.advantage and (place is None or self.known.games[place] == 0):
                    unknown.append(slots.names[code])
                if place is None and admit:
                    place = self.place(kind, slots.names[code])
                if place is not None:
                    places[code] = place
            playing = slots.playing()
            there = np.maximum(playing.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            tables.append((slots.codes, places, playing / there))
        there = np.hstack([codes for codes, _, _ in tables]) >= 0
        slot = np.hstack([places[codes] for codes, places, _ in tables])[there]
        share = np.hstack([share for _, _, share in tables])
        offsets = np.append(0, np.cumsum(there.sum(axis=1)))
        # Days: contests without dates follow one another at equal distances; those to come are on the last day known,
        # or on the next one where none is known at all.
        number, day = contests.weight.size, contests.day
        if admit:
            if not contests.dated:
                undated = DAYS_APART * (self.contests + np.arange(number, dtype=np.int64))
                day = np.full(number, self.known.clock[1]) if self.dated else undated
            self.dated = self.dated or contests.dated
        elif not (contests.dated and (self.dated or not self.contests)):
            day = np.full(number, self.known.clock[1] if self.dated else DAYS_APART * self.contests)
        columns = ContestColumns(
            contests.first, day, contests.weight, entries.variance(contests), contests.place, contests.ended,
            offsets, slot, share[there],
        )  # fmt: skip
        return columns, tuple(unknown)

    def keys_of(self, contests: Contests) -> list[Key]:
        """The slots that contests read and write, in the order in which they would be made."""
        keys: list[Key] = []
        for kind in self.entries.kinds_in(contests)[0]:
            if kind in self.entries.units:
                keys.append((kind, A_UNIT))
                continue
            slots = self.entries.slots_of(contests, kind)
            keys += [(kind, slots.names[code]) for code in _in_order(slots.codes)]
        return keys

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        names = [SEPARATOR.join(key) for key in self.names] or [""]
        kept = {name: values[:size] for name, values in self.known._asdict().items() if name != "clock"}
        return {
            **kept,
            "clock": self.known.clock,
            "names": np.array(names, dtype=str),
            "kinds": np.array(list(self.entries.kinds) or [""], dtype=str),
            "advantages": np.array(list(self.entries.advantages) or [""], dtype=str),
            "contests": np.array([self.contests, int(self.dated)]),
            "unseen": np.array([self.unseen.get(place, 0) for place in range(size)], np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], entries: ContestEntries) -> RankState:
        """What :meth:`to_arrays` gave, with its kinds in the entries."""
        kinds = tuple(kind for kind in stored_names(arrays, "kinds") if kind)
        advantages = tuple(kind for kind in stored_names(arrays, "advantages") if kind)
        state = cls(replace(entries, kinds=kinds, advantages=advantages))
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
            stored(arrays, "kind", "i", (size,), 0, len(kinds)),
            stored(arrays, "clock", "i", (2,), FIRST_DAY, LAST_DAY),
        )  # fmt: skip
        return state


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance."""
    values, first = np.unique(codes[codes >= 0], return_index=True)
    return values[np.argsort(first)].tolist()


@dataclass(frozen=True)
class RankSlots(Slots):
    """Rows of slots; of all together only kinds, and where contests have no dates, their number."""

    rater: Any

    def moves_shared(self, matches: Any) -> bool:
        """Whether contests without dates follow one another by their number."""
        return not (matches.dated and self.rater._begun().dated)

    def met(self, matches: Any) -> list[Key]:
        """Everyone who takes part, and everything that helps."""
        return self.rater._begun(matches).keys_of(self.rater._entries.with_size(matches))

    def has(self, key: Key) -> bool:
        """Whether a slot has been made."""
        return key in self.rater._begun().index

    def rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rows of some slots, or of all in their order."""
        state = self.rater._begun()
        known, rows, wanted = state.known, [], state.names if keys is None else keys
        key: Key
        for key in wanted:
            at = state.index[key]
            unseen = {"unseen": state.unseen[at]} if at in state.unseen else None
            numbers = known.x.item(at, 0), known.v.item(at, 0), known.games.item(at), known.last.item(at)
            rows.append(SlotRow(*key, *numbers, unseen))
        return rows

    def take(self, rows: Iterable[SlotRow]) -> None:
        """Put rows in; slots that are new are made in order."""
        state = self.rater._begun()
        for row in rows:
            if row.kind not in state.entries.kinds:
                raise InputError(f"The table slot holds the kind {row.kind!r:.60}, which the book does not rate.")
            at, known = state.place(row.kind, row.name), state.known
            known.x[at, 0], known.v[at, 0], known.games[at], known.last[at] = row.mean, row.variance, *row[4:6]
            if row.more is not None and "unseen" in row.more:
                state.unseen[at] = int(stored_number(row.more, "unseen", 0, 0))

    def shared(self) -> dict[str, Any]:
        """Kinds and their parameters; the number of contests and their days where they have no dates."""
        rater, state = self.rater, self.rater._begun()
        entries = state.entries
        undated = {"contests": [state.contests, *state.known.clock.tolist()]}
        shared: dict[str, Any] = {"kinds": list(entries.kinds), "advantages": list(entries.advantages)}
        shared |= {"parameters": dict(rater.parameters_)}
        shared |= {"noise": entries.factors.to_rows()} if entries.factors.index else {}
        shared |= {"units": list(entries.units.values())} if entries.units else {}
        return shared | (undated if not state.dated else {"contests": [int(state.contests > 0)]})

    def take_shared(self, shared: dict[str, Any], latest: int | None) -> None:
        """Take over what all share."""
        rater = self.rater
        kinds, advantages = texts_shared(shared, "kinds"), texts_shared(shared, "advantages")
        values = shared.get("parameters")
        if not isinstance(values, dict) or not set(advantages) <= set(kinds) or len(set(kinds)) < len(kinds):
            raise InputError("'kinds' in the table common are not what its rater stores.")
        numbers = numbers_shared({"parameters": list(values.values())}, "parameters")
        entries = replace(
            rater._entries, kinds=tuple(kinds), advantages=tuple(advantages),
            factors=NoiseFactors.from_rows(shared.get("noise", [])),
        )  # fmt: skip
        if entries.units:
            entries = entries.with_units(numbers_shared(shared, "units", len(entries.units)))
        state, rater._taken = rater._state, entries
        if state is None or (state.entries.kinds, state.entries.advantages) != (entries.kinds, entries.advantages):
            rater._reset(dict(zip(values, map(float, numbers))))
            state = rater._begun()
        state.entries = entries
        counted = [int(number) for number in numbers_shared(shared, "contests")]
        state.contests, state.dated = counted[0], len(counted) == 1
        state.known.clock[:] = counted[1:] if len(counted) == 3 else LONG_AGO if latest is None else latest

    def supposed(self) -> dict[Key, int]:
        """Contests that settled names are supposed to have seen."""
        state = self.rater._begun()
        return {state.names[place]: games for place, games in state.unseen.items()}

    def points(self) -> Points:
        """Points from the average of the active, unless ratings to begin with say where they are counted from."""
        return Points(self.rater.initial, POINTS_PER_UNIT, self.rater.start is None)
