"""One self-contained page: abstract, claims with their measured values, figures embedded, readings, provenance."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from kinelo.pages.frame import html_page
from kinelo.paper.content import content_of
from kinelo.paper.reproduce import Reproduction
from kinelo.paper.stored import HTML_NAME, JSON_NAME
from kinelo.results.disk import disk_errors_in_words
from kinelo.runtime.atomic import replace_file


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
    place = next((name for name in ("neighbours", "literature") if content.get(name)), "paper")
    words = WORDS[place]
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
        theirs=_theirs("\n".join(shown[True]) or nothing) if place == "paper" else "",
        theirs_link='<a href="#figures">Figures of the paper</a>' if place == "paper" else "",
        ours="\n".join(shown[False]) or nothing,
        readings=_readings(content["readings"]) if content["readings"] else "",
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


def _theirs(figures: str) -> str:
    return f'<h2 id="figures">The paper\'s figures</h2>\n{figures}\n\n'


def _readings(readings: Sequence[Mapping[str, str]]) -> str:
    """Where the paper is read otherwise than printed, as a table, and the heading of what it leaves open."""
    rows = _rows((one["printed"], one["read_as"], one["because"]) for one in readings)
    return (
        "<details><summary>Where it is read otherwise than printed, beside the misprints</summary>"
        "<table><thead><tr><th>Printed</th><th>Read as</th><th>Because</th></tr></thead><tbody>\n"
        f"{rows}\n</tbody></table></details>\n<p>Where it is silent:</p>"
    )


def _source(paper: Mapping[str, str]) -> str:
    return (
        f"{escape(paper['authors'])}, <i>{escape(paper['title'])}</i>, {escape(paper['journal'])}, "
        f'<a href="https://doi.org/{paper["doi"]}">doi:{paper["doi"]}</a>'
    )


def _claims(content: Mapping[str, Any], who: str) -> str:
    there = {figure["number"] for figure in content["figures"]}
    ranked = sorted(content["claims"], key=lambda one: (FIRST.index(one["verdict"]), one["number"]))
    rows = "\n".join(_claim(one, there) for one in ranked)
    left_out = content["counts"]["left_out"]
    missing = f"<p>{left_out} more statements need figures that were not asked for.</p>" if left_out else ""
    head = f"<tr><th>№</th><th>{who}</th><th>Verdict</th><th>Measured here</th></tr>"
    return f'<table class="claims"><thead>{head}</thead><tbody>{rows}</tbody></table>{missing}'


def _claim(claim: Mapping[str, Any], there: Collection[int]) -> str:
    number = claim["number"]
    figures = [one for one in claim["figures"] if one in there]
    seen = ", ".join(f'<a href="#figure-{one}">{one}</a>' for one in figures)
    more = f'<div class="because seen">Figure{"s" * (len(figures) > 1)} {seen}</div>' if seen else ""
    on = f'<div class="because">on {escape(claim["on"])}</div>' if claim["on"] else ""
    on += f'<div class="because">Test: {escape(claim["criterion"])}.</div>'
    said = f"<q>{escape(claim['quote'])}</q>" if claim["quote"] else escape(claim["statement"])
    return (
        f'<tr id="claim-{number}"><td><a href="#claim-{number}">{number}</a></td>'
        f'<td>{said}<div class="place">{escape(claim["place"])}</div></td>'
        f'<td><span class="verdict {_CLASS[claim["verdict"]]}">{claim["verdict"]}</span>{on}</td>'
        f"<td>{escape(claim['measured'])}{_because(claim)}{more}</td></tr>"
    )


def _because(claim: Mapping[str, Any]) -> str:
    """The reason, and folded what else was measured. Where a statement holds the reason is folded, too."""
    folded = claim["verdict"] == "holds"
    open_part = "" if folded else claim["because"]
    rest = " ".join(filter(None, [claim["because"] if folded else "", claim["more"]]))
    shown = f'<div class="because">{escape(open_part)}</div>' if open_part else ""
    return shown + (f'<details class="because"><summary>more</summary>{escape(rest)}</details>' if rest else "")


def _figure(figure: Mapping[str, Any], png: bytes) -> str:
    number, title = figure["number"], escape(figure["title"])
    shortened = " <b>Quick scale: shorter or coarser runs than the paper's.</b>"
    return (
        f'<figure id="figure-{number}"><h3>Figure {number}. {title}</h3>'
        # Without a script: the box is ticked by a tap on the picture, and then the picture is shown in full.
        f'<div class="picture"><label><input type="checkbox" class="enlarge" aria-label="Enlarge Figure {number}">'
        f'<img alt="{title}" style="max-width:{_screen_width(png)}px" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode()}"></label></div>'
        f"<figcaption>{escape(figure['caption'])}{shortened if figure['shortened'] else ''}{_said(figure)}</figcaption>"
        f"{_settings(figure['settings'])}</figure>"
    )


def _said(figure: Mapping[str, Any]) -> str:
    """Links to the statements that a figure serves."""
    links = ", ".join(f'<a href="#claim-{number}">{number}</a>' for number in figure["claims"])
    return f' <span class="seen">Statements {links}.</span>' if links else ""


def _settings(settings: Sequence[Sequence[str]]) -> str:
    if len(settings) < 2:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in settings[0])
    return (
        "<details><summary>Settings of its runs</summary><div class='wide'><table><thead><tr>"
        f"{head}</tr></thead><tbody>{_rows(settings[1:])}</tbody></table></div></details>"
    )


def _screen_width(png: bytes) -> int:
    """Width to show a picture at, so that type has the same size in all of them; a PNG states its own in its header."""
    return round(0.6 * int.from_bytes(png[16:20], "big"))
