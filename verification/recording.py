"""A plug-in of pytest that records the processor time of every test that passes, as JSON in KINELO_TEST_TIMES.

    make test-times    # and the files that took most

Time of child processes counts once they have ended, in whichever test that is. Tests that run in several processes
(pytest-xdist) are recorded together.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

NAME = "processor seconds"
TIMES: dict[str, float] = {}
FAILED: set[str] = set()

LAST = pytest.StashKey[float]()
"""Processor time when the last part of a test ended."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests begin here: what was imported to collect them belongs to none."""
    session.config.stash[LAST] = sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add what this part of a test (set-up, call, tear-down) took to its report."""
    now = sum(os.times()[:4])
    before, item.config.stash[LAST] = item.config.stash[LAST], now
    report = yield
    report.user_properties.append((NAME, now - before))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Sum up the parts of a test."""
    if report.failed:
        FAILED.add(report.nodeid)
    TIMES[report.nodeid] = TIMES.get(report.nodeid, 0.0) + sum(
        seconds for name, seconds in report.user_properties[-1:] if name == NAME
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write those of tests that passed, where all reports come together."""
    if not hasattr(session.config, "workerinput"):
        passed = {test: seconds for test, seconds in TIMES.items() if test not in FAILED}
        Path(os.environ["KINELO_TEST_TIMES"]).write_text(json.dumps(passed, indent=0), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much all took, and which files took most."""
    files: Counter[str] = Counter()
    for test, seconds in TIMES.items():
        files[test.partition("::")[0]] += seconds  # type: ignore[assignment]
    terminalreporter.write_line(f"{sum(TIMES.values()):.0f} processor seconds")
    for file, seconds in files.most_common(40):
        terminalreporter.write_line(f"{seconds:8.1f}  {file}")
