"""The spectral gap: dense and Lanczos, and bad input."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory import relaxation as room

SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)


def slow_gap(league):
    rating = kn.stationary(SYSTEM, league).rating
    pull = SYSTEM.outcome.b_prime(rating[:, None] - rating[None, :]) / (league.teams - 1)
    np.fill_diagonal(pull, 0.0)
    return np.linalg.eigvalsh(np.diag(pull.sum(axis=1)) - pull)[1]


@pytest.mark.parametrize("teams", [2, 3, 50])
def test_gap_of_a_finite_league(teams):
    league = kn.homogeneous(sigma=1.0, teams=teams)
    assert kn.relaxation(SYSTEM, league).gap == pytest.approx(slow_gap(league), abs=1e-10)


def test_lanczos_agrees_with_the_dense_eigenvalues(monkeypatch):
    random = np.random.default_rng(6)
    league = kn.Normal(random.uniform(4, 10, 300), random.uniform(0, 2, 300))
    dense = kn.relaxation(SYSTEM, league)
    monkeypatch.setattr(room, "DENSE_TEAMS", 100)
    lanczos = kn.relaxation(SYSTEM, league)
    assert lanczos.gap == pytest.approx(dense.gap, abs=1e-10)
    assert abs(lanczos.mode @ dense.mode) == pytest.approx(300, rel=1e-6)


def test_the_mode_decays_at_the_gap():
    league = kn.homogeneous(sigma=1.0, teams=20)
    found, rating = kn.relaxation(SYSTEM, league), kn.stationary(SYSTEM, league).rating
    pull = SYSTEM.outcome.b_prime(rating[:, None] - rating[None, :]) / 19
    decay = pull.sum(axis=1) * found.mode - pull @ found.mode
    assert decay == pytest.approx(found.gap * found.mode, abs=1e-9)


def test_noise_slows_ratings_down():
    teams, fast = kn.theory.Continuum((4, 10), 1.0), kn.RatingSystem(kn.Tanh(0.5), gamma=0.5)
    assert kn.relaxation(fast, teams, noise="gaussian").gap < kn.relaxation(fast, teams).gap


@pytest.mark.parametrize("tolerance", [0.0, 1.0, 2.0, float("nan")])
def test_bad_tolerance(tolerance):
    with pytest.raises(kn.InputError, match="tolerance must"):
        kn.relaxation(SYSTEM, kn.Fixed([0.0, 1.0])).matches_per_team(tolerance)
