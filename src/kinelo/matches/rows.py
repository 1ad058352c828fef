"""What each row of a table of matches says, what is wrong with it, if anything, and which rows repeat another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.matches.conditions import Condition
from kinelo.matches.dates import DateOrder
from kinelo.matches.fields import read_numbers
from kinelo.matches.outcomes import Scale
from kinelo.matches.table_rows import TableRows

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
