"""A reproduction that took no time: a report with three claims and one picture."""

from __future__ import annotations

from pathlib import Path

from kinelo.paper.claim import Claim, Finding
from kinelo.paper.figure import read_figures
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import DrawnFigure, Reproduction
from kinelo.results.manifest import provenance

# fmt: off
CLAIMS = [
    Claim(
        "Section 2", "as they say", "a < b & c", "a < 2",
        Finding("1.5 against 2", "holds", "Because 1 < 2.", figures=(1, 4)),
    ),
    Claim("Theorem 3", "", "it decays", "it never rises", Finding("it rises", "does not hold", "See the energy.")),
    Claim("Figure 2", "steeper", "it is steeper", "slope above 1", Finding("slope 1.2", "depends", "It does.", on="γ")),
]
# fmt: on


def made(scale: str) -> Reproduction:
    figures = [DrawnFigure(study, None, b"\x89PNG") for study in read_figures(scale="quick")[:3]]
    return Reproduction(scale, figures, CLAIMS, 0, 0, 3, 283_000_000, provenance(seconds=1.0, seeds=[1]))


def put(folder: Path, scale: str) -> None:
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "figure-01.png").write_bytes(b"")
    write_report(made(scale), folder)
