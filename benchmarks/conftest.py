"""Collects what the benchmarks measure and writes it as tables into RESULTS.md.

A benchmark calls ``table(section).row(what, measured, target, met)``. Sections that were not run keep their
last figures, so ``make bench AREA=micro`` refreshes one area only.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from kinelo.results.manifest import provenance
from kinelo.runtime.extras import library_versions

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


PEERS = (
    "choix", "elo-mmr-py", "elote", "evalica", "fipy", "glicko2", "openskill", "py-pde", "riix", "trueskill",
    "trueskillthroughtime", "whole-history-rating",
)  # fmt: skip

RETROSHEET = (
    "The information used here was obtained free of charge from and is copyrighted by Retrosheet. "
    "Interested parties may contact Retrosheet at www.retrosheet.org."
)
"""The notice that figures of mlb carry; docs/data.md says what each set asks for."""


def stamp() -> dict[str, str]:
    """When, where and with what a section was measured."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    described = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    versions = library_versions()
    for name in PEERS:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        "machine": f"{provenance().processor}, {os.cpu_count()} cores",
        "commit": described.stdout.strip() or "not a clone",
        "date": date.today().isoformat(),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
    }


def write_sections(sections: list[Section]) -> None:
    """Put sections in the place of those of the same titles, and write the report anew."""
    kept = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for section in sections:
        kept[section.title] = {"note": section.note, "rows": section.rows, **stamp()}
    STORE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    REPORT.write_text(report(kept), encoding="utf-8")


def report(kept: dict[str, dict]) -> str:
    """RESULTS.md: every section with what it was measured by."""
    lines = [
        "# Benchmark results",
        "",
        "Each ratio compares figures of one run on one machine. `make bench` writes this file from results.json.",
        "Sections without a date were measured before dates and commits were kept.",
        "[Where the data come from](../docs/data.md).",
        "",
    ]
    for title, content in sorted(kept.items()):
        lines += [f"## {title}", "", f"Machine: {content['machine']}.", ""]
        if "date" in content:
            lines += [f"Measured on {content['date']} at commit {content['commit']} with {content['versions']}.", ""]
        if content["note"]:
            lines += [content["note"], ""]
        if any("mlb" in row[0] for row in content["rows"]):
            lines += [RETROSHEET, ""]
        lines += ["| what | measured | target | |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in content["rows"]]
        lines.append("")
    return "\n".join(lines)
