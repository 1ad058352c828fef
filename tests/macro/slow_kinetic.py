"""Slow, obvious twins of the solver: sums over all pairs of cells, one face at a time, and characteristics."""

import numpy as np
from scipy.interpolate import CubicSpline

import kinelo as kn
from kinelo.model.expectation import expected_result


def label_results(system, grid, closure):
    """Matrix s of expected results between labels."""
    return expected_result(system.outcome, kn.Normal(grid.label_theta, grid.label_sigma), closure)


def face_speeds(system, population, closure):
    """``a`` of every label at every face, ends included, by summing over every other cell.

    The average around a face is a midpoint sum over 4000 points of the interval of length Δr.
    """
    grid, s = population.grid, label_results(system, population.grid, closure)
    mass = population.density.reshape(grid.labels, -1) * grid.volume
    points = (np.arange(4000) + 0.5) / 4000 - 0.5
    speeds = np.zeros((grid.labels, grid.r.count + 1))
    for face, place in enumerate(grid.r.faces):
        for cell, centre in enumerate(grid.r.centres):
            z = place - centre + points * grid.r.width
            w, wb = system.pairing.w(z).mean(), (system.pairing.w(z) * system.outcome.b(z)).mean()
            for label in range(grid.labels):
                speeds[label, face] += ((w * s[label] - wb) * mass[:, cell]).sum()
    return speeds


def shift_to_mean(f, grid, mean):
    """Shift all rows by the part of a cell that gives the population this mean rating."""
    m = f.sum(axis=0) * grid.volume
    drift = m @ grid.r.centres - mean
    c = -drift / grid.r.width / (1 - (m[-1] if drift < 0 else m[0]))
    new = f.copy()
    for i in range(f.shape[0]):
        for j in range(f.shape[1] - 1):
            flux = c * (f[i, j] if c > 0 else f[i, j + 1])
            new[i, j] -= flux
            new[i, j + 1] += flux
    return new


def upwind_step(f, a, ratio):
    """The paper's scheme, cell by cell."""
    new = f.copy()
    for i in range(f.shape[0]):
        for j in range(f.shape[1] - 1):
            h = f[i, j] if a[i, j + 1] >= 0 else f[i, j + 1]
            new[i, j] -= ratio * a[i, j + 1] * h
            new[i, j + 1] += ratio * a[i, j + 1] * h
    return new


def tvd_slope(left, right):
    """Monotonised central limiter."""
    if left * right <= 0:
        return 0.0
    return np.sign(left) * min(2 * abs(left), 2 * abs(right), abs(left + right) / 2)


def tvd_euler(f, a, ratio):
    """One Euler stage with limited reconstruction, cell by cell."""
    rows, n = f.shape
    new = f.copy()
    for i in range(rows):
        slope = [0.0] + [tvd_slope(f[i, j] - f[i, j - 1], f[i, j + 1] - f[i, j]) for j in range(1, n - 1)] + [0.0]
        for j in range(n - 1):
            h = f[i, j] + slope[j] / 2 if a[i, j + 1] >= 0 else f[i, j + 1] - slope[j + 1] / 2
            new[i, j] -= ratio * a[i, j + 1] * h
            new[i, j + 1] += ratio * a[i, j + 1] * h
    return new


class Characteristics:
    """``dr/dt = G(θ) − ∫ b(r − r') f'`` for Gauss nodes in r of every θ, w ≡ 1: no grid in r, hence no diffusion.

    Labels are those of the solver's grid, so that only the discretisation in r and in time is compared.
    """

    def __init__(self, system, theta, sigma, cumulative, low, high, closure, nodes=120):
        x, weight = np.polynomial.legendre.leggauss(nodes)
        self.outcome = system.outcome
        start = low + (high - low) * (x + 1) / 2
        self.cumulative = cumulative
        self.start = np.concatenate([[low], start, [high]])
        density = CubicSpline(np.linspace(low, high, 4001), cumulative(np.linspace(low, high, 4001))).derivative()
        self.mass = np.tile(density(start) * weight * (high - low) / 2 / theta.size, theta.size)
        s = expected_result(system.outcome, kn.Normal(theta, sigma), closure)
        self.pull = s.mean(axis=1)
        self.rows = theta.size
        self.inner = np.tile(np.r_[False, np.ones(nodes, dtype=bool), False], theta.size)

    def run(self, until, steps=80):
        """Positions at ``until`` of the nodes of every θ, by RK4 with a fine spline of the drag."""
        r = np.tile(self.start, self.rows)
        drive = np.repeat(self.pull, self.start.size)
        h = until / steps

        def speed(r):
            grid = np.linspace(r.min(), r.max(), 160)
            drag = self.outcome.b(grid[:, None] - r[self.inner][None, :]) @ self.mass
            return drive - CubicSpline(grid, drag)(r)

        for _ in range(steps):
            k1 = speed(r)
            k2 = speed(r + h / 2 * k1)
            k3 = speed(r + h / 2 * k2)
            k4 = speed(r + h * k3)
            r = r + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return r.reshape(self.rows, -1)

    def cell_masses(self, positions, faces):
        """Mass of every θ in the cells between ``faces``: the initial mass between the faces' origins.

        ``positions`` are what :meth:`run` found.
        """
        masses = []
        for row in positions:
            origin = CubicSpline(row, self.start)
            back = np.clip(origin(np.clip(faces, row[0], row[-1])), self.start[0], self.start[-1])
            masses.append(np.diff(self.cumulative(back)) / self.rows)
        return np.array(masses)
