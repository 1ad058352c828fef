"""A newcomer's path against a slow twin that plays its matches one by one, and the drift of an open league."""

import math

import numpy as np
import pytest

import kinelo as kn

LEAGUE = kn.Fixed(np.linspace(4, 10, 20))
SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)


def test_path_against_played_matches():
    """20,000 newcomers among opponents that fluctuate about their places; error probability 1e-4."""
    found = kn.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
    league = kn.stationary(SYSTEM, LEAGUE, noise="gaussian")
    generator, count = np.random.default_rng(3), 20_000
    rating = np.full(count, 6.0)
    for match in range(1, 41):
        j = generator.integers(0, 20, count)
        other = league.rating[j] + np.sqrt(league.variance[j]) * generator.standard_normal(count)
        chance = (1 + np.tanh(0.5 * (9.0 - LEAGUE.theta[j]))) / 2
        result = np.where(generator.random(count) < chance, 1.0, -1.0)
        rating += 0.1 * (result - np.tanh(0.5 * (rating - other)))
        if match % 20 == 0:
            k = int(np.searchsorted(found.matches, match))
            assert abs(rating.mean() - found.rating[k]) < 4 * rating.std() / math.sqrt(count) + 2e-3
            assert rating.std() == pytest.approx(found.spread[k], rel=0.03)


def test_a_member_of_the_league_settles_where_it_is():
    """One more team of a continuum ends at the rating, and with the noise, of its like."""
    league = kn.Continuum((0, 4), sigma=0.6, nodes=20)
    state = kn.stationary(SYSTEM, league, noise="gaussian")
    found = kn.newcomer(SYSTEM, league, theta=float(league.league.theta[14]), start=0.0)
    assert found.settles_at == pytest.approx(state.rating[14], abs=1e-6)
    assert found.spread[-1] ** 2 == pytest.approx(state.variance[14], rel=1e-2)
    assert found.taken == pytest.approx(state.rating[14], abs=1e-6)


def test_form_makes_the_path_wider():
    still = kn.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
    moving = kn.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0, dynamics=kn.Form(0.01, 1.0))
    assert moving.spread[-1] > still.spread[-1]
    assert moving.settles_at == pytest.approx(8.893473, abs=1e-5)


def test_matches_until_a_tolerance():
    found = kn.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
    far, near = found.matches_until(1.0), found.matches_until(0.1)
    assert 0 < far < near < found.matches_until(1e-6) < math.inf
    assert found.matches_until(10.0) == 0
    at = np.interp(near, found.matches, found.rating)
    assert abs(at - found.settles_at) == pytest.approx(0.1, abs=1e-9)


def test_smaller_steps_take_longer_in_proportion():
    slow = kn.newcomer(kn.RatingSystem(kn.Tanh(0.5), gamma=0.001), LEAGUE, 9.0, 6.0)
    fast = kn.newcomer(kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), LEAGUE, 9.0, 6.0)
    assert slow.matches_until(0.5) == pytest.approx(10 * fast.matches_until(0.5), rel=0.02)


def test_open_league_inflates_by_what_comes_in_less_what_leaves():
    rate, ratings = 0.01, kn.stationary(SYSTEM, LEAGUE).rating
    for leaving, rating, theta in (
        ("random", ratings.mean(), 7.0),
        ("weakest", ratings.min(), 4.0),
        ("strongest", ratings.max(), 10.0),
    ):
        turnover = kn.Turnover(rate, theta=[5.0, 6.0], start=6.5, leaving=leaving)
        drift = kn.newcomer(SYSTEM, LEAGUE, 5.5, 6.5, dynamics=turnover).inflation
        assert drift.rating == pytest.approx(rate * (6.5 - rating))
        assert drift.strength == pytest.approx(rate * (5.5 - theta))
        assert drift.excess == pytest.approx(drift.rating - drift.strength)


def test_what_is_not_followed_is_said():
    with pytest.raises(kn.InputError, match="AllPlayAll"):
        kn.newcomer(kn.RatingSystem(kn.Tanh(0.5), kn.Local()), LEAGUE, 1.0, 1.0)
    with pytest.raises(kn.InputError, match="for a newcomer"):
        kn.newcomer(SYSTEM, LEAGUE, 1.0, 1.0, dynamics=kn.Learning(1.0))
    with pytest.raises(kn.InputError, match="theta must be a finite number"):
        kn.newcomer(SYSTEM, LEAGUE, math.inf, 1.0)
