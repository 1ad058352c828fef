"""Names of matches that come in pieces: codes go on from piece to piece.

Whole numbers are told apart by a table, plain text by its hashes, anything else by its letters.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.names import NO_NAMES, HashedCodes, clean_name, hand_out_numbers


class RunningNames:
    """Names met so far, in order of first appearance, and their codes.

    >>> names = RunningNames()
    >>> [side.tolist() for side in names.codes_of_numbers(np.array([7, 7]), np.array([5, 9]), largest=9)]
    [[0, 0], [1, 2]]
    >>> names.codes(["5", "b"]).tolist(), names.teams
    ([1, 3], ('7', '5', '9', 'b'))
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.ways: set[str] = set()
        self.table = np.empty(0, np.int32)
        self.hashes = HashedCodes()
        self._teams: tuple[str, ...] = ()

    @property
    def teams(self) -> tuple[str, ...]:
        """All names so far; the same tuple until there are more."""
        if len(self._teams) < len(self.names):
            self._teams = tuple(self.names)
        return self._teams

    def codes(self, names: list[str]) -> NDArray[np.int32]:
        """Codes of distinct names, new ones added."""
        self.ways.add("names")
        return self._looked_up(names)

    def enter(self, names: list[str], way: str) -> NDArray[np.int32]:
        """Codes of distinct names that this way of telling names apart has not met; other ways may have."""
        self.ways.add(way)
        if len(self.ways) > 1:
            return self._looked_up(names)
        self.names += names
        return np.arange(len(self.names) - len(names), len(self.names), dtype=np.int32)

    def _looked_up(self, names: list[str]) -> NDArray[np.int32]:
        # Files of one kind never need the names by their letters, so that the index is made when another kind comes.
        begin, index = len(self.names), self.index
        index.update(zip(self.names[len(index) :], range(len(index), begin)))
        found = np.array([index.setdefault(name, len(index)) for name in names], np.int32)
        self.names += [name for name, code in zip(names, found.tolist()) if code >= begin]
        return found

    def codes_of_numbers(
        self, home: NDArray[np.int64], away: NDArray[np.int64], largest: int
    ) -> list[NDArray[np.int32]]:
        """Codes of names that are whole numbers up to ``largest``."""
        if largest >= self.table.size:
            grown = np.full(max(largest + 1, 2 * self.table.size), -1, np.int32)
            grown[: self.table.size] = self.table
            self.table = grown
        codes = [np.empty(home.size, np.int32), np.empty(away.size, np.int32)]
        fresh, begin, new = np.empty(home.size + away.size, np.int64), len(self.names), 0
        for numbers, found in zip((home, away), codes):
            new = hand_out_numbers(numbers, self.table, found, fresh, begin, new)
        if new:
            entered = self.enter(pl.Series(fresh[:new]).cast(pl.String).to_list(), "numbers")
            if len(self.ways) > 1:
                self.table[fresh[:new]] = entered
                codes = [self.table[home], self.table[away]]
        return codes

    def codes_of_text(self, both: pl.Series) -> NDArray[np.int32] | None:
        """Codes of names in text without blanks around them; None where a new one is no plain name."""
        fresh = self.hashes.new_rows(both)
        if fresh.size:
            new = both.gather(fresh)
            if not _plain_names(new):
                return None
            self.hashes.enter(new, self.enter(new.to_list(), "text"))
        return self.hashes.codes(both)


def _plain_names(names: pl.Series) -> bool:
    """Whether every name would be read as it stands: no blanks around it, not empty, no word that stands for none."""
    odd = (names.str.strip_chars() != names) | (names == "") | names.str.to_lowercase().is_in(list(NO_NAMES))
    odd |= pl.Series([clean_name(name) != name for name in names.to_list()], dtype=pl.Boolean)
    return not bool(odd.any()) and not bool(names.str.ends_with(".0").any())
