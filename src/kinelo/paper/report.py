"""One self-contained page: figures embedded, claims with their measured values, readings, provenance."""

from __future__ import annotations

import base64
from collections import Counter
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from kinelo.atomic import replace_file
from kinelo.paper.claim import Claim
from kinelo.paper.figure import FigureStudy
from kinelo.paper.readings import ASSUMPTIONS, READINGS
from kinelo.paper.reproduce import DrawnFigure, Reproduction, has_run
from kinelo.paper.settings import settings_of
from kinelo.results.disk import disk_errors_in_words

PAPER_FIGURES = 6
_CLASS = {"holds": "holds", "does not hold": "fails", "depends": "depends"}


def write_report(result: Reproduction, folder: Path) -> Path:
    """Write ``report.html`` into ``folder`` at once and return its path."""
    path = folder / "report.html"
    with disk_errors_in_words(folder):
        replace_file(path, report_page(result).encode(), durable=True)
    return path


def report_page(result: Reproduction) -> str:
    """The whole page as text."""
    template = Template((files("kinelo.paper") / "report.html").read_text(encoding="utf-8"))
    theirs = [figure for figure in result.figures if figure.study.number <= PAPER_FIGURES]
    ours = [figure for figure in result.figures if figure.study.number > PAPER_FIGURES]
    return template.substitute(
        summary=_summary(result),
        claims=_claims(result),
        figures="\n".join(_figure(figure, result.scale) for figure in theirs) or "<p>None of them was asked for.</p>",
        ours="\n".join(_figure(figure, result.scale) for figure in ours) or "<p>None of them was asked for.</p>",
        readings="\n".join(
            f"<tr><td>{escape(r.printed)}</td><td>{escape(r.read_as)}</td><td>{escape(r.because)}</td></tr>"
            for r in READINGS
        ),
        assumptions="\n".join(f"<li>{escape(text)}</li>" for text in ASSUMPTIONS),
        provenance=_provenance(result),
    )


def _summary(result: Reproduction) -> str:
    counts = Counter(claim.verdict for claim in result.claims)
    scale = "at the paper's own scale" if result.scale == "full" else "at a reduced scale, for a quick look"
    return (
        f"<p>{len(result.figures)} figures {scale}: {_power(result.matches)} matches in {result.runs} runs. Of "
        f"{len(result.claims)} statements of the paper that were measured, <b>{counts['holds']} hold</b>, "
        f"<b>{counts['does not hold']} do not</b>, and <b>{counts['depends']} depend</b> on something the paper leaves "
        "open.</p>"
    )


def _power(count: int) -> str:
    if count < 1e6:
        return f"{count:,}"
    exponent = len(str(count)) - 1
    return f"{count / 10**exponent:.3g} · 10<sup>{exponent}</sup>"


def _claims(result: Reproduction) -> str:
    rows = "\n".join(map(_claim, result.claims))
    missing = (
        f"<p>{result.claims_left_out} more statements need figures that were not asked for.</p>"
        if result.claims_left_out
        else ""
    )
    head = "<tr><th>The paper says</th><th>Verdict</th><th>Measured here</th></tr>"
    return f'<table class="claims"><thead>{head}</thead><tbody>{rows}</tbody></table>{missing}'


def _claim(claim: Claim) -> str:
    seen = ", ".join(f'<a href="#figure-{number}">Figure {number}</a>' for number in claim.figures)
    more = f' <span class="seen">{seen}</span>' if seen else ""
    on = f'<div class="because">on {escape(claim.on)}</div>' if claim.verdict == "depends" else ""
    return (
        f'<tr><td>{escape(claim.statement)}<div class="place">{escape(claim.place)}</div></td>'
        f'<td><span class="verdict {_CLASS[claim.verdict]}">{claim.verdict}</span>{on}</td>'
        f'<td>{escape(claim.measured)}<div class="because">{escape(claim.because)}{more}</div></td></tr>'
    )


def _figure(figure: DrawnFigure, scale: str) -> str:
    study = figure.study
    image = base64.b64encode(figure.png).decode()
    settings = settings_of(study)
    table = (
        "<details><summary>Settings of its runs</summary><div class='wide'><table><thead><tr>"
        + "".join(f"<th>{escape(name)}</th>" for name in settings[0])
        + "</tr></thead><tbody>"
        + "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in settings[1:])
        + "</tbody></table></div></details>"
        if len(settings) > 1
        else ""
    )
    return (
        f'<figure id="figure-{study.number}"><h3>Figure {study.number}. {escape(study.title)}</h3>'
        f'<img alt="{escape(study.title)}" style="max-width:{_screen_width(figure.png)}px" '
        f'src="data:image/png;base64,{image}">'
        f"<figcaption>{escape(study.caption)}{_shortened(study, scale)}</figcaption>{table}</figure>"
    )


def _shortened(study: FigureStudy, scale: str) -> str:
    if scale == "full" or not any(map(has_run, study.studies.values())):
        return ""
    return " <b>At quick scale: shorter or coarser runs than stated here, see their settings.</b>"


def _screen_width(png: bytes) -> int:
    """Width to show a picture at, so that type has the same size in all of them; a PNG states its own in its header."""
    return round(0.6 * int.from_bytes(png[16:20], "big"))


def _provenance(result: Reproduction) -> str:
    made = result.provenance
    versions = ", ".join(f"{name} {version}" for name, version in made.versions.items())
    again = f", {result.runs_found} of {result.runs} runs were begun or finished before" if result.runs_found else ""
    rows = (
        ("Finished", f"{made.finished} after {made.seconds or 0:.1f} s{again}"),
        ("Machine", f"{made.processor}, {made.cores} cores"),
        ("Versions", versions),
        ("Seeds", ", ".join(map(str, made.seeds)) or "none"),
        ("Scale", result.scale),
    )
    return "\n".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
