"""What read_matches understands the lab understands, and what a note asks for has a control on the page."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.season import season_rules
from kinelo.lab.rate.controller import RatingController
from kinelo.lab.rate.reading import ReadingPanel, matches_of, page_words
from kinelo.lab.rate.tables import UploadedTable

DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-03"]
PLAIN = pl.DataFrame(
    {"date": DAYS, "home": ["A", "B", "A", "A"], "away": ["B", "C", "C", "C"], "result": ["1", "0", "1", "1"]}
)
TEAM_ROWS = pl.DataFrame(
    {
        "match_id": ["1", "1", "2", "2"], "date": ["2024-01-01"] * 2 + ["2024-01-02"] * 2, "team": ["A", "B", "B", "C"],
        "venue": ["home", "away", "home", "away"], "goals": ["2", "1", "0", "0"],
    }
)  # fmt: skip
WINNERS = pl.DataFrame({"date": DAYS[:2], "winner": ["A", "C"], "loser": ["B", "A"]})


def tables(frame: pl.DataFrame, **others: pl.DataFrame) -> dict[str, UploadedTable]:
    return {kind: UploadedTable(kind, "a file", one, 1) for kind, one in {"results": frame, **others}.items()}


def untouched(given: dict[str, UploadedTable]) -> dict[str, str]:
    """Columns as the page sends them where nobody has changed a guess."""
    return {field: column for table in given.values() for field, column in table.guesses.items()}


@pytest.mark.parametrize("frame", [PLAIN, TEAM_ROWS, WINNERS], ids=["plain", "one row per team", "winners first"])
def test_an_untouched_file_is_read_as_anywhere(frame):
    given = tables(frame)
    found, expected = matches_of(given, untouched(given), [], ReadingPanel()), kn.read_matches(frame)
    assert found.to_polars().equals(expected.to_polars()) and len(found.notes) == len(expected.notes)


def test_what_a_note_asks_for_has_a_control():
    given = tables(PLAIN)
    chosen = untouched(given)
    found = matches_of(given, chosen, [], ReadingPanel())
    notes = " ".join(found.notes)
    for words in ("“Numbers for results: −1, 0, 1: 0 is a draw”", "“Repeated rows: Drop them”", "“Order within a day”"):
        assert words in notes
    assert "=" not in notes and "--" not in notes  # no argument of a function, no option of a command
    assert np.array_equal(matches_of(given, chosen, [], ReadingPanel(results="signed")).result, [1, 0.5, 1, 1])
    assert len(matches_of(given, chosen, [], ReadingPanel(repeats="drop"))) == 3
    assert found.unordered is not None and found.unordered.any()
    in_order = matches_of(given, chosen, [], ReadingPanel(order="file")).unordered
    assert in_order is None or not in_order.any()


@pytest.mark.parametrize(("order", "month"), [("dmy", 2), ("mdy", 1), ("auto", 2)])
def test_dates_are_read_in_the_order_chosen(order, month):
    frame = PLAIN.head(2).with_columns(date=pl.Series(["01/02/2024", "02/02/2024"]))
    given = tables(frame)
    found = matches_of(given, untouched(given), [], ReadingPanel(dates=order))
    assert str(found.date[0]) == f"2024-{month:02d}-{3 - month:02d}"


def test_other_names_are_taken_for_one():
    given = tables(PLAIN, aliases=pl.DataFrame({"found": ["C"], "wanted": ["B"]}))
    found = matches_of(given, untouched(given), [], ReadingPanel())
    assert set(np.array(found.teams)[np.concatenate([found.home, found.away])]) == {"A", "B"}
    assert found.rejected.counts() == {"a side against itself": 1}


def test_a_column_that_was_taken_back_is_not_guessed_again():
    frame = PLAIN.head(2).with_columns(round=pl.Series(["2", "1"]), margin=pl.Series(["3", "-1"]))
    given = tables(frame)
    chosen = untouched(given)
    assert {"round", "margin"} <= chosen.keys()
    without = {field: column for field, column in chosen.items() if field != "margin"}
    assert np.isnan(matches_of(given, without, [], ReadingPanel()).margin).all()
    assert matches_of(given, chosen, [], ReadingPanel()).margin.tolist() == [3, -1]


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (pl.DataFrame({"x": ["1"], "y": ["2"]}), "choose the columns “First or home side” and “Second or away side”"),
        (
            pl.DataFrame({"home": ["A"], "away": ["B"]}),
            "choose the columns “Score of the first side” and “Score of the",
        ),
    ],
)
def test_what_is_missing_is_asked_for_in_the_words_of_the_page(frame, complaint):
    given = tables(frame)
    with pytest.raises(InputError, match=complaint) as error:
        matches_of(given, untouched(given), [], ReadingPanel())
    assert "columns={" not in str(error.value) and "--" not in str(error.value)


def test_rules_of_a_season_suit_the_league():
    def league(draws: int, margin: float, sides: int) -> kn.matches.Matches:
        names = [f"S{k}" for k in range(sides)]
        rows = [(names[k % sides], names[(k + 1) % sides], k < draws) for k in range(40)]
        table = {"home": [one for one, _, _ in rows], "away": [two for _, two, _ in rows]}
        if margin:
            table |= {"home_score": [1 if even else 2 for *_, even in rows], "away_score": [1] * 40}
        else:
            table |= {"result": [0.5 if even else 1 for *_, even in rows]}
        return kn.read_matches(table)

    assert season_rules(league(10, 1, 20)) == {"win": 3, "draw": 1, "relegated": 3}  # football
    assert season_rules(league(10, 1, 8))["relegated"] == 0
    assert season_rules(league(10, 0, 20)) == {"win": 1, "draw": 0.5, "relegated": 0}  # chess
    assert season_rules(league(0, 1, 20)) == {"win": 1, "draw": 0, "relegated": 0}  # basketball


def test_words_of_the_library_that_ask_nothing_stay():
    assert page_words("the file was not in date order: it was sorted by date").startswith("the file was not in date")


def test_names_that_may_be_one_side_are_offered_to_be_joined():
    home = ["Man United", "Leeds", "Manchester United", "Leeds", "York"]
    away = ["Leeds", "York", "York", "Manchester United", "Man United"]
    controller = RatingController(lambda words: None)
    controller._tables = tables(pl.DataFrame({"home": home, "away": away, "result": ["1", "0", "1", "0", "1"]}))
    seen = controller.check(untouched(controller._tables), [])
    assert seen["likely"] == [("Man United", "Manchester United")]
    assert any("Man United" in note and "a file of other names joins them" in note for note in seen["summary"]["notes"])
    pairs = pl.DataFrame(seen["likely"], ["found", "wanted"], orient="row")
    controller._tables |= {"aliases": UploadedTable("aliases", "joined", pairs, 1)}
    assert controller.check(untouched(controller._tables), [])["likely"] == []
