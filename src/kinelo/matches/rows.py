"""What each row of a table of matches says, and what is wrong with it, if anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.conditions import Condition
from kinelo.matches.dates import DateOrder
from kinelo.matches.fields import read_numbers
from kinelo.matches.outcomes import Scale

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

USED_UP = -1
"""Fault of a row whose match stands in another one: it is neither a match nor a reject."""


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


@dataclass
class Rows:
    """The columns of a table of matches, one value per row of the file, right or wrong."""

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

    def named(self, name: str) -> bool:
        """Whether the user said which column holds this."""
        return name in (self.options.columns or {})

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Numbers of the column that holds this, with a note where it had to be decided how to read them."""
        return read_numbers(self.table[self.found[name]], self.notes)

    def blame(self, wrong: NDArray[np.bool_], reason: str) -> None:
        """Mark rows as unusable; the first reason found for a row is the one reported."""
        if wrong.any():
            self.fault[wrong & (self.fault == 0)] = REASONS.index(reason)
