"""One year typed wrong (2199 for 1999) is asked about: every match to come would be an earlier one."""

import dataclasses
from datetime import date

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.lab.rate.controller import RatingController

THIS_YEAR = date.today().year
RATERS = {"classic": lambda: kn.TeamElo.classic(k=20), "Glicko": lambda: kn.Glicko(deviation=300.0, growth=10.0)}


def table(*years):
    days, results = [f"{year}-03-0{k + 1}" for k, year in enumerate(years)], [1.0, 0.0, 0.5, 1.0]
    columns = {"date": days, "result": results, "home": list("ABCA"), "away": list("BCAC")}
    return {name: column[: len(years)] for name, column in columns.items()}


def matches(*years):
    """Matches of these years, whatever reading says of them."""
    read = kn.read_matches(table(*(2000 for _ in years)))
    days = np.array(table(*years)["date"], "datetime64[D]")
    return dataclasses.replace(read, date=days)


def races(*years):
    """The same as contests, the second of each day ahead."""
    rows = [(day, name, place) for day in table(*years)["date"] for place, name in enumerate("BAC", 1)]
    return {name: list(column) for name, column in zip(("date", "driver", "place"), zip(*rows))}


def refused(call, *words, **keys):
    with pytest.raises(kn.InputError, match=r"A result of 2199-\d\d-\d\d lies 1\d\d years after .* Is the year right"):
        call(*words, **keys)


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_a_result_from_a_far_future_changes_nothing(make):
    rater = make().update(matches(2023, 2024))
    before = rater.to_arrays()
    refused(rater.update_one, "A", "B", 1, date="2199-01-02")
    refused(rater.update, matches(2199))
    refused(rater.update, matches(2025, 2025, 2199))
    refused(rater.one_step_ahead, matches(2025, 2199, 2199))
    refused(make().fit, matches(2023, 2024, 2199))
    after = rater.to_arrays()
    assert all(np.array_equal(before[name], after[name], equal_nan=before[name].dtype.kind == "f") for name in before)
    rater.update_one("A", "B", 1, date="2024-05-01")


def test_contests_are_asked_about_too():
    contests = [kn.matches.Contests.from_matches(matches(*years)) for years in ((2023, 2024), (2025, 2199), (2199,))]
    for rater in (kn.TeamElo.classic(k=20), kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=0.0, off=0.0)):
        rater.update(contests[0])
        refused(rater.update, contests[1])
        refused(rater.update, contests[2])
        rater.update(contests[0][1])


@pytest.mark.parametrize("make", RATERS.values(), ids=RATERS)
def test_leagues_of_other_times_are_taken(make):
    """A long gap up to today, next year's fixtures played early, and leagues that were made up."""
    for years in ((1924, 2016), (THIS_YEAR - 1, THIS_YEAR, THIS_YEAR + 1), (2150, 2151, 2152), (2198, 2199)):
        last = make().update(matches(*years)).ratings_["last_played"].max()
        assert (last.year, last.day) == (years[-1], len(years))
    rater = make().update_one("A", "B", 1, date="2199-01-01").update_one("A", "B", 0, date="2199-02-01")
    assert rater.ratings_["matches"].to_list() == [2, 2]


READERS = {"matches": (kn.read_matches, table, 3), "contests": (kn.read_contests, races, 7)}


@pytest.mark.parametrize("kind", READERS)
def test_leagues_that_were_made_up_are_read_wherever_they_lie(kind):
    """Nothing was played before the first row, not even about 1970, where days are counted from."""
    read, columns, _ = READERS[kind]
    for years in ((2150, 2151, 2152), (1969, 1970, 1971)):
        found = read(columns(*years))
        assert [day.astype(object).year for day in (found.date[0], found.date[-1])] == [years[0], years[-1]]


@pytest.mark.parametrize("kind", READERS)
def test_reading_asks_too_and_says_which_row(kind, tmp_path):
    read, made, row = READERS[kind]
    words = rf"A result of 2199-03-03 \(row {row}\) lies 17\d years after the one before it, .* Is the year right\?"
    with pytest.raises(kn.InputError, match=words):
        read(made(2023, 2024, 2199))
    for years in ((2023, 2024, THIS_YEAR + 1), (2150, 2151), (1924, 2024)):
        assert len(read(made(*years))) == len(years)
    wrong = tmp_path / "wrong.csv"
    pl.DataFrame(made(2023, 2024, 2199)).write_csv(wrong)
    said = CliRunner().invoke(app, ["rate", str(wrong), "--k", "20", "--out", str(tmp_path / "out.csv")])
    assert "Is the year right?" in str(said.exception) and not (tmp_path / "out.csv").exists()
    lab = RatingController(lambda _: None)
    lab.look("results", str(wrong), "wrong.csv", 100, 100)
    guesses = {f: c for one in lab._tables.values() for f, c in one.guesses.items()}
    with pytest.raises(kn.InputError, match=words):
        lab.check(guesses, [])


def test_a_fixture_of_a_far_future_is_read():
    """It changes no rating, and asks only how long everybody has rested."""
    fixtures = {"date": ["2024-01-01", "2199-01-01"], "home": ["A", "B"], "away": ["B", "C"]}
    assert len(kn.read_matches(fixtures, played=False)) == 2
