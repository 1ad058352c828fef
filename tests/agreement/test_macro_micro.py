"""The kinetic equation against the simulator at matched times: PDE time = γ × matches per team.

Distances are Wasserstein distances between distributions of ratings. Each is averaged over many realisations, so that
chance moves it by a few percent only; the factors asked for below leave more than six standard errors.
"""

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import kinelo as kn

TIME = 3.0


@pytest.fixture(scope="module")
def kinetic():
    """Ratings that all start at 7, moved by the kinetic equation."""
    teams = kn.macro.Population.concentrated(7.0, theta=(4, 10, 60), r=(4, 10, 601), sigma=1.0)
    return kn.solve(kn.RatingSystem(kn.Tanh(nu=0.5)), teams, until=TIME, scheme="tvd").isel(time=-1)


def simulated(teams, gamma, realisations, pairing=None):
    system = kn.RatingSystem(kn.Tanh(nu=0.5), pairing or kn.model.AllPlayAll(), gamma=gamma)
    league = kn.homogeneous(sigma=1.0, teams=teams)
    matches = round(TIME / gamma * teams / 2)
    run = kn.simulate(system, league, steps=1, matches_per_step=matches, realisations=realisations, seed=11)
    return run.rating.isel(time=-1).values


def distances(ratings, kinetic):
    """Distance of each realisation's ratings from the kinetic density."""
    return np.array([wasserstein_distance(row, kinetic.r.values, None, kinetic.density_r.values) for row in ratings])


def test_distance_shrinks_with_the_number_of_teams(kinetic):
    mean = [distances(simulated(n, 0.02, 60), kinetic).mean() for n in (10, 40, 160)]
    assert mean[1] < 0.7 * mean[0] and mean[2] < 0.7 * mean[1]
    assert mean[2] < 0.04


def test_distance_shrinks_with_gamma(kinetic):
    pooled = [distances(simulated(200, gamma, 30).reshape(1, -1), kinetic)[0] for gamma in (0.4, 0.1, 0.025)]
    assert pooled[1] < 0.6 * pooled[0] and pooled[2] < 0.6 * pooled[1]
    assert pooled[2] < 0.02


def test_conditional_means_agree(kinetic):
    """Mean rating given θ: 200 teams, 60 realisations, γ = 0.01. Five standard errors plus half a cell and O(γ)."""
    ratings = simulated(200, 0.01, 60)
    theta = kn.homogeneous(sigma=1.0, teams=200).theta
    expected = np.interp(theta, kinetic.theta, kinetic.rating_given_theta)
    error = ratings.std(axis=0, ddof=1) / np.sqrt(60)
    inside = (theta > kinetic.theta.values[0]) & (theta < kinetic.theta.values[-1])
    assert (np.abs(ratings.mean(axis=0) - expected) < 5 * error + 0.015)[inside].all()


def test_local_pairing_agrees():
    pairing = kn.model.Local()
    teams = kn.macro.Population.concentrated(7.0, theta=(4, 10, 40), r=(3, 11, 401), sigma=1.0)
    kinetic = kn.solve(kn.RatingSystem(kn.Tanh(nu=0.5), pairing), teams, until=TIME, scheme="tvd").isel(time=-1)
    far, near = (distances(simulated(150, gamma, 20, pairing).reshape(1, -1), kinetic)[0] for gamma in (0.2, 0.02))
    assert near < 0.4 * far
    assert near < 0.02
