"""A correction of any field of a match or a contest: it is counted, and the book ends as one that never knew better."""

from functools import cache, partial
from typing import Any

import polars as pl
import pytest

import kinelo as kn
from leagues import contest_league, match_league

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
AT = 45
SIDES = partial(kn.TeamElo.classic, k=24, home_advantage=55.0)
SURFACES = partial(
    kn.TeamElo,
    **({p.name: p.default for p in kn.TeamElo._declared_parameters} | {"prior_spread": 170.0}),
    conditions=["surface"],
)


@pytest.fixture(autouse=True)
def _checkpoints(monkeypatch):
    """A state is kept every other match: what is rated again is rated from the one before it."""
    monkeypatch.setattr("kinelo.book.carrying.EVERY", 2)


@cache
def played() -> pl.DataFrame:
    return match_league(1).results.sort("date", maintain_order=True)


def matches(table: pl.DataFrame, lineups: pl.DataFrame | None = None) -> kn.matches.Matches:
    return kn.read_matches(table, lineups, conditions=["surface"], ordered=True)


def other(row: dict[str, Any], field: str) -> Any:
    """Another value of a field: a day before or after it, another side, half the weight, …"""
    days = {"a later date": 20, "an earlier date": -20}
    if field in days:
        return str(played()["date"][AT + days[field]])
    if field == "surface":
        return next(level for level in ("clay", "turf") if level != row["surface"])
    if field in ("home", "away"):
        return next(name for name in ("Ajax", "Celtic", "Dukla") if name not in (row["home"], row["away"]))
    return {"home_score": row["home_score"] + 4, "margin": row["away_score"], "neutral": not row["neutral"]}.get(
        field, row["weight"] / 2
    )


def corrected(field: str) -> pl.DataFrame:
    row = played().row(AT, named=True)
    changed = row | {"date" if field.endswith("date") else field: other(row, field)}
    if field == "margin":  # the same result by another margin
        margin = row["home_score"] - row["away_score"]
        changed = row | {"home_score": row["home_score"] + 2 * (margin > 0), "away_score": row["away_score"]
                         + 2 * (margin < 0)}  # fmt: skip
        assert margin
    return pl.concat([played()[:AT], pl.DataFrame([changed], schema=played().schema), played()[AT + 1 :]])


FIELDS = ["a later date", "an earlier date", "home", "away", "home_score", "margin", "neutral", "weight", "surface"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_corrected_match_ends_as_if_it_had_been_right_at_once(field, tmp_path):
    rater = SURFACES if field == "surface" else SIDES
    table = corrected(field).select(played().columns)
    book = kn.RatingBook(tmp_path / "book.db", rater())
    book.add(matches(played()))
    added = book.add(matches(table[AT : AT + 1]))
    assert (added.new, added.known, added.changed) == (0, 0, 1)
    fresh = kn.RatingBook(tmp_path / "fresh.db", rater())
    fresh.add(matches(table.sort("date", maintain_order=True)))
    columns = ["match_id", "date", "home", "away", "result", "margin", "neutral", "weight"]
    shown, wanted = (one.matches().to_polars().select(columns).sort("match_id") for one in (book, fresh))
    assert shown.equals(wanted)
    assert not shown.equals(matches(played()).to_polars().select(columns).sort("match_id")) or field == "surface"
    assert book.check() == [] and matches_of(book) == matches_of(fresh)
    assert ratings(book) == pytest.approx(ratings(fresh), abs=1e-9)


def ratings(book: kn.RatingBook) -> dict[str, float]:
    return dict(book.ratings_.select("name", "rating").rows())


def matches_of(book: kn.RatingBook) -> list[list[str | None]]:
    return [one.names().to_list() for one in book.matches().conditions.values()]


def test_line_ups_come_out_of_a_book_as_they_went_in(tmp_path):
    """Who starts, who comes on and for how long."""
    table = match_league(1)
    given = {p.name: p.default for p in kn.PlayerElo._declared_parameters}
    book = kn.RatingBook(tmp_path / "book.db", kn.PlayerElo(**given, covariance="diagonal"))
    told = kn.read_matches(table.results[:20], table.lineups, ordered=True)
    book.add(told)
    kept = book.matches().lineups
    for name in ("offsets", "minutes", "starter"):
        assert getattr(kept, name).tolist() == pytest.approx(getattr(told.lineups, name).tolist(), nan_ok=True), name
    assert 0 < told.lineups.starter.mean() < 1 and len(set(told.lineups.minutes.tolist())) > 9


CLASSIC = partial(kn.TeamElo.classic, k=24)
RACE = 13


@pytest.mark.parametrize("field", ["a later date", "an earlier date", "place", "weight", "driver"])
def test_a_corrected_contest_ends_as_if_it_had_been_right_at_once(field, tmp_path):
    table = contest_league(1)
    races = table["race"].unique(maintain_order=True).to_list()
    own = pl.col("race") == races[RACE]
    value = {
        "a later date": pl.lit(table.filter(race=races[RACE + 5])["date"][0]),
        "an earlier date": pl.lit(table.filter(race=races[RACE - 4])["date"][0]),
        "place": pl.when(pl.col("place") == "1").then(pl.lit("9")).otherwise("place"),
        "weight": pl.col("weight") * 0.5,
        "driver": pl.when(pl.col("place") == "1").then(pl.lit("Zoe")).otherwise("driver"),
    }[field]
    column = field.split()[-1]
    right = table.with_columns(pl.when(own).then(value).otherwise(column).alias(column))
    book, fresh = (kn.RatingBook(tmp_path / name, CLASSIC()) for name in ("book.db", "fresh.db"))
    book.add(kn.read_contests(table))
    before = ratings(book)
    added = book.add(kn.read_contests(right.filter(own)))
    assert (added.new, added.known, added.changed) == (0, 0, 1)
    fresh.add(kn.read_contests(right))
    assert ratings(book) == pytest.approx(ratings(fresh), abs=1e-9) and ratings(book) != before
    assert book.check() == []


def test_a_correction_that_names_no_distances_keeps_them(tmp_path):
    laps = {"date": ["2024-01-01"] * 3, "race": [1] * 3, "driver": list("ABC"), "place": ["1", "2", "DNF"],
            "laps": [50, 49, 10]}  # fmt: skip
    given = {p.name: p.default for p in kn.RankElo._declared_parameters}
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**given))
    book.add(kn.read_contests(laps))
    told = book.matches().distance.tolist()
    untold = {name: cells for name, cells in laps.items() if name != "laps"} | {"place": ["2", "1", "DNF"]}
    assert book.add(kn.read_contests(untold)).changed == 1
    by_name = dict(zip([book.matches().entrants[k] for k in book.matches().entrant], book.matches().distance.tolist()))
    assert sorted(by_name.values(), key=str) == sorted(told, key=str) and by_name["C"] == min(told)
