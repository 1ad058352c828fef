"""Columns and methods that changed their names: the old ones still work."""

import polars as pl
import pytest

import kinelo as kn

TABLE = {"home": ["A", "B", "C", "A"] * 6, "away": ["B", "C", "A", "C"] * 6, "result": [1, 1, 0, 1] * 6}


@pytest.mark.parametrize(("column", "heard"), [("separable", False), ("told_apart", True)])
def test_a_rater_says_who_is_separable_by_either_name(column, heard, recwarn):
    matches = kn.read_matches(TABLE)
    rater = kn.TeamElo.classic(k=20).fit(matches)

    class Own:
        ratings_ = rater.ratings_.with_columns((pl.col("name") != "B").alias(column))

    if heard:
        with pytest.warns(DeprecationWarning, match="told_apart of ratings is now separable"):
            board = kn.leaderboard(Own(), matches)
    else:
        board = kn.leaderboard(Own(), matches)
        assert not recwarn.list
    assert board.filter(pl.col("place").is_null())["name"].to_list() == ["B"]
    assert not {"separable", "told_apart"} & set(board.columns)


def test_players_have_both_columns():
    league = kn.sample_league(teams=4, seasons=1, seed=1)
    matches = kn.read_matches(league.results, lineups=league.lineups)
    table = kn.PlayerElo().update(matches).ratings_on()
    assert table["separable"].to_list() == table["told_apart"].to_list()


def test_rejects_are_put_into_words():
    rejects = kn.read_matches({**TABLE, "result": [*TABLE["result"][:-1], "?!"]}).rejected
    with pytest.warns(DeprecationWarning, match="Rejects.told is now in_words"):
        assert rejects.told() == rejects.in_words() != ""


def test_a_diagnosis_of_results_says_what_is_beyond_luck():
    found = kn.diagnose(kn.Tanh(nu=0.5), kn.Results([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]))
    with pytest.warns(DeprecationWarning, match=r"ResultsDiagnosis.told is now beyond_luck"):
        assert found.told is found.beyond_luck is True
