"""The words beside the picture say what the library's diagnosis found."""

from __future__ import annotations

import pytest

import kinelo as kn
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import many_teams, predicted_map
from kinelo.lab.explore.verdict import PENDING, first_words, verdict


@pytest.mark.parametrize(
    ("controls", "headline", "advice"),
    [
        (Controls(), "Strong teams are under-rated", "Raising the step size γ to about 0.6"),
        (Controls(sigma=0.0), "Strong teams are over-rated", "do not vary at all"),
        (Controls(gamma=0.62), "On average, ratings tell the true strength", "makes up for"),
        (Controls(gamma=1.0), "Strong teams are over-rated", "Lowering the step size γ to about 0.6"),
        (Controls(pairing="local"), "Strong teams are under-rated", "choice of opponents"),
    ],
)
def test_plain_words_follow_the_sliders(controls, headline, advice):
    words = verdict(controls)
    assert words["headline"].startswith(headline) and advice in words["advice"]


def test_the_numbers_are_those_of_diagnose():
    controls = Controls(law="lottery", ties=0.2)
    found = kn.diagnose(controls.system, many_teams(controls))
    values = [fact["value"] for fact in verdict(controls)["facts"]]
    bias = abs(float(found.state.bias[-1]))
    assert values == [
        f"{found.slope:.2f}", f"{bias:.2f}", f"± {found.rating_noise:.2f}", f"{found.matches_until_converged:,.0f}"
    ]  # fmt: skip
    assert verdict(controls)["lines"][0]["name"] == "Condition (B')"


def test_the_first_words_differ_from_the_last_only_in_what_is_pending():
    first, last = first_words(predicted_map(Controls())), verdict(Controls())
    assert first["headline"] == last["headline"]
    assert first["facts"][:3] == last["facts"][:3] and first["facts"][3]["value"] == PENDING
