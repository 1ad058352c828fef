"""The report as a reader sees it: every row of the page and of its data against what was put in."""

import json
import re
from html import unescape

import pytest
import synthetic

from kinelo.paper.catalogue import check_claims
from kinelo.paper.claim import Claim, Finding
from kinelo.paper.figure import read_figures
from kinelo.paper.report import content_of, report_page, write_report
from kinelo.paper.reproduce import DrawnFigure, Reproduction
from kinelo.results.manifest import provenance

CLAIMS = [
    Claim(
        "Place A", "as they say", "a < b", "a below 2", Finding("1.5", "holds", "Why A.", figures=(2,), more="2."), 1
    ),
    Claim("Place B", "", "it decays", "it never rises", Finding("it rises", "does not hold", "Why B."), 2),
    Claim("Place C", "", "it falls", "it never rises", Finding("it rose", "does not hold", "Why C."), 3),
    Claim("Place D", "steeper", "steep", "slope above 1", Finding("1.2", "depends", "Why D.", on="the step"), 4),
    Claim("Place E", "", "it is so", "it is", Finding("no run", "not measured", "Why E."), 5),
    Claim("Place F", "", "true", "it is true", Finding("yes", "holds", "Why F.", figures=(3,)), 6),
    Claim("Place M", "", "b = 2", "b is 2", Finding("b = 3", "misprint", "Why M."), 7),
    Claim("Place P", "", "given", "it is known", Finding("?", "input not published", "Why P.", figures=(2, 9)), 8),
    Claim("Place G", "", "right", "it is right", Finding("yes", "holds", "Why G."), 11),
]
SHOWN_AS = {
    "holds": "holds", "does not hold": "fails", "depends": "depends", "misprint": "misprint", "not measured": "missing",
    "input not published": "depends",
}  # fmt: skip
ON_PAGE = [2, 3, 7, 4, 8, 5, 1, 6, 11]
"""Numbers of the statements as the page has them: failures first, then misprints, conditions, and what holds."""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    png = b"\x89PNG" + bytes(12) + (500).to_bytes(4, "big") + (300).to_bytes(4, "big")
    figures = [DrawnFigure(study, None, png) for study in read_figures(scale="quick")[:7]]
    made = provenance(seconds=61.25, seeds=[4, 9])
    write_report(Reproduction("full", figures, CLAIMS, 3, 2, 8, 31_000_000, made), folder)
    content = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return content, (folder / "report.html").read_text(encoding="utf-8")


def plain(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_every_statement_stands_with_its_verdict_threshold_and_reason(report):
    content, page = report
    rows = re.findall(r'<tr id="claim-(\d+)">(.*?)</tr>', page.split('class="claims"')[1].split("</table>")[0], re.S)
    assert [int(number) for number, _ in rows] == ON_PAGE and len(content["claims"]) == len(CLAIMS)
    by_number, shown_by_number = {one.number: one for one in CLAIMS}, {one["number"]: one for one in content["claims"]}
    for number, row in rows:
        claim, shown = by_number[int(number)], shown_by_number[int(number)]
        anchor, said, verdict, measured = re.findall(r"<td>(.*?)</td>", row, re.S)
        assert anchor == f'<a href="#claim-{number}">{number}</a>'
        assert f'class="verdict {SHOWN_AS[claim.verdict]}">{claim.verdict}<' in verdict
        assert plain(verdict).endswith(f"test {claim.criterion}.")
        assert (f"on {claim.finding.on}" in plain(verdict)) == (claim.verdict == "depends")
        assert plain(measured).startswith(claim.finding.measured) and claim.finding.because in plain(measured)
        folded = plain("".join(re.findall(r"<summary>more</summary>(.*?)</details>", measured)))
        expected = {"Place A": "Why A. 2.", "Place F": "Why F.", "Place G": "Why G."}
        assert folded == expected.get(claim.place, "")
        assert ("#figure-2" in measured) == (claim.place in ("Place A", "Place P")) and "#figure-9" not in measured
        assert claim.place in plain(said) and (claim.quote or claim.statement) in plain(said)
        assert ("<q>" in said) == bool(claim.quote)
        assert (shown["verdict"], shown["criterion"], shown["on"]) == (claim.verdict, claim.criterion, claim.finding.on)


def test_figures_link_to_their_statements(report):
    content, page = report
    figures = dict(re.findall(r'<figure id="figure-(\d)">(.*?)</figure>', page, re.S))
    links = {number: re.findall(r'href="#claim-(\d+)"', figure) for number, figure in figures.items()}
    assert links == {"1": [], "2": ["1", "8"], "3": ["6"], "4": [], "5": [], "6": [], "7": []}
    assert [one["claims"] for one in content["figures"]] == [[], [1, 8], [6], [], [], [], []]
    ends = {number: re.search(r"Statements? [\d, ]+\.$", plain(figure.split("</figcaption>")[0]))
            for number, figure in figures.items()}  # fmt: skip
    assert {number: found[0] for number, found in ends.items() if found} == {
        "2": "Statements 1 , 8 .",
        "3": "Statement 6 .",
    }


def test_the_papers_own_caption_stands_beside_ours(report):
    content, page = report
    captions = [plain(one) for one in re.findall(r"<figcaption>(.*?)</figcaption>", page, re.S)]
    for shown, caption in zip(content["figures"], captions, strict=True):
        theirs = f"The paper: {shown['printed']} Here: " if shown["theirs"] else ""
        assert bool(shown["printed"]) == shown["theirs"]
        assert caption.startswith(theirs + shown["caption"][:30]) and caption.count("The paper: ") == shown["theirs"]


def test_the_abstract_and_the_counts_count_the_verdicts(report):
    content, page = report
    counted = {
        "holds": 3,
        "fails": 2,
        "depends": 1,
        "misprints": 1,
        "not_measured": 1,
        "left_out": 3,
        "claims": 9,
        "not_published": 1,
        "figures": 7,
    }
    assert counted.items() <= content["counts"].items()
    assert (content["counts"]["runs"], content["counts"]["matches"]) == (8, 31_000_000)
    abstract = content["abstract"][1]
    assert "Of 9 statements of the paper, 3 hold, 2 do not, 1 depends on a condition" in abstract
    assert "1 is a misprint, 1 rests on input that is not published and 1 could not be measured." in abstract
    assert "at the paper's own scale: 3.1 · 10⁷ matches in 8 runs" in abstract
    assert abstract in plain(page) and "3 more statements need figures that were not asked for." in page


def test_theirs_and_ours_stand_apart(report):
    content, page = report
    assert [figure["theirs"] for figure in content["figures"]] == [True] * 6 + [False]
    ours = page.index('<h2 id="ours">Figures the paper did not draw')
    places = [page.index(f'<figure id="figure-{number}">') for number in range(1, 8)]
    assert places == sorted(places) and places[5] < ours < places[6]
    assert 'style="max-width:300px"' in page  # three fifths of the pixels that the picture has


@pytest.mark.parametrize("scale", ["full", "quick"])
def test_shorter_runs_are_said_where_there_are_any(scale):
    figures = [DrawnFigure(study, None, b"") for study in read_figures(scale=scale)]
    shown = content_of(Reproduction(scale, figures, CLAIMS, 3, 2, 8, 31_000_000, provenance(seconds=1.0, seeds=[4])))
    simulated = [any(run.simulate or run.solve for run in one.study.studies.values()) for one in figures]
    assert any(simulated) and not all(simulated)
    assert [one["shortened"] for one in shown["figures"]] == [some and scale == "quick" for some in simulated]
    assert ("at a reduced scale" in shown["abstract"][1]) == (scale == "quick")


def test_provenance_is_told(report):
    told = report[0]["provenance"]
    assert "after 61.2 s, 2 of 8 runs were begun or finished before" in told["Finished"]
    assert told["Seeds"] == "4, 9" and told["Scale"] == "full"


def test_the_report_begins_with_its_answer_and_names_symbols_before_it_uses_them(report):
    content, page = report
    places = [page.index(content["abstract"][0]), page.index('class="answer" href="#figure-4"')]
    sections = ("glossary", "claims", "figures", "ours", "untested", "readings", "provenance")
    places += [page.index(f'<h2 id="{name}"') for name in sections]
    assert places == sorted(places)


LONGEST = 3_499


def test_the_page_of_the_paper_stays_short():
    """Every statement and figure at full scale: words that are not folded, symbols and numbers among them, up to the
    provenance, which names the machine."""
    evidence = {name: make() for name, make in synthetic.EVIDENCE.items()}
    claims, left_out = check_claims(evidence)
    figures = [DrawnFigure(study, None, bytes(24)) for study in read_figures()]
    made = provenance(seconds=1.0, seeds=[4])
    page = report_page(Reproduction("full", figures, claims, left_out, 0, 43, 10**10, made))
    shown = re.sub(r"<details.*?</details>", " ", page.split("<main")[1].split('id="provenance"')[0], flags=re.S)
    words = plain(shown).split()
    assert len(claims) > 40 and len(figures) == 12
    assert 3_000 < len(words) <= LONGEST
