"""One contest as loops take it, made of names without a table: what a program that rates game by game needs.

Only plain contests are made this way: entrants of one kind, nobody twice, with dates. Whatever else is said goes
through a table (:mod:`kinelo.raters.one_contest`), which also finds the words to refuse it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.contests import Contests, Slots
from kinelo.matches.names import clean_name
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.rank.kernels import ContestColumns
from kinelo.raters.rank.state import RankState

FAR_DAYS = 365
"""Days from today beyond which a date is asked about, which a table does."""


class PlainField(NamedTuple):
    """Names of all who take part, how many are in each entry, and the places of the entries."""

    names: list[str]
    sizes: tuple[int, ...]
    places: NDArray[np.float64]


class Layout(NamedTuple):
    """Columns that contests of equal sizes share, which nobody changes."""

    columns: ContestColumns
    codes: NDArray[np.int32]
    entrant: NDArray[np.int32]
    row: NDArray[np.int64]
    unknown: NDArray[np.float64]


@lru_cache(256)
def layout_of(sizes: tuple[int, ...]) -> Layout:
    """The columns of a contest with entries of these sizes."""
    entries, members = len(sizes), sum(sizes)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    share = np.repeat(1.0 / np.array(sizes), sizes)
    codes = np.full((entries, max(sizes)), -1, np.int32)
    for k, size in enumerate(sizes):
        codes[k, :size] = np.arange(offsets[k], offsets[k] + size)
    columns = ContestColumns(
        np.array([0, entries]), np.zeros(1, np.int64), np.ones(1), np.ones(1), np.arange(1.0, entries + 1.0),
        np.zeros(entries, np.int8), np.full(entries, 0.5), offsets, np.arange(members), share,
    )  # fmt: skip
    return Layout(
        columns, codes, np.arange(entries, dtype=np.int32), np.arange(1, entries + 1), np.full(entries, np.nan)
    )


def plain_field(entrants: Any, ranks: Any = None) -> PlainField | None:
    """A plain contest in order of places; None where it takes a table.

    >>> plain_field([["Ann", "Bob"], ["Cid"]], ranks=[2, 1])[:2], plain_field(["Ann", "Ann"])
    ((['Cid', 'Ann', 'Bob'], (1, 2)), None)
    """
    if type(entrants) is not list or len(entrants) < 2 or len({*map(type, entrants)}) > 1:
        return None
    places = None
    if ranks is not None:
        if type(ranks) is not list or len(ranks) != len(entrants):
            return None
        if not all(type(rank) in (int, float) and math.isfinite(rank) for rank in ranks):
            return None
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        entrants, places = [entrants[k] for k in order], _shared_places([float(ranks[k]) for k in order])
    teams = type(entrants[0]) is list
    members = [name for entrant in entrants for name in entrant] if teams else entrants
    if not all(type(name) is str for name in members):
        return None
    names = [clean_name(name) for name in members]
    sizes = tuple(map(len, entrants)) if teams else (1,) * len(entrants)
    if "" in names or 0 in sizes or len(set(names)) < len(names) or (teams and any(" + " in name for name in names)):
        return None
    return PlainField(names, sizes, layout_of(sizes).columns.place if places is None else np.array(places))


def _shared_places(ranks: Sequence[float]) -> list[float]:
    """Places of ranks in order; those who tie share the mean of their places."""
    places, first = [], 0
    while first < len(ranks):
        last = first
        while last + 1 < len(ranks) and ranks[last + 1] == ranks[first]:
            last += 1
        places += [0.5 * (first + last) + 1.0] * (last + 1 - first)
        first = last + 1
    return places


def day_of(state: RankState, day: np.datetime64 | None, *, ahead: bool) -> int | None:
    """The day of a contest, None where a table is needed to say what it means."""
    last = int(state.known.clock[1])
    number = last if day is None else int(day.astype(np.int64))
    plain = state.dated and state.contests and number > 0 and last > 0
    return number if plain and (ahead or last <= number <= time.time() / 86400.0 + FAR_DAYS) else None


def columns_on(field: PlainField, day: int) -> ContestColumns:
    """The columns of a contest on a day, whose slots are numbered from 0."""
    return layout_of(field.sizes).columns._replace(day=np.array([day]), place=field.places)


def beliefs_at(known: SlotBeliefs, at: NDArray[np.int64]) -> SlotBeliefs:
    """What is known of some slots, as arrays of their own."""
    return SlotBeliefs(known.x[at], known.v[at], known.last[at], known.games[at], known.kind[at], known.clock)


def put_beliefs(known: SlotBeliefs, at: NDArray[np.int64], own: SlotBeliefs) -> None:
    """Put what a contest has changed where it came from."""
    known.x[at], known.v[at], known.last[at], known.games[at] = own.x, own.v, own.last, own.games


def contest_to_come(field: PlainField, day: int, kind: str) -> Contests:
    """The contest as a table of one."""
    layout, names, contest = layout_of(field.sizes), tuple(field.names), object.__new__(Contests)
    # A frozen class sets its fields one by one, which takes as long as a forecast.
    vars(contest).update(
        vars(EMPTY), date=np.array([day], "datetime64[D]"), first=layout.columns.first, entrant=layout.entrant,
        entrants=labels_of(field), place=layout.unknown, ended=layout.columns.ended, weight=layout.columns.weight,
        slots={kind: Slots(layout.codes, names)}, row=layout.row, identifiers=("1",),
    )  # fmt: skip
    return contest


def labels_of(field: PlainField) -> tuple[str, ...]:
    """What entrants are called: their name, or the names of a team."""
    if len(field.names) == len(field.sizes):
        return tuple(field.names)
    labels, first = [], 0
    for size in field.sizes:
        labels.append(" + ".join(field.names[first : first + size]))
        first += size
    return tuple(labels)


EMPTY = Contests(
    np.empty(0, "datetime64[D]"), np.zeros(1, np.int64), np.empty(0, np.int32), (), np.empty(0), np.empty(0, np.int8),
    {}, np.empty(0), np.empty(0, np.int64), (),
)  # fmt: skip
