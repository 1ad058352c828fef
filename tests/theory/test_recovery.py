"""True strengths from ratings: the round trip, its standard error, and ratings that cannot be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn

OUTCOMES = st.sampled_from([kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.6, 1.3)])


def away_from_mean(values):
    return values - values.mean()


@settings(max_examples=20, deadline=None)
@given(OUTCOMES, st.integers(2, 15), st.integers(0, 2**32 - 1))
def test_round_trip(outcome, size, seed):
    random = np.random.default_rng(seed)
    league = kn.Normal(random.uniform(-4, 4, size), random.uniform(0, 2, size))
    rating = kn.stationary(kn.RatingSystem(outcome), league).rating
    found = kn.theory.recover_strength(outcome, rating, league.sigma)
    assert away_from_mean(found.theta) == pytest.approx(away_from_mean(league.theta), abs=1e-9)
    assert found.theta.mean() == pytest.approx(rating.mean(), abs=1e-9)
    assert found.standard_error is None
    assert found.strengths.sigma == pytest.approx(league.sigma)


@pytest.mark.parametrize(
    ("teams", "gamma"), [(2, 0.3), (40, 0.05), (40, 0.5), pytest.param(301, 0.3, marks=pytest.mark.long)]
)
def test_round_trip_through_noisy_ratings(teams, gamma):
    random = np.random.default_rng(7)
    league = kn.Normal(random.uniform(4, 10, teams), random.uniform(0, 1.5, teams))
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), gamma=gamma), league, noise="gaussian")
    found = kn.theory.recover_strength(kn.Tanh(0.5), state.rating, league.sigma, gamma=gamma)
    assert away_from_mean(found.theta) == pytest.approx(away_from_mean(league.theta), abs=1e-9)


def test_round_trip_of_a_large_league():
    random = np.random.default_rng(8)
    league = kn.Normal(random.uniform(4, 10, 3000), random.uniform(0, 1.5, 3000))
    rating = kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), league).rating
    found = kn.theory.recover_strength(kn.Tanh(0.5), rating, league.sigma, rating_variance=0.1)
    exact = kn.theory.recover_strength(kn.Tanh(0.5), rating, league.sigma)
    assert away_from_mean(exact.theta) == pytest.approx(away_from_mean(league.theta), abs=1e-9)
    assert found.standard_error is not None and found.standard_error.shape == (3000,)


def test_standard_error_is_the_response_to_rating_noise():
    """Slow twin: recover from ratings shaken by draws of their covariance. 4 standard errors of 400 draws."""
    random = np.random.default_rng(9)
    league, system = kn.Normal(random.uniform(4, 10, 12), 1.0), kn.RatingSystem(kn.Tanh(0.5), gamma=0.01)
    state = kn.stationary(system, league, noise="gaussian")
    found = kn.theory.recover_strength(system.outcome, state.rating, league.sigma, gamma=system.gamma)
    shaken = [
        kn.theory.recover_strength(system.outcome, state.rating + shift, 1.0).theta
        for shift in random.multivariate_normal(np.zeros(12), state.covariance, size=400)
    ]
    assert np.std(shaken, axis=0) == pytest.approx(found.standard_error, rel=4 / np.sqrt(800))


def test_dense_and_large_standard_errors_agree(monkeypatch):
    random = np.random.default_rng(10)
    rating, sigma = random.uniform(4, 9, 400), random.uniform(0, 1.5, 400)
    dense = kn.theory.recover_strength(kn.Tanh(0.5), rating, sigma, rating_variance=0.2)
    monkeypatch.setattr("kinelo.theory.recovery.DENSE_TEAMS", 100)
    large = kn.theory.recover_strength(kn.Tanh(0.5), rating, sigma, rating_variance=0.2)
    assert large.theta == pytest.approx(dense.theta, abs=1e-10)
    # The large-league formula leaves out what other teams' noise does to a team: an effect of 1/N.
    assert large.standard_error == pytest.approx(dense.standard_error, rel=0.02)


@pytest.mark.parametrize(
    ("ratings", "arguments", "words"),
    [
        ([0.0, np.nan], {"sigma": 1.0}, r"ratings must be finite, but the entry at \[1\] is nan"),
        ([0.0], {"sigma": 1.0}, "ratings must list at least 2 teams"),
        ([0.0, 1.0], {"sigma": [1.0, 1.0, 1.0]}, "sigma must be one number or one per team: 3 for 2"),
        ([0.0, 1.0], {"sigma": -1.0}, "sigma must be 0 or more"),
        ([0.0, 1.0, 400.0], {"sigma": 1.0}, "no strengths can produce them, because team 2 would never lose"),
        ([0.0, 1.0], {"sigma": 1.0, "gamma": -1.0}, "gamma must be greater than 0"),
        ([0.0, 1.0], {"sigma": 1.0, "gamma": 0.1, "rating_variance": 1.0}, "give one of them"),
        ([0.0, 1.0], {"sigma": 1.0, "rating_variance": [1.0]}, "rating_variance must be one number or one per team"),
        ([0.0, 1.0], {"sigma": 1.0, "rating_variance": -1.0}, "rating_variance must be 0 or more"),
    ],
)
def test_bad_input(ratings, arguments, words):
    with pytest.raises(kn.InputError, match=words):
        kn.theory.recover_strength(kn.Tanh(0.5), ratings, **arguments)


def test_bad_outcome():
    with pytest.raises(kn.InputError, match="outcome must be"):
        kn.theory.recover_strength(0.5, [0.0, 1.0], 1.0)


def test_a_league_that_mirrors_itself_has_errors_that_do():
    """Standard errors of teams equally far from the middle are equal: an iteration left in rounding breaks that."""
    league = kn.homogeneous(sigma=1.0, teams=200)
    system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.25)
    ratings = kn.stationary(system, league, noise="gaussian").rating
    errors = kn.theory.recover_strength(system.outcome, ratings, sigma=1.0, gamma=0.25).standard_error
    assert errors is not None
    np.testing.assert_allclose(errors, errors[::-1], rtol=1e-7)
