"""Sums over waves against the sums over all pairs that they replace."""

import numpy as np
import pytest
from scipy.integrate import quad

import kinelo as kn
from kinelo.theory.balance import DensePull, WavePull, expected_b, expected_slope

OUTCOMES = [kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.6, 1.3), kn.model.Davidson(0.5, 5.0)]


def normal_mean(function, mean, variance):
    def integrand(x):
        return function(mean + np.sqrt(variance) * x) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)

    return quad(integrand, -12, 12, epsabs=1e-13, limit=300)[0]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_means_over_noise(outcome):
    position, variance = np.array([0.0, 1.3, -2.0, 4.0]), np.array([0.0, 0.4, 2.0, 1.0])
    b, slope = expected_b(outcome, position, variance), expected_slope(outcome, position, variance)
    for i in range(4):
        for j in range(4):
            pair = position[i] - position[j], variance[i] + variance[j]
            if i != j:
                assert b[i, j] == pytest.approx(normal_mean(outcome.b, *pair), abs=1e-11)
            assert slope[i, j] == pytest.approx(normal_mean(outcome.b_prime, *pair), abs=1e-11)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_square_weight(outcome):
    step = 2 * np.pi / (2 * outcome.saturation + 10)
    u = np.arange(0.5 * step, max(outcome.cutoff, 20 * outcome.nu), step)
    z = np.array([0.0, 0.7, 3.0])
    found = np.cos(np.multiply.outer(z, u)) @ outcome.square_weight(u) * step
    assert found == pytest.approx(1 - outcome.b(z) ** 2, abs=1e-11)


@pytest.mark.parametrize("noisy", [False, True])
def test_dense_and_wave_pulls_agree_across_blocks(noisy):
    random = np.random.default_rng(2)
    size = 1200
    position, mass = random.normal(0, 3, size), random.uniform(0.5, 1.5, size)
    mass /= mass.sum()
    variance = random.uniform(0, 1, size) if noisy else None
    dense, wave = DensePull(kn.Tanh(0.5), mass, variance), WavePull(kn.Tanh(0.5), mass, variance)
    assert wave.scores(position) == pytest.approx(dense.scores(position), abs=1e-13)
    push = random.normal(size=size)
    push -= mass @ push
    step = wave.step(position, 1e-9 * push)
    assert step == pytest.approx(dense.step(position, 1e-9 * push), abs=1e-6 * np.abs(step).max())


def test_several_blocks_give_the_sum_of_one(monkeypatch):
    monkeypatch.setattr("kinelo.theory.balance.WAVE_BLOCK", 256)
    random = np.random.default_rng(3)
    position, variance = random.normal(0, 3, 2 * 256 + 17), random.uniform(0, 1, 2 * 256 + 17)
    mass = random.uniform(0.5, 1.5, position.size) / position.size
    by_pairs = np.tanh(0.5 * (position[:, None] - position[None, :])) @ mass
    assert WavePull(kn.Tanh(0.5), mass).scores(position) == pytest.approx(by_pairs, abs=1e-13)
    noisy = DensePull(kn.Tanh(0.5), mass, variance).scores(position)
    assert WavePull(kn.Tanh(0.5), mass, variance).scores(position) == pytest.approx(noisy, abs=1e-12)
