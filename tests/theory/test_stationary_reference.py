"""The stationary map, its slope, its bias and its spectral gap against independently known values."""

import warnings

import numpy as np
import pytest

import kinelo as kn

MAP = [  # ν, σ, slope at 7 exact and Taylor, R(10) exact and Taylor, ∫(R − θ)² exact
    (0.5, 0.5, 0.92413806, 0.92365578, 9.762174, 9.751667, 0.018535),
    (0.5, 1.0, 0.76369659, 0.75646552, 9.285862, 9.188326, 0.170242),
    (0.5, 2.0, 0.49744224, 0.42032575, 8.506245, 8.023161, 0.749754),
    (0.1, 2.0, 0.93193371, 0.92289161, 9.799087, 9.774944, 0.013631),
]


def system(nu, gamma=0.05):
    return kn.RatingSystem(kn.Tanh(nu), gamma=gamma)


@pytest.mark.parametrize(("nu", "sigma", "slope", "_", "end", "__", "bias"), MAP)
def test_map_with_the_exact_closure(nu, sigma, slope, _, end, __, bias):
    state = kn.stationary(system(nu), kn.theory.Continuum(theta=(4, 10), sigma=sigma))
    assert state.centre_slope == pytest.approx(slope, abs=1e-8)
    assert float(state.rating_of(10.0)) == pytest.approx(end, abs=5.1e-7)
    assert state.mean_square_bias == pytest.approx(bias, abs=5.1e-7)
    assert state.residual <= 1e-12
    assert state.iterations <= 8


@pytest.mark.parametrize(("nu", "sigma", "_", "slope", "__", "end", "___"), MAP)
def test_map_with_the_taylor_closure(nu, sigma, _, slope, __, end, ___):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KineloWarning)
        state = kn.stationary(system(nu), kn.theory.Continuum(theta=(4, 10), sigma=sigma), closure="taylor")
    assert state.centre_slope == pytest.approx(slope, abs=1e-8)
    assert float(state.rating_of(10.0)) == pytest.approx(end, abs=5.1e-7)


def test_the_paper_s_claim_that_all_ratings_meet():
    state = kn.stationary(system(1.0), kn.theory.Continuum(theta=(4, 10), sigma=2.0))
    assert float(state.rating_of(10.0)) == pytest.approx(7.853, abs=5.1e-4)
    assert state.centre_slope == pytest.approx(0.282, abs=5.1e-4)


def test_the_taylor_closure_warns_outside_its_range():
    with pytest.warns(kn.KineloWarning, match="outside its range"):
        kn.stationary(system(0.5), kn.theory.Continuum(theta=(4, 10), sigma=2.0), closure="taylor")


@pytest.mark.parametrize(("sigma", "gap"), [(0.0, 0.0853449), (1.0, 0.1402556), (2.0, 0.2478103)])
def test_spectral_gap(sigma, gap):
    found = kn.relaxation(system(0.5), kn.theory.Continuum(theta=(4, 10), sigma=sigma))
    assert found.gap == pytest.approx(gap, abs=5.1e-8)
    assert found.matches_per_team(0.01) == pytest.approx(np.log(100) / (0.05 * gap), rel=1e-6)


@pytest.mark.parametrize("nodes", [60, 120])
def test_the_continuum_has_converged_in_its_nodes(nodes):
    coarse = kn.stationary(system(0.5), kn.theory.Continuum((4, 10), (0, 1), nodes=nodes, sigma_nodes=nodes // 6))
    usual = kn.stationary(system(0.5), kn.theory.Continuum((4, 10), (0, 1)))
    assert float(coarse.rating_of(10.0)) == pytest.approx(float(usual.rating_of(10.0)), abs=1e-9)


def test_a_large_league_approaches_the_continuum():
    teams = kn.homogeneous(sigma=1.0, teams=600)
    league, limit = kn.stationary(system(0.5), teams), kn.stationary(system(0.5), kn.theory.Continuum((4, 10), 1.0))
    assert np.abs(limit.rating_of(teams.theta) - league.rating).max() < 1e-5


def test_rule_of_thumb_for_the_centre_slope():
    state = kn.stationary(system(0.5), kn.theory.Continuum((4, 10), 1.0))
    assert state.centre_slope == pytest.approx(1 / np.sqrt(1 + np.pi * 0.25), abs=0.02)


# ν, σ, γ, slope and mean variance of the Gaussian closure for independent ratings, N = 200 on [4, 10]
CLOSURE = [(1.0, 0.25, 0.8431, 0.3042), (1.0, 0.6, 0.9931, 0.9673), (0.0, 0.6, 1.2854, 0.9483)]


@pytest.mark.parametrize(("sigma", "gamma", "slope", "variance"), CLOSURE)
def test_gaussian_closure(sigma, gamma, slope, variance):
    state = kn.stationary(system(0.5, gamma), kn.theory.Continuum((4, 10), sigma), noise="gaussian")
    # The reference leaves out a team's matches against itself, an effect of 1/N.
    assert state.slope == pytest.approx(slope, abs=7e-4)
    assert state.teams.mean(state.variance) == pytest.approx(variance, rel=2e-3)
