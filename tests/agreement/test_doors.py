"""Doors agree: for each question a list of the ways to its answer, and one test that all of them say the same.

A door is a function of a :class:`World` (matches) or :class:`Field` (contests) that stands in a table below: a new one
is added by a line there. The last test lists what is public and says which of it stands in no table.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.cli.commands import commands_by_name
from kinelo.lab.rate.leagues import SEASONS, ContestLeague, MatchLeague, odds
from kinelo.raters.leaderboard import board_and_words
from kinelo.raters.questions import answers
from kinelo.raters.rater import traits_of
from kinelo.raters.what_if import with_points
from leagues import contest_league, match_league

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
Chances = list[float]
CLOSE = 1e-9


def given(kind: Any, **more: Any) -> Callable[[], Any]:
    """A rater whose parameters are all given, so that nothing is estimated and every way in is the same."""
    values = {p.name: p.default for p in kind._declared_parameters}
    return partial(kind, **(values | more))


RATERS = {
    "TeamElo": given(kn.TeamElo, prior_spread=170.0),
    "TeamElo by surface": given(kn.TeamElo, prior_spread=170.0, conditions=["surface"]),
    "classic": partial(kn.TeamElo.classic, k=24),
    "FIDE": partial(kn.TeamElo.classic, k=kn.model.FideSteps()),
    "Glicko": given(kn.Glicko),
    "Glicko together": given(kn.Glicko, together=True),
    "Glicko2": given(kn.Glicko2),
    "KalmanElo": given(kn.KalmanElo, covariance="full"),
    "KalmanElo diagonal": given(kn.KalmanElo, covariance="diagonal"),
    "KalmanElo by surface": given(kn.KalmanElo, covariance="full", conditions=["surface"]),
    "PlayerElo": given(kn.PlayerElo, covariance="diagonal"),
    "PlayerElo full": given(kn.PlayerElo, covariance="full"),
    "BradleyTerry": partial(kn.BradleyTerry, ridge=0.05, refit_days=0.0),
    "RankElo": given(
        kn.RankElo,
        walk=0.4,
        prior_spread=0.8,
        newcomer=-0.1,
        regression=0.1,
        contest_walk=0.2,
        newcomer_follows=0.7,
        experience=0.3,
    ),
    "Mixture": lambda: kn.raters.Mixture({"slow": kn.TeamElo.classic(k=8), "fast": kn.TeamElo.classic(k=70)}),
}


def invoke(*words: object) -> Any:
    """What a command prints as JSON."""
    answer = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


class World(NamedTuple):
    """A rater that has rated all matches before one of them, and that match, as it was played and as it was to come."""

    name: str
    seed: int
    at: int
    rater: Any
    past: kn.matches.Matches
    folder: Path

    @property
    def lineups(self) -> bool:
        return self.name.startswith("Player")

    @property
    def conditions(self) -> tuple[str, ...]:
        return ("surface",) if self.name.endswith("by surface") else ()

    @property
    def row(self) -> dict[str, Any]:
        return match_league(self.seed).results.sort("date", maintain_order=True).row(self.at, named=True)

    @property
    def everything(self) -> kn.matches.Matches:
        return all_matches(self.seed, self.lineups, self.conditions)

    @property
    def played(self) -> kn.matches.Matches:
        """The match as it ended."""
        return self.everything[self.at : self.at + 1]

    def to_come(self, *, dated: bool = True, before: int = 0) -> kn.matches.Matches:
        """The match before it is played, after some others of which nothing is known either."""
        table = match_league(self.seed)
        keep = ["match_id", *(["date"] if dated else []), "home", "away", "neutral", "surface"]
        rows = pl.concat([table.results[:before], pl.DataFrame([self.row])]).select(keep)
        rows = rows.with_columns(date=pl.lit(self.row["date"])) if dated else rows
        sheet = table.lineups if self.lineups and dated else None
        return kn.read_matches(rows, sheet, played=False, conditions=self.conditions, ordered=True)

    def said(self) -> dict[str, Any]:
        """What a program says of the match besides its sides and day."""
        more: dict[str, Any] = {"neutral": self.row["neutral"]}
        if self.conditions:
            more["conditions"] = {"surface": self.row["surface"]}
        return more

    def starters(self) -> dict[str, list[str]]:
        sheet = match_league(self.seed).lineups.filter(match_id=self.row["match_id"])
        codes = {"home_lineup": "H", "away_lineup": "A"}
        return {
            name: sheet.filter((pl.col("side") == code) & (pl.col("starter") == 1))["player"].to_list()
            for name, code in codes.items()
        }

    def fresh(self) -> Any:
        return copy.deepcopy(self.rater)


@cache
def all_matches(seed: int, lineups: bool, conditions: tuple[str, ...]) -> kn.matches.Matches:
    table = match_league(seed)
    return kn.read_matches(table.results, table.lineups if lineups else None, conditions=conditions, ordered=True)


@cache
def places_of_interest(seed: int) -> tuple[int, ...]:
    """The first of their days: a drawn match, one on neutral ground that was decided, and one that the guests won."""
    matches = all_matches(seed, False, ())
    first = np.append(False, matches.day[1:] != matches.day[:-1]) & (np.arange(len(matches)) > 40)
    drawn = first & (matches.result == 0.5)
    neutral = first & matches.neutral & (matches.result != 0.5)
    lost = first & ~matches.neutral & (matches.result == 0.0)
    return tuple(int(np.flatnonzero(some)[0]) for some in (drawn, neutral, lost))


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """Worlds by rater, seed and match, each made once."""
    folder, made = tmp_path_factory.mktemp("doors"), {}

    def world(name: str, seed: int, at: int) -> World:
        if (name, seed, at) not in made:
            lineups, by_surface = name.startswith("Player"), name.endswith("by surface")
            past = all_matches(seed, lineups, ("surface",) if by_surface else ())[:at]
            own = folder / f"{len(made)}"
            own.mkdir()
            made[name, seed, at] = World(name, seed, at, RATERS[name]().fit(past), past, own)
        return made[name, seed, at]

    return world


def chances(forecast: kn.forecasts.Forecast, row: int = 0) -> Chances:
    return forecast.probabilities[row].tolist()


# The forecast of one match.


def by_backtest(world: World) -> Chances:
    test = kn.backtest(world.everything[: world.at + 1], {"R": RATERS[world.name]()}, train_until=world.row["date"])
    return chances(test.forecasts["R"])


def kept(world: World) -> kn.RatingBook:
    """A book of the rater as it was fitted, with the same matches, added in two parts."""
    book = kn.RatingBook(world.folder / "book", world.fresh())
    if not len(book):
        book.add(world.past[:31])
        book.add(world.past)
    return book


def of_a_new_book(world: World) -> Chances:
    """From a book of a rater that was never fitted, whose matches are added at once."""
    book = kn.RatingBook(world.folder / "new book", RATERS[world.name]())
    if not len(book):
        book.add(world.past)
    return chances(book.predict(world.to_come()))


def of_command(rows: list[dict[str, Any]]) -> Chances:
    return [rows[-1][name] for name in ("home_win", "draw", "away_win")]


def by_command(world: World) -> Chances:
    kept(world)
    table, words = match_league(world.seed), []
    row = pl.DataFrame([world.row]).drop("home_score", "away_score", "weight")
    row.write_csv(world.folder / "next.csv")
    if world.lineups:
        table.lineups.write_csv(world.folder / "lineups.csv")
        words = ["--lineups", world.folder / "lineups.csv"]
    asked = ("predict", world.folder / "next.csv", "--book", world.folder / "book", *words)
    return of_command(invoke(*asked)["forecasts"])


def by_names(world: World) -> Chances:
    lineups = world.starters() if world.lineups else {}
    row = world.row
    return chances(world.rater.predict_one(row["home"], row["away"], date=row["date"], **world.said(), **lineups))


def of_names_by_a_rater_of_contests(world: World) -> Chances:
    """Its expected points alone: contests of two know no draws."""
    row = world.row
    home = row["home"] if row["neutral"] else (row["home"], "home")
    points = world.rater.predict_one([home, row["away"]], date=row["date"]).win[0]
    expected = world.rater.predict(world.to_come())
    assert expected.points[0] == pytest.approx(points, abs=1e-6)
    return chances(expected)


def served(book: kn.RatingBook, asked: dict[str, Any]) -> Any:
    """What a service says of a match or a contest to come."""
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from kinelo.service.app import create_app
    from kinelo.service.settings import Settings

    with TestClient(create_app(Settings(str(book.path))), base_url="http://localhost") as client:
        answer = client.post("/forecast", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_service(world: World) -> Chances:
    row, lineups = world.row, world.starters() if world.lineups else {}
    said = served(kept(world), {"home": row["home"], "away": row["away"], "date": str(row["date"]), **world.said(),
                                **lineups})  # fmt: skip
    return [said[name] for name in ("win", "draw", "loss")]


FORECAST: dict[str, Callable[[World], Chances]] = {
    "predict": lambda world: chances(world.rater.predict(world.to_come())),
    "predict among others": lambda world: chances(world.rater.predict(world.to_come(before=5)), -1),
    "predict_proba": lambda world: world.rater.predict_proba(world.to_come())[0][::-1].tolist(),
    "predict_one": by_names,
    "one_step_ahead": lambda world: chances(world.fresh().one_step_ahead(world.played)),
    "one_step_ahead with what follows": lambda world: chances(
        world.fresh().one_step_ahead(world.everything[world.at : world.at + 6])
    ),
    "after update": lambda world: chances(RATERS[world.name]().update(world.past).predict(world.to_come())),
    "after one_step_ahead": lambda world: chances(ahead(world).predict(world.to_come())),
    "backtest": by_backtest,
    "book": lambda world: chances(kept(world).predict(world.to_come())),
    "book, by names": lambda world: by_names(world._replace(rater=kept(world))),
    "book of a rater never fitted": of_a_new_book,
    "kinelo predict": by_command,
    "POST /forecast": by_service,
}


def ahead(world: World) -> Any:
    rater = RATERS[world.name]()
    rater.one_step_ahead(world.past)
    return rater


UNFITTED = {"after update", "after one_step_ahead", "book of a rater never fitted"}
BOOKS = {"book", "book, by names", "book of a rater never fitted", "kinelo predict", "POST /forecast"}
CLOSED = {
    "Mixture": UNFITTED,
    # A table of two sides is no contest in a book, and a rater of contests names entrants, not sides.
    "RankElo": {"predict_one"} | BOOKS,
    # Fit estimates how far strengths under a condition lie apart, which nobody can give.
    "TeamElo by surface": UNFITTED,
    "KalmanElo by surface": UNFITTED,
}
"""Doors that a rater does not have."""
KEPT_OFTEN = ("classic", "KalmanElo by surface", "PlayerElo")
"""Raters of each kind, whose books are asked about every match; those of the others about one."""
SIDES = [name for name in RATERS if name not in ("Mixture", "RankElo")]


def open_doors(name: str, doors: dict[str, Any]) -> dict[str, Any]:
    return {door: ask for door, ask in doors.items() if door not in CLOSED.get(name, ())}


@pytest.mark.parametrize("name", RATERS)
def test_the_forecast_of_a_match_is_one(worlds, name):
    answers = []
    for place, seed in enumerate((1, 2, 1)):
        at = places_of_interest(seed)[place]
        world = worlds(name, seed, at)
        expected = chances(world.rater.predict(world.to_come()))
        doors = open_doors(name, FORECAST)
        if place > 0:
            closed = BOOKS if name not in KEPT_OFTEN else ("kinelo predict", "POST /forecast")
            doors = {door: ask for door, ask in doors.items() if door not in closed}
        if name == "RankElo":
            doors["predict_one"] = of_names_by_a_rater_of_contests
        said = {door: ask(world) for door, ask in doors.items()}
        wrong = {door: one for door, one in said.items() if not np.allclose(one, expected, rtol=0, atol=CLOSE)}
        assert not wrong, (seed, at, expected, wrong)
        answers.append(expected)
    assert np.unique(np.round(answers, 6), axis=0).shape[0] == len(answers)


# The forecast of a match whose day nobody says.


def by_lab(world: World) -> Chances:
    league = object.__new__(MatchLeague)
    league.chosen = {"covariates": []}
    league.rater, league.played = world.rater, world.past
    more = world.said()
    said = league.predict(world.row["home"], world.row["away"], more["neutral"], more.get("conditions"))
    return [said[name] for name in ("win", "draw", "loss")]


def by_typing(world: World) -> Chances:
    kept(world)
    words = ["--neutral"] if world.row["neutral"] else []
    typed = f"{world.row['home']} - {world.row['away']}"
    return of_command(invoke("predict", "--match", typed, "--book", world.folder / "book", *words)["forecasts"])


UNDATED: dict[str, Callable[[World], Chances]] = {
    "predict": lambda world: chances(world.rater.predict(world.to_come(dated=False))),
    "predict_one": lambda world: chances(world.rater.predict_one(world.row["home"], world.row["away"], **world.said())),
    "on the last day": lambda world: chances(
        world.rater.predict_one(world.row["home"], world.row["away"], date=world.past.date[-1], **world.said())
    ),
    "book": lambda world: chances(kept(world).predict_one(world.row["home"], world.row["away"], **world.said())),
    "lab": by_lab,
    "kinelo predict --match": by_typing,
}


@pytest.mark.parametrize("name", SIDES)
def test_without_a_date_the_forecast_is_that_of_the_last_day(worlds, name):
    world = worlds(name, 2, places_of_interest(2)[1])
    said = {door: ask(world) for door, ask in UNDATED.items() if not (world.conditions and "--match" in door)}
    wrong = {door: one for door, one in said.items() if not np.allclose(one, said["predict"], rtol=0, atol=CLOSE)}
    assert not wrong, (said["predict"], wrong)


def test_an_even_match_is_one_for_one_pair_and_for_many(worlds):
    for name in SIDES:
        world = worlds(name, 1, places_of_interest(1)[2])
        home, away, said = world.row["home"], world.row["away"], world.said()
        one = kn.match_quality(world.rater, home, away, **said)
        day = world.past.date[-1]
        many = kn.match_quality(world.rater, [away, home], [home, away], **said)[1]
        assert one == pytest.approx(many, abs=CLOSE), name
        assert one == pytest.approx(kn.match_quality(world.rater, home, away, date=day, **said), abs=CLOSE), name
        assert one == pytest.approx(kn.match_quality(kept(world), home, away, **said), abs=CLOSE), name


@pytest.mark.parametrize("name", [name for name in SIDES if not name.startswith("Player")])
def test_fair_teams_of_one_each_have_the_chances_of_their_match(worlds, name):
    world = worlds(name, 1, places_of_interest(1)[2])
    pair = world.row["home"], world.row["away"]
    split, again = kn.balance(world.rater, [*pair]).best, kn.balance(kept(world), [*pair]).best
    expected = chances(world.rater.predict_one(*pair, neutral=True))
    assert split.sides == ((pair[0],), (pair[1],)) and split.chances == pytest.approx(expected, abs=CLOSE)
    assert again.chances == pytest.approx(expected, abs=CLOSE)
    assert split.quality == pytest.approx(kn.match_quality(world.rater, *pair, neutral=True), abs=CLOSE)


# The forecast of a field.


class Field(NamedTuple):
    """A rater that has rated all contests before one of them, and that contest."""

    name: str
    seed: int
    at: int
    rater: Any
    past: kn.matches.Contests
    folder: Path

    @property
    def slots(self) -> list[str]:
        return ["driver", "car"] if self.name == "drivers and cars" else ["driver"]

    @property
    def everything(self) -> kn.matches.Contests:
        return all_contests(self.seed, tuple(self.slots))

    @property
    def rows(self) -> pl.DataFrame:
        """The rows of the contest as a file has them, shuffled, without a place."""
        name = self.everything.identifiers[self.at]
        rows = contest_league(self.seed).filter(race=name).sample(fraction=1.0, shuffle=True, seed=7)
        return rows.with_columns(place=pl.lit(""))

    def to_come(self, *, dated: bool = True) -> kn.matches.Contests:
        rows = self.rows if dated else self.rows.drop("date")
        return kn.read_contests(rows, slots=self.slots, played=False)

    def entrants(self) -> list[Any]:
        pairs = self.rows.select(self.slots).rows()
        return [pair if len(pair) > 1 else pair[0] for pair in pairs]

    def fresh(self) -> Any:
        return copy.deepcopy(self.rater)


CONTEST_RATERS = {
    "drivers": RATERS["RankElo"],
    "drivers and cars": RATERS["RankElo"],
    "classic": partial(kn.TeamElo.classic, k=24),
    "batch": partial(kn.BradleyTerry, ridge=0.05, retirement=0.1, refit_days=0.0),
}


@cache
def all_contests(seed: int, slots: tuple[str, ...]) -> kn.matches.Contests:
    return kn.read_contests(contest_league(seed), slots=list(slots))


@cache
def contests_of_interest(seed: int) -> tuple[int, ...]:
    """The first of their days: one with a dead heat, one with a retirement, and one of five or more without either."""
    contests = all_contests(seed, ("driver",))
    found = []
    for wanted in ("tie", "out", "plain"):
        for c in range(12, len(contests)):
            entries = slice(contests.first[c], contests.first[c + 1])
            place, ended = contests.place[entries], contests.ended[entries]
            tie, out = np.unique(place[ended == 0]).size < (ended == 0).sum(), bool(ended.any())
            kind = "tie" if tie else "out" if out else "plain" if place.size > 4 else ""
            if kind == wanted and contests.day[c] != contests.day[c - 1] and c not in found:
                found.append(c)
                break
    return tuple(found)


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("fields"), {}

    def field(name: str, seed: int, at: int) -> Field:
        if (name, seed, at) not in made:
            slots = ("driver", "car") if name == "drivers and cars" else ("driver",)
            past = all_contests(seed, slots)[:at]
            own = folder / f"{len(made)}"
            own.mkdir()
            made[name, seed, at] = Field(name, seed, at, CONTEST_RATERS[name]().fit(past), past, own)
        return made[name, seed, at]

    return field


def wins(forecast: Any, contest: int = 0) -> dict[str, tuple[float, float]]:
    """Chance to win and expected place, by entrant."""
    contests = forecast.contests
    entries = range(contests.first[contest], contests.first[contest + 1])
    return {
        contests.entrants[contests.entrant[e]]: (float(forecast.win[e]), float(forecast.expected_place[e]))
        for e in entries
    }


def contest_book(field: Field) -> kn.RatingBook:
    book = kn.RatingBook(field.folder / "book", CONTEST_RATERS[field.name]())
    if not len(book):
        book.add(field.past[:9])
        book.add(field.past)
    return book


def rows_of_command(rows: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    return {row["entrant"]: (row["win"], row["expected_place"]) for row in rows}


def field_by_command(field: Field) -> dict[str, tuple[float, float]]:
    contest_book(field)
    field.rows.write_csv(field.folder / "next.csv")
    asked = ("predict", field.folder / "next.csv", "--book", field.folder / "book")
    return rows_of_command(invoke(*asked)["forecasts"])


def field_by_service(field: Field) -> dict[str, tuple[float, float]]:
    kinds = contest_book(field).kinds
    entrants = [one if isinstance(one, str) else dict(zip(kinds, one)) for one in field.entrants()]
    said = served(contest_book(field), {"entrants": entrants, "date": str(field.rows["date"][0])})
    return rows_of_command(said["entrants"])


FIELD: dict[str, Callable[[Field], dict[str, tuple[float, float]]]] = {
    "predict": lambda field: wins(field.rater.predict(field.to_come())),
    "predict_one": lambda field: wins(field.rater.predict_one(field.entrants(), date=field.rows["date"][0])),
    "one_step_ahead": lambda field: wins(field.fresh().one_step_ahead(field.everything[field.at : field.at + 1])),
    "one_step_ahead with what follows": lambda field: wins(
        field.fresh().one_step_ahead(field.everything[field.at : field.at + 4])
    ),
    "after update": lambda field: wins(CONTEST_RATERS[field.name]().update(field.past).predict(field.to_come())),
    "backtest": lambda field: wins(
        kn.backtest(
            field.everything[: field.at + 1], {"R": CONTEST_RATERS[field.name]()}, train_until=field.rows["date"][0]
        ).forecasts["R"]
    ),
    "book": lambda field: wins(contest_book(field).predict(field.to_come())),
    "book, by names": lambda field: wins(contest_book(field).predict_one(field.entrants(), date=field.rows["date"][0])),
    "kinelo predict": field_by_command,
    "POST /forecast": field_by_service,
}


def assert_same_field(said: dict[str, Any], expected: dict[str, tuple[float, float]]) -> None:
    for door, answer in said.items():
        assert answer.keys() == expected.keys(), door
        for name, pair in answer.items():
            assert pair == pytest.approx(expected[name], abs=1e-6), (door, name)


@pytest.mark.parametrize("name", CONTEST_RATERS)
def test_the_forecast_of_a_field_is_one(fields, name):
    for number, seed in enumerate((2, 1, 1)):
        field = fields(name, seed, contests_of_interest(seed)[number])
        doors = {door: ask for door, ask in FIELD.items() if number == 1 or not door.startswith(("kinelo", "POST"))}
        said = {door: ask(field) for door, ask in doors.items()}
        assert_same_field(said, said["predict"])
        assert len({round(win, 6) for win, _ in said["predict"].values()}) == len(said["predict"]), "examples alike"


def field_by_lab(field: Field) -> dict[str, tuple[float, float]]:
    league = object.__new__(ContestLeague)
    league.rater = field.rater
    entrants = [[[one]] if isinstance(one, str) else [[part] for part in one] for one in field.entrants()]
    rows = league.field(entrants)["rows"]
    names = [one if isinstance(one, str) else one[0] for one in field.entrants()]
    return {names[row["entrant"]]: (row["win"], row["expected_place"]) for row in rows}


def field_by_typing(field: Field) -> dict[str, tuple[float, float]]:
    contest_book(field)
    typed = "; ".join(one if isinstance(one, str) else " + ".join(one) for one in field.entrants())
    return rows_of_command(invoke("predict", "--book", field.folder / "book", "--match", typed)["forecasts"])


UNDATED_FIELD: dict[str, Callable[[Field], dict[str, tuple[float, float]]]] = {
    "predict": lambda field: wins(field.rater.predict(field.to_come(dated=False))),
    "predict_one": lambda field: wins(field.rater.predict_one(field.entrants())),
    "on the last day": lambda field: wins(field.rater.predict_one(field.entrants(), date=field.past.date[-1])),
    "book": lambda field: wins(contest_book(field).predict_one(field.entrants())),
    "kinelo predict --match": field_by_typing,
    "lab": field_by_lab,
}


@pytest.mark.parametrize("name", CONTEST_RATERS)
def test_without_a_date_the_forecast_of_a_field_is_that_of_the_last_day(fields, name):
    field = fields(name, 2, contests_of_interest(2)[0])
    doors = {door: ask for door, ask in UNDATED_FIELD.items() if door != "lab" or name.startswith("drivers")}
    said = {door: ask(field) for door, ask in doors.items()}
    assert_same_field(said, said["predict"])


# Ratings and their order.

Board = list[tuple[int, str, int]]
"""Place, name and rating without decimals, in order."""


def board_of(table: pl.DataFrame) -> Board:
    return [(row["place"], row["name"], round(row["rating"])) for row in table.to_dicts()]


def board_of_lab(world: Any) -> Board:
    kind = ContestLeague if isinstance(world, Field) else MatchLeague
    league = object.__new__(kind)
    league.rater, league.played = world.rater, world.past
    league.downloads = {"ratings": league._ratings()}
    if isinstance(world, Field):
        league.kinds = world.past.kinds
    board = league.rank(365, 10, 2.0)
    boards = board.get("boards", {"": board}).values()
    rows = [row for board in boards for row in board["rows"]]
    return [(row["place"], row["name"].split(": ")[-1], round(row["rating"])) for row in rows]


def board_of_page(world: Any) -> Board:
    page = kn.pages.share_page(world.rater, matches=world.past)
    boards = page[page.index("<h2>Leaderboard") : page.index("<h2>Ratings through time")]
    tier = r"(?:<td[^>]*>\d+</td>)?"
    pattern = rf"<tr><td[^>]*>([\d–]+)</td>{tier}<td[^>]*><span class=\"name\">(.*?)</span>.*?</td><td[^>]*>(\d+)</td>"
    rows = re.findall(pattern, boards, re.DOTALL)
    return [
        (int(place) if place.isdigit() else None, re.sub("<.*?>", "", name), int(rating))
        for place, name, rating in rows
    ]


BOARD: dict[str, Callable[[Any], Board]] = {
    "leaderboard": lambda world: board_of(kn.leaderboard(world.rater, world.past)),
    "leaderboard of what was fitted": lambda world: board_of(kn.leaderboard(world.rater)),
    "leaderboard of a book": lambda world: board_of(kn.leaderboard(book_of(world))),
    "kinelo rate": lambda world: board_of(
        pl.DataFrame(invoke("rate", book_of(world).path)["leaderboard"], infer_schema_length=None)
    ),
    "lab": board_of_lab,
    "page": board_of_page,
}


def book_of(world: Any) -> kn.RatingBook:
    return contest_book(world) if isinstance(world, Field) else kept(world)


@pytest.mark.parametrize("name", SIDES)
def test_the_leaderboard_is_one(worlds, name):
    world = worlds(name, 1, places_of_interest(1)[0])
    said = {door: ask(world) for door, ask in BOARD.items()}
    assert len(said["leaderboard"]) > 2
    wrong = {door: board for door, board in said.items() if board != said["leaderboard"]}
    assert not wrong, (said["leaderboard"], wrong)


@pytest.mark.parametrize("name", SIDES)
def test_tiers_and_previews_show_the_rating_of_the_leaderboard(worlds, name):
    """Everyone's number and ±, though some have rested; a preview where sides are rated."""
    world = worlds(name, 1, places_of_interest(1)[0])
    board = kn.leaderboard(world.rater, active_days=None, least_matches=0).sort("name")
    ratings = dict(board.select("name", "rating").rows())
    if traits_of(world.rater).rates_players:
        return
    if "uncertainty" in board.columns:
        groups = kn.tiers(world.rater).filter(pl.col("name").is_in(board["name"].implode())).sort("name")
        assert groups["name"].to_list() == board["name"].to_list()
        for column in ("rating", "uncertainty"):
            assert groups[column].to_numpy() == pytest.approx(board[column].to_numpy(), rel=1e-9)
    if answers(world.rater, "preview"):
        first, second = board["name"][:2]
        shown = {row[0]: row[1] for row in kn.preview(world.rater, first, second, neutral=True).table().cells()}
        assert shown == {name: f"{ratings[name]:.0f}" for name in (first, second)}


@pytest.mark.parametrize("name", ["drivers", "drivers and cars"])
def test_the_leaderboard_of_contests_is_one(fields, name):
    field = fields(name, 1, contests_of_interest(1)[0])
    said = {door: ask(field) for door, ask in BOARD.items()}
    assert len(said["leaderboard"]) > 2
    wrong = {door: board for door, board in said.items() if board != said["leaderboard"]}
    assert not wrong, (said["leaderboard"], wrong)


@pytest.mark.parametrize("name", SIDES)
def test_everyone_by_rating_is_the_table_of_ratings(worlds, name):
    """With nobody left out and nothing taken off, a board is ``ratings_`` of the day of the last match."""
    world = worlds(name, 1, places_of_interest(1)[0])
    today = world.rater.ratings_on() if hasattr(world.rater, "ratings_on") else world.rater.ratings_
    board = kn.leaderboard(world.rater, active_days=None, least_matches=0, caution=0.0)
    assert board.sort("rating", "name")["name"].to_list() == today.sort("rating", "name")["name"].to_list()
    assert board["rating"].sum() == pytest.approx(today["rating"].sum())


# How a season and a cup may end.


@pytest.fixture(scope="module")
def ending(tmp_path_factory):
    """A season with 35 matches left, as files; Glicko forecasts it, which a command fits in no time."""
    folder = tmp_path_factory.mktemp("season")
    table = match_league(1).results.sort("date", maintain_order=True)
    table[:-35].write_csv(folder / "past.csv")
    late = pl.int_range(pl.len()) >= pl.len() - 35
    scores = [pl.when(~late).then(name).alias(name) for name in ("home_score", "away_score")]
    table.with_columns(scores).write_csv(folder / "next.csv")
    past, coming = kn.read_matches(folder / "past.csv"), kn.read_matches(folder / "next.csv", played=False)
    return folder, past, coming, kn.Glicko().fit(past)


def test_how_a_season_may_end_is_one(ending):
    folder, past, coming, rater = ending
    rules = kn.forecasts.Rules(2.0, 0.75, 0.0, places={"title": (1, 1), "relegation": (-2, -1)})
    expected = kn.season(rater, coming, results=past, rules=rules, realisations=SEASONS).to_polars().sort("name")
    asked = ("season", folder / "past.csv", folder / "next.csv", "--rater", "glicko", "--relegated", 2)
    told = invoke(*asked, "--win", 2, "--draw", 0.75, "--realisations", SEASONS)
    command = pl.DataFrame({name: told[name] for name in expected.columns}).sort("name")
    lab = odds(
        rater,
        past,
        coming,
        [],
        kind="season",
        points={},
        rules={"win": 2.0, "draw": 0.75, "relegated": 2},
        day="2030-01-01",
    )
    shown = {row["name"]: row for row in lab["rows"]}
    assert command["name"].to_list() == expected["name"].to_list()
    for column in ("title", "relegation", "points", "place"):
        assert command[column].to_list() == pytest.approx(expected[column].to_list(), abs=CLOSE)
        assert [shown[name][column] for name in expected["name"]] == pytest.approx(expected[column].to_list(), abs=1e-6)
    assert len(set(expected["relegation"])) > 3 and len(set(expected["place"])) == expected.height


def test_how_a_cup_may_end_is_one(ending):
    folder, past, _, rater = ending
    bracket = ["Dukla", "Ajax", "Genk", "Celtic"]
    day = str(past.date[-1] + 1)
    expected = kn.knockout(rater, bracket, date=day, realisations=SEASONS).to_polars().sort("name")
    told = invoke(
        "season", folder / "past.csv", "--knockout", "; ".join(bracket), "--rater", "glicko", "--realisations", SEASONS
    )
    command = pl.DataFrame({name: told[name] for name in expected.columns}).sort("name")
    pairs = kn.read_matches({"home": bracket[::2], "away": bracket[1::2], "match_id": ["1", "2"]}, played=False)
    lab = odds(rater, past, pairs, [], kind="knockout", points={}, rules={}, day=day)
    shown = {row["name"]: row for row in lab["rows"]}
    last = expected.columns[-1]
    assert command[last].to_list() == pytest.approx(expected[last].to_list(), abs=CLOSE)
    assert [shown[name][last] for name in expected["name"]] == pytest.approx(expected[last].to_list(), abs=1e-6)
    stronger = odds(rater, past, pairs, [], kind="knockout", points={"Genk": 120.0}, rules={}, day=day)
    raised = kn.knockout(with_points(rater, {"Genk": 120.0}), bracket, date=day, realisations=SEASONS).to_polars()
    assert {row["name"]: row[last] for row in stronger["rows"]} == pytest.approx(
        dict(raised.select("name", last).rows())
    )
    assert stronger["rows"] != lab["rows"]


# A number and its sentence.


def test_sentences_count_what_tables_hold(worlds, fields):
    """Who is not ranked, on the command line and on the page; and that everyone is, where nobody qualifies."""
    world = worlds("classic", 1, places_of_interest(1)[0])
    board = kn.leaderboard(world.rater, world.past)
    missing = world.rater.ratings_.height - board.height
    words = f"{missing} more {'is' if missing == 1 else 'are'} rated but not ranked"
    assert missing > 0 and words in kn.pages.share_page(world.rater, matches=world.past)
    match_league(1).results.sort("date", maintain_order=True)[: world.at].write_csv(world.folder / "past.csv")
    CliRunner().invoke(app, ["read", str(world.folder / "past.csv"), "--ordered"])
    for more in (["--k", "24"], ["--rater", "glicko"]):
        words_of = ["rate", str(world.folder / "past.csv"), *more]
        if "--k" in more:
            assert words in CliRunner().invoke(app, words_of).output
        said = CliRunner().invoke(app, [*words_of, "--least-matches", "1000"]).output
        assert board_and_words(world.rater, world.past, least_matches=1000)[1] in said


# What is public.

QUESTIONS = {
    "forecast": {
        "predict",
        "predict_one",
        "predict_proba",
        "one_step_ahead",
        "backtest",
        "kinelo predict",
        "kinelo serve",
    },
    "ratings": {"ratings_", "ratings_on", "leaderboard", "kinelo rate", "write_page"},
    "season": {"season", "knockout", "kinelo season"},
    "even": {"match_quality"},
    "fair teams": {"balance"},
    "changes": {"preview", "explain", "explain_last", "kinelo why"},
    "handicaps": {"fair_value"},
    "learning": {"fit", "update", "update_one"},
}
"""Names whose answers the tests above, and those of single matches, balance, changes and covariates, hold together."""

OTHERS = {
    # of a rater: its arguments, state and what it found
    "classic", "corrected", "correlation", "from_arrays", "get_params", "hindsight", "intervals",
    "predict_margin", "score", "set_params", "strengths_by", "to_arrays",
    # of a rater of contests: one of them

    # of the package: theory, simulation, reading
    "audit", "best_gamma", "changeover", "choose_rater", "critical_gamma", "design", "devices", "diagnose",
    "expected_result", "farming", "homogeneous", "judges", "matchmaking", "newcomer", "next_matches", "rating_history",
    "read_contests", "read_matches", "relaxation", "sample_league", "scan_contests", "scan_matches", "simulate",
    "sequential_test", "simulate_matches", "solve", "stationary", "sweep", "tiers", "to_pandas", "tracking",
    "unbiased_gamma", "watch",
    # commands
    "kinelo audit", "kinelo backtest", "kinelo book", "kinelo lab", "kinelo read", "kinelo reproduce",
    "kinelo sample",
    "kinelo study design", "kinelo study diagnose", "kinelo study simulate", "kinelo study solve", "kinelo study sweep",
    "kinelo next", "kinelo test",
}  # fmt: skip


def public_names() -> set[str]:
    """Methods of raters, ratings, functions of the package, and commands; what a fit found ends in an underscore."""
    kinds = (kn.TeamElo, type(kn.TeamElo.classic()), kn.Glicko, kn.Glicko2, kn.KalmanElo, kn.PlayerElo,
             kn.BradleyTerry, kn.RankElo, kn.raters.Mixture)  # fmt: skip
    methods = {
        name
        for kind in kinds
        for name in dir(kind)
        if not name.startswith("_") and not name.endswith("_") and callable(getattr(kind, name))
    }
    functions = {name for name in dir(kn) if name[0].islower() and find_spec(f"kinelo.{name}") is None}
    commands = {f"kinelo {name}" for name in commands_by_name()}
    return methods | {"ratings_"} | functions | commands


def test_every_public_name_has_a_door_or_answers_another_question():
    known = set().union(*QUESTIONS.values()) | OTHERS
    missing = public_names() - known
    assert not missing, f"{sorted(missing)}: add a door above, or say that they answer another question"
    assert not set().union(*QUESTIONS.values()) - public_names(), "doors that are gone"
