"""Tables of raters: terminal and page show the same cells, an unknown deviation as unknown, and every pool apart."""

import html
import re
from datetime import date
from types import SimpleNamespace

import polars as pl

import kinelo as kn
from kinelo.pages.page import board_with_bars
from kinelo.raters.tables import (
    advantages_table,
    board_table,
    effects_table,
    parameters_table,
    pool_words,
    retirement_words,
)

BOARD = pl.DataFrame(
    {
        "place": [1, 2, None],
        "name": ["Ash", "Bix", "Cay"],
        "rating": [1622.4, 1509.6, 1391.1],
        "uncertainty": [31.2, float("nan"), None],
        "surely": [1560.0, 1509.6, 1391.1],
        "matches": [1240, 38, 35],
        "last_played": [date(2024, 5, 1), date(2024, 5, 2), date(2024, 5, 3)],
        "team": ["Reds", "Blues", "Reds"],
        "pool": ["main", "main", "around Cay"],
        "note": ["", "", "has not played for 130 days"],
    }
)
SHARED = ["Place", "Name", "Rating", "±", "At least", "Matches"]


def page_rows(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.S)
    plain = [re.sub(r"<div class=\"place\">.*?</div>|<[^>]*>", "", re.sub("</t[dh]>", "\t", row)) for row in rows]
    return [html.unescape(row).rstrip("\t").split("\t") for row in plain]


def test_a_page_shows_the_cells_of_the_terminal():
    table = board_table(BOARD)
    labels = [column.label for column in table.columns]
    assert labels == ["Place", "Name", "Team", *SHARED[2:], "Last played", "Pool", "Note"]
    wanted = [[row[labels.index(label)] for label in SHARED] for row in table.cells()]
    assert wanted == [
        ["1", "Ash", "1622", "± 31", "1560", "1,240"],
        ["2", "Bix", "1510", "–", "1510", "38"],  # what is not known is not ± 0
        ["–", "Cay", "1391", "–", "1391", "35"],
    ]
    head, *body = page_rows(board_with_bars(BOARD))
    at = [head.index(label) for label in SHARED]
    assert [[row[k] for k in at] for row in body] == wanted
    plain = board_table(BOARD.with_columns(surely="rating"))
    assert "At least" not in [one.label for one in plain.columns]
    pool = f"{pool_words(BOARD['pool'][2])}; places count within it."
    assert table.below == ("Sorted by what a rating is at least: the rating less 2 ±.", pool) and plain.below == (pool,)
    assert board_table(BOARD, narrow=True).below == (), "pages say it themselves"


def test_columns_that_say_nothing_of_the_rows_shown_are_left_out():
    labels = [column.label for column in board_table(BOARD, top=2).columns]
    assert "Pool" not in labels and "Note" not in labels
    assert len(board_table(BOARD, top=2).rows) == 2 and board_table(BOARD, top=2).below[0] == "and 1 more"


def test_a_page_shows_every_pool_apart_and_counts_who_is_not_ranked():
    plays = [("A", "B"), ("B", "C"), ("C", "A"), ("X", "Y"), ("Y", "X")] * 6
    rows = {"home": [one for one, _ in plays], "away": [other for _, other in plays], "result": [1, 0, 1] * 10}
    rows = {name: [*column, last] for (name, column), last in zip(rows.items(), ("A", "New", 1))}
    rater = kn.TeamElo.classic(k=20).fit(kn.read_matches(rows))
    page = kn.pages.share_page(rater)
    assert "<h3>The main pool</h3>" in page and "<h3>A pool apart, around X: hardly a match ties" in page
    assert "1 more is rated but not ranked: not active, or too few matches." in page
    few = kn.pages.share_page(rater, matches=kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    assert "so everyone is shown" not in few
    one = kn.TeamElo.classic(k=20).fit(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    assert "Nobody has played 10 matches yet, so everyone is shown." in kn.pages.share_page(one)


def test_an_estimate_at_the_end_of_its_range_says_so_everywhere():
    found = kn.forecasts.Estimates({"walk": 0.31234, "ties": 3.0}, {"walk": 0.0456, "ties": 0.2}, -10.0, 6, ("ties",))
    rater = SimpleNamespace(estimates_=found, parameters_={"walk": 0.31234, "ties": 3.0}, walk=None, ties=None)
    assert [row[:2] for row in parameters_table(rater).cells()] == [
        ["Walk", "0.312 ± 0.046"],
        ["Ties", "3.00 ± 0.20 (the end of its range)"],
    ]


def test_what_has_no_error_is_shown_alone_and_does_not_count_as_flat():
    found = kn.forecasts.Estimates({"noise": 0.7512, "prior_spread": 2.0}, {"prior_spread": float("nan")}, -10.0, 6)
    rater = SimpleNamespace(estimates_=found, parameters_=found.values, noise=None, prior_spread=None)
    assert [cells[:2] for cells in parameters_table(rater).cells()] == [
        ["Noise", "0.7512"],
        ["Prior spread", "2 (hardly matters)"],
    ]
    league = kn.sample_league(8, 2, seed=1)
    rater = kn.KalmanElo(home_spread=0.1, venue_walk=0.03, doubt=1.0).fit(kn.read_matches(league.results))
    assert "noise" in rater.estimates_.values and "noise" not in rater.estimates_.standard_errors


def test_what_is_estimated_all_at_once_is_not_called_otherwise():
    """Ties and the worth of a side are estimated at every update, without errors of their own."""
    votes = {"model_a": ["A", "B", "A"], "model_b": ["B", "C", "C"], "winner": ["model_a", "tie", "model_b"]}
    rater = kn.BradleyTerry(ridge=0.3).fit(kn.read_matches(votes))
    cells = {name: value for name, value, _ in parameters_table(rater).cells()}
    assert cells.keys() == {"Ties", "Home advantage"} and all(
        value.endswith(" (estimated)") for value in cells.values()
    )
    assert parameters_table(rater, brief=True).rows == []


def test_what_columns_and_advantages_are_worth_is_a_table_where_there_is_any():
    assert effects_table(SimpleNamespace()) is None and advantages_table(SimpleNamespace()) is None
    lanes = pl.DataFrame(
        {
            "kind": ["lane"] * 2,
            "name": ["1", "4"],
            "points": [-3.6, 7.7],
            "uncertainty": [2.2, 3.3],
            "matches": [9, 1200],
        }
    )
    assert advantages_table(SimpleNamespace(advantages_=lanes)).cells() == [
        ["lane", "4", "+8", "± 3", "1,200"],
        ["lane", "1", "-4", "± 2", "9"],
    ]


def test_a_book_shows_what_its_rater_was_fitted_with(tmp_path):
    contests = kn.read_contests(
        kn.matches.sample_contests(contests=30, entrants=12, size=6, cars=4, seed=1), slots=["entrant", "car"]
    )
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(walk={"car": 0.5}, off=0.0).fit(contests))
    book.add(contests)
    rater = kn.RatingBook(tmp_path / "b").rater
    cells = {name: value for name, value, _ in parameters_table(rater).cells()}
    assert cells["Walk of car"] == "0.5 (given)" and cells["Off"] == "0 (given)"
    assert cells["Walk of entrant"] == f"{rater.parameters_['walk of entrant']:.4g} (not estimated here)"
    assert "Ties" not in cells
    assert retirement_words(rater) == "", "nobody failed to finish"
