"""Rounds: thresholds, what lies beyond them, noise, tracking, and two teams exactly."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.rounds import MeanMap
from kinelo.theory.moving.rounds_noise import linear_round_noise, round_noise
from kinelo.theory.moving.rounds_tracking import best_round_gain, round_tracking
from kinelo.theory.moving.two_teams import gap_moments
from kinelo.theory.state import regression_slope
from kinelo.theory.teams import teams_of

HALF = kn.Tanh(0.5)
LEAGUE = kn.Fixed(np.linspace(4, 10, 20))
TEAMS = teams_of(LEAGUE)


def test_thresholds_reference():
    found = kn.critical_gamma(HALF, LEAGUE)
    values = (found.slowest, found.largest, found.critical, found.fastest)
    assert values == pytest.approx((1.541577379, 5.810740630, 0.344190204, 0.272023054), abs=1e-9)
    assert found.bound == pytest.approx(0.2)
    noisy = kn.critical_gamma(HALF, kn.Normal(LEAGUE.theta, 1.0))
    assert noisy.critical == pytest.approx(0.288964830, abs=1e-9)


def test_mean_map_settles_below_and_alternates_above():
    found = kn.critical_gamma(HALF, LEAGUE)
    below, above = found.beyond(0.3440), found.beyond(0.3444)
    assert (below.kind, above.kind, above.period) == ("settles", "cycle", 2)
    assert below.exponent < 0


def test_the_bound_is_sharp_iff_strengths_are_equal():
    for outcome in (HALF, kn.Probit(0.7), kn.Davidson(0.5, 1.0)):
        equal = kn.critical_gamma(outcome, kn.Fixed(np.zeros(7)))
        assert equal.critical == pytest.approx(equal.bound, rel=1e-12)
        unequal = kn.critical_gamma(outcome, kn.Fixed(np.arange(7.0)))
        assert unequal.critical > unequal.bound


def test_halves_alternate_at_the_reference_distance():
    """Equal strengths: ``2x = ½γN tanh 2νx``."""
    orbit = kn.critical_gamma(HALF, kn.Fixed(np.zeros(20))).beyond(0.25)
    assert orbit.amplitude == pytest.approx(np.full(20, 0.8880147), abs=1e-7)


def test_two_unequal_teams_can_wander():
    """Lyapunov exponents of ``z → z + 2γ(s − tanh νz)`` at s = ½."""
    found = kn.critical_gamma(HALF, kn.Fixed([math.atanh(0.5) / 0.5, 0.0]))
    orbit = found.beyond(4.0)
    assert orbit.exponent == pytest.approx(0.25, abs=0.02) and orbit.kind == "wanders"


def test_fastest_step_contracts_by_its_factor():
    found = kn.critical_gamma(HALF, LEAGUE)
    step = MeanMap(HALF, TEAMS, found.fastest)
    rating = found.rating + 1e-4 * np.linspace(-1, 1, 20) ** 3
    for _ in range(25):
        last, rating = rating, step(rating)
    ratio = np.abs(rating - found.rating).max() / np.abs(last - found.rating).max()
    assert ratio == pytest.approx(found.factor, rel=1e-2)


@pytest.mark.parametrize(
    ("gamma", "linear", "closure", "slope"),
    [
        (0.05, 0.05385276, 0.05476374, 1.01995552),
        (0.1, 0.12466453, 0.12864915, 1.04620440),
        (0.2, 0.37088311, 0.37788465, 1.12971994),
        (0.5, None, 3.024680, 1.774851),
    ],
)
def test_noise_reference(gamma, linear, closure, slope):
    found = round_noise(HALF, TEAMS, gamma)
    accuracy = 1e-8 if linear else 1e-6
    assert found.variance.mean() == pytest.approx(closure, abs=accuracy)
    assert regression_slope(TEAMS.theta, found.rating, TEAMS.mass) == pytest.approx(slope, abs=accuracy)
    if linear:
        assert linear_round_noise(HALF, TEAMS, gamma).variance.mean() == pytest.approx(linear, abs=1e-8)
    else:
        with pytest.raises(kn.NoStationaryState, match="critical step"):
            linear_round_noise(HALF, TEAMS, gamma)


def test_noise_with_varying_performances_reference():
    teams = teams_of(kn.Normal(LEAGUE.theta, 1.0))
    found = round_noise(HALF, teams, 0.1)
    assert found.variance.mean() == pytest.approx(0.138462, abs=6e-7)
    assert regression_slope(teams.theta, found.rating, teams.mass) == pytest.approx(0.803130, abs=6e-7)


def test_every_mode_has_its_own_noise():
    """tanh, strengths at rest: mode k has variance ``γ/(ν(2 − γλ_k))``; match by match it would be γ/2ν."""
    gamma = 0.15
    noise = linear_round_noise(HALF, TEAMS, gamma)
    found = kn.critical_gamma(HALF, LEAGUE)
    slope = HALF.b_prime(found.rating[:, None] - found.rating[None, :])
    np.fill_diagonal(slope, 0)
    rates, modes = np.linalg.eigh(np.diag(slope.sum(axis=1)) - slope)
    expected = gamma / (0.5 * (2 - gamma * rates[1:]))
    assert np.diag(modes.T @ noise.covariance @ modes)[1:] == pytest.approx(expected, rel=1e-9)


def test_small_rounds_are_matches():
    """γ → 0: the noise is that of match-by-match rating, for any outcome."""
    outcome, gamma, league = kn.Davidson(0.6, 1.0), 1e-5, kn.Normal([0.0, 1.0, 2.5], 0.7)
    rounds = round_noise(outcome, teams_of(league), gamma)
    matches = kn.stationary(kn.RatingSystem(outcome, gamma=gamma), league, noise="gaussian")
    # Match by match the results of a pair shake both with S² − 2sb + b², in a round with Var S: larger where s ≠ b.
    assert (rounds.variance <= matches.variance * (1 + 1e-6)).all()
    assert rounds.rating == pytest.approx(matches.rating, abs=1e-5)


@pytest.mark.parametrize(
    ("gamma", "square"), [(0.05, 0.1050794363), (0.2, 0.4844993089), (0.5, 1.559072984), (1.0, 4.440204157)]
)
def test_two_equal_teams_reference(gamma, square):
    mean, second = gap_moments(HALF, kn.Fixed([0.0, 0.0]), gamma)
    assert mean == pytest.approx(0, abs=1e-11)
    assert second == pytest.approx(square, rel=1e-9)


def test_two_unequal_teams_reference():
    found = gap_moments(HALF, kn.Fixed([math.atanh(0.5) / 0.5, 0.0]), 0.2)
    assert found == pytest.approx((1.203143732, 1.901740154), abs=1e-9)


def test_closure_of_two_teams_is_near_the_exact_law():
    exact = gap_moments(HALF, kn.Fixed([0.0, 0.0]), 0.2)[1]
    noise = round_noise(HALF, teams_of(kn.Fixed([0.0, 0.0])), 0.2)
    assert noise.covariance[0, 0] * 4 == pytest.approx(exact, rel=1e-2)


def test_tracking_reference():
    """N = 10, V = .3, what a round keeps φ = .98: the error before and after a round."""
    form = kn.Form(-math.log(0.98) / 9, math.sqrt(0.3))
    found = round_tracking(HALF, teams_of(kn.Fixed(np.zeros(10))), form, 0.05)
    assert found.moments.error == pytest.approx(0.085986, abs=6e-7)
    assert found.after == pytest.approx(0.07465, abs=5e-5)
    asked = kn.tracking(kn.RatingSystem(HALF, gamma=0.05, schedule=kn.Rounds()), kn.Fixed(np.zeros(10)), form)
    assert asked.moments.error == pytest.approx(found.moments.error)
    assert asked.parts.total == pytest.approx(asked.moments.error)


def test_tracking_a_walk_by_rounds():
    """Small steps, mode λ: ``E = (γ²λ/ν + s²)/(γλ(2 − γλ))``, least at the Kalman gain."""
    size, step, teams = 6, 1e-5, teams_of(kn.Fixed(np.zeros(6)))
    slope = size * 0.5
    best = best_round_gain(step * math.sqrt(size - 1), HALF, slope) / slope
    errors = []
    for gamma in (best / 1.1, best, best * 1.1):
        found = round_tracking(HALF, teams, kn.Walk(step), gamma).moments.error
        expected = (gamma**2 * slope / 0.5 + step**2 * (size - 1)) / (gamma * slope * (2 - gamma * slope))
        assert found == pytest.approx(expected, rel=1e-3)
        errors.append(found)
    assert errors[1] == min(errors)
