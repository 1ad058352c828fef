"""Each part of a step of the kinetic equation against loops over cells, on lopsided densities and uneven grids."""

import math
from itertools import pairwise

import numpy as np
import pytest

import kinelo as kn
from kinelo.macro.grid import Axis, Grid
from kinelo.macro.kernels import largest_outflow, shift_rows, sweep_tvd, sweep_upwind, transported
from kinelo.macro.motion import FormMotion, LearningMotion, WalkMotion, advanced, generator, with_form
from kinelo.macro.scheme import Tvd
from kinelo.macro.stepping import PeriodStepper, Replacement, StrengthDiffusion
from kinelo.macro.velocity import Speeds, Velocity

HALF = kn.Tanh(0.5)
THETA, SIGMA, R = Axis(-2.0, 3.0, 5), Axis(0.2, 1.4, 3), Axis(-3.0, 4.0, 4)
FORM = Axis(-1.2, 1.2, 3)


def some(*shape, seed=2):
    return np.random.default_rng(seed).random(shape) ** 2 + 0.01


def test_an_axis_and_a_grid_are_what_they_are_called():
    grid = Grid(THETA, SIGMA, R, FORM)
    assert THETA.centres.tolist() == [-1.5, -0.5, 0.5, 1.5, 2.5] and THETA.faces.tolist() == [-2, -1, 0, 1, 2, 3]
    assert (R.width, FORM.width, SIGMA.width) == pytest.approx((1.75, 0.8, 0.4))
    assert grid.label_area == pytest.approx(1.0 * 0.8 * 0.4) and grid.volume == pytest.approx(0.32 * 1.75)
    assert (grid.shape, grid.labels, list(grid.axes)) == ((5, 3, 3, 4), 45, ["theta", "form", "sigma", "r"])
    labels = [(t + x, s) for t in THETA.centres for x in FORM.centres for s in SIGMA.centres]
    np.testing.assert_allclose(np.column_stack([grid.label_theta, grid.label_sigma]), labels)
    alone = Grid(THETA, Axis.of_spread(0.7), R)
    assert (alone.label_area, alone.volume, alone.label_sigma.tolist()) == (1.0, 1.75, [0.7] * 5)


@pytest.mark.parametrize("axis", [R, Axis(-3.0, -0.6, 3)])
def test_masses_are_shared_by_the_two_nearest_cells(axis):
    values = np.linspace(axis.low - 0.5, axis.high + 0.5, 38)
    for value, low, high, part in zip(values, *axis.share(values)):
        inside = min(max(value, axis.centres[0]), axis.centres[-1])
        assert high == low + 1 and 0 <= low < axis.count - 1 and 0 <= part <= 1
        assert (1 - part) * axis.centres[low] + part * axis.centres[high] == pytest.approx(inside, abs=1e-12)
    nothing = Axis.of_spread(0.7).share(values)
    assert [one.shape for one in nothing] == [values.shape] * 3 and not np.any(nothing)


def flux(q):
    """``q/(e^q − 1)``."""
    return 1.0 if q == 0 else q / math.expm1(q) if q < 700 else 0.0


@pytest.mark.parametrize("diffusion", [0.0, 0.3])
def test_a_generator_holds_the_flux_between_each_two_cells(diffusion):
    rises, width = np.array([0.5, -1.1, 0.0, 1e-11, 260.0, -260.0, 2e-7]), 0.7
    matrix = np.zeros((8, 8))
    for i, rise in enumerate(rises):
        if diffusion > 0:
            up, down = (diffusion / width**2 * flux(sign * rise / diffusion) for sign in (1, -1))
        else:
            up, down = max(-rise, 0) / width**2, max(rise, 0) / width**2
        matrix[i, i] -= up
        matrix[i + 1, i] += up
        matrix[i + 1, i + 1] -= down
        matrix[i, i + 1] += down
    bands = generator(rises, diffusion, width)
    found = np.diag(bands[1]) + np.diag(bands[0, 1:], 1) + np.diag(bands[2, :-1], -1)
    np.testing.assert_allclose(found, matrix, rtol=1e-7, atol=1e-12)
    # A step of the two stages, γ = 1 − 1/√2, and what falls below zero cut off, mass by mass.
    density, c = np.column_stack([some(8), np.eye(8)[3]]), 1 - 1 / math.sqrt(2)
    for dt in (0.2, 30.0):
        system = np.eye(8) - c * dt * matrix
        first = np.linalg.solve(system, matrix @ density)
        second = np.linalg.solve(system, matrix @ (density + (1 - c) * dt * first))
        moved = np.maximum(density + dt * ((1 - c) * first + c * second), 0)
        moved *= density.sum(axis=0) / moved.sum(axis=0)
        np.testing.assert_allclose(advanced(density, bands, dt), moved, rtol=1e-6, atol=1e-12)


def test_form_and_walks_have_the_generators_of_their_laws():
    """Form: ω̂∂(xf) + ω̂V∂²f; a walk: ½ŝ²∂²f; both per unit of kinetic time, γ times the matches of a team."""
    gamma, dt = 0.2, 0.3
    density = some(5, 3, 3, 4)
    rises = [0.06 / gamma * (b**2 - a**2) / 2 for a, b in pairwise(FORM.centres)]
    bands = generator(np.array(rises), 0.06 / gamma * 0.9**2, 0.8)
    moved = density.copy()
    FormMotion(FORM, kn.model.Form(0.06, 0.9), gamma).step(moved, dt)
    for place in np.ndindex(5, 3, 4):
        at = (place[0], slice(None), *place[1:])
        np.testing.assert_allclose(moved[at], advanced(density[at][:, None], bands, dt)[:, 0], rtol=1e-12)
    moved, bands = density.copy(), generator(np.zeros(4), 0.7**2 / 2 / gamma, 1.0)
    WalkMotion(THETA, kn.model.Walk(0.7), gamma).step(moved, dt)
    for place in np.ndindex(3, 3, 4):
        at = (slice(None), *place)
        np.testing.assert_allclose(moved[at], advanced(density[at][:, None], bands, dt)[:, 0], rtol=1e-12)


@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Window(1.6, 0.4)], ids=repr)
@pytest.mark.parametrize("on", ["expected", "result"])
def test_teams_learn_from_those_they_meet(pairing, on):
    """The pull ``∫ w(α − αb + βX) f'`` at each label, as rises of its antiderivative, less the mean pace ``α∬wff'``."""
    learning = kn.model.Learning(0.6, 0.25, 0.5, on=on)
    grid = Grid(THETA, SIGMA, R)
    velocity = Velocity(kn.RatingSystem(HALF, pairing, 0.2), grid, "exact")
    density, dt, alpha, beta = some(5, 3, 4), 0.21, 0.6, 0.25
    density /= density.sum() * grid.volume
    mass = density * grid.volume
    w = velocity.meeting.matrix()
    meets = np.ones((4, 4)) if pairing.constant else (w[1:] + w[:-1]) / 2  # whom a cell of r meets
    pace = sum(mass[:, :, k].sum() * meets[k, m] * mass[:, :, m].sum() for k in range(4) for m in range(4))
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)

    def potential(z, mine, theirs):
        if on == "expected":
            return (alpha - beta) * HALF.antiderivative(z)
        blur = HALF.antiderivative(z + math.sqrt(mine**2 + theirs**2) * nodes) @ weights / weights.sum()
        return alpha * HALF.antiderivative(z) - beta * blur

    moved = np.empty_like(density)
    for s, k in np.ndindex(3, 4):
        rises, rate = np.zeros(4), float(meets[k] @ mass.sum(axis=(0, 1)))
        for i in range(4):
            for t, other, m in np.ndindex(5, 3, 4):
                z = THETA.centres[i : i + 2] - THETA.centres[t]
                ends = [potential(x, SIGMA.centres[s], SIGMA.centres[other]) for x in z]
                rises[i] += (ends[1] - ends[0]) * meets[k, m] * mass[t, other, m]
            rises[i] -= alpha * (rate - pace) * THETA.width
        bands = generator(rises, 0.5**2 * rate / 2, THETA.width)
        moved[:, s, k] = advanced(density[:, s, k][:, None], bands, dt)[:, 0]
    motion = LearningMotion(HALF, velocity, learning, 0.3)
    known = density.sum(axis=2, keepdims=True) if pairing.constant else density
    np.testing.assert_allclose(motion._moved(density, known, dt), moved, rtol=1e-6)
    # A step: by the pull of mid-step, then shifted by the part of a cell that returns the mean strength.
    middle = motion._moved(known, known, dt / 2)
    slow = motion._moved(density, middle, dt)
    by_cell = middle.sum(axis=(0, 1)) * grid.volume
    ahead = 0.3 + alpha * dt * (1.0 if pairing.constant else by_cell @ meets @ by_cell)
    offset = float(THETA.centres @ (slow - density).sum(axis=(1, 2)) / density.sum())
    end = slow[-1] if offset < 0 else slow[0]
    part = -offset / (THETA.width * (1 - end.sum() / slow.sum()))
    carried = part * (slow[:-1] if part > 0 else slow[1:])
    slow[:-1] -= carried
    slow[1:] += carried
    motion.step(density, dt)
    np.testing.assert_allclose(density, slow, rtol=1e-9)
    assert motion.frame == pytest.approx(ahead, rel=1e-12)


@pytest.mark.parametrize("leaving", ["random", "weakest", "strongest"])
def test_who_leaves_is_replaced(leaving):
    gamma, dt, frame = 0.2, 0.31, 0.4
    turnover = kn.model.Turnover(0.05, [0.3, 1.3, 2.2], 0.9, leaving)
    grid = Grid(THETA, SIGMA, R, FORM)
    density = some(*grid.shape)
    slow, gone, total = density.copy(), np.zeros(3), density.sum()
    due, strength = 0.05 / gamma * dt, np.add.outer(THETA.centres, FORM.centres)
    if leaving == "random":
        for s in range(3):
            gone[s] = density[:, :, s].sum() * (1 - math.exp(-due))
        slow *= math.exp(-due)
    else:  # strengths one after the other, as long as somebody is due
        left = due * total
        for value in sorted(set(strength.round(9).ravel()), reverse=leaving == "strongest"):
            here = strength.round(9) == value
            part = min(1.0, left / density[here].sum())
            left -= part * density[here].sum()
            for s in range(3):
                gone[s] += part * density[here][:, s].sum()
            slow[here] *= 1 - part
    form = [math.exp(-(x**2) / 2 / 0.8**2) for x in FORM.centres]
    for s, value in np.ndindex(3, 3):
        theta = turnover.pool[value] - frame
        for axis, at, weight in ((t, x, f) for t in range(5) for x, f in enumerate(form)):
            near = max(0.0, 1 - abs(theta - THETA.centres[axis]) / THETA.width)
            for r in range(4):
                rated = max(0.0, 1 - abs(0.9 - R.centres[r]) / R.width)
                slow[axis, at, s, r] += gone[s] / 3 * near * weight / sum(form) * rated
    Replacement(grid, turnover, gamma, kn.model.Form(0.1, 0.8)).step(density, frame, dt)
    np.testing.assert_allclose(density, slow, rtol=1e-9)


class Held:
    """A density that nothing moves, with speeds of its own."""

    def __init__(self, grid, density, speeds):
        self.grid, self._density, self._speeds, self.noted = grid, density, speeds, 0

    def density(self):
        return self._density

    def speeds(self):
        return self._speeds

    def relabel(self):
        self.noted += 1


def test_a_period_carries_each_cell_to_where_its_speed_goes():
    grid, length = Grid(THETA, Axis.of_spread(0.7), R), 0.4
    density, rng = some(5, 4), np.random.default_rng(4)
    label, drag = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, (5, 5))
    slow = np.zeros((5, 4))
    for i, j in np.ndindex(5, 4):
        goal = R.centres[j] + length * (label[i] - (drag[i, j] + drag[i, j + 1]) / 2)
        goal = min(max(goal, R.centres[0]), R.centres[-1])
        for k in range(4):
            slow[i, k] += density[i, j] * max(0.0, 1 - abs(goal - R.centres[k]) / R.width)
    transport = Held(grid, density.copy(), Speeds(label, drag, 1.0, 1.0))
    stepper = PeriodStepper(transport, None, length)
    assert stepper.go_on(0.5, 0.7, 0.7) == (0.7, 0) and transport.noted == 0
    assert stepper.go_on(0.4, 1.3, 1.3) == (pytest.approx(0.8), 1) and transport.noted == 1
    np.testing.assert_allclose(transport.density(), slow, rtol=1e-12)
    transport = Held(grid, density, Speeds(label + 9.0, drag, 1.0, 1.0))
    with pytest.raises(kn.InputError, match="beyond the ends of r"):
        PeriodStepper(transport, None, length).go_on(0.0, 1.3, 1.3)


def test_diffusion_of_strengths_is_the_exponential_of_a_laplacian():
    sigma, dt, rate = 0.8, 0.4, np.array([0.2, 0.5, 0.9, 0.7])
    density = some(5, 3, 4)
    laplacian = np.diag([1.0] * 4, 1) + np.diag([1.0] * 4, -1) - np.diag([1.0, 2, 2, 2, 1])
    values, waves = np.linalg.eigh(laplacian / THETA.width**2)
    slow = np.empty_like(density)
    for k in range(4):
        spread = waves @ np.diag(np.exp(dt * sigma**2 / 2 * rate[k] * values)) @ waves.T
        slow[:, :, k] = spread @ density[:, :, k]
    StrengthDiffusion(THETA, sigma).step(density, rate, dt)
    np.testing.assert_allclose(density, slow, rtol=1e-12)


def shifted(row, shift):
    """A row moved by a part of a cell, upwind, with nothing beyond the ends."""
    flux = [0.0, *(shift * (a if shift > 0 else b) for a, b in pairwise(row)), 0.0]
    return np.array([row[j] - (flux[j + 1] - flux[j]) for j in range(len(row))])


def lines(row, at):
    """Half of the monotonised-central slope of a cell."""
    if at in (0, len(row) - 1):
        return 0.0
    left, right = row[at] - row[at - 1], row[at + 1] - row[at]
    if left * right <= 0:
        return 0.0
    return math.copysign(min(2 * abs(left), 2 * abs(right), abs(left + right) / 2), left) / 2


@pytest.mark.parametrize("shift", [0.0, 0.17, -0.23])
@pytest.mark.parametrize("drags", [1, 71])
def test_sweeps_are_the_schemes_as_they_are_written(shift, drags):
    """71 rows are three blocks, of which the last two are swept here; the first stays."""
    rng = np.random.default_rng(5)
    f, before, ratio, n = rng.random((71, 6)), rng.random((71, 6)), 0.11, 6
    label, drag = rng.uniform(-1, 1, 71), rng.uniform(-1, 1, (drags, n + 1))
    for part in (None, 1.0, 0.4):
        slow, marginals = np.empty((71, n)), np.zeros((3, n))
        for i in range(71):
            row, a = shifted(f[i], shift), [ratio * (label[i] - drag[i % drags, j]) for j in range(n + 1)]
            flow = np.zeros(n + 1)
            for j in range(1, n):
                low, high = (0.0, 0.0) if part is None else (lines(row, j - 1), lines(row, j))
                flow[j] = a[j] * (row[j - 1] + low if a[j] > 0 else row[j] - high)
            new = [row[j] + flow[j] - flow[j + 1] for j in range(n)]
            slow[i] = new if part is None else (1 - part) * before[i] + part * np.array(new)
        source, target = f.copy(), before.copy()
        if part is None:
            target = source
            sweep_upwind(target, (label, drag), ratio, shift, marginals, 1, 3)
        else:
            sweep_tvd((source, target), part, (label, drag), ratio, shift, marginals, 1, 3)
            np.testing.assert_allclose(source[32:], [shifted(row, shift) for row in f[32:]], rtol=1e-12)
        np.testing.assert_allclose(target[32:], slow[32:], rtol=1e-12)
        np.testing.assert_array_equal(target[:32], f[:32] if part is None else before[:32])
        sums = [[0.0] * n, slow[32:64].sum(axis=0), slow[64:].sum(axis=0)]
        np.testing.assert_allclose(marginals, sums, rtol=1e-12)
    moved = np.empty_like(f)
    shift_rows(f, shift, moved)
    np.testing.assert_allclose(moved, [shifted(row, shift) for row in f], rtol=1e-12)
    carried = sum(abs(sum(moved[i, : j + 1] - f[i, : j + 1])) for i in range(71) for j in range(n - 1))
    assert transported(f, moved) == pytest.approx(carried, rel=1e-9)
    speeds = np.array([[label[i] - drag[i % drags, j] for j in range(1, n)] for i in range(71)])
    out = [
        (max(row[j], 0) if j < n - 1 else 0) - (min(row[j - 1], 0) if j > 0 else 0) for row in speeds for j in range(n)
    ]
    assert largest_outflow(label, drag) == pytest.approx((np.abs(speeds).max(), max(out)))


@pytest.mark.parametrize(("seed", "refused"), [(12, False), (7, True)])
def test_a_step_too_long_for_its_second_stage_changes_nothing(seed, refused):
    """The longest step that the first stage bears: refused where the speeds that it leads to are larger."""
    rng = np.random.default_rng(seed)
    teams = kn.macro.Population(rng.random((5, 4)) ** 8, theta=THETA, sigma=0.7, r=R)
    transport = Tvd(Velocity(kn.RatingSystem(HALF), teams.grid, "exact"), teams, teams.mean_rating, 1)
    speeds, f, before = transport.speeds(), transport.density(), transport.density().copy()
    dt = R.width / (2 * np.abs(speeds.label[:, None] - speeds.drag[:, 1:4]).max())
    assert transport.limit(speeds) == pytest.approx(dt, rel=1e-11) and transport.limit(speeds) < dt
    stage = np.empty_like(f)
    for i, row in enumerate(f):
        a = dt / R.width * (speeds.label[i] - speeds.drag[0])
        flow = [0.0] * 5
        for j in range(1, 4):
            flow[j] = a[j] * (row[j - 1] + lines(row, j - 1) if a[j] > 0 else row[j] - lines(row, j))
        stage[i] = [row[j] + flow[j] - flow[j + 1] for j in range(4)]
    drag = transport.velocity.loss.matrix() @ stage.sum(axis=0) * teams.grid.volume
    stable = R.width / (2 * np.abs(speeds.label[:, None] - drag[None, 1:4]).max())
    assert (stable < 0.999 * dt) == refused
    taken = transport.step(speeds, 0.9999 * dt)
    assert taken == pytest.approx(0.9 * stable if refused else 0.9999 * dt, rel=1e-4)
    assert np.array_equal(transport.density(), before) == refused


def test_dust_is_swept_away_and_nothing_else():
    f = np.array([[2e-100, 0.5e-100, -2e-100, 0.3]])
    target = f.copy()
    shift_rows(f, 0.0, target)
    assert target.tolist() == [[2e-100, 0.0, -2e-100, 0.3]]
    marginals = np.zeros((1, 4))
    sweep_tvd((f.copy(), target), 1.0, (np.zeros(1), np.zeros((1, 5))), 0.1, 0.0, marginals, 0, 1)
    assert target.tolist() == [[2e-100, 0.0, -2e-100, 0.3]]


def test_form_begins_at_none():
    teams = kn.macro.Population(some(5, 3, 4), theta=THETA, sigma=SIGMA, r=R)
    formed = with_form(teams, kn.model.Form(0.1, 0.8))
    form = formed.grid.form
    assert (form.low, form.high, form.count) == pytest.approx((-4.8, 4.8, 41))
    np.testing.assert_allclose(formed.density[:, 20] * 9.6 / 41, teams.density, rtol=1e-12)
    assert formed.density.sum() == pytest.approx(formed.density[:, 20].sum())
    assert with_form(teams, kn.model.Walk(0.1)) is teams and with_form(formed, kn.model.Form(0.1, 0.8)) is formed
