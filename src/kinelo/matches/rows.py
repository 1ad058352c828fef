"""What each row of a table says, and what is wrong with it, if anything: what matches and contests share.

Rows that were understood and left out on purpose are no losses: matches still to come, who did not start, repeats that
the user wants dropped. Nor are empty rows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.dated import NOT_YET, Condition, Rejects, refuse_far_ahead
from kinelo.matches.dates import WEEKDAY_COLUMNS, DateOrder, read_dates, round_rank, times_of_day, with_weekdays
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.names import HANDLES, JOINERS, as_text, encode_names, read_numbers, without_stand_ins
from kinelo.presentation import counted

Scale = Literal["points", "signed"]
Best = Literal["lowest", "highest"]
Kept = Literal["behind", "last", "out"]
Codes = NDArray[np.int32]

EMPTY = -1
"""Fault of a row that says nothing of its own: it is neither used nor a reject."""

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
LONGEST_CONTENT = 60
"""Characters of what stood in a rejected row that are shown."""

LINE_REASONS = ("", "stray quote in the line", "more fields than columns", "unreadable line")
OUTCOME = ("result", "score_line", "home_score", "away_score", "margin")
LEAST_EMPTY = 0.5
"""Share of rows that must lack a value before one value stands for several rows."""


class NoMatches(InputError):
    """No row of a table can be used, or too few; ``rejected`` says why of each."""

    def __init__(self, words: str, rejected: Rejects) -> None:
        super().__init__(words)
        self.rejected = rejected


class TableRows:
    """Rows of a table, right or wrong: which column means what, what is wrong with each row, and what was noticed.

    ``found`` maps what Kinelo reads to columns, ``order_found`` what tells the order within a day. ``order_columns``
    are those that did. ``row`` is the row of the file (from 0) from which each comes: a wide sheet has several in one.
    """

    kind: ClassVar[Kind]
    side: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    shown: ClassVar[Mapping[str, tuple[str, ...]]]
    """What stands beside a reason: the content of these columns."""

    table: pl.DataFrame
    found: dict[str, str]
    order_found: dict[str, str]
    options: Any
    date: NDArray[np.datetime64]
    fault: NDArray[np.int8]
    notes: list[str]
    row: NDArray[np.int64]

    def reject(self, wrong: NDArray[np.bool_], reason: str) -> int:
        """Mark rows as unusable, and say how many; the first reason found for a row is the one that is reported."""
        if not wrong.any():
            return 0
        new = wrong & (self.fault == 0)
        self.fault[new] = self.reasons.index(reason)
        return int(new.sum())

    def begin(self, broken: Mapping[int, str], nameless: NDArray[np.bool_]) -> None:
        """Mark lines that could not be read, and of the rows without a name those in which nothing stands."""
        for row, reason in broken.items():
            self.fault[row] = self.reasons.index(reason)
        at = np.flatnonzero(nameless & (self.fault == 0))
        if at.size:
            blank = [
                pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "" if dtype == pl.String else False)
                for name, dtype in self.table.schema.items()
            ]
            nothing = self.table.select(pl.all().gather(at)).select(pl.all_horizontal(blank)).to_series()
            self.fault[at[nothing.to_numpy()]] = EMPTY

    def read_days(self) -> None:
        """Read the column of dates, cell by cell, and say how."""
        if "date" not in self.found:
            self.notes.append(f"there is no date column: {self.kind.noun} count in the order of the file")
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
            self.notes.append(f"dates were read as in {date(2024, 12, 31):{read.form}}")
        self.notes += read.notes
        self.reject(np.isnat(self.date), "unreadable date")

    def order_keys(self, chosen: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """What tells the order of chosen rows within a day, by column, the surest first; NaN where a row does not."""
        table, given, keys = self.table, self.order_found, {}
        order = {given["order"]: read_numbers(table[given["order"]].gather(chosen))} if "order" in given else {}
        if "order" in self.options.columns:
            keys |= order
        for column in (self.found.get("date"), given.get("time")):
            if column is not None:
                keys[column] = times_of_day(table[column].gather(chosen))
        if "round" in given:
            (codes,), names = encode_names(table[given["round"]].gather(chosen))
            keys[given["round"]] = np.array([*round_rank(names), np.nan])[codes]
        return keys | order

    def rename(self, *spelt: tuple[Sequence[Codes], tuple[str, ...]]) -> list[tuple[list[Codes], tuple[str, ...]]]:
        """Sets of names (columns of codes, and what they stand for) under their aliases, which may join some."""
        aliases: Mapping[str, str] = self.options.aliases
        if not aliases:
            return [(list(columns), names) for columns, names in spelt]
        used = list(dict.fromkeys(name for _, names in spelt for name in names if name in aliases))
        replaced = counted(len(used), "name was replaced by its alias", "names were replaced by their aliases")
        self.notes.append(f"{replaced}: {listed_names(used)}")
        if unused := sorted(set(aliases) - set(used)):
            self.notes.append(f"{counted(len(unused), 'alias', 'aliases')} met no name: {listed_names(unused)}")
        renamed = []
        for columns, names in spelt:
            index: dict[str, int] = {}
            new = np.array([*(index.setdefault(aliases.get(name, name), len(index)) for name in names), -1], np.int32)
            renamed.append(([new[codes] for codes in columns], tuple(index)))
        return renamed

    def check_stand_ins(self, names: tuple[str, ...], columns: Sequence[Codes], plays: Callable[[int], bool]) -> None:
        """Set rows aside in which a name stands for none; NULL or None is a name where it ``plays`` as others do."""
        named = without_stand_ins(names)
        if named.all():
            return
        for code in np.flatnonzero(~named).tolist():
            if names[code].lower() in HANDLES and plays(code):
                named[code] = True
                self.notes.append(
                    f"{names[code]!r} stands where names stand and counts as one; leave the cell empty where there is "
                    "none"
                )
        known = np.append(named, True)
        self.reject(~np.all([known[codes] for codes in columns], axis=0), "a name that stands for none")

    def note_spelling(self, names: tuple[str, ...]) -> None:
        """Say which names differ only in case, blanks or accents, so that they may be one."""
        groups: dict[str, list[str]] = {}
        for name in names:
            plain = " ".join(name.casefold().replace(JOINERS[0], "").replace(JOINERS[1], "").split())
            if not plain.isascii():
                plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
            groups.setdefault(plain, []).append(name)
        if alike := [group for group in groups.values() if len(group) > 1]:
            shown = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
            more = f" and {len(alike) - 3:,} more" if len(alike) > 3 else ""
            self.notes.append(
                f"names that differ only in case, blanks or accents count as different {self.side}s ({shown}{more}); "
                "aliases= joins them"
            )

    def settle(self, name: str, used: int, played: NDArray[np.bool_]) -> Rejects:
        """The rows that could not be used, with what stands in the columns that made them so.

        A table of which nothing is ``used``, or of which most is lost, is refused, unless the user accepts it; a note
        of many losses stands before all others. A year typed wrong is asked about: a result (of rows ``played``) years
        from now, and years after all others.
        """
        bad, good = np.flatnonzero(self.fault > 0), np.flatnonzero(self.fault == 0)
        reasons = np.array(self.reasons, object)[self.fault[bad]]
        contents = np.full(bad.size, "", object)
        for reason in dict.fromkeys(reasons.tolist()):
            at = np.flatnonzero(reasons == reason)
            for column in (self.found[key] for key in self.shown.get(reason, ()) if key in self.found):
                cells = as_text(self.table[column][bad[at]]).fill_null("").str.strip_chars()
                contents[at] = [f"{a} {b}".strip()[:LONGEST_CONTENT] for a, b in zip(contents[at], cells.to_list())]
        rejected = Rejects.of(self.kind.noun, self.row[bad] + 1, reasons, contents)
        if not used:
            raise NoMatches(
                f"No {self.kind.one} of {name} can be used, "
                f"{'its only row was' if bad.size == 1 else f'all {bad.size:,} rows were'} rejected "
                f"({rejected.in_words()}).",
                rejected,
            )
        # Those without a result that lie after all that is used, by date or else in the file, are still to come.
        lost = ~np.isin(reasons.astype(str), NOT_LOST)
        later = self.date[bad] >= self.date[good].max() if "date" in self.found else bad > good[-1]
        lost &= ~(np.isin(reasons.astype(str), NO_RESULT) & later)
        number, total = int(lost.sum()), int(lost.sum()) + good.size
        if number > MANY_LOST * total:
            different, counts = np.unique(reasons[lost].astype(str), return_counts=True)
            reason = str(different[np.argmax(counts)])
            first = int(np.flatnonzero(lost & (reasons == reason))[0])
            content = f"{contents[first]!r} in " if contents[first] else ""
            words = (
                f"{number:,} of {total:,} rows ({number / total:.0%}) cannot be used, {int(counts.max()):,} of them "
                f"for: {reason}, such as {content}row {rejected.row[first]:,}"
            ).replace("%)", " %)")
            if number > MOST_LOST * total and not self.options.accept_losses:
                raise NoMatches(
                    f"Most of {name} is lost: {words}. Mend the file, or say which column means what with "
                    "columns={...}; accept_losses=True goes on with the rest.",
                    rejected,
                )
            self.notes.insert(0, words)
        at = good[played[good]]
        refuse_far_ahead(self.date[at].astype("datetime64[D]").view(np.int64), NOT_YET, self.row[at] + 1)
        return rejected


def fill_blocks(table: pl.DataFrame, columns: Iterable[str], notes: list[str]) -> pl.DataFrame:
    """The table with these columns filled downwards where each value begins a block, and a note of each.

    A block is meant where the first row has a value, at least half of the rows have none, and no value stands twice in
    a row: a column that repeats its values has gaps instead.

    >>> noted, table = [], pl.DataFrame({"race": ["Spa", None, "Monza", None], "boat": list("abab")})
    >>> fill_blocks(table, ["race"], noted)["race"].to_list()
    ['Spa', 'Spa', 'Monza', 'Monza']
    >>> fill_blocks(table.with_columns(race=pl.Series(["Spa", "Spa", None, None])), ["race"], noted)["race"].to_list()
    ['Spa', 'Spa', None, None]
    """
    others = [pl.col(column) for column in table.columns if column not in set(columns := list(columns))]
    if not others or table.height < 2:
        return table
    for column in columns:
        text = as_text(table[column]).str.strip_chars()
        empty = (text.is_null() | (text == "")).to_numpy()
        if empty[0] or not empty.any():
            continue
        filled = ~table.select(pl.all_horizontal(other.is_null() for other in others)).to_series().to_numpy()
        values = text.filter(pl.Series(~empty))
        again = bool((values.shift(-1) == values).any())
        if again or (empty & filled).sum() < LEAST_EMPTY * filled.sum():
            continue
        at = np.maximum.accumulate(np.where(empty, 0, np.arange(table.height)))
        series = table[column].gather(np.where(filled, at, np.arange(table.height)))
        table = table.with_columns(series.alias(column))
        notes.append(
            f"{column!r} is written once for a block of rows: "
            f"{counted(int((empty & filled).sum()), 'empty cell was', 'empty cells were')} filled "
            "from above"
        )
    return table


def listed_names(names: Sequence[str], most: int = 8) -> str:
    """Names for a note; of many, the first."""
    return ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "") if names else "none"


def with_group(
    columns: Sequence[Codes], names: tuple[str, ...], group: pl.Series
) -> tuple[list[Codes], tuple[str, ...]]:
    """Names with the group of their row added, so that one name in two groups is two.

    >>> group = pl.Series(["men", "women", None])
    >>> codes, names = with_group([np.array([0, 0, 1])], ("Ajax", "PSV"), group)
    >>> codes[0].tolist(), names
    ([0, 1, 2], ('Ajax (men)', 'Ajax (women)', 'PSV'))
    """
    (level,), levels = encode_names(group)
    index: dict[tuple[int, int], int] = {}
    codes = []
    for column in columns:
        pairs, place = np.unique(np.column_stack([column, level]), axis=0, return_inverse=True)
        code = [-1 if a < 0 else index.setdefault((int(a), int(b)), len(index)) for a, b in pairs]
        codes.append(np.array(code, np.int32)[place.ravel()])
    return codes, tuple(names[a] if b < 0 else f"{names[a]} ({levels[b]})" for a, b in index)


@dataclass(frozen=True)
class MatchOptions:
    """What the user of :func:`kinelo.read_matches` asked for."""

    columns: Mapping[str, str] = field(default_factory=dict)
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
class MatchRows(TableRows):
    """The columns of a table of matches, one value per row of the file, right or wrong."""

    kind = MATCHES
    side = "side"
    reasons = (
        *LINE_REASONS, "missing side", "a name that stands for none", "a side against itself", "unreadable date",
        "forfeit or awarded match", "match not played to its end", "match not played yet", "missing result",
        "missing score", "unreadable result", "unreadable score", "a score that became a date", "impossible score",
        "impossible margin", "impossible result", "impossible weight", "missing match id", "duplicate match id",
        "duplicate row", "not two rows of one match",
    )  # fmt: skip
    shown: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **dict.fromkeys(("unreadable result", "unreadable score", "a score that became a date", "impossible score",
                         "impossible margin", "impossible result"), OUTCOME),
        "unreadable date": ("date",),
        "impossible weight": ("weight",),
        "a name that stands for none": ("home", "away"),
        "forfeit or awarded match": ("status", *OUTCOME, "forfeit"),
        "match not played to its end": ("status", *OUTCOME),
        "match not played yet": ("status", *OUTCOME),
    }  # fmt: skip

    table: pl.DataFrame
    found: dict[str, str]
    order_found: dict[str, str]
    home: Codes
    away: Codes
    teams: tuple[str, ...]
    options: MatchOptions
    notes: list[str]
    date: NDArray[np.datetime64]
    result: NDArray[np.float64]
    margin: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    weight: NDArray[np.float64]
    fault: NDArray[np.int8]
    row: NDArray[np.int64]
    winners_first: bool = False
    identifiers: pl.Series | None = None
    conditions: dict[str, Condition] = field(default_factory=dict)
    turned: NDArray[np.bool_] | None = None
    order: NDArray[np.int64] | slice = field(default_factory=lambda: slice(None))
    unordered: NDArray[np.bool_] | None = None
    order_columns: tuple[str, ...] = ()
    outcome_columns: tuple[str, ...] = ()
    to_come: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    total: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class ContestOptions:
    """What the user of :func:`kinelo.read_contests` asked for."""

    columns: Mapping[str, Any] = field(default_factory=dict)
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

    ``rated`` are the columns of what is rated, what helps or hinders, and teams. ``measure`` says what tells
    the outcome: ``place``, ``score`` or ``time``, in the column that is found as ``outcome``. ``events`` are the
    contests before those of several days with the same entrants were parted, None where none was.
    """

    kind = CONTESTS
    side = "entrant"
    reasons = (
        *LINE_REASONS, "missing entrant", "a name that stands for none", "missing slot", "missing contest",
        "unreadable date", "missing place", "unreadable place", "contest not over yet", "impossible weight",
        "entrant twice in one contest", "team-mates with different places", "place given by redress",
        "only one entrant in the contest", "did not start", "disqualified", "did not finish",
    )  # fmt: skip
    shown: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "unreadable date": ("date",),
        "unreadable place": ("outcome",),
        "place given by redress": ("outcome",),
        "a name that stands for none": ("entrant",),
        "impossible weight": ("weight",),
    }

    table: pl.DataFrame
    found: dict[str, str]
    order_found: dict[str, str]
    options: ContestOptions
    entrant: Codes
    entrants: tuple[str, ...]
    slots: dict[str, tuple[Codes, tuple[str, ...]]]
    rated: set[str]
    measure: str
    notes: list[str]
    date: NDArray[np.datetime64]
    contest: NDArray[np.int64]
    value: NDArray[np.float64]
    ended: NDArray[np.int8]
    weight: NDArray[np.float64]
    fault: NDArray[np.int8]
    row: NDArray[np.int64]
    distance: NDArray[np.float64] | None = None
    identifiers: tuple[str, ...] = ()
    events: NDArray[np.int64] | None = None
    titles: tuple[str, ...] | None = None
    order_columns: tuple[str, ...] = ()
