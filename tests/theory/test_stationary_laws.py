"""Laws of the stationary map, as properties of random leagues."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn

SYSTEM = kn.RatingSystem(kn.Tanh(0.5))
OUTCOMES = st.sampled_from(
    [kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.6, 1.3), kn.model.Davidson(0.5, 5.0)]
)
PROPERTY = settings(max_examples=15, deadline=None)


@st.composite
def leagues(draw, most=12):
    size = draw(st.integers(2, most))
    theta = draw(st.lists(st.floats(-4, 4), min_size=size, max_size=size))
    sigma = draw(st.lists(st.floats(0, 2), min_size=size, max_size=size))
    return kn.Normal(theta, sigma)


@PROPERTY
@given(OUTCOMES, leagues())
def test_every_team_scores_what_its_rating_predicts(outcome, league):
    """The slow twin: the balance written out with the matrix of expected results."""
    state = kn.stationary(kn.RatingSystem(outcome), league)
    expected = kn.expected_result(outcome, league)
    predicted = outcome.b(state.rating[:, None] - state.rating[None, :])
    assert np.abs((expected - predicted).sum(axis=1)).max() < 1e-11
    assert state.residual <= 1e-12


@PROPERTY
@given(OUTCOMES, leagues(), st.floats(-50, 50))
def test_translation(outcome, league, shift):
    system = kn.RatingSystem(outcome)
    moved = kn.stationary(system, kn.Normal(league.theta + shift, league.sigma))
    assert moved.rating - shift == pytest.approx(kn.stationary(system, league).rating, abs=1e-9)


@PROPERTY
@given(leagues(), st.randoms(use_true_random=False))
def test_permutation(league, random):
    order = list(range(league.teams))
    random.shuffle(order)
    mixed = kn.stationary(SYSTEM, kn.Normal(league.theta[order], league.sigma[order]))
    assert mixed.rating == pytest.approx(kn.stationary(SYSTEM, league).rating[order], abs=1e-9)


@PROPERTY
@given(OUTCOMES, leagues())
def test_reflection(outcome, league):
    system = kn.RatingSystem(outcome)
    mirrored = kn.stationary(system, kn.Normal(-league.theta, league.sigma))
    assert -mirrored.rating == pytest.approx(kn.stationary(system, league).rating, abs=1e-9)


@PROPERTY
@given(leagues(), st.floats(-5, 5))
def test_the_mean_rating_is_that_of_the_start(league, mean):
    start = np.linspace(-1, 1, league.teams) + mean
    assert kn.stationary(SYSTEM, league, start=start).rating.mean() == pytest.approx(start.mean(), abs=1e-10)
    assert kn.stationary(SYSTEM, league).rating.mean() == pytest.approx(league.theta.mean(), abs=1e-10)


@PROPERTY
@given(OUTCOMES, st.lists(st.floats(-4, 4), min_size=2, max_size=12), st.floats(0, 3))
def test_stronger_teams_are_rated_higher_and_gaps_shrink(outcome, theta, sigma):
    theta = np.sort(theta)
    rating = kn.stationary(kn.RatingSystem(outcome), kn.Normal(theta, sigma)).rating
    assert (np.diff(rating) >= -1e-9).all()
    if isinstance(outcome, kn.Tanh | kn.model.Probit):
        assert rating[-1] - rating[0] <= theta[-1] - theta[0] + 1e-9


@PROPERTY
@given(OUTCOMES, st.lists(st.floats(-5, 5), min_size=2, max_size=12))
def test_constant_strengths_are_rated_exactly(outcome, theta):
    assert kn.stationary(kn.RatingSystem(outcome), kn.Fixed(theta)).rating == pytest.approx(np.array(theta), abs=1e-8)


@PROPERTY
@given(st.floats(-4, 4), st.floats(0, 3), st.floats(0, 3), st.floats(0.2, 2))
def test_two_teams_in_closed_form(gap, first, second, nu):
    league = kn.Normal([0.0, gap], [first, second])
    expected = kn.expected_result(kn.Tanh(nu), league)[1, 0]
    rating = kn.stationary(kn.RatingSystem(kn.Tanh(nu)), league).rating
    assert rating[1] - rating[0] == pytest.approx(np.arctanh(expected) / nu, abs=1e-6)


@PROPERTY
@given(OUTCOMES, leagues(), st.sampled_from(["exact", "taylor"]))
def test_dense_and_matrix_free_agree(outcome, league, closure):
    league = kn.Normal(league.theta, league.sigma / 3)
    system = kn.RatingSystem(outcome)
    dense = kn.stationary(system, league, closure, method="dense")
    free = kn.stationary(system, league, closure, method="matrix-free")
    assert free.rating == pytest.approx(dense.rating, abs=1e-8)


@pytest.mark.parametrize(
    "league", [kn.paper.setup_r2(teams=40), kn.model.Empirical([[0.0, 1, 5], [2, 2, 2], [1, 4, 4]])]
)
def test_dense_and_matrix_free_agree_for_other_laws(league):
    dense = kn.stationary(SYSTEM, league, method="dense")
    assert kn.stationary(SYSTEM, league, method="matrix-free").rating == pytest.approx(dense.rating, abs=1e-11)


def test_dense_and_matrix_free_agree_at_a_thousand_teams():
    random = np.random.default_rng(1)
    league = kn.Normal(random.uniform(4, 10, 1000), random.uniform(0, 2, 1000))
    dense = kn.stationary(SYSTEM, league, method="dense")
    free = kn.stationary(SYSTEM, league, method="matrix-free")
    assert np.abs(dense.rating - free.rating).max() < 1e-10


def test_one_more_team_like_another_is_rated_like_it():
    teams = kn.theory.Continuum((4, 10), 1.0)
    for noise in ("none", "gaussian"):
        state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), gamma=0.3), teams, noise=noise)
        assert state.rating_of(state.theta) == pytest.approx(state.rating, abs=1e-9)
        step = (state.rating_of(7.01) - state.rating_of(6.99)) / 0.02
        assert float(state.slope_at(7.0)) == pytest.approx(float(step), abs=1e-5)


def test_slope_of_equal_teams_is_undefined():
    assert np.isnan(kn.stationary(SYSTEM, kn.Normal([1.0, 1.0], [0.0, 2.0])).slope)


@pytest.mark.parametrize("sigma", [-1.0, float("nan"), "wide", [1.0, 2.0]])
def test_the_spread_of_one_more_team_is_a_number_of_at_least_zero(sigma):
    state = kn.stationary(kn.Tanh(0.5), kn.Normal([4.0, 7.0, 10.0], 1.0))
    for ask in (state.rating_of, state.slope_at):
        with pytest.raises(kn.InputError, match=r"^sigma must be .*\.$"):
            ask(5.0, sigma)
