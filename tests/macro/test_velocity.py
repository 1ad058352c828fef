"""Speeds from the structure of the integral against sums over all pairs of cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_kinetic import face_speeds, label_results

import kinelo as kn
from kinelo.macro.grid import Axis, Grid
from kinelo.macro.velocity import (
    DIRECT_CELLS,
    BasisInteraction,
    FaceAverages,
    MatrixInteraction,
    TaylorInteraction,
    Velocity,
    interaction,
)

PAIRINGS = [kn.model.AllPlayAll(), kn.model.Local(), kn.model.Window(c=1.3), kn.model.Window(c=1.3, smoothing=0.4)]


def some_teams(sigma, seed=3):
    rng = np.random.default_rng(seed)
    shape = (5, 1 if np.isscalar(sigma) else sigma[2], 7)
    return kn.macro.Population(rng.random(shape), theta=(4, 8, 5), r=(3, 9, 7), sigma=sigma)


def fast_speeds(system, teams, closure):
    velocity = Velocity(system, teams.grid, closure)
    velocity.update_labels(teams.label_mass)
    speeds = velocity.speeds(teams.density.reshape(teams.grid.labels, -1), teams.rating_mass)
    return speeds, speeds.label[:, None] - speeds.drag


@pytest.mark.parametrize("pairing", PAIRINGS, ids=repr)
@pytest.mark.parametrize("closure", ["taylor", "exact"])
@pytest.mark.parametrize("sigma", [0.7, (0.0, 1.2, 3)], ids=["one σ", "three σ"])
def test_structure_equals_direct_sum(pairing, closure, sigma):
    system, teams = kn.RatingSystem(kn.Tanh(nu=0.5), pairing), some_teams(sigma)
    speeds, fast = fast_speeds(system, teams, closure)
    slow = face_speeds(system, teams, closure)
    # The twin's midpoint sum over 4000 points is good to 1e-9 where w is smooth and to 1e-4 of a cell where it jumps.
    rounding = 2e-4 if pairing == kn.model.Window(c=1.3) else 1e-8
    np.testing.assert_allclose(np.broadcast_to(fast, slow.shape), slow, atol=rounding)
    assert speeds.largest == pytest.approx(np.abs(slow[:, 1:-1]).max(), abs=10 * rounding)


@pytest.mark.parametrize("way", [TaylorInteraction, MatrixInteraction, BasisInteraction])
@pytest.mark.parametrize(
    "outcome", [kn.Tanh(0.5), kn.model.Probit(0.4), kn.model.Davidson(0.5, 1.0), kn.model.Davidson(0.5, 6.0)], ids=repr
)
def test_sums_over_labels_equal_the_matrix(outcome, way):
    grid = Grid(Axis.of("theta", (0, 10, 12)), Axis.of_spread((0, 0.9, 4)), Axis.of("r", (0, 10, 6)))
    masses = np.random.default_rng(1).random((grid.labels, 6))
    closure = "taylor" if way is TaylorInteraction else "exact"
    direct = label_results(kn.RatingSystem(outcome), grid, closure) @ masses
    np.testing.assert_allclose(
        way(outcome, grid if way is TaylorInteraction else kn.Normal(grid.label_theta, grid.label_sigma))(masses),
        direct,
        rtol=0,
        atol=1e-12 * masses.sum(),
    )


@pytest.mark.parametrize("closure", ["taylor", "exact"])
@pytest.mark.parametrize("pairing", PAIRINGS, ids=repr)
def test_products_equal_loops_over_four_indices(closure, pairing):
    """The same face averages, summed one pair of cells at a time, agree to 1e-12."""
    system, teams = kn.RatingSystem(kn.Tanh(nu=0.5), pairing), some_teams((0.0, 1.2, 3))
    grid, s = teams.grid, label_results(system, teams.grid, closure)
    velocity = Velocity(system, grid, closure)
    meeting, loss = velocity.meeting.matrix(), velocity.loss.matrix()
    mass = teams.density.reshape(grid.labels, -1) * grid.volume
    slow = np.zeros((grid.labels, grid.r.count + 1))
    for i in range(grid.labels):
        for j in range(grid.r.count + 1):
            for other in range(grid.labels):
                for k in range(grid.r.count):
                    slow[i, j] += (meeting[j, k] * s[i, other] - loss[j, k]) * mass[other, k]
    _, fast = fast_speeds(system, teams, closure)
    np.testing.assert_allclose(np.broadcast_to(fast, slow.shape), slow, rtol=0, atol=1e-12)


def test_a_window_wider_than_all_ratings_is_all_play_all():
    teams = some_teams((0.0, 1.2, 3))
    _, separate = fast_speeds(kn.RatingSystem(kn.Tanh(0.5)), teams, "exact")
    _, mixed = fast_speeds(kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(c=100.0)), teams, "exact")
    np.testing.assert_allclose(mixed, separate, atol=1e-12)


def test_jumps_of_a_window_are_averaged_exactly():
    # c = 1.25 cells: around the face ½ cell away all play, 1½ cells away a quarter of the interval, 2½ none.
    velocity = Velocity(kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(c=1.25)), some_grid(), "exact")
    np.testing.assert_allclose(velocity.meeting.matrix()[0, :3], [1.0, 0.25, 0.0], atol=1e-14)


def some_grid():
    return Grid(Axis.of("theta", (0, 5, 5)), Axis.of_spread(1.0), Axis.of("r", (0, 6, 6)))


@settings(max_examples=25, deadline=None)
@given(nu=st.floats(0.05, 3), cells=st.integers(3, 30))
def test_drag_is_odd_and_bounded(nu, cells):
    average = FaceAverages.of_wb(kn.Tanh(nu), kn.model.AllPlayAll(), Axis.of("r", (0.0, 10.0, cells))).matrix()
    np.testing.assert_allclose(average, -average[::-1, ::-1], atol=1e-12)
    assert np.abs(average).max() <= 1 + 1e-12


@pytest.mark.parametrize("cells", [3, 10, DIRECT_CELLS, DIRECT_CELLS + 1, 1000])
def test_sums_at_faces_equal_products_with_the_matrix(cells):
    averages = FaceAverages.of_wb(kn.Tanh(0.5), kn.model.Local(), Axis.of("r", (0.0, 10.0, cells)))
    mass = np.random.default_rng(2).dirichlet(np.ones(cells))
    np.testing.assert_allclose(averages(mass), averages.matrix() @ mass, rtol=0, atol=1e-14)


def test_many_labels_are_summed_through_a_basis():
    few = Grid(Axis.of("theta", (0, 10, 400)), Axis.of_spread(1.0), Axis.of("r", (0, 10, 6)))
    many = Grid(Axis.of("theta", (0, 10, 200)), Axis.of_spread((0, 1, 3)), Axis.of("r", (0, 10, 6)))
    assert isinstance(interaction(kn.Tanh(0.5), few, "exact"), MatrixInteraction)
    basis = interaction(kn.Tanh(0.5), many, "exact")
    assert isinstance(basis, BasisInteraction) and basis.core.shape[0] < 120
