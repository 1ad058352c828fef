"""Form and walks: the closure team by team, its limits, and the step size that tracks best."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.best import small_step_gamma
from kinelo.theory.moving.form import FormClosure
from kinelo.theory.moving.pairs import PairMeans
from kinelo.theory.teams import teams_of

EQUALS = kn.Fixed([0.0, 0.0])
HALF = kn.Tanh(0.5)
FORM = kn.Form(0.01, 1.0)


def closure(strengths, dynamics, gamma, outcome=HALF):
    return FormClosure(outcome, teams_of(strengths), dynamics).at(gamma)


def test_equal_teams_reference():
    found = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), EQUALS, FORM)
    assert pytest.approx((0.76193747, 0.84361342, 0.31973847), abs=1e-8) == (found.C, found.U, found.E)


def test_continuum_reference():
    found = closure(kn.Continuum((4, 10), nodes=40), FORM, 0.1)
    values = (found.between.rating_slope, found.within.C, found.within.U, (found.within + found.between).error)
    assert values == pytest.approx((0.94499234, 0.67064856, 0.74238427, 0.41017878), abs=1e-8)


def test_finite_league_reference():
    found = closure(kn.Fixed(np.linspace(4, 10, 200)), FORM, 0.05)
    values = (found.between.rating_slope, (found.within + found.between).error, found.within.C)
    assert values == pytest.approx((0.890058, 0.532325, 0.501867), abs=6e-7)


@pytest.mark.parametrize(
    ("rate", "gamma", "error"), [(0.01, 0.1162171, 0.3169133), (0.005, 0.0911034, 0.2284354), (0.02, None, 0.43337)]
)
def test_best_step_reference(rate, gamma, error):
    best = kn.best_gamma(HALF, EQUALS, kn.Form(rate, 1.0))
    assert best.error == pytest.approx(error, abs=6e-6 if gamma is None else 6e-8)
    if gamma is not None:
        assert best.gamma == pytest.approx(gamma, abs=6e-8)
    assert best.error <= best.errors.min() + 1e-12
    assert best.parts.total == pytest.approx(best.error)


def test_best_step_of_a_continuum_reference():
    best = kn.best_gamma(HALF, kn.Continuum((4, 10), nodes=24), FORM)
    assert (best.gamma, best.error) == pytest.approx((0.142422, 0.3903023), abs=6e-7)


def test_fast_form_is_performance_noise():
    """ω → ∞ at fixed V gives the stationary state of normal performances with σ² = V."""
    theta = np.linspace(4, 10, 30)
    fast = closure(kn.Fixed(theta), kn.Form(1e9, 1.0), 0.25)
    still = kn.stationary(
        kn.RatingSystem(HALF, gamma=0.25), kn.Continuum((4, 10), sigma=1.0, nodes=24), noise="gaussian"
    )
    large = closure(kn.Continuum((4, 10), nodes=24), kn.Form(1e9, 1.0), 0.25)
    assert large.rating == pytest.approx(still.rating, abs=1e-8)
    assert large.variance == pytest.approx(still.variance, abs=1e-8)
    assert fast.within.C < 1e-8


def test_strengths_at_rest_are_the_stationary_state():
    """Without motion the closure is that of the stationary ratings, for any outcome."""
    outcome = kn.Davidson(0.6, 1.3)
    league = kn.Continuum((0, 3), sigma=0.8, nodes=20)
    still = kn.stationary(kn.RatingSystem(outcome, gamma=0.3), league, noise="gaussian")
    found = closure(league, None, 0.3, outcome)
    assert found.rating == pytest.approx(still.rating, abs=1e-8)
    assert found.variance == pytest.approx(still.variance, abs=1e-8)


def test_walk_at_small_steps():
    """γ* = s√(ν/μ), E* = s/√(νμ): noise and lag are equal at the optimum."""
    s = 1e-4
    best = kn.best_gamma(HALF, EQUALS, kn.Walk(s))
    assert best.gamma == pytest.approx(s, rel=1e-3)
    assert best.error == pytest.approx(s / 0.5, rel=1e-3)
    assert best.parts.noise == pytest.approx(best.parts.lag, rel=1e-6)
    assert small_step_gamma(0.5, 1.0, kn.Walk(s)) == pytest.approx(s)


def test_slow_forms_pay_and_fast_ones_do_not():
    """Tracking pays only if V > ωq/2μ²; else γ* = 0 and the error is V."""
    assert kn.best_gamma(HALF, EQUALS, kn.Form(0.5, 0.3)).gamma == 0
    assert kn.best_gamma(HALF, EQUALS, kn.Form(0.5, 0.3)).error == pytest.approx(0.09)
    assert small_step_gamma(0.5, 1.0, kn.Form(0.5, 0.3)) == 0


def test_series_agree_with_the_plane():
    """Slow twin: a product of two correlated b by quadrature in the plane."""
    outcome = kn.Davidson(0.7, 1.0)
    x, w = np.polynomial.hermite_e.hermegauss(120)
    w = w / w.sum()
    one = PairMeans(outcome, np.array([0.4]), np.array([1.3]))
    two = PairMeans(outcome, np.array([-0.2]), np.array([0.9]))
    for correlation in (-0.5, 0.0, 0.8):
        y = correlation * x[:, None] + math.sqrt(1 - correlation**2) * x[None, :]
        plane = (w * outcome.b(0.4 + 1.3 * x)) @ outcome.b(-0.2 + 0.9 * y) @ w
        assert one.product(two, np.array([correlation * 1.3 * 0.9])) == pytest.approx(plane, abs=1e-9)
