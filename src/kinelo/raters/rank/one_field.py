"""One contest as loops take it, made of names without a table: what a program that rates game by game needs.

Only plain contests are made this way: entrants of one kind, nobody twice, with dates. Whatever else is said goes
through a table (:mod:`kinelo.raters.one_contest`), which also finds the words to refuse it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.names import clean_name
from kinelo.play.formula import compiled_for, kernel
from kinelo.raters.filter.alone import EXPECTING, SlotBeliefs
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.rank.kernels import ContestColumns, ContestModel, Expected, run_contests
from kinelo.raters.slots import SlotRow
from kinelo.raters.state import NEVER


class PlainField(NamedTuple):
    """Names of all who take part, how many are in each entry, and the places of the entries."""

    names: list[str]
    sizes: tuple[int, ...]
    places: NDArray[np.float64]


class Layout(NamedTuple):
    """What contests of equal sizes share, which nobody changes: where entries begin, places in order, codes of members
    (entries, members), and the columns of a contest to come."""

    offsets: NDArray[np.int64]
    places: NDArray[np.float64]
    codes: NDArray[np.int32]
    to_come: dict[str, Any]


@lru_cache(256)
def layout_of(sizes: tuple[int, ...]) -> Layout:
    """The columns of a contest with entries of these sizes."""
    entries = len(sizes)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    codes = np.full((entries, max(sizes)), -1, np.int32)
    for k, size in enumerate(sizes):
        codes[k, :size] = np.arange(offsets[k], offsets[k] + size)
    to_come = Contests(
        np.empty(0, "datetime64[D]"), np.array([0, entries]), np.arange(entries, dtype=np.int32), (),
        np.full(entries, np.nan), np.zeros(entries, np.int8), {}, np.ones(1), np.arange(1, entries + 1), ("1",),
    )  # fmt: skip
    return Layout(offsets, np.arange(1.0, entries + 1.0), codes, dict(vars(to_come)))


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
        entrants, places = [entrants[k] for k in order], []
        for _, tied in groupby(order, key=ranks.__getitem__):  # those who tie share the mean of their places
            number = len(list(tied))
            places += [len(places) + 0.5 * (number + 1)] * number
    teams = type(entrants[0]) is list
    members = [name for entrant in entrants for name in entrant] if teams else entrants
    if {*map(type, members)} != {str}:
        return None
    together = "".join(members)
    plainly = together.isalnum() and together.isascii()  # names that nothing is to be cleaned of
    names = [*members] if plainly else [*map(clean_name, members)]
    sizes = tuple(map(len, entrants)) if teams else (1,) * len(entrants)
    if "" in names or 0 in sizes or len({*names}) < len(names):
        return None
    if teams and not plainly and any(" + " in name for name in names):
        return None
    return PlainField(names, sizes, layout_of(sizes).places if places is None else np.array(places))


@kernel
def run_field(at, field, day, model, s, out, learning):
    """Expect the performances of one plain contest on a day (int), and where ``learning`` (bool) rate it.

    Who takes part stands ``at`` places (members) of the beliefs ``s`` of one kind, −1 for who has none, in entries
    of the ``offsets`` and with the places of ``field``. ``out`` (3, entries, 1) receives what was expected. Returns
    whether everyone has taken part before (bool).
    """
    offsets, place = field
    size, entries = at.size, place.size
    x, v, share, ones = np.zeros((size, 1)), np.zeros((size, 1)), np.empty(size), np.empty(1)
    last, games, slot = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    first, days, zero = np.zeros(2, np.int64), np.zeros(1, np.int64), np.zeros(size, np.int8)
    first[1], days[0], ones[0] = entries, day, 1.0
    for a in range(entries):
        for e in range(offsets[a], offsets[a + 1]):
            share[e], slot[e] = 1.0 / (offsets[a + 1] - offsets[a]), e
    for e in range(size):  # those who take part and nobody else: room is made for all beliefs that loops are given
        if at[e] >= 0:
            x[e, 0], v[e, 0], last[e], games[e] = s.x[at[e], 0], s.v[at[e], 0], s.last[at[e]], s.games[at[e]]
    met = True
    for e in range(size):
        met = met and games[e] > 0
    own = SlotBeliefs(x, v, last, games, zero, s.clock)
    columns = ContestColumns(first, days, ones, ones, place, zero[:entries], offsets, slot, share)
    run_contests(columns, model, own, Expected(out[0], out[1], out[2]), EXPECTING, learning, learning)
    if learning:
        for e in range(size):
            s.x[at[e], 0], s.v[at[e], 0], s.last[at[e]], s.games[at[e]] = x[e, 0], v[e, 0], last[e], games[e]
    return met


class FieldCall:
    """:func:`run_field` for a model and for beliefs in arrays of certain types, which are looked at once."""

    def __init__(self, model: ContestModel, known: SlotBeliefs, parameters: Mapping[str, float]) -> None:
        self.model, self.known, self.parameters = model, known, dict(parameters)
        at, numbers = np.zeros(2, np.int64), np.zeros(2)
        self.code = compiled_for(run_field, (at, (at, numbers), 0, model, known, np.empty((3, 2, 1)), True))

    def __reduce__(self) -> Any:
        """None: arrays of a copy are others."""
        return type(None), ()

    def run(
        self, field: PlainField, day: int, at: Sequence[int], known: SlotBeliefs, *, learning: bool
    ) -> tuple[NDArray[np.float64], bool]:
        """What was expected of each performance (:class:`~kinelo.raters.rank.kernels.Expected` in one array), and
        whether everyone has taken part before."""
        out, shape = np.empty((3, len(field.sizes), 1)), (layout_of(field.sizes).offsets, field.places)
        met = self.code(np.array(at), shape, day, self.model, known, out, learning)
        return out, met


class PlainForecast(ContestForecast):
    """The forecast of one plain contest, whose table is made when it is asked for."""

    def __getattr__(self, name: str) -> Any:
        """The contest, made of what was said of it (field, day and kind) where nobody has asked for it yet."""
        if name != "contests" or "_said" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        field, day, kind = vars(self)["_said"]
        layout, contests = layout_of(field.sizes), object.__new__(Contests)
        # A frozen class sets its fields one by one, which takes as long as a forecast.
        columns = vars(contests)
        columns.update(layout.to_come)
        columns["date"], columns["entrants"] = np.array([day], "datetime64[D]"), labels_of(field)
        columns["slots"] = {kind: Slots(layout.codes, tuple(field.names))}
        vars(self)["contests"] = contests
        return contests


def plain_forecast(
    asked: tuple[PlainField, int, str],
    expected: NDArray[np.float64],
    unknown: tuple[str, ...],
    off: float,
    depth: float,
) -> PlainForecast:
    """The forecast of a contest, said by its field, day and kind."""
    forecast = object.__new__(PlainForecast)  # a frozen class sets its fields one by one
    vars(forecast).update(
        mean=expected[0, :, 0], deviation=np.sqrt(expected[1, :, 0]), unknown=unknown, law="normal", off=off,
        depth=depth, _said=asked,
    )  # fmt: skip
    return forecast


def labels_of(field: PlainField) -> tuple[str, ...]:
    """What entrants are called: their name, or the names of a team."""
    if len(field.names) == len(field.sizes):
        return tuple(field.names)
    labels, first = [], 0
    for size in field.sizes:
        labels.append(" + ".join(field.names[first : first + size]))
        first += size
    return tuple(labels)


class FieldRows:
    """The update of one plain contest by a :class:`kinelo.RankElo` that rates one kind, of any rows.

    >>> import kinelo as kn
    >>> rows = FieldRows(kn.RankElo().update_one(["Ann", "Bob"], date="2024-05-01"))
    >>> field = rows.field(["Cid", "Dee"])
    >>> [row.name for row in rows.use(field, 19_900, [None, None])]
    ['Cid', 'Dee']
    """

    def __init__(self, rater: Any) -> None:
        self.rater = copy.deepcopy(rater)
        self.call: FieldCall | None = None

    @property
    def kind(self) -> str:
        """The kind that is rated."""
        return self.rater._kinds[0]

    def take_shared(self, kept: dict[str, Any]) -> None:
        """Take over what all share."""
        self.rater._slots.take_shared(kept, None)

    def field(self, order: Any, ranks: Any = None) -> PlainField | None:
        """A contest that can be rated so; None where it takes a table."""
        rater, state = self.rater, self.rater._begun()
        more = rater._advantage_kinds or rater.noise_by or state.unfinished.size
        if len(rater._kinds) != 1 or more or not state.dated:
            return None
        return plain_field(order, ranks)

    def entries(self, field: PlainField) -> list[tuple[str, float, list[str]]]:
        """What entrants are called, their places, and the names of each."""
        rows, first = [], 0
        for label, size, place in zip(labels_of(field), field.sizes, field.places.tolist()):
            rows.append((label, place, field.names[first : first + size]))
            first += size
        return rows

    def use(self, field: PlainField, day: int, rows: Sequence[SlotRow | None]) -> list[SlotRow]:
        """Rows of everyone after a contest, from those before it, in the order of its names; None is a newcomer."""
        size = len(rows)
        x, v, games, last = np.zeros((size, 1)), np.zeros((size, 1)), np.zeros(size, np.int64), np.full(size, NEVER)
        for k, row in enumerate(rows):
            if row is not None:
                x[k, 0], v[k, 0], games[k], last[k] = row[2:6]
        own = SlotBeliefs(x, v, last, games, np.zeros(size, np.int8), np.full(2, LONG_AGO, np.int64))
        if self.call is None or self.call.parameters != self.rater.parameters_:
            self.call = FieldCall(self.rater._model(), own, self.rater.parameters_)
        self.call.run(field, day, range(size), own, learning=True)
        numbers = zip(x[:, 0].tolist(), v[:, 0].tolist(), games.tolist(), last.tolist())
        return [
            SlotRow(self.kind, name, *one, None if row is None else row.more)
            for name, one, row in zip(field.names, numbers, rows)
        ]
