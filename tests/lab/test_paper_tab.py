"""The Paper tab in a real browser."""

from __future__ import annotations

import pytest
from browser_steps import make_report, skip_without_browser, until

skip_without_browser()
pytestmark = pytest.mark.browser


def test_the_paper_is_made_with_progress_and_can_be_cancelled(visit):
    page = visit("#paper")
    page.click("#make-quick")
    until(page, "document.querySelector('#paper-label')?.textContent.includes('of 12 figures')")
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
