"""Rating noise: its limits, its equations written out slowly, and the two ways of solving them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.linalg import LinAlgError

import kinelo as kn
from kinelo.theory import many_teams
from kinelo.theory.closure import LeagueClosure, State
from kinelo.theory.covariance import StrengthMotion, motion_of
from kinelo.theory.limit import rating_noise
from kinelo.theory.many_teams import representatives
from kinelo.theory.moving.following import follow
from kinelo.theory.pair_means import PairMeans, laplacian
from kinelo.theory.teams import teams_of


def system(gamma, outcome=None, pairing=None):
    return kn.RatingSystem(outcome or kn.Tanh(0.5), pairing or kn.model.AllPlayAll(), gamma)


@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.6, 1.3)])
@pytest.mark.parametrize(
    "strengths", [kn.homogeneous(sigma=1.0, teams=20), kn.theory.Continuum((4, 10), (0, 1), nodes=20, sigma_nodes=4)]
)
def test_small_steps_make_no_noise(outcome, strengths):
    still = kn.stationary(system(1e-6, outcome), strengths)
    noisy = kn.stationary(system(1e-6, outcome), strengths, noise="gaussian")
    assert noisy.rating == pytest.approx(still.rating, abs=1e-5)
    assert not still.variance.any()


@pytest.mark.parametrize("nu", [0.2, 0.5, 2.0])
def test_variance_of_small_steps_is_the_same_for_every_team(nu):
    """v → γ/2ν for tanh with constant strengths and many teams."""
    gamma = 1e-4 / nu
    state = kn.stationary(system(gamma, kn.Tanh(nu)), kn.theory.Continuum((0, 3 / nu), 0.0), noise="gaussian")
    assert state.variance == pytest.approx(np.full(80, gamma / (2 * nu)), rel=1e-3)


def normal_mean(function, mean, variance):
    def integrand(x):
        return function(mean + np.sqrt(variance) * x) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)

    return quad(integrand, -10, 10, epsabs=1e-12, limit=400)[0]


@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), kn.model.Davidson(0.6, 1.3), kn.model.Probit(0.4)])
@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Local()])
def test_the_equations_written_out(outcome, pairing):
    """Drift zero and A C + C A = γ Q, every mean taken by adaptive quadrature pair by pair."""
    league, gamma = kn.Normal([0.0, 1.0, 2.5, 3.0], [0.0, 1.0, 0.5, 0.2]), 0.4
    state = kn.stationary(system(gamma, outcome, pairing), league, noise="gaussian")
    win, tie, loss = kn.model.outcome_probabilities(outcome, league)
    covariance = state.covariance
    assert covariance is not None
    drift, slope, shake = np.zeros((3, 4, 4))
    for i in range(4):
        for j in range(4):
            if i == j:
                continue
            s, square = win[i, j] - loss[i, j], 1 - tie[i, j]
            mean = state.rating[i] - state.rating[j]
            variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            push = lambda z, s=s: pairing.w(z) * (s - outcome.b(z))  # noqa: E731
            pull = lambda z, s=s: pairing.w(z) * outcome.b_prime(z) - pairing.w_prime(z) * (s - outcome.b(z))  # noqa: E731
            jolt = lambda z, s=s, q=square: pairing.w(z) * (q - 2 * s * outcome.b(z) + outcome.b(z) ** 2)  # noqa: E731
            drift[i, j] = normal_mean(push, mean, variance) / 3
            slope[i, j] = normal_mean(pull, mean, variance) / 3
            shake[i, j] = normal_mean(jolt, mean, variance) / 3
    assert drift.sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-8)
    restoring = laplacian(slope)
    assert restoring @ covariance + covariance @ restoring == pytest.approx(gamma * laplacian(shake), abs=1e-8)
    assert covariance.sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-10)


@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), kn.model.Davidson(0.6, 1.3), kn.model.Probit(0.4)])
@pytest.mark.parametrize("gamma", [0.05, 0.8])
def test_waves_and_pairs_agree_on_the_mean_field(outcome, gamma):
    teams = kn.theory.Continuum((4, 10), (0, 1), nodes=20, sigma_nodes=4)
    waves, pairs = (
        kn.stationary(system(gamma, outcome), teams, noise="gaussian", method=method)
        for method in ("matrix-free", "dense")
    )
    assert waves.rating == pytest.approx(pairs.rating, abs=1e-8)
    assert waves.variance == pytest.approx(pairs.variance, rel=1e-8)


def test_noise_stretches_the_map():
    slopes = [
        kn.stationary(system(gamma), kn.theory.Continuum((4, 10), 1.0), noise="gaussian").slope
        for gamma in (0.01, 0.1, 0.5, 2.0)
    ]
    assert (np.diff(slopes) > 0).all()


@pytest.mark.parametrize("spread", [pytest.param(1.0, marks=pytest.mark.long), (0.0, 1.5)])
def test_representatives_stand_for_all_teams(spread):
    """The method for large leagues against all pairs, on a league that both can do."""
    random = np.random.default_rng(4)
    sigma = spread if isinstance(spread, float) else random.uniform(*spread, 320)
    league = kn.Normal(random.uniform(4, 10, 320), sigma)
    pairs = kn.stationary(system(0.3), league, noise="gaussian", method="dense")
    groups = kn.stationary(system(0.3), league, noise="gaussian", method="matrix-free")
    # What is left is the 1/N effect of a team not meeting itself.
    assert groups.variance == pytest.approx(pairs.variance, rel=2e-3)
    assert groups.rating == pytest.approx(pairs.rating, abs=5e-4)
    assert groups.residual <= 1e-12


def test_whole_covariance_differs_from_independence_by_one_over_n():
    small, large = (
        kn.stationary(system(0.3), kn.homogeneous(sigma=1.0, teams=teams), noise="gaussian") for teams in (30, 240)
    )
    limit = kn.stationary(system(0.3), kn.theory.Continuum((4, 10), 1.0), noise="gaussian")
    typical = limit.teams.mean(limit.variance)
    errors = [abs(state.variance.mean() / typical - 1) for state in (small, large)]
    assert errors[0] == pytest.approx(8 * errors[1], rel=0.25)
    assert errors[1] < 0.01


@settings(max_examples=8, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=2, max_size=8), st.floats(0, 1.5), st.floats(0.01, 1.0), st.floats(-20, 20))
def test_reflection_translation_and_mean(theta, sigma, gamma, shift):
    state = kn.stationary(system(gamma), kn.Normal(theta, sigma), noise="gaussian")
    moved = kn.stationary(system(gamma), kn.Normal(shift - np.array(theta), sigma), noise="gaussian")
    assert shift - moved.rating == pytest.approx(state.rating, abs=1e-7)
    assert moved.variance == pytest.approx(state.variance, rel=1e-6)
    assert state.rating.mean() == pytest.approx(np.mean(theta), abs=1e-9)


def test_a_large_league_keeps_no_matrix():
    """A random league of 2,000 teams agrees with the continuum it is drawn from, up to its sampling error."""
    random = np.random.default_rng(5)
    league = kn.Normal(random.uniform(4, 10, 2000), random.uniform(0, 1, 2000))
    state = kn.stationary(system(0.25), league, noise="gaussian")
    assert state.covariance is None
    assert state.residual <= 1e-12
    limit = kn.stationary(system(0.25), kn.theory.Continuum((4, 10), (0, 1), nodes=20, sigma_nodes=4), noise="gaussian")
    assert state.slope == pytest.approx(limit.slope, abs=3e-3)


def test_noise_that_drives_teams_apart_is_an_error():
    """Steps of twice the window's width: teams that meet leave each other's window."""
    with pytest.raises(kn.errors.NoStationaryState, match="gamma = 4 leaves no stable mean ratings"):
        kn.stationary(system(4.0, pairing=kn.model.Window(2.0)), kn.homogeneous(sigma=1.0, teams=20), noise="gaussian")


@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_noise_far_beyond_small_steps_is_reached_and_is_what_simulation_shows(sigma):
    """γν = 1: solved by growing steps. Simulated slopes have a standard error of about .01; 5 % are allowed."""
    system, league = kn.RatingSystem(kn.Tanh(2.0), gamma=0.5), kn.homogeneous(sigma=sigma, teams=100)
    state = kn.stationary(system, league, noise="gaussian")
    run = kn.simulate(system, league, steps=20_000, realisations=16, seed=1, record_every=1000).rating[:, 5:]
    simulated = np.polyfit(league.theta, run.mean(("realisation", "time")), 1)[0]
    assert state.slope == pytest.approx(simulated, rel=0.05)
    assert state.variance.mean() == pytest.approx(float(run.var(("realisation", "time")).mean()), rel=0.1)


def test_the_unbiased_step_is_found_for_steep_outcomes():
    gamma = kn.unbiased_gamma(kn.Tanh(2.0), kn.theory.Continuum(theta=(4, 10), sigma=1.0))
    system = kn.RatingSystem(kn.Tanh(2.0), gamma=gamma)
    assert kn.stationary(
        system, kn.theory.Continuum(theta=(4, 10), sigma=1.0), noise="gaussian"
    ).slope == pytest.approx(1, abs=1e-5)


def test_noise_that_fills_a_window_is_said():
    """Simulated, the slope at γ = .2 is 2.7 where the closure says 2.0; at γ = .05 they agree to .001."""
    league = kn.homogeneous(sigma=1.0, teams=20)
    with pytest.warns(kn.KineloWarning, match=r"varies by ± 1\.\d+ at gamma = 0\.2, and the pairing jumps at 1\.5"):
        kn.stationary(system(0.2, pairing=kn.model.Window(1.5)), league, noise="gaussian")
    kn.stationary(
        system(0.05, pairing=kn.model.Window(1.5)), league, noise="gaussian"
    )  # a warning would be an error here


@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), kn.model.Davidson(0.6, 1.3), kn.model.Probit(0.4)])
def test_derivatives_of_pair_means(outcome):
    """Against differences in mean and variance, step 1e-4: wrong by its square at most; as a series and without."""
    centre, variance, h = np.array([-1.0, 0.0, 1.7]), np.array([0.7, 0.4, 1.1]), 1e-4

    def means(shift, wider, products):
        return PairMeans(outcome, centre + shift, np.sqrt(variance + wider), products=products)

    for products in (False, True):
        here = means(0.0, 0.0, products)
        right, left, wide, narrow = (means(*one, products) for one in ((h, 0), (-h, 0), (0, h), (0, -h)))
        for names in (("mean", "slope", "second", "third"), ("square", "square_first", "square_second")):
            for lower, upper in pairwise(names):
                difference = (getattr(right, lower) - getattr(left, lower)) / (2 * h)
                assert difference == pytest.approx(getattr(here, upper), abs=1e-7)
            for lower, upper in zip(names, names[2:]):
                difference = (getattr(wide, lower) - getattr(narrow, lower)) / (2 * h)
                assert difference == pytest.approx(getattr(here, upper) / 2, abs=1e-7)


@pytest.mark.parametrize("gamma", [0.05, 0.6, 2.0])
def test_few_newton_steps_find_what_many_small_steps_find(gamma):
    """The twin moves means and covariance halfway to what each equation gives, two hundred times."""
    league = kn.Normal(np.linspace(4, 10, 20), np.linspace(0.2, 1.5, 20))
    solver = LeagueClosure(system(gamma), teams_of(league))
    found = solver.solve(gamma, league.theta)
    state = solver.first_guess(solver.steps(gamma), league.theta)
    for _ in range(200):
        now = solver.look(solver.steps(gamma), state)
        hold = laplacian(now.pairs.restoring) + 1.0
        rating = state.rating + np.linalg.solve(hold, now.drift) / 2
        state = State(rating, now.implied.C, (state.U + now.implied.U) / 2)
    assert pytest.approx(state.U, abs=1e-10) == found.state.U
    assert found.state.rating == pytest.approx(state.rating, abs=1e-10)
    assert found.iterations <= 15


def test_a_mean_field_converges_quadratically():
    """Without correlations the step is Newton's own: three more iterations square an error of 1e-2 beyond rounding."""
    teams = teams_of(kn.theory.Continuum((4, 10), (0, 1), nodes=10, sigma_nodes=3))
    solver, errors = LeagueClosure(system(0.5), teams), []
    state = solver.first_guess(solver.steps(0.5), teams.theta)
    for _ in range(7):
        now = solver.look(solver.steps(0.5), state)
        state, _ = now.newton(teams.mass)
        errors.append(max(now.change, now.residual))
    near = [error for error in errors if error < 0.05]
    assert near[1] < near[0] ** 2 * 10
    assert near[2] < 1e-6
    assert errors[-1] < 1e-12


def test_noise_of_more_equal_teams_than_are_kept_whole():
    state = kn.stationary(system(0.2), kn.Normal(np.zeros(400), 1.0), noise="gaussian")
    pairs = kn.stationary(system(0.2), kn.Normal(np.zeros(100), 1.0), noise="gaussian")
    assert state.kind == "independent" and pairs.kind == "joint"
    assert state.variance == pytest.approx(np.full(400, pairs.variance[0] * 100 / 99), rel=1e-6)


def test_error_is_that_of_ratings_less_strengths():
    """Slow twin: draws of the covariance about the mean ratings, variance of R − θ with divisor N − 1."""
    league = kn.Normal([0.0, 1.0, 2.5, 3.0], [0.2, 1.0, 0.5, 0.2])
    state = kn.stationary(system(0.4), league, noise="gaussian")
    draws = np.random.default_rng(3).multivariate_normal(state.rating, state.covariance, size=200_000)
    each = (draws - league.theta).var(axis=1, ddof=1)
    assert state.error == pytest.approx(each.mean(), abs=4 * each.std() / np.sqrt(200_000))


def test_groups_know_the_number_of_teams_behind_them():
    """Three kinds of four equal teams each, as groups of independent ratings and as twelve teams: the same numbers."""
    theta, system = np.repeat([0.0, 1.0, 2.5], 4), kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
    teams = teams_of(kn.Normal(theta, 0.4))
    merged = representatives(teams)
    for motion in (StrengthMotion(), StrengthMotion(0.4, 0.03), StrengthMotion(walk=0.02**2)):
        each, few = (LeagueClosure(system, one, motion=motion, whole=False) for one in (teams, merged.teams))
        one, other = each.solve(0.1, teams.theta), few.solve(0.1, merged.teams.theta)
        for name in ("rating", "C", "U"):
            assert getattr(other.state, name)[merged.group] == pytest.approx(getattr(one.state, name), abs=1e-9)
    assert merged.expand(merged.teams.theta, theta) == pytest.approx(theta)


@pytest.mark.parametrize("dynamics", [kn.model.Form(0.03, 0.6), kn.model.Walk(0.03), None])
def test_many_teams_in_groups_follow_as_one_by_one(dynamics):
    """140 unlike teams by groups, and with all pairs: E, slope and each rating within a thousandth."""
    generator = np.random.default_rng(4)
    league = kn.Normal(generator.normal(0, 1.2, 140), generator.uniform(0, 0.8, 140))
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Period(4))
    motion, teams = motion_of(dynamics), teams_of(league)
    closure = LeagueClosure(system, teams, motion=motion, whole=False)
    whole = closure.solve(0.05, teams.theta)
    if dynamics is None:
        found = kn.stationary(system, league, noise="gaussian")
        rating, variance = found.rating, found.variance
    else:
        found = kn.tracking(system, league, dynamics)
        exact = follow(closure, whole).moments
        assert pytest.approx(exact.error, rel=2e-3) == found.E
        assert found.rating_slope == pytest.approx(exact.rating_slope, rel=1e-3)
        rating, variance = found.teams.rating, found.teams.variance
    off = whole.state.rating - whole.state.rating.mean() + teams.theta.mean()
    assert rating == pytest.approx(off, abs=0.01)
    assert variance == pytest.approx(whole.variance, rel=0.01)


def test_a_covariance_that_no_strengths_and_ratings_have_is_refused():
    """C beyond √VU makes a mean of squares negative: an iteration that came there has lost its way."""
    closure = LeagueClosure(system(0.1), teams_of(kn.Fixed([0.0, 3.0])), motion=motion_of(kn.model.Form(0.05, 1.0)))
    between = np.array([[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(LinAlgError, match="no strengths and ratings have these covariances"):
        closure.look(closure.steps(0.1), State(np.zeros(2), -1.0 * between, 0.3 * between))
    fine = closure.look(closure.steps(0.1), State(np.zeros(2), 0.3 * between, 0.3 * between))
    assert fine.pairs.shaking.sum(axis=1).min() > 0


@pytest.mark.parametrize("other", [{}, {"pairing": kn.model.Window(1.6, 0.4)}, {"schedule": kn.model.Rounds()}])
def test_iterations_of_an_answer_count_all_that_led_to_it(other):
    league = kn.Normal([-1.1, -0.2, 0.3, 0.9, 1.7], sigma=[0.2, 0.5, 0.4, 0.3, 0.6])
    asked = kn.RatingSystem(kn.Tanh(0.6), gamma=0.05, **other)
    still, moving = (kn.stationary(asked, league, noise=noise) for noise in ("none", "gaussian"))
    noise = rating_noise(asked, teams_of(league), "exact", still.rating)
    assert moving.iterations == still.iterations + noise.iterations
    assert still.iterations >= 2 and 2 <= noise.iterations <= 15


def test_iterations_of_a_large_league_are_those_of_its_groups_and_of_each_balance(monkeypatch):
    teams, steps = teams_of(kn.Normal(np.linspace(-1.0, 2.0, 9), 0.4)), []

    def counted(solve):
        def counting(*args):
            found = solve(*args)
            steps.append(found.iterations)
            return found

        return counting

    monkeypatch.setattr(many_teams, "representatives", lambda all_of_them: representatives(all_of_them, 3))
    for name in ("find_balance", "mean_field"):
        monkeypatch.setattr(many_teams, name, counted(getattr(many_teams, name)))
    found = many_teams.large_league(system(0.05), teams, "exact", teams.theta)
    assert len(steps) == 4 and min(steps) > 0  # groups, a start, and two passes over the variances
    assert found.iterations == sum(steps)


def test_groups_of_one_band_have_one_spread_where_there_are_few_spreads():
    spreads = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    merged = representatives(teams_of(kn.Normal(np.sin(np.arange(400.0)), np.tile(spreads, 50))), 40)
    found = [np.unique(merged.teams.sigma[merged.band == band].round(12)).tolist() for band in range(8)]
    assert found == [[spread] for spread in spreads] and set(merged.band) == set(range(8))
