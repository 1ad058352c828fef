"""Transport and diffusion in θ: the exact profile is kept, laws hold, and orders of accuracy are measured."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import kinelo as kn
from kinelo.macro.grid import Axis, Grid
from kinelo.macro.motion import FormMotion, LearningMotion, WalkMotion
from kinelo.macro.velocity import Velocity

SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
LEARNING = kn.model.Learning(0.5, diffusion=0.5)
POINT = Axis(0.0, 0.0, 1)


def moving(axis, dynamics, outcome=SYSTEM.outcome):
    """The motion of strengths on an axis, whatever ratings do."""
    if isinstance(dynamics, kn.model.Form):
        return FormMotion(axis, dynamics, SYSTEM.gamma)
    if isinstance(dynamics, kn.model.Walk):
        return WalkMotion(axis, dynamics, SYSTEM.gamma)
    velocity = Velocity(kn.RatingSystem(outcome), Grid(axis, POINT, Axis(0.0, 8.0, 8)), "exact")
    return LearningMotion(outcome, velocity, dynamics)


def test_the_exact_profile_is_kept_to_rounding():
    for outcome in (kn.Tanh(0.5), kn.model.Davidson(0.7, 1.0)):
        profile = kn.theory.strength_profile(outcome, LEARNING)
        x, width = profile.strength, profile.strength[1] - profile.strength[0]
        axis = Axis(x[0] - width / 2, x[-1] + width / 2, x.size)
        drift = moving(axis, LEARNING, outcome)
        density = profile.density[:, None, None].copy()
        for _ in range(20):
            drift.step(density, 0.7)
        assert np.abs(density[:, 0, 0] - profile.density).max() < 1e-13


def variances(cells, dt, times):
    axis = Axis(-6.0, 6.0, cells)
    drift = moving(axis, LEARNING)
    density = np.diff(ndtr(np.linspace(-6, 6, cells + 1)))[:, None, None].copy()
    found, now = [], 0.0
    for time in times:
        for _ in range(round((time - now) / dt)):
            drift.step(density, dt)
        now = time
        law = density[:, 0, 0] / density.sum()
        found.append(law @ axis.centres**2)
    return np.array(found)


def test_transient_reference_with_its_order():
    """Var ρ at t = 1, 2, 5, 10 from a standard normal start; the error falls fourfold as cells and steps halve."""
    reference = np.array([0.90209718, 0.82963499, 0.70839873, 0.64697107])
    coarse, fine = (variances(cells, 6 / cells, (1, 2, 5, 10)) - reference for cells in (60, 120))
    assert np.abs(fine).max() < 3e-3
    assert np.abs(fine).max() < np.abs(coarse).max() / 3.5
    extrapolated = fine + (fine - coarse) / 3
    assert np.abs(extrapolated).max() < 2e-5


def test_no_mass_is_lost_or_made_by_any_motion():
    axis = Axis(0.0, 3.0, 30)
    rng = np.random.default_rng(0)
    for dynamics in (
        LEARNING,
        kn.model.Learning(0.6),
        kn.model.Learning(0.1, 0.5, 0.2),
        kn.model.Form(0.02, 0.4),
        kn.model.Walk(0.1),
    ):
        form = isinstance(dynamics, kn.model.Form)
        density = rng.random((1, 30, 8) if form else (30, 1, 8))
        before = density.sum(axis=int(form))
        moving(axis, dynamics).step(density, 0.4)
        assert density.sum(axis=int(form)) == pytest.approx(before, rel=1e-13)
        assert density.min() >= 0


def test_form_settles_at_its_variance():
    axis = Axis(-4.0, 4.0, 80)
    drift = moving(axis, kn.model.Form(0.02, 0.8))
    density = np.ones((1, 80, 1))
    for _ in range(200):
        drift.step(density, 0.5)
    law = density[0, :, 0] / density.sum()
    exact = np.exp(-(axis.centres**2) / (2 * 0.8**2))
    assert law == pytest.approx(exact / exact.sum(), abs=1e-12)


def test_walk_spreads_by_its_square_per_match():
    """Var θ grows by s² per match of a team, s²/γ per unit of kinetic time."""
    axis = Axis(-9.0, 9.0, 180)
    drift = moving(axis, kn.model.Walk(0.1))
    density = np.exp(-(axis.centres**2))[:, None, None].copy()
    for _ in range(20):
        drift.step(density, 0.5)
    law = density[:, 0, 0] / density.sum()
    assert law @ axis.centres**2 == pytest.approx(0.5 + 10 * 0.1**2 / 0.1, rel=1e-6)


def settled(cells):
    profile = kn.theory.strength_profile(SYSTEM.outcome, LEARNING)

    def first(theta, sigma, r):
        return np.interp(theta, profile.strength, profile.density) * np.exp(-2 * (r - 0.6 * theta) ** 2)

    start = kn.macro.Population.from_function(first, theta=(-6, 6, cells), r=(-5, 5, cells), sigma=0.0)
    run = kn.solve(SYSTEM, start, until=12.0, scheme="tvd", dynamics=LEARNING, save_at=[12.0])
    law = run.density_theta_r.values[-1]
    law, x, y = law / law.sum(), run.theta.values, run.r.values
    assert abs(float(run.mass[-1]) - 1) < 1e-12 and abs(float(run.mean_rating[-1])) < 1e-12
    return np.array([x**2 @ law.sum(axis=1), x @ law @ y, y**2 @ law.sum(axis=0)])


def test_kinetic_equation_settles_at_the_joint_law():
    """V, C and U of the density against the law found without time, on two grids."""
    exact = np.array([0.631201516, 0.397233096, 0.365657204])
    coarse, fine = settled(36) - exact, settled(72) - exact
    assert np.abs(fine).max() < 0.006
    assert abs(fine[2]) < abs(coarse[2]) / 2


def test_learning_apart_makes_strengths_uniform():
    """κ < 0 without diffusion: ρ/t becomes uniform on [−|κ|, |κ|], whatever the start (to the scheme's first order)."""
    axis = Axis(-32.0, 32.0, 640)
    drift = moving(axis, kn.model.Learning(0.0, 0.5))
    density = np.exp(-(axis.centres**2) / 2)[:, None, None].copy()
    for _ in range(200):
        drift.step(density, 0.25)
    law = density[:, 0, 0] / density.sum()
    spread = math.sqrt(law @ axis.centres**2) / 50
    assert spread == pytest.approx(0.5 / math.sqrt(3), rel=0.06)
