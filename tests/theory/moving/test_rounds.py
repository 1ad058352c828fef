"""Rounds: thresholds, what lies beyond them, noise, tracking, and two teams exactly."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.covariance import Overshoot, PairSlopes, StrengthMotion, batch_of, joint_covariance
from kinelo.theory.moving.rounds import MeanMap
from kinelo.theory.teams import teams_of
from kinelo.theory.two_teams import _Chain, gap_law

HALF = kn.Tanh(0.5)
LEAGUE = kn.Fixed(np.linspace(4, 10, 20))
TEAMS = teams_of(LEAGUE)


def linear_round_noise(gamma):
    """Covariance before a round for noise so small that b is a straight line: ``LC + CL − γLCL = γ·Lap(Var S)``."""
    rating = kn.stationary(kn.RatingSystem(HALF), LEAGUE).rating
    gap, share = rating[:, None] - rating[None, :], 1 / (TEAMS.size - 1)
    slope, luck = share * HALF.b_prime(gap), share * (1 - HALF.b(gap) ** 2)
    np.fill_diagonal(slope, 0.0)
    np.fill_diagonal(luck, 0.0)
    batch = batch_of(kn.model.Rounds(), TEAMS, StrengthMotion())
    return joint_covariance(np.full(TEAMS.size, gamma), PairSlopes(slope, None, luck), StrengthMotion(), batch)[1]


def rounds(gamma, outcome=HALF):
    return kn.RatingSystem(outcome, gamma=gamma, schedule=kn.model.Rounds())


def test_thresholds_reference():
    found = kn.theory.critical_gamma(HALF, LEAGUE)
    values = (found.slowest, found.largest, found.critical, found.fastest)
    assert values == pytest.approx((1.541577379, 5.810740630, 0.344190204, 0.272023054), abs=1e-9)
    assert found.bound == pytest.approx(0.2)
    noisy = kn.theory.critical_gamma(HALF, kn.Normal(LEAGUE.theta, 1.0))
    assert noisy.critical == pytest.approx(0.288964830, abs=1e-9)


def test_mean_map_settles_below_and_alternates_above():
    found = kn.theory.critical_gamma(HALF, LEAGUE)
    below, above = found.beyond(0.3440), found.beyond(0.3444)
    assert (below.kind, above.kind, above.period) == ("settles", "cycle", 2)
    assert below.exponent < 0


def test_the_bound_is_sharp_iff_strengths_are_equal():
    for outcome in (HALF, kn.model.Probit(0.7), kn.model.Davidson(0.5, 1.0)):
        equal = kn.theory.critical_gamma(outcome, kn.Fixed(np.zeros(7)))
        assert equal.critical == pytest.approx(equal.bound, rel=1e-12)
        unequal = kn.theory.critical_gamma(outcome, kn.Fixed(np.arange(7.0)))
        assert unequal.critical > unequal.bound


def test_halves_alternate_at_the_reference_distance():
    """Equal strengths: ``2x = ½γN tanh 2νx``."""
    orbit = kn.theory.critical_gamma(HALF, kn.Fixed(np.zeros(20))).beyond(0.25)
    assert orbit.amplitude == pytest.approx(np.full(20, 0.8880147), abs=1e-7)


def test_two_unequal_teams_can_wander():
    """Lyapunov exponents of ``z → z + 2γ(s − tanh νz)`` at s = ½."""
    found = kn.theory.critical_gamma(HALF, kn.Fixed([math.atanh(0.5) / 0.5, 0.0]))
    orbit = found.beyond(4.0)
    assert orbit.exponent == pytest.approx(0.25, abs=0.02) and orbit.kind == "wanders"


def test_fastest_step_contracts_by_its_factor():
    found = kn.theory.critical_gamma(HALF, LEAGUE)
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
    found = kn.stationary(rounds(gamma), LEAGUE, noise="gaussian")
    accuracy = 1e-8 if linear else 1e-6
    assert found.variance.mean() == pytest.approx(closure, abs=accuracy)
    assert found.slope == pytest.approx(slope, abs=accuracy)
    if linear:
        assert np.diag(linear_round_noise(gamma)).mean() == pytest.approx(linear, abs=1e-8)
    else:
        with pytest.raises(Overshoot):
            linear_round_noise(gamma)


def test_noise_with_varying_performances_reference():
    found = kn.stationary(rounds(0.1), kn.Normal(LEAGUE.theta, 1.0), noise="gaussian")
    assert found.variance.mean() == pytest.approx(0.138462, abs=6e-7)
    assert found.slope == pytest.approx(0.803130, abs=6e-7)


def test_every_mode_has_its_own_noise():
    """tanh, strengths at rest: mode k has variance ``γ/(ν(2 − γλ_k))``; match by match it would be γ/2ν."""
    gamma = 0.15
    noise = linear_round_noise(gamma)
    found = kn.theory.critical_gamma(HALF, LEAGUE)
    slope = HALF.b_prime(found.rating[:, None] - found.rating[None, :])
    np.fill_diagonal(slope, 0)
    rates, modes = np.linalg.eigh(np.diag(slope.sum(axis=1)) - slope)
    expected = gamma / (0.5 * (2 - gamma * rates[1:]))
    assert np.diag(modes.T @ noise @ modes)[1:] == pytest.approx(expected, rel=1e-9)


def test_small_rounds_are_matches():
    """γ → 0: the noise is that of match-by-match rating, for any outcome."""
    outcome, gamma, league = kn.model.Davidson(0.6, 1.0), 1e-5, kn.Normal([0.0, 1.0, 2.5], 0.7)
    together = kn.stationary(rounds(gamma, outcome), league, noise="gaussian")
    matches = kn.stationary(kn.RatingSystem(outcome, gamma=gamma), league, noise="gaussian")
    # Match by match the results of a pair shake both with S² − 2sb + b², in a round with Var S: larger where s ≠ b.
    assert (together.variance <= matches.variance * (1 + 1e-6)).all()
    assert together.rating == pytest.approx(matches.rating, abs=1e-5)


@pytest.mark.parametrize(
    ("gamma", "square"), [(0.05, 0.1050794363), (0.2, 0.4844993089), (0.5, 1.559072984), (1.0, 4.440204157)]
)
def test_two_equal_teams_reference(gamma, square):
    mean, second, *_ = gap_law(kn.RatingSystem(HALF, gamma=gamma), kn.Fixed([0.0, 0.0])).moments
    assert mean == pytest.approx(0, abs=1e-11)
    assert second == pytest.approx(square, rel=1e-9)


def test_two_unequal_teams_reference():
    found = gap_law(kn.RatingSystem(HALF, gamma=0.2), kn.Fixed([math.atanh(0.5) / 0.5, 0.0])).moments
    assert found[:2] == pytest.approx((1.203143732, 1.901740154), abs=1e-9)


@pytest.mark.parametrize(("gamma", "closure", "exact"), [(0.4, 0.1095, 0.10011), (1.0, 0.3491, 0.27133)])
def test_bias_of_two_teams_reference(gamma, closure, exact):
    """Gap 1 at rest: the closure overstates what noise does to so few; the answer for two teams is exact."""
    league = kn.Fixed([0.0, 1.0])
    state = kn.stationary(kn.RatingSystem(HALF, gamma=gamma), league, noise="gaussian")
    assert state.kind == "exact" and state.caveats == ()
    assert state.bias == pytest.approx([-exact, exact], abs=6e-6)
    solver = LeagueClosure(kn.RatingSystem(HALF), teams_of(league))
    assert solver.solve(gamma, league.theta).state.rating[1] - 1 == pytest.approx(closure, abs=6e-5)


def test_two_teams_against_played_matches():
    """Moments up to the fourth of a chain with ties and a step for each team; 4 standard errors of 400 chains."""
    outcome, league, steps = kn.model.Davidson(0.6, 1.0), kn.Normal([0.0, 0.8], 0.5), np.array([0.3, 0.6])
    law = gap_law(kn.RatingSystem(outcome, gamma=steps), league)
    win, tie, _ = (one[0, 1] for one in kn.model.outcome_probabilities(outcome, league))
    generator, z, powers = np.random.default_rng(6), np.zeros(400), np.zeros((4, 400))
    for match in range(1600):
        u = generator.random(400)
        result = np.where(u < win, 1.0, np.where(u < win + tie, 0.0, -1.0))
        z = z + steps.sum() * (result - outcome.b(z))
        if match >= 100:
            powers += z ** np.arange(1, 5)[:, None] / 1500
    error = powers.std(axis=1) / math.sqrt(400)
    assert (np.abs(powers.mean(axis=1) - law.moments) < 4 * error).all()
    state = kn.stationary(kn.RatingSystem(outcome, gamma=steps), league, noise="gaussian")
    assert state.variance[1] == pytest.approx(4 * state.variance[0])
    assert state.rating[0] - state.rating[1] == pytest.approx(law.mean)


def test_two_teams_with_form_against_played_matches():
    """E z, E z², Cov(z, D) of a chain whose strengths move; 4 standard errors of 3,000 chains."""
    form, gamma, generator = kn.model.Form(0.05, 0.9), 0.3, np.random.default_rng(7)
    law = gap_law(kn.RatingSystem(HALF, gamma=gamma), kn.Normal([0.7, 0.0], 0.4), form)
    own, kept = math.sqrt(2) * 0.9, math.exp(-0.05)
    D, z, sums = own * generator.standard_normal(3000), np.zeros(3000), np.zeros((3, 3000))
    for match in range(500):
        if match >= 150:
            sums += np.stack([z, z * z, z * D]) / 350
        x = 0.7 + D + 0.4 * math.sqrt(2) * generator.standard_normal(3000)
        result = np.where(generator.random(3000) < (1 + HALF.b(x)) / 2, 1.0, -1.0)
        z = z + 2 * gamma * (result - HALF.b(z))
        D = kept * D + own * math.sqrt(1 - kept**2) * generator.standard_normal(3000)
    expected = np.array([law.mean, law.moments[1], law.shared])
    assert (np.abs(sums.mean(axis=1) - expected) < 4 * sums.std(axis=1) / math.sqrt(3000)).all()


def test_tracking_reference():
    """N = 10, V = .3, what a round keeps φ = .98: the error before and after a round."""
    form = kn.model.Form(-math.log(0.98) / 9, math.sqrt(0.3))
    found = kn.tracking(rounds(0.05), kn.Fixed(np.zeros(10)), form)
    # With Var(s − b) less what is linear in it; without it .085986. Simulated: .0861(2).
    assert pytest.approx(0.085986, rel=2e-3) == found.E
    assert found.teams.after == pytest.approx(0.07465, rel=3e-3)
    assert found.parts.total == pytest.approx(found.E)


def test_tracking_a_walk_by_rounds():
    """Small steps, mode λ: ``E = (γ²λ/ν + s²)/(γλ(2 − γλ))``, least at the Kalman gain."""
    size, step = 6, 1e-5
    slope = size * 0.5
    x = step**2 * (size - 1) * 0.5 * slope
    best = (-x + math.sqrt(x * x + 4 * x)) / 2 / slope
    errors = []
    for gamma in (best / 1.1, best, best * 1.1):
        found = kn.tracking(rounds(gamma), kn.Fixed(np.zeros(size)), kn.model.Walk(step)).E
        expected = (gamma**2 * slope / 0.5 + step**2 * (size - 1)) / (gamma * slope * (2 - gamma * slope))
        assert found == pytest.approx(expected, rel=1e-3)
        errors.append(found)
    assert errors[1] == min(errors)


@pytest.mark.parametrize("outcome", [HALF, kn.model.Davidson(0.5, 4.0)])
@pytest.mark.parametrize("gap", [0.3, 5.0, 12.0])
@pytest.mark.parametrize("gamma", [0.01, 0.39, 1.5])
def test_two_teams_are_resolved_however_certain_their_results(outcome, gap, gamma):
    """The law reaches as far as results vary, 1 − P(draw) − s²: on an interval half as wide again nothing changes."""
    system, league = kn.RatingSystem(outcome, gamma=gamma), kn.Normal([gap, 0.0], 1.0)
    law, wider = gap_law(system, league), _Chain(system, league, None)
    assert wider.reach < 40 * math.sqrt(law.variance)
    wider.reach *= 1.5
    assert wider.moments(1, 500)[:2] == pytest.approx(law.moments[:2], rel=1e-8)


@pytest.mark.parametrize("dynamics", [kn.model.Form(0.002, 0.6), None])
def test_the_best_step_of_rounds_of_many_teams_is_found_in_groups(dynamics, monkeypatch):
    league = kn.Normal(np.linspace(0.0, 2.0, 110) ** 1.5, sigma=0.5)
    quick = kn.best_gamma(kn.Tanh(0.5), league, dynamics, schedule=kn.model.Rounds())
    monkeypatch.setattr("kinelo.theory.moving.best.FEW_GROUPS", 1000)
    whole = kn.best_gamma(kn.Tanh(0.5), league, dynamics, schedule=kn.model.Rounds())
    # Independent teams miss 1/N of the error, which bends where the least of it lies by a hundredth.
    assert quick.gamma == pytest.approx(whole.gamma, rel=0.012)
    assert quick.error == pytest.approx(whole.error, rel=2e-4)
    assert quick.error <= quick.errors.min() * (1 + 1e-6)
    assert quick.parts.total == pytest.approx(quick.error) and quick.parts.lag == pytest.approx(
        whole.parts.lag, rel=0.03
    )
