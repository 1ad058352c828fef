"""Sides of different sizes: a sixth player counts where he does, and somebody who leaves; where sizes are equal nothing
changes."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import KineloWarning
from kinelo.forecasts.scores import log_loss
from kinelo.matches.lineups import Lineups
from kinelo.raters.adapter import blank_of
from kinelo.raters.player.rater import log_sizes
from kinelo.raters.player.rotation import AFTER, STARTERS, UNSEEN


def lobby(worth=400.0, seed=3, n=900, sizes=(4, 5, 6), equal=False):
    """Matches of players drawn at random; ``worth`` points for the logarithm of the ratio of sizes."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 250.0, 30), []
    for k in range(n):
        ours, theirs = rng.choice(sizes, 2)
        theirs = ours if equal else theirs
        who = rng.choice(30, ours + theirs, replace=False)
        gap = strength[who[:ours]].mean() - strength[who[ours:]].mean() + worth * math.log(ours / theirs)
        won = float(rng.random() < 1 / (1 + 10 ** (-gap / 400)))
        names = [f"p{i}" for i in who]
        rows.append((str(np.datetime64("2022-01-01") + k // 4), "red", "blue", won, True, names[:ours], names[ours:]))
    columns = ("date", "home", "away", "result", "neutral", "home_lineup", "away_lineup")
    return dict(zip(columns, map(list, zip(*rows))))


@pytest.fixture(scope="module")
def fitted():
    matches = kn.read_matches(lobby())
    return matches, kn.PlayerElo(covariance="diagonal").fit(matches[:600])


def test_a_larger_side_is_forecast_to_win_as_often_as_it_does(fitted):
    matches, rater = fitted
    said = blank_of(rater)
    said.update(matches[:600])
    forecast = said.one_step_ahead(matches[600:])
    sizes = np.diff(matches[600:].lineups.offsets)
    larger = sizes[0::2] > sizes[1::2]
    happened = matches[600:].result[larger].mean()
    # About 100 matches: a standard error of .05.
    assert happened > 0.58 and abs(forecast.points[larger].mean() - happened) < 0.12
    (row,) = rater.effects_.to_dicts()
    assert row["name"] == "size" and row["effect"] > 3.0 * row["standard_error"] > 0.0
    blind = kn.PlayerElo(covariance="diagonal", strength="sum").fit(matches[:600]).one_step_ahead(matches[600:])
    assert log_loss(forecast.probabilities, matches[600:].result).mean() < (
        log_loss(blind.probabilities, matches[600:].result).mean() - 0.01
    )


def test_equal_sizes_are_rated_as_if_size_did_not_exist():
    matches = kn.read_matches(lobby(equal=True, n=120))
    rater = kn.PlayerElo(covariance="diagonal").fit(matches)
    assert not rater._counts_size and rater.effects_.height == 0 and rater._state.fixed == 3
    assert not {"counts_size", "covariate_units"} & set(rater.to_arrays())


def test_the_logarithm_of_sizes():
    """Match one: 3 against 2 starters; by minutes 90 + 90 + 20 against 90 + 50. Match two: one side is not known."""
    lineups = Lineups(
        np.array([0, 3, 6, 6, 7]), np.zeros(7, np.int32), ("x",),
        np.array([90.0, 90, 20, 90, 50, 0, 90]), np.array([1, 1, 1, 1, 1, 0, 1], np.int8),
    )  # fmt: skip
    assert log_sizes(lineups, STARTERS).tolist() == pytest.approx([math.log(3 / 2), 0.0])
    assert log_sizes(lineups, AFTER).tolist() == pytest.approx([math.log(200 / 140), 0.0])
    assert log_sizes(lineups, UNSEEN).tolist() == [0.0, 0.0]


def test_minutes_of_one_match_are_those_of_a_table(fitted, tmp_path):
    _, rater = fitted
    table, one, book = (blank_of(rater) for _ in range(3))
    home, away = {"p1": 30.0, "p2": 30.0, "p3": 4.0}, {"p4": 30.0, "p5": 30.0, "p6": 30.0}
    people = [(side, name, time) for side, who in (("red", home), ("blue", away)) for name, time in who.items()]
    sheet = {"match_id": ["m"] * 6, "side": [p[0] for p in people], "player": [p[1] for p in people],
             "minutes": [p[2] for p in people]}  # fmt: skip
    row = {
        "match_id": ["m"],
        "date": ["2023-01-01"],
        "home": ["red"],
        "away": ["blue"],
        "result": [1],
        "neutral": [True],
    }
    table.update(kn.read_matches(row, lineups=sheet, results="points"))
    said = {"date": "2023-01-01", "neutral": True, "home_lineup": home, "away_lineup": away}
    one.update_one("red", "blue", 1, **said)
    kept = kn.RatingBook(tmp_path / "b.db", book)
    kept.update_one("red", "blue", 1, match_id="m", **said)
    assert one.ratings_.equals(table.ratings_) and one.effects_.equals(table.effects_)
    assert kept.rater.ratings_.equals(one.ratings_) and kept.check() == []
    # Who left early loses, or gains, less than who stayed; without minutes all three are alike.
    moved = {row["name"]: row["uncertainty"] for row in one.ratings_.to_dicts()}
    assert moved["p3"] > moved["p1"] == moved["p2"]
    with pytest.raises(kn.InputError, match="known after a match"):
        one.predict_one("red", "blue", home_lineup=home)
    for bad, words in (({"p1": -1.0}, "no time that somebody played"), ({"p1": 0.0}, "played at all")):
        with pytest.raises(kn.InputError, match=words):
            one.update_one("red", "blue", 1, home_lineup=bad)


def test_fair_teams_of_unequal_sizes_know_what_a_player_more_is_worth(fitted):
    _, rater = fitted
    names = [f"p{k}" for k in range(9)]
    split = kn.balance(rater, names, [5, 4]).best
    (large, small) = split.sides
    even = rater.predict_one("x", "y", neutral=True, home_lineup=large, away_lineup=small).points[0]
    assert even == pytest.approx(split.chances[0] + split.chances[1] / 2 if len(split.chances) == 3 else even, abs=1e-9)
    ratings = dict(rater.ratings_.select("name", "rating").rows())
    mean = [np.mean([ratings[name] for name in side]) for side in split.sides]
    assert mean[0] < mean[1] and abs(even - 0.5) < 0.06  # the larger side is the weaker one on average


def substituted(seed=5, n=700):
    """Eleven play against eleven of another club; who loses has used more substitutes, and all are listed alike."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 120.0, 12), []
    for k in range(n):
        home, away = rng.choice(12, 2, replace=False)
        won = float(rng.random() < 1 / (1 + 10 ** (-(strength[home] - strength[away] + 50.0) / 400)))
        used = 2 + rng.binomial(3, 0.3 + 0.5 * (1 - won)), 2 + rng.binomial(3, 0.3 + 0.5 * won)
        names = [[f"{club}-{i}" for i in rng.permutation(16)[: 11 + more]] for club, more in zip((home, away), used)]
        rows.append((str(np.datetime64("2023-01-01") + k // 6), f"C{home}", f"C{away}", won, *names, k % 7 * 30.0))
    columns = ("date", "home", "away", "result", "home_lineup", "away_lineup", "rest")
    return dict(zip(columns, map(list, zip(*rows))))


def test_a_larger_side_that_does_worse_is_not_believed():
    """Lists of who took part, known only afterwards, tell who lost: without a warning forecasts would be too good."""
    matches = kn.read_matches(substituted(), conditions=["rest"])
    until, usual = matches.date[400], {"covariance": "diagonal", "covariates": ["rest"]}
    train, test = matches.before(until), matches.since(until)
    with pytest.warns(KineloWarning, match=r"size effect -\d+ ± \d+.*counts_size=False") as said:
        rater = kn.PlayerElo(**usual).fit(train)
    assert len(said) == 1 and not rater._counts_size and rater.effects_["name"].to_list() == ["rest"]
    without = kn.PlayerElo(**usual, counts_size=False).fit(train)
    assert without.parameters_ == pytest.approx(rater.parameters_, rel=1e-9)
    one, other = (r.one_step_ahead(test).probabilities for r in (rater, without))
    np.testing.assert_allclose(one, other, atol=1e-12)
    # A rater that is told nothing beforehand knows no more, though the lists show who lost.
    assert np.corrcoef(log_sizes(test.lineups, AFTER), test.signed)[0, 1] < -0.3
    blind = kn.PlayerElo(**usual, known="none", counts_size=False).fit(train).one_step_ahead(test)
    gained = log_loss(blind.probabilities, test.result) - log_loss(one, test.result)
    assert abs(gained.mean()) < 3.3 * gained.std() / math.sqrt(gained.size)
