"""Laws that users bring: a formula is enough, results agree with brute force, and what is not admissible is refused."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

import kinelo as kn
from kinelo.model.law import built_in_names

T = np.arange(-12, 12, 0.04)
FORMULAS = {
    "algebraic": (lambda z: z / math.sqrt(1 + z * z), lambda z: z / np.sqrt(1 + z * z)),
    "gudermann": (
        lambda z: 2 / math.pi * math.atan(math.sinh(0.5 * z)),
        lambda z: 2 / np.pi * np.arctan(np.sinh(np.clip(0.5 * z, -300, 300))),
    ),
    "arctan": (lambda z: 2 / math.pi * math.atan(z), lambda z: 2 / np.pi * np.arctan(z)),
}


class TwoNormals(stats.rv_continuous):
    def _pdf(self, x):
        return 0.3 * stats.norm.pdf(x, -2, 0.5) + 0.7 * stats.norm.pdf(x, 1, 1.0)


MEAN = 0.3 * -2 + 0.7
SHAPES = {
    "t3": (stats.t(3), 0.0, math.sqrt(3)),
    "mixture": (TwoNormals()(), MEAN, math.sqrt(0.3 * (0.25 + 4) + 0.7 * 2 - MEAN**2)),
    "gumbel": (stats.gumbel_r(), float(np.euler_gamma), math.pi / math.sqrt(6)),
}


def brute_force(b, shape, gap, sigma_1, sigma_2):
    """The double integral itself, by the trapezoidal rule in asinh x for both performances."""
    x, weight = nodes_of(shape)
    return float(weight @ b(gap + sigma_1 * x[:, None] - sigma_2 * x[None, :]) @ weight)


@functools.cache
def league_of(shape):
    return kn.model.Scaled(SHAPES[shape][0], [0.0, 2.0, 5.0], [1.0, 0.5, 1.0])


@functools.cache
def nodes_of(shape):
    distribution, mean, deviation = SHAPES[shape]
    with np.errstate(over="ignore"):
        weight = distribution.pdf(mean + deviation * np.sinh(T)) * deviation * np.cosh(T) * 0.04
    return np.sinh(T)[weight > 1e-15], weight[weight > 1e-15]


@pytest.mark.parametrize(("formula", "shape"), list(zip(FORMULAS, SHAPES, strict=True)))
def test_expected_results_agree_with_brute_force(shape, formula):
    scalar, vector = FORMULAS[formula]
    league = league_of(shape)
    found = kn.expected_result(kn.model.Outcome.from_function(scalar), league)
    for i, j in ((0, 1), (2, 1)):
        gap = league.theta[i] - league.theta[j]
        wanted = brute_force(vector, shape, gap, league.sigma[i], league.sigma[j])
        assert found[i, j] == pytest.approx(wanted, abs=1e-8)


@given(st.floats(0.05, 20), st.floats(0.0, 3.0), st.floats(0.6, 1.0))
@settings(max_examples=8, deadline=None)
def test_a_formula_gives_what_closed_forms_give(nu, sigma, supremum):
    closed = kn.Tanh(nu)
    found = kn.model.Outcome.from_function(lambda z: supremum * math.tanh(nu * z))
    z = np.linspace(-30, 30, 301) / nu
    np.testing.assert_allclose(found.b(z), supremum * closed.b(z), atol=1e-14)
    np.testing.assert_allclose(found.b_prime(z), supremum * closed.b_prime(z), atol=1e-10 * nu)
    np.testing.assert_allclose(found.b_second(z), supremum * closed.b_second(z), atol=1e-8 * nu**2)
    np.testing.assert_allclose(found.antiderivative(z), supremum * closed.antiderivative(z), atol=1e-12 / nu)
    assert found.supremum == pytest.approx(supremum, abs=1e-15)
    assert found.steepest == pytest.approx(supremum * nu, rel=1e-9)
    assert found.largest_monotone_variance == pytest.approx(closed.largest_monotone_variance, rel=1e-2)
    league = kn.Normal(np.array([0.0, 1.0, 4.0]) / nu, sigma / nu)
    wanted = supremum * kn.expected_result(closed, league)
    np.testing.assert_allclose(kn.expected_result(found, league), wanted, atol=1e-12)


def test_ties_of_a_formula_are_davidsons():
    closed = kn.model.Davidson(0.5, 1.0)
    found = kn.model.Outcome.from_function(closed.scalar_b(), ties=closed.scalar_tie())
    league = kn.Normal([0.0, 1.0, 4.0], [1.0, 2.0, 0.5])
    for mine, theirs in zip(
        kn.model.outcome_probabilities(found, league), kn.model.outcome_probabilities(closed, league)
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)
    assert found.has_ties and found.code is None


def test_a_corner_is_no_obstacle():
    ramp = kn.model.Outcome.from_function(lambda z: max(-1.0, min(1.0, z)))
    np.testing.assert_allclose(ramp.b([-2.0, 0.25, 1.0]), [-1.0, 0.25, 1.0], atol=1e-14)
    # E clip(Z, −1, 1) of Z ~ N(d, s) in closed form.
    d, s = 0.7, math.sqrt(2)
    a, b = (-1 - d) / s, (1 - d) / s
    cdf, pdf = stats.norm.cdf, stats.norm.pdf
    wanted = -cdf(a) + d * (cdf(b) - cdf(a)) + s * (pdf(a) - pdf(b)) + 1 - cdf(b)
    assert kn.expected_result(ramp, kn.Normal([d, 0.0], 1.0))[0, 1] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (lambda z: math.tanh(z) + 0.1, "at most 1"),
        (lambda z: 0.5 * math.tanh(z) + 0.1, "must be odd"),
        (lambda z: math.tanh(z) * (1 - 0.5 * math.exp(-((abs(z) - 3) ** 2))), "increasing"),
        (lambda z: 2 * math.tanh(z), "at most 1"),
        (lambda z: -math.tanh(z), "increasing"),
        (lambda z: math.copysign(0.5, z) + 0.5 * math.tanh(z), "rise from 0"),
        (lambda z: 0.5 * math.tanh(z) + (0.5 if z > 1 else -0.5 if z < -1 else 0.0), "continuous"),
        (lambda z: undefined, "fails"),  # noqa: F821
        (lambda z: "one", "finite number"),
    ],
)
def test_what_is_no_outcome_is_refused_in_a_sentence(formula, words):
    with pytest.raises(kn.InputError, match=words):
        kn.model.Outcome.from_function(formula)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (lambda z: math.exp(-z) if z > -1 else 1.0, "even"),
        (lambda z: 1.5, r"\[0, 1\]"),
        (lambda z: 0.0, "nobody"),
    ],
)
def test_what_is_no_pairing_is_refused_in_a_sentence(formula, words):
    with pytest.raises(kn.InputError, match=words):
        kn.model.Pairing.from_function(formula)


def test_distributions_without_a_variance_are_refused():
    with pytest.raises(kn.InputError, match="finite variance"):
        kn.model.Scaled(stats.t(2), [0.0, 1.0], 1.0)
    with pytest.raises(kn.InputError, match="such as"):
        kn.model.Scaled("normal", [0.0, 1.0], 1.0)


class Coin(kn.model.Strength):
    def __init__(self, theta, stake):
        self.stake = stake
        self.describe(theta, stake)

    def performances(self, team, uniforms):
        return self.theta[team] + np.where(uniforms[:, 0] < 0.5, -self.stake, self.stake)


def test_a_law_of_strength_needs_only_its_draws():
    theta = np.array([0.0, 1.0, 3.0])
    wanted = kn.expected_result(kn.Tanh(0.5), kn.model.Empirical(theta[:, None] + [-2.0, 2.0]))
    np.testing.assert_allclose(kn.expected_result(kn.Tanh(0.5), Coin(theta, 2.0)), wanted, atol=1e-10)


def test_digests_tell_laws_apart():
    def law(scale):
        return kn.model.Outcome.from_function(lambda z: math.tanh(scale * z))

    assert law(1.0).digest() == law(1.0).digest() != law(2.0).digest()
    assert kn.Tanh(0.5).digest() == kn.Tanh(0.5).digest() != kn.Tanh(0.6).digest()
    shapes = [kn.model.Scaled(stats.t(k), [0.0, 1.0], 1.0).digest() for k in (3, 3, 4)]
    assert shapes[0] == shapes[1] != shapes[2]


@pytest.mark.parametrize(
    "ask",
    [
        kn.RatingSystem,
        lambda outcome: kn.unbiased_gamma(outcome, kn.Normal([0.0, 1.0], 0.5)),
        lambda outcome: kn.theory.recover_strength(outcome, [0.0, 1.0], 0.5),
    ],
)
def test_what_is_no_outcome_is_told_that_ones_own_would_do(ask):
    words = rf"{built_in_names(kn.model.Outcome, ', ')} or your own kinelo\.model\.Outcome"
    with pytest.raises(kn.InputError, match=words):
        ask(np.tanh)


def test_an_unbiased_step_and_recovered_strengths_for_ones_own_outcome():
    law = kn.model.Outcome.from_function(lambda z: z / math.sqrt(1 + z * z))
    league = kn.Normal([-1.0, 0.0, 0.3, 1.2], 0.4)
    gamma = kn.unbiased_gamma(law, league)
    state = kn.stationary(kn.RatingSystem(law, gamma=gamma), league, noise="gaussian")
    assert state.slope == pytest.approx(1, abs=1e-6)
    assert kn.theory.recover_strength(law, state.rating, 0.4, gamma=gamma).theta == pytest.approx(
        league.theta, abs=1e-6
    )


class Mixture(kn.model.Strength):
    """Two normal laws, chosen by where the uniform number lies: λ jumps there, and is no increasing function of it."""

    def __init__(self, theta, share, apart, sigma):
        self.share, self.apart, self.own = share, apart, sigma
        self.describe(theta, math.sqrt(sigma**2 + share * (1 - share) * apart**2))

    def performances(self, team, uniforms):
        u = uniforms[:, 0]
        first = u < self.share
        inner = np.clip(np.where(first, u / self.share, (u - self.share) / (1 - self.share)), 1e-300, 1 - 2.0**-53)
        shift = np.where(first, (1 - self.share) * self.apart, -self.share * self.apart)
        return self.theta[team] + shift + self.own * ndtri(inner)


@pytest.mark.parametrize(("share", "apart", "sigma"), [(0.3, 1.0, 0.5), (0.37, 0.2, 0.7), (0.9, 6.0, 0.3)])
def test_laws_that_do_not_increase_with_the_uniform_number(share, apart, sigma):
    """A mixture by splitting u, against the sum over its four pairs of normal laws."""
    league = Mixture([0.0, 1.0, 2.5], share, apart, sigma)
    x, weight = np.polynomial.hermite_e.hermegauss(120)
    gap, expected = np.subtract.outer(league.theta, league.theta), 0.0
    for a, p in ((1 - share, share), (-share, 1 - share)):
        for b, q in ((1 - share, share), (-share, 1 - share)):
            z = gap[..., None] + apart * (a - b) + sigma * math.sqrt(2) * x
            expected = expected + p * q * np.tanh(0.5 * z) @ weight / weight.sum()
    assert kn.expected_result(kn.Tanh(0.5), league) == pytest.approx(expected, abs=1e-9)
