"""Matches of one day: the order in which they were played, or that it is not known.

A table that lists finals before semi-finals under one date tells who won the semi-finals before they are forecast.
Where a side plays more than once on a day, matches are therefore put in order by what the table says of them: a time of
day, a round, a number. Matches of one side that stay without an order are ``unordered``: raters forecast them
from what was known before any of them. Such days stand in an order of names, which is the same however a file lists
them. Days on which no side plays twice stay as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinelo.matches.dated import UNDATED
from kinelo.matches.matches import Matches
from kinelo.matches.rows import MatchRows
from kinelo.presentation import counted


@njit(cache=True, nogil=True)
def _mark_clashes(group, home, away, last, clash):
    """Mark all rows of a group in which a side stands twice; rows of a group stand together.

    ``last`` (int64) is (sides); all others are (matches), ``clash`` of bool.
    """
    begin = 0
    for k in range(group.size):
        if k > 0 and group[k] != group[k - 1]:
            begin = k
        for team in (home[k], away[k]):
            if last[team] == begin:
                clash[begin] = True
            last[team] = begin
    for k in range(1, group.size):
        if group[k] == group[k - 1] and clash[k - 1]:
            clash[k] = True


def clashes(
    group: NDArray[np.int64], home: NDArray[np.int32], away: NDArray[np.int32], sides: int
) -> NDArray[np.bool_]:
    """Whether each match belongs to a group (a day) in which some side plays more than once.

    >>> clashes(np.array([1, 1, 2, 2]), np.array([0, 1, 0, 2]), np.array([1, 2, 1, 3]), 4).tolist()
    [True, True, False, False]
    """
    clash = np.zeros(group.size, np.bool_)
    _mark_clashes(group, home, away, np.full(sides, -1, np.int64), clash)
    return clash


@njit(cache=True, nogil=True)
def _mark_firsts(day, home, away, unordered, last, first):
    """Mark matches before which no unordered one of the same day and side stands.

    ``last`` (int64) is (sides); all others are (matches), ``unordered`` and ``first`` of bool.
    """
    begin = 0
    for k in range(day.size):
        if k > 0 and day[k] != day[k - 1]:
            begin = k
        if unordered[k]:
            first[k] = last[home[k]] != begin and last[away[k]] != begin
            last[home[k]] = last[away[k]] = begin


def first_of_day(matches: Matches) -> NDArray[np.bool_]:
    """Whether no unordered match of the same day and of one of its sides stands before a match."""
    first = np.ones(len(matches), np.bool_)
    if matches.unordered is not None:
        last = np.full(len(matches.teams), -1, np.int64)
        _mark_firsts(matches.day, matches.home, matches.away, matches.unordered, last, first)
    return first


def order_days(rows: MatchRows, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Rows in the order of their matches, and which of them have none; ``index`` is their order by date."""
    played = np.flatnonzero(np.isfinite(rows.result[index]))
    undated = "date" not in rows.found or bool(np.all(rows.date[index] == UNDATED))
    if undated or rows.options.ordered or played.size == 0:
        return index, None
    chosen = index[played]
    day = rows.date.view(np.int64)[chosen]
    clash = clashes(day, rows.home[chosen], rows.away[chosen], len(rows.teams))
    if not clash.any():
        return index, None
    places, chosen, day = played[clash], chosen[clash], day[clash]
    _, run = np.unique(day, return_inverse=True)
    keys: dict[str, NDArray[np.float64]] = {}
    for column, key in rows.order_keys(chosen).items():
        # A key orders the matches of those days of which it is known for all, and tells something where it parts some.
        gap = (np.bincount(run, weights=np.isnan(key)) > 0)[run]
        if np.any(~gap[1:] & (day[1:] == day[:-1]) & (key[1:] != key[:-1])):
            keys[column] = np.where(gap, 0.0, key)
    order = _order_of(rows, chosen, [day, *keys.values()])
    index, sorted_rows = index.copy(), chosen[order]
    index[places] = sorted_rows
    group = np.zeros(order.size, np.int64)
    for key in (day, *keys.values()):
        group[1:] |= key[order][1:] != key[order][:-1]
    unordered = np.zeros(index.size, np.bool_)
    unordered[places] = clashes(np.cumsum(group), rows.home[sorted_rows], rows.away[sorted_rows], len(rows.teams))
    rows.order_columns = tuple(keys)
    by = ", ".join(map(repr, keys))
    if keys:
        rows.notes.append(f"where a side plays more than once on a day, matches were put in order by {by}")
    if not (number := int(unordered.sum())):
        return index, None
    days = counted(np.unique(rows.date[index][unordered]).size, "day", "days")
    silent = f"{by} alone does not tell" if keys else "nothing tells"
    rows.notes.append(
        f"{silent} the order of {counted(number, 'match', 'matches')} on {days} on which a side plays more than "
        "once: each is forecast from the ratings at the start of its day; name a column of times, rounds or numbers "
        "with columns={'order': ...}, or say ordered=True if rows stand in order"
    )
    return index, unordered


def _order_of(rows: MatchRows, chosen: NDArray[np.int64], keys: Sequence[NDArray]) -> NDArray[np.int64]:
    """Order of some rows by keys, the first of them first, then by what rows say and not by where they stand.

    Of one day few rows name the same two sides: only those are compared by all the rest.
    """
    rank = np.empty(len(rows.teams), np.int64)
    rank[np.argsort(np.array(rows.teams, dtype=object), kind="stable")] = np.arange(len(rows.teams))
    keys = [*keys, rank[rows.home[chosen]] * len(rows.teams) + rank[rows.away[chosen]]]
    order = np.lexsort(keys[::-1])
    same = np.ones(order.size - 1, bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    alike = np.flatnonzero(np.append(same, False) | np.append(False, same))
    part = chosen[order[alike]]
    meeting = np.cumsum(~np.append(False, same)[alike])
    names = np.zeros(part.size)
    if rows.identifiers is not None:
        names = rows.identifiers[part].rank("ordinal").fill_null(0).to_numpy()
    # A number for each match that is as good as random: in order of results the first of a day would be the worst.
    side = np.array([zlib.crc32(name.encode()) for name in rows.teams], np.uint64)
    numbers = [column[part] + 0.0 for column in (rows.result, rows.margin)]  # one zero instead of two
    scattered = rows.date[part].view(np.int64).astype(np.uint64)
    for word in (side[rows.home[part]], side[rows.away[part]], *(number.view(np.uint64) for number in numbers)):
        scattered = (scattered ^ word) * np.uint64(0x9E3779B97F4A7C15)
        scattered ^= scattered >> np.uint64(29)
    content = (column[part] for column in (rows.weight, rows.neutral, rows.margin, rows.result))
    order[alike] = order[alike][np.lexsort((*content, scattered, names, meeting))]
    return order


def forecast_until(matches: Matches) -> NDArray[np.int64]:
    """Where the matches end that each is forecast with: unordered ones of a day together, every other by itself.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]}
    >>> forecast_until(kn.read_matches(table | {"date": ["2024-05-01", "2024-05-01", "2024-05-02"]})).tolist()
    [2, 2, 3]
    """
    size, unordered, day = len(matches), matches.unordered, matches.day
    if unordered is None or not size:
        return np.arange(1, size + 1)
    joined = unordered[1:] & unordered[:-1] & (day[1:] == day[:-1])
    ends = np.append(np.flatnonzero(~joined) + 1, size)
    return np.repeat(ends, np.diff(ends, prepend=0))


def first_of_each(until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the matches begin that each is forecast with, from where they end.

    >>> first_of_each(np.array([2, 2, 3])).tolist()
    [0, 0, 2]
    """
    ends, count = np.unique(until, return_counts=True)
    return np.repeat(ends - count, count)


def parts_of(matches: Any) -> Iterator[tuple[Any, bool]]:
    """The matches in parts, and whether each is forecast as a whole before it is used: each day's unordered matches
    together are, and what lies between them is not.
    """
    unordered = matches.unordered
    if unordered is None or not unordered.any():
        yield matches, False
        return
    until = forecast_until(matches)
    cut = (until[1:] != until[:-1]) & (unordered[1:] | unordered[:-1])
    for begin, end in pairwise([0, *(np.flatnonzero(cut) + 1).tolist(), len(matches)]):
        yield matches[begin:end], bool(unordered[begin])
