"""A newcomer's path against a slow twin that plays its matches one by one, and the drift of an open league."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.teams import teams_of

LEAGUE = kn.Fixed(np.linspace(4, 10, 20))
SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)


def test_path_against_played_matches():
    """20,000 newcomers among opponents that fluctuate about their places; error probability 1e-4."""
    found = kn.theory.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
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


def played(settled, step, discount, matches, learning=None):
    """Mean and spread of 20,000 newcomers' ratings after some matches, played one by one; and their mean strengths."""
    generator, count = np.random.default_rng(4), 20_000
    rating, own, v = np.full(count, 6.0), np.full(count, 9.0), np.full(count, 4.0)
    theta, places, spread = settled
    for match in range(matches):
        j = generator.integers(0, len(theta), count)
        strength = theta[j]
        if learning is not None:
            strength, other = generator.multivariate_normal([7.0, 7.0], learning.law, count).T
        else:
            other = places[j] + spread[j] * generator.standard_normal(count)
        gap = np.tanh(0.5 * (own - strength))
        result = np.where(generator.random(count) < (1 + gap) / 2, 1.0, -1.0)
        g = discount[j]
        expected = np.tanh(0.5 * g * (rating - other))
        gamma, v = step(match, v, g, expected)
        rating = rating + gamma * g * (result - expected)
        if learning is not None:
            own = own + 0.1 * (-0.5 * gap + 0.2 * result) + math.sqrt(0.1) * 0.5 * generator.standard_normal(count)
    return rating, own


def close_to(found, rating, match):
    k = int(np.searchsorted(found.matches, match))
    assert abs(rating.mean() - found.rating[k]) < 4 * rating.std() / math.sqrt(len(rating)) + 0.01
    assert rating.std() == pytest.approx(found.spread[k], rel=0.04)


def test_falling_steps_against_played_matches():
    rule = kn.model.FallingSteps(0.1, 2.0, 20)
    found = kn.theory.newcomer(kn.RatingSystem(kn.Tanh(0.5), gamma=rule), LEAGUE, theta=9.0, start=6.0)
    state = kn.stationary(SYSTEM, LEAGUE, noise="gaussian")
    league = LEAGUE.theta, state.rating, np.sqrt(state.variance)
    rating, _ = played(league, lambda n, v, g, b: (0.1 * (1 + 40 / (20 + n)), v), np.ones(20), 30)
    close_to(found, rating, 30)
    assert found.matches_until(0.5) < 0.5 * kn.theory.newcomer(SYSTEM, LEAGUE, 9.0, 6.0).matches_until(0.5)


def test_deviation_steps_against_played_matches():
    """A wide deviation brings a newcomer near its place in a few matches."""
    found = kn.theory.newcomer(
        kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.DeviationSteps(0.1, 2.0)), LEAGUE, theta=9.0, start=6.0
    )
    still = kn.theory.settled_deviations(kn.Tanh(0.5), LEAGUE, 0.1, noise="gaussian")

    def step(match, v, g, expected):
        v = np.minimum(v + 0.01, 4.0)
        v = v / (1 + v * (0.5 * g) ** 2 * (1 - expected**2))
        return 0.5 * v, v

    g = 1 / np.sqrt(1 + 3 * still.deviation**2 / math.pi**2)
    rating, _ = played((LEAGUE.theta, still.rating, np.sqrt(still.variance)), step, g, 25)
    # The path takes v at the mean rating: it spreads less than what is played, by a few per cent in so short a time.
    assert abs(rating.mean() - found.rating[25]) < 0.1
    assert rating.std() == pytest.approx(found.spread[25], rel=0.15)
    assert found.settles_at == pytest.approx(9.16, abs=0.01)


def test_learning_newcomer_against_played_matches():
    """Its strength joins the league's, and its rating follows."""
    learning = kn.model.Learning(0.5, 0.2, 0.5, on="result")
    found = kn.theory.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0, dynamics=learning)
    m = learning_closure(kn.Tanh(0.5), learning, 0.1, teams_of(LEAGUE)).moments
    law = SimpleNamespace(law=[[m.V, m.C], [m.C, m.U]])
    rating, own = played((LEAGUE.theta, None, None), lambda n, v, g, b: (0.1, v), np.ones(20), 40, law)
    close_to(found, rating, 40)
    k = int(np.searchsorted(found.matches, 40))
    assert own.mean() == pytest.approx(found.strength[k], abs=0.02)
    assert found.settles_at == pytest.approx(7.0, abs=1e-6)


def test_fide_newcomer_moves_fast_at_first():
    """K = 40 for 30 games, then 20: the first 30 take the newcomer most of the way."""
    league = kn.Fixed(np.linspace(1600, 2600, 20))
    found = kn.theory.newcomer(
        kn.RatingSystem(kn.Tanh.elo(), gamma=kn.model.FideSteps()), league, theta=2300.0, start=1800.0
    )
    steps = np.diff(found.rating)
    assert steps[29] / steps[30] == pytest.approx(2.0, rel=0.05)
    assert found.settles_at == pytest.approx(2300, abs=15)


def test_a_member_of_the_league_settles_where_it_is():
    """One more team of a continuum ends at the rating, and with the noise, of its like."""
    league = kn.theory.Continuum((0, 4), sigma=0.6, nodes=20)
    state = kn.stationary(SYSTEM, league, noise="gaussian")
    found = kn.theory.newcomer(SYSTEM, league, theta=float(league.league.theta[14]), start=0.0)
    assert found.settles_at == pytest.approx(state.rating[14], abs=1e-6)
    assert found.spread[-1] ** 2 == pytest.approx(state.variance[14], rel=1e-2)
    assert found.taken == pytest.approx(state.rating[14], abs=1e-6)


def test_form_makes_the_path_wider():
    still = kn.theory.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
    moving = kn.theory.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0, dynamics=kn.model.Form(0.01, 1.0))
    assert moving.spread[-1] > still.spread[-1]


def test_a_member_of_a_league_with_form_settles_where_it_is():
    """One more team of a continuum with form: the place and the noise of its like."""
    league, form = kn.theory.Continuum((4, 10), nodes=20), kn.model.Form(0.01, 1.0)
    teams = kn.tracking(SYSTEM, league, form).teams
    found = kn.theory.newcomer(SYSTEM, league, theta=float(league.league.theta[14]), start=6.0, dynamics=form)
    assert found.settles_at == pytest.approx(teams.rating[14], abs=5e-3)
    assert found.spread[-1] ** 2 == pytest.approx(teams.variance[14], rel=1e-2)


def test_matches_until_a_tolerance():
    found = kn.theory.newcomer(SYSTEM, LEAGUE, theta=9.0, start=6.0)
    far, near = found.matches_until(1.0), found.matches_until(0.1)
    assert 0 < far < near < found.matches_until(1e-6) < math.inf
    assert found.matches_until(10.0) == 0
    at = np.interp(near, found.matches, found.rating)
    assert abs(at - found.settles_at) == pytest.approx(0.1, abs=1e-9)


def test_smaller_steps_take_longer_in_proportion():
    slow = kn.theory.newcomer(kn.RatingSystem(kn.Tanh(0.5), gamma=0.001), LEAGUE, 9.0, 6.0)
    fast = kn.theory.newcomer(kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), LEAGUE, 9.0, 6.0)
    assert slow.matches_until(0.5) == pytest.approx(10 * fast.matches_until(0.5), rel=0.02)


def test_open_league_inflates_by_what_comes_in_less_what_leaves():
    rate, ratings = 0.01, kn.stationary(SYSTEM, LEAGUE).rating
    for leaving, rating, theta in (
        ("random", ratings.mean(), 7.0),
        ("weakest", ratings.min(), 4.0),
        ("strongest", ratings.max(), 10.0),
    ):
        turnover = kn.model.Turnover(rate, theta=[5.0, 6.0], start=6.5, leaving=leaving)
        drift = kn.theory.newcomer(SYSTEM, LEAGUE, 5.5, 6.5, dynamics=turnover).inflation
        assert drift.rating == pytest.approx(rate * (6.5 - rating))
        assert drift.strength == pytest.approx(rate * (5.5 - theta))
        assert drift.excess == pytest.approx(drift.rating - drift.strength)


def test_what_is_not_followed_is_said():
    with pytest.raises(kn.InputError, match="AllPlayAll"):
        kn.theory.newcomer(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), LEAGUE, 1.0, 1.0)
    with pytest.raises(kn.InputError, match="collapse"):
        kn.theory.newcomer(SYSTEM, LEAGUE, 1.0, 1.0, dynamics=kn.model.Learning(1.0))
    with pytest.raises(kn.InputError, match="theta must be a finite number"):
        kn.theory.newcomer(SYSTEM, LEAGUE, math.inf, 1.0)
