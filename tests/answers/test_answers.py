"""Every answer is the one that was read and kept, but for the last digits of numbers."""

import difflib

import pytest
from transcript import KEPT, Asking, alike, asked_of

pytestmark = pytest.mark.filterwarnings("ignore")

EXACT = {"offered", "parts", "words"}
"""Where nothing is estimated: what is offered, its limits, and how words are read."""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_answers_are_those_that_were_read(path, tmp_path):
    if path.stem.startswith("service"):
        pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
    differing = []
    with Asking(tmp_path) as asking:
        for asked, kept in asked_of(path.read_text(encoding="utf-8")):
            said = asking.answer(asked) if asked else kept
            # A kept line stands for one that agrees with it but for the last digits.
            near = str.__eq__ if path.stem in EXACT else alike
            agreed = [one if near(one, other) else other for one, other in zip(kept, said, strict=False)]
            agreed += said[len(agreed) :]
            if agreed != kept:
                differing += [asked, *difflib.unified_diff(kept, agreed, "kept", "said", lineterm="", n=1)]
    assert not differing, f"{path.name}: read the difference, then python tests/answers/keep.py {path.stem}\n" + (
        "\n".join(differing)
    )
