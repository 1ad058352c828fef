"""The table of matches that every rater works on.

Columns are arrays sorted by date; matches of one day keep the order of the file unless a side plays twice on it
(:mod:`kinelo.matches.day_order`). A result is what the home side gained:
1 won, ½ drawn, 0 lost, or anything between; NaN marks a match that has not been played yet. Kernels work on the paper's
``S = 2·result − 1`` in [-1, 1], which is called ``signed``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import warn
from kinelo.matches.dated import DatedTable, Rejects, TableCheck, described, digest_of
from kinelo.matches.kinds import MATCHES, Kind
from kinelo.matches.lineups import Lineups
from kinelo.presentation import Table, counted, html_list, percent

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from kinelo.matches.dated import Condition

MATCHES_SHOWN = 10
LARGEST_WEIGHT = 1e6

LABELS = ("away_win", "draw", "home_win")
"""Results as words, in the order of the alphabet and of points."""


def check_matches(value: object) -> None:
    """Refuse anything but :class:`Matches` whose columns fit together, and say how to get them.

    >>> check_matches("league.csv")
    Traceback (most recent call last):
    kinelo.errors.InputError: matches must be read before they are used: kinelo.read_matches('league.csv').
    """
    MATCHES.check(value)


@dataclass(frozen=True, repr=False)
class Matches(DatedTable):
    """Matches between two sides; read them with :func:`kinelo.read_matches`.

    Attributes
    ----------
    date
        Day of each match (``datetime64[D]``).
    home, away
        Codes into ``teams``.
    result
        1, ½, 0 or any value between: what the home side gained.
    margin
        Score of the home side minus score of the away side, NaN without scores.
    neutral
        Whether nobody was at home.
    weight
        How much a match counts, 1 unless the file says otherwise.
    row
        Row of each match in the file it came from, counted from 1.
    identifiers
        Match identifiers of the file, or None where it has none.
    lineups
        Line-ups of the matches, or None.
    rejected, notes
        Rows that could not be used, and remarks on how the file was read.
    conditions
        Circumstances of each match that the user named, such as its surface, by column.
    source
        All matches of the table that these are a part of, or None where they are all.
    unordered
        Whether a match was played on a day on which a side plays more than once and nothing tells the order: raters
        forecast it from the ratings before all such matches of its day. None where there are none.
    season
        The season of each match where the file has a column of seasons, else None.
    side_headers
        What the file calls the columns of its sides, such as White and Black.
    total
        Scores of both sides together, NaN where they are not known; None where the table has no scores.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["Ajax", "PSV"], "away": ["PSV", "Ajax"], "result": [1, 0]})
    >>> len(matches), matches.teams, matches.match_id.tolist()
    (2, ('Ajax', 'PSV'), ['1', '2'])
    """

    kind: ClassVar[Kind] = MATCHES

    date: NDArray[np.datetime64]
    home: NDArray[np.int32]
    away: NDArray[np.int32]
    teams: tuple[str, ...]
    result: NDArray[np.float64]
    margin: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    weight: NDArray[np.float64]
    row: NDArray[np.int64]
    identifiers: pl.Series | None = None
    lineups: Lineups | None = None
    rejected: Rejects = field(default_factory=Rejects)
    notes: tuple[str, ...] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    source: Matches | None = None
    unordered: NDArray[np.bool_] | None = None
    season: Condition | None = None
    side_headers: tuple[str, str] = ("home", "away")
    total: NDArray[np.float64] | None = None

    @property
    def outcome(self) -> NDArray[np.float64]:
        """Results, NaN where a match is still to come."""
        return self.result

    @property
    def present(self) -> list[str]:
        """Names of the sides that play; a rejected row may name others."""
        return [self.teams[code] for code in np.unique(np.concatenate([self.home, self.away]))]

    @property
    def _appearing(self) -> list[str]:
        """Names of the sides, in the order in which they first play."""
        codes = np.column_stack([self.home, self.away]).ravel().tolist()
        return [self.teams[code] for code in dict.fromkeys(codes)]

    @property
    def _keys(self) -> NDArray[np.str_]:
        """Identifiers of the matches, or numbers of their rows."""
        return self.match_id

    @property
    def _took_place(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.result)

    @property
    def _events(self) -> list[tuple[object, ...]]:
        names = self.teams
        return [(int(d), names[h], names[a]) for d, h, a in zip(self.day, self.home, self.away)]

    def _level_of(self, column: str) -> Condition:
        return self.conditions[column]

    def _first_wins(self, *, neutral: bool) -> tuple[int, float]:
        S = self.signed[self.neutral if neutral else ~self.neutral]
        won, lost = int(np.sum(S > 0)), int(np.sum(S < 0))
        return won + lost, won / max(won + lost, 1)

    def _line(self, row: int) -> str:
        date = str(self.date[row]) if self.dated else "undated"
        home, away = self.teams[self.home[row]], self.teams[self.away[row]]
        return f"{self.match_id[row]}\t{date}\t{home}\t{away}\t{self.result[row]:g}"

    def _named(self, row: int) -> str:
        first, second = (self.teams[side[row]] for side in (self.home, self.away))
        return f"match {self._when(row)} between {first} and {second}"

    def plays(self, name: str) -> NDArray[np.bool_]:
        """In which matches a side plays, or a player of the line-ups; in none where nobody is called so."""
        plays = np.zeros(len(self), bool)
        if not isinstance(name, str):
            return plays
        if name in self.teams:
            code = self.teams.index(name)
            return (self.home == code) | (self.away == code)
        if self.lineups is not None and name in self.lineups.players:
            lineups = self.lineups
            match = np.repeat(np.arange(lineups.offsets.size - 1) // 2, np.diff(lineups.offsets))
            plays[match[lineups.player == lineups.players.index(name)]] = True
        return plays

    @cached_property
    def signed(self) -> NDArray[np.float64]:
        """Results on the scale of the model: 1 won, 0 drawn, -1 lost, seen from the home side."""
        return 2.0 * self.result - 1.0

    @cached_property
    def labels(self) -> NDArray[np.str_]:
        """Results as ``home_win``, ``draw`` and ``away_win``: the target for metrics of scikit-learn.

        Blank where a match has not been played. A result between 0 and 1 counts for whom it favours.
        """
        return np.array([*LABELS, ""])[np.nan_to_num(np.sign(self.signed) + 1.0, nan=3.0).astype(np.int64)]

    @cached_property
    def match_id(self) -> NDArray[np.str_]:
        """Identifier of each match: the file's own, or the row number where it has none."""
        if self.identifiers is None:
            return self.row.astype(str)
        return np.array(self.identifiers.to_list(), dtype=str)

    @cached_property
    def source_digest(self) -> str:
        """A fingerprint of everything in the table these matches were read from.

        The same table read again has the same one, whatever its format, so that a digest and a ``row`` tell a match
        sent twice from a second match between the same sides.
        """
        if self.source is not None:
            return self.source.source_digest
        columns = (self.day, self.home, self.away, self.result, self.margin, self.neutral, self.weight, self.row)
        return digest_of(columns, (self.teams, [] if self.identifiers is None else self.identifiers.to_list()))

    def __getitem__(self, index: int | slice | NDArray[Any] | tuple[Any, ...]) -> Matches:
        """Some of the matches, by number, slice, mask or array of numbers; the team codes stay as they are."""
        index = self._rows(index)
        identifiers = self.identifiers
        if identifiers is not None:
            identifiers = identifiers[index] if isinstance(index, slice) else identifiers[np.arange(len(self))[index]]
        return Matches(
            self.date[index],
            self.home[index],
            self.away[index],
            self.teams,
            self.result[index],
            self.margin[index],
            self.neutral[index],
            self.weight[index],
            self.row[index],
            identifiers,
            None if self.lineups is None else self.lineups[index],
            self.rejected,
            self.notes,
            {name: part[index] for name, part in self.conditions.items()},
            self if self.source is None else self.source,
            None if self.unordered is None else self.unordered[index],
            None if self.season is None else self.season[index],
            self.side_headers,
            None if self.total is None else self.total[index],
        )

    def _rows(self, index: Any) -> slice | NDArray[Any]:
        """What was asked for as a slice or an array."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # rows as scikit-learn asks an array for them
        if isinstance(index, int | np.integer):
            place = range(len(self))[int(index)]
            return slice(place, place + 1)
        if isinstance(index, list | range):
            return np.asarray(index, dtype=np.int64) if len(index) == 0 else np.asarray(index)
        return cast("slice | NDArray[Any]", index)

    def _check_sound(self) -> None:
        """Refuse matches whose columns do not fit together."""
        from kinelo.matches.dated import Condition

        table = TableCheck("matches", self)
        size = table.days()
        home, away = table.codes("home", size, self.teams), table.codes("away", size, self.teams)
        if (home == away).any():
            raise table.refuse(f"{self.teams[home[home == away][0]]} plays itself")
        table.numbers("result", size, 0.0, 1.0, missing=True)
        table.column("margin", "f", size)
        table.column("neutral", "b", size)
        table.numbers("weight", size, 0.0, LARGEST_WEIGHT)
        table.column("row", "i", size)
        if self.unordered is not None:
            table.column("unordered", "b", size)
        if self.total is not None:
            table.column("total", "f", size)
        if self.identifiers is not None and len(self.identifiers) != size:
            raise table.refuse(
                f"identifiers has {counted(len(self.identifiers), 'value', 'values')} where {size:,} are needed"
            )
        if not isinstance(self.conditions, Mapping):
            raise table.refuse(f"conditions must be a mapping, not {described(self.conditions)}")
        parts = [*zip(map("conditions[{!r}]".format, self.conditions), self.conditions.values())]
        for name, part in parts + ([] if self.season is None else [("season", self.season)]):
            if not isinstance(part, Condition):
                raise table.refuse(f"{name} must be a Condition, not {described(part)}")
            table.codes(name, size, part.levels, -1, part.codes)
        if (lineups := self.lineups) is not None:
            if not isinstance(lineups, Lineups):
                raise table.refuse(f"lineups must be Lineups, not {described(lineups)}")
            entries = lineups.player.size if isinstance(lineups.player, np.ndarray) else 0
            table.codes("lineups.player", entries, lineups.players, 0, lineups.player)
            table.bounds("lineups.offsets", 2 * size + 1, entries, lineups.offsets, 0)
            table.column("lineups.minutes", "f", entries, lineups.minutes)
            table.column("lineups.starter", "i", entries, lineups.starter)
            table.codes("lineups.role", entries, lineups.roles, -1, lineups.role)

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Matches: none"
        sides = np.unique(np.concatenate([self.home, self.away])).size
        parts = [f"{len(self):,} of {sides:,} sides", self._span or "undated"]
        if self.lineups is not None:
            parts.append(f"{int(self.lineups.known().sum()):,} with line-ups")
        if self.conditions:
            parts.append(f"conditions {', '.join(self.conditions)}")
        if len(self.rejected):
            parts.append(f"{counted(len(self.rejected), 'row', 'rows')} rejected")
        return f"Matches: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        table = self[:MATCHES_SHOWN].to_polars()
        table = table if self.dated else table.drop("date")
        return Table.of(table, title=repr(self)).html() + html_list(self.notes)

    def to_arrow(self) -> pa.Table:
        """The matches as an Arrow table."""
        return self.to_polars().to_arrow()

    def to_polars(self) -> pl.DataFrame:
        """The matches as a table with names in place of codes."""
        import polars as pl

        names = pl.Series("teams", list(self.teams), dtype=pl.String)
        table = pl.DataFrame(
            {
                "match_id": self.row.astype(str) if self.identifiers is None else self.identifiers,
                "date": pl.Series(self.date.astype("datetime64[D]")),
                "home": names.gather(pl.Series(self.home)),
                "away": names.gather(pl.Series(self.away)),
                "result": self.result,
                "margin": self.margin,
                "neutral": self.neutral,
                "weight": self.weight,
            }
        )
        free = {name: part for name, part in self.conditions.items() if name not in table.columns}
        return table.with_columns(part.names().alias(name) for name, part in free.items()) if free else table

    def pools(self, *, half_life: float | None = None, firm: float = 4.0) -> pl.DataFrame:
        """Groups of sides that matches connect, and how firmly: name, pool, tie, matches.

        ``tie`` is the number of direct matches that would tie a side to the largest group as firmly; sides below
        ``firm`` stand outside the main pool. With ``half_life`` (in days) a match counts less the longer ago it was.
        """
        from kinelo.matches.pools import pool_table

        return pool_table(self.teams, self.home, self.away, self.day, half_life, firm)


FEWEST_DECIDED, TELLING, TELLING_AT_HOME = 20, 0.95, 0.99
"""A table that names the winner first leaks the result into the order of sides: a rater that learns an advantage of the
side named first learns nothing else. Among so many decided matches or more, order is taken to tell the result where the
first side won at least such a share of them on neutral ground, or at home, where strong hosts who invite weak guests do
win nearly always. No home advantage and no seeding known to sport comes near, and to leave order out by mistake costs
little: the advantage is then simply 0. On neutral ground order counts only once as many decided matches were seen in
which it does not tell the result."""


@dataclass(frozen=True)
class SideOrder:
    """What may be learnt from the order of sides: an advantage at home, an advantage of the first on neutral ground."""

    home: bool = True
    neutral: bool = False


def learn_order(matches: DatedTable) -> SideOrder:
    """What the order of sides in matches to be fitted may teach; warns where it tells the result.

    Nobody is named first in a contest because of what he is.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B"] * 20, "away": ["B", "A"] * 20, "neutral": [1] * 40}
    >>> learn_order(kn.read_matches(table | {"result": [1, 1, 0, 1] * 10}))
    SideOrder(home=True, neutral=True)
    """
    at_home, elsewhere = matches._first_wins(neutral=False), matches._first_wins(neutral=True)
    leaks_at_home = _tells(*at_home, TELLING_AT_HOME, "at home")
    leaks_elsewhere = _tells(*elsewhere, TELLING, "on neutral ground")
    return SideOrder(not leaks_at_home, not leaks_elsewhere and elsewhere[0] >= FEWEST_DECIDED)


def tells_result(decided: float, share: float, telling: float = TELLING_AT_HOME) -> bool:
    """Whether so many decided matches, of which the side named first won this share, leave no doubt."""
    return decided >= FEWEST_DECIDED and share >= telling


def _tells(decided: int, share: float, telling: float, where: str) -> bool:
    if not tells_result(decided, share, telling):
        return False
    warn(
        f"The side named first won {percent(share, 1)} of {decided:,} decided matches {where}: the order of sides "
        "seems to tell the result, so nothing is learnt from it; if the table names winners, call its columns winner "
        "and loser."
    )
    return True
