"""What tables of matches and of contests share: rows in order of their days, and a fingerprint of their columns.

Also how users write one day (:func:`read_day`); columns of dates are read in :mod:`kinelo.matches.dates`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.kind import Kind
from kinelo.model.validation import whole

if TYPE_CHECKING:
    from kinelo.matches.conditions import Condition

Day = str | np.datetime64
UNDATED = np.datetime64("1970-01-01", "D")
"""The day of every match of a table without dates."""

EARLIEST, LATEST = np.datetime64("1700-01-01", "D"), np.datetime64("2200-01-01", "D")
"""Days before and after these are no days of matches."""


FIRST_ORDINAL = UNDATED.item().toordinal()
NOT_YET = -(2**62)
"""In the place of a day: there was none yet."""

YEARS_BETWEEN = 10
"""Years after all others beyond which a result in the future is a slip."""


def read_day(date: Day) -> np.datetime64:
    """A day as users write it.

    >>> read_day("2005-01-31")
    np.datetime64('2005-01-31')
    >>> read_day("last May")
    Traceback (most recent call last):
    kinelo.errors.InputError: 'last May' is not a date; write it as year-month-day, for example '2005-01-31'.
    """
    if isinstance(date, str):
        return _day_of_text(date)
    return _checked_day(date)


def day_number(day: np.datetime64) -> int:
    """The number of a day, counted from 1970, in half the time that a cast takes.

    >>> day_number(np.datetime64("1970-01-03"))
    2
    """
    return cast("datetime.date", day.item()).toordinal() - FIRST_ORDINAL


@lru_cache(1024)
def _day_of_text(date: str) -> np.datetime64:
    """A day that is written as text, remembered: a service asks about today all day."""
    return _checked_day(date)


def _checked_day(date: Day) -> np.datetime64:
    try:
        day = np.datetime64(date).astype("datetime64[D]")
    except (ValueError, TypeError, OverflowError):
        day = np.datetime64("NaT")
    if np.isnat(day) or not EARLIEST <= day < LATEST:
        shown = repr(date) if len(repr(date)) < 80 else f"{repr(date)[:60]}…"
        raise InputError(f"{shown} is not a date; write it as year-month-day, for example '2005-01-31'.")
    return day


def refuse_far_ahead(days: NDArray[np.int64], latest: int, rows: NDArray[np.int64] | None = None) -> None:
    """Refuse results of a day years from now that lies years after all others: one slip in a year, such as 2199 for
    1999, and every match to come would be an earlier one.

    ``latest`` is the last day before these, if there was one; ``rows`` says in which row of a file each stands. Leagues
    that were made up may play whenever they like, as long as their days follow one another.

    >>> refuse_far_ahead(np.array([19_000, 83_700]), 18_900)
    Traceback (most recent call last):
    kinelo.errors.InputError: A result of 2199-03-01 lies 177 years after the one before it, and in the future. Is the \
year right? Correct the date; nothing was changed.
    """
    soon = int(np.datetime64("today", "D").astype(np.int64)) + 366
    if not days.size or int(days.max()) <= soon:
        return
    ahead = int(days[days > soon].min())
    before = max(latest, int(days[days <= soon].max(initial=latest)))
    if before >= int(EARLIEST.astype(np.int64)) and ahead - before > YEARS_BETWEEN * 365.25:
        where = "" if rows is None else f" (row {rows[np.argmax(days == ahead)]:,})"
        raise InputError(
            f"A result of {np.datetime64(ahead, 'D')}{where} lies {(ahead - before) / 365.25:.0f} years after the one "
            "before it, and in the future. Is the year right? Correct the date; nothing was changed."
        )


class DatedTable:
    """Rows in order of ``date``, which are never changed."""

    kind: ClassVar[Kind]
    in_memory: ClassVar[bool] = True

    date: NDArray[np.datetime64]

    @property
    def outcome(self) -> NDArray[np.float64]:
        """What came of it, of every match or entry: NaN where it is still to come."""
        raise NotImplementedError

    @property
    def present(self) -> list[str]:
        """Names of those who take part; a rejected row may name others."""
        raise NotImplementedError

    def _named(self, row: int) -> str:
        """A match or a contest as a sentence names it, with its day."""
        raise NotImplementedError

    @property
    def _keys(self) -> NDArray[np.str_]:
        """What each match or contest goes by: its identifier, or the number of its row."""
        raise NotImplementedError

    @property
    def _took_place(self) -> NDArray[np.bool_]:
        """Which matches or contests have a result."""
        raise NotImplementedError

    @property
    def _events(self) -> list[tuple[object, ...]]:
        """What tells a match or a contest from others in another table: its day, and who meets or its name."""
        raise NotImplementedError

    def _level_of(self, column: str) -> Condition:
        """The value of a column for each match or contest."""
        raise NotImplementedError

    def _without(self, column: str) -> Self:
        """The same for raters that are not to know a column."""
        return self

    def _line(self, row: int) -> str:
        """One line for a match or a contest, between tabs."""
        raise NotImplementedError

    @property
    def _appearing(self) -> list[str]:
        """Names of those who take part, in the order in which they first do."""
        raise NotImplementedError

    def _first_wins(self, *, neutral: bool) -> tuple[int, float]:
        """Decided matches at home or on neutral ground, and the share of them that the side named first won."""
        return 0, 0.0

    def _when(self, row: int) -> str:
        return f"of {self.date[row]}" if self.dated else "without a date"

    def plays(self, name: str) -> NDArray[np.bool_]:
        """In which rows somebody takes part; in none where nobody is called so."""
        raise NotImplementedError

    def collect(self) -> Self:
        """The table itself, as a scan gives its matches."""
        return self

    def latest(self, most: int) -> Self:
        """The last rows, at most so many."""
        return self[-whole("most", most, 1) :]

    def __len__(self) -> int:
        return self.date.size

    def __getitem__(self, index: Any) -> Self:
        """Some of the rows."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int]:
        """Number of rows, as arrays say it: scikit-learn splits by it."""
        return (len(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The table itself: it is never changed, and a rater that remembers it is copied often."""
        return self

    @cached_property
    def dated(self) -> bool:
        """Whether the table says when its rows took place; without dates they count in its order."""
        return bool(np.any(self.date != UNDATED))

    @cached_property
    def day(self) -> NDArray[np.int64]:
        """Days since 1970-01-01 as integers."""
        return self.date.view(np.int64)

    def before(self, date: Day) -> Self:
        """What took place strictly before a day."""
        return self[: self._place(date)]

    def since(self, date: Day) -> Self:
        """What took place on a day or after it."""
        return self[self._place(date) :]

    def between(self, first: Day, last: Day) -> Self:
        """What took place from the day ``first`` up to, not including, the day ``last``."""
        return self[self._place(first) : self._place(last)]

    def _place(self, date: Day) -> int:
        return int(np.searchsorted(self.date, read_day(date), side="left"))


def digest_of(columns: Iterable[NDArray[Any]], texts: Iterable[Iterable[str]]) -> str:
    """Hexadecimal digest over columns of numbers and lists of words.

    >>> digest_of([np.array([1.0, np.nan])], [["A", "B"]]) == digest_of([np.array([1.0, -np.nan])], [["A", "B"]])
    True
    >>> digest_of([np.array([1.0])], [["A", "B"]]) == digest_of([np.array([1.0])], [["AB"]])
    False
    """
    total = blake2b(digest_size=16)
    for column in columns:
        if column.dtype.kind == "f":
            column = column + 0.0  # one zero and one NaN, however they came about
            column[np.isnan(column)] = np.nan
        total.update(np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False)).data)
    for words in texts:
        total.update(b"\x1d".join(word.encode("utf-8", "surrogatepass") for word in words) + b"\x1c")
    return total.hexdigest()
