"""The guided visit in a real browser."""

from __future__ import annotations

import numpy as np
import pytest
from browser_steps import accessible, skip_without_browser, until

import kinelo as kn

skip_without_browser()
pytestmark = pytest.mark.browser


PHONE = (390, 844)


def arrive(page, number: int) -> None:
    until(page, f"document.body.dataset.scene === '{number}'")


def drawn(page, name: str, chart: str = "guide-chart") -> tuple[list[float], list[float]]:
    """The coordinates of a trace as the browser drew them."""
    return page.evaluate(
        """([chart, name]) => {
          const trace = document.getElementById(chart).data.find((one) => one.name === name);
          return [[...trace.x], [...trace.y]];
        }""",
        [chart, name],
    )


def shown(page) -> list[str]:
    """Names of the traces that can be seen."""
    return page.evaluate(
        "document.getElementById('guide-chart').data.filter((one) => one.visible && one.name).map(({ name }) => name)"
    )


def answer(page, text: str) -> None:
    page.click(f"#guide-answers button >> text={text}")


def test_the_guided_visit_asks_plays_and_says_what_the_library_computes(visit):
    page = visit("#guide/1?units=paper", reduced_motion="reduce", size=PHONE)
    arrive(page, 1)
    law, elo = kn.Tanh(nu=0.5), 400 / np.log(10)
    gamma = 16 / elo
    league = kn.Continuum((4, 10), 1.0, nodes=40)
    assert shown(page) == ["Ashford wins"] and page.is_hidden("#guide-sentence") and page.is_hidden("#guide-hand")
    accessible(page, "#guide", contrast=False)
    page.click("#guide-answers button >> nth=0")
    assert page.inner_text("#guide-reply").startswith("Not quite: 0.14") and page.is_visible("#guide-sentence")
    page.click("#guide-more summary")
    accessible(page, "#guide")
    page.focus("#guide-slider")
    for _ in range(4):  # each press is 50 Elo points
        page.keyboard.press("ArrowLeft")
    assert drawn(page, "this lead")[1] == pytest.approx([gamma, -gamma], abs=1e-4) and "lead=0" in page.url
    assert page.inner_text("#guide-sentence").startswith("Level with Yarm")

    def turn(number: int, choice: int) -> None:  # by the keyboard alone
        page.focus("#guide-next")
        page.keyboard.press("Enter")
        arrive(page, number)
        page.focus(f"#guide-answers button >> nth={choice}")
        page.keyboard.press("Enter")
        page.click("#guide-more summary")
        accessible(page, "#guide", contrast=number == 4)  # the scene whose control is no slider

    turn(2, 2)
    assert page.inner_text("#guide-reply").startswith("Right")
    share = (1 + kn.expected_result(law, kn.Normal([0.0, 300 / elo], sigma=175 / elo))[1, 0]) / 2
    assert drawn(page, "Ashford and Yarm", "guide-beside")[1] == pytest.approx([share], abs=1e-4)
    turn(3, 2)
    flat = kn.expected_result(law, kn.Normal([0.0, 525 / elo], sigma=175 / elo))[1, 0]
    assert drawn(page, "where the rating settles")[0] == pytest.approx([2 * np.arctanh(flat)], abs=1e-3)
    turn(4, 1)
    state = kn.stationary(kn.RatingSystem(law, gamma=gamma), league, noise="gaussian")
    assert drawn(page, "theory")[1] == pytest.approx((state.rating - 7).tolist(), abs=2e-3)
    assert len(drawn(page, "teams")[1]) == 100 and page.is_visible("#guide-play")
    page.click("#guide-control button >> text=upside down")
    assert "upside down" in page.inner_text("#guide-sentence") and "start=reversed" in page.url
    turn(5, 1)
    assert len(drawn(page, "γ = 0.368")[0]) == 100
    turn(6, 1)
    fair = kn.unbiased_gamma(law, league)
    assert drawn(page, "right on average")[0] == pytest.approx([fair], abs=1e-3)
    page.focus("#guide-slider")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert "too far apart" in page.inner_text("#guide-sentence") and "k=320" in page.url
    turn(7, 1)
    best = kn.best_gamma(law, kn.Fixed([7.0] * 20), kn.Form(rate=0.01, spread=1.0))
    assert drawn(page, "best step", "guide-beside") == [
        pytest.approx([best.gamma], rel=1e-3), pytest.approx([best.error**0.5], rel=1e-3)
    ]  # fmt: skip
    page.click("#guide-next")
    assert page.is_visible("#guide-doors")
    accessible(page, "#guide")
    page.click("[data-door=explore]")
    assert page.is_visible("#explore") and page.input_value("#units") == "paper"
    assert "gamma=0.921" in page.url  # the step of the sixth scene


def test_the_picture_answers_the_hand_without_the_server(visit, lab):
    page = visit("#guide/3?days=100", reduced_motion="reduce")
    arrive(page, 3)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    before = drawn(page, "where the rating settles")
    page.eval_on_selector("#guide-slider", "(node) => { node.value = 16; node.dispatchEvent(new Event('input')); }")
    assert drawn(page, "where the rating settles") != before and "days=400" in page.url
    assert not [url for url in asked if "/api/guide/3" in url]


@pytest.mark.parametrize("size", [(390, 844), (720, 450), (1440, 900)])
def test_picture_control_and_next_are_on_one_screen_and_nothing_covers_the_picture(visit, size):
    """Half of 1440 × 900 is what a zoom of 200 % leaves."""
    page = visit("#guide/2", reduced_motion="reduce", size=size)
    arrive(page, 2)
    page.click("#guide-answers button >> nth=2")
    page.click("#guide-next")
    arrive(page, 3)
    page.click("#guide-answers button >> nth=2")
    page.wait_for_timeout(100)
    boxes = page.evaluate(
        """() => Object.fromEntries(["guide-title", "guide-chart", "guide-slider", "guide-next"].map((id) => {
          const { top, bottom } = document.getElementById(id).getBoundingClientRect();
          return [id, [top, bottom]];
        }))"""
    )
    foot = page.evaluate("document.querySelector('.guide-foot').getBoundingClientRect().top")
    head = page.evaluate("Math.max(0, document.querySelector('.top').getBoundingClientRect().bottom)")
    assert head <= boxes["guide-title"][0] < head + 40  # after Next the title is at the top
    assert boxes["guide-chart"][0] >= 0 and boxes["guide-chart"][1] <= foot + 1
    assert boxes["guide-slider"][1] <= size[1] and boxes["guide-next"][1] <= size[1]


def test_arrows_lead_from_scene_to_scene(visit):
    page = visit("#guide/1", reduced_motion="reduce")
    arrive(page, 1)
    page.keyboard.press("ArrowRight")
    arrive(page, 2)
    page.keyboard.press("ArrowRight")  # the title has the focus now
    arrive(page, 3)
    page.focus("#guide-next")
    page.keyboard.press("ArrowLeft")
    arrive(page, 2)
    page.click("#guide-answers button >> nth=2")
    page.focus("#guide-slider")
    page.keyboard.press("ArrowRight")  # a slider moves by arrows itself
    assert page.evaluate("document.body.dataset.scene") == "2" and "days=200" in page.url
