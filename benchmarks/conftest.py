"""Collects what the benchmarks measure and writes it as tables into RESULTS.md.

A benchmark calls ``table(section).row(what, measured, target, met)``. Sections that were not run keep their
last figures, so ``make bench AREA=micro`` refreshes one area only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kinelo.results.provenance import processor_name

HERE = Path(__file__).parent
STORE = HERE / "results.json"
REPORT = HERE / "RESULTS.md"


class Section:
    """One table of the report."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.note = ""
        self.rows: list[list[str]] = []

    def row(self, what: str, measured: str, target: str = "", met: bool | None = None) -> None:
        """Add a line: what was measured, the figure, the target, and whether it was met."""
        verdict = "" if met is None else ("met" if met else "missed")
        self.rows.append([what, measured, target, verdict])


_sections: dict[str, Section] = {}


@pytest.fixture
def table():
    """``table("Simulator")`` returns the section of that name, emptied when first touched in a run."""

    def section(title: str) -> Section:
        return _sections.setdefault(title, Section(title))

    return section


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if _sections:
        write_sections(list(_sections.values()))


def write_sections(sections: list[Section]) -> None:
    """Put sections in the place of those of the same titles, and write the report anew."""
    kept = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    machine = f"{processor_name()}, {os.cpu_count()} cores"
    for section in sections:
        kept[section.title] = {"note": section.note, "rows": section.rows, "machine": machine}
    STORE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = [
        "# Benchmark results",
        "",
        "Each ratio compares figures of one run on one machine. `make bench` writes this file.",
        "",
    ]
    for title, content in sorted(kept.items()):
        lines += [f"## {title}", "", f"Machine: {content['machine']}.", ""]
        if content["note"]:
            lines += [content["note"], ""]
        lines += ["| what | measured | target | |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in content["rows"]]
        lines.append("")
    REPORT.write_text("\n".join(lines), encoding="utf-8")
