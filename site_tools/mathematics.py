"""Equations in LaTeX (``math`` fences) become MathML when the site is built; browsers typeset that by themselves."""

import re

from latex2mathml.converter import convert

FENCE = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def typeset(text: str) -> str:
    """The page with each ``math`` fence as a block of MathML; blank lines separate equations."""
    return FENCE.sub(
        lambda fence: f'<div class="equation">{"".join(map(_block, fence[1].strip().split(chr(10) * 2)))}</div>', text
    )


def _block(latex: str) -> str:
    return convert(" ".join(latex.split()), display="block").replace("\n", "")
