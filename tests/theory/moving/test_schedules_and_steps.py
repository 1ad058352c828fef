"""Tracking where steps differ, deviations choose them, or periods are rated at once: limits, twins and simulation."""

import math

import numpy as np
import pytest

import kinelo as kn

HALF = kn.Tanh(0.5)
EQUALS = kn.theory.Continuum(0.0)
FORM = kn.model.Form(0.01, 1.0)


def simulated(system, league, dynamics, steps, matches, realisations, seed=1):
    """Mean square error about league means, after two fifths of the run, and its standard error."""
    run = kn.simulate(
        system, league, steps=steps, matches_per_step=matches, seed=seed, realisations=realisations, dynamics=dynamics,
        record_every=1,
    )  # fmt: skip
    gap = (run.rating.values - run.strength.values)[:, 2 * steps // 5 :]
    gap = gap - gap.mean(axis=2, keepdims=True)
    teams = gap.shape[2]
    errors = (gap**2).mean(axis=(1, 2)) * teams / (teams - 1)
    return errors.mean(), errors.std(ddof=1) / math.sqrt(realisations)


def test_equal_steps_given_one_by_one_are_one_step():
    league = kn.Normal(np.linspace(-1, 1, 5), 0.3)
    one = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), league, FORM)
    each = kn.tracking(kn.RatingSystem(HALF, gamma=[0.1] * 5), league, FORM)
    assert pytest.approx((one.closure.C, one.closure.U), rel=1e-9) == (each.C, each.U)
    with pytest.raises(kn.InputError, match="one per team"):
        kn.tracking(kn.RatingSystem(HALF, gamma=[0.1] * 4), league, FORM)


def test_steps_that_differ_against_simulation():
    """Every second team rated four times as fast: within 4 errors and 1 %."""
    system = kn.RatingSystem(HALF, gamma=np.where(np.arange(60) % 2, 0.05, 0.2))
    league = kn.Fixed(np.linspace(-2, 2, 60))
    found = kn.tracking(system, league, FORM)
    error, spread = simulated(system, league, FORM, 200, 600, 12)
    assert abs(error - found.E) < 4 * spread + 0.01 * found.E
    slow, fast = found.teams.covariance[1::2], found.teams.covariance[::2]
    assert slow.max() < fast.min()


def test_periods_of_many_matches_inflate_noise_as_rounds_do():
    """At rest and linear: γ/(ν(2 − γ(n + 1)μ)), which with n = N − 1 is the variance of a mode of whole rounds."""
    gamma, nu = 1e-4, 0.5
    for n in (1, 20, 9000):
        system = kn.RatingSystem(HALF, gamma=gamma, schedule=kn.model.Period(n))
        # A walk of next to nothing: strengths at rest.
        found = kn.tracking(system, EQUALS, kn.model.Walk(1e-9))
        assert pytest.approx(gamma / (nu * (2 - gamma * (n + 1) * nu)), rel=2e-4) == found.teams.within.U
    with pytest.raises(kn.errors.NoStationaryState, match="overshoot"):
        kn.tracking(kn.RatingSystem(HALF, gamma=0.5, schedule=kn.model.Period(50)), EQUALS, kn.model.Walk(0.01))


def test_period_of_one_match_is_nearly_match_by_match():
    """They differ by the randomness of the clock alone, at order ω."""
    once = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), EQUALS, FORM)
    period = kn.tracking(kn.RatingSystem(HALF, gamma=0.1, schedule=kn.model.Period(1)), EQUALS, FORM)
    assert pytest.approx(period.E, rel=5e-3) == once.E
    assert period.parts.total == pytest.approx(period.E, rel=1e-9)


@pytest.mark.parametrize("schedule", [kn.model.Rounds(), kn.model.Period(9)])
def test_best_step_of_a_walk_is_the_gain_of_kalman(schedule):
    """Equal teams, a small walk: γλ = (−x + √(x² + 4x))/2, x = s²νλ with s² per round and λ = Nμ."""
    league = kn.Fixed(np.zeros(10))
    best = kn.best_gamma(HALF, league, kn.model.Walk(0.01), schedule=schedule)
    together = 10 * 0.5
    # (−x + √(x² + 4x))/2 with x = s²νλ is the Kalman gain.
    x = (0.01 * 3) ** 2 * 0.5 * together
    gain = (-x + math.sqrt(x * x + 4 * x)) / 2
    assert best.gamma * together == pytest.approx(gain, rel=0.03 if schedule == kn.model.Rounds() else 0.12)
    assert best.parts.total == pytest.approx(best.error)


def test_best_step_of_what_is_not_computed_is_said():
    with pytest.raises(kn.InputError, match="number of teams"):
        kn.best_gamma(HALF, EQUALS, schedule=kn.model.Rounds())
    with pytest.raises(kn.InputError, match="match by match"):
        kn.best_gamma(HALF, EQUALS, kn.model.Learning(0.5, diffusion=0.5), schedule=kn.model.Rounds())


def glicko(growth):
    return kn.RatingSystem(HALF, gamma=kn.model.DeviationSteps(growth, 1.0))


def test_deviation_is_calibrated_on_a_walk():
    """Strengths that walk by s = c: E(r − θ)² = RD², half noise and half lag, as c → 0."""
    for growth, near in ((0.01, 0.01), (0.002, 0.002)):
        found = kn.tracking(glicko(growth), EQUALS, kn.model.Walk(growth))
        assert pytest.approx(float(found.teams.deviation[0] ** 2), rel=2 * near) == found.E
        assert found.parts.noise == pytest.approx(found.parts.lag, rel=5 * near)


def test_deviations_on_form_against_the_reference_simulation():
    """Best Glicko over c: .4334(5) at ω = .02, .2285(11) at ω = .005; the closure lies 3 % above."""
    for rate, reference in ((0.02, 0.4334), (0.005, 0.2285)):
        step = math.sqrt(2 * rate)
        errors = [kn.tracking(glicko(c * step), EQUALS, kn.model.Form(rate, 1.0)).E for c in (0.5, 0.6, 0.7, 0.8, 0.9)]
        assert 1.0 < min(errors) / reference < 1.04


def test_deviations_of_a_league_against_simulation():
    """Other values than the reference's: 40 unequal teams, within 4 errors and 4 %."""
    league, form, system = kn.Normal(np.linspace(-2, 2, 40), 0.6), kn.model.Form(0.03, 0.7), glicko(0.1)
    found = kn.tracking(system, league, form)
    error, spread = simulated(system, league, form, 150, 400, 12)
    assert abs(error - found.E) < 4 * spread + 0.04 * found.E
    assert found.teams.deviation[0] > found.teams.deviation[20]
    with pytest.raises(kn.InputError, match="match by match"):
        kn.tracking(
            kn.RatingSystem(HALF, gamma=kn.model.DeviationSteps(0.1, 1.0), schedule=kn.model.Rounds()), league, form
        )


def test_periods_against_simulation():
    """Ten matches of every team rated at once, form moving from day to day: within 4 errors and 1 %."""
    system = kn.RatingSystem(HALF, gamma=0.15, schedule=kn.model.Period(10))
    found = kn.tracking(system, kn.Fixed(np.zeros(80)), FORM)
    error, spread = simulated(system, kn.Fixed(np.zeros(80)), FORM, 120, 400, 10)
    assert abs(error - found.E) < 4 * spread + 0.01 * found.E
    assert found.E > 1.05 * kn.tracking(kn.RatingSystem(HALF, gamma=0.15), EQUALS, FORM).E


def test_strengths_move_within_a_period():
    """On matchday k the covariance of ratings with strengths is e^{−ωk} of the first day's. Ten teams, V = .7, n = 5:
    .4211 (without it .4169); simulated .42047(41), .42008(46).
    """
    system = kn.RatingSystem(HALF, gamma=0.15, schedule=kn.model.Period(5))
    found = kn.tracking(system, kn.Fixed(np.linspace(0, 2, 10)), kn.model.Form(0.03, math.sqrt(0.7)))
    assert pytest.approx(0.421101897, abs=2e-5) == found.E


def test_periods_with_fast_form_against_simulation():
    """Other values: unequal performances, twelve matches, form that half forgets itself; 4 errors and 1.5 %."""
    system = kn.RatingSystem(HALF, gamma=0.12, schedule=kn.model.Period(12))
    league, form = kn.Normal(np.linspace(-1, 1, 16), 0.6), kn.model.Form(0.06, 0.9)
    found = kn.tracking(system, league, form)
    error, spread = simulated(system, league, form, 300, 96, 24)
    assert abs(error - found.E) < 4 * spread + 0.015 * found.E


@pytest.mark.parametrize(("days", "teams"), [(0, 4), (0, 6), (4, 6)])
def test_error_right_after_results_count(days, teams):
    """Equal teams played in plain Python: E before a match, and after it, before strengths move on; 2 %."""
    gamma, rate, V, leagues = 0.15, 0.08, 0.6, 800
    schedule = kn.model.Period(days) if days else None
    found = kn.tracking(
        kn.RatingSystem(HALF, gamma=gamma, schedule=schedule), kn.Fixed(np.zeros(teams)), kn.model.Form(rate, V**0.5)
    )
    generator = np.random.default_rng(5)
    kept, each = math.exp(-rate * (1 if days else 2 / teams)), np.arange(leagues)
    theta, rating = generator.normal(0, V**0.5, (leagues, teams)), np.zeros((leagues, teams))
    seen = []
    for _ in range(90 if days else 700):
        before, moved = (rating - theta).var(axis=1, ddof=1).mean(), np.zeros_like(rating)
        for day in range(max(days, 1)):
            if day:
                theta = kept * theta + math.sqrt(V * (1 - kept**2)) * generator.normal(size=theta.shape)
            order = generator.permuted(np.tile(np.arange(teams), (leagues, 1)), axis=1)
            for k in range(0, teams if days else 2, 2):
                i, j = order[:, k], order[:, k + 1]
                won = np.where(
                    generator.random(leagues) < (1 + np.tanh((theta[each, i] - theta[each, j]) / 2)) / 2, 1, -1
                )
                change = gamma * (won - np.tanh((rating[each, i] - rating[each, j]) / 2))
                moved[each, i] += change
                moved[each, j] -= change
        rating = rating + moved
        seen.append((before, (rating - theta).var(axis=1, ddof=1).mean()))
        theta = kept * theta + math.sqrt(V * (1 - kept**2)) * generator.normal(size=theta.shape)
    before, after = np.mean(seen[len(seen) // 3 :], axis=0)
    assert before - after > 0.02 * before
    assert after - before == pytest.approx(found.teams.after - found.teams.moments.error, rel=0.1)
    assert after == pytest.approx(found.teams.after, rel=0.02)
