"""How a season may end: the fixtures played many times, each time with one truth about the strengths.

Each season has one truth, so that a side that is better than thought is so all season long. A rater that can
(``_play_out``) draws strengths from what it believes, lets them wander from match to match and plays all fixtures under
that truth. Of any other one each forecast is kept: with ``x`` its quantile of a normal law, ``u_i`` how much better
than its rating a side is, drawn with the variance ``v_i`` that the rater believes in (in units of a match's noise), and
``ε`` the noise of the match, the result is that of ``x + (u_i − u_j + ε) / √(1 + v_i + v_j)``. Where a rater does not
say how uncertain it is, matches are independent. Matches that have a result count as they ended, those of the season
under way included (:mod:`kinelo.forecasts.season_so_far`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from kinelo.errors import InputError, warn
from kinelo.forecasts.parameters import check_number
from kinelo.forecasts.season_so_far import is_under_way, season_so_far
from kinelo.forecasts.usual_rules import DRAW, LOSS, USUAL_RELEGATED, WIN
from kinelo.matches.dated import Day
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import whole
from kinelo.presentation import Table, chance, chance_in_words, counted, number, span, words
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Array = NDArray[np.float64]
TIE_BREAKS = ("margin", "wins", "head_to_head", "head_to_head_margin")
MOST_TABLE_CELLS = 5e8
LARGE_LEAGUE, FEW_DRAWS = 12, 0.02
"""Sides from which on some go down in a league that is looked at, and the share of draws below which there are none."""


@dataclass(frozen=True)
class Rules:
    """How a table is made.

    Attributes
    ----------
    win, draw, loss
        Points for each.
    tie_breaks
        What separates sides that are level on points, in this order: ``"margin"`` (sum of margins), ``"wins"``,
        ``"head_to_head"`` (points from the matches among those who are level), ``"head_to_head_margin"`` (margins of
        these, straight after ``"head_to_head"`` of the same ones); then lots are drawn. None, the default, means
        margins, then wins, or wins alone where margins are not known.
    places
        Groups of places whose chances are wanted: first and last place, by name; negative places count from the end.

    >>> Rules(win=2.0, places={"cup": (1, 2)}).places["cup"]
    (1, 2)
    """

    win: float = WIN
    draw: float = DRAW
    loss: float = LOSS
    tie_breaks: Sequence[str] | None = None
    places: Mapping[str, tuple[int, int]] = field(
        default_factory=lambda: {"title": (1, 1), "relegation": (-USUAL_RELEGATED, -1)}
    )

    def __post_init__(self) -> None:
        breaks = () if self.tie_breaks is None else self.tie_breaks
        if not isinstance(breaks, Sequence) or isinstance(breaks, str) or any(b not in TIE_BREAKS for b in breaks):
            raise InputError(f"tie_breaks={self.tie_breaks!r} must be a list of any of {', '.join(TIE_BREAKS)}.")
        for name in ("win", "draw", "loss"):
            check_number("Rules", name, getattr(self, name), -1e9, 1e9)
        if not isinstance(self.places, Mapping):
            raise InputError(f"places must be a mapping from names to places, not {type(self.places).__name__}.")
        for name, place in self.places.items():
            pair = isinstance(place, Sequence) and len(place) == 2
            if not pair or not all(isinstance(k, int) and k != 0 for k in place):
                raise InputError(
                    f"places[{name!r}]={place!r} must be a first and a last place, from 1 or back from -1."
                )


def table_places(sides: int, relegated: int) -> dict[str, tuple[int, int]]:
    """The title, and the places from which sides go down, never everybody.

    >>> table_places(20, 3), table_places(10, 0)
    ({'title': (1, 1), 'relegation': (-3, -1)}, {'title': (1, 1)})
    """
    if not 0 <= relegated < max(sides, 1):
        raise InputError(f"Of {sides} sides, 0 to {sides - 1} can go down, not {relegated}.")
    return {"title": (1, 1)} | ({"relegation": (-relegated, -1)} if relegated else {})


def season_rules(matches: Matches, sides: int | None = None) -> dict[str, float]:
    """Points and relegation that suit a league: football's where there are goals and draws, half a point for a draw
    where results have no scores, as in chess, and nothing for one where there are none. In a table of fewer than a
    dozen (all of the matches, unless it is said) nobody goes down.
    """
    if not len(matches):
        return {"win": int(WIN), "draw": int(DRAW), "relegated": 0}
    if float(np.mean(matches.result == 0.5)) < FEW_DRAWS:
        return {"win": 1, "draw": 0, "relegated": 0}
    if np.isnan(matches.margin).all():
        return {"win": 1, "draw": 0.5, "relegated": 0}
    sides = np.unique(np.concatenate([matches.home, matches.away])).size if sides is None else sides
    return {"win": int(WIN), "draw": int(DRAW), "relegated": USUAL_RELEGATED if sides >= LARGE_LEAGUE else 0}


def rules_words(rules: Rules, sides: int) -> str:
    """What matches are worth, what separates sides level on points, and who goes down, in one sentence.

    >>> said = rules_words(Rules(2, 1, tie_breaks=("wins", "head_to_head"), places={"title": (1, 1)}), 12)
    >>> for part in said.split("; "):
    ...     print(part)
    A win is worth 2 points, a draw 1, a loss 0
    sides level on points are separated by wins, head to head, then lots
    nobody goes down.
    >>> rules_words(Rules(tie_breaks=("wins",)), 20).split("; ")[-1]
    'the last 3 of 20 go down.'
    """
    breaks = "".join(f"{one.replace('_', ' ')}, " for one in rules.tie_breaks or ()) + "then " * bool(rules.tie_breaks)
    first, last = rules.places.get("relegation", (0, 0))
    down = "nobody goes down"
    if first:
        low, high = (place if place > 0 else sides + 1 + place for place in (first, last))
        many = high - low + 1
        down = f"the last {many} of {sides} go down" if high == sides else f"places {low} to {high} of {sides} go down"
        if many == 1 and high == sides:
            down = f"the last of {sides} goes down"
    worth = f"{rules.win:g} point{'s' * (rules.win != 1)}, a draw {rules.draw:g}, a loss {rules.loss:g}"
    return f"A win is worth {worth}; sides level on points are separated by {breaks}lots; {down}."


@dataclass(frozen=True, repr=False)
class Season:
    """Final tables of many simulated seasons.

    Attributes
    ----------
    names
        The sides.
    points, positions
        Final points and places, one simulation a row, one side a column.
    rules
        How the tables were made.
    notes
        Which results count beside the fixtures.

    >>> rules = Rules(places={"title": (1, 1)})
    >>> table = Season(("A", "B"), np.array([[6.0, 3.0], [4.0, 5.0]]), np.array([[1, 2], [2, 1]]), rules)
    >>> table.to_polars()["title"].to_list()
    [0.5, 0.5]
    """

    names: tuple[str, ...]
    points: Array
    positions: NDArray[np.int64]
    rules: Rules
    notes: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """What matches were worth, what separated sides level on points, and who goes down, in one sentence."""
        return rules_words(self.rules, len(self.names))

    def to_pandas(self) -> pd.DataFrame:
        """The same table as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """Name, mean points with an 80 % interval, mean place, and the chance of every group of places."""
        import polars as pl

        low, high = np.quantile(self.points, [0.1, 0.9], axis=0)
        columns = {
            "name": pl.Series(self.names, dtype=pl.String),
            "points": self.points.mean(axis=0),
            "low": low,
            "high": high,
            "place": self.positions.mean(axis=0),
        }
        for name in self.rules.places:
            columns[name] = self.chance(name)
        return pl.DataFrame(columns).sort("place")

    def chance(self, group: str) -> Array:
        """Chance of every side to end in a group of places."""
        count = len(self.names)
        first, last = (place if place > 0 else count + 1 + place for place in self.rules.places[group])
        return ((self.positions >= first) & (self.positions <= last)).mean(axis=0)

    def place_chances(self) -> pl.DataFrame:
        """Chance of every side to end in every place."""
        import polars as pl

        count = len(self.names)
        shares = {str(k): (self.positions == k).mean(axis=0) for k in range(1, count + 1)}
        return pl.DataFrame({"name": pl.Series(self.names, dtype=pl.String), **shares})

    def to_dict(self) -> dict[str, Any]:
        """The table by columns, the number of realisations, and which results count beside the fixtures."""
        table = self.to_polars().to_dict(as_series=False)
        return {**table, "realisations": len(self.points), "rule": self.rule, "notes": list(self.notes)}

    def __repr__(self) -> str:
        best, group = self.to_polars().row(0, named=True), next(iter(self.rules.places), None)
        chance = "" if group is None else f", {group} {chance_in_words(best[group])}"
        return (
            f"Season of {len(self.names)} sides, played {counted(len(self.points), 'time', 'times')}. Ahead on "
            f"average: {best['name']}, mean place {best['place']:.1f}{chance}"
        )

    def _repr_html_(self) -> str:
        return season_table(self).html()


def season_table(season: Season, title: str = "") -> Table:
    """Points with the range that holds 80 % of them, mean place, and chances of every group of places."""
    chances = [chance(name.capitalize(), name) for name in season.rules.places]
    halves = int(np.any(season.points % 1))
    columns = [words("Name", "name"), number("Points", "points", ".1f"), span("80 %", "low", "high", f".{halves}f")]
    return Table([*columns, number("Place", "place", ".1f"), *chances], season.to_polars().to_dicts(), title)


def season(
    rater: Any,
    fixtures: Matches,
    *,
    results: Matches | None = None,
    since: Day | None = None,
    rules: Rules | None = None,
    realisations: int = 10_000,
    seed: int = 1,
) -> Season:
    """Play the fixtures of a season many times and make the final tables.

    Parameters
    ----------
    rater
        As it stands before the fixtures that have no result; it is not changed.
    fixtures
        All matches of the season, or those to come; those with a result count as they ended.
    results
        Matches played. Where no fixture has a result, those of the season under way count for its table: it is found
        from a column of seasons, from who has met whom, or from a pause, and ``notes`` of the result say which
        results count. Where nothing shows when the season began, ``since`` is asked for.
    since
        First day of the season: results since then count.
    rules
        Points, tie-breaks and groups of places; by default those that suit the results (three points for a win where
        there are goals and draws, half a point for a draw where there are no scores), and margins, then wins, to
        separate sides level on points (wins alone where the rater draws no margins). The result says what was used.

    >>> import kinelo as kn
    >>> played = kn.read_matches({"home": ["A", "B", "C"] * 20, "away": ["B", "C", "A"] * 20, "result": [1, 1, 0] * 20})
    >>> fixtures = kn.read_matches({"home": ["A", "B", "C"], "away": ["C", "A", "B"]}, played=False)
    >>> rater = kn.TeamElo.classic(k=20).fit(played)
    >>> table = kn.season(rater, fixtures, realisations=500).to_polars()
    >>> table["name"][0], bool(table["title"].sum() > 0.999)
    ('A', True)
    >>> kn.season(rater, fixtures, results=played, realisations=500).notes
    ('3 results count for the table: with the fixtures they make a full season',)
    """
    _check_season(rater, fixtures, rules)
    rater = rater_knowing(rater, fixtures.teams)
    realisations, seed = whole("realisations", realisations, 1), whole("seed", seed, 0)
    so_far = season_so_far(fixtures, results, since)
    fitted = getattr(rater, "_fitted", None)
    if results is None and isinstance(fitted, Matches) and is_under_way(fixtures, fitted):
        warn(
            "No fixture has a result, so that everyone starts from 0 points; results=matches counts the points won in "
            "the season so far, and results=matches[:0] none."
        )
    before, fixtures = so_far.results, so_far.fixtures
    if realisations * float(len(before) + len(fixtures)) > MOST_TABLE_CELLS:
        raise InputError(
            f"{realisations:,} realisations of {len(fixtures):,} fixtures are too many at once; ask for fewer."
        )
    names = sides_in(fixtures, before)
    place = {name: k for k, name in enumerate(names)}
    parts = [_results(rater, part, realisations, seed) for part in (before, fixtures)]
    outcome, margin = (np.concatenate(columns, axis=1) for columns in zip(*parts))
    home, away = (
        np.array([place[part.teams[code]] for part in (before, fixtures) for code in getattr(part, side)], np.int64)
        for side in ("home", "away")
    )
    if rules is None:
        played = results if results is not None and len(results) else fitted
        rules = suited(played if isinstance(played, Matches) else fixtures[:0], len(names))
    rules = _settled(rules, rater, len(names), margins=not np.isnan(margin).any())
    table = _Tables(home, away, outcome, margin, len(names), rules)
    generator = np.random.default_rng([seed, 15])
    notes = (so_far.note,) if so_far.note else ()
    return Season(names, table.points, table.positions(generator), rules, notes)


def _check_season(rater: Any, fixtures: Matches, rules: Rules | None) -> None:
    """Refuse what cannot be played."""
    if rules is not None and not isinstance(rules, Rules):
        raise InputError(f"rules must be kinelo.forecasts.Rules, not {type(rules).__name__}.")
    check_matches(fixtures)
    if len(fixtures) == 0:
        raise InputError("A season needs fixtures: matches read with read_matches(..., played=False).")
    check_forecaster(rater)


def sides_in(*parts: Matches) -> tuple[str, ...]:
    """Everybody in the table of a season: who has fixtures, and who played before."""
    return tuple(
        dict.fromkeys(part.teams[code] for part in parts for code in np.unique(np.append(part.home, part.away)))
    )


def suited(matches: Matches, sides: int, **asked: Any) -> Rules:
    """Rules of a table of so many sides as they are asked for, else as they suit the matches (:func:`season_rules`)."""
    rules: dict[str, Any] = season_rules(matches, sides) | {k: value for k, value in asked.items() if value is not None}
    return Rules(places=table_places(sides, rules.pop("relegated")), **rules)


def _settled(rules: Rules, rater: Any, sides: int, *, margins: bool) -> Rules:
    """The rules with tie-breaks that the rater can play, and places that a league of so many sides has."""
    for name, (first, last) in rules.places.items():
        if max(abs(first), abs(last)) > sides:
            raise InputError(f"places[{name!r}]={(first, last)} lies outside of a table of {sides} sides.")
    if rules.tie_breaks is None:
        return replace(rules, tie_breaks=("margin", "wins") if margins else ("wins",))
    if not margins and any("margin" in name for name in rules.tie_breaks):
        raise InputError(
            f"{type(rater).__name__} draws no margins, so that tie_breaks cannot use them; take 'wins' or "
            "'head_to_head', or a rater that does (KalmanElo)."
        )
    return rules


def check_forecaster(rater: Any) -> None:
    """Refuse what cannot forecast."""
    if not callable(getattr(rater, "predict", None)):
        raise InputError(f"rater must be a rater such as KalmanElo, not {type(rater).__name__}.")


def rater_knowing(rated: Any, names: Sequence[str]) -> Any:
    """Of a rating book its rater, which knows these names; any other rater as it is."""
    knowing = getattr(rated, "_rater_knowing", None)
    return rated if knowing is None else knowing(names, None)


def _results(rater: Any, fixtures: Matches, realisations: int, seed: int) -> tuple[NDArray[np.int8], Array]:
    """Results and margins of all fixtures in every simulation."""
    decided = ~np.isnan(fixtures.result)
    half = decided & ~np.isin(fixtures.result, (0.0, 0.5, 1.0))
    if half.any():
        raise InputError("Results of a season must be 1, ½ or 0: some are in between.")
    outcome = np.empty((realisations, len(fixtures)), np.int8)
    margin = np.full((realisations, len(fixtures)), np.nan)
    outcome[:, decided] = np.round(2.0 - 2.0 * fixtures.result[decided]).astype(np.int8)
    margin[:, decided] = fixtures.margin[decided]
    coming = fixtures[~decided]
    if len(coming) == 0:
        return outcome, margin
    if hasattr(rater, "_play_out"):
        outcome[:, ~decided], margin[:, ~decided] = rater._play_out(coming, realisations, seed)
        return outcome, margin
    generator, day = np.random.default_rng([seed, 14]), coming.date[0] if coming.dated else None
    better, doubt = possible_truths(rater, coming.teams, day, realisations, generator)
    latent = generator.normal(size=(realisations, len(coming))) - better[:, coming.home] + better[:, coming.away]
    u = ndtr(latent / np.sqrt(1.0 + doubt[coming.home] + doubt[coming.away]))
    chances = np.cumsum(rater.predict(coming).probabilities, axis=1)
    outcome[:, ~decided] = (u >= chances[:, 0]).astype(np.int8) + (u >= chances[:, 1])
    return outcome, margin


def possible_truths(
    rater: Any, names: Sequence[str], date: Day | None, draws: int, generator: np.random.Generator
) -> tuple[Array, Array]:
    """How much better than rated everyone is, a row per draw, and the variance of that; a match's noise has 1."""
    doubts = getattr(rater, "_doubts", None)
    doubt = np.zeros(len(names)) if doubts is None else np.asarray(doubts(names, date))
    return generator.normal(size=(draws, len(names))) * np.sqrt(doubt), doubt


class _Tables:
    """Points and whatever tie-breaks ask for, of every side in every simulation."""

    def __init__(
        self, home: NDArray[Any], away: NDArray[Any], outcome: NDArray[np.int8], margin: Array, sides: int, rules: Rules
    ) -> None:
        self.home, self.away, self.outcome, self.margin, self.sides, self.rules = (
            home,
            away,
            outcome,
            margin,
            sides,
            rules,
        )
        worth = np.array([rules.win, rules.draw, rules.loss])
        self.gains = worth[outcome], worth[::-1][outcome]
        self.points = self._sum(*self.gains)

    def _sum(self, at_home: Array, away: Array) -> Array:
        """Sums over the fixtures of every side, by one product with who plays where."""
        plays = np.zeros((2, self.home.size, self.sides))
        plays[0, np.arange(self.home.size), self.home] = 1.0
        plays[1, np.arange(self.home.size), self.away] = 1.0
        return at_home @ plays[0] + away @ plays[1]

    def positions(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Places: by points, then tie-breaks in order, then lots."""
        keys, among, before = [self.points], 1, ""
        for name in self.rules.tie_breaks or ():
            if (before, name) != ("head_to_head", "head_to_head_margin"):
                among = len(keys)
            keys.append(self._key(name, keys[:among]))
            before = name
        keys.append(generator.random(self.points.shape))
        order = np.lexsort([-key for key in keys[::-1]], axis=-1)
        positions = np.empty_like(order)
        np.put_along_axis(positions, order, np.arange(1, self.sides + 1)[None, :], axis=1)
        return positions

    def _key(self, name: str, keys: list[Array]) -> Array:
        if name == "wins":
            return self._sum((self.outcome == 0).astype(float), (self.outcome == 2).astype(float))
        if name == "margin":
            return self._sum(self.margin, -self.margin)
        gains = (self.margin, -self.margin) if name == "head_to_head_margin" else self.gains
        level = np.ones((len(self.points), self.home.size), bool)  # matches among sides that nothing yet separates
        for key in keys:
            level &= key[:, self.home] == key[:, self.away]
        return self._sum(gains[0] * level, gains[1] * level)
