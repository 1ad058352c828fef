r"""Strengths and ratings together in the limit of small steps: the stationary density f(ρ, r).

``∂_r(a f) = ∂_ρ(k f) + ½σ²∂²_ρ f``, ``a = G(ρ) − D(r)``, ``G = s*g``, ``D = b*h``, h the law of the ratings.

Ratings follow strengths, so f lies along a ridge. With R(ρ) near the mean rating of strength ρ and ``e = r − R(ρ)`` it
is nearly a product, and sinc functions on grids stretched by sinh resolve it with a few dozen points each way. ∂_ρ at
fixed r becomes ``∂_ρ − R'∂_e``. Newton's method on f and D together converges quadratically; the symmetry
``f(−ρ, −r) = f(ρ, r)`` halves it. Both grids are refined until nothing changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import lu_factor, lu_solve

from kinelo.errors import NoStationaryState
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.moving.following import Moments
from kinelo.theory.pair_means import Function, smooth

JOINT_AGREEMENT = 3e-6
FINER = 1.25
AXIS_WIDTH = 8.0
JOINT_NEWTON_STEPS = 25
MOST_UNKNOWNS = 5200


@dataclass(frozen=True)
class JointDynamics:
    """How strengths move and what drives ratings: their law g(ρ), the pull k(ρ), the diffusion σ², and G(ρ)."""

    law: Function
    pull: Function
    diffusion: float
    drive: Function


@dataclass(frozen=True)
class JointState(Moments):
    """Second moments of strength and rating about their means, as γ → 0.

    Attributes
    ----------
    V, C, U
        Var ρ, Cov(ρ, r), Var r.
    imbalances
        What is left of the exact identities ``E[rG] = E[rD]`` and ``E[ρ(G − D)] = E[kr]``.
    change
        Relative change of the moments from the grid before.
    """

    imbalances: tuple[float, float]
    change: float


@dataclass(frozen=True)
class SinhAxis:
    """An even number of points placed symmetrically about 0, stretched by sinh; weights and derivative matrix."""

    points: Array
    weight: Array
    derivative: Array
    core: float
    step: float

    def onto(self, other: SinhAxis) -> Array:
        """Matrix that carries values here to values on another axis with the same stretch."""
        mine, theirs = np.arcsinh(self.points / self.core), np.arcsinh(other.points / other.core)
        return np.sinc(np.subtract.outer(theirs, mine) / self.step)


def sinc_axis(count: int, reach: float, core: float) -> SinhAxis:
    """``core·sinh(y)`` for equidistant y, out to ``reach``."""
    end = math.asinh(reach / core)
    half = count // 2
    step = end / (half - 0.5)
    y: Array = (np.arange(2 * half, dtype=np.float64) - half + 0.5) * step
    stretch = core * np.cosh(y)
    gap = np.subtract.outer(np.arange(2 * half), np.arange(2 * half))
    with np.errstate(divide="ignore"):
        derivative = np.where(gap == 0, 0.0, (1.0 - 2.0 * (gap % 2)) / (gap * step))
    derivative[np.diag_indices(2 * half)] = 0.0
    return SinhAxis(core * np.sinh(y), stretch * step, derivative / stretch[:, None], core, step)


@dataclass(frozen=True)
class Ridge:
    """A smooth line near ``k(ρ) R'(ρ) = G(ρ) − D(R)``, the ratings on the likeliest way to reach ρ; its slope."""

    value: Array
    slope: Array


def _ridge(outcome: Outcome, guess: Moments, points: Array, pull: Array, drive: Array) -> Ridge:
    level = smooth(outcome.b, outcome.nu, math.sqrt(guess.U))
    right = points[points.size // 2 :]
    forces = CubicSpline(points, np.column_stack([drive, pull]))

    def slope(strength: float, rating: Array) -> Array:
        push, hold = forces(strength)
        return (push - level(rating)) / hold

    first, m = right[0] / 20, guess.C / guess.V
    path = solve_ivp(slope, (first, right[-1]), [m * first], "LSODA", right, rtol=1e-6, atol=1e-9).y[0]
    scales = math.sqrt(guess.V) * np.array([1.0, 2.0, 4.0])
    shapes = np.column_stack([right, *(np.arcsinh(right / scale) * scale for scale in scales)])
    share = np.linalg.lstsq(shapes, path, rcond=1e-8)[0]
    slopes = np.stack([np.ones(points.size), *(1 / np.hypot(1.0, points / scale) for scale in scales)])
    values = np.stack([points, *(np.arcsinh(points / scale) * scale for scale in scales)])
    return Ridge(share @ values, share @ slopes)


def joint_state(outcome: Outcome, motion: JointDynamics, guess: Moments, reach: float) -> JointState:
    """Solve on finer and finer grids, from a guess and out to where strengths reach, until V, C and U agree to 3e-6;
    the last ones are then good to about 1e-7.
    """
    solved, last, sizes = None, None, (26, 22)
    while True:
        try:
            solved = _Equation(outcome, motion, guess, reach, sizes).solve(solved)
        except NoStationaryState:
            # Too coarse for Newton's method to find its way: begin again on the next grid.
            if sizes[0] * sizes[1] >= MOST_UNKNOWNS:
                raise
            solved, last, sizes = None, None, _finer(sizes)
            continue
        found = solved.moments()
        if last is not None:
            old, new = (np.array([one.V, one.C, one.U]) for one in (last, found))
            change = float(np.abs(old / new - 1).max())
            if change <= JOINT_AGREEMENT or sizes[0] * sizes[1] >= MOST_UNKNOWNS:
                return replace(found, change=change)
        last = found
        sizes = _finer(sizes)


def _finer(sizes: tuple[int, int]) -> tuple[int, int]:
    return 2 * math.ceil(FINER / 2 * sizes[0]), 2 * math.ceil(FINER / 2 * sizes[1])


class _Equation:
    """The discrete equation on one pair of grids; vectors hold the points with ρ < 0, the rest follow by symmetry."""

    def __init__(
        self, outcome: Outcome, motion: JointDynamics, guess: Moments, reach: float, sizes: tuple[int, int]
    ) -> None:
        m = guess.C / guess.V
        rest = math.sqrt(max(guess.U - m * guess.C, 0.02 * guess.U))
        self.strength = sinc_axis(sizes[0], reach, 3 * math.sqrt(guess.V))
        self.error = sinc_axis(sizes[1], AXIS_WIDTH * rest, 3 * rest)
        self.start = np.exp(
            -np.add.outer(self.strength.points**2 / (2 * guess.V), self.error.points**2 / (2 * rest**2))
        )
        pull, drive = motion.pull(self.strength.points), motion.drive(self.strength.points)
        ridge = _ridge(outcome, guess, self.strength.points, pull, drive)
        self._half = sizes[0] * sizes[1] // 2
        rho, width = self.strength.points[: sizes[0] // 2], sizes[1]
        self.rho = np.repeat(rho, width)
        self.rating = np.add.outer(ridge.value, self.error.points).ravel()
        self._law = motion.law(rho)
        self.drive = np.repeat(drive[: rho.size], width)
        self.pull = np.repeat(pull[: rho.size], width)
        self.weight = 2 * np.multiply.outer(self.strength.weight[: rho.size], self.error.weight).ravel()
        self._fixed = self._strengths(pull, motion.diffusion / 2, ridge)
        kernel = outcome.b(self.rating[: self._half, None] - self.rating[None, :])
        self._kernel = (kernel[:, : self._half] + kernel[:, self._half :][:, ::-1]) * self.weight[None, :] / 2

    def _strengths(self, pull: Array, half: float, ridge: Ridge) -> Array:
        """``(∂_ρ − R'∂_e)(k f) + ½σ²(∂_ρ − R'∂_e)² f``, folded by the symmetry."""
        d, de, tilt = self.strength.derivative, self.error.derivative, ridge.slope
        rows, flat = d.shape[0] // 2, np.eye(de.shape[0])
        parts = (
            (d * pull[None, :] + half * d @ d, flat),
            (-np.diag(tilt * pull) - half * (d * tilt[None, :] + tilt[:, None] * d), de),
            (np.diag(half * tilt**2), de @ de),
        )
        total = np.zeros((self._half, self._half))
        for along, across in parts:
            total += np.kron(along[:rows, :rows], across)
            total += np.kron(along[:rows, rows:][:, ::-1], across[:, ::-1])
        return total

    def _across(self, matrix: Array) -> Array:
        """∂_e applied to the rows of a matrix."""
        width = self.error.points.size
        return np.matmul(self.error.derivative, matrix.reshape(-1, width, matrix.shape[-1])).reshape(matrix.shape)

    def _transport(self, velocity: Array) -> Array:
        """The matrix of ``∂_e(velocity ·)``, which couples points of one strength only."""
        width = self.error.points.size
        result = np.zeros((self._half, self._half))
        for first in range(0, self._half, width):
            part = slice(first, first + width)
            result[part, part] = self.error.derivative * velocity[None, part]
        return result

    def solve(self, coarse: _Solution | None) -> _Solution:
        """Newton's method.

        Summed over e the equation of one strength says nothing that g does not fulfil already; so at every strength the
        equation of the point where f is largest gives way to ``∫f de = g``.
        """
        density = (self.start if coarse is None else coarse.on(self.strength, self.error)).ravel()[: self._half]
        width = self.error.points.size
        density = self._scale(density.reshape(-1, width)).ravel()
        dropped = np.arange(0, self._half, width) + np.argmax(density.reshape(-1, width), axis=1)
        size = math.inf
        for _ in range(JOINT_NEWTON_STEPS):
            velocity = self.drive - self._kernel @ density
            system = self._fixed - self._transport(velocity)
            residual = system @ density
            system += self._across(density[:, None] * self._kernel)
            scale = float(np.abs(system).max())
            system[dropped] = np.kron(np.eye(dropped.size), scale * self.error.weight)
            residual[dropped] = scale * (density.reshape(-1, width) @ self.error.weight - self._law)
            step = lu_solve(lu_factor(system, overwrite_a=True, check_finite=False), residual)
            size, last = float(self.weight @ np.abs(step)), size
            density = density - step * min(1.0, 1.0 / size)
            # Newton's error squares from step to step, so this one leaves nothing that matters.
            if size <= 1e-6 and size <= last:
                break
        if size > 1e-5:
            raise NoStationaryState(f"The law of strengths and ratings was not found: it still moves by {size:.2g}.")
        return _Solution(self, density)

    def _scale(self, density: Array) -> Array:
        return density * (self._law / (density @ self.error.weight))[:, None]


@dataclass(frozen=True)
class _Solution:
    equation: _Equation
    density: Array

    def on(self, strength: SinhAxis, error: SinhAxis) -> Array:
        """The density interpolated by sinc functions onto other grids of the same stretch."""
        mine = self.equation
        full = np.concatenate([self.density, self.density[::-1]]).reshape(mine.start.shape)
        return mine.strength.onto(strength) @ full @ mine.error.onto(error).T

    def moments(self) -> JointState:
        """Second moments and the identities."""
        one = self.equation
        share, half = one.weight * self.density, self.density.size
        rating = one.rating[:half]
        surplus = one.drive - one._kernel @ self.density
        first = float(share @ (rating * surplus))
        second = float(share @ (one.rho * surplus - one.pull * rating))
        V, C, U = (float(share @ product) for product in (one.rho**2, one.rho * rating, rating**2))
        return JointState(V, C, U, (first, second), math.inf)
