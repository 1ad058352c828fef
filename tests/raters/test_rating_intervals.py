"""How uncertain ratings are, on simulated leagues whose truth is known."""

import numpy as np
import pytest
from scipy.special import ndtri

import kinelo as kn
from kinelo.raters.random_walk import mean_walk

FIRST = np.datetime64("2001-01-01")
SIDES, MATCHES, DAYS = 12, 500, 4 * 365


def league(seed):
    """A short league: what its results tell of the walk is vague."""
    rng = np.random.default_rng([seed, 61])
    truth = rng.normal(0, 0.15 / 365**0.5, (DAYS, SIDES))
    truth[0] = rng.normal(0, 0.8, SIDES)
    truth = np.cumsum(truth, axis=0)
    day, home = np.sort(rng.integers(0, DAYS, MATCHES)), rng.integers(0, SIDES, MATCHES)
    away = (home + rng.integers(1, SIDES, MATCHES)) % SIDES
    table = {
        "date": (FIRST + day).astype(str).tolist(),
        "home": [f"{k:02d}" for k in home],
        "away": [f"{k:02d}" for k in away],
        "margin": truth[day, home] - truth[day, away] + 0.3 + rng.normal(0, 1.1, MATCHES),
    }
    return kn.read_matches(table), truth


def errors(seed):
    """Errors of ratings in units of their uncertainty."""
    matches, truth = league(seed)
    rater = kn.KalmanElo(margin_power=1.0, covariance="full").fit(matches)
    table = rater.ratings_
    order = [int(name) for name in table["name"]]
    at = (table["last_played"].to_numpy() - FIRST).astype(int)
    true = (truth[at, order] - truth[-1].mean()) / rater._unit * rater._points_per_unit
    return (table["rating"].to_numpy() - 1500 - true) / table["uncertainty"].to_numpy()


@pytest.mark.parametrize(("leagues", "wider"), [(8, 0.05), pytest.param(24, 0.0, marks=pytest.mark.long)])
def test_ratings_are_as_uncertain_as_they_look(leagues, wider):
    """Shares of 50, 80 and 95 % intervals are .51, .79 and .92 over 64 such leagues, and spread by .03 over 24 of them.

    A bound each is missed by chance in less than 1 % of seeds. With the most likely walk they are .41, .68 and .85.
    """
    found = np.abs(np.concatenate([errors(seed) for seed in range(leagues)]))
    half, most, nearly_all = (np.mean(found < ndtri(0.5 + level / 2)) for level in (0.5, 0.8, 0.95))
    assert 0.43 - wider < half < 0.58 + wider
    assert 0.72 - wider < most < 0.87 + wider
    assert 0.87 - wider < nearly_all < 0.99


WALK = next(p for p in kn.KalmanElo._declared_parameters if p.name == "walk")


@pytest.mark.parametrize("walk", [0.01, 0.2, 2.5])
def test_the_walk_is_the_mean_over_what_is_left_open(walk):
    """Against sums over a grid: likelihood normal in the logarithm, walks equally likely, leagues .5 apart."""
    width, error = np.log(WALK.high / WALK.low) / 6, 0.3
    log_walk = np.log(walk) + np.linspace(-6, 6, 20001)
    precision = 1 / error**2 - 1 / width**2 + 1 / 0.5**2
    weight = np.exp(-0.5 * precision * (log_walk - np.log(walk)) ** 2) * np.exp(log_walk)
    expected = np.sqrt(np.average(np.exp(2 * log_walk), weights=weight))
    assert mean_walk(walk, error * walk, WALK) == pytest.approx(min(expected, WALK.high), rel=1e-6)


def test_a_walk_that_is_known_stays_and_one_that_is_not_grows():
    assert mean_walk(0.2, 0.001, WALK) == pytest.approx(0.2, rel=1e-4)
    assert mean_walk(0.2, 0.02, WALK) < mean_walk(0.2, 0.1, WALK) < mean_walk(0.2, np.nan, WALK) < 0.4
    assert mean_walk(0.2, 5.0, WALK) == mean_walk(0.2, np.nan, WALK)
