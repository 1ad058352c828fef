"""Strengths and ratings together: reference values, identities, limits, and a slow twin of the closure."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.following import Moments
from kinelo.theory.moving.learning import learning_closure
from kinelo.theory.moving.tracking import JointDynamics, joint_state
from kinelo.theory.teams import teams_of

EQUALS = kn.theory.Continuum(0.0)
HALF = kn.Tanh(0.5)


def system(gamma, outcome=HALF):
    return kn.RatingSystem(outcome, gamma=gamma)


def test_learning_reference():
    """L1 as γ → 0 without closure, the closure at γ = .05, and both together against the reference simulation."""
    found = kn.tracking(system(0.05), EQUALS, kn.model.Learning(0.5, diffusion=0.5))
    limit = found.limit
    assert pytest.approx((0.631201516, 0.397233096, 0.365657204), abs=1e-8) == (limit.V, limit.C, limit.U)
    assert limit.error == pytest.approx(0.202392527, abs=2e-8)
    closed = found.closure
    assert (closed.V, closed.C, closed.U, closed.error) == pytest.approx((0.67429, 0.42772, 0.45355, 0.27240), abs=6e-6)
    # One standard error of the simulation of 500 teams in brackets: .6755(13), .4264(12), .4511(12), .2739(4).
    assert abs(found.E - 0.2739) < 4 * 0.0004 and abs(found.V - 0.6755) < 4 * 0.0013
    assert found.drift == pytest.approx(0.05 * 0.5)
    assert found.parts.total == pytest.approx(found.E, abs=1e-12)


def test_learning_from_results_reference():
    """L2: a strongly curved league, where the closure alone is off by a few per cent."""
    found = kn.tracking(system(0.05), EQUALS, kn.model.Learning(0.5, 0.25, 0.7, on="result"))
    limit = found.limit
    assert pytest.approx((4.249081668, 2.796883292, 2.235300936), abs=3e-7) == (limit.V, limit.C, limit.U)
    assert pytest.approx((4.4615, 2.985, 2.473, 0.9634), abs=5.1e-4) == (found.V, found.C, found.U, found.E)


def test_learning_with_varying_performances_reference():
    """E1: bias and lag multiply."""
    found = kn.tracking(system(0.05), kn.theory.Continuum(0.0, 1.0), kn.model.Learning(0.5, diffusion=0.5))
    limit, closed = found.limit, found.closure
    assert (limit.C, limit.U, limit.error) == pytest.approx((0.310076942, 0.218932588, 0.229980220), abs=3e-8)
    assert (closed.V, closed.C, closed.U, closed.error) == pytest.approx((0.67429, 0.33450, 0.29362, 0.29891), abs=6e-6)


@pytest.mark.parametrize(
    ("V", "rate", "moments"),
    [(1.0, 0.1, (0.733863916, 0.677314312, 0.209586480)), (4.0, 0.5, (1.066848152, 0.647450052, 2.513753748))],
)
def test_form_reference_without_closure(V, rate, moments):
    found = kn.tracking(system(0.1), EQUALS, kn.model.Form(0.1 * rate, math.sqrt(V))).limit
    assert (found.C, found.U, found.error) == pytest.approx(moments, abs=1e-7)


def test_joint_law_fulfils_its_identities():
    """``E[rG] = E[rD]`` and ``E[ρ(G − D)] = E[kr]`` at parameters of no table, for an outcome that is not tanh."""
    outcome, V, rate = kn.model.Probit(0.6), 0.8, 0.2
    total = math.sqrt(1 + 2 * (outcome.nu**2) * V)

    def drive(points):
        return kn.model.Probit(outcome.nu / total).b(points)

    motion = JointDynamics(
        lambda x: np.exp(-(x**2) / (2 * V)) / math.sqrt(2 * math.pi * V), lambda x: rate * x, 2 * rate * V, drive
    )
    found = joint_state(outcome, motion, Moments(V, 0.6 * V, 0.5 * V), 7.2 * math.sqrt(V))
    assert max(abs(one) for one in found.imbalances) < 1e-8
    assert pytest.approx(V, rel=1e-9) == found.V


def test_linear_limit_of_learning():
    """Small diffusion: V = σ²/2κν, C = U = V/(1+κ)."""
    found = kn.tracking(system(1e-9), EQUALS, kn.model.Learning(0.4, diffusion=0.02))
    assert pytest.approx(0.02**2 / (2 * 0.4 * 0.5), rel=2e-3) == found.limit.V
    assert found.rating_slope == pytest.approx(1 / 1.4, rel=2e-3)
    assert found.forecast_slope == pytest.approx(1, rel=2e-3)


def test_slow_twin_of_the_closure_of_learning():
    """The closure solves the three balance equations written out with Monte Carlo means (error probability 1e-4)."""
    outcome, learning, gamma = kn.model.Davidson(0.6, 1.0), kn.model.Learning(0.5, 0.2, 0.6, on="result"), 0.3
    m = learning_closure(outcome, learning, gamma, teams_of(kn.theory.Continuum(0.0, sigma=0.7))).moments
    generator = np.random.default_rng(5)
    count = 400_000
    rho, r = generator.multivariate_normal([0, 0], [[m.V, m.C], [m.C, m.U]], (2, count)).transpose(2, 0, 1)
    d = rho[0] - rho[1]
    z = d + 0.7 * math.sqrt(2) * generator.standard_normal(count)
    u = generator.random(count)
    win, tie = outcome.win_probability(z), outcome.tie_probability(z)
    S = np.where(u < win, 1.0, np.where(u < win + tie, 0.0, -1.0))
    e = S - outcome.b(r[0] - r[1])
    H = learning.alpha * (1 - outcome.b(d)) + learning.beta * S
    V = 2 * rho[0] * (H - learning.alpha) + learning.diffusion**2 + gamma * H**2
    C = rho[0] * e + r[0] * (H - learning.alpha) + gamma * H * e
    U = 2 * r[0] * e + gamma * e**2
    for change in (V, C, U):
        assert abs(change.mean()) < 4 * change.std() / math.sqrt(count)


def test_calibrated_step():
    """At the calibrated step the slope of strengths on ratings is 1."""
    dynamics, league = kn.model.Form(0.01, 0.8), kn.Normal([0.0, 0.0, 1.0], 0.5)
    gamma = kn.tracking(system(0.05), league, dynamics).calibrated_gamma
    assert kn.tracking(system(gamma), league, dynamics).forecast_slope == pytest.approx(1, abs=1e-6)


def test_what_is_not_computed_is_said():
    with pytest.raises(kn.InputError, match="AllPlayAll only"):
        kn.tracking(kn.RatingSystem(HALF, kn.model.Local(), 0.1), EQUALS, kn.model.Walk(0.1))
    with pytest.raises(kn.InputError, match="one common sigma"):
        kn.tracking(system(0.1), kn.Normal([0.0, 0.0], [0.5, 1.0]), kn.model.Learning(0.5, diffusion=0.5))
    with pytest.raises(kn.InputError, match="Fixed or Normal"):
        kn.tracking(system(0.1), kn.model.Empirical([[0.0, 1.0], [0.0, 1.0]]), kn.model.Walk(0.1))
    with pytest.raises(kn.InputError, match="dynamics must be"):
        kn.tracking(system(0.1), EQUALS, None)
