"""Ratings to begin with."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.raters.start import read_start


def league(n=120, seed=0):
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 6, n)
    names = [f"side {k}" for k in range(6)]
    return {
        "date": (np.datetime64("2001-01-01") + np.sort(rng.integers(0, 800, n))).astype(str).tolist(),
        "home": [names[k] for k in home],
        "away": [names[(k + 1 + j) % 6] for k, j in zip(home, rng.integers(0, 5, n))],
        "result": rng.choice([0, 0.5, 1], n).tolist(),
    }


RATERS = [
    kn.TeamElo(regression=0.3),
    kn.Glicko(growth=40.0),
    kn.Glicko2(together=True),
    kn.KalmanElo(covariance="full"),
    kn.KalmanElo(covariance="diagonal"),
]


def with_start(rater, start):
    return type(rater)(**rater.get_params() | {"start": start})


@pytest.mark.parametrize("rater", RATERS, ids=repr)
def test_whoever_is_in_the_table_begins_there_and_others_as_newcomers(rater):
    began = with_start(rater, {"side 0": 1800, "side 1": 1500})
    fixtures = {"home": ["side 0", "side 1", "stranger"], "away": ["side 1", "stranger", "side 0"]}
    coming = kn.read_matches(fixtures | {"neutral": [True] * 3, "date": ["2003-01-01"] * 3}, played=False)
    forecast = began.predict(coming)
    assert forecast.unknown == ("stranger",)
    assert forecast.points[0] > 0.6
    assert forecast.points[2] < 0.45
    table = began.ratings_
    assert table.select("name", "matches").rows() == [("side 0", 0), ("side 1", 0)]
    assert table["rating"].to_list() == pytest.approx([1800, 1500])
    began.update(kn.read_matches({"home": ["side 0"], "away": ["fresh"], "result": [1], "date": ["2003-01-01"]}))
    assert dict(began.ratings_.select("name", "matches").iter_rows()) == {"side 0": 1, "side 1": 0, "fresh": 1}


@pytest.mark.parametrize("rater", RATERS, ids=repr)
def test_a_deviation_says_how_fast_a_rating_moves(rater):
    match = kn.read_matches({"home": ["a"], "away": ["b"], "result": [0], "neutral": [True]})
    moved = []
    for deviation in (20.0, 120.0):
        began = with_start(rater, {"name": ["a", "b"], "rating": [1600, 1500], "deviation": [deviation] * 2})
        uncertainty = began.ratings_["uncertainty"].to_list()
        assert uncertainty == pytest.approx([deviation] * 2, rel=1e-6)
        moved.append(1600 - dict(began.update(match).ratings_.select("name", "rating").iter_rows())["a"])
    assert moved[0] > 0
    assert isinstance(rater, kn.TeamElo) or moved[1] > 3 * moved[0]


def test_a_season_carried_on_from_a_table_is_the_season_in_one_piece():
    matches = kn.read_matches(league())
    rater = kn.TeamElo(step=12, newcomer_boost=3.0, home_advantage=0, ties=0.5, regression=0.4, margin_weight=0)
    whole = with_start(rater, None).update(matches)
    half = with_start(rater, None).update(matches[:60])
    carried = with_start(rater, half.ratings_.drop("uncertainty")).update(matches[60:])
    one, other = (r.ratings_.sort("name") for r in (whole, carried))
    np.testing.assert_array_equal(one["rating"].to_numpy(), other["rating"].to_numpy())
    assert one["matches"].to_list() == other["matches"].to_list()


def test_players_begin_with_ratings_too():
    table = league(20)
    table |= {"home_lineup": [[f"p {name}"] for name in table["home"]], "away_lineup": [["p x"]] * 20}
    rater = kn.PlayerElo(start={"p side 0": 1900.0})
    told = rater.predict(kn.read_matches({k: v[:8] for k, v in table.items()}))
    blank = kn.PlayerElo()
    blank._reset()
    other = blank.predict(kn.read_matches({k: v[:8] for k, v in table.items()}))
    hosts = np.array([name == "side 0" for name in table["home"][:8]])
    assert hosts.any()
    np.testing.assert_array_equal(told.points[~hosts], other.points[~hosts])
    assert np.all(told.points[hosts] > other.points[hosts])


def test_names_that_no_match_names_are_told_with_those_they_may_stand_for():
    with pytest.warns(kn.KineloWarning, match=r"start names 1 that no match names: 'Side 1x' \(perhaps 'side 1'\)"):
        kn.TeamElo.classic().set_params(start={"side 0": 1600, "Side 1x": 1400}).fit(kn.read_matches(league()))


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (7, "start must be a table"),
        ({"name": ["a"], "points": [3]}, "start has no column 'rating'"),
        ({"name": ["a", "a"], "rating": [1, 2]}, "names 'a' twice"),
        ({"name": ["a"], "rating": [1500], "deviation": [-1]}, "what no rating can be"),
        ({"a": float("nan")}, "what no rating can be"),
        ({"name": ["a"], "rating": [1500], "date": ["yesterday"]}, "year-month-day"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(start, told):
    with pytest.raises(kn.InputError, match=told):
        kn.KalmanElo(start=start).update(kn.read_matches(league()))


def test_a_table_is_kept_as_it_was_read():
    start = read_start(
        pl.DataFrame({"Name": ["a", "b"], "Elo": [1, 2], "RD": [None, 30.0], "last_played": ["2020-01-02", None]})
    )
    again = read_start(start.plain())
    for one, other in zip(start, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_book_keeps_the_table(tmp_path):
    matches = kn.read_matches(league())
    rater = kn.Glicko(350, 35, 0.0, 0.5, start=pl.DataFrame({"name": ["side 3"], "rating": [1999.0]}))
    book = kn.RatingBook(tmp_path / "b", rater)
    book.add(matches)
    again = kn.RatingBook(tmp_path / "b").ratings_
    plain = with_start(rater, {"side 3": 1999.0}).update(matches).ratings_
    assert again.equals(plain)


def test_the_command_begins_with_a_file(tmp_path):
    pl.DataFrame(league()).write_csv(tmp_path / "results.csv")
    pl.DataFrame({"name": ["side 2", "side 2b"], "rating": [2500, 1400]}).write_csv(tmp_path / "start.csv")
    run = CliRunner().invoke(app, ["rate", str(tmp_path / "results.csv"), "--start", str(tmp_path / "start.csv")])
    assert run.exit_code == 0, run.output
    assert "no match names: 'side 2b'" in run.output
    run = CliRunner().invoke(
        app, ["rate", str(tmp_path / "results.csv"), "--rater", "bradley-terry", "--start", str(tmp_path / "start.csv")]
    )
    assert isinstance(run.exception, kn.InputError) or "no ratings to begin with" in run.output


def test_a_misspelt_side_is_named_with_the_nearest_names():
    coming = kn.read_matches({"home": ["Side 2"], "away": ["Nobody"], "date": ["2004-01-01"]}, played=False)
    for rater in (kn.TeamElo.classic(), kn.Glicko(350, 35, 0.0, 0.5), kn.KalmanElo(), kn.BradleyTerry()):
        rater.update(kn.read_matches(league()))
        with pytest.warns(kn.KineloWarning, match=r"Side 2 has never played .*did you mean side 2") as caught:
            rater.predict(coming)
        assert not any("Nobody" in str(item.message) for item in caught)
