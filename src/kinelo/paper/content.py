"""What a report says, as plain data: written as ``report.json``, shown as ``report.html`` and in the lab."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

from kinelo._version import __version__
from kinelo.paper.catalogue import place_of
from kinelo.paper.claim import Claim
from kinelo.paper.figure import FigureStudy
from kinelo.paper.literature.words import literature_words
from kinelo.paper.reproduce import DrawnFigure, Reproduction, has_run
from kinelo.paper.stored import REPORT_FORMAT
from kinelo.paper.words import ASSUMPTIONS, GLOSSARY, READINGS, UNTESTED, neighbour_words, tally_words
from kinelo.studies.study import Study

PAPER_FIGURES = 6
PAPER = {
    "title": "An Elo-type rating model for players and teams of variable strength",
    "authors": "Bertram Düring, Michael Fischer and Marie-Therese Wolfram",
    "journal": "Philosophical Transactions of the Royal Society A 380 (2022), 20210155",
    "doi": "10.1098/rsta.2021.0155",
}
CONCLUSION = (
    "Where strength varies, ratings do not converge to mean strengths but to a map of smaller slope, about "
    "1/√(1 + πν²σ²) for a common spread σ, (B′) or not. What decays is the distance to that map, not E. A finite step "
    "size γ stretches the map again; at one size, γ*, the two cancel."
)


ANSWER_FIGURE = "homogeneous_micro"
"""The figure that shows the answer."""


def content_of(result: Reproduction) -> dict[str, Any]:
    """The whole report but its pictures, ready for JSON."""
    counts = Counter(claim.verdict for claim in result.claims)
    words = {"neighbours": neighbour_words, "literature": partial(literature_words, claims=result.claims)}
    place = place_of(result.figures[0].study.draw) if result.figures else "paper"
    if place in words:
        return {**_paper_content(result, counts), **words[place](result.scale, len(result.figures), counts)}
    return _paper_content(result, counts)


def _paper_content(result: Reproduction, counts: Counter[str]) -> dict[str, Any]:
    return {
        "format": REPORT_FORMAT,
        "kinelo": __version__,
        "scale": result.scale,
        "paper": PAPER,
        "abstract": [CONCLUSION, _abstract(result, counts)],
        "shown_by": next((one.study.number for one in result.figures if one.study.draw == ANSWER_FIGURE), None),
        "counts": {
            "figures": len(result.figures), "runs": result.runs, "matches": result.matches,
            "claims": len(result.claims), "holds": counts["holds"], "fails": counts["does not hold"],
            "depends": counts["depends"], "misprints": counts["misprint"],
            "not_published": counts["input not published"], "not_measured": counts["not measured"],
            "left_out": result.claims_left_out,
        },
        "claims": [_claim(claim) for claim in result.claims],
        "untested": [dict(zip(("place", "statement", "because"), row)) for row in UNTESTED],
        "figures": [_figure(figure, result) for figure in result.figures],
        "readings": [{"printed": one.printed, "read_as": one.read_as, "because": one.because} for one in READINGS],
        "assumptions": list(ASSUMPTIONS),
        "glossary": [{"symbol": symbol, "meaning": meaning} for symbol, meaning in GLOSSARY],
        "provenance": _provenance(result),
    }  # fmt: skip


def _abstract(result: Reproduction, counts: Counter[str]) -> str:
    scale = "at the paper's own scale" if result.scale == "full" else "at a reduced scale, for a quick look"
    tally = tally_words(counts)
    verdicts = f" Of {len(result.claims)} statements of the paper, {tally}." if tally else ""
    return (
        f"Here are {len(result.figures)} figures, the paper's computed anew and others it did not draw, {scale}: "
        f"{in_powers(result.matches)} matches in {result.runs} runs.{verdicts}"
    )


def in_powers(count: int) -> str:
    """A count as people write it.

    >>> in_powers(283_000_000), in_powers(1_200)
    ('2.83 · 10⁸', '1,200')
    """
    if count < 1e6:
        return f"{count:,}"
    exponent = len(str(count)) - 1
    return f"{count / 10**exponent:.3g} · 10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _claim(claim: Claim) -> dict[str, Any]:
    found = claim.finding
    return {
        "number": claim.number, "place": claim.place, "quote": claim.quote, "statement": claim.statement,
        "criterion": claim.criterion, "verdict": claim.verdict,
        "on": found.on if claim.verdict == "depends" else "", "measured": _minus(found.measured),
        "because": found.because, "more": _minus(found.more),
        "figures": list(found.figures),
    }  # fmt: skip


def _minus(text: str) -> str:
    """Negative numbers with a minus sign; the hyphen of an exponent stays."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


def _figure(figure: DrawnFigure, result: Reproduction) -> dict[str, Any]:
    study = figure.study
    return {
        "number": study.number,
        "title": study.title,
        "caption": study.caption,
        "theirs": study.number <= PAPER_FIGURES and place_of(study.draw) == "paper",
        "shortened": result.scale != "full" and any(map(has_run, study.studies.values())),
        "picture": f"figures/{study.name}.png",
        "claims": [claim.number for claim in result.claims if study.number in claim.finding.figures],
        "settings": settings_of(study),
    }


def _provenance(result: Reproduction) -> dict[str, Any]:
    made = result.provenance
    again = f", {result.runs_found} of {result.runs} runs were begun or finished before" if result.runs_found else ""
    return {
        "Finished": f"{made.finished} after {made.seconds or 0:.1f} s{again}",
        "Machine": f"{made.processor}, {made.cores} cores",
        "Versions": ", ".join(f"{name} {version}" for name, version in made.versions.items()),
        "Seeds": ", ".join(map(str, made.seeds)) or "none",
        "Scale": result.scale,
    }


def settings_of(figure: FigureStudy) -> list[list[str]]:
    """Header and rows.

    >>> from kinelo.paper.figure import read_figures
    >>> settings_of(read_figures(wanted=[4])[0])[0][:3]
    ['run', 'gamma', 'outcome.kind']
    """
    rows = {name: _flat(study) for name, study in figure.studies.items()}
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return [["run", *columns], *([name, *(row.get(key, "") for key in columns)] for name, row in rows.items())]


def _flat(study: Study) -> dict[str, str]:
    content = study.model_dump(mode="json", exclude_none=True, exclude={"title", "pairing"})
    flat: dict[str, str] = {}
    for key, value in content.items():
        for below, item in value.items() if isinstance(value, dict) else ((None, value),):
            flat[key if below is None else f"{key}.{below}"] = _text(item)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
