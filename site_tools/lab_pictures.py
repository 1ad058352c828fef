"""The pictures of the lab in the documentation, from a running lab: ``python site_tools/lab_pictures.py [NAME …]``.

Needs Chromium and Playwright. A quick reproduction is made first, for the Paper tab.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = {"width": 1280, "height": 860}
PATIENCE = 180.0


def until(page: Page, expression: str) -> None:
    """Wait for something to be true in the page, whose policy forbids Playwright's own way."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(expression):
        if time.monotonic() > end:
            raise TimeoutError(expression)
        page.wait_for_timeout(50)


def guide(page: Page) -> None:
    """The sixth scene, answered."""
    page.click("#tab-guide")
    page.evaluate("location.hash = '#guide/6?k=64'")
    page.reload()
    until(page, "document.body.dataset.scene === '6'")


def explore(page: Page) -> None:
    """A league that has settled."""
    until(page, "document.querySelector('.verdict').dataset.state === 'agree'")
    page.click("#pause")


def rate(page: Page) -> None:
    """The sample league, audited."""
    page.click("#tab-rate")
    page.click("#sample")
    page.wait_for_selector("#audit-found:not([hidden])", timeout=1000 * PATIENCE)
    page.eval_on_selector("#audit", "node => node.scrollIntoView()")
    page.evaluate("scrollBy(0, -80)")


def contests(page: Page) -> None:
    """The made-up races, rated and audited."""
    page.click("#tab-rate")
    page.click("[data-sample=races]")
    page.wait_for_selector("#field-table tbody tr")
    page.wait_for_selector("#audit-found:not([hidden])", timeout=1000 * PATIENCE)
    page.eval_on_selector("#rated-summary", "node => node.scrollIntoView()")
    page.evaluate("scrollBy(0, -80)")


def paper(page: Page) -> None:
    """The first figures."""
    page.click("#tab-paper")
    page.wait_for_selector(".claims")
    page.wait_for_timeout(1000)


SCENES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "guide": ("", guide), "explore": ("?teams=100&speed=800", explore), "rate": ("", rate),
    "contests": ("", contests), "paper": ("", paper),
}  # fmt: skip


def main(names: list[str]) -> None:
    """Take the pictures asked for, or all."""
    folder = Path(tempfile.mkdtemp())
    run = [sys.executable, "-m", "kinelo.cli"]
    wanted = names or list(SCENES)
    if "paper" in wanted:
        subprocess.run([*run, "reproduce", "--scale", "quick", "--out", "reproduction"], cwd=folder, check=True)
    lab = subprocess.Popen([*run, "lab", "--no-browser", "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert lab.stdout is not None
        found = re.search(r"http://\S+", lab.stdout.readline())
        assert found is not None
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name in wanted:
                address, prepare = SCENES[name]
                page = browser.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
                page.add_init_script("localStorage.setItem('kinelo-visited', 'yes')")
                page.set_default_timeout(1000 * PATIENCE)
                page.goto(found.group() + address)
                page.wait_for_selector("#connection[data-state=open]")
                prepare(page)
                page.wait_for_timeout(500)
                page.screenshot(path=IMAGES / f"lab-{name}.png")
                page.close()
            browser.close()
    finally:
        lab.terminate()
        lab.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
