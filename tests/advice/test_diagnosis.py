"""The verdict: its numbers are those of the parts, its words follow them, and every form of it can be read."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import kinelo as kn
from kinelo.advice.judged import JudgedLeague, resting
from kinelo.advice.words import ConditionB, _scale, rows_of


def system(gamma=0.05, nu=0.5, pairing=None):
    return kn.RatingSystem(kn.Tanh(nu), pairing or kn.model.AllPlayAll(), gamma)


@pytest.fixture(scope="module")
def shrunken():
    return kn.diagnose(system(), kn.homogeneous(sigma=1.0, teams=40))


def words(verdict):
    console = Console(width=200, file=io.StringIO())
    with console.capture() as capture:
        console.print(verdict)
    return capture.get()


@pytest.mark.parametrize(
    ("shrinkage", "small", "dynamics", "sentence"),
    [
        (0.01, 1.0, None, "as wide as the strengths (slope 0.9900: 1.0000 for very small steps, -0.0100 by rating "
         "noise)"),
        (-0.01, 1.01, None, "as wide as the strengths (slope 1.0100: 1.0100 for very small steps, +0.0000 by "
         "rating noise)"),
        (0.012, 1.0, kn.model.Walk(0.1), "shrunken by 1.2 % (slope 0.9880: 1.0000 for very small steps, -0.0120 by "
         "rating noise and lag)"),
        (-0.25, 1.012, kn.model.Form(0.1, 1.0), "stretched by 25.0 % (slope 1.2500: 1.0120 for very small steps, where "
         "the curve of results stretches by itself, +0.2380 by rating noise and following form)"),
    ],
)  # fmt: skip
def test_a_scale_is_as_wide_up_to_one_per_cent(shrinkage, small, dynamics, sentence):
    facts = {"slope": 1 - shrinkage, "shrinkage": shrinkage, "slope_of_small_steps": small, "dynamics": dynamics}
    assert _scale(SimpleNamespace(**facts, learns=False)) == sentence
    assert _scale(SimpleNamespace(**facts, learns=True)) == sentence.partition(":")[0] + ")"


def test_the_numbers_are_those_of_the_parts(shrunken):
    league = kn.homogeneous(sigma=1.0, teams=40)
    state = kn.stationary(system(), league, noise="gaussian")
    assert shrunken.slope == state.slope
    assert shrunken.shrinkage == 1 - state.slope
    assert shrunken.slope_of_small_steps == kn.stationary(system(), league).slope
    assert shrunken.rating_noise == pytest.approx(np.sqrt(state.variance.mean()))
    noisy = kn.relaxation(system(), league, noise="gaussian")
    assert shrunken.matches_until_converged == pytest.approx(noisy.matches_per_team(0.01), rel=1e-9)
    assert shrunken.error.total == pytest.approx(state.error) and shrunken.error.lag == 0
    assert shrunken.unbiased_gamma == pytest.approx(kn.unbiased_gamma(kn.Tanh(0.5), league))
    assert shrunken.condition.holds and shrunken.condition.load == pytest.approx(0.5)
    assert shrunken.overrated[0].team == "team 0" and shrunken.underrated[0].team == "team 39"
    assert shrunken.overrated[0].bias == pytest.approx(state.bias.max())
    assert len(shrunken.overrated) == len(shrunken.underrated) == 5


def test_taylor_error_is_the_largest_over_all_pairs(shrunken):
    league = kn.homogeneous(sigma=1.0, teams=40)
    exact, taylor = (kn.expected_result(kn.Tanh(0.5), league, closure) for closure in ("exact", "taylor"))
    assert shrunken.taylor.largest_error == pytest.approx(np.abs(exact - taylor).max())


def test_a_good_system_is_left_alone():
    verdict = kn.diagnose(system(gamma=0.001), kn.Fixed([0.0, 1.0, 2.0]))
    assert verdict.remedy is None and len(verdict.advice) == 1 and verdict.advice[0].startswith("Nothing")
    assert (
        f"{verdict.error.total:.4g} is {100 * verdict.error.total / np.var([0.0, 1.0, 2.0], ddof=1):.1f} %"
        in verdict.advice[0]
    )
    assert verdict.taylor.usable


def test_equal_teams_are_not_spoken_of_as_a_scale():
    verdict = kn.diagnose(system(gamma=0.2), kn.Fixed(np.zeros(7)))
    assert verdict.remedy is None and "all teams are equally strong" in verdict.advice[0]
    assert f"± {verdict.rating_noise:.3g}" in verdict.advice[0] and "scale" not in verdict.advice[0]


def test_a_failing_condition_is_told():
    verdict = kn.diagnose(system(), kn.homogeneous(sigma=2.0, teams=20))
    assert not verdict.condition.holds and verdict.condition.margin < 0
    assert not verdict.taylor.usable
    assert "fails: the largest σ_i² + σ_j² is 200 % of its limit" in words(verdict)


def test_a_pairing_by_rating():
    verdict = kn.diagnose(system(pairing=kn.model.Local()), kn.homogeneous(sigma=1.0, teams=20))
    there = system(gamma=verdict.unbiased_gamma, pairing=kn.model.Local())
    league = kn.homogeneous(sigma=1.0, teams=20)
    assert kn.stationary(there, league, noise="gaussian").slope == pytest.approx(1, abs=1e-5)
    assert verdict.stable and f"γ = {verdict.unbiased_gamma:.4g}" in words(verdict)
    each = kn.diagnose(kn.RatingSystem(kn.Tanh(0.5), gamma=(0.05, 0.1, 0.2)), kn.Normal([0.0, 1.0, 3.0], 1.0))
    assert each.unbiased_gamma is None and "none found" in words(each)


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
    assert {verdict.farming.team, verdict.farming.opponent} == {"team 0", "team 1"} and verdict.farming.points == 0


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
    with pytest.raises(kn.errors.NoStationaryState):
        kn.diagnose(system(), kn.Normal([0.0, 300.0], 1.0))


@pytest.mark.parametrize(
    "strengths",
    [
        kn.Normal(np.linspace(-2, 2, 30), np.where(np.arange(30) % 2, 0.3, 0.8)),
        kn.theory.Continuum(theta=(-2, 2), sigma=0.5),
    ],
    ids=["league", "continuum"],
)
def test_noise_at_the_step_advised_is_that_of_the_state_there(strengths):
    verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=1.0), gamma=0.02), strengths)
    there = kn.stationary(kn.RatingSystem(kn.Tanh(nu=1.0), gamma=verdict.unbiased_gamma), strengths, noise="gaussian")
    assert verdict.unbiased_gamma > 0
    assert verdict.noise_when_unbiased == pytest.approx(np.sqrt(there.teams.mean(there.variance)), rel=1e-6)


@pytest.mark.parametrize("form", [0.0, 0.75])
@pytest.mark.parametrize(
    "strengths",
    [kn.Normal([-2.0, 0.5, 1.0], [0.5, 1.0, 0.25]), kn.theory.Continuum(theta=(-2, 3), sigma=0.5)],
    ids=["league", "continuum"],
)
def test_form_makes_performances_wider_and_strengths_stay_those_of_the_league(strengths, form):
    """As steps vanish ratings settle where wider performances send them, and are held against the league's own."""
    limit = resting(system(), JudgedLeague(strengths, kn.model.Form(rate=0.1, spread=form) if form else None))
    own = kn.stationary(system(), strengths)
    assert np.array_equal(limit.teams.theta, own.teams.theta) and np.array_equal(limit.teams.sigma, own.teams.sigma)
    if isinstance(strengths, kn.Normal):
        wider = kn.Normal(strengths.theta, np.sqrt(strengths.sigma**2 + form**2))
    else:
        wider = kn.theory.Continuum(theta=(-2, 3), sigma=np.sqrt(0.25 + form**2))
    assert limit.rating == pytest.approx(kn.stationary(system(), wider).rating, abs=1e-7)
    assert (np.abs(limit.rating - own.rating).max() > 0.05) == (form > 0)


def test_rows_show_the_numbers_in_both_directions():
    plain = kn.diagnose(system(gamma=0.1), kn.Normal(np.linspace(0, 4, 6), 0.5), check=False)
    for slope, said in (
        (0.8, "shrunken by 20.0 %"),
        (1.25, "stretched by 25.0 %"),
        (1.001, "as wide as the strengths"),
    ):
        rows = dict(rows_of(replace(plain, slope=slope, slope_of_small_steps=0.7)))
        assert rows["Scale of the ratings"] == (
            f"{said} (slope {slope:.4f}: 0.7000 for very small steps, {slope - 0.7:+.4f} by rating noise)"
        )
    told = replace(plain, unbiased_gamma=0.25, noise_when_unbiased=0.8, error_when_unbiased=0.71, rating_noise=0.3)
    rows = dict(rows_of(told))
    assert rows["Unbiased step size"] == (
        "γ = 0.25 (K = 0.5) makes the slope 1: no bias on average, but a rating wanders by ± 0.8 instead of ± 0.3, and "
        f"the mean square error is 0.71 instead of {plain.error.total:.3g}"
    )
    parts = plain.error
    assert rows["Error"] == (
        f"mean square of rating less strength {parts.bias + parts.noise + parts.lag:.4g}: bias {parts.bias:.3g}, noise "
        f"{parts.noise:.3g}, lag 0"
    )
    assert rows["Rating noise"].startswith("a rating wanders by ± 0.3 ")
    rows = dict(rows_of(replace(plain, rating_noise=0.3, strength_spread=1.5, condition=ConditionB(True, 0.2, 0.8))))
    assert rows["Rating noise"] == (
        "a rating wanders by ± 0.3 (one standard deviation), 20 % of the spread of strengths in the league"
    )
    assert rows["Condition (B')"] == "holds: the largest σ_i² + σ_j² is 20 % of its limit, a margin of 80 %"
    high, low = rows["Rated too high"].splitlines()[0], rows["Rated too low"].splitlines()[0]
    assert high.startswith("team 0: +") and low.startswith("team 5: -")


def test_glicko_is_judged_with_its_noise_and_told_of_no_step():
    """The noise of the ratings stretches them: the slope with it lies above the slope without."""
    glicko = kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.DeviationSteps(0.2, 1.0))
    league = kn.Fixed(np.linspace(4, 10, 20))
    found = kn.diagnose(glicko, league, check=True)
    noisy, still = (kn.theory.settled_deviations(glicko, league, noise=noise) for noise in ("gaussian", "none"))
    assert found.slope == noisy.slope and noisy.slope > still.slope + 0.02
    [slope] = [one for one in found.check.quantities if one.name == "slope"]
    assert slope.agrees and abs(slope.played - still.slope) > abs(slope.played - noisy.slope)
    assert "γ" not in " ".join(found.advice) and "the growth of deviations from 0.2 to" in found.advice[0]
    assert "no γ is chosen" in words(found)


def test_a_league_is_played_where_one_is_asked_for():
    league = kn.Normal(np.linspace(0, 4, 6), 0.5)
    outside = kn.diagnose(system(gamma=0.5), league)
    assert [one.reason for one in outside.caveats] == ["large steps"] and outside.check is None
    assert "Outside the range of theory" in words(outside)
    played = kn.diagnose(system(gamma=0.1), league, check=True)
    assert played.caveats == () and played.check.agrees and played.check.quantities[0].theory == played.slope
    text = words(played)
    assert "Played beside it" in text and "Played with the change" in text and "as played (z = " in text
    content = played.to_dict()
    assert content["check"]["quantities"][0]["name"] == "slope"
    few = kn.diagnose(system(gamma=0.05), kn.Normal([0.0, 1.0, 2.0], 0.5))
    assert [one.reason for one in few.caveats] == ["few teams"]


def test_a_check_that_nobody_asked_for_loads_no_simulator():
    code = (
        "import sys, kinelo as kn; kn.diagnose(kn.RatingSystem(kn.Tanh(0.5), gamma=0.5), kn.Normal([0.0, 1.0], 0.5));"
        "sys.exit('kinelo.micro.simulate' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
