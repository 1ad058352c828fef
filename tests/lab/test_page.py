"""The page as a whole in a real browser: first paint, history, keyboard, themes, connection."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.request import Request, urlopen

import pytest
from browser_steps import (
    GOOD,
    accessible,
    address,
    make_report,
    run,
    set_slider,
    skip_without_browser,
    until,
    until_drawn,
    upload,
    wait_for_frames,
)
from running_lab import Lab

from patience import PATIENCE

skip_without_browser()
pytestmark = pytest.mark.browser


def test_first_paint_shows_words_before_anything_is_computed(tab, lab):
    page = tab()
    page.route("**/plotly.js", lambda route: route.abort())
    page.route("**/static/main.js", lambda route: route.abort())
    page.goto(lab.address)
    assert page.inner_text("#explore h1") == "What variable strength does to ratings"


def test_a_class_of_thirty_opens_the_page_at_once(lab):
    """Each fetches the page, what it names and the largest script, packed, while all others do; none gets less."""

    def first_visit(_: int) -> tuple[str, ...]:
        got = []
        for path in ("/", "/static/main.js", "/static/theme.css", "/plotly.js"):
            request = Request(lab.address.rstrip("/") + path, headers={"accept-encoding": "gzip"})
            with urlopen(request, timeout=PATIENCE) as answer:
                assert answer.status == 200 and answer.headers["content-encoding"] == "gzip"
                got.append(hashlib.sha256(answer.read()).hexdigest())
        return tuple(got)

    alone = first_visit(0)
    assert len(set(alone)) == 4
    with ThreadPoolExecutor(30) as visitors:
        assert set(visitors.map(first_visit, range(30))) == {alone}


@pytest.mark.long
def test_back_and_forward_stay_within_the_lab(visit):
    page = visit("?teams=20")
    wait_for_frames(page, 1)
    for value in (1.2, 1.4, 1.6):
        set_slider(page, "sigma", value)
    page.select_option("#control-start", "equal")
    page.click("#tab-rate")
    page.click("#tab-paper")
    assert "sigma=1.6" in address(page) and address(page).endswith("#paper")
    page.go_back()
    until(page, "!document.querySelector('#rate').hidden")
    page.go_back()
    until(page, "!document.querySelector('#explore').hidden")
    assert page.input_value("#control-start") == "equal"
    before = run(page)
    page.go_back()
    until(page, f"Number(document.body.dataset.run) > {before}")
    assert (
        page.input_value("#control-start") == "random"
        and page.inner_text("output[for=control-sigma]") == "278 Elo points"
    )
    page.go_back()  # the three moves were one gesture
    until(page, "document.querySelector('output[for=control-sigma]').textContent === '174 Elo points'")
    page.go_forward()
    until(page, "document.querySelector('output[for=control-sigma]').textContent === '278 Elo points'")
    page.evaluate("document.querySelector('#tab-rate').click()")
    page.evaluate("document.querySelector('.skip').click()")
    page.wait_for_timeout(100)
    assert page.is_visible("#rate")


def test_keyboard_alone_reaches_everything(visit):
    page = visit("?teams=20&paused=1")
    until_drawn(page)
    page.focus("#tab-explore")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-rate"
    assert page.is_visible("#rate") and page.is_hidden("#explore") and address(page).endswith("#rate")
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
    assert page.get_attribute("#control-sigma", "aria-valuetext") == "182 Elo points"


def test_dark_and_light(visit):
    page = visit("?teams=20&paused=1", color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize(
    ("width", "theme"),
    [(390, "dark"), *(pytest.param(*wide, marks=pytest.mark.long) for wide in ((800, "dark"), (1440, "light")))],
)
def test_every_tab_is_accessible_at_every_width(visit, lab, width, theme):
    """The scenes of the guide are looked at where they are visited."""
    make_report(lab)
    page = visit(
        "?teams=20&motion=form&pin=gamma%3D0.3&paused=1", color_scheme=theme, reduced_motion="reduce", size=(width, 844)
    )  # fmt: skip
    until(page, "document.querySelector('#headline').textContent.includes('rated')")
    accessible(page, "header")
    for details in page.locator("#explore details:visible summary").all():
        details.click()
    accessible(page, "#explore")
    page.click("#theme")
    accessible(page, "#explore", rest=False)
    page.click("#tab-paper")
    page.wait_for_selector(".claims")
    page.click("#paper-figure-1 summary")
    accessible(page, "#paper")
    page.click("#tab-rate")
    accessible(page, "#rate")
    page.click("#tab-guide")
    until(page, "document.body.dataset.scene === '1'")
    accessible(page, "#guide")
    page.click("#theme")
    accessible(page, "#guide", rest=False)


@pytest.mark.long
def test_a_page_comes_back_after_the_server_was_killed(visit, tmp_path):
    lab = Lab(tmp_path)
    page = visit("?teams=40#rate", at=lab)
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
    lab.kill()


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
            page.wait_for_selector("#connection[data-state=open]")
            assert "token" not in address(page)
            page.unroute("http://other.example/")
        context.close()
    finally:
        guarded.kill()


def test_the_first_visit_opens_the_guide_in_elo_points_and_later_ones_the_sliders(visit):
    page = visit("", first=True)
    until(page, "document.body.dataset.scene === '1'")
    assert (
        page.is_visible("#guide")
        and address(page).endswith("#guide/1")
        and "Elo points" in page.inner_text("#guide-question")
    )
    page.goto(address(page).split("#")[0])
    page.reload()
    page.wait_for_selector("#connection[data-state=open]")
    assert page.is_visible("#explore") and page.input_value("#units") == "elo"


def test_a_link_to_a_league_shows_it_on_the_first_visit_too(visit):
    page = visit("?teams=20&paused=1", first=True)
    until_drawn(page)
    assert page.is_visible("#explore")
    assert page.is_hidden("#join")  # a lab of one's own has no way in


def test_a_shared_lab_shows_the_way_in_as_large_as_the_screen_lets_it(tab, lab, scripts):
    pytest.importorskip("segno")
    from kinelo.lab.serve.settings import code_as_svg

    join = "http://192.168.100.100:8000/?token=abcdefghjk"
    page = tab()
    picture = code_as_svg(join)

    def about(route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "join": join})

    page.route("**/api/about", about)
    page.route("**/join.svg", lambda route: route.fulfill(body=picture, content_type="image/svg+xml"))
    page.goto(lab.address)
    for size in ((390, 844), (1280, 640), (1920, 1080)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.click("#join")
        until(page, "document.querySelector('#join-code').naturalWidth > 0")
        assert page.inner_text("#join-address") == join
        for part in ("#join-title", "#join-code", "#join-address", "#join-sheet button"):
            box = page.locator(part).bounding_box()
            assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= size[0], part
            assert box["y"] + box["height"] <= size[1], part
        assert page.locator("#join-code").bounding_box()["width"] >= 0.5 * min(size)
        accessible(page, "#join-sheet", contrast=False)
        page.keyboard.press("Escape")
        assert page.is_hidden("#join-sheet")
