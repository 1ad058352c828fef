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
from kinelo.lab.rate.controller import AuditController, RatingController, hand_over, latest
from kinelo.lab.rate.tables import UploadedTable


def league(matches: int) -> kn.matches.Matches:
    table = kn.sample_league(seed=4).results.head(matches)
    return kn.read_matches(table)


def tables(frame: pl.DataFrame) -> dict[str, UploadedTable]:
    return {"results": UploadedTable("results", "a file", frame, 1)}


def test_the_audit_is_the_library_s_own(tmp_path):
    matches, said = league(380), []
    handed = hand_over(matches, str(tmp_path / "matches"))
    found = AuditController(said.append).audit(str(tmp_path / "matches"), k=60.0, **handed)
    expected = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    assert found["rows"] == [list(row) for row in rows_of(expected)]
    assert found["findings"] == [f"{one.words} {one.advice}" for one in expected.findings]
    assert found["bounded"] is None
    assert found["best"] == list(expected._gain_words()) and found["verdict"] == expected.verdict
    assert found["chart"] == loss_chart(expected).to_dict() and found["notes"] == list(expected.notes)
    assert expected.best.error < expected.now.error
    assert any("380 matches" in words for words in said) and len(said) >= 3
    json.dumps(found, allow_nan=False)


def test_an_audit_calls_the_sides_as_the_file_does(tmp_path):
    games = league(380).to_polars().rename({"home": "White", "away": "Black"})
    matches = kn.read_matches(games.select("date", "White", "Black", "result"))
    assert matches.side_headers == ("White", "Black")
    handed = hand_over(matches, str(tmp_path / "matches"))
    found = AuditController(lambda words: None).audit(str(tmp_path / "matches"), 32.0, **handed)
    rows = " ".join(words for _, words in found["rows"])
    assert "having White is worth" in rows and "playing at home" not in rows


def test_nothing_an_audit_needs_is_lost_on_the_way(tmp_path):
    matches = league(100)
    hand_over(matches, str(tmp_path / "matches"))
    again = kn.read_matches(pl.read_parquet(tmp_path / "matches"))
    for name in ("day", "signed", "neutral", "weight"):
        assert np.array_equal(getattr(again, name), getattr(matches, name)), name
    assert [again.teams[i] for i in again.home] == [matches.teams[i] for i in matches.home]


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
    handed, said = controller.hand_over(str(tmp_path / "handed")), []
    own = AuditController(said.append)
    found = own.audit(str(tmp_path / "handed"), 20.0, **handed)
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
    assert page == kn.pages.share_page(expected) and "<h2>Everything that was found</h2>" in page
    for words in (*expected.lead[-2:], *(words for row in expected.rows() for words in row)):
        assert escape(words) in page
    shown = CliRunner().invoke(app, ["audit", str(path), "--noise-by", "track", "--k", "20"], env={"COLUMNS": "20000"})
    assert shown.exit_code == 0, shown.output
    for words in (expected.verdict, *(words for row in expected.rows() for words in row)):
        assert words in " ".join(shown.stdout.split())
    assert found["best"] == list(expected._gain_words()) and found["best"][0].startswith(
        f"Best K = {expected.advice.k:.3g} ("
    )
    by_both = f": {expected.curve.best.k:.3g} by theory, {expected.measured.best:.3g} by backtest."
    assert by_both in found["best"][0] and "On the later half of the contests " in found["best"][1]


def test_contests_that_are_too_few_and_a_part_of_many_are_said(tmp_path, monkeypatch):
    few = kn.read_contests(tracks(30))
    with pytest.raises(InputError, match="at least 40 contests and has 30"):
        hand_over(few, str(tmp_path / "few"))
    monkeypatch.setattr("kinelo.advice.audit.contests.MOST_ENTRIES", 400)
    many = kn.read_contests(tracks(60))
    handed = hand_over(many, str(tmp_path / "many"))
    assert handed["notes"][0].startswith("Of 480 entries 400 are audited")
    found = AuditController(lambda words: None).audit(str(tmp_path / "many"), 32.0, **handed)
    assert found["bounded"] == handed["notes"][0] and found["notes"] == []


def test_a_large_file_is_looked_at_from_its_end_and_that_is_said():
    matches = league(300)
    part, words = latest(matches, most=100)
    assert len(part) <= 100 and part.date[-1] == matches.date[-1]
    assert "300 matches" in words and f"latest {len(part)}" in words
    assert latest(matches, most=300) == (matches, None)


def test_an_audit_needs_a_rated_league(tmp_path):
    with pytest.raises(InputError, match="Rate a league first"):
        RatingController(print).hand_over(str(tmp_path / "matches"))
