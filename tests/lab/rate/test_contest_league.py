"""Contests on the Rate tab: read, rated and forecast as the library does, in the words of the page."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.charts import calibration_chart
from kinelo.errors import InputError
from kinelo.lab.rate.controller import RatingController
from kinelo.lab.rate.reading import ReadingPanel, contests_of
from kinelo.lab.rate.tables import FIELDS, UploadedTable
from kinelo.raters.leaderboard import boards_by_kind

LINES = kn.matches.sample_contests(contests=60, entrants=12, size=6, cars=4, walk=0.5, seed=3)
SMALL = pl.DataFrame(
    {
        "race": ["1"] * 4 + ["2"] * 3 + ["3"], "driver": ["Ann", "Bob", "Cid", "Dee", "Bob", "Ann", "Cid", "Ann"],
        "car": ["Red", "Red", "Blue", "Blue", "Red", "Blue", "Blue", "Red"],
        "position": ["1", "2", "DNF", "DNS", "1", "2", "DSQ", "1"],
    }
)  # fmt: skip


def tables(frame: pl.DataFrame, **others: pl.DataFrame) -> dict[str, UploadedTable]:
    return {kind: UploadedTable(kind, "a file", one, 1) for kind, one in {"results": frame, **others}.items()}


@pytest.fixture(scope="module")
def rated() -> tuple[RatingController, dict]:
    controller = RatingController(lambda words: None)
    coming = LINES.filter(pl.col("contest") == 60)
    given = tables(
        LINES.filter(pl.col("contest") < 60).cast(pl.String),
        fixtures=coming.with_columns(place=pl.lit(None, pl.String)).cast(pl.String),
    )
    controller._tables = given
    return controller, controller.rate(given["results"].guesses, "team", ["car"])


def twin() -> tuple[kn.matches.Contests, kn.RankElo]:
    contests = kn.read_contests(LINES.filter(pl.col("contest") < 60), slots=["entrant", "car"])
    return contests, kn.RankElo().fit(contests)


def test_a_table_of_contests_is_recognised_and_another_meaning_can_be_chosen():
    table = tables(SMALL)["results"]
    shown = table.described()
    assert shown["each_row"] == "contests" and table.guesses == {
        "contest": "race", "entrant": "driver", "place": "position"
    }  # fmt: skip
    assert [field["name"] for field in shown["fields_of"]["matches"]] == list(FIELDS["results"])
    assert tables(pl.DataFrame({"home": ["A"], "away": ["B"], "result": ["1"]}))["results"].rows == "matches"


def test_an_untouched_table_is_read_as_anywhere_and_its_notes_speak_of_the_page():
    given = tables(SMALL)
    found = contests_of(given, given["results"].guesses, [], ReadingPanel(rows="contests"))
    expected = kn.read_contests(SMALL)
    assert found.to_polars().equals(expected.to_polars()) and len(found.notes) == len(expected.notes)
    assert found.rejected.counts() == expected.rejected.counts()
    notes = " ".join(found.notes)
    assert "=" not in notes and "--" not in notes
    assert "“Who did not finish: Left out” leaves them out" in notes and "tick 'car' below the columns" in notes
    behind = ReadingPanel(rows="contests", not_started="behind", disqualified="behind")
    more = contests_of(given, given["results"].guesses, [], behind)
    assert more.entrant.size == found.entrant.size + 2
    fewer = contests_of(given, given["results"].guesses, [], ReadingPanel(rows="contests", unfinished="out"))
    assert fewer.entrant.size == found.entrant.size - 1


def test_a_score_is_asked_about_with_the_control_of_the_page():
    frame = SMALL.head(2).rename({"position": "score"})
    given = tables(frame)
    with pytest.raises(InputError, match="choose “Which value is best: The highest”") as refused:
        contests_of(given, given["results"].guesses_of("contests"), [], ReadingPanel(rows="contests"))
    assert "--" not in str(refused.value)
    found = contests_of(
        given, given["results"].guesses_of("contests"), [], ReadingPanel(rows="contests", best="highest")
    )
    assert found.to_polars()["entrant"].to_list() == ["Bob", "Ann"]
    with pytest.raises(InputError, match="choose the column “Place”"):
        contests_of(given, {"contest": "race", "entrant": "driver"}, [], ReadingPanel(rows="contests"))


def test_rows_of_a_team_are_one_entrant():
    given = tables(SMALL.head(2).with_columns(position=pl.Series(["1", "1"])).vstack(SMALL[2:4].with_columns(
        position=pl.Series(["2", "2"]))))  # fmt: skip
    columns = {**given["results"].guesses, "team": "car"}
    for more in ([], ["size"]):  # which no column holds
        found = contests_of(given, columns, [], ReadingPanel(rows="contests"), more)
        assert found.to_polars()["entrant"].to_list() == ["Red", "Blue"] and found.kinds == ("driver",)


def test_boards_of_every_kind_are_the_library_s(rated):
    controller, shown = rated
    json.dumps(shown, allow_nan=False)
    contests, rater = twin()
    expected = boards_by_kind(kn.leaderboard(rater, contests))
    for kind, board in shown["leaderboard"]["boards"].items():
        assert [row["name"] for row in board["rows"]] == [f"{kind}: {name}" for name in expected[kind]["name"]]
        assert [row["rating"] for row in board["rows"]] == pytest.approx(expected[kind]["rating"].to_list(), abs=1e-6)
    assert shown["labels"]["car: C1"] == "C1" and shown["kinds"] == ["entrant", "car"]
    assert shown["leaderboard"]["rows"] == shown["leaderboard"]["boards"]["entrant"]["rows"]
    assert (shown["summary"]["matches"], shown["summary"]["teams"]) == (59, 12)
    assert all(meaning for _, _, meaning in shown["parameters"]["rows"])
    board = controller.rank(None, 0, 0.0, period=100)["boards"]["car"]
    walker = kn.RankElo().fit(contests)
    walker._reset(dict(rater.parameters_))
    walker.update(contests.before(contests.date[-1] - 99))
    before = contests.before(contests.date[-1] - 99)
    then = boards_by_kind(kn.leaderboard(walker, before, active_days=None, least_matches=0))
    assert {row["name"]: row["before"] for row in board["rows"]} == {
        f"car: {name}": place for name, place in then["car"].select("name", "place").iter_rows()
    }


def test_the_check_is_a_backtest_of_the_later_half(rated):
    _, shown = rated
    contests, _ = twin()
    test = kn.backtest(contests, {"R": kn.RankElo(), "P": kn.TeamElo.classic(k=32)}, train_until=contests.date[29])
    scores = {row["rater"]: row for row in test.scores.to_dicts()}
    said = shown["calibration"]["words"]
    right, loss = ([scores[name][metric] for name in ("R", "P")] for metric in ("pairs_right", "winner_log_loss"))
    assert f"in {100 * right[0]:.1f} % of cases (plain Elo with K = 32: {100 * right[1]:.1f} %)" in said
    assert f"is {loss[0]:.4f} (plain Elo: {loss[1]:.4f})" in said and len({*right, *loss}) == 4
    assert "only the first 29 contests forecast the other 30" in said
    assert shown["calibration"]["chart"] == calibration_chart(test.calibration("R")).to_dict()


def test_a_field_is_forecast_as_the_library_does(rated):
    controller, shown = rated
    _, rater = twin()
    coming, last = shown["fields"]
    assert "to come" in coming["label"] and "the last" in last["label"]
    field = coming["entrants"]
    assert sorted(one[0][0] for one in field) == sorted(LINES.filter(pl.col("contest") == 60)["entrant"])
    said = controller.field(field)
    json.dumps(said, allow_nan=False)
    forecast = rater.predict_one([(one[0][0], one[1][0]) for one in field])
    for row in said["rows"]:
        k = row["entrant"]
        assert row["win"] == pytest.approx(forecast.win[k], abs=1e-6)
        assert row["places"] == pytest.approx(forecast.places(0)[k].tolist(), abs=1e-6)
        assert row["top_3"] == pytest.approx(sum(row["places"][:3]), abs=1e-5)
    small = [[["P1"], ["C0"]], [["P4"], ["C2"]], [["P2"], ["C1"]]]
    seen = kn.preview(rater, [(["P1"], ["C0"]), (["P4"], ["C2"]), (["P2"], ["C1"])])
    for row in controller.field(small)["rows"]:
        ends = [*seen.changes(small[row["entrant"]][0][0]).values()]
        assert row["changes"] == pytest.approx([ends[0], ends[-1]], abs=0.06) and ends[0] > ends[-1]
    wins = [row["win"] for row in said["rows"]]
    assert wins == sorted(wins, reverse=True) and sum(wins) == pytest.approx(1, abs=1e-5)
    assert controller.field([[["P1"], ["C0"]], [["Nobody"], ["C0"]]])["unknown"] == ["Nobody"]
    for few in ([], field[:1]):
        with pytest.raises(InputError, match="2 to 200 entrants"):
            controller.field(few)
    with pytest.raises(InputError, match="a name for each of entrant, car"):
        controller.field([[["P1"]], [["P2"]]])


def test_the_page_of_a_name_is_the_library_s(rated):
    controller, _ = rated
    contests, rater = twin()
    for kind, name in (("entrant", "P1"), ("car", "C2")):
        page = controller.team(f"{kind}: {name}")
        json.dumps(page, allow_nan=False)
        told = kn.explain_last(rater, name, contests, last=5)
        assert controller.why(f"{kind}: {name}")["words"] == told.summary() and len(told.steps) == 5
        now = rater.ratings_on().filter((pl.col("kind") == kind) & (pl.col("name") == name)).row(0, named=True)
        assert page["today"]["rating"] == pytest.approx(now["rating"], abs=0.006)
        history = kn.rating_history(rater, contests, 120)
        own = history.filter((pl.col("kind") == kind) & (pl.col("name") == name))
        assert page["history"]["rating"] == pytest.approx(own["rating"].to_list(), abs=0.006)
        better = rater.ratings_.filter(pl.col("kind") == kind).sort("rating", descending=True)["name"].to_list()
        assert page["ranks"]["place"][-1] == 1 + better.index(name)
        own = [one for one in page["surprises"] if name in (one["entrant"], "C2")]
        assert own == page["surprises"] and len(own) == 8
        off = [abs(one["place"] - one["expected_place"]) / one["of"] for one in own]
        assert off == sorted(off, reverse=True)
    assert controller.team("car: C2")["coming"] == [] or controller.team("car: C2")["coming"][0]["contest"] == "60"
    who = LINES.filter(pl.col("contest") == 60)["entrant"][0]
    (coming,) = controller.team(f"entrant: {who}")["coming"]
    assert 0 < coming["win"] < 1 and 1 < coming["expected_place"] < 6 and coming["of"] == 6
    with pytest.raises(InputError, match="not rated"):
        controller.team("P1")


def test_what_is_done_with_matches_alone_is_refused_with_a_sentence(rated, tmp_path):
    controller, _ = rated
    for ask in (
        lambda: controller.predict("P1", "P2", False),
        lambda: controller.hand_over(str(tmp_path / "x"), of_matches=True),
        lambda: controller.odds("season", {}, {}, 2, False),
    ):
        with pytest.raises(InputError, match="matches of two sides"):
            ask()
    for name in ("leaderboard", "ratings", "histories", "forecasts", "rejects"):
        controller.write(name, str(tmp_path / f"{name}.csv"))
    assert set(pl.read_csv(tmp_path / "leaderboard.csv")["kind"]) == {"entrant", "car"}
    controller.share(str(tmp_path / "page.html"))
    assert "<h2>Leaderboard: car</h2>" in (tmp_path / "page.html").read_text()


def test_of_a_large_field_it_is_said_that_no_changes_are_shown(rated, monkeypatch):
    controller, shown = rated
    entrants = shown["fields"][0]["entrants"]
    assert controller.field(entrants)["why_not"] is None
    monkeypatch.setattr("kinelo.lab.rate.leagues.MOST_PREVIEWED", 5)
    said = controller.field(entrants)
    assert said["why_not"] == "What each place would change is shown of fields of up to 5 entrants."
    assert [row["changes"] for row in said["rows"]] == [None] * 6


def test_the_next_contests_are_those_of_the_library(rated):
    controller, shown = rated
    contests, rater = twin()
    controller.rank(365, 10, 0.0)
    there = boards_by_kind(kn.leaderboard(rater, contests))["entrant"]["name"].to_list()
    found = kn.next_matches(rater, count=3, candidates=there, size=shown["size"]).table()
    assert shown["size"] == 6 and controller.next("leader", 3, 6)["table"]["rows"] == found.cells()


def test_a_session_of_contests_opens_again(rated, tmp_path):
    controller, shown = rated
    controller.save(str(tmp_path / "session.json"))
    other = RatingController(lambda words: None)
    keep = {kind: str(tmp_path / kind) for kind in FIELDS}
    seen = other.open_session(str(tmp_path / "session.json"), "session.json", 10_000, 50, keep)
    assert seen["chosen"]["reading"]["rows"] == "contests" and seen["chosen"]["conditions"] == ["car"]
    again = other.rate(**seen["chosen"])
    assert again["leaderboard"] == {**shown["leaderboard"]} and np.all(again["fields"] == shown["fields"])


def test_luck_and_numbers_of_a_column_are_those_of_the_library():
    """Rated, forecast and previewed as in Python, with winners and podiums counted as a backtest counts them."""
    oval = pl.when(pl.col("contest") % 3 == 0).then(pl.lit("oval")).otherwise(pl.lit("road"))
    lines = LINES.with_columns(track=oval, ballast=pl.int_range(pl.len()) * 7 % 5)
    controller = RatingController(lambda words: None)
    controller._tables = tables(lines.cast(pl.String))
    guesses = controller._tables["results"].guesses
    found = controller.rate(guesses, "team", [], noise_by=["track"], covariates=["ballast"])
    asked = {"noise_by": ["track"], "covariates": ["ballast"]}
    contests = kn.read_contests(lines, advantages=["track", "ballast"])
    rater = kn.RankElo(**asked).fit(contests)
    assert found["kinds"] == ["entrant"] and found["numbers"] == ["ballast"]
    (last,) = found["fields"]
    assert last["conditions"] == {"track": "oval"} and [len(one) for one in last["entrants"]] == [2] * 6
    said = controller.field(last["entrants"], {"track": "oval"})
    field = [(one[0][0], one[1][0]) for one in last["entrants"]]
    expected = rater.predict_one(field, conditions={"track": "oval"})
    assert [row["win"] for row in said["rows"]] == pytest.approx(sorted(expected.win, reverse=True), abs=1e-6)
    assert all(row["changes"][0] > row["changes"][1] for row in said["rows"])
    road = controller.field(last["entrants"], {"track": "road"})
    assert [row["win"] for row in road["rows"]] != [row["win"] for row in said["rows"]]
    coming = lines.filter(pl.col("contest") == 60).with_columns(place=pl.lit(None, pl.String)).drop("track", "ballast")
    controller._tables = tables(lines.cast(pl.String), fixtures=coming.cast(pl.String))
    unsaid = controller.rate(guesses, "team", [], noise_by=["track"], covariates=["ballast"])["fields"][0]
    assert unsaid["conditions"] == {"track": ""} and {one[1][0] for one in unsaid["entrants"]} == {"0"}
    test = kn.backtest(contests, kn.RankElo(**asked), train_until=contests.date[30])
    seen = [(str(row["entries"]), f"{row['seen']:g}") for row in test.bands("RankElo").iter_rows(named=True)]
    assert [(row[1], row[3]) for row in found["calibration"]["bands"]["rows"]] == seen
