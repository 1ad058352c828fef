"""Where theory was measured: caveats appear outside that range and not inside, and a played league settles it."""

import numpy as np
import pytest

import kinelo as kn

HALF = kn.Tanh(0.5)


def reasons(gamma, theta, *, dynamics=None, **options):
    system, league = kn.RatingSystem(HALF, gamma=gamma, **options), kn.Normal(theta, 0.5)
    if dynamics is not None:
        return [one.reason for one in kn.tracking(system, league, dynamics).caveats]
    return [one.reason for one in kn.stationary(system, league, noise="gaussian").caveats]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"gamma": 0.2, "theta": np.arange(5.0)}, []),
        ({"gamma": 0.21, "theta": np.arange(5.0)}, ["large steps"]),
        ({"gamma": 0.2, "theta": np.arange(4.0)}, ["few teams"]),
        ({"gamma": 0.5, "theta": np.arange(2.0)}, []),
        ({"gamma": 0.2, "theta": np.arange(6.0), "schedule": kn.model.Rounds()}, []),
        ({"gamma": 0.2, "theta": np.arange(7.0), "schedule": kn.model.Rounds()}, ["large batches"]),
        ({"gamma": 0.2, "theta": np.arange(6.0), "schedule": kn.model.Period(6)}, ["large batches"]),
        ({"gamma": 0.05, "theta": np.arange(6.0), "pairing": kn.model.Local()}, ["pairing by rating"]),
        ({"gamma": 0.1, "theta": np.arange(5.0), "dynamics": kn.model.Form(0.01, 1.0)}, []),
        ({"gamma": 0.1, "theta": np.arange(5.0), "dynamics": kn.model.Form(0.009, 1.0)}, ["slow form"]),
        ({"gamma": 0.1, "theta": np.arange(5.0), "dynamics": kn.model.Form(0.009, 0.4)}, []),
        ({"gamma": 0.1, "theta": np.arange(2.0), "dynamics": kn.model.Form(0.001, 1.0)}, []),
    ],
)
def test_caveats_appear_outside_the_range_and_not_inside(arguments, expected):
    """Two teams are exact; γ sup b' up to .1, five teams, ω from .01 or ν²V up to .05, nγ sup b' up to .5."""
    assert reasons(**arguments) == expected


def test_infinitely_small_steps_have_no_caveat():
    assert kn.stationary(kn.RatingSystem(HALF, gamma=5.0), kn.Normal(np.arange(3.0), 1.0)).caveats == ()


def test_claims_shrink_with_the_number_of_teams():
    claims = [
        kn.stationary(kn.RatingSystem(HALF, gamma=1.0), kn.Normal(np.linspace(0, 2, n), 0.5), noise="gaussian")
        .caveats[-1]
        .error
        for n in (3, 10, 50)
    ]
    assert claims[0] > claims[1] > claims[2] > 0.02


@pytest.mark.parametrize("how", ["still", pytest.param("form", marks=pytest.mark.long), "rounds"])
def test_a_played_league_agrees_inside_the_range(how):
    """Fixed seed; error probability below 1e-4 by the four standard errors, or 2 %."""
    league = kn.Normal(np.linspace(0, 2, 6), 0.5)
    if how == "form":
        found = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), league, kn.model.Form(0.02, 0.8), check=True)
        expected = (found.E, found.rating_slope, found.forecast_slope)
    else:
        schedule = kn.model.Rounds() if how == "rounds" else None
        system = kn.RatingSystem(HALF, gamma=0.05, schedule=schedule)
        found = kn.stationary(system, league, noise="gaussian", check=True)
        expected = (found.slope, found.error)
    assert found.check.agrees, found.check.sentence
    assert tuple(one.theory for one in found.check.quantities) == expected
    for one in found.check.quantities:
        assert one.z == pytest.approx((one.played - one.theory) / one.standard_error)
        assert one.standard_error < 0.02 * one.played


def test_a_played_league_contradicts_what_is_wrong():
    """Three teams at γν = ½: the closure says 17 % too much noise, and the league says so."""
    league = kn.Normal(np.linspace(0, 2, 3), 0.5)
    found = kn.stationary(kn.RatingSystem(HALF, gamma=1.0), league, noise="gaussian", check=True)
    error = found.check.quantities[1]
    assert not found.check.agrees and error.z < -4
    assert abs(error.theory / error.played - 1) < max(one.error for one in found.caveats)
    assert found.check.sentence.startswith("Theory and league disagree: slope ")


def test_a_walk_within_periods_against_simulation():
    """Strengths that wander from day to day; ratings about today's strengths, 4 errors and 3 %."""
    system = kn.RatingSystem(HALF, gamma=0.1, schedule=kn.model.Period(5))
    league, walk = kn.Fixed(np.zeros(30)), kn.model.Walk(0.02)
    run = kn.simulate(
        system, league, steps=60, matches_per_step=75, realisations=60, seed=3, record_every=1, dynamics=walk
    )
    gap = (run.rating - run.strength).values[:, 40:]
    each = gap.var(axis=2, ddof=1).mean(axis=1)
    found = kn.tracking(system, league, walk).E
    assert abs(each.mean() - found) < 4 * each.std(ddof=1) / np.sqrt(60) + 0.03 * found


def test_few_teams_that_learn_against_simulation():
    """Four equal teams: their strengths spread less than those of many; 4 errors and 3 %."""
    system, learning = kn.RatingSystem(HALF, gamma=0.1), kn.model.Learning(0.5, diffusion=0.4)
    found, many = (
        kn.tracking(system, league, learning) for league in (kn.Fixed(np.zeros(4)), kn.theory.Continuum(0.0))
    )
    run = kn.simulate(
        system, kn.Fixed(np.zeros(4)), steps=250, matches_per_step=160, realisations=20, seed=4, record_every=1,
        dynamics=learning,
    )  # fmt: skip
    each = run.strength.values[:, 50:].var(axis=2, ddof=1).mean(axis=1)
    assert abs(each.mean() - found.V) < 4 * each.std(ddof=1) / np.sqrt(20) + 0.03 * found.V
    assert found.V < 0.9 * many.V
