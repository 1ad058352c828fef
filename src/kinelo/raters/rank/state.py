"""What a rater of contests knows: a belief for every slot, by kind and name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.raters.filter.alone import Slots
from kinelo.raters.random_walk import LONG_AGO
from kinelo.raters.rank.kernels import ContestColumns
from kinelo.raters.state import LEAST_ROOM, NEVER
from kinelo.raters.stored import FIRST_DAY, LAST_DAY, stored, stored_names

SEPARATOR = "\x1f"
DAYS_APART = 7
"""How far apart contests without dates are taken to be."""


class RankState:
    """Beliefs of the filter (``known``), and the slot of every name of every kind."""

    def __init__(self, kinds: tuple[str, ...], advantages: tuple[str, ...] = ()) -> None:
        self.kinds, self.advantages = kinds, advantages
        self.names: list[tuple[str, str]] = []
        self.index: dict[tuple[str, str], int] = {}
        self.contests = 0
        self.dated = False
        self.known = Slots(
            np.zeros((0, 1)), np.zeros((0, 1)), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8),
            np.full(2, LONG_AGO, np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.names)

    def _grow(self) -> None:
        room = self.known.last.size
        if len(self) > room:
            extra = max(len(self), room + room // 2, LEAST_ROOM) - room
            known = self.known
            self.known = Slots(
                np.pad(known.x, ((0, extra), (0, 0))),
                np.pad(known.v, ((0, extra), (0, 0))),
                np.pad(known.last, (0, extra), constant_values=NEVER),
                np.pad(known.games, (0, extra)),
                np.pad(known.kind, (0, extra)),
                known.clock,
            )

    def columns(self, contests: Contests, admit: bool) -> tuple[ContestColumns, tuple[str, ...]]:
        """Contests as loops take them, and names never met; those are given slots where they are admitted."""
        if (contests.kinds, contests.advantages) != (self.kinds, self.advantages):
            raise InputError(
                f"These contests rate {', '.join(contests.kinds)}, but the rater {', '.join(self.kinds) or 'nothing'}; "
                "read them with the same slots= and advantages=."
            )
        tables, unknown = [], []
        for number, (kind, slots) in enumerate(contests.slots.items()):
            places = np.full(len(slots.names) + 1, -1 - number, np.int64)
            for code in _in_order(slots.codes):
                key = kind, slots.names[code]
                place = self.index.get(key)
                if not slots.advantage and (place is None or self.known.games[place] == 0):
                    unknown.append(slots.names[code])
                if place is None and admit:
                    place = self.index[key] = len(self.names)
                    self.names.append(key)
                    self._grow()
                    self.known.kind[place] = number
                if place is not None:
                    places[code] = place
            tables.append((slots.codes, places))
        codes = np.hstack([codes for codes, _ in tables])
        there = codes >= 0
        slot = np.hstack([places[codes] for codes, places in tables])[there]
        share = np.hstack([1.0 / np.maximum((c >= 0).sum(axis=1, keepdims=True), 1) + 0.0 * c for c, _ in tables])
        offsets = np.append(0, np.cumsum(there.sum(axis=1)))
        day = self._days(contests)
        columns = ContestColumns(
            contests.first, day, contests.weight, contests.place, contests.ended, offsets, slot, share[there]
        )
        return columns, tuple(unknown)

    def _days(self, contests: Contests) -> NDArray[np.int64]:
        """Days of contests; those without dates follow one another at equal distances."""
        if contests.dated:
            self.dated = True
            return contests.day
        if self.dated:
            return np.full(len(contests), self.known.clock[1])
        return DAYS_APART * (self.contests + np.arange(len(contests), dtype=np.int64))

    def to_arrays(self) -> dict[str, NDArray]:
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
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> RankState:
        """What :meth:`to_arrays` gave."""
        kinds, advantages = (tuple(k for k in arrays[name].tolist() if k) for name in ("kinds", "advantages"))
        state = cls(kinds, advantages)
        pairs = [name.split(SEPARATOR, 1) for name in stored_names(arrays, "names") if name]
        state.names = [(kind, name) for kind, name in pairs]
        state.index = {key: place for place, key in enumerate(state.names)}
        state.contests, dated = (int(value) for value in arrays["contests"])
        state.dated = bool(dated)
        size = len(state.names)
        if len(state.index) < size or not {kind for kind, _ in state.names} <= set(state.kinds):
            raise InputError("The array 'names' of a stored state must hold names of its kinds, each of them once.")
        state.known = Slots(
            stored(arrays, "x", "f", (size, 1)), stored(arrays, "v", "f", (size, 1), 0),
            stored(arrays, "last", "i", (size,), FIRST_DAY, LAST_DAY), stored(arrays, "games", "i", (size,), 0),
            stored(arrays, "kind", "i", (size,), 0, len(state.kinds)),
            stored(arrays, "clock", "i", (2,), FIRST_DAY, LAST_DAY),
        )  # fmt: skip
        return state


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance."""
    known = codes[codes >= 0]
    values, first = np.unique(known, return_index=True)
    return values[np.argsort(first)].tolist()
