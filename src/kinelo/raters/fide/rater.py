"""FIDE's monthly rating lists, as its regulations make them."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.forecast import Forecast
from kinelo.matches.dated import Day, read_day
from kinelo.matches.matches import Matches
from kinelo.presentation import Table, number, words
from kinelo.raters.fide.lists import BEGINNING, Game, Player, RatingLists, first_day, list_of
from kinelo.raters.fide.regulations import ELITE, IN_FORCE, JUNIOR_LINE
from kinelo.raters.rater import Rater, Traits
from kinelo.raters.start import COLUMNS, SETTLED, read_start
from kinelo.raters.state import NEVER
from kinelo.raters.stored import taken_whole

if TYPE_CHECKING:
    import polars as pl

EPOCH = date(1970, 1, 1).toordinal()
BORN = ("born", "birth_year", "year_of_birth", "birthday", "b-day", "birth", "birth_date")
MORE = {"k": ("k",), "born": BORN, "highest": ("highest",)}
"""What a list may say beside names, ratings and games, by the headers of its columns."""


class FideElo(Rater):
    """FIDE's rating lists for standard chess, by the regulations of 1 March 2024 as amended on 1 October 2025.

    The whole of them: the printed tables, differences above 400 points, K by games, rating and age, at most 700 points
    for K times games, first ratings with two hypothetical draws, the floor at 1400, monthly lists, and rounding where
    the regulations round (:mod:`kinelo.raters.fide.regulations`). Ratings are whole numbers. Nothing is estimated and
    nothing is forecast: for forecasts begin another rater with these ratings, ``kn.TeamElo.classic(start=…)``.

    Refused, because these rules do not cover it: matches without a date, before 1 March 2024, or with a result other
    than 1, ½ and 0; events of more than 30 days. Not asked: whether the rate of play and the registration of an event
    allow it to be rated. Forfeits are no games: leave them out (a tournament report, TRF, marks them).

    Parameters
    ----------
    start
        The list to begin with: a table (or the path of one) with name and rating, perhaps ``k``, ``matches`` (games
        rated so far; 30 and more unless given), ``highest`` (highest rating ever published) and ``born``. Whoever is
        not on it has no rating yet.
    born
        Years of birth by name, for the K of players up to the year in which they turn 18.
    event
        The column that names the event of each match (read with ``conditions=[…]``). An event is rated by the list
        in force when it began. Without it, each match is rated by the list of its month.
    as_of
        A day whose rules hold for all matches, also for those before 1 March 2024.

    >>> import kinelo as kn
    >>> games = {"date": ["2024-05-04", "2024-05-05"], "home": ["Ann", "Bob"], "away": ["Cid", "Ann"],
    ...          "result": [1, 0.5]}
    >>> rater = kn.FideElo(start={"Ann": 2500, "Bob": 2380, "Cid": 1900}).fit(kn.read_matches(games))
    >>> rater.list_date_, rater.ratings_.select("name", "rating", "k").rows()
    (datetime.date(2024, 6, 1), [('Ann', 2499.0, 10), ('Bob', 2383.0, 20), ('Cid', 1898.0, 20)])
    >>> rater.calculations_.filter(name="Ann").select("opponent", "counted", "expected", "change").rows()
    [('Cid', 400, 0.92, 0.08), ('Bob', 120, 0.66, -0.16)]
    """

    _traits = Traits(fitted_by_forecasts=False)
    _state: RatingLists | None

    def __init__(
        self, start: Any = None, born: Any = None, *, event: str | None = None, as_of: Day | None = None
    ) -> None:
        self.start = start
        self.born = born
        self.event = event
        self.as_of = as_of

    @property
    def label(self) -> str:
        """What an officer calls this system."""
        return f"FIDE's rating regulations of {self.as_of or IN_FORCE}"

    @property
    def conditions(self) -> tuple[str, ...]:  # type: ignore[override]
        """The column of events, where there is one."""
        if not isinstance(self.event, str | None):
            raise InputError(f"event={self.event!r:.60} must be the name of a column, such as 'event'.")
        return () if self.event is None else (self.event,)

    def _needs_whole_table(self) -> str:
        """It looks at whole events."""
        return "it looks at whole events; read them with read_matches"

    # The list to begin with

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match; the list to begin with stays."""
        from kinelo.matches.loading import load_table
        from kinelo.matches.names import clean_name

        self.parameters_: Mapping[str, float] = {}
        rules = None if self.as_of is None else _date(self.as_of)  # of one day, or each match goes by its own
        if rules is not None and rules < IN_FORCE:
            raise InputError(
                f"as_of={self.as_of!r:.40} lies before {IN_FORCE}; Kinelo knows the regulations in force since."
            )
        self._state = RatingLists(rules)
        # Years of birth by name: a mapping, or a table with name and born.
        born = {} if self.born is None else self.born
        if not _by_name(born):
            if not isinstance(born, str | Path | Mapping) and not hasattr(born, "columns"):
                raise InputError(f"born must give years of birth by name, not {type(born).__name__}.")
            table = load_table(born)
            names, given = _column(table, ("name",)), _column(table, BORN)
            if names is None or given is None:
                raise InputError(f"born needs the columns name and born; it has {', '.join(map(str, table.columns))}.")
            born = dict(zip(names, given, strict=True))
        by_name = {clean_name(str(name)): _year(str(name), value) for name, value in born.items()}
        years = {name: year for name, year in by_name.items() if year is not None}
        for name, player in ({} if self.start is None else _listed(self.start)).items():
            player.born = years.get(name, player.born)
            self._state.players[name] = player
        for name, year in years.items():
            self._state.players.setdefault(name, Player(born=year))

    def _learn(self, matches: Matches, latest: Matches) -> None:
        self._use(matches)

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        met = self._names_of(matches)
        if not any(player.rating is not None for player in self._begun().players.values()):
            raise InputError(
                "Nobody is rated: by FIDE's rules a first rating comes from games against rated opponents. Give the "
                "list to begin with (start=, --start)."
            )
        if not any(self._begun().players[name].history for name in met):
            warn("No match names anybody who is on the list to begin with.")

    def _prepare_once(self, matches: Matches) -> None:
        """Nothing is read off the matches before they are rated."""

    def _start(self) -> None:
        return None  # a list has more columns than ratings to begin with: see reset

    # Rating

    def _use(self, matches: Matches) -> None:
        """Add matches, and make the lists that are due."""
        if not len(matches):
            return
        self._begun().add(self._games(matches))

    def _games(self, matches: Matches) -> list[Game]:
        if not matches.dated:
            raise InputError("FIDE's lists are monthly, and these matches have no dates.")
        odd = np.flatnonzero(~np.isin(matches.result, (0.0, 0.5, 1.0)) | (matches.weight != 1.0))
        if odd.size:
            k = int(odd[0])
            what = f"a weight of {matches.weight[k]:g}" if matches.weight[k] != 1.0 else f"{matches.result[k]:g}"
            raise InputError(
                f"The match {matches.match_id[k]} counts {what}; FIDE rates games of 1, ½ or 0 points, each fully."
            )
        events = [""] * len(matches)
        if self.conditions:
            (column,) = self.conditions
            if column not in matches.conditions:
                raise InputError(f"These matches have no column {column!r}; read it with conditions=[…].")
            events = [name or "" for name in matches.conditions[column].names().to_list()]
        names = matches.teams
        return [
            Game(names[home], names[away], int(2 * result), EPOCH + int(day), event)
            for home, away, result, day, event in zip(
                matches.home, matches.away, matches.result, matches.day, events, strict=True
            )
        ]

    def _last_day(self) -> int:
        latest = self._begun().latest
        return NEVER if latest is None else latest - EPOCH

    def _foresee(self, matches: Matches) -> Forecast:
        raise InputError(
            "FideElo makes lists and forecasts nothing; begin another rater with its ratings: "
            "TeamElo.classic(start=rater.ratings_)."
        )

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Refused: lists forecast nothing."""
        return self._foresee(matches)

    def predict(self, matches: Matches) -> Forecast:
        """Refused: lists forecast nothing."""
        return self._foresee(matches)

    def _explain(self, match: str, matches: Any = None) -> Any:
        """Refused: a list takes all games of a period together."""
        raise InputError("A list takes all games of a period together: calculations_ shows every game of it.")

    # Lists

    def _closed(self) -> RatingLists:
        """The lists up to the first that holds every match handed over."""
        state = self._begun()
        if not state.pending:
            return state
        closed = copy.deepcopy(state)
        closed.make_lists(state.due())
        return closed

    @property
    def list_date_(self) -> date:
        """The day of the first list that holds every match handed over."""
        number = self._closed().current
        if number == BEGINNING:
            raise InputError("There is no list before the first match.")
        return first_day(number)

    @property
    def ratings_(self) -> pl.DataFrame:
        """The first list that holds every match handed over: name, rating, K, games, change; the best first.

        ``uncertainty`` is not a number: lists have none. ``matches`` counts matches handed over.
        """
        return self._table(self._closed(), None)

    def list_on(self, day: Day) -> pl.DataFrame:
        """The list in force on a day, as :attr:`ratings_` shows it."""
        lists = self._closed()
        return self._table(lists, list_of(_date(day)))

    def _table(self, lists: RatingLists, number: int | None) -> pl.DataFrame:
        import polars as pl

        rated = {name: p for name, p in lists.players.items() if _rating(p, number) is not None}
        shown = lists.current if number is None else number
        before = {name: p.rating_on(shown - 1) for name, p in rated.items()}
        games: dict[str, int] = {}
        for line in lists.lines if number is None else ():
            games[line.name] = games.get(line.name, 0) + 1
        days = [None if p.last_day is None else date.fromordinal(p.last_day) for p in rated.values()]
        rating = [_rating(p, number) for p in rated.values()]
        old = list(before.values())
        columns: dict[str, Any] = {
            "name": pl.Series(list(rated), dtype=pl.String),
            "rating": pl.Series(rating, dtype=pl.Float64),
            "uncertainty": pl.Series([float("nan")] * len(rated), dtype=pl.Float64),
            "matches": pl.Series([p.played for p in rated.values()], dtype=pl.Int64),
            "last_played": pl.Series(days, dtype=pl.Date),
        }
        if number is None:
            columns["k"] = pl.Series([p.k(max(shown, 0)) for p in rated.values()], dtype=pl.Int64)
            columns["games"] = pl.Series([games.get(name, 0) for name in rated], dtype=pl.Int64)
        columns["change"] = pl.Series(
            [None if r is None or o is None else r - o for r, o in zip(rating, old)], dtype=pl.Int64
        )
        return pl.DataFrame(columns).sort("rating", "name", descending=[True, False])

    def _list_table(self) -> Table:
        """The list as terminal and pages show it."""
        rows = self.ratings_.with_row_index("place", 1).to_dicts()
        columns = [
            number("Place", "place", ""), words("Name", "name"), number("Rating", "rating", ".0f"),
            number("Change", "change", "+d"), number("K", "k", ""), number("Games", "games", ""),
        ]  # fmt: skip
        return Table(columns, rows, f"The list of {self.list_date_}, by {self.label}")

    @property
    def unrated_(self) -> pl.DataFrame:
        """Who has played and has no rating: name, games and points against rated opponents that count so far."""
        import polars as pl

        unrated = {n: p for n, p in self._closed().players.items() if p.rating is None and p.played}
        return pl.DataFrame(
            {
                "name": pl.Series(list(unrated), dtype=pl.String),
                "games": pl.Series([len(p.pool) for p in unrated.values()], dtype=pl.Int64),
                "points": pl.Series([sum(one[2] for one in p.pool) / 2 for p in unrated.values()], dtype=pl.Float64),
            }
        ).sort("games", "name", descending=[True, False])

    @property
    def calculations_(self) -> pl.DataFrame:
        """Every game on the list of :attr:`ratings_`, for each of its players who was rated.

        ``difference`` of the ratings, what is ``counted`` of it, PD (``expected``), the score, ΔR (``change``) and the
        K of the period. K times the sum of a player's changes, rounded, is the change on the list.
        """
        import polars as pl

        lists = self._closed()
        rows = [
            {
                "name": line.name, "opponent": line.opponent, "date": date.fromordinal(line.day), "rating": line.own,
                "opponent_rating": line.opponent_rating, "difference": line.own - line.opponent_rating,
                "counted": line.difference, "expected": line.expected / 100, "score": line.halves / 2,
                "change": line.change / 100, "k": lists.coefficients[line.name],
            }
            for line in lists.lines
        ]  # fmt: skip
        whole, real = pl.Int64, pl.Float64
        schema = {
            "name": pl.String, "opponent": pl.String, "date": pl.Date, "rating": whole, "opponent_rating": whole,
            "difference": whole, "counted": whole, "expected": real, "score": real, "change": real, "k": whole,
        }  # fmt: skip
        return pl.DataFrame(rows, schema=schema)

    # Keeping

    def _plain_settings(self) -> dict[str, Any]:
        """The list to begin with and years of birth as lists and numbers, for a book."""
        blank = type(self)(self.start, self.born, event=self.event, as_of=self.as_of)
        blank._reset()
        players = blank._begun().players
        rated = {name: one for name, one in players.items() if one.rating is not None}
        start = {
            "name": list(rated), "rating": [one.rating for one in rated.values()],
            "highest": [one.highest for one in rated.values()], "matches": [one.games for one in rated.values()],
        }  # fmt: skip
        born = {name: one.born for name, one in players.items() if one.born is not None}
        as_of = None if self.as_of is None else str(read_day(self.as_of))
        return {"start": start if rated else None, "born": born or None, "as_of": as_of}

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        text = json.dumps(self._begun().plain(), ensure_ascii=True, sort_keys=True)
        return {"lists": np.frombuffer(text.encode(), np.uint8).copy()}

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        text = arrays["lists"]
        if text.dtype != np.uint8 or text.ndim != 1:
            raise InputError("These arrays are no state of FideElo.")
        self._reset()
        self._state = RatingLists.of_plain(json.loads(text.tobytes()))


def _rating(player: Player, number: int | None) -> int | None:
    return player.rating if number is None else player.rating_on(number)


def _date(day: Day) -> date:
    return cast("date", read_day(day).item())


def _column(table: pl.DataFrame, headers: Sequence[str]) -> list[Any] | None:
    """What the column says that has one of these headers; None where there is none."""
    lower = {str(column).strip().lower(): column for column in table.columns}
    column = next((lower[header] for header in headers if header in lower), None)
    return None if column is None else table[column].to_list()


def _listed(source: Any) -> dict[str, Player]:
    """The players of the list to begin with; rows without a rating are of players who have none yet."""
    from kinelo.matches.loading import load_table
    from kinelo.matches.names import clean_name

    made: dict[str, Player] = {}
    if not _by_name(source) and (isinstance(source, str | Path | Mapping) or hasattr(source, "columns")):
        source = load_table(source)
        ratings, names, born = (_column(source, headers) for headers in (COLUMNS["rating"], COLUMNS["name"], BORN))
        if ratings is not None:  # rows without a rating may say when somebody was born
            listed = [rating is not None and str(rating) != "0" for rating in ratings]
            waiting = [] if names is None or born is None else zip(names, born, listed, strict=True)
            made = {clean_name(str(name)): Player(born=_year(str(name), year)) for name, year, on in waiting if not on}
            source = source.filter(listed)
    start = read_start(source)
    given: dict[str, list[Any]] = {key: [None] * len(start.names) for key in MORE}
    if not isinstance(source, Mapping):
        given |= {key: column for key, headers in MORE.items() if (column := _column(source, headers)) is not None}
    guessed: list[str] = []
    for place, name in enumerate(start.names):
        rating, games = float(start.rating[place]), int(start.matches[place])
        if rating != round(rating):
            raise InputError(f"The list gives {name!r} {rating:g} points; FIDE's ratings are whole numbers.")
        player = Player(games=games, born=_year(name, given["born"][place]))
        player.put_on(BEGINNING, round(rating))
        player.highest = max(player.highest, _whole(name, given["highest"][place]))
        if (k := given["k"][place]) not in (None, ""):  # the player has the K that the list publishes
            try:
                published = int(float(k))
            except (TypeError, ValueError):
                published = 0
            if published not in (10, 20, 40):
                raise InputError(f"The list gives {name!r} K = {k!r:.20}; FIDE's K is 40, 20 or 10.")
            if published == 10:
                player.highest = max(player.highest, ELITE)
            elif published == 20:
                if player.born is not None:
                    player.highest = max(player.highest, JUNIOR_LINE)  # a junior with K = 20 has been there
                player.games = max(player.games, SETTLED)
            elif player.born is None and games == SETTLED:
                player.games = 0
                guessed.append(name)
        made[clean_name(name)] = player
    if guessed:
        more = ", …" if len(guessed) > 3 else ""
        warn(f"K = 40 without a number of games counts as the first of 30: {', '.join(guessed[:3])}{more}.")
    return made


def _by_name(source: Any) -> bool:
    return isinstance(source, Mapping) and not any(isinstance(v, list | tuple | np.ndarray) for v in source.values())


def _whole(name: str, value: Any) -> int:
    """A highest rating, 0 where none is said."""
    try:
        found = 0 if value in (None, "") else int(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"The list gives {name!r} a highest rating of {value!r:.20}, which is no number.") from None
    return found


def _year(name: str, value: Any) -> int | None:
    """A year of birth, written as a year or as a date that begins with one."""
    if value is None or (isinstance(value, str) and not value.strip()) or value == 0:
        return None
    digits = str(value).strip()[:4]
    if not digits.isdigit() or not 1880 <= int(digits) <= 2200:
        raise InputError(f"{name!r} is said to be born in {value!r:.20}; write the year, such as 2009.")
    return int(digits)
