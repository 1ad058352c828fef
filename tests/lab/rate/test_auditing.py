"""The audit of a visitor's league: what the library says, of the matches that were rated."""

from __future__ import annotations

import json
from html import escape

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice.audit.words import rows_of
from kinelo.advice.charts import loss_chart
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.lab.rate.controller import AuditController, RatingController, hand_over
from kinelo.lab.rate.reading import GROUPS_DROPPED
from kinelo.lab.rate.tables import UploadedTable

pytestmark = pytest.mark.usefixtures("few_replays")


def league(matches: int) -> kn.matches.Matches:
    table = kn.sample_league(seed=4).results.head(matches)
    return kn.read_matches(table)


def tables(frame: pl.DataFrame) -> dict[str, UploadedTable]:
    return {"results": UploadedTable("results", "a file", frame, 1)}


NOTHING_ASKED: dict = {"conditions": [], "noise_by": [], "covariates": [], "title": "A league"}


def audited(played, folder, k: float = 32.0, beside: dict | None = None, **asked) -> dict:
    """What the lab says of what was played, handed over to the process that audits."""
    folder.mkdir()
    handed = hand_over(played, folder, beside or {}) | NOTHING_ASKED
    return AuditController(lambda words: None).audit(str(folder), handed, k, **asked)


def test_the_audit_is_the_library_s_own(tmp_path):
    matches, said = league(380), []
    handed = hand_over(matches, tmp_path, {}) | NOTHING_ASKED
    found = AuditController(said.append).audit(str(tmp_path), handed, k=60.0)
    expected = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    assert found["rows"] == [list(row) for row in rows_of(expected)]
    assert found["findings"] == [f"{one.words} {one.advice}" for one in expected.findings]
    assert found["best"] == list(expected._gain_words()) and found["verdict"] == expected.verdict
    assert found["chart"] == loss_chart(expected).to_dict() and found["notes"] == list(expected.notes)
    assert expected.best.error < expected.now.error
    assert any("380 matches" in words for words in said) and len(said) >= 3
    json.dumps(found, allow_nan=False)


def test_an_audit_calls_the_sides_as_the_file_does(tmp_path):
    games = league(380).to_polars().rename({"home": "White", "away": "Black"})
    matches = kn.read_matches(games.select("date", "White", "Black", "result"))
    assert matches.side_headers == ("White", "Black")
    rows = " ".join(words for _, words in audited(matches, tmp_path / "handed")["rows"])
    assert "having White is worth" in rows and "playing at home" not in rows


def spoken(*words: object) -> str:
    """What a command prints, on lines as long as it likes."""
    shown = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "20000"})
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.stdout.split())


def test_groups_a_reference_and_lists_are_those_of_the_command_line(tmp_path):
    """Groups from a column for each side and from a file, a starting list, ratings in use, and another rater."""
    results = kn.sample_league(seed=4).results
    sides = sorted({*results["home_team"], *results["away_team"]})
    region = {name: "north" if k % 3 else "south" for k, name in enumerate(sides)}
    results = results.with_columns(
        home_region=pl.col("home_team").replace_strict(region), away_region=pl.col("away_team").replace_strict(region)
    ).cast(pl.String)  # fmt: skip
    lists = {
        "start": pl.DataFrame({"name": sides, "rating": [1400.0 + 10 * k for k in range(len(sides))]}),
        "groups": pl.DataFrame({"name": sides, "group": ["old" if k % 2 else "young" for k in range(len(sides))]}),
        "ratings": pl.DataFrame({"name": sides, "rating": [1500.0 - 7 * k for k in range(len(sides))]}),
    }
    results.write_csv(tmp_path / "results.csv")
    for name, frame in lists.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    controller = RatingController(lambda words: None)
    controller._tables = {"results": UploadedTable("results", "a file", results, 1)} | {
        kind: UploadedTable(kind, kind, frame.cast(pl.String), 1) for kind, frame in lists.items()
    }
    columns = controller._tables["results"].guesses
    rated = controller.rate(columns, "kalman")
    assert rated["groups"] == {GROUPS_DROPPED: ["old", "young"], "region": ["north", "south"]}
    assert rated["rater"] == "KalmanElo"
    asked = ["audit", tmp_path / "results.csv", "--k", 24, "--start", tmp_path / "start.csv"]
    asked += ["--ratings", tmp_path / "ratings.csv", "--reference"]
    answers = []
    for by, reference, option in (("region", "north", "region"), (GROUPS_DROPPED, "old", tmp_path / "groups.csv")):
        folder = tmp_path / reference
        folder.mkdir()
        handed = controller.hand_over(str(folder), by)
        found = AuditController(lambda words: None).audit(str(folder), handed, 24.0, by=by, reference=reference)
        shown = spoken(*asked, reference, "--by", option)
        said = [found["verdict"], *(cell for row in found["rows"] for cell in row)]
        assert all(line in shown for cell in said for line in cell.split("\n"))
        answers.append(found["rows"])
    assert answers[0] != answers[1]
    other = AuditController(lambda words: None).audit(str(folder), handed, 24.0, rater="glicko")
    assert other["verdict"] in spoken("audit", tmp_path / "results.csv", "--rater", "glicko")
    with pytest.raises(InputError, match="There is no rater 'os:system'"):
        AuditController(lambda words: None).audit(str(folder), handed, 24.0, rater="os:system")


def tracks(contests: int) -> pl.DataFrame:
    """Contests of two divisions and two kinds of track, with newcomers in the lower one and some who do not finish."""
    rng, names = np.random.default_rng(5), np.arange(24)
    strength, rows = np.linspace(2.4, -2.4, 24), []
    for c in range(contests):
        if c % 5 == 3:
            names[23 - c % 3] = 100 + c
        field = rng.choice(14, 8, replace=False) + 10 * (c % 2)
        oval = c % 3 == 0
        order = field[np.argsort(-strength[field] + (2.0 if oval else 0.8) * rng.normal(size=8))]
        day, track = str(np.datetime64("2021-03-01") + 6 * c), "oval" if oval else "road"
        ended = ["DNF" if (8 * c + k) % 11 == 7 else str(k + 1) for k in range(8)]
        rows += [(str(c + 1), day, f"P{names[i]}", end, track) for i, end in zip(order, ended)]
    return pl.DataFrame(rows, schema=["contest", "date", "entrant", "place", "track"], orient="row")


def test_an_audit_of_contests_is_one_answer_through_all_doors(tmp_path):
    """The lab, Python, the command line and the page, down to every sentence."""
    table, path = tracks(60), tmp_path / "races.csv"
    table.write_csv(path)
    given = tables(table.cast(pl.String))
    controller = RatingController(lambda words: None)
    controller._tables = given
    rated = controller.rate(given["results"].guesses, "team", noise_by=["track"])
    assert rated["luck"] is not None and set(rated["levels"]["track"]) == {"oval", "road"}
    handed, said = controller.hand_over(str(tmp_path)), []
    own = AuditController(said.append)
    found = own.audit(str(tmp_path), handed, 20.0)
    races = kn.read_contests(path, advantages=["track"])
    expected = kn.audit(races, kn.TeamElo.classic(k=20))
    assert found["verdict"] == expected.verdict and found["chart"] == loss_chart(expected).to_dict()
    assert found["rows"] == [list(row) for row in expected.rows()] and found["fifths"] is None
    assert [name for name, _ in expected.rows()][-1] == "Luck by track" and expected.like_meets_like
    assert "like" in expected.lead.caveat and expected.start is not None and expected.unfinished > 0.05
    assert len(said) >= 4 and "60 contests with 480 entries" in said[0]
    json.dumps(found, allow_nan=False)
    own.share(str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert page == kn.pages.share_page(expected, title="A file") and "<h2>Everything that was found</h2>" in page
    for words in (*expected.lead[-2:], *(words for row in expected.rows() for words in row)):
        assert escape(words) in page
    shown = spoken("audit", path, "--noise-by", "track", "--k", 20)
    for words in (expected.verdict, *(words for row in expected.rows() for words in row)):
        assert words in shown
    beside = own.audit(str(tmp_path), handed, 20.0, rater="rank")
    assert beside["verdict"] in spoken("audit", path, "--noise-by", "track", "--rater", "rank")
    assert found["best"] == list(expected._gain_words()) and found["best"][0].startswith(
        f"Best K = {expected.advice.k:.3g} ("
    )
    assert found["best"][0].endswith("): by backtest.") and "On the later half of the contests " in found["best"][1]


def test_contests_that_are_too_few_and_what_plain_elo_does_not_use_are_said(tmp_path):
    table = tracks(60).with_columns(ballast=pl.int_range(pl.len()) * 7 % 5)
    with pytest.raises(InputError, match="at least 40 contests and has 30"):
        audited(kn.read_contests(tracks(30)), tmp_path / "few")
    found = audited(kn.read_contests(table, advantages=["ballast"]), tmp_path / "all")
    assert "does not use ballast; RankElo does" in found["notes"][0]


def test_an_audit_needs_a_rated_league(tmp_path):
    with pytest.raises(InputError, match="Rate a league first"):
        RatingController(print).hand_over(str(tmp_path))
