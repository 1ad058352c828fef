"""What a rater knows as rows, one for every slot: how a rating book keeps it, and changes only what a match touches.

A rater whose matches read and write nothing but the slots that take part, and numbers that all share, has ``slots``:
``rows`` gives rows, ``take`` puts rows in, ``shared`` and ``take_shared`` are the numbers beside them. Everything else
of a state follows from the rater's settings. A rater whose slots hang together (a full covariance, one estimate over
all matches) has none, and is kept as a whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kinelo.errors import InputError
from kinelo.raters.stored import FIRST_DAY, LAST_DAY, MOST

Key = tuple[str, str]
"""Kind and name of a slot."""


class SlotRow(NamedTuple):
    """What is known of a slot: mean and variance, matches and last day, and whatever else its rater keeps of it."""

    kind: str
    name: str
    mean: float
    variance: float
    games: int
    last: int
    more: dict[str, Any] | None = None


class Points(NamedTuple):
    """How means become ratings, ``zero + unit · (mean − relative · average)``; ``average`` is that of the active."""

    zero: float
    unit: float
    relative: bool = False


class StoredSlots(ABC):
    """What a book asks of a rater that it keeps row by row."""

    @abstractmethod
    def moves_shared(self, matches: Any) -> bool:
        """Whether using these matches may change what all share."""

    @abstractmethod
    def met(self, matches: Any) -> list[Key]:
        """The slots that matches read and write, each once, in the order in which they would be made."""

    @abstractmethod
    def has(self, key: Key) -> bool:
        """Whether a slot has been made."""

    @abstractmethod
    def rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rows of some slots, or of all in their order."""

    @abstractmethod
    def take(self, rows: Iterable[SlotRow]) -> None:
        """Put rows in; slots that are new are made, in order."""

    @abstractmethod
    def shared(self) -> dict[str, Any]:
        """What all share, as JSON can keep it."""

    @abstractmethod
    def take_shared(self, shared: dict[str, Any], latest: int | None) -> None:
        """Take over what all share; ``latest`` is the day of the last match, None where any day may come next."""

    @abstractmethod
    def supposed(self) -> dict[Key, int]:
        """Matches that those who begin with a rating are only supposed to have played."""

    @abstractmethod
    def points(self) -> Points:
        """How means are shown as ratings."""


def check_rows(rows: Iterable[SlotRow]) -> None:
    """Refuse rows that hold what no rater stores.

    >>> check_rows([SlotRow("side", "A", 1500.0, -1.0, 0, 0)])
    Traceback (most recent call last):
    kinelo.errors.InputError: The row of 'A' in the table slot holds what no rater stores.
    """
    for row in rows:
        numbers = isinstance(row.mean, float) and isinstance(row.variance, float)
        whole = isinstance(row.games, int) and isinstance(row.last, int) and isinstance(row.name, str)
        sound = numbers and whole and isinstance(row.more, dict | None) and -MOST <= row.mean <= MOST
        if not (sound and 0.0 <= row.variance <= MOST and 0 <= row.games < 2**62 and FIRST_DAY <= row.last < LAST_DAY):
            raise InputError(f"The row of {row.name!r:.60} in the table slot holds what no rater stores.")


def stored_number(more: dict[str, Any], name: str, default: float, low: float) -> float:
    """A further number of a row; refused where it is none."""
    value = more.get(name, default)
    if type(value) not in (int, float) or not max(low, -MOST) <= value <= MOST:
        raise InputError(f"{name!r} of a row in the table slot is no number that its rater stores.")
    return value


def numbers_shared(kept: dict[str, Any], name: str, length: int | None = None) -> list[float]:
    """A list of numbers that all share; refused where it is none."""
    values = kept.get(name)
    if (
        not isinstance(values, list)
        or not all(type(value) in (int, float) and abs(value) <= MOST for value in values)
        or (length is not None and len(values) != length)
    ):
        raise InputError(f"{name!r} in the table common is not what its rater stores.")
    return values


def texts_shared(kept: dict[str, Any], name: str) -> list[str]:
    """A list of texts that all share; refused where it is none."""
    values = kept.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{name!r} in the table common is not what its rater stores.")
    return values
