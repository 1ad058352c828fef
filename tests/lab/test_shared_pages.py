"""Pages to share, as a phone shows them and as they are printed; the guided visit as a file."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser_steps import skip_without_browser

import kinelo as kn
from kinelo.lab.guide.scenes import PLOTLY, guide_page, plotly_script, scene_pictures, scenes
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


def sentence(number: int, value: float) -> str:
    at = scenes()[number - 1].control.values.index(value)
    return scene_pictures(number, "paper")["pictures"][at]["sentence"]


def test_the_visit_works_as_a_file_without_a_server(browser, tmp_path):
    """The page of the documentation, opened from a disk: the same scenes, and nothing is asked of anybody."""
    doors = [{"door": "rate", "title": "Rate", "words": "Words.", "label": "Go", "address": "rate.html"}]
    (tmp_path / "index.html").write_text(guide_page(doors, "home.html"), encoding="utf-8")
    (tmp_path / PLOTLY).write_bytes(plotly_script())
    (tmp_path / "rate.html").write_text("<h1>here</h1>", encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce", offline=True)
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{(tmp_path / 'index.html').as_uri()}#3?days=250&units=paper")
    page.wait_for_selector("#guide-sentence:not(:empty)")
    assert page.inner_text("#guide-sentence") == sentence(3, 250.0)
    page.focus("#guide-slider")
    page.keyboard.press("Home")
    assert page.inner_text("#guide-sentence") == sentence(3, 0.0) and page.evaluate("location.href").endswith(
        "#3?days=0&units=paper"
    )
    for number in (4, 5, 6, 7):
        page.click("#guide-next")
        page.wait_for_selector("#guide-answers button")
        assert page.inner_text("#guide-question") == scene_pictures(number, "paper")["question"]["words"]
    page.click("#guide-next")
    page.click("[data-door=rate]")
    assert page.inner_text("h1") == "here" and not complaints
    context.close()


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
