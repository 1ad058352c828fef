"""Pairings that depend on ratings: equilibria, their stability, and several of them."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.limit import _growth, drift_and_slope


def drift(system, league, rating):
    gap = rating[:, None] - rating[None, :]
    s = kn.expected_result(system.outcome, league)
    return (system.pairing.w(gap) * (s - system.outcome.b(gap))).sum(axis=1) / (league.teams - 1)


@pytest.mark.parametrize("pairing", [kn.model.Local(), kn.model.Window(2.0, smoothing=0.3), kn.model.Window(2.5)])
@pytest.mark.parametrize("sigma", [0.0, 1.0])
def test_the_drift_vanishes(pairing, sigma):
    system, league = kn.RatingSystem(kn.Tanh(0.5), pairing), kn.homogeneous(sigma=sigma, teams=40)
    state = kn.stationary(system, league)
    assert np.abs(drift(system, league, state.rating)).max() < 2e-12
    assert state.rating.mean() == pytest.approx(league.theta.mean(), abs=1e-10)


def test_growth_is_the_largest_eigenvalue_of_the_jacobian():
    system, league = kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), kn.homogeneous(sigma=1.0, teams=12)
    state, step = kn.stationary(system, league), 1e-5
    columns = [
        (drift(system, league, state.rating + h) - drift(system, league, state.rating - h)) / (2 * step)
        for h in np.eye(12) * step
    ]
    rates = np.sort(np.linalg.eigvalsh(np.array(columns)))
    assert rates[-1] == pytest.approx(0, abs=1e-8)  # the shift of all ratings
    assert state.growth == pytest.approx(rates[-2], abs=1e-8)
    assert state.stable
    assert kn.relaxation(system, league).gap == pytest.approx(-rates[-2], abs=1e-8)


def test_all_play_all_is_the_pairing_with_a_wide_window():
    league = kn.homogeneous(sigma=1.0, teams=30)
    wide = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(100.0)), league)
    assert wide.rating == pytest.approx(kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league).rating, abs=1e-10)


def test_the_start_decides_between_equilibria():
    """Two groups beyond each other's window never meet: any distance between them is an equilibrium."""
    system, league = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(2.0)), kn.Normal([0.0, 0.5, 1.0, 1.5], 0.5)
    together = kn.stationary(system, league)
    apart = kn.stationary(system, league, start=[0.0, 0.5, 21.0, 21.5])
    assert np.ptp(together.rating) < 2
    assert apart.rating[2] - apart.rating[1] > 18
    assert together.stable and apart.stable
    assert apart.rating[:2].mean() == pytest.approx(0.25, abs=1e-9)


def test_equals_at_the_edge_of_a_smooth_window_come_together():
    system, league = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(1.0, smoothing=0.5)), kn.Fixed([0.0, 0.0])
    found = kn.stationary(system, league, start=[-0.1, 0.1])
    assert found.stable and found.growth < 0
    assert found.rating == pytest.approx([0.0, 0.0], abs=1e-10)


@pytest.mark.parametrize(("apart", "grows"), [(0.2, False), (1.4, True)])
def test_the_growth_rate_is_that_of_the_jacobian_of_the_drift(apart, grows):
    """Equals far apart meet less the further they drift: there a disturbance of the gap grows."""
    system = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(1.0, smoothing=0.3))
    results = kn.expected_result(system.outcome, kn.Normal([0.0, 0.0, 0.3], 0.7))
    mass, rating, h = np.full(3, 1 / 3), np.array([-apart / 2, apart / 2, 0.1]), 1e-6

    def drift_at(shift):
        return drift_and_slope(system, results, mass, rating + shift)[0]

    jacobian = np.array([(drift_at(h * e) - drift_at(-h * e)) / (2 * h) for e in np.eye(3)]).T
    rates = np.linalg.eigvals(jacobian).real
    expected = rates[np.abs(rates) > 1e-7].max()
    growth = _growth(drift_and_slope(system, results, mass, rating)[1], mass)
    assert growth == pytest.approx(expected, abs=1e-7)
    assert (growth > 0) == grows


def test_one_more_team_is_refused_where_it_could_settle_in_several_places():
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), kn.homogeneous(sigma=1.0, teams=30))
    with pytest.raises(kn.InputError, match="AllPlayAll only"):
        state.rating_of(5.0)
    assert 0.5 < state.centre_slope < 1


def test_relaxation_counts_matches_that_are_played():
    league = kn.homogeneous(sigma=1.0, teams=30)
    local = kn.relaxation(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local(), 0.1), league)
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), league)
    w = kn.model.Local().w(state.rating[:, None] - state.rating[None, :])
    played = (w.sum() - 30) / (30 * 29)
    assert local.played == pytest.approx(played)
    assert local.matches_per_team(0.1) == pytest.approx(played * np.log(10) / (0.1 * local.gap))
    # Noise that is large beside the reach of w lets strangers meet, and few pairs pull less.
    noisy = kn.relaxation(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local(), 0.5), league, noise="gaussian")
    tiny = kn.relaxation(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local(), 1e-7), league, noise="gaussian")
    assert tiny.gap == pytest.approx(local.gap, rel=1e-5) and tiny.played == pytest.approx(played, rel=1e-5)
    assert noisy.gap < 0.98 * local.gap


def test_large_leagues_are_refused():
    with pytest.raises(kn.InputError, match="at most 3,000 teams"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), kn.homogeneous(sigma=1.0, teams=3001))
