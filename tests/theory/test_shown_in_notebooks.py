"""What a notebook shows of answers of the theory: their numbers, in words, and nothing that could be run."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.recovery import recover_strength

LAW = kn.Tanh(nu=0.5)
LEAGUE = kn.Normal([4.0, 5.5, 7.0, 8.0, 10.0], sigma=1.0)


def facts(page: str) -> dict[str, str]:
    return dict(re.findall(r"<th scope='row'>(.*?)</th><td.*?>(.*?)</td>", page, flags=re.DOTALL))


@pytest.mark.parametrize("noise", ["none", "gaussian"])
def test_a_stationary_state_shows_ratings_slope_and_noise(noise):
    state = kn.stationary(kn.RatingSystem(LAW, gamma=0.3), LEAGUE, noise=noise)
    page = state._repr_html_()
    shown = facts(page)
    slope = np.polyfit([4.0, 5.5, 7.0, 8.0, 10.0], state.rating, 1)[0]
    assert shown["teams"] == "5" and shown["stable"] == "yes" and shown["strengths"] == "4 to 10"
    assert shown["ratings"] == f"{min(state.rating):.4g} to {max(state.rating):.4g}"
    assert float(shown["slope of rating on strength"]) == pytest.approx(slope, rel=1e-3)
    found = shown.get("noise of a rating (one standard deviation)")
    assert (found is None) if noise == "none" else found == f"{np.sqrt(np.mean(state.variance)):.3g}"
    assert page.count("<li>") == len(state.caveats)
    assert all(one.sentence.replace("'", "&#x27;") in page for one in state.caveats)


def test_recovered_strengths_show_their_standard_error_where_there_is_one():
    ratings = [4.6, 7.0, 9.4]
    assert "standard error of a strength" not in facts(recover_strength(LAW, ratings, 1.0)._repr_html_())
    found = recover_strength(LAW, ratings, 1.0, gamma=0.1)
    assert found.standard_error is not None
    shown = facts(found._repr_html_())
    assert shown["ratings"] == "4.6 to 9.4" and shown["strengths"] == f"{found.theta[0]:.4g} to {found.theta[2]:.4g}"
    assert float(shown["standard error of a strength"]) == pytest.approx(
        np.sqrt(np.mean(np.square(found.standard_error))), rel=1e-2
    )


def test_what_choosing_opponents_brings_is_shown_as_its_sentence_and_names_are_escaped():
    league = kn.Normal([4.0, 5.5, 7.0], sigma=1.0)
    found = kn.farming(LAW, league, 2)
    assert facts(found._repr_html_()) == {found.team: found.sentence.replace("'", "&#x27;")}
    league = kn.model.Results([[0.0, -0.2, -0.5], [0.2, 0.0, -0.3], [0.5, 0.3, 0.0]], names=["<b>", "c", "d"])
    page = kn.farming(LAW, league, 0)._repr_html_()
    assert "&lt;b&gt; is rated" in page and "<b>" not in page


def test_a_league_of_equals_is_shown():
    state = kn.stationary(kn.RatingSystem(LAW, gamma=0.1), kn.theory.Continuum(theta=0.0, sigma=1.0), noise="gaussian")
    shown = facts(state._repr_html_())
    assert shown["strengths"] == "0 to 0" and "slope of rating on strength" not in shown


def test_results_are_shown_by_their_numbers_on_a_line():
    """The numbers that a result stands for, and neither the league nor whole solutions inside it."""
    system, league = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], 1.0)
    found = kn.tracking(system, league, kn.model.Walk(0.1))
    assert repr(found) == f"Tracking(V={found.V:.6g}, C={found.C:.6g}, U={found.U:.6g}, E={found.E:.6g})"
    speed = kn.relaxation(system, league)
    assert repr(speed) == f"Relaxation(gap={speed.gap}, gamma=0.05, played=1.0)"
    still = kn.stationary(system, league)
    assert repr(still) == (
        f"StationaryState: 3 teams, ratings from {still.rating[0]:.4g} to {still.rating[2]:.4g}, stable"
    )
