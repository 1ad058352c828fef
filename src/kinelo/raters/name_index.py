"""Names and their places: what ties the codes of one table to the ratings kept from another."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import KineloWarning

MOST_NAMED = 5
"""Names that a warning lists."""

numbers_in = re.compile(r"\d+").findall


def nearest_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Names that one which is not among them may stand for, the likeliest first.

    >>> nearest_names("brasil", ["Brazil", "Spain", "Basel"])
    ['Brazil']
    """
    plain = {known.casefold(): known for known in names}
    return [plain[key] for key in get_close_matches(name.casefold(), plain, n=most, cutoff=0.75)]


def warn_of_misspelt(unknown: tuple[str, ...], names: Iterable[str]) -> None:
    """Warn of names never met that are nearly those of others; another number makes another name, not a slip."""
    if not unknown:
        return
    known = set(names).difference(unknown)
    warned = []
    for name in unknown[:MOST_NAMED]:
        near = [other for other in nearest_names(name, sorted(known)) if numbers_in(other) == numbers_in(name)]
        if near:
            warned.append(f"{name} has never played and is forecast as a newcomer; did you mean {' or '.join(near)}?")
    if warned:
        warnings.warn(" ".join(warned), KineloWarning, stacklevel=3)


class NameIndex:
    """Names met so far, in order of first appearance, and their places.

    >>> name_index = NameIndex()
    >>> name_index.places(("b", "a")).tolist(), name_index.places(("a", "c")).tolist(), name_index.names
    ([0, 1], [1, 2], ['b', 'a', 'c'])
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self._last: tuple[str, ...] | None = None
        self._last_places = np.empty(0, np.int32)
        self._last_in_order = False

    def __len__(self) -> int:
        return len(self.names)

    def place(self, name: str) -> int:
        """Place of one name, added if it is new."""
        at = self.index.setdefault(name, len(self.names))
        if at == len(self.names):
            self.names.append(name)
        return at

    def places(self, names: tuple[str, ...]) -> NDArray[np.int32]:
        """Places of many names, new ones added; asking again for the same tuple costs nothing."""
        if len(names) <= 2:  # one match: to remember it would cost more
            return np.array([self.place(name) for name in names], np.int32)
        if names is not self._last and self._grown_from_last(names):
            fresh = self._add(names[len(self._last_places) :])
            self._last_places = np.concatenate([self._last_places, fresh])
            self._last_in_order = bool(np.array_equal(fresh, np.arange(len(names) - fresh.size, len(names))))
            self._last = names
        if names is not self._last:
            self._last_places = self._add(names)
            self._last = names
            self._last_in_order = bool(np.array_equal(self._last_places, np.arange(len(names))))
        return self._last_places

    def _add(self, names: tuple[str, ...]) -> NDArray[np.int32]:
        """Places of names, new ones added; many at once where all of them are new."""
        begin = len(self.names)
        fresh = dict(zip(names, range(begin, begin + len(names))))
        if len(fresh) < len(names) or not self.index.keys().isdisjoint(fresh):
            return np.fromiter(map(self.place, names), np.int32, len(names))
        if self.index:
            self.index |= fresh
        else:
            self.index = fresh
        self.names.extend(names)
        return np.arange(begin, begin + len(names), dtype=np.int32)

    def _grown_from_last(self, names: tuple[str, ...]) -> bool:
        """Whether these are the names asked for last, in order, and perhaps more: only those are looked up then."""
        last = self._last
        return last is not None and self._last_in_order and names[: len(last)] == last

    def in_order(self, names: tuple[str, ...]) -> bool:
        """Whether the names asked for last stand at the places 0, 1, 2, ..."""
        return names is self._last and self._last_in_order

    def find(self, names: Sequence[str], codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Places of ``names[codes]`` without adding any; -1 for a name never met.

        Few codes are looked up one by one: one match of a long table costs what one match costs.
        """
        index = self.index
        if codes.size < len(names):
            few: list[int] = codes.tolist()
            return np.fromiter((index.get(names[code], -1) for code in few), np.int32, codes.size)
        return np.fromiter((index.get(name, -1) for name in names), np.int32, len(names))[codes]
