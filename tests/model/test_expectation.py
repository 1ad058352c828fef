"""Expected results against reference values, slow twins and the laws they obey."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import erf

import kinelo as kn
from kinelo.model.expectation import expected_tie


def slow_normal(outcome, difference, variance):
    """Slow twin: adaptive quadrature of b against the normal density."""
    if variance == 0:
        return float(outcome.b(difference))
    spread = math.sqrt(variance)

    def integrand(x):
        return float(outcome.b(difference + spread * x)) * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    points = sorted({max(-9.0, min(9.0, -difference / spread + shift / (outcome.nu * spread))) for shift in (-4, 0, 4)})
    return quad(integrand, -9.5, 9.5, points=points, epsabs=1e-12, epsrel=1e-12, limit=400)[0]


def win(nu, d, sigma, closure="exact"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KineloWarning)
        return (1 + kn.expected_result(kn.Tanh(nu), kn.Normal([d, 0.0], sigma), closure)[0, 1]) / 2


@pytest.mark.parametrize(
    ("d", "sigma", "exact", "taylor"),
    [(1, 1, 0.6750567, 0.6402008), (3, 1, 0.9086410, 0.9116826), (1, 2, 0.6181885, 0.3676276)],
)
def test_reference_win_probabilities(d, sigma, exact, taylor):
    assert win(0.5, d, sigma) == pytest.approx(exact, abs=5.1e-8)  # the reference has seven digits
    assert win(0.5, d, sigma, "taylor") == pytest.approx(taylor, abs=5.1e-8)
    assert win(0.5, d, sigma) == pytest.approx((1 + slow_normal(kn.Tanh(0.5), d, 2 * sigma**2)) / 2, abs=1e-11)


@given(st.floats(0.05, 4), st.floats(0.05, 6))
def test_closed_form(nu, variance):
    """If d = 2νV then E tanh = 1 − e^{−νd}."""
    d = 2 * nu * variance
    s = kn.expected_result(kn.Tanh(nu), kn.Normal([d, 0.0], math.sqrt(variance / 2)))[0, 1]
    assert s == pytest.approx(-math.expm1(-nu * d), abs=1e-12)


def test_reference_lineups():
    rho = np.stack([(10 * np.arange(23) / 22) / 11, np.full(23, 4 / 11)])
    league = kn.model.LineupLottery(rho, 11)
    assert league.sigma[0] == pytest.approx(0.67140813, abs=5e-9)
    for nu, expected in ((0.5, 0.4262868544), (1.0, 0.6411448738)):
        assert kn.expected_result(kn.Tanh(nu), league)[0, 1] == pytest.approx(expected, abs=1e-9)


@given(
    st.sampled_from(
        [kn.Tanh(0.5), kn.Tanh(3.0), kn.model.Probit(0.4), kn.model.Davidson(0.7, 0.5), kn.model.Davidson(0.7, 6.0)]
    ),
    st.floats(-12, 12),
    st.floats(0, 3),
    st.floats(0, 3),
)
@settings(max_examples=40, deadline=None)
def test_exact_agrees_with_quadrature(outcome, d, sigma, other):
    s = kn.expected_result(outcome, kn.Normal([d, 0.0], [sigma, other]))[0, 1]
    assert s == pytest.approx(slow_normal(outcome, d, sigma**2 + other**2), abs=1e-9)


def test_probit_has_a_closed_form():
    theta, sigma = np.array([0.0, 5.0, 100.0]), np.array([1.0, 3.0, 0.1])
    variance = np.add.outer(sigma**2, sigma**2)
    expected = erf(0.5 * np.subtract.outer(theta, theta) / np.sqrt(1 + 0.5 * variance))
    np.testing.assert_allclose(kn.expected_result(kn.model.Probit(0.5), kn.Normal(theta, sigma)), expected, atol=1e-13)


@pytest.mark.parametrize(
    "outcome", [kn.Tanh(0.7), kn.model.Probit(0.7), *(kn.model.Davidson(0.7, k) for k in (0.3, 2.0, 1.9999999, 9.0))]
)
def test_any_finite_law_agrees_with_the_double_sum(outcome):
    generator = np.random.default_rng(4)
    league = kn.model.Empirical(generator.normal(scale=4, size=(3, 5)), generator.dirichlet(np.ones(5), size=3))
    difference = league.values[:, None, :, None] - league.values[None, :, None, :]
    weight = league.probabilities[:, None, :, None] * league.probabilities[None, :, None, :]
    np.testing.assert_allclose(
        kn.expected_result(outcome, league), (weight * outcome.b(difference)).sum(axis=(2, 3)), atol=1e-13
    )
    np.testing.assert_allclose(
        expected_tie(outcome, league), (weight * outcome.tie_probability(difference)).sum(axis=(2, 3)), atol=1e-12
    )


leagues = st.builds(
    lambda theta, sigma: kn.Normal(theta, sigma[: len(theta)]),
    st.lists(st.floats(-10, 10), min_size=2, max_size=6),
    st.lists(st.floats(0, 3), min_size=6, max_size=6),
)


@given(leagues, st.floats(-100, 100))
@settings(max_examples=50)
def test_expected_results_are_odd_bounded_and_translation_invariant(league, shift):
    s = kn.expected_result(kn.Tanh(0.5), league)
    assert (s == -s.T).all() and (np.abs(s) <= 1).all()
    moved = kn.expected_result(kn.Tanh(0.5), kn.Normal(league.theta + shift, league.sigma))
    np.testing.assert_allclose(moved, s, atol=1e-11)


@given(st.floats(0, 4), st.floats(-8, 8), st.floats(1e-3, 3))
def test_the_exact_expectation_is_always_increasing(sigma, d, step):
    s = kn.expected_result(kn.Tanh(1.0), kn.Normal([d + step, d, 0.0], sigma))
    assert s[0, 2] > s[1, 2] - 1e-14


@given(st.floats(0.01, 3), st.floats(0.01, 2))
def test_condition_b_prime_reads_nu_sigma_below_one_over_root_two(nu, sigma):
    assert kn.model.satisfies_b_prime(kn.Tanh(nu), sigma) == (nu * sigma < 1 / math.sqrt(2))


def test_condition_b_prime_of_unequal_spreads_uses_the_two_largest():
    assert kn.model.satisfies_b_prime(kn.Tanh(1.0), kn.Normal([0.0, 1.0, 2.0], [0.1, 0.9, 0.4]))
    assert not kn.model.satisfies_b_prime(kn.Tanh(1.0), [0.1, 0.9, 0.5])
    with pytest.raises(kn.InputError, match="sigma must be 0 or more"):
        kn.model.satisfies_b_prime(kn.Tanh(1.0), -1.0)


def test_taylor_warns_outside_its_range_and_names_the_limit():
    with pytest.warns(kn.KineloWarning, match=r"νσ = 1, but it is increasing only for νσ < 0\.7071"):
        kn.expected_result(kn.Tanh(0.5), kn.homogeneous(sigma=2.0, teams=3), "taylor")


def test_taylor_tends_to_exact_as_spreads_vanish():
    league = kn.homogeneous(sigma=0.01, teams=5)
    gap = kn.expected_result(kn.Tanh(0.5), league) - kn.expected_result(kn.Tanh(0.5), league, "taylor")
    assert np.abs(gap).max() < 1e-8


def test_unknown_closures_are_refused():
    with pytest.raises(kn.InputError, match='closure must be "exact" or "taylor"'):
        kn.expected_result(kn.Tanh(0.5), kn.Fixed([0.0, 1.0]), "linear")  # type: ignore[arg-type]


def test_results_kept_for_a_lottery_are_nobodys_to_change():
    """They are those of a league that was never kept: one of another law, which draws as the lottery does."""

    class Other(kn.model.LineupLottery):
        pass

    rho = np.random.default_rng(3).normal(7.0, 1.0, (5, 6))
    outcome = kn.Tanh(nu=0.5)
    first = kn.expected_result(outcome, kn.model.LineupLottery(rho, 3))
    first[:] = 0.0
    again = kn.expected_result(outcome, kn.model.LineupLottery(rho, 3))
    assert (again == kn.expected_result(outcome, Other(rho, 3))).all() and (again != 0.0).any()
    assert (again != kn.expected_result(outcome, kn.model.LineupLottery(rho, 2))).any()
