"""A lab that is really running, and a browser to look at it with: one of each for all tests of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from running_lab import CHROMIUM, Lab

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


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    running = Lab(tmp_path_factory.mktemp("lab"))
    yield running
    running.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def window(browser) -> Iterator:
    """A window whose first tab stays open: another tab costs a fraction of another window."""
    context = browser.new_context()
    context.new_page()
    yield context
    context.close()


@pytest.fixture(scope="session")
def scripts(window, lab: Lab) -> None:
    """Tabs of one site share a process: while the first shows the lab, its scripts are compiled once."""
    first = window.pages[0]
    first.route("**/static/main.js", lambda route: route.abort())
    first.goto(lab.address)


@pytest.fixture
def tab(window) -> Iterator[Callable]:
    """Open an empty tab; errors of its page fail the test. What a visit stores is gone once the test has ended."""
    opened, complaints = [], []

    def open_tab(width: int = 1280, height: int = 900):
        page = window.new_page()
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(90_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_tab
    for page in opened:
        if not page.is_closed():
            page.evaluate("localStorage.clear()")
            page.close()
    assert not complaints


@pytest.fixture
def visit(tab: Callable, lab: Lab, scripts) -> Callable:
    """Open the lab at a path, in a tab of its own, once it is connected.

    Unless it is the ``first`` visit, the visitor has been here before. ``media`` are colour scheme and motion.
    """

    def open_page(path: str = "", *, first: bool = False, size: tuple[int, int] = (1280, 900), at: Lab = lab, **media):
        page = tab(*size)
        page.emulate_media(**media)
        if not first:
            page.add_init_script("localStorage.setItem('kinelo-visited', 'yes')")
        page.goto(at.address + path)
        page.wait_for_selector("#connection[data-state=open]")
        return page

    return open_page
