"""What a visitor does, for the tests in a real browser, and files to do it with."""

from __future__ import annotations

import pytest
from made_report import put
from running_lab import CHROMIUM

from patience import PATIENCE

GOOD = "date,home,away,home_score,away_score\n" + "\n".join(
    f"2024-{1 + k // 28:02d}-{1 + k % 28:02d},{'ABCD'[k % 4]},{'ABCD'[(k + 1 + k // 4 % 3) % 4]},{k % 4},{k * 7 % 3}"
    for k in range(160)
)


BROKEN = GOOD + "\nsome day,A,B,1,0\n2024-12-01,A,A,1,0\n2024-12-02,A,B,,1\n2024-12-03,A,B,-3,1\n"


def skip_without_browser() -> None:
    """Skip the module that asks."""
    if CHROMIUM is None:
        reason = "browser tests were skipped: no Chromium is installed (Debian: apt-get install chromium)"
        pytest.skip(reason, allow_module_level=True)


def frames(page) -> int:
    return page.evaluate("Number(document.body.dataset.frames ?? 0)")


def run(page) -> int:
    return page.evaluate("Number(document.body.dataset.run ?? 0)")


def until(page, expression: str, seconds: float = PATIENCE) -> None:
    """Wait, in the page, for something to be true; its own policy forbids Playwright's way of waiting."""
    waiting = f"""async (end) => {{
      while (!({expression}) && performance.now() < end) await new Promise((next) => setTimeout(next, 25));
      return Boolean({expression});
    }}"""
    end = page.evaluate("performance.now()") + 1000 * seconds
    assert page.evaluate(waiting, end), f"never came true: {expression}"


def address(page) -> str:
    """The address as the page itself has it now; Playwright's is the last that it was told of, which may be older."""
    return page.evaluate("location.href")


def until_drawn(page) -> None:
    """Wait for the first frame; a league that is paused sends no other."""
    until(page, "document.body.dataset.frames > 0")


def wait_for_frames(page, more: int) -> None:
    until(page, f"Number(document.body.dataset.frames ?? 0) >= {frames(page) + more}")


def set_slider(page, name: str, value: float) -> None:
    page.eval_on_selector(
        f"#control-{name}", "(node, value) => { node.value = value; node.dispatchEvent(new Event('input')); }", value
    )


def upload(page, text: str, kind: str = "results", name: str = "league.csv") -> None:
    page.set_input_files(f"#file-{kind}", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})


def make_report(lab) -> None:
    """A report at full scale, unless another test has made it."""
    if not (lab.folder / "reproduction").exists():
        put(lab.folder / "reproduction", "full")


CONTRAST = "color-contrast"
"""The rule of axe that takes four fifths of its time; it asks of colours, which no text changes."""


def accessible(page, part: str, *, contrast: bool = True, rest: bool = True) -> None:
    """Nothing in a part of the page that axe finds fault with, and nothing beyond the width of the screen.

    A part that has just been opened may still be drawn, so what is found must last to count.
    """
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT)
    context = {"include": [[part]], "exclude": [[".plot-container"]]}  # to a reader a chart is one image with a name
    options: dict = {"resultTypes": ["violations"], "rules": {CONTRAST: {"enabled": contrast}}}
    if not rest:
        options["runOnly"] = [CONTRAST]
    for _ in range(8):
        found = page.evaluate("([context, options]) => axe.run(context, options)", [context, options])["violations"]
        if not found:
            break
        page.wait_for_timeout(500)
    faults = [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]
    assert faults == [], f"{part}: {faults}"
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], part
