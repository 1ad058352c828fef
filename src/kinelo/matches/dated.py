"""What tables of matches and of contests share: rows in order of their days, rejected rows, soundness; and what tells
them apart (:class:`Kind`).

Also how users write one day (:func:`read_day`); columns of dates are read in :mod:`kinelo.matches.dates`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.kinds import Kind, kind_of
from kinelo.model.validation import whole
from kinelo.presentation import counted
from kinelo.runtime.atomic import write_file
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd

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


def check_played(value: object, *, scans: bool = False) -> None:
    """Refuse anything but matches or contests whose columns fit together, and say how to get them."""
    kind_of(value).check(value, scans=scans)


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

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

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

    @property
    def _span(self) -> str:
        """From which day to which, in words; nothing where no day is known."""
        if not self.dated:
            return ""
        first, last = self.date[0], self.date[-1]
        return f"on {first}" if first == last else f"{first} to {last}"

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


@dataclass(frozen=True)
class Condition:
    """One circumstance of every match.

    Attributes
    ----------
    codes
        Codes into ``levels``, -1 where the file says nothing.
    levels
        What the column calls its values, in order of first appearance.

    >>> import kinelo as kn
    >>> table = {"home": list("ABCA"), "away": list("BCAC"), "result": [1, 0, 1, 0.5]}
    >>> table["surface"] = ["clay", "grass", "clay", ""]
    >>> surface = kn.read_matches(table, conditions=["surface"]).conditions["surface"]
    >>> surface.codes.tolist(), surface.levels
    ([0, 1, 0, -1], ('clay', 'grass'))
    """

    codes: NDArray[np.int32]
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, index: slice | NDArray[Any]) -> Condition:
        """The condition of some of the matches; the levels stay as they are."""
        return Condition(self.codes[index], self.levels)

    def names(self) -> pl.Series:
        """The level of each match by name, null where unknown."""
        places = np.where(self.codes < 0, len(self.levels), self.codes)
        return pl.Series([*self.levels, None], dtype=pl.String).gather(places)


MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Rejects:
    """Rejected rows of one reading: ``row`` (from 1), ``reason``, the ``table`` they stood in, and what stood there.

    >>> rejects = Rejects.of("matches", [3, 7], ["missing score", "missing score"])
    >>> len(rejects), rejects.counts()
    (2, {'missing score': 2})
    """

    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    reason: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    table: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    content: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    @classmethod
    def of(cls, table: str, row: object, reason: object, content: object = None) -> Rejects:
        """Rejected rows of one table, with what stands where the reason lies."""
        rows = np.asarray(row, np.int64)
        said = np.full(rows.size, "", object) if content is None else np.asarray(content, object)
        return cls(rows, np.asarray(reason, object), np.full(rows.size, table, object), said)

    def __len__(self) -> int:
        return self.row.size

    def __add__(self, other: Rejects) -> Rejects:
        return Rejects(
            np.concatenate([self.row, other.row]),
            np.concatenate([self.reason, other.reason]),
            np.concatenate([self.table, other.table]),
            np.concatenate([self.content, other.content]),
        )

    def unless_used(self, elsewhere: Rejects) -> Rejects:
        """These without the line-ups that another reading of the same file could use, since it did not reject them.

        >>> here, there = (Rejects.of("lineups", rows, ["unreadable side"] * 2) for rows in ([3, 7], [3, 9]))
        >>> here.unless_used(there).row.tolist()
        [3]
        """
        lineup = self.table == "lineups"
        kept = ~lineup | np.isin(self.row, elsewhere.row[elsewhere.table == "lineups"])
        return Rejects(self.row[kept], self.reason[kept], self.table[kept], self.content[kept])

    def counts(self) -> dict[str, int]:
        """How many rows were rejected for each reason, the most frequent first."""
        reasons, number = np.unique(self.reason.astype(str), return_counts=True)
        order = np.argsort(-number, kind="stable")
        return {str(reasons[k]): int(number[k]) for k in order}

    def in_words(self) -> str:
        """The reasons and how often each holds, with some of what could not be read.

        >>> Rejects.of("matches", [3, 7], ["unreadable date", "missing score"], ["31 Juno", ""]).in_words()
        "missing score: 1, unreadable date: 1 ('31 Juno')"
        """
        return ", ".join(f"{reason}: {number:,}{self._shown(reason)}" for reason, number in self.counts().items())

    def _shown(self, reason: str) -> str:
        said = list(dict.fromkeys(text for text in self.content[self.reason == reason].tolist() if text))
        more = ", …" if len(said) > MOST_EXAMPLES else ""
        return f" ({', '.join(map(repr, said[:MOST_EXAMPLES]))}{more})" if said else ""

    def to_pandas(self) -> pd.DataFrame:
        """The rejected rows as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """The rejected rows as a table."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": self.table.astype(str),
                "row": self.row,
                "reason": self.reason.astype(str),
                "content": self.content.astype(str),
            },
            schema={"table": pl.String, "row": pl.Int64, "reason": pl.String, "content": pl.String},
        )

    def write(self, path: str | Path) -> None:
        """Write the rejected rows to a CSV file."""
        try:
            write_file(path, self.to_polars().write_csv().encode())
        except OSError as error:
            raise InputError(f"The file {path} cannot be written: {(error.strerror or 'failed').lower()}.") from error


DTYPES = {"M": "days", "i": "whole numbers", "f": "numbers", "b": "True or False"}
DAYS = np.dtype("datetime64[D]")
TEXTS = {str, np.str_}
OWN = object()
"""In the place of values: the column of the table that has the name."""


class TableCheck:
    """Says what is wrong with the columns of one table."""

    def __init__(self, what: str, table: Any) -> None:
        self.what, self.table = what, table

    def refuse(self, complaint: str) -> InputError:
        """The sentence that says what does not fit."""
        return InputError(
            f"These {self.what} do not hold together: {complaint}. Read them with kinelo.read_{self.what} instead of "
            "making them by hand."
        )

    def column(self, name: str, kind: str, size: int, values: Any = OWN, dimensions: int = 1) -> Any:
        """An array of so many values of a kind."""
        values = getattr(self.table, name) if values is OWN else values
        if not isinstance(values, np.ndarray) or values.ndim != dimensions or values.dtype.kind != kind:
            raise self.refuse(f"{name} must be an array of {DTYPES[kind]}, not {described(values)}")
        if len(values) != size:
            raise self.refuse(f"{name} has {counted(len(values), 'value', 'values')} where {size:,} are needed")
        return values

    def codes(self, name: str, size: int, names: Any, least: int = 0, values: Any = OWN, dimensions: int = 1) -> Any:
        """Codes into names, from ``least``."""
        if not isinstance(names, tuple | list) or not {*map(type, names)} <= TEXTS:
            raise self.refuse(f"the names of {name} must be a tuple of text, not {described(names)}")
        codes = self.column(name, "i", size, values, dimensions)
        if codes.size and (int(codes.min()) < least or int(codes.max()) >= len(names)):
            worst = int(codes.min()) if int(codes.min()) < least else int(codes.max())
            there = "is 1 name" if len(names) == 1 else f"are {len(names):,} names"
            raise self.refuse(f"{name} holds the code {worst:,}, and there {there}")
        return codes

    def numbers(self, name: str, size: int, least: float, most: float, missing: bool = False) -> None:
        """Numbers between two bounds, NaN among them if some may be missing."""
        values = self.column(name, "f", size)
        sound = (values >= least) & (values <= most)
        if not (sound | np.isnan(values) if missing else sound).all():
            worst = values[~(sound | np.isnan(values) if missing else sound)][0]
            raise self.refuse(f"{name} holds {worst:g}, which is not between {least:g} and {most:g}")

    def bounds(self, name: str, size: int, entries: int, values: Any, least: int) -> None:
        """Where stretches of entries begin and end: from 0 up to all of them, each of ``least`` at least."""
        bounds = self.column(name, "i", size, values)
        if bounds[0] != 0 or bounds[-1] != entries or (np.diff(bounds) < least).any():
            raise self.refuse(f"{name} must rise from 0 to {entries:,}, the number of entries")

    def days(self) -> int:
        """The days, in order; how many there are."""
        date = getattr(self.table, "date", None)
        if not isinstance(date, np.ndarray) or date.ndim != 1 or date.dtype != DAYS:
            raise self.refuse(f"date must be an array of days (datetime64[D]), not {described(date)}")
        if date.size and not ((date >= EARLIEST) & (date < LATEST)).all():
            raise self.refuse(f"date holds {date[~((date >= EARLIEST) & (date < LATEST))][0]}, which is no day of them")
        return date.size


def described(value: Any) -> str:
    """What a value is, where an array was expected.

    >>> described(np.zeros((2, 3))), described("abc")
    ('one of float64 in 2 dimensions', 'str')
    """
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype} in {value.ndim} dimensions"
    return type(value).__name__
