"""Pages to share, as a phone shows them and as they are printed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser_steps import skip_without_browser

import kinelo as kn
from kinelo.lab.rate.tables import sample_tables

skip_without_browser()
pytestmark = pytest.mark.browser
MOST_BEFORE_THE_FOLD = 2500
SMALLEST_LETTERS = 9.5


def many_sides():
    """A rater of 60 sides, with three years of matches and a pool apart."""
    rng = np.random.default_rng(8)
    pairs = [rng.choice(56, 2, replace=False) for _ in range(1600)] + [
        56 + rng.choice(4, 2, replace=False) for _ in range(60)
    ]
    days = np.sort(rng.integers(0, 1000, len(pairs)))
    table = {
        "date": (np.datetime64("2021-01-01") + days).astype(str),
        "home": [f"Side number {a}" for a, _ in pairs],
        "away": [f"Side number {b}" for _, b in pairs],
        "result": [float(rng.random() < 1 / (1 + 10 ** ((a - b) / 30))) for a, b in pairs],
    }
    matches = kn.read_matches(table)
    return kn.TeamElo.classic(k=30).fit(matches), matches


def two_kinds():
    """A rater of drivers and cars."""
    races = kn.read_contests(sample_tables("races")["results"].frame, slots=["driver", "car"])
    return kn.RankElo().fit(races), races


@pytest.mark.parametrize("league", [many_sides, two_kinds])
def test_a_page_of_ratings_is_short_on_a_phone_and_prints_on_two_sheets(tab, tmp_path, league):
    rater, played = league()
    written = kn.write_page(rater, tmp_path / "page.html", matches=played, title="A league")
    page = tab(390, 844)
    page.goto(written.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_BEFORE_THE_FOLD
    letters = page.eval_on_selector_all("svg.chart text", LETTERS)
    assert letters and min(letters) >= SMALLEST_LETTERS
    assert page.evaluate(OVERLAPS) == []
    ranked = page.eval_on_selector_all("tbody tr .name", "all => all.length")
    folded = page.eval_on_selector_all("details tbody tr .name", "all => all.length")
    assert ranked == kn.leaderboard(rater, played).height and 0 < folded < ranked
    sheets = re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))
    assert 1 <= len(sheets) <= 2


LETTERS = "all => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.closest('svg').clientWidth / 740)"
OVERLAPS = """[...document.querySelectorAll("svg.chart")].flatMap((chart) => {
  const shown = [...chart.querySelectorAll("text")].filter((one) => getComputedStyle(one).display !== "none");
  const boxes = shown.map((one) => [one.textContent, one.getBoundingClientRect()]);
  const frame = chart.getBoundingClientRect();
  const out = boxes.filter(([, at]) => at.left < frame.left - 1 || at.right > frame.right + 1).map(([text]) => text);
  const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 3 &&
    other.top < one.bottom - 3;
  const pairs = boxes.flatMap((one, k) => boxes.slice(k + 1).map((other) => [one, other]));
  const met = pairs.filter(([one, other]) => meet(one[1], other[1]));
  return [...out, ...met.map(([one, other]) => `${one[0]} on ${other[0]}`)];
})"""
