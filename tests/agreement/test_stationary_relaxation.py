"""The spectral gap against the measured decay of simulated and of kinetic ratings.

Ratings are pushed along the slowest mode, once up and once down; half the difference of the two runs is free of
what is quadratic in the push, and decays as the linear theory says.
"""

import numpy as np
import pytest

import kinelo as kn


def decay_rate(time, size):
    return -np.polyfit(time, np.log(size), 1)[0]


def test_decay_of_simulated_ratings():
    """Both runs share their random numbers, so that most noise cancels: rates found with ten other seeds have a
    standard deviation of .06 %. The rest of the tolerance is for the finite push.
    """
    system, league = kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), kn.homogeneous(sigma=1.0, teams=100)
    slowest = kn.relaxation(system, league, noise="gaussian")
    rest = kn.stationary(system, league, noise="gaussian").rating
    push = 0.3 * slowest.mode / np.abs(slowest.mode).max()
    steps = round(2 / (system.gamma * slowest.gap))
    up, down = (
        kn.simulate(
            system, league, steps=steps, matches_per_step=50, realisations=200, seed=5, start=rest + sign * push,
            record_every=steps // 20, threads=2,
        ).rating.mean("realisation")
        for sign in (1, -1)
    )  # fmt: skip
    size = ((up - down) / 2).values @ slowest.mode
    assert decay_rate(up.time.values, size) == pytest.approx(system.gamma * slowest.gap, rel=0.03)


def test_decay_of_kinetic_ratings():
    """Mean ratings given θ on a grid, from densities concentrated on the stationary map plus or minus the push.

    The decay is read before the push is down to a few cells, which is as far as a grid resolves it.
    """
    system, teams = kn.RatingSystem(kn.Tanh(0.5)), kn.theory.Continuum(theta=(4, 10), sigma=1.0)
    rest, slowest = kn.stationary(system, teams), kn.relaxation(system, teams)
    mode = slowest.mode / np.abs(slowest.mode).max()
    times = np.linspace(1, 5, 5)
    runs = []
    for sign in (1, -1):
        population = kn.macro.Population.concentrated(
            lambda theta, sigma, sign=sign: rest.rating_of(theta) + sign * 0.5 * np.interp(theta, rest.theta, mode),
            theta=(4, 10, 30),
            r=(3, 11, 720),
            sigma=1.0,
        )
        run = kn.solve(system, population, until=5.0, scheme="tvd", save_at=times)
        runs.append(run.rating_given_theta.sel(time=times).values.reshape(times.size, -1))
    size = (runs[0] - runs[1]) / 2 @ np.interp(run.theta.values, rest.theta, mode)
    assert decay_rate(times, size) == pytest.approx(slowest.gap, rel=0.03)
