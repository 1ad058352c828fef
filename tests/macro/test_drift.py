"""Strengths that move in the kinetic equation: the profile is kept, laws hold, and orders of accuracy are measured."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

import kinelo as kn
from kinelo.equilibrium.moving.rounds import MeanMap
from kinelo.equilibrium.teams import teams_of
from kinelo.macro.drift import Drifting
from kinelo.macro.grid import Axis

SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
LEARNING = kn.Learning(0.5, diffusion=0.5)
NONE = np.zeros(0)


def test_the_exact_profile_is_kept_to_rounding():
    for outcome in (kn.Tanh(0.5), kn.Davidson(0.7, 1.0)):
        profile = kn.strength_profile(outcome, LEARNING)
        x, width = profile.strength, profile.strength[1] - profile.strength[0]
        axis = Axis(x[0] - width / 2, x[-1] + width / 2, x.size)
        drift = Drifting(kn.RatingSystem(outcome, gamma=0.1), axis, np.zeros(1), LEARNING)
        density = profile.density[:, None, None].copy()
        for _ in range(20):
            drift.step(density, NONE, 0.7)
        assert np.abs(density[:, 0, 0] - profile.density).max() < 1e-13


def variances(cells, dt, times):
    axis = Axis(-6.0, 6.0, cells)
    drift = Drifting(SYSTEM, axis, np.zeros(1), LEARNING)
    density = np.diff(ndtr(np.linspace(-6, 6, cells + 1)))[:, None, None].copy()
    found, now = [], 0.0
    for time in times:
        for _ in range(round((time - now) / dt)):
            drift.step(density, NONE, dt)
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
    for dynamics in (LEARNING, kn.Learning(0.6), kn.Learning(0.1, 0.5, 0.2), kn.Form(0.02, 0.4), kn.Walk(0.1)):
        density = rng.random((30, 1, 8))
        before = density.sum(axis=0)
        Drifting(SYSTEM, axis, np.zeros(1), dynamics).step(density, NONE, 0.4)
        assert density.sum(axis=0) == pytest.approx(before, rel=1e-14)
        assert density.min() >= 0


def test_form_settles_at_its_variance():
    axis = Axis(-4.0, 4.0, 80)
    drift = Drifting(SYSTEM, axis, np.zeros(1), kn.Form(0.02, 0.8))
    density = np.ones((80, 1, 1))
    for _ in range(200):
        drift.step(density, NONE, 0.5)
    law = density[:, 0, 0] / density.sum()
    exact = np.exp(-(axis.centres**2) / (2 * 0.8**2))
    assert law == pytest.approx(exact / exact.sum(), abs=1e-12)


def test_walk_spreads_by_its_square_per_match():
    """Var θ grows by s² per match of a team, s²/γ per unit of kinetic time."""
    axis = Axis(-9.0, 9.0, 180)
    drift = Drifting(SYSTEM, axis, np.zeros(1), kn.Walk(0.1))
    density = np.exp(-(axis.centres**2))[:, None, None].copy()
    for _ in range(20):
        drift.step(density, NONE, 0.5)
    law = density[:, 0, 0] / density.sum()
    assert law @ axis.centres**2 == pytest.approx(0.5 + 10 * 0.1**2 / 0.1, rel=1e-6)


def settled(cells):
    profile = kn.strength_profile(SYSTEM.outcome, LEARNING)

    def first(theta, sigma, r):
        return np.interp(theta, profile.strength, profile.density) * np.exp(-2 * (r - 0.6 * theta) ** 2)

    start = kn.Population.from_function(first, theta=(-6, 6, cells), r=(-5, 5, cells), sigma=0.0)
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


def test_a_round_is_one_euler_step():
    """Rounds of a continuum with step Δt against ``dR/dt = ⟨s − b⟩``: the gap falls with Δt."""
    teams = teams_of(kn.Continuum((4, 10), sigma=1.0, nodes=16))
    s = kn.expected_result(SYSTEM.outcome, teams.strengths)

    def speed(rating):
        return (s - SYSTEM.outcome.b(rating[:, None] - rating[None, :])) @ teams.mass

    rating = np.linspace(6.5, 7.5, 16)
    assert MeanMap(SYSTEM.outcome, teams, 0.3)(rating) == pytest.approx(rating + 0.3 * speed(rating), abs=1e-14)
    ends = []
    for steps in (20, 40, 80):
        here = rating
        for _ in range(steps):
            here = MeanMap(SYSTEM.outcome, teams, 10 / steps)(here)
        ends.append(here)
    assert np.abs(ends[2] - ends[1]).max() < 0.6 * np.abs(ends[1] - ends[0]).max()


def test_what_is_not_solved_is_said():
    teams = kn.Population.uniform(theta=(0, 1, 8), r=(0, 1, 8), sigma=0.0)
    with pytest.raises(kn.InputError, match="AllPlayAll only"):
        kn.solve(kn.RatingSystem(kn.Tanh(0.5), kn.Local()), teams, until=1.0, dynamics=LEARNING)
    with pytest.raises(kn.InputError, match="diffusion must be 0"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=LEARNING, diffusion=0.1)
    with pytest.raises(kn.InputError, match="Learning, Form or Walk"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=kn.Turnover(0.1, 0.5, 0.5))
    spread = kn.Population.uniform(theta=(0, 1, 8), r=(0, 1, 8), sigma=(0, 1, 4))
    with pytest.raises(kn.InputError, match="one common sigma"):
        kn.solve(SYSTEM, spread, until=1.0, dynamics=LEARNING)


def test_learning_apart_makes_strengths_uniform():
    """κ < 0 without diffusion: ρ/t becomes uniform on [−|κ|, |κ|], whatever the start (to the scheme's first order)."""
    axis = Axis(-32.0, 32.0, 640)
    drift = Drifting(SYSTEM, axis, np.zeros(1), kn.Learning(0.0, 0.5))
    density = np.exp(-(axis.centres**2) / 2)[:, None, None].copy()
    for _ in range(200):
        drift.step(density, NONE, 0.25)
    law = density[:, 0, 0] / density.sum()
    spread = math.sqrt(law @ axis.centres**2) / 50
    assert spread == pytest.approx(0.5 / math.sqrt(3), rel=0.06)
