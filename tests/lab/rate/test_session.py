"""Made-up leagues, and a session saved to one file and opened again."""

from __future__ import annotations

import json

import polars as pl
import pytest
from test_rating_controller import LEAGUE, looked

from kinelo.errors import InputError
from kinelo.lab.rate.controller import RatingController
from kinelo.lab.rate.tables import FIELDS, FOUNDERS, SAMPLES, chess_club, sample_tables
from kinelo.lab.serve.pages import LeagueLog


def guessed(seen: dict) -> dict[str, str]:
    return {f["name"]: f["guess"] for table in seen["tables"].values() for f in table["fields"] if f["guess"]}


def test_a_session_opened_again_rates_alike(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE + "\nnever;Ünal $1 😀;=B;1;0;rain")
    with pytest.raises(InputError, match="Rate a league first"):
        controller.save(str(tmp_path / "early.json"))
    for kind, text in (("names", "id,name\nA,Ann\n"), ("fixtures", "date,home,away\n2023-12-01,A,B\n")):
        (tmp_path / "more").write_text(text, encoding="utf-8")
        seen = controller.look(kind, str(tmp_path / "more"), kind, 10_000, 50)
    columns = guessed(seen)
    rated = controller.rate(columns, "team", ["weather"], noise_by=["weather"])
    assert rated["labels"] == {"A": "Ann"} and rated["fixtures"]["left"] == 1
    controller.save(str(tmp_path / "session.json"))
    other = RatingController(lambda words: None)
    keep = {kind: str(tmp_path / kind) for kind in FIELDS}
    seen = other.open_session(str(tmp_path / "session.json"), "session.json", 10_000, 50, keep)
    reading = {"rows": "matches", "results": "auto", "dates": "auto", "repeats": "keep", "order": "unknown",
               "best": "auto", "unfinished": "behind", "disqualified": "out", "not_started": "out",
               "losses": "ask"}  # fmt: skip
    by = {"conditions": ["weather"], "noise_by": ["weather"], "covariates": []}
    assert seen["chosen"] == {"columns": columns, "rater": "team", **by, "reading": reading, "stated": False}
    again = other.rate(**seen["chosen"])
    assert again == rated and again["rejects"]["count"] == 1
    assert (tmp_path / "results").exists() and not (tmp_path / "lineups").exists()


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{}", '{"kinelo_session": 2}',
        '{"kinelo_session": 1, "tables": {"x": {}}, "columns": {}, "rater": ""}',
        '{"kinelo_session": 1, "tables": {"results": {"name": "a", "header_lines": 1, "columns": {"a": ["1"]}}}, '
        '"columns": {}, "rater": "team"}',
        '{"kinelo_session": 1, "tables": {}, "columns": {"home": 1}, "rater": "team"}', "[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_session_is_refused_with_a_sentence(tmp_path, content):
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(InputError, match=r"^mine.json is "):
        RatingController(lambda words: None).open_session(str(tmp_path / "s.json"), "mine.json", 10, 10, {})


def test_a_session_too_large_is_refused(tmp_path):
    controller, columns = looked(tmp_path, LEAGUE)
    controller.rate(columns, "team")
    controller.save(str(tmp_path / "s.json"))
    assert json.loads((tmp_path / "s.json").read_text())["kinelo_session"] == 1
    with pytest.raises(InputError, match="at most 3 rows"):
        controller.open_session(str(tmp_path / "s.json"), "s.json", 3, 50, {})


@pytest.mark.parametrize("name", list(SAMPLES))
@pytest.mark.filterwarnings("ignore:rating deflation")  # the newcomers of the chess club are weak, and that is said
def test_every_made_up_league_can_be_rated(name):
    controller = RatingController(lambda words: None)
    rated = controller.rate(guessed(controller.sample(name)), "team")
    assert rated["rejects"]["count"] == 0 and rated["summary"]["teams"] >= 20


def test_there_is_no_other_made_up_league():
    with pytest.raises(InputError, match="there are football, chess, races"):
        sample_tables("tennis")


def test_the_chess_club_has_newcomers_and_draws():
    games = chess_club()
    assert games.equals(chess_club()) and not games.equals(chess_club(seed=2))
    share = (games["result"] == "0.5").mean()
    assert 0.2 < share < 0.36
    first = pl.concat([games.select("date", name=pl.col(side)) for side in ("white", "black")]).group_by("name").min()
    late = first.filter(pl.col("date") > "2022-03-01").height
    assert late >= 20 and first.height - late <= FOUNDERS + 3
    assert not (games["white"] == games["black"]).any()


def test_a_log_holds_what_still_matters(tmp_path):
    log = LeagueLog()
    tables = {"tables": {"results": {"name": "r"}, "lineups": {"name": "l"}}}
    for file in "abc":
        (tmp_path / file).touch()

    def look(kind: str, file: str) -> None:
        log.note("look", {"kind": kind, "keep": str(tmp_path / file), "name": file, "path": ""}, tables)

    log.note("sample", {"name": "chess"}, tables)
    log.note("rate", {"rater": "team"}, {})
    log.note("predict", {}, {})
    assert [task for task, _ in log._tasks] == ["sample", "rate"]
    look("results", "a")  # ends the made-up league and its ratings
    look("results", "b")  # takes the place of the first
    look("lineups", "c")
    log.note("rate", {"rater": "team"}, {})
    log.note("rate", {"rater": "glicko"}, {})
    log.note("rank", {"caution": 0}, {})
    assert [(task, one.get("name", one.get("rater"))) for task, one in log._tasks] == [
        ("restore", "b"), ("restore", "c"), ("rate", "glicko"), ("rank", None)
    ]  # fmt: skip
    assert not (tmp_path / "a").exists() and (tmp_path / "b").exists()
    log.note("forget", {"kind": "results"}, tables)
    assert [task for task, _ in log._tasks] == ["restore"] and not (tmp_path / "b").exists()
    log.note("open_session", {"keep": {"results": "x", "lineups": "y"}}, {"tables": {"results": {"name": "r"}}})
    assert log._tasks == [("restore", {"kind": "results", "keep": "x", "name": "r"})]
