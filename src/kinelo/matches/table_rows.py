"""What reading matches and reading contests share: rows with faults and notes, their days and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.columns import plain_name
from kinelo.matches.dated import NOT_YET, refuse_far_ahead
from kinelo.matches.dates import WEEKDAY_COLUMNS, read_dates, with_weekdays
from kinelo.matches.names import spelt_alike

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
