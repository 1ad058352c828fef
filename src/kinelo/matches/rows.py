"""What each row of a table says, and what is wrong with it, if anything: what matches and contests share.

Rows that were understood and left out on purpose are no losses: matches still to come, who did not start, repeats that
the user wants dropped. Nor are empty rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.dated import NOT_YET, Condition, Rejects, refuse_far_ahead
from kinelo.matches.dates import WEEKDAY_COLUMNS, DateOrder, read_dates, with_weekdays
from kinelo.matches.names import read_numbers, spelt_alike

Scale = Literal["points", "signed"]

Codes = NDArray[np.int32]
EMPTY = -1
"""Fault of a row that says nothing of its own: it is neither used nor a reject."""


class TableRows:
    """Rows of a table, right or wrong: which column means what, what is wrong with each row, and what was noticed."""

    reasons: ClassVar[tuple[str, ...]]
    noun: ClassVar[str]
    side: ClassVar[str]

    table: pl.DataFrame
    found: dict[str, str]
    options: Any
    date: NDArray[np.datetime64]
    fault: NDArray[np.int8]
    notes: list[str]

    @property
    def good(self) -> NDArray[np.bool_]:
        """Rows nothing is wrong with so far."""
        return self.fault == 0

    def named(self, name: str) -> bool:
        """Whether the user said which column holds this."""
        return name in (self.options.columns or {})

    def reject(self, wrong: NDArray[np.bool_], reason: str) -> int:
        """Mark rows as unusable, and say how many; the first reason found for a row is the one that is reported."""
        if not wrong.any():
            return 0
        new = wrong & self.good
        self.fault[new] = self.reasons.index(reason)
        return int(new.sum())

    def begin(self, broken: Mapping[int, str], nameless: NDArray[np.bool_]) -> None:
        """Mark lines that could not be read, and of the rows without a name those in which nothing stands."""
        for row, reason in broken.items():
            self.fault[row] = self.reasons.index(reason)
        at = np.flatnonzero(nameless & self.good)
        if at.size:
            blank = [_blank(name, kind) for name, kind in self.table.schema.items()]
            nothing = self.table.select(pl.all().gather(at)).select(pl.all_horizontal(blank)).to_series()
            self.fault[at[nothing.to_numpy()]] = EMPTY

    def read_days(self) -> None:
        """Read the column of dates, cell by cell, and say how."""
        if "date" not in self.found:
            self.notes.append(f"there is no date column: {self.noun} count in the order of the file")
            return
        dates = self.table[self.found["date"]]
        for column in self.table.columns:
            if plain_name(column) in WEEKDAY_COLUMNS and column not in self.found.values():
                beside = with_weekdays(dates, self.table[column])
                if beside is not None:
                    dates, self.found["weekday"] = beside, column
                    break
        read = read_dates(dates, self.options.dates, played=self.options.played)
        self.date = read.days
        if read.form is not None and read.form != "%Y-%m-%d":
            self.notes.append(f"dates were read in the format {read.form}")
        self.notes += read.notes
        self.reject(np.isnat(self.date), "unreadable date")

    def ask_about_years(self, played: NDArray[np.bool_], row: NDArray[np.int64]) -> None:
        """Refuse a year typed wrong: a result years from now, and years after all others (``row`` counts from 1)."""
        at = np.flatnonzero(self.good & played)
        refuse_far_ahead(self.date[at].astype("datetime64[D]").view(np.int64), NOT_YET, row[at])

    def rename(self, *kinds: tuple[Sequence[Codes], tuple[str, ...]]) -> list[tuple[list[Codes], tuple[str, ...]]]:
        """Kinds of names (columns of codes, and what they stand for) under their aliases, which may join some."""
        aliases: Mapping[str, str] = self.options.aliases
        if not aliases:
            return [(list(columns), names) for columns, names in kinds]
        used = list(dict.fromkeys(name for _, names in kinds for name in names if name in aliases))
        self.notes.append(f"{len(used):,} names were replaced by their aliases: {listed_names(used)}")
        if unused := sorted(set(aliases) - set(used)):
            self.notes.append(f"{len(unused):,} aliases met no name: {listed_names(unused)}")
        renamed = []
        for columns, names in kinds:
            index: dict[str, int] = {}
            new = np.array([*(index.setdefault(aliases.get(name, name), len(index)) for name in names), -1], np.int32)
            renamed.append(([new[codes] for codes in columns], tuple(index)))
        return renamed

    def note_handles(self, names: tuple[str, ...], handles: NDArray[np.bool_]) -> None:
        """Say which words that often stand for none are taken for the names that they may be."""
        for code in np.flatnonzero(handles).tolist():
            self.notes.append(
                f"{names[code]!r} stands where names stand and counts as one; leave the cell empty where there is none"
            )

    def note_spelling(self, names: tuple[str, ...]) -> None:
        """Say which names differ in so little that they may be one."""
        if alike := spelt_alike(names):
            shown = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
            more = f" and {len(alike) - 3:,} more" if len(alike) > 3 else ""
            self.notes.append(
                f"names that differ only in case, blanks or accents count as different {self.side}s ({shown}{more}); "
                "aliases= joins them"
            )


def listed_names(names: Sequence[str], most: int = 8) -> str:
    """Names for a note; of many, the first."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "") if names else "none"


def _blank(name: str, kind: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    return column.is_null() | (column.str.strip_chars() == "") if kind == pl.String else column.is_null()


def with_group(
    columns: Sequence[Codes], names: tuple[str, ...], level: Codes, levels: tuple[str, ...]
) -> tuple[list[Codes], tuple[str, ...]]:
    """Names with the level of their row added, so that one name in two groups is two.

    >>> codes, names = with_group([np.array([0, 0, 1])], ("Ajax", "PSV"), np.array([0, 1, -1]), ("men", "women"))
    >>> codes[0].tolist(), names
    ([0, 1, 2], ('Ajax (men)', 'Ajax (women)', 'PSV'))
    """
    index: dict[tuple[int, int], int] = {}
    codes = []
    for column in columns:
        pairs, place = np.unique(np.column_stack([column, level]), axis=0, return_inverse=True)
        code = [-1 if a < 0 else index.setdefault((int(a), int(b)), len(index)) for a, b in pairs]
        codes.append(np.array(code, np.int32)[place.ravel()])
    return codes, tuple(names[a] if b < 0 else f"{names[a]} ({levels[b]})" for a, b in index)


MANY_LOST = 0.05
"""Share of rows lost above which it is said before anything else."""

MOST_LOST = 0.5
"""Share above which nothing is answered unless the user accepts it."""

NOT_LOST = (
    "did not start", "disqualified", "did not finish", "place given by redress", "duplicate row",
    "match not played yet", "contest not over yet",
)  # fmt: skip
"""Reasons of rows that were understood, and left out on purpose."""

NO_RESULT = ("missing score", "missing result", "missing place")


class NoMatches(InputError):
    """No row of a table can be used, or too few; ``rejected`` says why of each."""

    def __init__(self, words: str, rejected: Rejects) -> None:
        super().__init__(words)
        self.rejected = rejected


def check_losses(rows: TableRows, rejected: Rejects, at: NDArray[np.int64], name: str) -> None:
    """Put a note of many losses before all others; refuse a table most of whose rows are lost, unless accepted.

    ``at`` says where in the table each of the rejected rows stands.
    """
    used = np.flatnonzero(rows.good)
    lost = ~np.isin(rejected.reason.astype(str), NOT_LOST) & ~_to_come(rows, rejected, at, used)
    number, total = int(lost.sum()), int(lost.sum()) + used.size
    if number <= MANY_LOST * total:
        return
    reasons, counts = np.unique(rejected.reason[lost].astype(str), return_counts=True)
    reason = str(reasons[np.argmax(counts)])
    first = int(np.flatnonzero(lost & (rejected.reason == reason))[0])
    content = f"{rejected.content[first]!r} in " if rejected.content[first] else ""
    words = (
        f"{number:,} of {total:,} rows ({number / total:.0%}) cannot be used, {int(counts.max()):,} of them for: "
        f"{reason}, such as {content}row {rejected.row[first]:,}"
    ).replace("%)", " %)")
    if number > MOST_LOST * total and not rows.options.accept_losses:
        raise NoMatches(
            f"Most of {name} is lost: {words}. Mend the file, or say which column means what with columns={{...}}; "
            "accept_losses=True goes on with the rest.",
            rejected,
        )
    rows.notes.insert(0, words)


def _to_come(rows: TableRows, rejected: Rejects, at: NDArray[np.int64], used: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rejects without a result that lie after all that is used, by date or, without dates, in the file."""
    blank = np.isin(rejected.reason.astype(str), NO_RESULT)
    if not used.size or not blank.any():
        return np.zeros(len(rejected), bool)
    later = at > used[-1]
    return blank & (later if "date" not in rows.found else rows.date[at] >= rows.date[used].max())


REASONS = (
    "",
    "stray quote in the line",
    "more fields than columns",
    "unreadable line",
    "missing side",
    "a name that stands for none",
    "a side against itself",
    "unreadable date",
    "forfeit or awarded match",
    "match not played to its end",
    "match not played yet",
    "missing result",
    "missing score",
    "unreadable result",
    "unreadable score",
    "a score that became a date",
    "impossible score",
    "impossible margin",
    "impossible result",
    "impossible weight",
    "missing match id",
    "duplicate match id",
    "duplicate row",
    "not two rows of one match",
)

SLOTS = 4096
"""Slots of the table in which meetings of one day are looked up."""


@dataclass(frozen=True)
class MatchOptions:
    """What the user of :func:`kinelo.read_matches` asked for."""

    columns: Mapping[str, str] | None = None
    played: bool = True
    results: Scale | None = None
    conditions: Sequence[str] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    drop_repeats: bool = False
    ordered: bool = False
    dates: DateOrder | None = None
    accept_losses: bool = False
    endings: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Rows(TableRows):
    """The columns of a table of matches, one value per row of the file, right or wrong."""

    reasons: ClassVar[tuple[str, ...]] = REASONS
    noun: ClassVar[str] = "matches"
    side: ClassVar[str] = "side"

    table: pl.DataFrame
    found: dict[str, str]
    home: NDArray[np.int32]
    away: NDArray[np.int32]
    teams: tuple[str, ...]
    date: NDArray[np.datetime64]
    result: NDArray[np.float64]
    margin: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    weight: NDArray[np.float64]
    fault: NDArray[np.int8]
    identifiers: pl.Series | None
    options: MatchOptions
    conditions: dict[str, Condition] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    winners_first: bool = False
    turned: NDArray[np.bool_] | None = None
    order: NDArray[np.int64] | slice = field(default_factory=lambda: slice(None))
    unordered: NDArray[np.bool_] | None = None
    order_columns: tuple[str, ...] = ()
    status_columns: tuple[str, ...] = ()
    to_come: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Numbers of the column that holds this, with a note where it had to be decided how to read them."""
        return read_numbers(self.table[self.found[name]], self.notes)


@njit(cache=True, nogil=True)
def _mark_by_day(day, home, away, repeated, slot_run, slot_pair, slot_row):
    """Mark repeats with a small hash table for the pairs of one day, which the next day takes over as it stands.

    Gives up with False where days are out of order or one has too many matches for the table. ``day``, ``home``,
    ``away`` (int) and ``repeated`` (bool) are (matches); ``slot_…`` (int64) are the table, a power of two long.
    """
    mask = slot_run.size - 1
    run = 1
    today = 0
    for k in range(day.size):
        if k > 0 and day[k] < day[k - 1]:
            return False
        if k > 0 and day[k] > day[k - 1]:
            run += 1
            today = 0
        today += 1
        if 2 * today > slot_run.size:
            return False
        pair = (np.int64(home[k]) << 32) + away[k]
        at = ((pair * 0x9E3779B1) >> 20) & mask
        while slot_run[at] == run and slot_pair[at] != pair:
            at = (at + 1) & mask
        if slot_run[at] == run:
            repeated[k] = True
            repeated[slot_row[at]] = True
        else:
            slot_run[at] = run
            slot_pair[at] = pair
            slot_row[at] = k
    return True


def repeated_meetings(
    day: NDArray[np.int64], home: NDArray[np.int32], away: NDArray[np.int32], sides: int
) -> NDArray[np.bool_]:
    """Whether another row has the same day and the same sides at home and away.

    >>> repeated_meetings(np.array([1, 1, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2).tolist()
    [True, False, True, False]
    """
    repeated = np.zeros(day.size, bool)
    slots = np.zeros((3, SLOTS), np.int64)
    if _mark_by_day(day, home, away, repeated, slots[0], slots[1], slots[2]):
        return repeated
    size = np.int64(sides + 1)
    key = (day * size + home) * size + away
    ordered = np.sort(key)
    return np.isin(key, ordered[1:][ordered[1:] == ordered[:-1]])


Best = Literal["lowest", "highest"]

Kept = Literal["behind", "last", "out"]
KEPT = get_args(Kept)

CONTEST_REASONS = (
    "",
    "stray quote in the line",
    "more fields than columns",
    "unreadable line",
    "missing entrant",
    "a name that stands for none",
    "missing slot",
    "missing contest",
    "unreadable date",
    "missing place",
    "unreadable place",
    "contest not over yet",
    "impossible weight",
    "entrant twice in one contest",
    "team-mates with different places",
    "place given by redress",
    "only one entrant in the contest",
    "did not start",
    "disqualified",
    "did not finish",
)


@dataclass(frozen=True)
class ContestOptions:
    """What the user of :func:`kinelo.read_contests` asked for."""

    columns: Mapping[str, Any] | None = None
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    team: str | None = None
    best: Best | None = None
    unfinished: Kept = "behind"
    disqualified: Kept = "out"
    not_started: Kept = "out"
    played: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)
    advantages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dates: DateOrder | None = None
    endings: Mapping[str, int] = field(default_factory=dict)
    accept_losses: bool = False


@dataclass
class ContestRows(TableRows):
    """The columns of a long table, one value per row of the file, right or wrong.

    ``row`` is the row of the file (from 0) from which each comes: a wide sheet has several in one. ``events`` are the
    contests before those of several days with the same entrants were parted, None where none was.
    """

    reasons: ClassVar[tuple[str, ...]] = CONTEST_REASONS
    noun: ClassVar[str] = "contests"
    side: ClassVar[str] = "entrant"

    table: pl.DataFrame
    found: dict[str, str]
    options: ContestOptions
    entrant: NDArray[np.int32]
    entrants: tuple[str, ...]
    slots: dict[str, tuple[NDArray[np.int32], tuple[str, ...]]]
    fault: NDArray[np.int8]
    notes: list[str]
    date: NDArray[np.datetime64]
    contest: NDArray[np.int64]
    value: NDArray[np.float64]
    ended: NDArray[np.int8]
    weight: NDArray[np.float64]
    distance: NDArray[np.float64] | None = None
    identifiers: tuple[str, ...] = ()
    events: NDArray[np.int64] | None = None
    titles: tuple[str, ...] | None = None
    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    kind: str = ""
    order_columns: tuple[str, ...] = ()

    @property
    def outcome(self) -> str | None:
        """The column that says how entrants ended."""
        return self.found.get(self.kind)
