"""The table of contests that raters of rankings work on: many entrants meet at once, and a place is what each reached.

Contests stand in order of date, entrants of a contest in order of their places. An entrant is a name and what is rated
of it: one slot for each kind (a driver and a car), or several of one kind (the players of a team).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import DatedTable, Day, Rejects, TableCheck, described, digest_of
from kinelo.matches.kinds import CONTESTS, Kind
from kinelo.matches.matches import LARGEST_WEIGHT, Matches, check_matches
from kinelo.presentation import Table, counted, html_list

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.dated import Condition

FINISHED, UNFINISHED, DISQUALIFIED, NOT_STARTED = range(4)
ENDINGS = ("finished", "unfinished", "disqualified", "not started")
ENTRIES_SHOWN = 10


def check_contests(value: object) -> None:
    """Refuse anything but :class:`Contests` whose columns fit together, and say how to get them.

    >>> check_contests("races.csv")
    Traceback (most recent call last):
    kinelo.errors.InputError: contests must be read before they are used: kinelo.read_contests('races.csv').
    """
    CONTESTS.check(value)


@dataclass(frozen=True)
class Slots:
    """What one kind of slot holds for every entry: codes into ``names``, one row per entry, -1 where there is none.

    An ``advantage`` is not somebody's strength but what helps or hinders whoever has it, such as being at home.
    ``minutes`` says how long each of a team took part, NaN where that is not known; None where nothing says it.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]
    advantage: bool = False
    minutes: NDArray[np.float64] | None = None

    def of(self, entries: NDArray[Any]) -> Slots:
        """What these entries hold."""
        minutes = None if self.minutes is None else self.minutes[entries]
        return replace(self, codes=self.codes[entries], minutes=minutes)

    def playing(self) -> NDArray[np.float64]:
        """How much each of a team took part: minutes where those of the whole team are known, else 1; 0 for nobody."""
        there = self.codes >= 0
        if self.minutes is None:
            return there.astype(float)
        minutes = np.where(there, self.minutes, 0.0)
        known = (np.isfinite(minutes).all(axis=1) & (np.nan_to_num(minutes).sum(axis=1) > 0.0))[:, None]
        return np.where(known, np.nan_to_num(minutes), there)


@dataclass(frozen=True, repr=False)
class Contests(DatedTable):
    """Contests of many entrants; read them with :func:`kinelo.read_contests`.

    An entry is one entrant in one contest; the entries of contest ``c`` are ``first[c]`` to ``first[c + 1]``.

    Attributes
    ----------
    date
        Day of each contest (``datetime64[D]``).
    first
        Where the entries of each contest begin; one number more than contests.
    entrant
        Codes of the entries into ``entrants``.
    place
        Place of each entry, 1 for the best; those who tie share the mean of their places. NaN in contests to come.
    ended
        0 finished, 1 did not finish, 2 disqualified, 3 did not start.
    slots
        By kind, what is rated of each entry (:class:`Slots`).
    weight
        How much each contest counts.
    row
        Row of each entry in its file, from 1.
    identifiers
        Name of each contest.
    rejected, notes
        Rows that could not be used, and remarks on how the file was read.
    distance
        How far each entry came, as a part of what the winner did (1 is all the way), NaN where it is unknown; None
        where nothing is known of any.
    titles
        What the file calls each contest beside its identifier, such as British Grand Prix; None where it does not.
    source
        All contests of the table that these are a part of, or None where they are all.

    >>> import kinelo as kn
    >>> table = {"race": [1, 1, 1, 2, 2], "driver": ["Ann", "Bob", "Cid", "Bob", "Ann"], "place": [1, 2, 3, 1, 2]}
    >>> races = kn.read_contests(table)
    >>> races, races.sizes.tolist(), races[1].place.tolist()
    (Contests: 2 of 3 entrants, 2 to 3 in each, undated, [3, 2], [1.0, 2.0])
    """

    kind: ClassVar[Kind] = CONTESTS

    date: NDArray[np.datetime64]
    first: NDArray[np.int64]
    entrant: NDArray[np.int32]
    entrants: tuple[str, ...]
    place: NDArray[np.float64]
    ended: NDArray[np.int8]
    slots: Mapping[str, Slots]
    weight: NDArray[np.float64]
    row: NDArray[np.int64]
    identifiers: tuple[str, ...]
    rejected: Rejects = field(default_factory=Rejects)
    notes: tuple[str, ...] = ()
    source: Contests | None = None
    distance: NDArray[np.float64] | None = None
    titles: tuple[str, ...] | None = None

    @property
    def outcome(self) -> NDArray[np.float64]:
        """Places, NaN where a contest is still to come."""
        return self.place

    @property
    def present(self) -> list[str]:
        """Names of the entrants who take part; a rejected row may name others."""
        return [self.entrants[code] for code in np.unique(self.entrant)]

    @property
    def _appearing(self) -> list[str]:
        """Names of the entrants, in the order in which they first take part."""
        return [self.entrants[code] for code in dict.fromkeys(self.entrant.tolist())]

    @property
    def _keys(self) -> NDArray[np.str_]:
        """Identifiers of the contests."""
        return np.array(self.identifiers, str)

    @property
    def _took_place(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.place[self.first[:-1]])

    @property
    def _events(self) -> list[tuple[object, ...]]:
        return list(zip(self.day.tolist(), self.identifiers))

    def _level_of(self, column: str) -> Condition:
        from kinelo.matches.dated import Condition

        slots = self.slots[column]
        codes, first = slots.codes[:, 0], slots.codes[self.first[:-1], 0]
        if slots.codes.shape[1] > 1 or (codes != first[self.contest]).any():
            odd = int(self.contest[np.argmax(codes != first[self.contest])])
            raise InputError(
                f"The column {column!r} does not say the same of all entrants of contest {self.identifiers[odd]}: "
                "contests cannot be told apart by it."
            )
        return Condition(first, slots.names)

    def _without(self, column: str) -> Contests:
        return self.rating(*(kind for kind in self.kinds if kind != column))

    def _line(self, row: int) -> str:
        part = slice(int(self.first[row]), int(self.first[row + 1]))
        names = ", ".join(self.entrants[code] for code in self.entrant[part].tolist())
        title = "" if self.titles is None else f"\t{self.titles[row]}"
        return f"{self.identifiers[row]}\t{self.date[row] if self.dated else 'undated'}\t{names}{title}"

    def _named(self, row: int) -> str:
        return f"contest {self.identifiers[row]} {self._when(row)}"

    def plays(self, name: str) -> NDArray[np.bool_]:
        """In which contests an entrant, or anybody (any car) that is rated, takes part."""
        entries = np.zeros(self.entrant.size, bool)
        slots = ((slot.names, slot.codes) for slot in self.slots.values())
        for names, codes in ((self.entrants, self.entrant[:, None]), *slots):
            if isinstance(name, str) and name in names:
                entries |= (codes == names.index(name)).any(axis=1)
        plays = np.zeros(len(self), bool)
        plays[self.contest[entries]] = True
        return plays

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of entrants of each contest."""
        return np.diff(self.first)

    @cached_property
    def contest(self) -> NDArray[np.int64]:
        """Contest of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def labels(self) -> tuple[str, ...]:
        """What to show of each contest: its title, or its identifier where the file has no titles."""
        return self.identifiers if self.titles is None else self.titles

    @property
    def unordered(self) -> None:
        """Contests stand in an order always; there is no mark for those of which nothing tells it."""
        return

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of slots, such as driver and car, and advantages."""
        return tuple(self.slots)

    @property
    def advantages(self) -> tuple[str, ...]:
        """Those kinds that help or hinder whoever has them, such as a lane."""
        return tuple(kind for kind, slots in self.slots.items() if slots.advantage)

    @cached_property
    def source_digest(self) -> str:
        """A fingerprint of everything in the table these contests were read from."""
        if self.source is not None:
            return self.source.source_digest
        columns = (self.day, self.first, self.entrant, self.place, self.ended, self.weight, self.row)
        columns += () if self.distance is None else (self.distance,)
        codes = tuple(slots.codes for slots in self.slots.values())
        codes += tuple(slots.minutes for slots in self.slots.values() if slots.minutes is not None)
        names = (self.entrants, self.identifiers, self.kinds, *(slots.names for slots in self.slots.values()))
        return digest_of((*columns, *codes), names)

    def __getitem__(self, index: int | slice | NDArray[Any]) -> Contests:
        """Some of the contests, by number, slice, mask or array of numbers; codes stay as they are."""
        if isinstance(index, int | np.integer):
            place = range(len(self))[int(index)]
            index = slice(place, place + 1)
        chosen = np.arange(len(self))[index]
        sizes = self.sizes[chosen]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entries = np.repeat(self.first[chosen] - first[:-1], sizes) + np.arange(first[-1])
        return replace(
            self._entries(entries),
            date=self.date[chosen],
            first=first,
            weight=self.weight[chosen],
            identifiers=tuple(self.identifiers[k] for k in chosen.tolist()),
            titles=None if self.titles is None else tuple(self.titles[k] for k in chosen.tolist()),
            source=self if self.source is None else self.source,
        )

    def _entries(self, entries: NDArray[np.int64]) -> Contests:
        """These entries alone; which contest each belongs to is for the caller to say."""
        return replace(
            self,
            entrant=self.entrant[entries],
            place=self.place[entries],
            ended=self.ended[entries],
            slots={kind: slots.of(entries) for kind, slots in self.slots.items()},
            row=self.row[entries],
            distance=None if self.distance is None else self.distance[entries],
        )

    def _place(self, date: Day | float) -> int:
        """How many contests come before a day; where there are none, before a contest, a number of them or a share.

        >>> import kinelo as kn
        >>> names = ["Rome", "Rome", "Oslo", "Oslo", "Bonn", "Bonn", "Lund", "Lund"]
        >>> races = kn.read_contests({"race": names, "driver": ["Ann", "Bob"] * 4, "place": [1, 2] * 4})
        >>> [len(races.before(where)) for where in ("Oslo", 3, "3", 0.5, "50 %")]
        [1, 3, 3, 2, 2]
        """
        if self.dated:
            return super()._place(date)  # type: ignore[arg-type]
        for names in (self.identifiers, self.titles or ()):
            if date in names:
                return names.index(date)  # type: ignore[arg-type]
        text = str(date).strip()
        try:
            number = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            number = math.nan
        if 0.0 < number < 1.0:
            return int(number * len(self))
        if 0.0 <= number <= len(self) and number == int(number) and not text.endswith("%"):
            return int(number)
        raise InputError(
            f"These contests have no dates, and {date!r:.60} is none of them; name a contest, how many come before, or "
            "a share such as 0.5."
        )

    def rating(self, *kinds: str) -> Contests:
        """The same contests with these kinds of slots alone.

        >>> import kinelo as kn
        >>> table = {"race": [1, 1], "driver": ["Ann", "Bob"], "car": ["X", "Y"], "place": [1, 2]}
        >>> kn.read_contests(table, slots=["driver", "car"]).rating("car").kinds
        ('car',)
        """
        missing = [kind for kind in kinds if kind not in self.slots]
        if missing or not kinds:
            raise InputError(f"There is no kind of slot {missing[:1] or kinds!r}; these are: {', '.join(self.kinds)}.")
        return replace(self, slots={kind: self.slots[kind] for kind in kinds})

    @classmethod
    def from_matches(cls, matches: Matches) -> Contests:
        """Matches of two sides as contests of two; a draw is a tie, and being at home an advantage.

        A result between a win, a draw and a loss, such as 0.75, is no order of two and is refused.

        >>> import kinelo as kn
        >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [0, 0.5]})
        >>> kn.matches.Contests.from_matches(matches).place.tolist()
        [1.0, 2.0, 1.5, 1.5]
        """
        check_matches(matches)
        between = np.flatnonzero(~np.isin(matches.result, (0.0, 0.5, 1.0)) & ~np.isnan(matches.result))
        if between.size:
            k = int(between[0])
            raise InputError(
                f"The match {matches.teams[matches.home[k]]} – {matches.teams[matches.away[k]]} in row "
                f"{matches.row[k]:,} has the result {matches.result[k]:g}; a contest of two is won (1), drawn (0.5) or "
                "lost (0)."
            )
        n = len(matches)
        home_first = ~(matches.result < 0.5)
        entrant = np.empty((n, 2), np.int32)
        entrant[:, 0] = np.where(home_first, matches.home, matches.away)
        entrant[:, 1] = np.where(home_first, matches.away, matches.home)
        place = np.where(matches.result[:, None] == 0.5, 1.5, np.array([1.0, 2.0]))
        place[np.isnan(matches.result)] = np.nan
        at_home = (entrant == matches.home[:, None]) & ~matches.neutral[:, None]
        venue = Slots(np.where(at_home, 0, -1).astype(np.int32).reshape(-1, 1), ("home",), advantage=True)
        slots = {"side": Slots(entrant.reshape(-1, 1), matches.teams), "venue": venue}
        return cls(
            matches.date, np.arange(0, 2 * n + 1, 2), entrant.ravel(), matches.teams, place.ravel(),
            np.zeros(2 * n, np.int8), slots, matches.weight,
            np.repeat(matches.row, 2), tuple(matches.match_id.tolist()), matches.rejected, matches.notes,
        )  # fmt: skip

    def _check_sound(self) -> None:
        """Refuse contests whose columns do not fit together."""
        table = TableCheck("contests", self)
        size = table.days()
        entries = self.entrant.size if isinstance(self.entrant, np.ndarray) else 0
        table.bounds("first", size + 1, entries, self.first, 1)
        table.codes("entrant", entries, self.entrants)
        table.codes("ended", entries, ENDINGS)
        table.numbers("place", entries, 1.0, np.inf, missing=True)
        table.numbers("weight", size, 0.0, LARGEST_WEIGHT)
        table.column("row", "i", entries)
        if self.distance is not None:
            table.column("distance", "f", entries)
        for name, texts in (("identifiers", self.identifiers), ("titles", self.titles)):
            if texts is not None and len(texts) != size:
                raise table.refuse(f"{name} has {counted(len(texts), 'value', 'values')} where {size:,} are needed")
        if not isinstance(self.slots, Mapping) or not self.slots:
            raise table.refuse(f"slots must be a mapping from kinds to Slots, not {described(self.slots)}")
        for kind, slots in self.slots.items():
            if not isinstance(slots, Slots):
                raise table.refuse(f"slots[{kind!r}] must be Slots, not {described(slots)}")
            table.codes(f"slots[{kind!r}]", entries, slots.names, -1, slots.codes, dimensions=2)
            if slots.minutes is not None and np.shape(slots.minutes) != slots.codes.shape:
                raise table.refuse(f"the minutes of slots[{kind!r}] must have a number for each of its codes")
        contest = np.repeat(np.arange(size), np.diff(self.first))
        twice = np.sort(contest * max(len(self.entrants), 1) + self.entrant)
        if (twice[1:] == twice[:-1]).any():
            raise table.refuse("an entrant stands twice in one contest")

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Contests: none"
        least, most = int(self.sizes.min()), int(self.sizes.max())
        parts = [
            f"{len(self):,} of {counted(np.unique(self.entrant).size, 'entrant', 'entrants')}",
            f"{least:,} in each" if least == most else f"{least:,} to {most:,} in each",
            self._span or "undated",
        ]
        rated = [kind for kind in self.kinds if kind not in self.advantages]
        if len(rated) > 1:
            parts.append(f"rating {' and '.join(rated)}")
        if self.advantages:
            parts.append(f"advantage by {' and '.join(self.advantages)}")
        if len(self.rejected):
            parts.append(f"{counted(len(self.rejected), 'row', 'rows')} rejected")
        return f"Contests: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        return Table.of(self.to_polars().head(ENTRIES_SHOWN), title=repr(self)).html() + html_list(self.notes)

    def to_polars(self) -> pl.DataFrame:
        """The entries as a long table with names in place of codes."""
        import polars as pl

        contest = self.contest
        columns: dict[str, Any] = {
            "contest": pl.Series(self.identifiers, dtype=pl.String).gather(contest),
            "date": pl.Series(self.date[contest]),
            "entrant": pl.Series(self.entrants, dtype=pl.String).gather(pl.Series(self.entrant)),
            "place": self.place,
            "ended": pl.Series(ENDINGS).gather(pl.Series(self.ended.astype(np.int64))),
        }
        if self.titles is not None:
            columns["title"] = pl.Series(self.titles, dtype=pl.String).gather(contest)
        if self.distance is not None:
            columns["distance"] = pl.Series(self.distance).fill_nan(None)
        for kind, slots in self.slots.items():
            names = pl.Series([*slots.names, None], dtype=pl.String)
            for j in range(slots.codes.shape[1]):
                label = kind if slots.codes.shape[1] == 1 else f"{kind} {j + 1}"
                codes = np.where(slots.codes[:, j] < 0, len(slots.names), slots.codes[:, j])
                columns.setdefault(label, names.gather(pl.Series(codes)))
        return pl.DataFrame(columns)
