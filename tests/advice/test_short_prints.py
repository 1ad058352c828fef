"""What a result prints is a line or a few, whatever the size of the league, and holds its numbers."""

import numpy as np
import pytest

import kinelo as kn

LEAGUE = kn.Normal(theta=np.linspace(0.0, 3.0, 200), sigma=0.5)
SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)


def test_a_stationary_state_prints_one_line_with_its_range_and_noise():
    state = kn.stationary(SYSTEM, LEAGUE)
    said = repr(state)
    assert "\n" not in said and len(said) < 120 and str(state) == said
    for number in (f"{state.rating[0]:.4g}", f"{state.rating[-1]:.4g}", f"{np.sqrt(state.variance.mean()):.3g}"):
        assert number in said
    assert said.startswith("StationaryState: 200 teams") and said.endswith(", stable")


def test_recovered_strengths_print_one_line():
    found = kn.theory.recover_strength(kn.Tanh(nu=0.5), np.linspace(0.0, 2.0, 200), 0.5, gamma=0.05)
    said = repr(found)
    assert "\n" not in said and f"from {found.theta.min():.4g} to {found.theta.max():.4g}" in said
    assert "standard error" in said
    assert "standard error" not in repr(kn.theory.recover_strength(kn.Tanh(nu=0.5), [0.0, 1.0], 0.5))


def test_leagues_line_ups_and_raters_with_long_lists_print_one_line():
    league = kn.sample_league(teams=8, seasons=1, seed=1)
    assert repr(league) == "League: 56 matches of 8 clubs"
    lineups = kn.read_matches(league.results, lineups=league.lineups).lineups
    assert repr(lineups).startswith("Lineups: 56 matches, 56 with both line-ups, ")
    rater = kn.TeamElo.classic(start={f"side {k}": 1500.0 + k for k in range(500)})
    assert repr(rater) == "TeamElo.classic(k=32, start=<500 names>)"
    assert repr(kn.TeamElo.classic(start={"A": 1600})) == "TeamElo.classic(k=32, start={'A': 1600})"


def test_a_diagnosis_prints_a_few_lines_and_shows_its_advice():
    found = kn.diagnose(SYSTEM, kn.Normal(theta=np.linspace(0.0, 3.0, 20), sigma=0.5))
    assert "\n" not in repr(found) and 2 < len(str(found).splitlines()) < 40
    for sentence in found.advice:
        assert sentence in repr(found) and sentence in str(found)


@pytest.mark.parametrize("make", [lambda: kn.tracking(SYSTEM, LEAGUE, kn.model.Form(rate=0.01, spread=0.3))])
def test_other_results_print_one_line(make):
    assert "\n" not in repr(make()) and len(repr(make())) < 200
