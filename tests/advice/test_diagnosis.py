"""The verdict: its numbers are those of the parts, its words follow them, and every form of it can be read."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import kinelo as kn


def system(gamma=0.05, nu=0.5, pairing=None):
    return kn.RatingSystem(kn.Tanh(nu), pairing or kn.AllPlayAll(), gamma)


@pytest.fixture(scope="module")
def shrunken():
    return kn.diagnose(system(), kn.homogeneous(sigma=1.0, teams=40))


def words(verdict):
    console = Console(width=200, file=io.StringIO())
    with console.capture() as capture:
        console.print(verdict)
    return capture.get()


def test_the_numbers_are_those_of_the_parts(shrunken):
    league = kn.homogeneous(sigma=1.0, teams=40)
    state = kn.stationary(system(), league, noise="gaussian")
    assert shrunken.slope == state.slope
    assert shrunken.shrinkage == 1 - state.slope
    assert shrunken.slope_of_small_steps == kn.stationary(system(), league).slope
    assert shrunken.rating_noise == pytest.approx(np.sqrt(state.variance.mean()))
    assert shrunken.matches_until_converged == kn.relaxation(system(), league).matches_per_team(0.01)
    assert shrunken.unbiased_gamma == pytest.approx(kn.unbiased_gamma(kn.Tanh(0.5), league))
    assert shrunken.condition.holds and shrunken.condition.load == pytest.approx(0.5)
    assert shrunken.overrated[0].team == "team 0" and shrunken.underrated[0].team == "team 39"
    assert shrunken.overrated[0].bias == pytest.approx(state.bias.max())
    assert len(shrunken.overrated) == len(shrunken.underrated) == 5


def test_taylor_error_is_the_largest_over_all_pairs(shrunken):
    league = kn.homogeneous(sigma=1.0, teams=40)
    exact, taylor = (kn.expected_result(kn.Tanh(0.5), league, closure) for closure in ("exact", "taylor"))
    assert shrunken.taylor.largest_error == pytest.approx(np.abs(exact - taylor).max())


def test_advice_for_a_shrunken_scale(shrunken):
    advice = " ".join(shrunken.advice)
    assert "raise γ from 0.05 to" in advice
    assert f"Divide rating gaps by {shrunken.slope:.3f}" in advice


def test_advice_for_a_stretched_scale():
    verdict = kn.diagnose(system(gamma=0.6), kn.Continuum((4, 10), 0.0))
    assert verdict.unbiased_gamma == 0
    assert "rating noise stretches the ratings by 28.6%" in " ".join(verdict.advice)
    assert "a continuum of teams" in words(verdict)


def test_a_good_system_is_left_alone():
    verdict = kn.diagnose(system(gamma=0.001), kn.Fixed([0.0, 1.0, 2.0]))
    assert verdict.advice == ("Nothing: the ratings are on the scale of the strengths.",)
    assert verdict.taylor.usable


def test_a_failing_condition_is_told():
    verdict = kn.diagnose(system(), kn.homogeneous(sigma=2.0, teams=20))
    assert not verdict.condition.holds and verdict.condition.margin < 0
    assert not verdict.taylor.usable
    assert "fails: the largest σ_i² + σ_j² is 200% of its limit" in words(verdict)


def test_a_pairing_by_rating():
    verdict = kn.diagnose(system(pairing=kn.Local()), kn.homogeneous(sigma=1.0, teams=20))
    assert verdict.unbiased_gamma is None
    assert verdict.stable
    assert "none found" in words(verdict)


def test_the_dictionary_is_json(shrunken):
    content = json.loads(json.dumps(shrunken.to_dict(), allow_nan=False))
    assert content["outcome"] == {"kind": "tanh", "nu": 0.5}
    assert content["pairing"] == {"kind": "allplayall"}
    assert content["condition"]["holds"] is True
    assert content["slope"] == shrunken.slope
    assert content["overrated"][0]["team"] == "team 0"
    assert content["advice"] == list(shrunken.advice)


def test_undefined_numbers_become_null():
    verdict = kn.diagnose(system(), kn.Normal([1.0, 1.0], [0.0, 1.0]))
    assert verdict.to_dict()["slope"] is None
    assert "same mean strength" in words(verdict)


def test_table_and_html_say_the_same(shrunken):
    text, html = words(shrunken), shrunken.to_html()
    for line in ("Condition (B", "Taylor closure", "Rated too high", "Time to settle", "Unbiased step size"):
        assert line in text and line in html
    assert shrunken._repr_html_() == html
    assert str(shrunken).count("\n") >= 8


def test_names_are_escaped_in_html():
    league = kn.Normal([0.0, 1.0], 1.0, names=["<b>Home</b>", "A & B"])
    html = kn.diagnose(system(), league).to_html()
    assert "<b>Home" not in html and "&lt;b&gt;Home" in html and "A &amp; B" in html


def test_large_leagues():
    random = np.random.default_rng(11)
    verdict = kn.diagnose(system(), kn.Normal(random.uniform(4, 10, 2000), random.uniform(0, 1, 2000)))
    assert verdict.league == "2,000 teams"
    assert 0.8 < verdict.slope < 1


def test_no_stationary_state():
    with pytest.raises(kn.NoStationaryState):
        kn.diagnose(system(), kn.Normal([0.0, 300.0], 1.0))


@pytest.mark.parametrize(
    "strengths",
    [
        kn.Normal(np.linspace(-2, 2, 30), np.where(np.arange(30) % 2, 0.3, 0.8)),
        kn.Continuum(theta=(-2, 2), sigma=0.5),
    ],
    ids=["league", "continuum"],
)
def test_noise_at_the_step_advised_is_that_of_the_state_there(strengths):
    verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=1.0), gamma=0.02), strengths)
    there = kn.stationary(kn.RatingSystem(kn.Tanh(nu=1.0), gamma=verdict.unbiased_gamma), strengths, noise="gaussian")
    assert verdict.unbiased_gamma > 0
    assert verdict.noise_when_unbiased == pytest.approx(np.sqrt(there.teams.mean(there.variance)), rel=1e-6)
