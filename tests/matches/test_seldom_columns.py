"""Columns that few files have: every cell of each ends where it belongs, on a table whose answers all differ."""

import numpy as np
import pytest

import kinelo as kn

SIDES = {"date": [f"2024-01-0{k}" for k in range(1, 5)], "home": list("ABCD"), "away": list("BCDA")}


def per_team(first, second):
    """One match of A (row 1) and B (row 2), A's score 3 and B's 1, with what each row says of the venue."""
    table = {"match_id": ["m", "m", "n", "n"], "team": list("ABCD"), "score": [3, 1, 0, 2]}
    return kn.read_matches(table | {"venue": [first, second, "H", "A"]})


@pytest.mark.parametrize(
    ("first", "second", "home", "neutral"),
    [
        ("H", "A", "A", False), ("A", "H", "B", False), ("H", "", "A", False), ("", "H", "B", False),
        ("A", "", "B", False), ("", "A", "A", False), ("", "", "A", True), ("N", "N", "A", True), ("N", "", "A", True),
    ],
)  # fmt: skip
def test_a_venue_on_one_of_two_rows_is_enough(first, second, home, neutral):
    matches = per_team(first, second)
    assert [matches.teams[k] for k in matches.home] == [home, "C"]
    assert [matches.teams[k] for k in matches.away] == ["AB"["BA".index(home)], "D"]
    assert matches.margin.tolist() == [2.0 if home == "A" else -2.0, -2.0]
    assert matches.result.tolist() == [1.0 if home == "A" else 0.0, 0.0]
    assert matches.neutral.tolist() == [neutral, False]


@pytest.mark.parametrize(
    "words",
    [["-1,5", "2,25", "0", "-10"], ["\N{MINUS SIGN}1.5", "2.25", "0.0", "\N{MINUS SIGN}10"], [-1.5, 2.25, 0, -10]],
)
@pytest.mark.parametrize("column", ["margin", "goal_difference"])
def test_negative_decimals_are_margins_of_the_home_side(words, column):
    matches = kn.read_matches(SIDES | {column: words})
    assert matches.margin.tolist() == [-1.5, 2.25, 0.0, -10.0]
    assert matches.result.tolist() == [0.0, 1.0, 0.5, 0.0]


def test_signed_decimals_are_results():
    matches = kn.read_matches(SIDES | {"result": ["-0,5", "1", "-1", "0"]})
    assert matches.result.tolist() == [0.25, 1.0, 0.0, 0.5]


def test_weights_stay_with_their_matches_in_any_order_of_the_file():
    """Rows in another order of dates, one of them without a result: weights and venues move with them."""
    table = {
        "date": ["2024-01-04", "2024-01-02", "2024-01-03", "2024-01-01"], "home": list("DBCA"), "away": list("ACDB"),
        "result": [1.0, None, 0.5, 0.0], "weight": ["4", "0,5", "3.25", "2"], "neutral": ["no", "no", "yes", "no"],
    }  # fmt: skip
    matches = kn.read_matches(table)
    assert [matches.teams[k] for k in matches.home] == list("ACD")
    assert matches.weight.tolist() == [2.0, 3.25, 4.0]
    assert matches.neutral.tolist() == [False, True, False]


def test_places_are_better_the_smaller():
    matches = kn.read_matches(
        SIDES | {"p1": [1, 2, 3, 4], "p2": [4, 3, 2, 2]}, columns={"home_place": "p1", "away_place": "p2"}
    )
    assert matches.margin.tolist() == [3.0, 1.0, -1.0, -2.0] and matches.result.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_games_decide_and_points_are_the_margin():
    table = {"home_score": [40, 31, 20, 9], "away_score": [38, 33, 21, 12], "home_sets": [0, 2, 1, 0]}
    matches = kn.read_matches(SIDES | table | {"away_sets": [2, 1, 2, 2]})
    assert matches.result.tolist() == [0.0, 1.0, 0.0, 0.0] and matches.margin.tolist() == [2.0, -2.0, -1.0, -3.0]


def test_a_column_called_home_may_hold_sides_of_many_leagues():
    """``home`` names the side, ``venue`` says where: the first side away is no side at home."""
    matches = kn.read_matches(SIDES | {"result": [1, 0, 0.5, 1], "venue": ["home", "away", "neutral", "home"]})
    assert [matches.teams[k] for k in matches.home] == list("ABCD")
    assert matches.neutral.tolist() == [False, True, True, False]
    assert matches.result.tolist() == [1, 0, 0.5, 1]


def test_conditions_and_line_ups_stay_with_their_matches():
    table = {
        "date": ["2024-01-02", "2024-01-01"], "home": ["A", "C"], "away": ["B", "D"], "result": [1, 0],
        "surface": ["clay", "grass"], "home_lineup": [["a1", "a2"], ["c1"]],
        "away_lineup": [["b1"], ["d1", "d2", "d3"]],
    }  # fmt: skip
    matches = kn.read_matches(table, conditions=["surface"])
    surface = matches.conditions["surface"]
    assert [surface.levels[k] for k in surface.codes] == ["grass", "clay"]
    players = np.array(matches.lineups.players)[matches.lineups.player]
    by_side = [players[a:b].tolist() for a, b in zip(matches.lineups.offsets[:-1], matches.lineups.offsets[1:])]
    assert by_side == [["c1"], ["d1", "d2", "d3"], ["a1", "a2"], ["b1"]]
