"""When somebody played last: a day where matches have days, nothing where they have none."""

import datetime

import polars as pl
import pytest

import kinelo as kn

GAMES = [
    ("2024-03-01", "A", "B", 1),
    ("2024-03-02", "B", "C", 1),
    ("2024-03-09", "C", "A", 0),
    ("2025-09-01", "A", "C", 1),
]
RATERS = {
    "classic": kn.TeamElo.classic(k=20), "glicko": kn.Glicko(300.0, 10.0, 0.0, 0.5),
    "kalman": kn.KalmanElo(walk=0.3, prior_spread=1.0, noise=0.5, ties=0.5, regression=0.1),
    "bradley-terry": kn.BradleyTerry(ties=0.5, ridge=0.1, home_advantage=0.2),
}  # fmt: skip


def played(*columns):
    return kn.read_matches(pl.DataFrame(GAMES, schema=["date", "home", "away", "result"], orient="row").drop(*columns))


@pytest.mark.parametrize("kind", RATERS)
def test_the_last_day_is_shown_where_there_are_days(kind):
    table = RATERS[kind].fit(played()).ratings_
    assert dict(table.select("name", "last_played").rows()) == {
        "A": datetime.date(2025, 9, 1), "B": datetime.date(2024, 3, 2), "C": datetime.date(2025, 9, 1)
    }  # fmt: skip


@pytest.mark.parametrize("kind", RATERS)
def test_no_day_is_shown_where_there_are_none_and_nobody_is_left_out(kind):
    matches = played("date")
    rater = RATERS[kind].fit(matches)
    assert rater.ratings_["last_played"].dtype == pl.Date and rater.ratings_["last_played"].null_count() == 3
    assert kn.leaderboard(rater, matches, least_matches=1).height == 3
    assert kn.rating_history(rater, matches)["name"].sort().to_list() == ["A", "B", "C"]


def test_who_only_has_a_rating_to_begin_with_has_not_played():
    rater = kn.TeamElo.classic(k=20, start={"A": 1600.0, "Z": 1400.0})
    table = rater.update(played()[:0]).ratings_
    assert dict(table.select("name", "last_played").rows()) == {"A": None, "Z": None}
