"""The step size at which ratings are on the scale of the strengths."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory import unbiased
from kinelo.theory.closure import LeagueClosure


@pytest.mark.parametrize("strengths", [kn.theory.Continuum((4, 10), 1.0), kn.homogeneous(sigma=0.5, teams=40)])
@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), kn.model.Davidson(0.5, 1.0)])
def test_the_slope_is_one(outcome, strengths):
    gamma = kn.unbiased_gamma(outcome, strengths)
    state = kn.stationary(kn.RatingSystem(outcome, gamma=gamma), strengths, noise="gaussian")
    assert state.slope == pytest.approx(1, abs=1e-5)


def test_near_the_first_estimate():
    """Where Var R = σ², by the formula 2νσ² ⟨1 − E b²⟩ / ⟨1 − 2 (E b)² + E b²⟩, which gives .612 here."""
    assert kn.unbiased_gamma(kn.Tanh(0.5), kn.theory.Continuum((4, 10), 1.0)) == pytest.approx(0.612, abs=0.01)


def test_large_leagues_through_representatives():
    large = kn.unbiased_gamma(kn.Tanh(0.5), kn.homogeneous(sigma=1.0, teams=20_000))
    assert large == pytest.approx(kn.unbiased_gamma(kn.Tanh(0.5), kn.theory.Continuum((4, 10), 1.0)), rel=1e-4)


def test_scales_with_the_ratings():
    """Ratings in units 100 times smaller: ν/100 and a step 100 times as large."""
    points = kn.unbiased_gamma(kn.Tanh(0.005), kn.theory.Continuum((400, 1000), 100.0))
    assert points == pytest.approx(100 * kn.unbiased_gamma(kn.Tanh(0.5), kn.theory.Continuum((4, 10), 1.0)), rel=1e-4)


def test_strengths_that_do_not_vary():
    assert kn.unbiased_gamma(kn.Tanh(0.5), kn.Fixed(np.linspace(4, 10, 20))) == 0.0


def test_bad_input():
    with pytest.raises(kn.InputError, match="same mean strength"):
        kn.unbiased_gamma(kn.Tanh(0.5), kn.Normal([1.0, 1.0], 1.0))
    with pytest.raises(kn.InputError, match="system must be a RatingSystem, or an outcome"):
        kn.unbiased_gamma(0.5, kn.Fixed([0.0, 1.0]))


def test_two_teams_exactly():
    """At γ* the exact mean gap is that of the strengths; the closure alone misses it by some per cent."""
    league = kn.Normal([0.0, 1.0], 1.0)
    found = kn.unbiased_gamma(kn.Tanh(0.5), league)
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), gamma=found.gamma), league, noise="gaussian")
    assert state.slope == pytest.approx(1, abs=1e-7)
    assert found.noise == pytest.approx(np.sqrt(state.variance[0])) and found.caveats == ()


def test_a_system_stands_for_its_outcome():
    league = kn.Normal([0.0, 1.0, 3.0], 0.6)
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.3)
    assert kn.unbiased_gamma(system, league) == kn.unbiased_gamma(kn.Tanh(0.5), league)
    assert kn.theory.critical_gamma(system, league).critical == kn.theory.critical_gamma(kn.Tanh(0.5), league).critical
    assert kn.stationary(kn.Tanh(0.5), league).slope == kn.stationary(system, league).slope
    form = kn.model.Form(0.02, 0.5)
    by_rounds = kn.RatingSystem(kn.Tanh(0.5), schedule=kn.model.Rounds())
    expected = kn.best_gamma(kn.Tanh(0.5), league, form, schedule=kn.model.Rounds())
    assert kn.best_gamma(by_rounds, league, form).gamma == expected.gamma


@pytest.mark.parametrize(
    ("outcome", "strengths"),
    [
        (kn.Tanh(1.0), kn.Normal(np.linspace(-2, 2, 60) ** 3 / 4, 0.5)),
        (kn.Tanh(1.0), kn.Normal(np.linspace(-2, 2, 40), np.where(np.arange(40) % 2, 0.2, 1.0))),
        (kn.model.Davidson(0.5, 1.0), kn.theory.Continuum((4, 10), 1.0)),
    ],
)
def test_one_iteration_for_ratings_noise_and_step_finds_what_climbing_finds(outcome, strengths, monkeypatch):
    steps, look = [], LeagueClosure.look
    monkeypatch.setattr(LeagueClosure, "look", lambda *given: steps.append(1) or look(*given))
    together = kn.unbiased_gamma(outcome, strengths)
    assert 0 < len(steps) <= 9
    monkeypatch.setattr(unbiased, "_together", lambda *_: None)
    assert together == pytest.approx(kn.unbiased_gamma(outcome, strengths), rel=1e-6)


def test_a_diagnosis_never_climbs(monkeypatch):
    """The climb costs ten times as much as the rest of a diagnosis."""

    def climbing(*_):
        raise AssertionError("climbed")

    monkeypatch.setattr(unbiased, "_crossing", climbing)
    assert kn.diagnose(kn.RatingSystem(kn.Tanh(1.0)), kn.Normal(np.linspace(-2, 2, 50), 0.5)).unbiased_gamma > 0
