"""Laws of the outcome functions: odd, increasing, bounded, and their derivatives and transforms right."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn

outcomes = st.one_of(
    st.builds(kn.Tanh, nu=st.floats(0.01, 3)),
    st.builds(kn.model.Probit, nu=st.floats(0.01, 3)),
    st.builds(kn.model.Davidson, nu=st.floats(0.01, 3), kappa=st.floats(0, 8)),
)
differences = st.floats(-50, 50)


@given(outcomes, differences)
def test_b_is_odd_and_bounded(outcome, z):
    assert outcome.b(-z) == -outcome.b(z)
    assert abs(outcome.b(z)) <= 1


@given(outcomes, differences, st.floats(0, 5))
def test_b_increases_no_faster_than_its_lipschitz_constant(outcome, z, step):
    rise = float(outcome.b(z + step) - outcome.b(z))
    assert -1e-15 <= rise <= outcome.steepest * step * (1 + 1e-9) + 1e-15


@given(outcomes, st.floats(-8, 8))
@settings(max_examples=60)
def test_each_derivative_is_the_derivative_of_the_one_before(outcome, a):
    z, h = a / outcome.nu, 1e-4 / outcome.nu
    chain = [outcome.antiderivative, outcome.b, outcome.b_prime, outcome.b_second, outcome.b_third]
    for order, (lower, upper) in enumerate(itertools.pairwise(chain)):
        slope = float(lower(z + h) - lower(z - h)) / (2 * h)
        assert slope == pytest.approx(float(upper(z)), abs=1e-6 * outcome.nu**order)


@given(outcomes, differences)
def test_win_tie_and_loss_make_one_and_b(outcome, z):
    win, loss, tie = outcome.win_probability(z), outcome.win_probability(-z), outcome.tie_probability(z)
    assert float(win + loss + tie) == pytest.approx(1, abs=1e-14)
    assert float(win - loss) == pytest.approx(float(outcome.b(z)), abs=1e-14)
    assert tie >= 0 and win >= -1e-16


def test_davidson_contains_tanh():
    z = np.linspace(-9, 9, 91)
    np.testing.assert_allclose(kn.model.Davidson(0.5, 0).b(z), kn.Tanh(0.5).b(z), atol=1e-15)
    np.testing.assert_allclose(kn.model.Davidson(0.5, 2).b(z), np.tanh(0.25 * z), atol=1e-15)
    assert kn.model.Davidson(0.5, 2).tie_probability(0) == 0.5


def test_the_chess_scale():
    elo = kn.Tanh.elo()
    assert elo.nu == math.log(10) / 800
    assert float(elo.win_probability(200)) == pytest.approx(1 / (1 + 10 ** (-200 / 400)), abs=1e-15)


@pytest.mark.parametrize(
    "outcome", [kn.Tanh(0.7), kn.model.Probit(0.7), kn.model.Davidson(0.7, 1.0), kn.model.Davidson(0.7, 7.0)]
)
def test_b_prime_condition_limit_is_where_the_closure_stops_increasing(outcome):
    z = np.linspace(0, 30, 30_001)
    for factor, increasing in ((0.999, True), (1.001, False)):
        slope = outcome.b_prime(z) + factor * outcome.largest_monotone_variance / 2 * outcome.b_third(z)
        assert (slope > 0).all() == increasing


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "x", None, True])
def test_nu_must_be_a_positive_number(bad):
    for build in (kn.Tanh, kn.model.Probit, lambda nu: kn.model.Davidson(nu, 1)):
        with pytest.raises(kn.InputError, match=r"^nu must be .*\.$"):
            build(bad)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("outcome", [kn.Tanh(0.7), kn.model.Probit(0.7), kn.model.Davidson(0.7, 1.0)])
def test_far_out_laws_are_flat_and_say_nothing(outcome):
    far = np.array([-1e300, 1e300])
    for derivative in (outcome.b_prime, outcome.b_second, outcome.b_third):
        assert (derivative(far) == 0.0).all()
    assert outcome.b(far).tolist() == [-1.0, 1.0] and outcome.antiderivative(far) == pytest.approx(np.abs(far))


def test_kappa_must_not_be_negative():
    with pytest.raises(kn.InputError, match="kappa must be 0 or more"):
        kn.model.Davidson(0.5, -0.1)


def test_fides_table_but_for_six_entries():
    """FIDE handbook B.02: the largest difference for each expected score from .50 to .99."""
    last = [3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179]
    last += [188, 197, 206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456]
    last += [484, 517, 559, 619, 735]
    hundredths = np.repeat(np.arange(50, 100), np.diff([-1, *last]))
    law = np.round(50 * (1 + kn.model.Probit.fide().b(np.arange(736))))
    assert hundredths.size == 736
    assert np.sum(law == hundredths) == 730
    assert np.abs(law - hundredths).max() == 1
