"""Uploaded leagues: read, mapped and rated with the library's own functions, whatever the file looks like."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.lab.rate import league as standings
from kinelo.lab.rate.api import DOWNLOADS, shown_name
from kinelo.lab.rate.controller import RatingController, handed_over
from kinelo.lab.rate.tables import FIELDS, forget_columns, read_table
from kinelo.raters import choice as raters
from kinelo.raters.choice import RATERS
from kinelo.raters.start import read_start

LEAGUE = "\n".join(
    ["date;home;away;score_1;score_2;weather"]
    + [
        f"2023-{1 + k // 28:02d}-{1 + k % 28:02d};{home};{'ABCDE'[(k + 1 + k // 5 % 4) % 5]};{k % 4};{k % 3};sun"
        for k, home in enumerate("ABCDE" * 40)
    ]
)


def table(tmp_path, text: str | bytes, kind: str = "results", rows: int = 10_000, columns: int = 50):
    path = tmp_path / "0123456789abcdef"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(kind, path, "league.csv", rows, columns)


def looked(tmp_path, text: str) -> tuple[RatingController, dict[str, str]]:
    path = tmp_path / "upload"
    path.write_text(text, encoding="utf-8")
    controller = RatingController(lambda words: None)
    seen = controller.look("results", str(path), "league.csv", 10_000, 50)
    fields = seen["tables"]["results"]["fields"]
    return controller, {field["name"]: field["guess"] for field in fields if field["guess"]}


def test_guesses_are_those_of_the_library(tmp_path):
    found = table(tmp_path, LEAGUE)
    assert found.guesses == {
        "date": "date", "home": "home", "away": "away", "home_score": "score_1", "away_score": "score_2"
    }  # fmt: skip
    assert set(FIELDS["results"]) | set(FIELDS["lineups"]) >= set(found.guesses)


def test_ratings_are_those_of_the_library(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    rated = controller.rate(columns, "team")
    (tmp_path / "same.csv").write_text(LEAGUE, encoding="utf-8")
    expected = kn.leaderboard(kn.TeamElo().fit(kn.read_matches(tmp_path / "same.csv")))
    assert [row["name"] for row in rated["leaderboard"]["rows"]] == expected["name"].to_list()
    assert [row["rating"] for row in rated["leaderboard"]["rows"]] == pytest.approx(
        expected["rating"].to_list(), abs=1e-6
    )
    json.dumps(rated, allow_nan=False)


def test_what_if_is_the_library_s_forecast_on_the_day_of_the_last_match(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    controller.rate(columns, "team")
    said = controller.predict("A", "C", neutral=False)
    (tmp_path / "same.csv").write_text(LEAGUE, encoding="utf-8")
    matches = kn.read_matches(tmp_path / "same.csv")
    match = {"home": ["A"], "away": ["C"], "date": [str(matches.date[-1])]}
    told = kn.TeamElo().fit(matches).predict(kn.read_matches(match, played=False)).to_polars().row(0, named=True)
    assert (said["win"], said["draw"], said["loss"]) == pytest.approx(
        (told["home_win"], told["draw"], told["away_win"])
    )
    assert len({round(value, 2) for value in (said["win"], said["draw"], said["loss"])}) == 3
    assert controller.predict("A", "C", neutral=True)["win"] != said["win"]
    rater = kn.TeamElo().fit(matches)
    told = kn.preview(rater, "A", "C", date=str(matches.date[-1]), neutral=False).table()
    assert said["changes"] == told.to_dict() and said["why_not"] is None
    why = kn.explain_last(rater, "C", last=5)
    assert controller.why("C") == {"words": why.summary(), "lines": why.lines()[:0:-1], "table": why.table().to_dict()}
    assert controller.predict("A", "Nobody", neutral=False)["unknown"] == ["Nobody"]
    with pytest.raises(InputError, match="against itself"):
        controller.predict("A", "A", neutral=False)


def test_a_field_left_empty_is_not_guessed_after_all(tmp_path):
    found = table(tmp_path, LEAGUE)
    kept = forget_columns(found, {"home": "home", "away": "away", "result": "weather"})
    assert kept.columns == ["home", "away", "weather"]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({}, "“First or home side”"),
        ({"home": "home", "away": "away"}, "“Score of the first side” and"),
        ({"home": "home", "away": "away", "home_score": "score_1"}, "“Score of the second side”"),
    ],
)
def test_what_is_still_to_be_chosen_is_said_in_words_of_the_page(tmp_path, columns, complaint):
    controller, _ = looked(tmp_path, LEAGUE)
    with pytest.raises(InputError, match=complaint):
        controller.rate(columns, "team")


def test_winners_and_losers_need_no_result(tmp_path):
    controller, columns = looked(tmp_path, "winner,loser\nA,B\nB,C\nA,C\n")
    assert columns == {"home": "winner", "away": "loser"}
    assert controller.rate(columns, "team")["leaderboard"]["rows"][0]["name"] == "A"


def test_rows_set_aside_have_the_line_of_the_file_and_what_it_says(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE + "\nnever;A;B;1;0;rain")
    rejects = controller.rate(columns, "team")["rejects"]
    assert rejects["rows"] == [
        {"table": "matches", "line": 202, "reason": "unreadable date", "content": "never | A | B | 1 | 0 | rain"}
    ]


def test_parquet_is_known_by_its_content_and_counted_before_it_is_read(tmp_path):
    frame = pl.DataFrame({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
    path = tmp_path / "any name"
    frame.write_parquet(path)
    content = path.read_bytes()
    assert table(tmp_path, content).header_lines == 0
    with pytest.raises(InputError, match="holds 2 rows; at most 1"):
        table(tmp_path, content, rows=1)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n2,3\n3,4\n", "holds 3 rows; at most 2"),
        ("a,b,c,d\n1,2,3,4\n", "has 4 columns; at most 3"),
        ("a,b\n", "no rows|contains no|could not"),
        ("just words\nand more\n", "only one column"),
        (b"PAR1 but not really", "could not be read"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "league.csv"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(tmp_path, text, complaint):
    with pytest.raises(InputError, match=complaint) as refused:
        table(tmp_path, text, rows=2, columns=3)
    assert str(tmp_path) not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_pickles_are_never_opened(tmp_path):
    import pickle

    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    with pytest.raises(InputError):
        table(tmp_path, pickle.dumps(Trap()))


@pytest.mark.parametrize("given", ["../../etc/passwd", "C:\\secret\\passwd", "a/b/passwd", "pass\x00wd\n"])
def test_file_names_lose_their_path(given):
    assert shown_name(given) == "passwd"


def test_every_download_is_a_table(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    with pytest.raises(InputError, match="rate a league first"):
        controller.write("ratings", str(tmp_path / "x.csv"))
    controller.rate(columns, "team")
    for name in DOWNLOADS:
        controller.write(name, str(tmp_path / "x.csv"))
    forecasts = controller.league.downloads["forecasts"]
    assert np.allclose(forecasts.select("home_win", "draw", "away_win").sum_horizontal(), 1.0)


def test_a_small_or_dateless_league_is_rated_without_a_check(tmp_path):
    controller, columns = looked(tmp_path, "home,away,result\nA,B,1\nB,C,0.5\nC,A,0\nA,B,1\n")
    assert controller.rate(columns, "team")["calibration"] is None


def test_players_are_rated_from_line_ups(tmp_path):
    league, controller = kn.sample_league(teams=6, seasons=2), RatingController(lambda words: None)
    for kind, frame in (("results", league.results), ("lineups", league.lineups)):
        frame.write_csv(tmp_path / kind)
        seen = controller.look(kind, str(tmp_path / kind), f"{kind}.csv", 10_000, 50)
    columns = {f["name"]: f["guess"] for t in seen["tables"].values() for f in t["fields"] if f["guess"]}
    rated = controller.rate(columns, "player")
    assert rated["leaderboard"]["rows"][0]["name"] in set(league.lineups["player"])
    said = controller.predict(*rated["teams"][:2], neutral=False)
    assert said["changes"] is None and said["why_not"].startswith("Players are rated: what the match would change")
    controller.forget("lineups")
    with pytest.raises(InputError, match="need line-ups"):
        controller.rate(columns, "player")


def test_the_ranking_follows_its_rules_and_is_what_is_downloaded(tmp_path):
    late = "\n2024-05-01;Z;A;5;0;sun\n2024-05-02;Z;B;5;0;sun"
    controller, columns = looked(tmp_path, LEAGUE + late)
    first = controller.rate(columns, "team")["leaderboard"]
    assert first["ranking"] == {"active_days": 365, "least_matches": 10, "caution": 2.0}
    left_out = "more {} rated but not ranked: not active, or too few matches."
    assert first["left_out"] == f"1 {left_out.format('is')}"
    everyone = controller.rank(None, 0, 0.0)
    assert everyone["left_out"] == "" and [row["place"] for row in everyone["rows"]] == [1, 2, 3, 4, 5, 1]
    ratings = [row["rating"] for row in everyone["rows"] if row["pool"] == "main"]
    assert ratings == sorted(ratings, reverse=True)
    recent = controller.rank(30, 0, 2.0)
    assert {row["name"] for row in recent["rows"]} == {"Z", "A", "B"}
    assert recent["left_out"] == f"3 {left_out.format('are')}"
    controller.write("leaderboard", str(tmp_path / "x.csv"))
    assert pl.read_csv(tmp_path / "x.csv").height == 3
    nobody = controller.rank(30, 500, 2.0)
    assert len(nobody["rows"]) == 6
    assert nobody["everyone"] == "Nobody has played 500 matches yet, so everyone is shown."
    with pytest.raises(InputError, match="least_matches"):
        controller.rank(None, -1, 0.0)


def test_a_league_too_small_for_the_rules_is_ranked_whole(tmp_path):
    controller, columns = looked(tmp_path, "home,away,result\nA,B,1\nB,C,0.5\nC,A,0\n")
    board = controller.rate(columns, "team")["leaderboard"]
    assert len(board["rows"]) == 3 and board["ranking"]["least_matches"] == 10
    assert board["everyone"] == "Nobody has played 10 matches yet, so everyone is shown."


def test_sides_that_no_match_ties_together_are_told_apart(tmp_path):
    apart = (
        LEAGUE
        + "\n"
        + "\n".join(
            f"2023-{1 + k // 28:02d}-{1 + k % 28:02d};{'XY'[k % 2]};{'YX'[k % 2]};{k % 3};1;sun" for k in range(24)
        )
    )
    controller, columns = looked(tmp_path, apart)
    board = controller.rate(columns, "team")["leaderboard"]
    pools = {row["name"]: row["pool"] for row in board["rows"]}
    assert pools["A"] == "main" and pools["X"] == pools["Y"] != "main"
    assert board["pools"]["main"] == "The main pool" and "A pool apart" in board["pools"][pools["X"]]


@pytest.mark.parametrize("rater", [name for name, one in RATERS.items() if not one.needs_lineups])
def test_every_rater_of_the_list_can_be_chosen(tmp_path, rater):
    controller, columns = looked(tmp_path, LEAGUE)
    rated = controller.rate(columns, rater)
    json.dumps(rated, allow_nan=False)
    assert len(rated["leaderboard"]["rows"]) == 5
    assert controller.predict("A", "B", neutral=True)["win"] > 0


@pytest.mark.parametrize("rater", ["os:system", "kinelo.raters.team.rater:TeamElo", "", "TeamElo"])
def test_a_visitor_names_no_code_of_his_own(tmp_path, rater):
    controller, columns = looked(tmp_path, LEAGUE)
    with pytest.raises(InputError, match="There is no rater"):
        controller.rate(columns, rater)


def test_the_automatic_choice_is_the_library_s_and_is_said(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    rated = controller.rate(columns, "auto")
    choice = kn.raters.choose_rater(controller.league.played)
    assert rated["chosen"] == str(choice) and type(controller.league.rater) is type(choice.rater)
    assert rated["rater"] == choice.name
    team = controller.rate(columns, "team")
    assert team["chosen"] is None and team["rater"] == "TeamElo"


STRONG = "name;rating;deviation\nA;1620;40\nB;1500;\nC;1475;60\nD;1430;50\nE;1390;\nStrange;1500;\n"


@pytest.mark.parametrize(
    ("rater", "conditions", "start", "stated"),
    [
        ("auto", ["weather"], False, False),
        pytest.param("auto", [], True, False, marks=pytest.mark.long),
        ("glicko", [], True, False),
        ("team", [], False, True),
    ],
)
@pytest.mark.filterwarnings("ignore:start names")
def test_one_league_gives_one_table_by_every_door(tmp_path, rater, conditions, start, stated):
    """The lab, Python and the command line, to the last digit; the page says which rater made it."""
    lines = LEAGUE.replace(";sun", ";rain", 40).splitlines()
    ratings = {name: 1400 + 30 * k for k, name in enumerate("DABEC")}
    rows = [f"{line};{ratings[line.split(';')[1]]};{ratings[line.split(';')[2]]}" for line in lines[1:]]
    text = "\n".join([f"{lines[0]};home_elo;away_elo", *rows])
    files = {"results": tmp_path / "results.csv", "start": tmp_path / "start.csv"}
    controller, columns = looked(tmp_path, text)
    files["results"].write_text(text, encoding="utf-8")
    files["start"].write_text(STRONG, encoding="utf-8")
    if start:
        (tmp_path / "dropped").write_text(STRONG, encoding="utf-8")
        controller.look("start", str(tmp_path / "dropped"), "start.csv", 10_000, 50)
    rated = controller.rate(columns, rater, conditions, stated=stated)
    matches = kn.read_matches(files["results"], conditions=conditions)
    begun = files["start"] if start else files["results"] if stated else None
    candidates = raters.candidates(matches, begun, conditions)
    expected = kn.raters.choose_rater(matches, candidates).rater if rater == "auto" else (
        raters.rater_called(rater, begun, conditions).fit(matches)
    )  # fmt: skip
    assert rated["rater"] == type(expected).__name__
    assert controller.league.rater.ratings_.equals(expected.ratings_)
    options = [word for one in conditions for word in ("--condition", one)] + (["--start", str(begun)] if begun else [])
    asked = ["rate", str(files["results"]), "--rater", rater, "--out", str(tmp_path / "rated.csv"), *options]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0 and type(expected).__name__ in shown.stdout, shown.output
    controller.write("ratings", str(tmp_path / "of_lab.csv"))
    assert (tmp_path / "of_lab.csv").read_text() == (tmp_path / "rated.csv").read_text()


def test_ratings_that_the_file_states_are_begun_with_in_audits_and_sessions_too(tmp_path):
    lines = LEAGUE.splitlines()
    text = "\n".join(
        [f"{lines[0]};home_elo;away_elo", *(f"{line};{1500 + k};1450" for k, line in enumerate(lines[1:]))]
    )
    controller, columns = looked(tmp_path, text)
    assert controller.seen()["tables"]["results"]["states_ratings"]
    note = next(one for one in controller.check(columns, [])["summary"]["notes"] if "state ratings" in one)
    assert "tick “Begin with the ratings that the file states” for the first rating of each side" in note
    controller.rate(columns, "team", stated=True)
    (tmp_path / "handed").mkdir()
    handed = controller.hand_over(str(tmp_path / "handed"))
    _, beside = handed_over(str(tmp_path / "handed"), handed["kind"], handed["sides"], handed["columns"])
    assert read_start(beside["start"]).names == tuple("ABCDE") and handed["title"] == "League"
    controller.save(str(tmp_path / "saved.json"))
    keep = {kind: str(tmp_path / kind) for kind in FIELDS}
    seen = RatingController(print).open_session(str(tmp_path / "saved.json"), "saved.json", 10_000, 50, keep)
    assert seen["chosen"]["stated"] is True
    plain, columns = looked(tmp_path, LEAGUE)
    assert not plain.seen()["tables"]["results"]["states_ratings"]


def test_what_a_match_would_change_or_a_sentence_why_that_is_not_shown(tmp_path, monkeypatch):
    controller, columns = looked(tmp_path, LEAGUE)
    controller.rate(columns, "bradley-terry")
    said = controller.predict("A", "C", neutral=False)
    assert said["why_not"] is None and len(said["changes"]["rows"]) == 2
    refused = InputError("Say who plays.")
    monkeypatch.setattr("kinelo.lab.rate.leagues.preview", lambda *_, **__: (_ for _ in ()).throw(refused))
    said = controller.predict("A", "C", neutral=False)
    assert (said["changes"], said["why_not"]) == (None, "What the match would change is not shown: Say who plays.")


def test_lists_that_cannot_be_begun_with_are_refused(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    with pytest.raises(InputError, match=r"^The starting list has no column 'name'"):
        controller.rate(columns, "team", stated=True)  # this file states none
    twice = "name;rating\nA;1500\nA;1600\n"
    for text, rater, stated, complaint in (
        (STRONG, "team", True, "not with both"),
        (twice, "team", False, "The starting list names 'A' twice"),
        (STRONG, "bradley-terry", False, "BradleyTerry takes no ratings to begin with"),
    ):
        (tmp_path / "list").write_text(text, encoding="utf-8")
        controller.look("start", str(tmp_path / "list"), "list.csv", 10_000, 50)
        with pytest.raises(InputError, match=complaint):
            controller.rate(columns, rater, stated=stated)


class Steady:
    """Says the same of every match."""

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return kn.forecasts.Forecast(np.tile([0.5, 0.3, 0.2], (len(matches), 1)))


def test_forecasts_are_checked_on_the_later_half_and_the_earlier_is_counted(monkeypatch):
    """Fifty matches on fifty days, then seventy on two: the middle of the file lies on the first of these."""
    day = [k if k < 50 else 50 + (k - 50) // 35 for k in range(120)]
    table = {
        "date": (np.datetime64("2024-01-01") + np.array(day)).astype(str), "home": ["A", "B", "C"] * 40,
        "away": ["B", "C", "A"] * 40, "result": [1, 0, 0.5, 1] * 30, "match_id": np.arange(120).astype(str),
    }  # fmt: skip
    matches = kn.read_matches(table, ordered=True)
    shown = standings.summary(matches)
    assert (shown["matches"], shown["first"], shown["last"]) == (120, "2024-01-01", "2024-02-21")
    monkeypatch.setattr(standings, "rater_called", lambda *_, **__: Steady())
    checked, forecasts = standings.calibration("team", matches)
    assert "only the first 50 matches forecast the other 70, one by one." in checked["words"] and forecasts.height == 70
    happened = matches.result[50:]
    dots = {one["name"]: (one["x"], one["y"]) for one in checked["chart"]["traces"] if one["name"]}
    assert dots == {
        "home win": ([50.0], [pytest.approx(100 * np.mean(happened == 1), abs=0.01)]),
        "draw": ([30.0], [pytest.approx(100 * np.mean(happened == 0.5), abs=0.01)]),
        "away win": ([20.0], [pytest.approx(100 * np.mean(happened == 0), abs=0.01)]),
    }


def test_forecasts_of_contests_without_dates_are_checked_on_their_later_half():
    from kinelo.lab.rate.leagues import check_forecasts

    table = kn.matches.sample_contests(contests=31, entrants=12, size=6, seed=2)
    undated = kn.read_contests({name: table[name] for name in ("contest", "entrant", "place")})
    assert not undated.dated
    checked, forecasts = check_forecasts(undated, kn.RankElo())
    assert checked is not None and "only the first 15 contests forecast the other 16" in checked["words"]
    assert forecasts["contest"].n_unique() == 16
    assert check_forecasts(undated[:12], kn.RankElo())[0] is None
