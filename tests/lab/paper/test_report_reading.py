"""The Paper tab reads back what the reproduction wrote."""

from __future__ import annotations

from pathlib import Path

from kinelo.lab.paper.report_reading import read_report
from kinelo.paper.claim import Claim
from kinelo.paper.figure import read_figures
from kinelo.paper.report import report_page
from kinelo.paper.reproduce import DrawnFigure, Reproduction
from kinelo.results.provenance import provenance

CLAIMS = [
    Claim("Section 2", "a < b & c", "1.5 against 2", "holds", "Because 1 < 2.", figures=(1, 4)),
    Claim("Theorem 3", "it decays", "it rises", "does not hold", "See the energy."),
    Claim("Figure 2", "it is steeper", "slope 1.2", "depends", "It does.", on="γ"),
]


def test_claims_and_figures_survive_the_report(tmp_path: Path):
    figures = [DrawnFigure(study, {}, b"\x89PNG") for study in read_figures(scale="quick")[:3]]
    made = Reproduction("quick", figures, CLAIMS, 0, 0, 3, 283_000_000, provenance(seconds=1.0, seeds=[1]))
    found = read_report(report_page(made))
    assert [
        (c.place, c.statement, f"{c.verdict} {c.on}".strip(), c.measured, c.because.strip()) for c in found.claims
    ] == [(c.place, c.statement, c.judgement, c.measured, c.because) for c in CLAIMS]
    assert [claim.kind for claim in found.claims] == ["holds", "fails", "depends"]
    assert [one.number for one in found.figures] == [figure.study.number for figure in figures]
    assert all(one.caption.startswith(figure.study.caption) for one, figure in zip(found.figures, figures))
    assert all(one.title.endswith(figure.study.title) for one, figure in zip(found.figures, figures))
    assert "2.83 · 10⁸ matches" in found.summary
    assert found.described(tmp_path)["figures"] == []
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figure-01.png").write_bytes(b"")
    assert [one["picture"] for one in found.described(tmp_path)["figures"]] == ["/paper/figure-01.png"]
