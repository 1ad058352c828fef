"""The audit of a visitor's league: what the library says, of the matches that were rated."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.audit.words import gain_words, sections_of
from kinelo.advice.charts import loss_chart
from kinelo.errors import InputError
from kinelo.lab.rate.auditing import AuditController, hand_over, latest
from kinelo.lab.rate.controller import RatingController


def league(matches: int) -> kn.Matches:
    table = kn.sample_league(seed=4).results.head(matches)
    return kn.read_matches(table)


def test_the_audit_is_the_library_s_own(tmp_path):
    matches, said = league(380), []
    hand_over(matches, str(tmp_path / "matches"))
    found = AuditController(said.append).audit(str(tmp_path / "matches"), k=60.0, sides=["home", "away"])
    expected = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    assert found["sections"] == [[heading, [list(row) for row in rows]] for heading, rows in sections_of(expected)]
    assert found["bounded"] is None
    assert found["best"] == list(gain_words(expected)) and found["verdict"] == expected.verdict
    assert found["chart"] == loss_chart(expected).to_dict() and found["notes"] == list(expected.notes)
    assert expected.best.error < expected.now.error
    assert any("380 matches" in words for words in said) and len(said) >= 3
    json.dumps(found, allow_nan=False)


def test_an_audit_calls_the_sides_as_the_file_does(tmp_path):
    games = league(380).to_polars().rename({"home": "White", "away": "Black"})
    matches = kn.read_matches(games.select("date", "White", "Black", "result"))
    assert matches.side_headers == ("White", "Black")
    hand_over(matches, str(tmp_path / "matches"))
    found = AuditController(lambda words: None).audit(str(tmp_path / "matches"), 32.0, list(matches.side_headers))
    rows = " ".join(words for _, rows in found["sections"] for _, words in rows)
    assert "having White is worth" in rows and "playing at home" not in rows


def test_nothing_an_audit_needs_is_lost_on_the_way(tmp_path):
    matches = league(100)
    hand_over(matches, str(tmp_path / "matches"))
    again = kn.read_matches(pl.read_parquet(tmp_path / "matches"))
    for name in ("day", "signed", "neutral", "weight"):
        assert np.array_equal(getattr(again, name), getattr(matches, name)), name
    assert [again.teams[i] for i in again.home] == [matches.teams[i] for i in matches.home]


def test_a_large_file_is_looked_at_from_its_end_and_that_is_said():
    matches = league(300)
    part, words = latest(matches, most=100)
    assert len(part) <= 100 and part.date[-1] == matches.date[-1]
    assert "300 matches" in words and f"latest {len(part)}" in words
    assert latest(matches, most=300) == (matches, None)


def test_an_audit_needs_a_rated_league(tmp_path):
    with pytest.raises(InputError, match="Rate a league first"):
        RatingController(print).hand_over(str(tmp_path / "matches"))
