"""The guided visit in a real browser."""

from __future__ import annotations

import numpy as np
import pytest
from browser_steps import accessible, address, skip_without_browser, until

import kinelo as kn
from kinelo.lab.guide.scenes import described_scenes, scene_pictures

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
    league = kn.theory.Continuum((4, 10), 1.0, nodes=40)
    assert shown(page) == ["Ashford wins"] and page.is_hidden("#guide-sentence") and page.is_hidden("#guide-hand")
    accessible(page, "#guide", contrast=False)
    page.click("#guide-answers button >> nth=0")
    assert page.inner_text("#guide-reply").startswith("Not quite: 0.14") and page.is_visible("#guide-sentence")
    page.click("#guide-more summary")
    accessible(page, "#guide")
    page.focus("#guide-slider")
    for _ in range(4):  # each press is 50 Elo points
        page.keyboard.press("ArrowLeft")
    assert drawn(page, "this lead")[1] == pytest.approx([gamma, -gamma], abs=1e-4) and "lead=0" in address(page)
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
    assert "upside down" in page.inner_text("#guide-sentence") and "start=reversed" in address(page)
    turn(5, 1)
    assert len(drawn(page, "γ = 0.368")[0]) == 100
    turn(6, 1)
    fair = kn.unbiased_gamma(law, league)
    assert drawn(page, "right on average")[0] == pytest.approx([fair], abs=1e-3)
    page.focus("#guide-slider")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert "too far apart" in page.inner_text("#guide-sentence") and "k=320" in address(page)
    turn(7, 1)
    best = kn.best_gamma(law, kn.Fixed([7.0] * 20), kn.model.Form(rate=0.01, spread=1.0))
    assert drawn(page, "best step", "guide-beside") == [
        pytest.approx([best.gamma], rel=1e-3), pytest.approx([best.error**0.5], rel=1e-3)
    ]  # fmt: skip
    page.click("#guide-next")
    assert page.is_visible("#guide-doors")
    accessible(page, "#guide")
    page.click("[data-door=explore]")
    assert page.is_visible("#explore") and page.input_value("#units") == "paper"
    assert "gamma=0.921" in address(page)  # the step of the sixth scene


def test_the_picture_answers_the_hand_without_the_server(visit, lab):
    page = visit("#guide/3?days=100", reduced_motion="reduce")
    arrive(page, 3)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    before = drawn(page, "where the rating settles")
    page.eval_on_selector("#guide-slider", "(node) => { node.value = 16; node.dispatchEvent(new Event('input')); }")
    assert drawn(page, "where the rating settles") != before and "days=400" in address(page)
    assert not [url for url in asked if "/api/guide/3" in url]


PLACES = """() => {
  const box = (id) => document.getElementById(id).getBoundingClientRect();
  const seen = (id) => !document.getElementById(id).hidden && box(id).height > 0;
  const head = Math.max(0, document.querySelector(".top").getBoundingClientRect().bottom);
  const foot = document.querySelector(".guide-foot").getBoundingClientRect();
  const above = ["guide-title", "guide-chart", "guide-question", "guide-reply", "guide-sentence"].filter(seen);
  const below = ["guide-answers", "guide-hand", "guide-next"].filter(seen);
  const faults = [
    ...above.filter((id) => box(id).top < head - 1 || box(id).bottom > foot.top + 1),
    ...below.filter((id) => box(id).top < foot.top || box(id).bottom > innerHeight),
    ...(foot.bottom > innerHeight + 1 ? ["foot"] : []),
  ];
  return [faults, [...above, ...below], box("guide-title").top - head, box("guide-chart").height];
}"""

STOPS = """(apart) => {
  const slider = document.getElementById("guide-slider");
  const stops = slider ? Number(slider.max) + 1 : 3;
  return [...Array(stops).keys()].filter((at) => at % apart === 0 || at === stops - 1).map((at) => {
    if (!slider) document.querySelectorAll("#guide-control button")[at].click();
    else { slider.value = at; slider.dispatchEvent(new Event("input")); }
    return (PLACES)();
  });
}""".replace("PLACES", PLACES)


@pytest.mark.parametrize("apart", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("size", [(390, 844), (1280, 640), pytest.param((1920, 1080), marks=pytest.mark.long)])
def test_chart_control_sentence_and_next_are_on_one_screen_in_every_scene(visit, size, apart):
    """The question with its answers, then the sentence, uncovered and readable.

    At stops of the control, every sixth or all, where the screen is narrow or low; wider and higher only letters grow.
    """
    page = visit("#guide/1", reduced_motion="reduce", size=size)
    for number in range(1, 8):
        arrive(page, number)
        faults, seen, _, _ = page.evaluate(PLACES)
        assert faults == [] and seen == ["guide-title", "guide-chart", "guide-question", "guide-answers", "guide-next"]
        page.click("#guide-answers button >> nth=0")
        faults, seen, lead, height = page.evaluate(PLACES)
        assert faults == [] and {"guide-reply", "guide-sentence", "guide-hand"} <= set(seen), number
        assert height >= 0.35 * size[1]  # the picture gives way, but is not given up
        assert 0 <= lead < 40  # the title is at the top
        for at, (faults, _, _, _) in enumerate(page.evaluate(STOPS, apart) if size[1] < 1000 else ()):
            assert faults == [], (number, at)
        legend = page.evaluate("document.getElementById('guide-chart')._fullLayout.legend.font.size")
        assert legend >= {390: 12, 1280: 13, 1920: 16}[size[0]]
        page.click("#guide-next")


def test_picture_control_and_next_are_on_one_screen_at_twice_the_size(visit):
    """Half of 1440 × 900 is what a zoom of 200 % leaves."""
    page = visit("#guide/2", reduced_motion="reduce", size=(720, 450))
    arrive(page, 2)
    page.click("#guide-next")
    arrive(page, 3)
    page.click("#guide-answers button >> nth=2")
    faults, seen, _, _ = page.evaluate(PLACES)
    assert {"guide-chart", "guide-hand", "guide-next"} <= set(seen) - set(faults)


def test_what_was_guessed_is_judged_only_where_it_was_asked(visit):
    page = visit("#guide/3", reduced_motion="reduce")
    arrive(page, 3)
    page.click("#guide-answers button >> nth=0")
    assert page.inner_text("#guide-reply") == "Not quite: 91 %."
    page.keyboard.press("ArrowRight")
    assert page.is_hidden("#guide-reply") and "91 %" not in page.inner_text("#guide-sentence")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#guide-reply") == "Not quite: 91 %." and "91 %" in page.inner_text("#guide-sentence")


def test_arrows_move_the_control_and_page_keys_turn_wherever_the_focus_is(visit):
    page = visit("#guide/1", reduced_motion="reduce")
    arrive(page, 1)
    page.keyboard.press("ArrowRight")  # nothing to move before the guess
    assert page.evaluate("document.body.dataset.scene") == "1" and "lead" not in address(page)
    page.keyboard.press("PageDown")
    arrive(page, 2)
    page.click("#guide-answers button >> nth=2")
    page.keyboard.press("ArrowRight")  # the slider has the focus
    assert "days=200" in address(page) and page.input_value("#guide-slider") == "8"
    page.focus("#guide-next")
    page.keyboard.press("ArrowRight")
    assert "days=225" in address(page) and page.input_value("#guide-slider") == "9"
    page.keyboard.press("ArrowLeft")
    assert "days=200" in address(page) and page.evaluate("document.body.dataset.scene") == "2"
    page.focus("#guide-slider")
    page.keyboard.press("PageDown")
    arrive(page, 3)
    page.keyboard.press("PageDown")  # the title has the focus now
    arrive(page, 4)
    page.click("#guide-answers button >> nth=1")
    page.focus("#guide-play")
    page.keyboard.press("ArrowRight")  # a control of buttons moves alike
    assert "start=" in address(page) and page.get_attribute("#guide-control button >> nth=1", "aria-pressed") == "true"
    page.keyboard.press("PageUp")
    arrive(page, 3)


def test_titles_ask_and_the_picture_of_the_scene_before_is_gone_while_one_is_drawn(visit):
    """The title says what the scene shows once the visitor has guessed; a slow answer leaves no picture standing."""
    page = visit("#guide/3", reduced_motion="reduce")
    arrive(page, 3)
    asked = described_scenes()
    assert page.inner_text("#guide-title") == asked[2]["title"] and asked[2]["title"].endswith("?")
    page.click("#guide-answers button >> nth=1")
    assert page.inner_text("#guide-title") == asked[2]["answer"] and page.is_visible("#guide-chart")
    held = []
    page.route("**/api/guide/5*", lambda route: held.append(route))
    page.click("#guide-next")
    arrive(page, 4)
    page.click("#guide-answers button >> nth=1")
    page.click("#guide-next")
    assert page.inner_text("#guide-title") == asked[4]["title"] and page.is_hidden("#guide-chart")
    assert page.inner_text("#guide-question").startswith("Drawing") and page.is_hidden("#guide-more")
    held[0].continue_()
    arrive(page, 5)
    assert page.is_visible("#guide-chart")


def test_those_who_share_a_lab_see_how_many_guessed_what(tab, lab, scripts):
    """Counts by answers, of all who guessed, to those who have; in a lab of one visitor nothing is counted."""

    def about(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "join": lab.address})

    def guesser(choice: int, *, shared: bool = True):
        page = tab()
        page.emulate_media(reduced_motion="reduce")
        if shared:
            page.route("**/api/about", about)
        page.goto(f"{lab.address}#guide/2")
        arrive(page, 2)
        assert page.is_hidden("#guide-class")
        page.click(f"#guide-answers button >> nth={choice}")
        return page

    alone = guesser(2, shared=False)
    pages = [guesser(choice) for choice in (1, 0, 1)]
    counted = "document.querySelector('#guide-class').textContent"
    more, still, less = scene_pictures(2)["question"]["answers"]
    words = f"Guessed here: {more}: 1 · {still}: 2 · {less}: 0"
    for page in (pages[-1], pages[0]):  # the first follows those who came after it
        until(page, f"{counted} === {words!r}")
    assert alone.is_hidden("#guide-class")
    pages[0].click("#guide-next")
    assert pages[0].is_hidden("#guide-class")
