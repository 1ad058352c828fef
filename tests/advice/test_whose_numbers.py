"""What a diagnosis says of form, of open leagues and of Glicko: the numbers as played, and of whom they are."""

import numpy as np
import pytest

import kinelo as kn

TANH = kn.Tanh(nu=0.5)


def test_a_league_with_form_is_stretched_by_noise_and_by_following_form():
    """The slope is that of the league as played (3.5 standard errors, below 0.1 % by chance); of its excess over that
    of small steps noise alone is the smaller part, so it is not named alone.
    """
    league, form, system = (
        kn.Fixed(np.linspace(-1.5, 1.5, 15)),
        kn.model.Form(0.003, 1.2),
        kn.RatingSystem(TANH, gamma=0.15),
    )
    found = kn.diagnose(system, league, form)
    run = kn.simulate(
        system, league, steps=20_000, matches_per_step=7, record_every=50, realisations=16, seed=3, dynamics=form
    )
    slopes = np.array([np.polyfit(league.theta, one, 1)[0] for one in run.rating.values[:, 80:].mean(axis=1)])
    assert abs(slopes.mean() - found.slope) < 3.5 * slopes.std(ddof=1) / 4
    rest = kn.Normal(league.theta, 1.2)
    noise = kn.stationary(system, rest, noise="gaussian").slope - kn.stationary(system, rest).slope
    excess = found.slope - found.slope_of_small_steps
    assert 0 < noise < 0.3 * excess
    rows = dict(found.rows())
    assert rows["Scale of the ratings"].endswith(f"{excess:+.4f} by rating noise and following form)")
    assert rows["Rating noise"].startswith("with form and luck a rating varies by ± ")


@pytest.mark.parametrize(
    ("rate", "pool", "start", "rule"),
    [
        pytest.param(
            0.01, [5.0, 9.0], 7.0, kn.model.FallingSteps(0.05, boost=10.0, matches=10), marks=pytest.mark.long
        ),
        (0.02, [-2.0, -1.0, 0.0, 0.5, 3.0], -0.5, kn.model.FallingSteps(0.08, boost=4.0, matches=10)),
        pytest.param(
            0.01, [-1.5, -0.4, 0.2, 0.9, 1.1], 0.0, kn.model.FallingSteps(0.05, boost=6.0, matches=15),
            marks=pytest.mark.long,
        ),
    ],
)  # fmt: skip
def test_the_error_of_falling_steps_among_newcomers_is_that_of_leagues(rate, pool, start, rule):
    """Three per cent and three standard errors: below 0.3 % by chance each; those are at most two per cent."""
    league, turnover = kn.Fixed([float(np.mean(pool))] * 60), kn.model.Turnover(rate=rate, theta=pool, start=start)
    (one,) = kn.design(
        league, turnover, {"f": kn.RatingSystem(TANH, gamma=rule)}, matches=1500, realisations=24
    ).systems
    assert one.standard_error < 0.02 * one.error
    assert one.theory == pytest.approx(one.error, abs=0.03 * one.error + 3 * one.standard_error)


def test_glicko_with_form_errs_to_the_side_that_its_caveat_names():
    """Theory says more error than leagues have, by at most 6 %: three standard errors, below 0.2 % by chance."""
    league, form = kn.Fixed([0.0] * 100), kn.model.Form(0.009, 1.0)
    system = kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(growth=0.1, start=1.0))
    (one,) = kn.design(league, form, {"g": system}, matches=4000, realisations=16, seed=5).systems
    [caveat] = kn.tracking(system, league, form).caveats
    assert caveat.reason == "deviations" and "too much error" in caveat.sentence
    assert 3 * one.standard_error < one.theory - one.error < caveat.error * one.error


def test_rows_of_an_open_league_say_of_whom_they_are():
    league, turnover = kn.Normal([6.0, 7.0, 9.0], 1.0), kn.model.Turnover(rate=0.01, theta=[5.0, 8.0, 9.0], start=7.0)
    found = kn.diagnose(kn.RatingSystem(TANH, gamma=0.1), league, turnover)
    rows, closed = dict(found.rows()), dict(kn.diagnose(kn.RatingSystem(TANH, gamma=0.1), league).rows())
    for name in ("Scale of the ratings", "Rated too high", "Rated too low"):
        assert rows[name] == f"if nobody came or left: {closed[name]}"
    # The spread of strengths is that of newcomers, the noise is not: no share of one in the other is said.
    assert rows["Rating noise"] == f"if nobody came or left: {closed['Rating noise'].split(',')[0]}"
    error = kn.best_gamma(TANH, league, turnover).error_near(0.1)
    assert rows["Error"].startswith("once all have come as newcomers: mean square of rating less strength ")
    assert found.error.total == pytest.approx(error, rel=0.02) and rows["Error"] != closed["Error"]
