"""What a diagnosis says of strengths that move, of rounds, of deviations and of open leagues."""

import json
import math

import numpy as np
import pytest

import kinelo as kn

HALF = kn.Tanh(0.5)
LEAGUE = kn.Fixed(np.linspace(4, 10, 8))


def advice(gamma, dynamics=None, league=LEAGUE, **system):
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=gamma, **system), league, dynamics)
    json.dumps(found.to_dict(), allow_nan=False)
    assert all(sentence in found.to_html() or "&" in found.to_html() for sentence in found.advice)
    return found, " ".join(found.advice)


def test_a_step_too_small_for_form_is_raised_and_one_too_large_reduced():
    form = kn.model.Form(0.01, 1.0)
    best = kn.best_gamma(HALF, LEAGUE, form).gamma
    small, words = advice(best / 8, form)
    assert "Raise γ" in words and f"{best:.3g}" in words
    assert small.motion.best.error < small.motion.tracking.E
    assert "Reduce γ" in advice(best * 8, form)[1]
    assert "γ from" not in advice(best, form)[1]


def test_common_learning_is_told():
    found, words = advice(0.1, kn.model.Learning(0.5, diffusion=0.5))
    assert "Add 0.05 to both ratings" in words
    assert "Common learning" in str(found)


def test_rounds_that_overshoot_are_told():
    critical = kn.theory.critical_gamma(HALF, LEAGUE).critical
    unstable, words = advice(1.1 * critical, schedule=kn.model.Rounds())
    assert not unstable.stable and "makes ratings alternate" in words
    found, words = advice(0.05, schedule=kn.model.Rounds())
    assert "alternate" not in words and "Whole rounds" in str(found)


def test_a_travelling_scale_is_told():
    lopsided = kn.Fixed([0.0, 0.1, 0.2, 0.3, 5.0])
    found, words = advice(kn.model.DeviationSteps(0.3, 1.0), league=lopsided)
    assert "scale travels" in words and "Deviations" in str(found)
    assert "travels" not in advice(kn.model.DeviationSteps(0.3, 1.0))[1]


def test_an_open_league_is_told():
    found, words = advice(0.1, kn.model.Turnover(0.01, 5.0, 9.0))
    assert "Let newcomers start lower" in words
    assert found.to_dict()["motion"]["inflation"]["rating"] == pytest.approx(0.01 * (9.0 - 7.0))


def test_strengths_at_rest_are_judged_as_before():
    found, _ = advice(0.05)
    assert found.motion is None and "motion" not in found.to_dict()


def test_nonsense_is_refused():
    with pytest.raises(kn.InputError, match="dynamics must be"):
        kn.diagnose(kn.RatingSystem(HALF), LEAGUE, "form")


def test_a_schedule_is_judged_as_it_is_played():
    """Noise, settling and slope of rounds rated at once, against a simulation of them (4 errors and 1 %)."""
    league = kn.Normal(np.linspace(4, 10, 12), 1.0)
    system = kn.RatingSystem(HALF, gamma=0.12, schedule=kn.model.Rounds())
    found = kn.diagnose(system, league)
    run = kn.simulate(system, league, steps=300, matches_per_step=66, seed=1, realisations=16, record_every=1)
    rating = run.rating.values[:, 60:]
    noise = np.sqrt(rating.var(axis=1).mean(axis=1))
    assert abs(found.rating_noise - noise.mean()) < 4 * noise.std(ddof=1) / 4 + 0.01 * found.rating_noise
    x = league.theta - league.theta.mean()
    slope = rating.mean(axis=1) @ x / (x @ x)
    assert abs(found.slope - slope.mean()) < 4 * slope.std(ddof=1) / 4 + 0.01
    assert found.rating_noise > 1.05 * kn.diagnose(kn.RatingSystem(HALF, gamma=0.12), league).rating_noise
    critical = found.motion.rounds
    factor = max(abs(1 - 0.12 * critical.slowest), abs(1 - 0.12 * critical.largest))
    assert factor ** (found.matches_until_converged / 11) == pytest.approx(0.01)
    assert not kn.diagnose(
        kn.RatingSystem(HALF, gamma=1.1 * critical.critical, schedule=kn.model.Rounds()), league
    ).stable


def test_periods_are_judged_between_matches_and_rounds():
    league = kn.Normal(np.linspace(4, 10, 12), 1.0)
    noises = [
        kn.diagnose(kn.RatingSystem(HALF, gamma=0.12, schedule=schedule), league).rating_noise
        for schedule in (None, kn.model.Period(5), kn.model.Period(11), kn.model.Rounds())
    ]
    assert noises[0] < noises[1] < noises[2]
    # In a period it is left to chance who meets whom: a little more noise than in a round of as many matches.
    assert noises[3] < noises[2] < 1.02 * noises[3]


def test_noise_at_the_unbiased_step_is_that_of_the_state_there():
    """Noise grows faster than √γ, for it flattens b."""
    league = kn.Normal(np.linspace(4, 10, 12), 1.0)
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.05), league)
    there = kn.stationary(kn.RatingSystem(HALF, gamma=found.unbiased_gamma), league, noise="gaussian")
    assert found.noise_when_unbiased == pytest.approx(np.sqrt(there.variance.mean()))
    assert found.noise_when_unbiased > 1.1 * found.rating_noise * np.sqrt(found.unbiased_gamma / 0.05)
    assert (
        f"± {found.noise_when_unbiased:.3g} instead of ± {found.rating_noise:.3g}"
        in dict(found.rows())["Unbiased step size"]
    )


def test_a_league_with_form_is_described_by_the_closure_with_form():
    """Six teams, γ = .3, Form(.02, .8): ratings wander by ± .92 (closure .931), slope 1.083 (closure 1.098); standing
    still the same league has .568 and 1.1505.
    """
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.3), kn.Fixed(np.linspace(0, 2, 6)), kn.model.Form(0.02, 0.8))
    assert found.rating_noise == pytest.approx(0.931, abs=0.003)
    assert found.slope == pytest.approx(1.098, abs=0.002)
    assert "varies by ± 0.931" in dict(found.rows())["Rating noise"]


def test_noise_slope_and_bias_with_form_against_simulation():
    """Other values: 10 teams of varying performance; noise and slope of mean ratings within 4 errors and 2 %."""
    league, form = kn.Normal(np.linspace(-2, 2, 10), 0.7), kn.model.Form(0.04, 0.6)
    system = kn.RatingSystem(HALF, gamma=0.12)
    found = kn.diagnose(system, league, form)
    run = kn.simulate(
        system, league, steps=400, matches_per_step=50, realisations=24, seed=3, record_every=1, dynamics=form
    )
    rating = run.rating.values[:, 80:]
    noise = np.sqrt(rating.var(axis=1).mean(axis=1))
    x = league.theta - league.theta.mean()
    slope = rating.mean(axis=1) @ x / (x @ x)
    for measured, value in ((noise, found.rating_noise), (slope, found.slope)):
        assert abs(measured.mean() - value) < 4 * measured.std(ddof=1) / math.sqrt(24) + 0.02 * value
    best = rating.mean(axis=(0, 1))[-1] - league.theta[-1]
    assert found.underrated[0].team in ("team 9", "team 0") and found.underrated[0].bias == pytest.approx(
        best, abs=0.05
    )


def test_steps_of_their_own_and_form_in_an_open_league_are_judged():
    steps, form = tuple(np.linspace(0.05, 0.4, 8)), kn.model.Form(0.02, 0.8)
    for dynamics in (None, form):
        found, words = advice(steps, dynamics)
        assert "Multiply all steps by" in words and found.remedy.after.total < found.remedy.before.total
    found, words = advice(0.1, (form, kn.model.Turnover(0.01, 5.0, 9.0)))
    assert pytest.approx(kn.tracking(kn.RatingSystem(HALF, gamma=0.1), LEAGUE, form).E) == found.motion.tracking.E
    assert "Let newcomers start lower" in words and found.to_dict()["motion"]["inflation"]["rating"] == pytest.approx(
        0.02
    )


def test_a_walk_is_told_the_right_way_round():
    """Ratings lie too close together, though without the lag they would seem too far apart."""
    league = kn.Fixed(np.linspace(-1, 1, 30))
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.004), league, kn.model.Walk(0.01))
    assert found.motion.tracking.forecast_slope > 1.05 and found.slope < 0.9
    assert "shrunken" in dict(found.rows())["Scale of the ratings"] and found.underrated[0].theta == pytest.approx(1.0)
    assert found.remedy.kind == "step" and "Raise γ" in found.advice[0]
