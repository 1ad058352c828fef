"""The Explore tab in a real browser."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from browser_steps import address, frames, run, set_slider, skip_without_browser, until, until_drawn, wait_for_frames

import kinelo as kn
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.live import python_lines
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.explore.verdict import whole_answer

skip_without_browser()
pytestmark = pytest.mark.browser


def test_league_plays_and_the_verdict_follows(visit):
    page = visit()
    wait_for_frames(page, 5)
    assert page.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 200
    page.locator("#density-chart").scroll_into_view_if_needed()
    until(page, "document.querySelector('#density-chart').data?.[0].z.length > 50")
    until(page, "document.body.dataset.verdictRun === document.body.dataset.run")
    assert "under-rated" in page.inner_text("#headline")
    assert "slope 0.79" in page.get_attribute("#league-chart", "aria-label")


@pytest.mark.long
def test_moving_a_slider_restarts_the_league(visit):
    page = visit("?teams=20")
    wait_for_frames(page, 5)
    for value in (2.0, 0.25):
        before = run(page)
        set_slider(page, "sigma", value)
        until(page, f"Number(document.body.dataset.run) > {before}")
        wait_for_frames(page, 2)
    assert "sigma=0.25" in address(page)


def test_the_address_holds_the_sliders(visit):
    page = visit("?sigma=0&teams=50&law=normal&unknown=1&gamma=9&paused=1")
    until_drawn(page)
    assert page.eval_on_selector("#league-chart", "node => node.data[4].y.length") == 50
    assert page.inner_text("output[for=control-sigma]") == "0 Elo points"
    assert page.inner_text("output[for=control-gamma]") == "K = 347"
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
    until(page, "Boolean(document.body.dataset.foreseenRun)")
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
def test_line_ups_have_sliders_of_their_own(visit):
    page = visit()
    assert page.is_visible("#control-sigma") and not page.is_visible("#control-players")
    page.select_option("#control-law", "lottery")
    assert page.is_visible("#control-players") and not page.is_visible("#control-sigma")
    set_slider(page, "lineup", 12)
    set_slider(page, "players", 12)
    assert page.inner_text("output[for=control-lineup]") == "12"
    until(page, "document.querySelector('#controls').textContent.includes('vary by σ = 0 Elo points')")
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


def test_the_python_of_the_page_plays_the_dots_of_the_page(visit):
    page = visit(
        "?teams=20&motion=form&rate=0.05&seed=3&speed=300&units=paper&pin=teams%3D30%26gamma%3D0.4%26steps%3Dglicko"
    )
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
    form = kn.model.Form(rate=0.05, spread=1.0)
    found = kn.tracking(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1), kn.theory.Continuum((4, 10), 1.0, nodes=40), form)
    assert slope == pytest.approx(found.C / found.V, abs=1e-3)
    assert page.is_visible("#path-chart") and page.is_hidden("#density-chart")
    page.focus("#control-motion")
    page.keyboard.press("ArrowDown")  # from form to a walk
    assert page.is_visible("#control-walk") and page.is_hidden("#control-rate") and "motion=walk" in address(page)
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


def test_a_link_holds_everything_and_charts_can_be_taken_away(visit):
    page = visit("?teams=20&seed=7&speed=200&paused=1&gamma=0.3&pin=gamma%3D0.05%26sigma%3D2")
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
    said = page.inner_text("#pinned")
    assert f"slope {pinned.slope:.2f}, luck ± {pinned.luck * factor:.0f} Elo points" in said
    assert f"ups and downs: {2 * factor:.0f} Elo points, step size: K = {0.1 * factor:.3g})" in said
    first = python_lines(controls, 7, 0, "elo")
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
    now = address(page)
    assert "pin=" not in now and "paused" not in now
    assert all(part in now for part in ("units=paper", "ties=0.25", "seed=7", "speed=200"))


def test_advice_is_applied_with_one_press(visit):
    page = visit("?teams=20&paused=1")
    page.wait_for_selector("#offers button")
    controls = Controls(teams=20)
    answer, units = whole_answer(controls), controls.units("elo")
    right, least = page.locator("#offers button").all_inner_texts()
    assert right == f"Apply {units.step(round(answer.fair.gamma, 3))}: right on average"
    assert least == f"Apply {units.step(0.01)}: misses least"
    said = page.inner_text("#advice")  # the price is shown first
    assert f"luck in a rating is then ± {units.points(answer.fair.luck)} Elo points" in said
    assert f"misses true strength by {units.points(answer.fair.miss)} instead of {units.points(answer.miss)}" in said
    page.click("#whole summary")
    until(page, "document.querySelectorAll('#diagnosis tr').length > 5")
    assert f"slope {answer.slope:.4f}" in page.inner_text("#diagnosis") and "rating 1" in page.inner_text("#diagnosis")
    with page.expect_download() as waiting:
        page.click("#share-diagnosis")
    shared = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert "Content-Security-Policy" in shared and f"slope {answer.slope:.3f}" in shared
    page.click("#offers button >> nth=0")
    until(page, "location.search.includes('gamma=0.613')")
    until(page, "document.querySelector('#headline').textContent.includes('on average, ratings tell')")
    assert page.inner_text("output[for=control-gamma]") == units.step(0.613)


def test_what_cannot_be_played_together_is_disabled_with_the_reason(visit):
    page = visit("?ties=0.25&teams=20&paused=1")
    until_drawn(page)
    disabled = "document.querySelector('#control-steps option[value=glicko]').disabled"
    assert page.evaluate(disabled) and "know no draws" in page.inner_text("#reason-steps")
    set_slider(page, "ties", 0)
    assert not page.evaluate(disabled) and page.is_hidden("#reason-steps")
    page.select_option("#control-steps", "glicko")
    assert page.is_disabled("#control-ties") and "know no draws" in page.inner_text("#reason-ties")
    until(page, "document.querySelector('#headline').textContent.includes('Theory expects')")


def test_nothing_of_an_old_league_stands_under_settings_that_cannot_be_played(visit):
    page = visit("?teams=20&paused=1")
    until(page, "document.querySelectorAll('#facts li').length > 3")
    page.goto(address(page).split("?")[0] + "?teams=20&ties=0.25&steps=glicko")
    until(page, "document.body.dataset.refused === 'yes'")
    assert page.get_attribute(".verdict", "data-state") == "refused" and "know no draws" in page.inner_text("#advice")
    assert page.locator("#facts li, #offers button").count() == 0 and page.text_content("#python") == ""
    assert "cannot be played" in page.inner_text("#headline") and page.locator(".stage.stale").count() == 1
    set_slider(page, "ties", 0)  # what clashes stays within reach
    until(page, "document.querySelector('#headline').textContent.includes('Theory expects')")
    assert page.locator(".stage.stale").count() == 0


ABOVE_THE_FOLD = ("headline", "league-chart", "control-sigma", "control-gamma", "speed")

BOXES = """(ids) => ids.map((id) => {
  const { left, top, right, bottom } = document.getElementById(id).getBoundingClientRect();
  return [left, top, right, bottom];
})"""

TITLES_ON_TICKS = """(id) => {
  const boxes = (part) => [...document.querySelectorAll(`#${id} ${part}`)].map((node) => node.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const pairs = [[".ytitle", ".ytick text"], [".xtitle", ".xtick text"]];
  return pairs.map(([title, ticks]) => {
    const [name] = boxes(title);
    return [boxes(ticks).length, boxes(ticks).filter((one) => meet(one, name)).length];
  });
}"""


@pytest.mark.parametrize("size", [(390, 844), (1280, 640), pytest.param((1920, 1080), marks=pytest.mark.long)])
def test_verdict_chart_and_three_sliders_are_on_the_first_screen(visit, size):
    page = visit("?paused=1", size=size)
    until(page, "document.querySelectorAll('#facts li').length > 3")
    boxes = page.evaluate(BOXES, ABOVE_THE_FOLD)
    head = page.evaluate("document.querySelector('.top').getBoundingClientRect().bottom")
    assert page.evaluate("window.scrollY") == 0
    assert all(head <= top < bottom <= size[1] for _, top, _, bottom in boxes), boxes
    covered = [
        (one, other) for k, one in enumerate(boxes) for other in boxes[k + 1 :]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]  # fmt: skip
    assert covered == []
    assert page.is_hidden("#control-teams") and page.is_hidden("#preset")  # the rest is folded
    for chart in ("league-chart", "density-chart", "curves-chart"):
        page.locator(f"#{chart}").scroll_into_view_if_needed()
        until(page, f"document.querySelectorAll('#{chart} .ytick').length > 1")
        for ticks, under in page.evaluate(TITLES_ON_TICKS, chart):
            assert ticks > 1 and under == 0, chart
    # Nothing sticks to the screen of a phone: what is scrolled to can be read.
    page.locator("#advice").scroll_into_view_if_needed()
    seen = """() => { const { left, top, bottom } = document.querySelector("#advice").getBoundingClientRect();
      return document.querySelector("#advice").contains(document.elementFromPoint(left + 20, (top + bottom) / 2)); }"""
    assert page.evaluate(seen)


def test_what_a_link_sets_beyond_the_first_sliders_is_in_sight(visit):
    page = visit("?sigma=2&paused=1")
    assert page.is_hidden("#control-ties")
    page = visit("?ties=0.25&paused=1")
    assert page.is_visible("#control-ties") and page.is_visible("#preset")


@pytest.mark.long
def test_cause_and_effect_are_on_one_screen(visit):
    page = visit("?teams=20&paused=1", size=(800, 844))
    until_drawn(page)
    for _, top, _, bottom in page.evaluate(BOXES, ABOVE_THE_FOLD):
        assert 0 <= top < bottom <= 844
