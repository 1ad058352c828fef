"""The spectral gap against the measured decay of simulated and of kinetic ratings."""

import numpy as np
import pytest

import kinelo as kn


def test_decay_of_simulated_ratings():
    """A disturbance along the slowest mode, averaged over runs. The fit's relative standard error is about .006:
    five of them, and the effect of a finite step (.005), make the tolerance.
    """
    system, league = kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), kn.homogeneous(sigma=1.0, teams=100)
    slowest = kn.relaxation(system, league, noise="gaussian")
    rest, mode = kn.stationary(system, league, noise="gaussian").rating, slowest.mode
    begun = 1.0 / np.abs(mode).max()
    steps = round(1.5 / (system.gamma * slowest.gap))
    run = kn.simulate(
        system, league, steps=steps, matches_per_step=50, realisations=400, seed=5,
        start=rest + begun * mode, record_every=max(1, steps // 20), threads=2,
    )  # fmt: skip
    size = (run.rating.mean("realisation").values - rest) @ mode / (mode @ mode)
    rate = -np.polyfit(run.time.values, np.log(size), 1)[0]
    assert rate == pytest.approx(system.gamma * slowest.gap, rel=0.035)


def test_decay_of_kinetic_ratings():
    """Mean ratings given θ, disturbed by a stretch of the stationary map; the grid's own error is about 1 %."""
    system, teams = kn.RatingSystem(kn.Tanh(0.5)), kn.Continuum(theta=(4, 10), sigma=1.0)
    rest = kn.stationary(system, teams)
    population = kn.Population.concentrated(
        lambda theta, sigma: rest.rating_of(theta) + 0.2 * (theta - 7), theta=(4, 10, 30), r=(3, 11, 160), sigma=1.0
    )
    times = np.linspace(5, 20, 16)
    run = kn.solve(system, population, until=80.0, scheme="tvd", save_at=[*times, 80.0])
    given = run.rating_given_theta.values.reshape(run.sizes["time"], -1)
    away = given[:-1] - given[-1]
    size = away @ (run.theta.values - 7)
    rate = -np.polyfit(times, np.log(size[-16:]), 1)[0]
    assert rate == pytest.approx(kn.relaxation(system, teams).gap, rel=0.03)
