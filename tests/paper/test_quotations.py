"""Every quotation of the report stands in the paper, word for word; spaces and the commands of TeX aside."""

import re
from pathlib import Path

import pytest

from kinelo.paper.catalogue import checks
from kinelo.paper.figure import read_figures

PAPER = Path(__file__).parents[3] / "shared" / "paper.tex"
SIGNS = {
    r"\theta": "θ", r"\sigma": "σ", r"\nu": "ν", r"\approx": "≈", r"\in ": "∈", r"\to": "→", r"\tanh": "tanh",
    r"\E": "E", r"\eqref{eq:origelo}": "(2)", r"\Omega": "Ω", r"\times": "×", r"\cdot": "·", r"\ref{enu:r1}": "(R1)",
    r"\ref{enu:r2}": "(R2)", "^2": "²", "^4": "⁴", "^0": "⁰", "_i": "ᵢ", "_{2,r}": "₂,ᵣ", "-": "−", "$": "", "~": "",
}  # fmt: skip


def without_tex(text: str) -> str:
    text = re.sub(r"(?<!\\)%.*", "", text)
    text = re.sub(r"\\operatorname\{(\w+)\}", r"\1", text)
    text = re.sub(r"\\(begin|end|label)\{[^}]*\}", "", text)
    text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", text)
    for command, sign in SIGNS.items():
        text = text.replace(command, sign)
    return "".join(text.split())


@pytest.fixture(scope="module")
def paper() -> str:
    if not PAPER.exists():
        pytest.skip("The paper's text is not here: quotations cannot be compared with it.")
    return without_tex(PAPER.read_text(encoding="utf-8"))


QUOTED = [one for one in checks() if one.quote]


@pytest.mark.parametrize("check", QUOTED, ids=lambda one: str(one.order))
def test_a_quotation_stands_in_the_paper(paper, check):
    in_the_paper(paper, check.quote)


@pytest.mark.parametrize("number", range(1, 7))
def test_a_caption_of_the_paper_stands_in_it(paper, number):
    (figure,) = read_figures(wanted=[number])
    assert figure.printed
    in_the_paper(paper, figure.printed)


def in_the_paper(paper, quote):
    place = 0
    for piece in quote.split("…"):
        found = paper.find(without_tex(piece), place)
        assert found >= 0, f"not in the paper: {piece.strip()!r}"
        place = found + 1


def test_only_words_that_are_there_are_found(paper):
    assert len(QUOTED) > 25
    for text in ("we see convergence towards a steady state for the 197 teams", "all teams get the same rating"):
        assert without_tex(text) not in paper
