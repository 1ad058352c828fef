"""A report: what it says, as plain data (``report.json``, the lab), and as one self-contained page (``report.html``).

The page has abstract, claims with their measured values, figures embedded, readings and provenance.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from kinelo._version import __version__
from kinelo.pages.frame import html_page
from kinelo.paper.catalogue import place_of
from kinelo.paper.figure import FigureStudy
from kinelo.paper.folder import HTML_NAME, JSON_NAME, REPORT_FORMAT
from kinelo.paper.reproduce import Reproduction, has_run
from kinelo.paper.words import ASSUMPTIONS, GLOSSARY, READINGS, UNTESTED, literature_words, neighbour_words, tally_words
from kinelo.results.disk import disk_errors_in_words
from kinelo.runtime.atomic import replace_file

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
    scale = "at the paper's own scale" if result.scale == "full" else "at a reduced scale, for a quick look"
    tally = tally_words(counts)
    verdicts = f" Of {len(result.claims)} statements of the paper, {tally}." if tally else ""
    done = (
        f"Here are {len(result.figures)} figures, the paper's computed anew and others it did not draw, {scale}: "
        f"{in_powers(result.matches)} matches in {result.runs} runs.{verdicts}"
    )
    claims = [
        {
            "number": claim.number, "place": claim.place, "quote": claim.quote, "statement": claim.statement,
            "criterion": claim.criterion, "verdict": claim.verdict,
            "on": claim.finding.on if claim.verdict == "depends" else "",
            "measured": _minus(claim.finding.measured), "because": claim.finding.because,
            "more": _minus(claim.finding.more), "figures": list(claim.finding.figures),
        }
        for claim in result.claims
    ]  # fmt: skip
    figures = [
        {
            "number": study.number, "title": study.title, "caption": study.caption, "printed": study.printed,
            "theirs": study.number <= PAPER_FIGURES and place_of(study.draw) == "paper",
            "shortened": result.scale != "full" and any(map(has_run, study.studies.values())),
            "picture": f"figures/{study.name}.png",
            "claims": [claim.number for claim in result.claims if study.number in claim.finding.figures],
            "settings": settings_of(study),
        }
        for study in (figure.study for figure in result.figures)
    ]  # fmt: skip
    made = result.provenance
    again = f", {result.runs_found} of {result.runs} runs were begun or finished before" if result.runs_found else ""
    content: dict[str, Any] = {
        "format": REPORT_FORMAT,
        "kinelo": __version__,
        "scale": result.scale,
        "paper": PAPER,
        "abstract": [CONCLUSION, done],
        "shown_by": next((one.study.number for one in result.figures if one.study.draw == ANSWER_FIGURE), None),
        "counts": {
            "figures": len(result.figures), "runs": result.runs, "matches": result.matches,
            "claims": len(result.claims), "holds": counts["holds"], "fails": counts["does not hold"],
            "depends": counts["depends"], "misprints": counts["misprint"],
            "not_published": counts["input not published"], "not_measured": counts["not measured"],
            "left_out": result.claims_left_out,
        },
        "claims": claims,
        "untested": [dict(zip(("place", "statement", "because"), row)) for row in UNTESTED],
        "figures": figures,
        "readings": [{"printed": one.printed, "read_as": one.read_as, "because": one.because} for one in READINGS],
        "assumptions": list(ASSUMPTIONS),
        "glossary": [{"symbol": symbol, "meaning": meaning} for symbol, meaning in GLOSSARY],
        "provenance": {
            "Finished": f"{made.finished} after {made.seconds or 0:.1f} s{again}",
            "Machine": f"{made.processor}, {made.cores} cores",
            "Versions": ", ".join(f"{name} {version}" for name, version in made.versions.items()),
            "Seeds": ", ".join(map(str, made.seeds)) or "none",
            "Scale": result.scale,
        },
    }  # fmt: skip
    if place in words:
        content |= words[place](result.scale, len(result.figures), counts)
    return content


def in_powers(count: int) -> str:
    """A count as people write it.

    >>> in_powers(283_000_000), in_powers(1_200)
    ('2.83 · 10⁸', '1,200')
    """
    if count < 1e6:
        return f"{count:,}"
    exponent = len(str(count)) - 1
    return f"{count / 10**exponent:.3g} · 10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _minus(text: str) -> str:
    """Negative numbers with a minus sign; the hyphen of an exponent stays."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


def settings_of(figure: FigureStudy) -> list[list[str]]:
    """Header and rows.

    >>> from kinelo.paper.figure import read_figures
    >>> settings_of(read_figures(wanted=[4])[0])[0][:3]
    ['run', 'gamma', 'outcome.kind']
    """
    rows: dict[str, dict[str, str]] = {}
    for name, study in figure.studies.items():
        row = rows[name] = {}
        for key, value in study.model_dump(mode="json", exclude_none=True, exclude={"title", "pairing"}).items():
            for below, item in value.items() if isinstance(value, dict) else ((None, value),):
                row[key if below is None else f"{key}.{below}"] = _text(item)
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return [["run", *columns], *([name, *(row.get(key, "") for key in columns)] for name, row in rows.items())]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


class PageWords(NamedTuple):
    """Headings of the page by what it reports on: the paper, the models beside it, or other papers."""

    heading: str
    says: str
    who: str
    order: str
    others: str
    reading: str
    source: str


_OURS = "made with Kinelo"
WORDS = {
    "paper": PageWords(
        "Every figure computed anew, and what the paper says of them measured",
        "What the paper says", "The paper says", "the order of the paper", "Figures the paper did not draw",
        "How the paper is read", "A reproduction of {paper}, " + _OURS,
    ),
    "neighbours": PageWords(
        "The models beside the paper's: learning, form, rounds, deviations",
        "What is said", "It is said", "the order of the figures", "Figures of the neighbouring models",
        "How the models are read", "Models named by {paper}, " + _OURS,
    ),
    "literature": PageWords(
        "Other papers on Elo's rule: what they say, and what was measured",
        "What papers say", "A paper says", "the order of the figures", "Figures",
        "What was read", "Papers beside {paper}, " + _OURS,
    ),
}  # fmt: skip
PAPER_TITLE = "An Elo-type rating model for teams of variable strength: the reproduction"
_CLASS = {
    "holds": "holds",
    "does not hold": "fails",
    "depends": "depends",
    "misprint": "misprint",
    "input not published": "depends",
    "not measured": "missing",
}
FIRST = ("does not hold", "misprint", "depends", "input not published", "not measured", "holds")
"""The order of the verdicts on the page."""


def write_report(result: Reproduction, folder: Path) -> Path:
    """Write ``report.html`` and ``report.json`` into ``folder``, each at once, and return the path of the page."""
    content = json.dumps(content_of(result), ensure_ascii=False, indent=1)
    with disk_errors_in_words(folder):
        replace_file(folder / HTML_NAME, report_page(result).encode(), durable=True)
        replace_file(folder / JSON_NAME, content.encode() + b"\n", durable=True)
    return folder / HTML_NAME


def report_page(result: Reproduction) -> str:
    """The whole page as text."""
    content = content_of(result)
    pictures = {figure.study.number: figure.png for figure in result.figures}
    shown = {theirs: [_figure(one, pictures[one["number"]]) for one in content["figures"] if one["theirs"] is theirs]
             for theirs in (True, False)}  # fmt: skip
    nothing = "<p>None of them was asked for.</p>"
    theirs = "\n".join(shown[True]) or nothing
    place = next((name for name in ("neighbours", "literature") if content.get(name)), "paper")
    words = WORDS[place]
    readings = ""
    if content["readings"]:
        rows = _rows((one["printed"], one["read_as"], one["because"]) for one in content["readings"])
        readings = (
            "<details><summary>Where it is read otherwise than printed, beside the misprints</summary>"
            "<table><thead><tr><th>Printed</th><th>Read as</th><th>Because</th></tr></thead><tbody>\n"
            f"{rows}\n</tbody></table></details>\n<p>Where it is silent:</p>"
        )
    template = Template((files("kinelo.paper") / "report.html").read_text(encoding="utf-8"))
    body = template.substitute(
        heading=words.heading,
        says=words.says,
        who=words.who,
        order=words.order,
        others=words.others,
        reading=words.reading,
        source=words.source.format(paper=_source(content["paper"])) + ".",
        abstract=_answer(content, pictures),
        glossary="\n".join(
            f"<div><dt>{escape(one['symbol'])}</dt><dd>{escape(one['meaning'])}</dd></div>"
            for one in content["glossary"]
        ),
        claims=_claims(content, words.who),
        untested=_rows((one["statement"], one["place"], one["because"]) for one in content["untested"]),
        theirs=f'<h2 id="figures">The paper\'s figures</h2>\n{theirs}\n\n' if place == "paper" else "",
        theirs_link='<a href="#figures">Figures of the paper</a>' if place == "paper" else "",
        ours="\n".join(shown[False]) or nothing,
        readings=readings,
        assumptions="\n".join(f"<li>{escape(text)}</li>" for text in content["assumptions"]),
        provenance=_rows(content["provenance"].items(), head=True),
    )
    return html_page(PAPER_TITLE, body)


def _answer(content: Mapping[str, Any], pictures: Mapping[int, bytes]) -> str:
    """What was found, the picture that shows it, and what was done."""
    answer, done = (f"<p>{escape(text)}</p>" for text in content["abstract"])
    number = content["shown_by"]
    if number is None:
        return f"{answer}\n{done}"
    title = next(one["title"] for one in content["figures"] if one["number"] == number)
    image = f'<img alt="{escape(title)}" src="data:image/png;base64,{base64.b64encode(pictures[number]).decode()}">'
    return f'{answer}\n<a class="answer" href="#figure-{number}">{image}</a>\n{done}'


def _rows(rows: Iterable[Sequence[str]], head: bool = False) -> str:
    def cells(row: Sequence[str]) -> str:
        tags = ["th" if head and k == 0 else "td" for k in range(len(row))]
        return "".join(f"<{tag}>{escape(cell)}</{tag}>" for tag, cell in zip(tags, row))

    return "\n".join(f"<tr>{cells(row)}</tr>" for row in rows)


def _source(paper: Mapping[str, str]) -> str:
    return (
        f"{escape(paper['authors'])}, <i>{escape(paper['title'])}</i>, {escape(paper['journal'])}, "
        f'<a href="https://doi.org/{paper["doi"]}">doi:{paper["doi"]}</a>'
    )


def _claims(content: Mapping[str, Any], who: str) -> str:
    there = {figure["number"] for figure in content["figures"]}
    ranked = sorted(content["claims"], key=lambda one: (FIRST.index(one["verdict"]), one["number"]))
    rows = []
    for claim in ranked:
        number, figures = claim["number"], [one for one in claim["figures"] if one in there]
        seen = ", ".join(f'<a href="#figure-{one}">{one}</a>' for one in figures)
        seen_in = f'<div class="because seen">Figure{"s" * (len(figures) > 1)} {seen}</div>' if seen else ""
        on = f'<div class="because">on {escape(claim["on"])}</div>' if claim["on"] else ""
        test = f'<details class="because"><summary>test</summary>{escape(claim["criterion"])}.</details>'
        quoted = f"<q>{escape(claim['quote'])}</q>" if claim["quote"] else escape(claim["statement"])
        # The reason, and folded what else was measured. Where a statement holds the reason is folded, too.
        folded = claim["verdict"] == "holds"
        because = "" if folded else claim["because"]
        because = f'<div class="because">{escape(because)}</div>' if because else ""
        rest = " ".join(filter(None, [claim["because"] if folded else "", claim["more"]]))
        because += f'<details class="because"><summary>more</summary>{escape(rest)}</details>' if rest else ""
        rows.append(
            f'<tr id="claim-{number}"><td><a href="#claim-{number}">{number}</a></td>'
            f'<td>{quoted}<div class="place">{escape(claim["place"])}</div></td>'
            f'<td><span class="verdict {_CLASS[claim["verdict"]]}">{claim["verdict"]}</span>{on}{test}</td>'
            f"<td>{escape(claim['measured'])}{because}{seen_in}</td></tr>"
        )
    joined, left_out = "\n".join(rows), content["counts"]["left_out"]
    missing = f"<p>{left_out} more statements need figures that were not asked for.</p>" if left_out else ""
    head = f"<tr><th>№</th><th>{who}</th><th>Verdict</th><th>Measured here</th></tr>"
    return f'<table class="claims"><thead>{head}</thead><tbody>{joined}</tbody></table>{missing}'


def _figure(figure: Mapping[str, Any], png: bytes) -> str:
    number, title = figure["number"], escape(figure["title"])
    shortened = " <b>Quick scale: shorter or coarser runs than the paper's.</b>"
    printed = f"The paper: <q>{escape(figure['printed'])}</q> Here: " if figure["printed"] else ""
    # A PNG states its width in its header; type has the same size in all of them.
    width = round(0.6 * int.from_bytes(png[16:20], "big"))
    return (
        f'<figure id="figure-{number}"><h3>Figure {number}. {title}</h3>'
        # Without a script: the box is ticked by a tap on the picture, and then the picture is shown in full.
        f'<div class="picture"><label><input type="checkbox" class="enlarge" aria-label="Enlarge Figure {number}">'
        f'<img alt="{title}" style="max-width:{width}px" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode()}"></label></div>'
        f"<figcaption>{printed}{escape(figure['caption'])}{shortened if figure['shortened'] else ''}"
        f"{_said(figure)}</figcaption>"
        f"{_settings(figure['settings'])}</figure>"
    )


def _said(figure: Mapping[str, Any]) -> str:
    """Links to the statements that a figure serves."""
    links = ", ".join(f'<a href="#claim-{number}">{number}</a>' for number in figure["claims"])
    return f' <span class="seen">Statement{"s" * (len(figure["claims"]) > 1)} {links}.</span>' if links else ""


def _settings(settings: Sequence[Sequence[str]]) -> str:
    if len(settings) < 2:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in settings[0])
    return (
        "<details><summary>Settings of its runs</summary><div class='wide'><table><thead><tr>"
        f"{head}</tr></thead><tbody>{_rows(settings[1:])}</tbody></table></div></details>"
    )
