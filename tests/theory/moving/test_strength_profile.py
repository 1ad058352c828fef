"""The law of strengths that learn: reference values, limits, and the identities it must fulfil."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn

TABLE = [
    (0.05, 0.055092495, 3.0960004),
    (0.1, 0.120780654, 3.1860953),
    (0.125, 0.157800379, 3.2293073),
    (0.25, 0.387790841, 3.4263011),
    (0.5, 1.097512434, 3.7151420),
    (1.0, 3.642321526, 3.9876331),
    (2.0, 13.551847209, 4.1324383),
]


@pytest.mark.parametrize(("p", "psi", "kurtosis"), TABLE)
def test_reference_values(p, psi, kurtosis):
    """ν²Var ρ = Ψ(νσ²/2κ), whatever ν, κ and σ make up p."""
    nu, kappa = 0.7, 0.3
    profile = kn.theory.strength_profile(kn.Tanh(nu), kn.model.Learning(0.5, 0.2, math.sqrt(2 * kappa * p / nu)))
    assert nu**2 * profile.variance == pytest.approx(psi, abs=1e-9 * max(1, psi))
    assert profile.kurtosis == pytest.approx(kurtosis, abs=5e-8)


def test_limits():
    """Normal with little diffusion, logistic with much."""
    small = kn.theory.strength_profile(kn.Tanh(1.0), kn.model.Learning(1.0, diffusion=math.sqrt(2e-4)))
    assert small.variance == pytest.approx(1e-4 + 2e-8, rel=1e-7)
    large = kn.theory.strength_profile(kn.Tanh(1.0), kn.model.Learning(1.0, diffusion=math.sqrt(40.0)))
    assert large.variance == pytest.approx(math.pi**2 * 20**2 / 3 + math.pi**2 / 24, rel=1e-6)


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from([kn.Tanh(0.5), kn.model.Probit(0.8), kn.model.Davidson(0.6, 1.3), kn.model.Davidson(0.5, 6.0)]),
    st.floats(0.1, 2.0),
    st.floats(0.2, 1.5),
)
def test_identities(outcome, kappa, sigma):
    """``∬Δb(Δ)gg' = σ²/κ`` and ``E[ρG] = σ²/2κ``: what pulls together balances what diffuses."""
    learning = kn.model.Learning(kappa, diffusion=sigma)
    profile = kn.theory.strength_profile(outcome, learning)
    drive = profile.mean_of(outcome.b, profile.strength)
    assert profile.weight @ (profile.strength * drive) == pytest.approx(sigma**2 / (2 * kappa), rel=1e-10)
    assert profile.weight.sum() == pytest.approx(1, abs=1e-13)
    assert np.abs(profile.density - profile.density[::-1]).max() <= 1e-14


def test_learning_from_results_pulls_less_where_performances_vary():
    """With performance noise winners learn from s instead of b; without it the two are one."""
    outcome, base = kn.Tanh(0.5), (0.8, 0.3, 0.6)
    expected = kn.theory.strength_profile(outcome, kn.model.Learning(*base), sigma=1.0).variance
    plain = kn.theory.strength_profile(outcome, kn.model.Learning(*base, on="result")).variance
    lucky = kn.theory.strength_profile(outcome, kn.model.Learning(*base, on="result"), sigma=1.0).variance
    assert plain == pytest.approx(expected, rel=1e-12)
    assert lucky < expected


@pytest.mark.parametrize(
    ("learning", "words"),
    [
        (kn.model.Learning(0.5, 0.0, 0.0), "collapse to one point"),
        (kn.model.Learning(0.2, 0.5, 0.3), "spread for ever"),
        (kn.model.Learning(0.2, 0.5, 0.0), "spread for ever"),
        (kn.model.Learning(0.2, 0.2, 0.1), "spread for ever"),
    ],
)
def test_no_stationary_law(learning, words):
    with pytest.raises(kn.errors.NoStationaryState, match=words):
        kn.theory.strength_profile(kn.Tanh(0.5), learning)


@pytest.mark.parametrize("sigma", [-0.5, float("nan"), float("inf"), "wide", None, [0.5, 0.5]])
def test_a_spread_of_performances_is_a_number_of_at_least_zero(sigma):
    with pytest.raises(kn.InputError, match=r"^sigma must be .*\.$"):
        kn.theory.strength_profile(kn.Tanh(1.0), kn.model.Learning(1.0, 0.3, 1.0, on="result"), sigma)
