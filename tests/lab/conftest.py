"""A lab that is really running, and a browser to look at it with: one of each for all tests of a process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from kept import end_all, keep
from running_lab import CHROMIUM, Lab

from patience import PATIENCE

# The address bar prepares pages of its own for every window, which take longer than those of the lab. A list of
# features replaces that of Playwright, so what the tests need of it is named again.
WITHOUT = [
    "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "AimEnabled",
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades", "LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding",
    "PreconnectToSearch", "ThirdPartyStoragePartitioning",
]  # fmt: skip
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--process-per-site", f"--disable-features={','.join(WITHOUT)}",
]  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """What is kept ends with the last test of the browser: while Playwright runs, no other loop of events can."""
    yield
    if nextitem is None or nextitem.get_closest_marker("browser") is None:
        end_all()


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return keep("lab", lambda: Lab(tmp_path_factory.mktemp("lab")), Lab.kill)


@pytest.fixture
def browser() -> Any:
    from playwright.sync_api import sync_playwright

    playwright = keep("playwright", lambda: sync_playwright().start(), lambda one: one.stop())
    start = partial(playwright.chromium.launch, executable_path=CHROMIUM, args=OPTIONS)
    return keep("browser", start, lambda one: one.close())


@pytest.fixture
def window(browser) -> Any:
    """A window whose first tab stays open: another tab costs a fraction of another window."""
    context = keep("window", browser.new_context, lambda one: one.close())
    context.set_default_timeout(1000 * PATIENCE)
    keep("first tab", context.new_page)
    return context


@pytest.fixture
def scripts(window, lab: Lab) -> None:
    """Tabs of one site share a process: while the first shows the lab, its scripts are compiled once."""

    def start():
        first = window.pages[0]
        first.route("**/static/main.js", lambda route: route.abort())
        first.goto(lab.address)
        return first

    keep("scripts", start)


@pytest.fixture
def tab(window) -> Iterator[Callable]:
    """Open an empty tab; errors of its page fail the test. What a visit stores is gone once the test has ended."""
    opened, complaints = [], []

    def open_tab(width: int = 1280, height: int = 900):
        page = window.new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_tab
    for page in opened:
        if not page.is_closed():
            page.evaluate("localStorage.clear()")
            page.close()
    assert not complaints


UNASKED = """(parts) => {
  const { fetch } = window;
  const asks = (path, options) => options?.method === "POST" && parts.some((part) => path.endsWith(part));
  window.fetch = (path, ...rest) => (asks(path, ...rest) ? new Promise(() => {}) : fetch(path, ...rest));
}"""


@pytest.fixture
def visit(tab: Callable, lab: Lab, scripts) -> Callable:
    """Open the lab at a path, in a tab of its own, once it is connected.

    Unless it is the ``first`` visit, the visitor has been here before. Questions that end with a word of ``unasked``
    never reach the lab: what a test does not look at is not computed. ``media`` are colour scheme and motion.
    """

    def open_page(
        path: str = "", *, first: bool = False, size: tuple[int, int] = (1280, 900), at: Lab = lab,
        unasked: Sequence[str] = (), **media: str,
    ):  # fmt: skip
        page = tab(*size)
        page.emulate_media(**media)
        if not first:
            page.add_init_script("localStorage.setItem('kinelo-visited', 'yes')")
        if unasked:
            page.add_init_script(f"({UNASKED})({json.dumps(unasked)})")
        page.goto(at.address + path)
        page.wait_for_selector("#connection[data-state=open]")
        return page

    return open_page
