"""Figures and claims of a reproduction, read back from the report it wrote."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

SUPERSCRIPT = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
FIGURE_FILE = re.compile(r"figure-\d{2}\.png")


@dataclass
class ReadClaim:
    """One row of the table of claims."""

    statement: str = ""
    place: str = ""
    verdict: str = ""
    on: str = ""
    kind: str = ""
    measured: str = ""
    because: str = ""


@dataclass
class ReadFigure:
    """One figure of the report."""

    number: int
    title: str = ""
    caption: str = ""


@dataclass
class ReadReport:
    """What the Paper tab shows."""

    summary: str = ""
    claims: list[ReadClaim] = field(default_factory=list)
    figures: list[ReadFigure] = field(default_factory=list)

    def described(self, folder: Path) -> dict[str, Any]:
        """The report as the page receives it; figures whose picture is missing are left out."""
        drawn = [one for one in self.figures if (folder / "figures" / f"figure-{one.number:02d}.png").is_file()]
        return {
            "made": True,
            "summary": self.summary,
            "claims": [asdict(claim) for claim in self.claims],
            "figures": [{**asdict(one), "picture": f"/paper/figure-{one.number:02d}.png"} for one in drawn],
        }


def read_report(text: str) -> ReadReport:
    """Find the summary, the claims and the figures in a report."""
    reader = _Reader()
    reader.feed(text)
    return reader.report


class _Reader(HTMLParser):
    """Follows the report's structure: the first paragraph with a <b>, ``table.claims`` and ``figure``."""

    def __init__(self) -> None:
        super().__init__()
        self.report = ReadReport()
        self._claims = self._figure = False
        self._cell = 0
        self._target: tuple[Any, str] | None = None
        self._raised = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        names = given.get("class", "").split()
        self._raised = tag == "sup"
        if tag == "table":
            self._claims = "claims" in names
        elif self._claims:
            self._start_in_claims(tag, names)
        elif tag == "figure" and given.get("id", "").startswith("figure-"):
            self.report.figures.append(ReadFigure(int(given["id"].removeprefix("figure-"))))
            self._figure = True
        elif self._figure and tag in ("h3", "figcaption"):
            self._target = (self.report.figures[-1], "title" if tag == "h3" else "caption")
        elif tag == "p" and "statements of the paper" not in self.report.summary and not self.report.figures:
            self.report.summary, self._target = "", (self.report, "summary")

    def _start_in_claims(self, tag: str, names: list[str]) -> None:
        if tag == "tr":
            self._cell = 0
        elif tag == "td":
            self._cell += 1
            if self._cell == 1:
                self.report.claims.append(ReadClaim())
            self._target = (self.report.claims[-1], ("statement", "verdict", "measured")[self._cell - 1])
        elif self._cell == 0:
            return
        elif tag == "span" and "verdict" in names:
            self.report.claims[-1].kind = next((name for name in names if name != "verdict"), "")
        elif tag == "div":
            self._target = (self.report.claims[-1], ("place", "on", "because")[self._cell - 1])
        elif "seen" in names:
            self._target = None

    def handle_endtag(self, tag: str) -> None:
        self._raised = False
        if tag == "table":
            self._claims = False
        elif tag == "figure":
            self._figure = False
        elif tag in ("td", "h3", "figcaption", "p"):
            self._target = None

    def handle_data(self, data: str) -> None:
        if self._target is not None:
            data = data.translate(SUPERSCRIPT) if self._raised else data
            thing, name = self._target
            setattr(thing, name, getattr(thing, name) + data)
