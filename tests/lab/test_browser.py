"""The lab in a real browser. One server and one browser serve all tests of this file."""

from __future__ import annotations

import contextlib
import io
import re
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_report import put
from running_lab import CHROMIUM, Lab

import kinelo as kn
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.python import python_lines
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.explore.verdict import whole_answer
from kinelo.lab.rate.samples import sample_tables
from kinelo.raters.upset_table import upsets
from kinelo.raters.what_if import with_points

if CHROMIUM is None:
    pytest.skip(
        "browser tests were skipped: no Chromium is installed (Debian: apt-get install chromium)",
        allow_module_level=True,
    )

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

GOOD = "date,home,away,home_score,away_score\n" + "\n".join(
    f"2024-{1 + k // 28:02d}-{1 + k % 28:02d},{'ABCD'[k % 4]},{'ABCD'[(k + 1 + k // 4 % 3) % 4]},{k % 4},{k * 7 % 3}"
    for k in range(160)
)
BROKEN = GOOD + "\nsome day,A,B,1,0\n2024-12-01,A,A,1,0\n2024-12-02,A,B,,1\n2024-12-03,A,B,-3,1\n"


def frames(page) -> int:
    return page.evaluate("Number(document.body.dataset.frames ?? 0)")


def run(page) -> int:
    return page.evaluate("Number(document.body.dataset.run ?? 0)")


def until(page, expression: str, seconds: float = 90.0) -> None:
    """Wait for something to be true in the page; its own policy forbids Playwright's way of waiting."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never came true: {expression}"
        page.wait_for_timeout(25)


def wait_for_frames(page, more: int) -> None:
    until(page, f"Number(document.body.dataset.frames ?? 0) >= {frames(page) + more}")


def set_slider(page, name: str, value: float) -> None:
    page.eval_on_selector(
        f"#control-{name}", "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value
    )


def upload(page, text: str, kind: str = "results", name: str = "league.csv") -> None:
    page.set_input_files(f"#file-{kind}", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def test_first_paint_shows_words_before_anything_is_computed(browser, lab):
    context = browser.new_context()
    page = context.new_page()
    page.route("**/plotly.js", lambda route: route.abort())
    page.route("**/static/main.js", lambda route: route.abort())
    page.goto(lab.address)
    assert page.inner_text("h1") == "What variable strength does to ratings"
    context.close()


def test_league_plays_and_the_verdict_follows(visit):
    page = visit()
    wait_for_frames(page, 5)
    assert page.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 200
    assert page.eval_on_selector("#density-chart", "node => node.data[0].z.length") > 50
    until(page, "document.body.dataset.verdictRun === document.body.dataset.run")
    assert "under-rated" in page.inner_text("#headline")
    assert "slope 0.79" in page.get_attribute("#league-chart", "aria-label")


def test_moving_a_slider_restarts_the_league(visit):
    page = visit()
    wait_for_frames(page, 5)
    for value in (2.0, 0.25):
        before = run(page)
        set_slider(page, "sigma", value)
        until(page, f"Number(document.body.dataset.run) > {before}")
        wait_for_frames(page, 2)
    assert "sigma=0.25" in page.url


def test_the_address_holds_the_sliders(visit):
    page = visit("?sigma=0&teams=50&law=normal&unknown=1&gamma=9")
    wait_for_frames(page, 2)
    assert page.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 50
    assert page.inner_text("output[for=control-sigma]") == "0"
    assert page.inner_text("output[for=control-gamma]") == "1"
    until(page, "document.body.dataset.verdictRun === document.body.dataset.run")
    assert "over-rated" in page.inner_text("#headline")


def moves(controls: list[dict]) -> list[tuple[str, object, object]]:
    """Every control away from its default and back: the way back is answered from what was computed before."""
    found = []
    for control in controls:
        if control["kind"] == "choice":
            found += [
                (control["name"], other, control["default"])
                for other in control["options"]
                if other != control["default"]
            ]
        elif control["logarithmic"]:
            found.append((control["name"], 76, 48))
        else:
            far = control["high"] if control["default"] < (control["low"] + control["high"]) / 2 else control["low"]
            found.append((control["name"], far, control["default"]))
    return found


@pytest.mark.long
def test_the_picture_is_that_of_the_verdict_wherever_the_sliders_stand(visit):
    page = visit("?teams=40&law=lottery")
    until(page, "Boolean(document.body.dataset.foreseenRun)", 60)
    settled = "(({ run, foreseenRun, verdictRun }) => [foreseenRun, verdictRun].includes(run))"
    for name, away, back in moves(page.evaluate("fetch('/api/about').then((one) => one.json())")["controls"]):
        for value in (away, back):
            before = run(page)
            page.eval_on_selector(
                f"#control-{name}",
                """(node, value) => { const kind = node.tagName === "SELECT" ? "change" : "input";
                   node.value = value; node.dispatchEvent(new Event(kind)); }""",
                str(value),
            )
            until(page, f"Number(document.body.dataset.run) > {before}")
            until(page, f"{settled}(document.body.dataset)")
            drawn, said, teams, ranges = page.evaluate(
                """() => {
                  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
                  const chart = (name) => document.querySelector(`#${name}-chart`);
                  const [league, density] = [chart("league"), chart("density")];
                  const { x, y } = league.data[3];
                  const dots = league.data[4];
                  const over = mean(x.map((one, k) => (one - mean(x)) * (y[k] - mean(y))));
                  return [over / mean(x.map((one) => (one - mean(x)) ** 2)),
                    x.length ? Number(document.querySelector("#facts b").textContent) : null,
                    [dots.x.length, dots.y.length, Number(document.querySelector("#control-teams").value)],
                    [league, ...(density.offsetParent ? [density] : [])]
                      .map((one) => JSON.stringify([one.layout.xaxis.range, one.layout.yaxis.range]))];
                }"""
            )
            assert said is None or abs(drawn - said) < 0.03, (name, value)
            assert len(set(teams)) == 1, (name, value)
            assert len(set(ranges)) == 1, (name, value)  # where both are drawn


@pytest.mark.long
def test_an_address_of_nonsense_still_plays(visit):
    page = visit("?teams=20&law=constructor&pairing=toString&start=__proto__&players=7.4&sigma=&nu=one")
    wait_for_frames(page, 2)
    assert page.is_hidden("#toast") and page.input_value("#control-law") == "normal"


@pytest.mark.long
def test_back_and_forward_stay_within_the_lab(visit):
    page = visit("?teams=20")
    wait_for_frames(page, 1)
    for value in (1.2, 1.4, 1.6):
        set_slider(page, "sigma", value)
    page.select_option("#control-start", "equal")
    page.click("#tab-rate")
    page.click("#tab-paper")
    assert "sigma=1.6" in page.url and page.url.endswith("#paper")
    page.go_back()
    until(page, "!document.querySelector('#rate').hidden")
    page.go_back()
    until(page, "!document.querySelector('#explore').hidden")
    assert page.input_value("#control-start") == "equal"
    before = run(page)
    page.go_back()
    until(page, f"Number(document.body.dataset.run) > {before}")
    assert page.input_value("#control-start") == "random" and page.inner_text("output[for=control-sigma]") == "1.6"
    page.go_back()  # the three moves were one gesture
    until(page, "document.querySelector('output[for=control-sigma]').textContent === '1'")
    page.go_forward()
    until(page, "document.querySelector('output[for=control-sigma]').textContent === '1.6'")
    page.evaluate("document.querySelector('#tab-rate').click()")
    page.evaluate("document.querySelector('.skip').click()")
    page.wait_for_timeout(100)
    assert page.is_visible("#rate")


@pytest.mark.long
def test_line_ups_have_sliders_of_their_own(visit):
    page = visit()
    assert page.is_visible("#control-sigma") and not page.is_visible("#control-players")
    page.select_option("#control-law", "lottery")
    assert page.is_visible("#control-players") and not page.is_visible("#control-sigma")
    set_slider(page, "lineup", 12)
    set_slider(page, "players", 12)
    assert page.inner_text("output[for=control-lineup]") == "12"
    until(page, "document.querySelector('#controls').textContent.includes('vary by σ = 0.00 points')")
    wait_for_frames(page, 3)
    assert page.is_hidden("#toast")


@pytest.mark.long
def test_pause_and_restart(visit):
    page = visit("?teams=20")
    wait_for_frames(page, 3)
    page.click("#pause")
    page.wait_for_timeout(300)
    stopped = frames(page)
    page.wait_for_timeout(500)
    assert frames(page) == stopped and page.inner_text("#pause") == "Play"
    before = run(page)
    page.click("#restart")
    until(page, f"Number(document.body.dataset.run) > {before}")
    page.click("#pause")
    wait_for_frames(page, 2)


def test_keyboard_alone_reaches_everything(visit):
    page = visit("?teams=20")
    wait_for_frames(page, 1)
    page.focus("#tab-explore")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-rate"
    assert page.is_visible("#rate") and page.is_hidden("#explore") and page.url.endswith("#rate")
    page.keyboard.press("End")
    assert page.is_visible("#paper")
    page.keyboard.press("Home")
    assert page.is_visible("#guide")
    page.keyboard.press("ArrowRight")
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"theme", "control-law", "control-sigma", "control-teams", "pause", "restart", "speed", "share"} <= reached
    page.focus("#control-sigma")
    before = run(page)
    page.keyboard.press("ArrowRight")
    until(page, f"Number(document.body.dataset.run) > {before}")
    assert page.get_attribute("#control-sigma", "aria-valuetext") == "1.05"


def test_dark_and_light(visit):
    page = visit("?teams=20", color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def make_report(lab) -> None:
    """A report at full scale, unless another test has made it."""
    if not (lab.folder / "reproduction").exists():
        put(lab.folder / "reproduction", "full")


def accessible(page, part: str, width: int) -> None:
    """Nothing in a part of the page that axe finds fault with, and nothing beyond the width of the screen."""
    context = {"include": [[part]], "exclude": [[".plot-container"]]}  # to a reader a chart is one image with a name
    found = page.evaluate("(context) => axe.run(context, { resultTypes: ['violations'] })", context)["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == [], part
    assert page.evaluate("document.documentElement.scrollWidth") <= width, part


@pytest.mark.parametrize(
    ("width", "theme"),
    [(390, "dark"), *(pytest.param(*wide, marks=pytest.mark.long) for wide in ((800, "dark"), (1440, "light")))],
)
def test_every_tab_and_scene_is_accessible_at_every_width(visit, lab, width, theme):
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    make_report(lab)
    page = visit(
        "?teams=20&motion=form&pin=gamma%3D0.3", color_scheme=theme, reduced_motion="reduce",
        viewport={"width": width, "height": 844},
    )  # fmt: skip
    page.evaluate(axe)
    until(page, "document.querySelector('#headline').textContent.includes('rated')")
    accessible(page, "header", width)
    for details in page.locator("#explore details:visible summary").all():
        details.click()
    accessible(page, "#explore", width)
    page.click("#theme")
    accessible(page, "#explore", width)
    page.click("#tab-paper")
    page.wait_for_selector(".claims")
    page.click("#paper-figure-1 summary")
    accessible(page, "#paper", width)
    page.click("#tab-rate")
    accessible(page, "#rate", width)
    page.click("#tab-guide")
    for number in range(1, 8 if width == 390 else 3):
        until(page, f"document.body.dataset.scene === '{number}'")
        accessible(page, "#guide", width)
        page.click("#guide-next")
    accessible(page, "#guide", width)


def test_the_python_of_the_page_plays_the_dots_of_the_page(visit):
    page = visit("?teams=20&motion=form&rate=0.05&seed=3&speed=300&pin=teams%3D30%26gamma%3D0.4%26steps%3Dglicko")
    wait_for_frames(page, 5)
    page.focus("#pause")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)  # a frame may be under way
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(page.text_content("#python"), names)
    x, y, others = page.eval_on_selector(
        "#league-chart", "node => [[...node.data[4].x], [...node.data[4].y], node.data[6].y.length]"
    )
    assert y == pytest.approx(names["rating"], abs=1e-5) and x == pytest.approx(names["strength"], abs=1e-5)
    assert others == 30 and np.ptp(np.array(y) - np.array(x)) > 0.1
    line = page.eval_on_selector("#league-chart", "({ data }) => [[...data[3].x], [...data[3].y]]")
    slope = (line[1][-1] - line[1][0]) / (line[0][-1] - line[0][0])
    form = kn.Form(rate=0.05, spread=1.0)
    found = kn.tracking(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1), kn.Continuum((4, 10), 1.0, nodes=40), form)
    assert slope == pytest.approx(found.C / found.V, abs=1e-3)
    assert page.is_visible("#path-chart") and page.is_hidden("#density-chart")
    page.focus("#control-motion")
    page.keyboard.press("ArrowDown")  # from form to a walk
    assert page.is_visible("#control-walk") and page.is_hidden("#control-rate") and "motion=walk" in page.url
    page.select_option("#control-steps", "glicko")
    assert page.is_visible("#control-growth") and page.is_hidden("#control-gamma")
    page.select_option("#control-pairing", "local")
    until(page, "document.querySelector('#headline').textContent.startsWith('Theory has no answer here')")
    assert "no theory of strengths that move" in page.inner_text("#advice")


@pytest.mark.long
def test_two_tabs_do_not_disturb_each_other(visit):
    first, second = visit("?teams=20"), visit("?teams=30")
    wait_for_frames(first, 3)
    wait_for_frames(second, 3)
    assert first.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 20
    assert second.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 30
    second.close()
    wait_for_frames(first, 3)


def test_a_good_file_is_rated_and_downloaded(visit):
    page = visit("#rate")
    upload(page, GOOD)
    page.wait_for_selector("#rate-go")
    assert page.input_value("#field-home") == "home" and page.input_value("#field-away_score") == "away_score"
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    assert page.locator("#leaderboard tbody tr").count() == 4
    shown = {
        row.split("\t")[1].strip(): row.split("\t")[2:4]
        for row in page.locator("#leaderboard tbody tr").all_inner_texts()
    }
    matches = kn.read_matches(pl.read_csv(GOOD.encode()))
    ratings = kn.TeamElo().fit(matches).ratings_.select("name", "rating", "uncertainty")
    assert {name: [float(rating), float(spread.removeprefix("± "))] for name, (rating, spread) in shown.items()} == {
        name: [round(rating), round(spread)] for name, rating, spread in ratings.iter_rows()
    }
    assert page.is_hidden("#rate-error") and page.locator("#rejects").count() == 0
    page.wait_for_selector("#what-answer .chances")
    said = page.get_attribute("#what-answer .chances", "aria-label")
    assert 98 <= sum(map(int, re.findall(r"(\d+) %", said))) <= 102
    with page.expect_download() as waiting:
        page.click("#download-ratings")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert waiting.value.suggested_filename == "kinelo-ratings.csv"
    assert lines[0].startswith("name,rating,uncertainty") and len(lines) == 5


def test_bad_rows_are_listed_and_the_others_used(visit):
    page = visit("#rate")
    upload(page, BROKEN)
    page.wait_for_selector("#rate-go")
    page.click("#rate-go")
    page.wait_for_selector("#rejects")
    rows = [row.inner_text().split("\t") for row in page.locator("#rejects tbody tr").all()]
    listed = {(int(row[1]), row[2]) for row in rows}
    first_bad = len(GOOD.splitlines()) + 1
    assert listed == {
        (first_bad, "unreadable date"),
        (first_bad + 1, "a side against itself"),
        (first_bad + 2, "missing score"),
        (first_bad + 3, "impossible score"),
    }
    assert page.locator("#leaderboard tbody tr").count() == 4


def test_a_broken_file_is_answered_with_a_sentence(visit):
    page = visit("#rate")
    upload(page, "\x00\x01\x02 nothing at all", name="<b>picture.csv")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.inner_text("#rate-error").startswith("<b>picture.csv ")
    assert page.is_hidden("#mapping")
    upload(page, "a,b\n1,2\n")
    page.wait_for_selector("#rate-go")
    page.click("#rate-go")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert "columns of both scores" in page.inner_text("#rate-error")


PROBLEMS = (Path(__file__).parent / "problems.js").read_text(encoding="utf-8")


def test_a_league_can_be_read_side_by_side_and_played_on(visit):
    """One visit to the sample league: every number shown is the library's, at three widths, dark and light."""
    tables = {kind: table.frame for kind, table in sample_tables("football").items()}
    matches = kn.read_matches(tables["results"], tables["lineups"])
    rater = kn.TeamElo().fit(matches)
    page = visit("#rate", accept_downloads=True)
    page.click("#sample")
    page.wait_for_selector("#rated:not([hidden])", timeout=180_000)
    board = kn.leaderboard(rater)
    rows = [row.split("\t") for row in page.locator("#leaderboard tbody tr").all_inner_texts()]
    assert [row[1].split("\n")[0].strip() for row in rows] == board["name"].to_list()
    page.fill("#rank-least", "5000")
    page.dispatch_event("#rank-least", "change")
    until(page, "document.querySelector('#rank-words').textContent.startsWith('Nobody is ranked')")
    page.fill("#rank-least", "0")
    page.dispatch_event("#rank-least", "change")
    page.select_option("#rank-period", "365")
    until(page, "document.querySelectorAll('#leaderboard .moved').length > 20")
    assert {"▲", "▼", "new"} <= {word for text in page.locator(".moved").all_inner_texts() for word in text.split()}

    fixtures = kn.read_matches(tables["fixtures"], played=False)
    rules = kn.Rules(places={"title": (1, 1), "relegation": (-3, -1)})
    page.wait_for_selector("#odds-table tbody tr")

    def odds() -> dict[str, list[float]]:
        lines = [row.split("\t") for row in page.locator("#odds-table tbody tr").all_inner_texts()]
        return {row[0]: [float(cell.strip("<% ")) for cell in (row[1], *row[3:5])] for row in lines}

    def said(found) -> dict[str, list[float]]:
        table = found.to_polars().select("name", "points", pl.col("title", "relegation") * 100)
        return {name: values for name, *values in table.iter_rows()}

    shown, expected = odds(), said(kn.season(rater, fixtures, rules=rules, realisations=4000, seed=1))
    assert shown.keys() == expected.keys()
    for name, values in expected.items():
        assert shown[name] == pytest.approx(values, abs=0.11), name
    assert sum(title for _, title, _ in shown.values()) == pytest.approx(100, abs=1)
    assert sum(down for _, _, down in shown.values()) == pytest.approx(300, abs=1)
    last = board["name"][3]
    page.select_option("#odds-team", last)
    page.focus("#odds-points")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    until(page, f"document.querySelector('#odds-raised').textContent === 'What if: {last} +120.'")
    raised = said(kn.season(with_points(rater, {last: 120}), fixtures, rules=rules, realisations=4000, seed=1))
    until(page, f"document.querySelector('#odds-table').textContent.includes('{last}{raised[last][0]:.1f}')")
    assert odds()[last] == pytest.approx(raised[last], abs=0.11) and raised[last][1] > expected[last][1] + 5
    page.select_option("#odds-kind", "knockout")
    until(page, "document.querySelector('#odds-words').textContent.includes('every side once')")
    page.select_option("#odds-source", "best")
    until(page, "document.querySelectorAll('#odds-table tbody tr').length === 8")

    for scheme in ("light", "dark"):
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        for width in (390, 800, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            until(page, "document.documentElement.scrollWidth <= innerWidth")  # charts follow the window
            assert page.evaluate(PROBLEMS) == [], (scheme, width)
        page.click("#theme")
    bars = page.eval_on_selector_all("#leaderboard .range span", "all => all.map((one) => one.offsetWidth)")
    assert len(bars) > 20 and min(bars) >= 3

    second = board["name"][1]
    page.focus(f"#leaderboard a >> text={second}")
    page.keyboard.press("Enter")
    page.wait_for_selector("#team-found:not([hidden])")
    assert page.url.endswith(f"#rate/{second}") and page.is_hidden("#rated")
    own = kn.rating_history(rater, matches, 300, side=second)
    line = page.eval_on_selector("#team-chart", "node => { const one = node.data.at(-1); return [one.x, one.y]; }")
    assert line[0] == own["date"].cast(pl.String).to_list()
    assert line[1] == pytest.approx(own["rating"].to_list(), abs=0.01)
    band = page.eval_on_selector("#team-chart", "node => node.data[0].y")
    assert band[: own.height] == pytest.approx((own["rating"] - own["uncertainty"]).to_list(), abs=0.02)
    assert band[own.height :][::-1] == pytest.approx((own["rating"] + own["uncertainty"]).to_list(), abs=0.02)
    now = rater.ratings_.filter(name=second).row(0, named=True)
    assert f"Rated {now['rating']:.0f} ± {now['uncertainty']:.0f} after {now['matches']} matches" in page.inner_text(
        "#team-words"
    )
    surprise = upsets(rater, matches).filter((pl.col("home") == second) | (pl.col("away") == second))
    told = [float(row.split("%")[0]) for row in page.locator("#team-upsets tbody tr").all_inner_texts()]
    assert told == pytest.approx((100 * surprise["chance"]).head(6).to_list(), abs=0.06)
    coming = fixtures[np.isnan(fixtures.result)]
    plays = [n for n in range(len(coming)) if second in (coming.teams[coming.home[n]], coming.teams[coming.away[n]])]
    first = coming[np.array(plays[:1])]
    p = rater.predict(first).probabilities[0]
    sides = first.teams[first.home[0]], first.teams[first.away[0]]
    assert page.get_attribute("#team-fixtures .chances >> nth=0", "aria-label") == (
        f"{sides[0]} wins {100 * p[0]:.0f} %, draw {100 * p[1]:.0f} %, {sides[1]} wins {100 * p[2]:.0f} %"
    )
    assert page.evaluate("document.activeElement.id") == "team-name"
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        until(page, "document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(PROBLEMS) == []
    page.go_back()
    page.wait_for_selector("#rated")
    page.go_forward()
    page.wait_for_selector("#team-found:not([hidden])")
    page.click("#team-back")
    page.wait_for_selector("#rated")
    with page.expect_download() as waiting:
        page.click("#share-ratings")
    shared = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert shared == kn.pages.share_page(rater, matches=matches, title="Ratings")


def test_long_odd_and_many_names_are_shown_and_outliers_hide_nobody(visit):
    odd = ["$lot & $ons", "Ann 😀", "<b>bold</b>", "L" * 150]
    names = odd + [f"Side {k:03d}" for k in range(240)]
    rng = np.random.default_rng(2)
    lines = [
        f'2024-{1 + k // 300:02d}-{1 + k % 28:02d},"{a}","{b}",{int(rng.random() < 0.5)},{"clay" if k % 3 else "grass"}'
        for k in range(2400)
        for a, b in [rng.choice(names, 2, replace=False)]
    ]
    page = visit("#rate")
    upload(page, "date,home,away,result,surface\n" + "\n".join([*lines, "some day,A,B,1,clay"]))
    told = "2,400 matches of 244 sides; 1 rows set aside"
    until(page, f"document.querySelector('#reading-words')?.textContent.includes('{told}')")
    assert "unreadable date: 1" in page.inner_text("#reading-rejects summary")
    page.check("[data-column=surface]")
    until(page, "document.querySelector('#reading .preview')?.textContent.includes('surface')")
    page.uncheck("[data-column=surface]")
    page.select_option("#rater", "glicko")

    def with_outlier(route) -> None:
        content = route.fetch().json()
        content["leaderboard"]["rows"][0]["rating"] = 1e6
        route.fulfill(json=content)

    page.route("**/league/rate", with_outlier)
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    count = page.locator("#leaderboard tbody tr").count()
    assert count == 100 and "1 to 100 of" in page.inner_text("#board-place")
    boxes = page.eval_on_selector_all(
        "#leaderboard .range span", "all => all.map((one) => [parseFloat(one.style.left), one.offsetWidth])"
    )
    assert all(width >= 3 for _, width in boxes) and len({round(left) for left, _ in boxes[1:]}) > 5
    page.click("#board-next")
    assert page.inner_text("#board-place").startswith("101 to 200 of")
    page.fill("#filter", odd[2])
    assert page.locator("#leaderboard tbody a").all_inner_texts() == [odd[2]]
    page.fill("#filter", "LLLL")
    page.click("#leaderboard tbody a")
    page.wait_for_selector("#team-found:not([hidden])")
    assert page.inner_text("#team-name") == odd[3] and page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.click("#team-back")
    upload(page, "id,name\n" + f'"{odd[1]}",Ann Lee\n', kind="names", name="names.csv")
    until(page, "document.querySelector('#drop-names').textContent.includes('names.csv: 1 rows')")
    page.wait_for_selector("#rate-go:enabled")
    page.fill("#filter", "ann lee")
    assert page.locator("#leaderboard tbody a").all_inner_texts() == ["Ann Lee"]
    upload(page, "\x00 broken", kind="fixtures", name="broken.csv")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_visible("#leaderboard")  # a bad file costs nothing
    page.click("#compare-go")
    until(page, "document.querySelector('#compare-words').textContent.startsWith('Trying KalmanElo, 1 of')")
    page.click("#compare-stop")
    assert page.inner_text("#compare-words") == "The comparison was stopped." and page.is_hidden("#compare-working")


def test_the_first_answer_is_whether_the_rating_system_is_any_good(visit):
    page = visit("#rate")
    page.click("#sample")
    # The compiled loops may have to be made first.
    page.wait_for_selector("#audit-found:not([hidden])", timeout=120_000)
    assert "K = 32 " in page.inner_text("#audit-verdict")
    assert page.evaluate("document.querySelector('#rated').firstElementChild.id") == "audit"
    theory, dots = (page.eval_on_selector("#audit-chart", f"node => node.data[{n}].y.length") for n in (1, 2))
    assert theory == dots > 20
    best = re.search(r"Best K = ([\d.]+)", page.inner_text("#audit-gain")).group(1)
    assert page.eval_on_selector("#audit-chart", "node => node.data[3].x[0]") == pytest.approx(float(best), rel=0.01)
    assert page.locator("#audit-bands tbody tr").count() == 5
    page.fill("#audit-k", "400")
    page.click("#audit-form button")
    assert page.is_visible("#audit-cancel") and page.is_hidden("#audit-found")
    page.click("#audit-cancel")
    until(page, "document.querySelector('#audit-verdict').textContent === 'The audit was cancelled.'")
    page.fill("#audit-k", "0")
    page.eval_on_selector("#audit-form", "form => { form.noValidate = true; form.requestSubmit(); }")
    until(page, "document.querySelector('#audit-verdict').textContent.startsWith('K must be')")
    assert page.is_visible("#leaderboard")


def test_a_session_is_saved_to_one_file_and_opened_again(visit, tmp_path):
    page = visit("#rate")
    upload(page, GOOD, name="$ league 😀.csv")
    page.wait_for_selector("#rate-go")
    page.select_option("#rater", "glicko")
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    board = page.inner_text("#leaderboard")
    with page.expect_download() as waiting:
        page.click("#download-session")
    waiting.value.save_as(tmp_path / "mine.json")
    other = visit("#rate")
    other.set_input_files("#file-session", tmp_path / "mine.json")
    other.wait_for_selector("#rated:not([hidden])")
    assert other.inner_text("#leaderboard") == board and other.input_value("#rater") == "glicko"
    assert "$ league 😀.csv: 160 rows" in other.inner_text("#drop-results")


LINEUPS = "match_id,side,player\n" + "\n".join(f"{k},{side},P{k % 9}" for k in range(160) for side in ("home", "away"))


def drop(page, selector: str, *names: str, text: str = GOOD) -> None:
    """Drop files on an element, as a hand would; what the page does not stop would replace it."""
    stopped = page.evaluate(
        """([selector, names, text]) => {
          const transfer = new DataTransfer();
          for (const name of names) transfer.items.add(new File([text], name, { type: "text/csv" }));
          const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
          const node = document.querySelector(selector);
          return ["dragover", "drop"].every((kind) => !node.dispatchEvent(new DragEvent(kind, options)));
        }""",
        [selector, names, text],
    )
    assert stopped


@pytest.mark.long
def test_a_file_that_misses_its_zone_does_not_replace_the_page(visit):
    page = visit("?teams=20")
    drop(page, "h1", "league.csv")
    assert "on the Rate tab" in page.inner_text("#toast")
    page.click("#tab-rate")
    drop(page, "#drop-results", "a.csv", "b.csv")
    assert "One file at a time" in page.inner_text("#toast")
    drop(page, "#drop-results", "league.csv")
    page.wait_for_selector("#rate-go:enabled")
    assert "league.csv: 160 rows" in page.inner_text("#drop-results")


@pytest.mark.long
def test_files_dropped_while_the_lab_is_busy_wait_their_turn_and_can_be_taken_back(visit):
    page = visit("#rate")
    words = page.inner_text("#drop-lineups span")
    drop(page, "#drop-results", "league.csv")
    drop(page, "#drop-lineups", "teams.csv", text=LINEUPS)
    until(page, "document.querySelector('#drop-lineups').textContent.includes('teams.csv: 320 rows')")
    page.wait_for_selector("#rate-go:enabled")
    assert "league.csv" in page.inner_text("#drop-results") and page.input_value("#rater") == "player"
    page.click("#remove-lineups")
    page.wait_for_selector("#remove-lineups", state="hidden")
    assert page.inner_text("#drop-lineups span") == words and page.input_value("#rater") == "team"
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    page.click("#remove-results")
    page.wait_for_selector("#mapping", state="hidden")
    assert page.is_hidden("#rated")


@pytest.mark.long
def test_no_old_leaderboard_stands_under_new_file_names(visit):
    page = visit("#rate")
    upload(page, GOOD)
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    upload(page, "\x00 broken", name="broken.csv")  # not read: the old file and its ratings stay
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_visible("#rated") and "league.csv" in page.inner_text("#drop-results")
    upload(page, "home,away\nA,B\n", name="other.csv")
    until(page, "document.querySelector('#drop-results').textContent.includes('other.csv')")
    assert page.is_hidden("#rated")
    page.click("#rate-go")
    page.wait_for_selector("#rate-error:not([hidden])")
    assert page.is_hidden("#rated")


def test_the_paper_is_made_with_progress_and_can_be_cancelled(visit):
    page = visit("#paper")
    page.click("#make-quick")
    until(page, "document.querySelector('#paper-label')?.textContent.includes('of 11 figures')", 60)
    page.click("#paper-cancel")
    page.wait_for_selector("#make-quick")
    assert "ended before it was done" in page.inner_text("#toast")


def test_a_report_is_shown_and_replaced_only_after_a_question(visit, lab):
    make_report(lab)
    page = visit("#paper")
    page.wait_for_selector(".claims")
    assert "as they say" in page.inner_text(".claims q >> nth=0") and page.locator(".badge.fails").count() == 1
    assert page.get_attribute(".pictures a", "href").startswith("/paper/full/figure-01.png")
    assert page.evaluate("document.querySelector('#paper-content').firstElementChild.className") == "pictures"
    assert page.locator(".filter button").all_inner_texts() == [
        "all (3)", "holds (1)", "does not hold (1)", "depends (1)",
    ]  # fmt: skip
    page.click(".filter >> text=depends")
    shown = page.locator(".claims:not(.untested) tbody tr:visible")
    assert shown.count() == 1 and "steeper" in shown.inner_text()
    questions = []
    page.on("dialog", lambda dialog: (questions.append(dialog.message), dialog.dismiss()))
    page.click("#make-full")
    assert "holds a report already" in questions[0] and page.is_visible("#make-full")
    page.click("#make-quick")  # goes into a folder of its own: no question
    page.wait_for_selector("#paper-cancel")
    assert len(questions) == 1
    page.click("#paper-cancel")
    page.wait_for_selector("#make-quick")


@pytest.mark.long
def test_a_page_comes_back_after_the_server_was_killed(visit, lab):
    page = visit("?teams=40#rate")
    upload(page, GOOD)
    page.wait_for_selector("#rate-go")
    page.click("#rate-go")
    page.wait_for_selector("#rated:not([hidden])")
    page.click("#tab-explore")
    wait_for_frames(page, 2)
    lab.kill()
    page.wait_for_selector("#banner:not([hidden])")
    assert "does not answer" in page.inner_text("#banner")
    assert page.evaluate("document.querySelector('.controls').inert && document.querySelector('.player').inert")
    assert page.eval_on_selector(".verdict", "node => node.classList.contains('waiting')")
    lab.start()
    page.wait_for_selector("#connection[data-state=open]")
    assert page.is_hidden("#banner") and not page.evaluate("document.querySelector('.controls').inert")
    until(page, "Number(document.body.dataset.frames) < 50")
    wait_for_frames(page, 3)
    assert page.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 40
    page.click("#tab-rate")
    until(page, "document.querySelector('#toast').textContent.includes('read again')")
    page.select_option("#what-away", "C")
    until(page, "document.querySelector('#what-answer .chances')?.ariaLabel.includes('C wins')")


def _fulfil(body: str, route) -> None:
    route.fulfill(content_type="text/html", body=body)


@pytest.mark.long
def test_a_link_with_the_token_works_from_any_page(browser, tmp_path):
    """The first visit comes from another site, and so does a later one without the token."""
    guarded = Lab(tmp_path, "--host", "0.0.0.0")
    try:
        own = f"http://127.0.0.1:{guarded.port}/"
        token = guarded.address.partition("?")[2]
        context = browser.new_context()
        page = context.new_page()
        for address in (f"{own}?{token}&teams=20", f"{own}?teams=30"):
            foreign = f"<a href='{address}'>the lab</a>"
            page.route("http://other.example/", partial(_fulfil, foreign))
            page.goto("http://other.example/")
            page.click("a")
            page.wait_for_selector("#connection[data-state=open]", timeout=60_000)
            assert "token" not in page.url
            page.unroute("http://other.example/")
        context.close()
    finally:
        guarded.kill()


def test_a_link_holds_everything_and_charts_can_be_taken_away(visit):
    page = visit(
        "?teams=20&seed=7&speed=200&paused=1&units=elo&gamma=0.3&pin=gamma%3D0.05%26sigma%3D2", accept_downloads=True
    )
    until(page, "document.querySelector('#league-chart').data?.[5]?.x.length > 10")
    assert page.inner_text("#pause") == "Play" and page.inner_text("#speed-value") == "200 a second"
    controls = Controls(teams=20, gamma=0.3)
    factor = controls.elo_points
    assert page.inner_text("output[for=control-gamma]") == f"K = {2 * 0.3 * factor:.3g}"
    drawn_at = page.eval_on_selector(
        "#league-chart", "node => [[...node.data[4].x], [...node.data[4].y], [...node.data[5].y]]"
    )
    assert drawn_at[0] == pytest.approx(1500 + (controls.strengths().theta - 7) * factor, abs=0.01)
    assert drawn_at[1] == pytest.approx(1500 + (controls.first_ratings(7) - 7) * factor, abs=0.1)  # it has not begun
    pinned = predicted_map(Controls(gamma=0.05, sigma=2.0))
    assert drawn_at[2] == pytest.approx((1500 + (pinned.rating - 7) * factor).tolist(), abs=0.1)
    assert f"slope {pinned.slope:.2f}, luck ± {pinned.luck:.2f} points" in page.inner_text("#pinned")
    first = python_lines(controls, 7, 0)
    assert page.text_content("#python") == first
    with page.expect_download() as waiting:
        page.click(".chart-league .exports >> text=CSV")
    rows = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert rows[0] == "trace,x,y,z" and sum(row.startswith("teams,") for row in rows) == 20
    with page.expect_download() as waiting:
        page.click(".chart-league .exports >> text=SVG")
    assert "<svg" in Path(waiting.value.path()).read_text(encoding="utf-8")[:300]
    page.click("#pin")
    page.click("#pause")
    page.select_option("#preset", "football")
    page.select_option("#units", "paper")
    assert "pin=" not in page.url and "paused" not in page.url and "units" not in page.url and "ties=0.25" in page.url
    assert "seed=7" in page.url and "speed=200" in page.url


def test_advice_is_applied_with_one_press(visit):
    page = visit("?teams=20")
    page.wait_for_selector("#apply:not([hidden])")
    offer = whole_answer(Controls(teams=20)).offer
    assert page.inner_text("#apply") == f"Apply γ = {offer.gamma:.3g}"
    assert f"± {offer.luck:.2f} points" in page.inner_text("#advice")  # the price is shown first
    page.click("#whole summary")
    with page.expect_download() as waiting:
        page.click("#share-diagnosis")
    shared = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "Content-Security-Policy" in shared and f"slope {whole_answer(Controls(teams=20)).slope:.3f}" in shared
    page.click("#apply")
    until(page, "location.search.includes('gamma=0.6')")


@pytest.mark.parametrize("width", [390, 800, 1440])
def test_cause_and_effect_are_on_one_screen(visit, width):
    page = visit("?teams=20", viewport={"width": width, "height": 844})
    wait_for_frames(page, 1)
    page.eval_on_selector("#league-chart", "node => node.scrollIntoView({ block: 'start' })")
    page.evaluate("window.scrollBy(0, -60)")
    seen = page.evaluate(
        """() => ["league-chart", "control-sigma"].map((id) => {
          const box = document.getElementById(id).getBoundingClientRect();
          return box.top >= 0 && box.top + 30 < innerHeight;
        })"""
    )
    assert seen == [True, True]


def scene(page, number: int, step) -> None:
    """Do something that leads to a scene, and wait until it is drawn."""
    before = page.evaluate("Number(document.body.dataset.pictures ?? 0)")
    step()
    until(page, f"document.body.dataset.scene === '{number}' && Number(document.body.dataset.pictures) > {before}")


def drawn(page, chart: int, name: str) -> tuple[list[float], list[float]]:
    """The coordinates of a trace as the browser drew them."""
    return page.evaluate(
        """([chart, name]) => {
          const trace = document.querySelectorAll("#guide-charts .chart")[chart].data.find((one) => one.name === name);
          return [[...trace.x], [...trace.y]];
        }""",
        [chart, name],
    )


def test_the_guided_visit_shows_the_numbers_of_the_library(visit):
    page = visit("#guide/1?units=paper", reduced_motion="reduce", viewport={"width": 390, "height": 844})
    until(page, "document.body.dataset.scene === '1'")

    def turn() -> None:  # by the keyboard alone
        page.focus("#guide-next")
        page.keyboard.press("Enter")

    tanh, elo = kn.Tanh(nu=0.5), 400 / np.log(10)
    gamma = 16 / elo
    assert drawn(page, 0, "after")[0] == pytest.approx([gamma, -gamma], abs=1e-4)
    page.focus("#guide-control-gap")
    for _ in range(10):  # each press is a tenth of a point
        scene(page, 1, lambda: page.keyboard.press("ArrowRight"))
    assert drawn(page, 1, "this match")[1] == pytest.approx([gamma * (1 - tanh.b(1.0))], abs=1e-4)
    assert "gap=1" in page.url and "units=paper" in page.url

    scene(page, 2, turn)
    share = (1 + kn.expected_result(tanh, kn.Normal([0.0, 2.0], sigma=1.0))[1, 0]) / 2
    assert drawn(page, 1, "these teams") == [[2.0], pytest.approx([share], abs=1e-4)]
    scene(page, 3, turn)
    assert len(drawn(page, 0, "wins")[0]) + len(drawn(page, 0, "defeats")[0]) == 50
    flat = kn.expected_result(tanh, kn.Normal([0.0, 3.0], sigma=1.0))[1, 0]
    assert drawn(page, 1, "where it is zero")[0] == pytest.approx([2 * np.arctanh(flat)], abs=1e-4)
    scene(page, 4, turn)
    system = kn.RatingSystem(tanh, gamma=gamma)
    state = kn.stationary(system, kn.Continuum((4, 10), 1.0, nodes=40), noise="gaussian")
    assert drawn(page, 0, "theory")[1] == pytest.approx((state.rating - 7).tolist(), abs=1e-3)
    assert len(drawn(page, 0, "teams")[1]) == 100 and page.is_visible("#guide-play")
    scene(page, 5, turn)
    large = kn.RatingSystem(tanh, gamma=4 * gamma)
    wide = kn.stationary(large, kn.Continuum((4, 10), 1.0, nodes=40), noise="gaussian")
    assert drawn(page, 1, "theory")[1] == pytest.approx((wide.rating - 7).tolist(), abs=1e-3)
    scene(page, 6, turn)
    fair = kn.unbiased_gamma(tanh, kn.Continuum((4, 10), 1.0, nodes=40))
    assert drawn(page, 0, "fair step")[0] == pytest.approx([fair], abs=1e-3)
    chart = page.locator("#guide-charts .chart").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    scene(page, 6, lambda: page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 150))  # the point is dragged
    assert drawn(page, 0, "your step")[0][0] > 0.7
    scene(page, 7, turn)
    best = kn.best_gamma(tanh, kn.Fixed([7.0] * 20), kn.Form(rate=0.01, spread=1.0))
    assert drawn(page, 1, "best step") == [
        pytest.approx([best.gamma], abs=1e-4), pytest.approx([best.error**0.5], abs=1e-4)
    ]  # fmt: skip
    turn()
    assert page.is_visible("#guide-doors") and page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("[data-door=explore]")
    assert page.is_visible("#explore") and float(re.search(r"gamma=([\d.]+)", page.url).group(1)) > 0.7
