"""The words beside the picture say what the library's diagnosis found."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kinelo as kn
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.fair import Search, look_for_fair_step
from kinelo.lab.explore.theory import many_teams, predicted_map
from kinelo.lab.explore.verdict import PENDING, first_words, nothing_found, verdict


@pytest.mark.parametrize(
    ("controls", "headline", "advice"),
    [
        (Controls(), "Strong teams are under-rated", "Raising the step size γ to about 0.6"),
        (Controls(sigma=0.0), "Strong teams are over-rated", "do not vary at all"),
        (Controls(gamma=0.62), "On average, ratings tell the true strength", "makes up for"),
        (Controls(gamma=1.0), "Strong teams are over-rated", "Lowering the step size γ to about 0.6"),
        (Controls(pairing="local"), "Strong teams are under-rated", "Raising the step size γ to about 0.12"),
        (Controls(pairing="local", gamma=0.12), "On average, ratings tell the true strength", "makes up for"),
        (Controls(pairing="local", gamma=0.2), "Strong teams are over-rated", "Lowering the step size γ to about 0.12"),
        (
            Controls(pairing="local", sigma=0.0),
            "Strong teams are over-rated",
            "found that makes ratings fair: the slope is 1.02",
        ),
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


def test_the_step_that_was_found_is_fair_and_one_beside_it_is_not():
    controls = Controls(pairing="local")
    found = look_for_fair_step(controls)
    assert found.gamma is not None
    slopes = [predicted_map(replace(controls, gamma=found.gamma * share)).slope for share in (0.8, 1.0, 1.25)]
    assert slopes[0] < 0.99 < slopes[1] < 1.01 < slopes[2]


def test_where_luck_leaves_no_ratings_nothing_is_claimed():
    assert "luck leaves no stable ratings" in nothing_found(0.1, Search(None, 0.3, 0.95, settles=False))
    assert "the largest step offered" in nothing_found(0.1, Search(None, 1.0, 0.95))
