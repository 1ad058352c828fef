"""What a rater knows of everyone, by name: the protocol that the states of all raters share.

A state is a named tuple of arrays that compiled loops read and write (``known``) and the indices of names that its rows
belong to. It can :meth:`~RaterState.admit` the sides of matches, newcomers being given room, :meth:`~RaterState.find`
them without keeping anyone, :meth:`~RaterState.grow`, and hand itself over as arrays.

:class:`RatingTable` is the state of raters that keep one rating per side.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.dated import UNDATED
from kinelo.matches.matches import Matches
from kinelo.raters.band import with_band
from kinelo.raters.slots import SlotRow, stored_number
from kinelo.raters.stored import ANY, FIRST_DAY, LAST_DAY, SEPARATOR, stored, stored_names

if TYPE_CHECKING:
    import polars as pl


NEVER = np.iinfo(np.int64).min // 2
LEAST_ROOM = 16
HOME_POINTS, KAPPA = range(2)
EFFECTS, EACH_EFFECT = 5, 3
HOME_V, BOLD, BOLD_V, LATELY, LATELY_V, EVIDENCE, BAND = range(-18, -11)
"""Places among the numbers that all matches share: home advantage and Davidson's κ; from the sixth on, three for each
covariate: what a usual value is worth, the variance of that, and the part that strengths do not explain; and from the
end the variance of the advantage, the logarithm by which forecasts are bolder than they were estimated to be, its
variance, what :mod:`kinelo.raters.advantage` keeps of an advantage that may have changed at once, and in the last
twelve what :mod:`kinelo.raters.band` believes of κ's logarithm."""

FEW = 64
"""Matches up to which sides are looked up one by one: for a single one, arrays take ten times as long."""

DAYS = ("last", "ring_day")
"""Arrays that hold days."""
NO_SLOTS = np.empty((0, 0), np.int64)
NO_PLAYERS = np.empty(0, np.int32)
ALIKE = np.empty(0)
"""Factors of the noise where luck is the same in all matches."""
NO_EFFECTS = np.empty((0, 0))
"""Covariates where there are none."""


def common_stored(numbers: NDArray[np.float64] | Sequence[float], size: int) -> NDArray[np.float64]:
    """Numbers that all matches share, so many, as they were stored."""
    kappa = float(numbers[KAPPA]) if len(numbers) > KAPPA else 0.0
    return with_band(np.array(numbers, float), size, math.log(kappa) if kappa > 0.0 else 0.0)


class MatchIndices(NamedTuple):
    """Places of both sides of every match, names never met, and, where a rater uses them, conditions and players."""

    home: NDArray[Any]
    away: NDArray[Any]
    unknown: tuple[str, ...] = ()
    slots: NDArray[np.int64] = NO_SLOTS
    players: NDArray[np.int32] = NO_PLAYERS


class MatchColumns(NamedTuple):
    """Matches as kernels read them: places of both sides (int), results in [−1, 1], margins, venues (bool), weights and
    days (int), an entry each, slots of their conditions (matches, conditions), factors of their noise, or none, and
    their covariates in usual values (matches, covariates)."""

    home: NDArray[Any]
    away: NDArray[Any]
    signed: NDArray[np.float64]
    margin: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    weight: NDArray[np.float64]
    day: NDArray[np.int64]
    slots: NDArray[np.int64]
    noise: NDArray[np.float64] = ALIKE
    effects: NDArray[np.float64] = NO_EFFECTS


def match_columns(
    matches: Matches,
    indices: MatchIndices,
    noise: NDArray[np.float64] = ALIKE,
    effects: NDArray[np.float64] = NO_EFFECTS,
) -> MatchColumns:
    """The columns of matches whose sides have these places."""
    return MatchColumns(
        indices.home, indices.away, matches.signed, matches.margin, matches.neutral, matches.weight, matches.day,
        indices.slots, noise, effects,
    )  # fmt: skip


class NameIndex:
    """Names met so far, in order of first appearance, and their places.

    >>> name_index = NameIndex()
    >>> name_index.places(("b", "a")).tolist(), name_index.places(("a", "c")).tolist(), name_index.names
    ([0, 1], [1, 2], ['b', 'a', 'c'])
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self._last: tuple[str, ...] | None = None
        self._last_places = np.empty(0, np.int32)
        self._last_in_order = False

    def __len__(self) -> int:
        return len(self.names)

    def place(self, name: str) -> int:
        """Place of one name, added if it is new."""
        at = self.index.setdefault(name, len(self.names))
        if at == len(self.names):
            self.names.append(name)
        return at

    def places(self, names: tuple[str, ...]) -> NDArray[np.int32]:
        """Places of many names, new ones added; asking again for the same tuple costs nothing."""
        if len(names) <= 2:  # one match: to remember it would cost more
            return np.array([self.place(name) for name in names], np.int32)
        last = self._last
        if names is not last and last is not None and self._last_in_order and names[: len(last)] == last:
            # Those asked for last, in order, and more: only these are looked up.
            fresh = self._add(names[len(self._last_places) :])
            self._last_places = np.concatenate([self._last_places, fresh])
            self._last_in_order = bool(np.array_equal(fresh, np.arange(len(names) - fresh.size, len(names))))
            self._last = names
        if names is not self._last:
            self._last_places = self._add(names)
            self._last = names
            self._last_in_order = bool(np.array_equal(self._last_places, np.arange(len(names))))
        return self._last_places

    def _add(self, names: tuple[str, ...]) -> NDArray[np.int32]:
        """Places of names, new ones added; many at once where all of them are new."""
        begin = len(self.names)
        fresh = dict(zip(names, range(begin, begin + len(names))))
        if len(fresh) < len(names) or not self.index.keys().isdisjoint(fresh):
            return np.fromiter(map(self.place, names), np.int32, len(names))
        if self.index:
            self.index |= fresh
        else:
            self.index = fresh
        self.names.extend(names)
        return np.arange(begin, begin + len(names), dtype=np.int32)

    def in_order(self, names: tuple[str, ...]) -> bool:
        """Whether the names asked for last stand at the places 0, 1, 2, ..."""
        return names is self._last and self._last_in_order

    def find(self, names: Sequence[str], codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Places of ``names[codes]`` without adding any; -1 for a name never met.

        Few codes are looked up one by one: one match of a long table costs what one match costs.
        """
        index = self.index
        if codes.size < len(names):
            few: list[int] = codes.tolist()
            return np.fromiter((index.get(names[code], -1) for code in few), np.int32, codes.size)
        return np.fromiter((index.get(name, -1) for name in names), np.int32, len(names))[codes]


SPREAD_PREFIX = "spread by "


def check_levels(given: Mapping[str, object] | None, conditions: Sequence[str]) -> dict[str, object]:
    """Levels of all conditions of one match, None where nothing is said; what the rater does not know is refused.

    >>> check_levels({"surface": "clay"}, ["surface", "weather"])
    {'surface': 'clay', 'weather': None}
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InputError(f"conditions={given!r:.60} must say levels by condition, such as {{'surface': 'clay'}}.")
    strange = [name for name in given if name not in conditions]
    if strange:
        raise InputError(f"{strange[0]!r} is no condition of this rater; it uses {listed(conditions) or 'none'}.")
    return {name: given.get(name) for name in conditions}


class Levels:
    """Levels of conditions met so far.

    >>> levels = Levels(("surface",))
    >>> levels.place("surface", "clay"), levels.place("surface", "grass"), levels.column.tolist()
    (0, 1, [0, 0])
    """

    def __init__(self, conditions: tuple[str, ...]) -> None:
        self.conditions = conditions
        self.index: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return len(self.index)

    def place(self, condition: str, level: str) -> int:
        """Slot of a level, made if it is new."""
        return self.index.setdefault((condition, level), len(self.index))

    @property
    def column(self) -> NDArray[np.int64]:
        """Which condition each slot belongs to."""
        return np.array([self.conditions.index(condition) for condition, _ in self.index], np.int64)

    def variances(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """Variance of every slot before any match, from the parameters."""
        return np.array([values[SPREAD_PREFIX + condition] ** 2 for condition, _ in self.index])

    def codes(self, matches: Matches, admit: bool = True) -> NDArray[np.int64]:
        """Slots of every match, a column per condition; -1 where the level is not known (or new, unless admitted)."""
        out = np.empty((matches.day.size, len(self.conditions)), np.int64)
        for k, name in enumerate(self.conditions):
            if name not in matches.conditions:
                raise InputError(
                    f"The condition {name!r} was not read; read it with read_matches(..., conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            places = np.full(len(condition.levels) + 1, -1, np.int64)
            for code in _in_order(condition.codes):
                level = condition.levels[code]
                places[code] = self.place(name, level) if admit else self.index.get((name, level), -1)
            out[:, k] = places[condition.codes]
        return out

    def row(self, given: Mapping[str, object] | None) -> NDArray[np.int64]:
        """Slots of one match from its levels by condition, made where they are new; -1 where none is given."""
        given = check_levels(given, self.conditions)
        levels = {name: str(level).strip() for name, level in given.items() if level is not None}
        return np.array([[self.place(n, levels[n]) if levels.get(n) else -1 for n in self.conditions]], np.int64)

    def to_array(self) -> NDArray[np.str_]:
        """Condition and level of every slot, as text to be kept on disk."""
        return np.array([f"{condition}{SEPARATOR}{level}" for condition, level in self.index] or [""], dtype=str)

    def from_array(self, kept: NDArray[np.str_]) -> None:
        """Take over what :meth:`to_array` gave."""
        pairs = [tuple(text.split(SEPARATOR, 1)) for text in kept.tolist() if text]
        self.index = {(condition, level): k for k, (condition, level) in enumerate(pairs)}
        if len(self.index) < len(pairs) or not {condition for condition, _ in pairs} <= set(self.conditions):
            raise InputError("A stored state must hold levels of the conditions of its rater, each of them once.")


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance, so that batches of one table number slots as the whole does."""
    known = codes[codes >= 0]
    values, first = np.unique(known, return_index=True)
    return values[np.argsort(first)].tolist()


MOST_STRENGTHS = 5_000_000
"""Strengths under conditions beyond which their derivatives would not fit into memory."""


def check_strengths(levels: Levels, names: int) -> None:
    """Refuse levels that are too many for so many names."""
    if len(levels) * names > MOST_STRENGTHS:
        raise InputError(
            f"{len(levels):,} levels of {', '.join(levels.conditions)} are too many for {names:,} names: "
            f"at most {MOST_STRENGTHS:,} strengths are kept; give columns with fewer levels."
        )


class StateColumn(NamedTuple):
    """An array of a state: the name_index its rows belong to, rows that come before the first name, and its shape.

    An array with fewer rows than come first is not in use. ``low`` is the least number it may hold, and ``into`` what
    its numbers are places of.
    """

    name_index: str = "names"
    first: int = 0
    square: bool = False
    low: float | None = None
    into: str = ""


class SavedRows(NamedTuple):
    """Rows of a state as they stood when it had so many names, whether some waited for the first match, and its last
    day."""

    size: int
    waiting: bool
    latest: int
    rows: NDArray[np.int64]
    values: dict[str, NDArray[Any]]


class RaterState(ABC):
    """Base of all states; ``columns`` says which arrays grow, ``fills`` what a newcomer finds in them (else 0)."""

    columns: ClassVar[Mapping[str, StateColumn]]
    fills: dict[str, Any]
    known: Any

    def __init__(self, known: Any, fills: Mapping[str, Any] | None = None) -> None:
        self.known = known
        self.fills = dict(fills or {})
        self.name_indices = {name: NameIndex() for name in dict.fromkeys(c.name_index for c in self.columns.values())}
        self.before = np.empty(0, np.int64)
        self.waiting = False
        self._latest = NEVER

    @property
    def latest(self) -> int:
        """Day of the last match used; NEVER before the first."""
        return self._latest

    def note_days(self, days: NDArray[np.int64]) -> None:
        """Note that matches of these days are used."""
        self._latest = max(self._latest, days.item() if days.size == 1 else int(days.max(initial=NEVER)))

    @property
    def name_index(self) -> NameIndex:
        """Those who are rated."""
        return next(iter(self.name_indices.values()))

    @property
    def side_index(self) -> NameIndex:
        """Those who meet in matches, which are those who are rated unless players are."""
        return [*self.name_indices.values()][-1]

    def __len__(self) -> int:
        return len(self.name_index)

    @abstractmethod
    def admit(self, matches: Matches) -> MatchIndices:
        """Places of everyone in matches that are about to be used; newcomers are given room."""

    @abstractmethod
    def find(self, matches: Matches) -> MatchIndices:
        """The same without keeping anyone, and the names never met."""

    def find_sides(
        self, matches: Matches, name_index: NameIndex, played: NDArray[np.int64] | None = None
    ) -> MatchIndices:
        """Places of both sides in an index of names (-1: never met, or not ``played`` yet), and names without one."""
        index, teams = name_index.index, matches.teams

        def place(code: int) -> int:
            at = index.get(teams[code], -1)
            return at if at < 0 or played is None or played[at] else -1

        if len(matches) <= FEW:
            sides = [[place(code) for code in side.tolist()] for side in (matches.home, matches.away)]
            home, away = np.array(sides, np.int32)
            if -1 not in sides[0] and -1 not in sides[1]:
                return MatchIndices(home, away)
            codes = zip((*matches.home.tolist(), *matches.away.tolist()), (*sides[0], *sides[1]))
            return MatchIndices(
                home, away, tuple(teams[code] for code in sorted({code for code, at in codes if at < 0}))
            )
        codes = np.unique(np.concatenate([matches.home, matches.away]))
        places = np.full(len(teams), -1, np.int32)
        places[codes] = np.fromiter(map(place, codes.tolist()), np.int32, codes.size)
        unknown = codes[places[codes] < 0].tolist()
        return MatchIndices(places[matches.home], places[matches.away], tuple(teams[code] for code in unknown))

    def grow(self) -> None:
        """Make room for everyone in the indices of names."""
        for of, name_index in self.name_indices.items():
            columns = [(name, column.first) for name, column in self.columns.items() if column.name_index == of]
            room = len(getattr(self.known, next(name for name, first in columns if first == 0)))
            if len(name_index) > room:
                extra, known = max(len(name_index), room + room // 2, LEAST_ROOM) - room, self.known._asdict()
                longer = {
                    name: self._lengthen(name, known[name], extra)
                    for name, first in columns
                    if len(known[name]) >= first
                }
                self.known = self.known._replace(**longer)

    def _lengthen(self, name: str, values: NDArray[Any], extra: int) -> NDArray[Any]:
        if self.columns[name].square:
            return np.pad(values, (0, extra))
        more = np.zeros((extra, *values.shape[1:]), values.dtype)
        more[:] = self.fills.get(name, 0)
        return np.concatenate([values, more])

    def seat(
        self, names: tuple[str, ...], games: NDArray[np.int64], unseen: NDArray[np.int64], day: NDArray[Any]
    ) -> None:
        """Let these begin, in a fresh state: matches they have played, of which so many are not shown, and last days.

        Whose last day is NEVER has waited since the first match that the state sees.
        """
        self.name_index.places(names)
        self.grow()
        self.known.games[: len(names)] = games
        self.known.last[: len(names)] = day
        self.before, self.waiting = unseen, bool(np.any(day == NEVER))
        self.note_days(day)

    def arrive(self, day: int) -> None:
        """Let those who wait for the first match have waited since this day."""
        if self.waiting:
            last = self.known.last
            last[(last == NEVER) & (self.known.games > 0)] = day
            self.waiting = False

    def as_seen_on(self, day: int) -> Any:
        """The arrays as they are for matches from this day on; the state itself does not change."""
        if not self.waiting:
            return self.known
        last = self.known.last
        return self.known._replace(last=np.where((last == NEVER) & (self.known.games > 0), day, last))

    def rows_of(self, matches: Matches) -> SavedRows:
        """What is known of everyone whom matches may change, to be put back where they are refused after all."""
        if matches.day.size > FEW or self.waiting:
            return self.saved(np.arange(len(self)))
        places = map(self.name_index.index.get, (matches.teams[code] for code in (*matches.home, *matches.away)))
        return self.saved(np.array([place for place in places if place is not None], np.int64))

    def saved(self, rows: NDArray[np.int64] | list[int]) -> SavedRows:
        """What is known at some rows."""
        rows = np.asarray(rows)  # once, and not for every array
        values = {name: getattr(self.known, name).take(rows, 0) for name in self.columns}
        return SavedRows(len(self), self.waiting, self._latest, rows, values)

    def put_back(self, saved: SavedRows) -> None:
        """Take over what was known before; newcomers since then have not played, nor anyone under new conditions."""
        for name, values in saved.values.items():
            array = getattr(self.known, name)
            array[saved.rows] = array[saved.size :] = self.fills.get(name, 0)
            array[(saved.rows, *map(slice, values.shape[1:]))] = values
        self.waiting, self._latest = saved.waiting, saved.latest

    def games_shown(self) -> NDArray[np.int64]:
        """Matches played by everyone, without those that are only supposed."""
        games = self.known.games[: len(self)].copy()
        games[: self.before.size] -= self.before
        return games

    def last_played(self) -> NDArray[np.datetime64]:
        """Last day of everyone; NaT where there is none, and for all where the matches have no dates."""
        day = self.known.last[: len(self)]
        known = (day != NEVER) & np.any((day != NEVER) & (day != UNDATED.view(np.int64)))
        return np.where(known, day.astype("datetime64[D]"), np.datetime64("NaT"))

    def here(self) -> NDArray[np.bool_]:
        """Who has a rating: everyone who has played or began with one."""
        return self.known.games[: len(self)] > 0

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        arrays = dict(self.known._asdict())
        for name, column in self.columns.items():
            rows = column.first + len(self.name_indices[column.name_index])
            arrays[name] = arrays[name][:rows, :rows] if column.square else arrays[name][:rows]
        names = {key: np.array(name_index.names, dtype=str) for key, name_index in self.name_indices.items()}
        name_indices = {key: value if value.size else np.empty(0, "U1") for key, value in names.items()}
        return name_indices | arrays | {"before": self.before}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        for key in self.name_indices:
            self.name_indices[key] = NameIndex()
            self.name_indices[key].places(stored_names(arrays, key))
        self.before = stored(arrays, "before", "i", (ANY,), 0)
        sizes = self._sizes(arrays)
        known: dict[str, NDArray[Any]] = {}
        for name, fresh in self.known._asdict().items():  # each is like that of a fresh state in all but its length
            column = self.columns.get(name, StateColumn())
            rows = column.first + sizes[column.name_index] if name in self.columns else ANY
            if rows != ANY and len(arrays[name]) < column.first:
                rows = len(arrays[name])
            wide = (rows,) if column.square else tuple(length or ANY for length in fresh.shape[1:])
            low, below = (-1, sizes[column.into]) if column.into else (column.low, None)
            low, below = (FIRST_DAY, LAST_DAY) if name in DAYS else (low, below)
            known[name] = stored(arrays, name, fresh.dtype.kind, (rows, *wide), low, below)
        self.known = self.known._replace(**known)
        if self.before.size > len(self):
            raise InputError("The array 'before' of a stored state is longer than its names are many.")
        if "last" in self.known._fields:
            self.waiting = bool(np.any((self.known.last == NEVER) & (self.known.games > 0)))
            self.note_days(self.known.last)

    def _sizes(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
        """How many there are of all that arrays hold places of."""
        return {key: len(name_index) for key, name_index in self.name_indices.items()}


class Ratings(NamedTuple):
    """Rating, variance, matches played and last day of every side."""

    rating: NDArray[np.float64]
    variance: NDArray[np.float64]
    games: NDArray[np.int64]
    last: NDArray[np.int64]


class RatingTable(RaterState):
    """Rating, variance, matches played and last day of every name met.

    >>> ratings = RatingTable(rating=1500.0, variance=100.0)
    >>> ratings.place("A"), ratings.known.rating[:1].tolist(), ratings.known.games[:1].tolist()
    (0, [1500.0], [0])
    """

    kind: ClassVar[Any] = Ratings
    usual: ClassVar[tuple[str, ...]] = ("rating", "variance", "games", "last")
    """Arrays of which every row of a book has a number; others only where it differs from a newcomer's."""
    columns: ClassVar[Mapping[str, StateColumn]] = {
        "rating": StateColumn(),
        "variance": StateColumn(low=0),
        "games": StateColumn(low=0),
        "last": StateColumn(),
    }

    def __init__(self, rating: float, variance: float, **more: float) -> None:
        whole = {name: np.empty(0, np.int64) for name in ("games", "last")}
        known = self.kind(**{name: whole.get(name, np.empty(0)) for name in self.kind._fields})
        begun = {"rating": float(rating), "variance": float(variance), **more}
        self.begun = tuple(begun)
        super().__init__(known, begun | {"last": NEVER})

    def place(self, name: str) -> int:
        """Place of one name, made if it is new."""
        at = self.name_index.place(name)
        if at >= self.known.rating.size:
            self.grow()
        return at

    def place_played(self, name: str) -> int:
        """Place of one name that has played, -1 of any other."""
        at = self.name_index.index.get(name, -1)
        return at if at < 0 or self.known.games.item(at) else -1

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides of every match; new names begin at the start."""
        places = self.name_index.places(matches.teams)
        self.grow()
        if self.waiting and len(matches):
            self.arrive(int(matches.day[0]))
        self.note_days(matches.day)
        if self.name_index.in_order(matches.teams):
            return MatchIndices(matches.home, matches.away)
        return MatchIndices(places[matches.home], places[matches.away])

    def find(self, matches: Matches) -> MatchIndices:
        """Places of both sides without adding anyone (-1: never played), and the names among them that never played."""
        return self.find_sides(matches, self.name_index, self.known.games)

    def slot_rows(self, kind: str, names: Sequence[str] | None = None) -> list[SlotRow]:
        """Rows of some names, or of all in their order; what stands where a newcomer finds it is left out."""
        names = self.name_index.names if names is None else names
        if len(names) <= FEW:
            return [self.row_of(self.known, self.name_index.index[name], kind, name) for name in names]
        places = np.fromiter((self.name_index.index[name] for name in names), np.int64, len(names))
        usual = (getattr(self.known, name)[places].tolist() for name in self.usual)
        rows = [SlotRow(kind, *one) for one in zip(names, *usual)]
        further = {name: getattr(self.known, name)[places] for name in self.columns if name not in self.usual}
        differs = np.zeros(len(names), bool)
        for name, values in further.items():
            differs |= (values != self.fills.get(name, 0)).reshape(len(names), -1).any(axis=1)
        for k in np.flatnonzero(differs).tolist():
            rows[k] = rows[k]._replace(more={name: values[k].tolist() for name, values in further.items()})
        return rows

    def row_of(self, known: Any, at: int, kind: str, name: str) -> SlotRow:
        """The row that stands at a place of some arrays; those of many take longer for a few."""
        further_numbers = None
        for further in self._further:
            values, fill = getattr(known, further), self.fills.get(further, 0)
            if values.size and (values.item(at) != fill if values.ndim == 1 else (values[at] != fill).any()):
                further_numbers = {one: getattr(known, one)[at].tolist() for one in self._further}
                break
        return SlotRow(
            kind,
            name,
            known.rating.item(at),
            known.variance.item(at),
            known.games.item(at),
            known.last.item(at),
            further_numbers,
        )

    def newcomers(self, count: int) -> Any:
        """Arrays of so many newcomers, apart from the state."""
        fresh = {name: self._lengthen(name, getattr(self.known, name)[:0], count) for name in self.columns}
        return self.known._replace(**fresh)

    def begin_row(self, known: Any, at: int, name: str) -> None:
        """Let a newcomer of this name stand at a place of some arrays."""
        for column in self.columns:
            getattr(known, column)[at] = self.fills.get(column, 0)

    def put_row(self, known: Any, at: int, row: SlotRow) -> None:
        """Put a row in at a place of some arrays."""
        known.rating[at], known.variance[at], known.games[at], known.last[at] = row[2:6]
        for name in self._further:
            array = getattr(known, name)
            if array.size:
                array[at] = self.fills.get(name, 0)
                if row.more is not None and name in row.more:
                    self._take_further(array, at, name, row.more)

    @cached_property
    def _further(self) -> tuple[str, ...]:
        """Arrays of rows beside the usual ones."""
        return tuple(name for name in self.columns if name not in self.usual)

    def take_slots(self, rows: Sequence[SlotRow]) -> None:
        """Put rows in; names that are new are given places in order."""
        if len(rows) <= FEW:
            for row in rows:
                at = self.place(row.name)
                self.put_row(self.known, at, row)
            return
        places = self.name_index.places(tuple(row.name for row in rows))
        self.grow()
        for name, values in zip(self.usual, list(zip(*rows))[2:6]):
            getattr(self.known, name)[places] = values
        for name in self.columns:
            if name in self.usual:
                continue
            array = getattr(self.known, name)
            array[places] = self.fills.get(name, 0)
            for at, row in zip(places.tolist(), rows):
                if row.more is not None and name in row.more:
                    self._take_further(array, at, name, row.more)

    def _take_further(self, array: NDArray[Any], at: int, name: str, further: dict[str, Any]) -> None:
        """Put one further number (or one for each level) of a row in."""
        low = self.columns[name].low
        low = -np.inf if low is None else low
        if array.ndim == 1:
            array[at] = stored_number(further, name, 0.0, low)
            return
        values = further[name]
        if not isinstance(values, list) or len(values) > array.shape[1]:
            raise InputError(f"{name!r} of a row in the table slot is not what its rater stores.")
        for k, value in enumerate(values):
            array[at, k] = stored_number({name: value}, name, 0.0, low)

    def table(self, **columns: NDArray[Any]) -> pl.DataFrame:
        """Everyone who has played, the best first; ``columns`` replace or join rating and uncertainty."""
        import polars as pl

        size = len(self)
        shown = {"rating": self.known.rating[:size], "uncertainty": np.sqrt(self.known.variance[:size])} | columns
        played = pl.DataFrame(
            {
                "name": pl.Series(self.name_index.names, dtype=pl.String),
                **shown,
                "matches": self.games_shown(),
                "last_played": self.last_played(),
            }
        )
        return played.filter(self.here()).sort("rating", descending=True, maintain_order=True)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        return {**super().to_arrays(), "start": np.array([self.fills[name] for name in self.begun])}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        self.fills |= dict(zip(self.begun, arrays["start"].tolist(), strict=True))


class LevelState(RaterState):
    """A state with ``delta`` and ``delta_v``, a column per slot, and ``slot_v``, their variance before any match."""

    levels: Levels
    values: Mapping[str, float]

    def use_conditions(self, conditions: tuple[str, ...], values: Mapping[str, float]) -> None:
        """Begin without any level of these conditions; their spreads are among the values of parameters."""
        self.levels, self.values = Levels(conditions), values

    def grow(self) -> None:
        """Make room for new levels of conditions, and for everyone on the name_indices."""
        met, names = self.known.slot_v.size, len(self.name_indices[self.columns["delta"].name_index])
        check_strengths(self.levels, names)
        if len(self.levels) > met:
            fresh = self.levels.variances(self.values)[met:]
            wide = {name: np.pad(getattr(self.known, name), ((0, 0), (0, fresh.size))) for name in ("delta", "delta_v")}
            wide["delta_v"][:, met:] = fresh
            self.known = self.known._replace(**wide, slot_v=np.append(self.known.slot_v, fresh))
            self.fills["delta_v"] = self.known.slot_v
        super().grow()

    def at_level(self, level: int, before: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of what everyone is better by at a level; ``before`` is the variance before any match."""
        return self.known.delta[: len(self), level], self.known.delta_v[: len(self), level]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk; nothing of conditions where there are none."""
        arrays = super().to_arrays()
        if self.levels.conditions:
            return {**arrays, "slots": self.levels.to_array()}
        return {name: values for name, values in arrays.items() if name not in ("delta", "delta_v", "slot_v")}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        nothing = np.empty((arrays[self.columns["delta"].name_index].size, 0))
        none = {"delta": nothing, "delta_v": nothing, "slot_v": np.empty(0), "slots": np.empty(0, "U1")}
        super().from_arrays({**none, **arrays})
        self.levels.from_array({**none, **arrays}["slots"])
        widths = {self.known.delta.shape[1], self.known.delta_v.shape[1], self.known.slot_v.size}
        if widths != {len(self.levels)}:
            raise InputError("The array 'delta' of a stored state has another width than its levels are many.")
        self.fills["delta_v"] = self.known.slot_v


def in_batch(known: Any, names: Sequence[str], count: int = 1) -> Any:
    """Arrays of a state with a last axis of members: views of the state where there is one, else copies."""
    own = {name: getattr(known, name)[..., None] for name in names}
    if count > 1:
        own = {name: np.repeat(values, count, axis=-1) for name, values in own.items()}
    return known._replace(**own)
