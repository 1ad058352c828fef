"""Mean and noise of stationary ratings against simulated leagues of 200 teams.

Each simulation starts at the predicted means, forgets its start for six relaxation times, and is then read once per
relaxation time. Seeds are fixed. The standard error of a simulated slope is below .0012 in every case (taken from the
spread between realisations), so a right prediction misses the tolerance of .004 with probability below .002.
"""

import numpy as np
import pytest

import kinelo as kn

TEAMS, BURN, READINGS = 200, 6, 40


def simulated(system, league, state, *, seed, realisations=96, relaxation=None):
    every = max(1, round(1 / (system.gamma * (relaxation or kn.relaxation(system, league).gap))))
    run = kn.simulate(
        system,
        league,
        steps=every * (BURN + READINGS),
        matches_per_step=league.teams // 2,
        realisations=realisations,
        seed=seed,
        start=state.rating,
        record_every=every,
        threads=2,
    )
    return run.rating.isel(time=slice(BURN + 1, None)).values


def slope_and_error(rating, theta):
    centred = theta - theta.mean()
    per_run = (rating @ centred).mean(axis=1) / (centred @ centred)
    return per_run.mean(), per_run.std(ddof=1) / np.sqrt(per_run.size)


@pytest.mark.parametrize(
    ("sigma", "gamma"),
    [
        (0.0, 0.6),
        (0.5, 0.4),
        (1.0, 0.2),
        *(pytest.param(*more, marks=pytest.mark.long) for more in ((0.0, 0.2), (1.0, 0.6))),
    ],
)
def test_slope_and_variance(sigma, gamma):
    system, league = kn.RatingSystem(kn.Tanh(0.5), gamma=gamma), kn.homogeneous(sigma=sigma, teams=TEAMS)
    state = kn.stationary(system, league, noise="gaussian")
    rating = simulated(system, league, state, seed=1)
    slope, error = slope_and_error(rating, league.theta)
    assert error < 0.0013
    assert state.slope == pytest.approx(slope, abs=0.004)
    assert state.variance.mean() == pytest.approx(rating.var(axis=(0, 1)).mean(), rel=0.03)


def test_slope_at_the_unbiased_step():
    league = kn.homogeneous(sigma=1.0, teams=TEAMS)
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=kn.unbiased_gamma(kn.Tanh(0.5), league))
    rating = simulated(system, league, kn.stationary(system, league, noise="gaussian"), seed=2)
    assert slope_and_error(rating, league.theta)[0] == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize(
    ("outcome", "pairing", "league"),
    [
        (kn.model.Davidson(0.5, 1.0), kn.model.AllPlayAll(), kn.homogeneous(sigma=1.0, teams=60)),
        (kn.model.Probit(0.4), kn.model.AllPlayAll(), kn.homogeneous(sigma=1.0, teams=60)),
        (kn.Tanh(0.5), kn.model.Local(), kn.homogeneous(sigma=1.0, teams=60)),
        (kn.Tanh(0.5), kn.model.AllPlayAll(), kn.paper.setup_r2(teams=60)),
    ],
)
def test_other_outcomes_pairings_and_laws(outcome, pairing, league):
    system = kn.RatingSystem(outcome, pairing, 0.1)
    state = kn.stationary(system, league, noise="gaussian")
    rating = simulated(system, league, state, seed=3, realisations=64)
    slope, error = slope_and_error(rating, league.theta)
    # Four standard errors and the closure's own error, which grows where teams meet their like: probability < 1e-4.
    assert state.slope == pytest.approx(slope, abs=0.003 + 4 * error)
    assert state.variance.mean() == pytest.approx(rating.var(axis=(0, 1)).mean(), rel=0.03)


def test_a_window_lets_only_near_teams_meet():
    """Sharp edges in the simulation; in theory they are rounded, and the noise is averaged over them.

    Four standard errors of a slope and of a variance (probability < 1e-4 each), beside the closure's own error: where
    an edge cuts through the differences of two ratings, these are less normal.
    """
    system, league = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(2.0), 0.1), kn.homogeneous(sigma=1.0, teams=40)
    state = kn.stationary(system, league, noise="gaussian")
    rating = simulated(system, league, state, seed=5, realisations=32)
    slope, error = slope_and_error(rating, league.theta)
    each = ((rating - rating.mean(axis=(0, 1))) ** 2).mean(axis=(1, 2))
    assert error < 0.004
    assert state.slope == pytest.approx(slope, abs=0.01 + 4 * error)
    assert state.variance.mean() == pytest.approx(each.mean(), rel=0.02, abs=4 * each.std(ddof=1) / np.sqrt(each.size))


def test_covariance_of_a_small_league():
    """Five teams: cross-covariances are of the size of the variances. 4 standard errors of a covariance.

    800 matches of a team are more than ten times what its rating remembers.
    """
    league = kn.Normal([0.0, 0.5, 1.0, 2.0, 3.0], [0.0, 1.0, 0.5, 0.2, 1.0])
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
    state = kn.stationary(system, league, noise="gaussian")
    run = kn.simulate(
        system, league, steps=400, matches_per_step=5, realisations=4000, seed=4, start=state.rating, threads=2
    )
    last = run.rating.isel(time=-1).values
    assert last.mean(axis=0) == pytest.approx(state.rating, abs=4 * np.sqrt(state.variance.max() / 4000) + 0.002)
    tolerance = 4 * state.variance.max() / np.sqrt(4000) + 0.01 * state.variance.max()
    assert np.cov(last.T) == pytest.approx(state.covariance, abs=tolerance)
