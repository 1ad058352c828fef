"""A lab that is really running, and a browser to look at it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from running_lab import CHROMIUM, Lab

OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    running = Lab(tmp_path_factory.mktemp("lab"))
    yield running
    running.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture
def visit(browser, lab: Lab) -> Iterator[Callable]:
    """Open the lab at a path, in a fresh window, once it is connected; errors of the page fail the test.

    Unless it is the ``first`` visit, the visitor has been here before.
    """
    contexts, complaints = [], []

    def open_page(path: str = "", first: bool = False, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        if not first:
            context.add_init_script("localStorage.setItem('kinelo-visited', 'yes')")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(lab.address + path)
        page.wait_for_selector("#connection[data-state=open]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
