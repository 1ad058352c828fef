r"""Strengths that move in the kinetic equation: learning, form and walks, beside the transport of ratings.

* Learning: ``∂_t f = −∂_θ(c f) + ½σ²d∂²_θ f`` with ``c = ∫ w(r − r')(α − k(θ − θ'))f'``, k = αb − βX, d = ∫ w f', in a
  frame that moves with the mean strength, by ``α∬ w f f'`` per unit of time. The mean strength is then conserved.
* Form: a team is known by its own mean θ and by its form x, and plays with strength θ + x:
  ``∂_t f = ω̂∂_x(x f) + ω̂V∂²_x f``, ω̂ = ω/γ. Form starts at 0.
* Walk: ``∂_t f = ½ŝ²∂²_θ f``, ŝ² = s²/γ.

Kinetic time is γ times the matches of a team, so rates per match are divided by γ.

Drift and diffusion in one variable, ``∂_t f = ∂_x(k f) + D∂²_x f``, have the fluxes of Scharfetter and Gummel,
``F = (D/h)[B(q)f_i − B(−q)f_{i+1}]`` with B(q) = q/(e^q − 1), ``q = Φ_{i+1} − Φ_i`` and ``Φ' = k/D``: they vanish on
``f ∝ e^{−Φ}``, so the stationary profile is kept to rounding. Without diffusion they are upwind. No flux leaves through
the ends. Steps are implicit, of second order and L-stable (SDIRK).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg import solve_banded, toeplitz

from kinelo.macro.grid import Axis, Grid
from kinelo.macro.population import Population
from kinelo.macro.velocity import Velocity
from kinelo.model.dynamics import Form, Learning, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.moving.learning import LearningPull

STAGE = 1 - 1 / math.sqrt(2)


def generator(rises: Array, diffusion: float, width: float) -> Array:
    """The three diagonals, upper first, for the rises of the antiderivative of k from each cell to the next."""
    if diffusion > 0:
        ratio = rises / diffusion
        right, left = _bernoulli(ratio), _bernoulli(-ratio)
        scale = diffusion / width**2
    else:
        # Upwind: what lies higher flows down.
        right, left, scale = np.maximum(-rises, 0.0), np.maximum(rises, 0.0), 1 / width**2
    bands = np.zeros((3, rises.size + 1))
    bands[0, 1:], bands[2, :-1] = scale * left, scale * right
    bands[1, :-1] -= scale * right
    bands[1, 1:] -= scale * left
    return bands


def advanced(density: Array, bands: Array, dt: float) -> Array:
    """Columns of ``density`` after a step; what falls below zero is the error of the step and is cut off."""
    system = -STAGE * dt * bands
    system[1] += 1.0
    first = solve_banded((1, 1), system, _applied(bands, density), check_finite=False)
    second = solve_banded((1, 1), system, _applied(bands, density + (1 - STAGE) * dt * first), check_finite=False)
    moved = np.maximum(density + dt * ((1 - STAGE) * first + STAGE * second), 0.0)
    before, after = density.sum(axis=0), moved.sum(axis=0)
    return moved * np.divide(before, after, out=np.zeros_like(after), where=after > 0)


def _applied(bands: Array, density: Array) -> Array:
    result = bands[1][:, None] * density
    result[:-1] += bands[0][1:, None] * density[1:]
    result[1:] += bands[2][:-1, None] * density[:-1]
    return result


def _bernoulli(q: Array) -> Array:
    """``q/(e^q − 1)``, without loss near 0 and without overflow far from it."""
    small = np.abs(q) < 1e-8
    safe = np.where(small, 1.0, np.minimum(q, 700))
    return np.where(small, 1 - q / 2, safe / np.expm1(safe))


FORM_CELLS = 41
FORM_REACH = 6.0


class DensityMotion(Protocol):
    """Moves a density in what is not its rating; ``frame`` is by how much the frame of the strengths has moved."""

    frame: float

    def step(self, density: Array, dt: float) -> None:
        """Advance ``density``, of the grid's shape, in place."""
        ...


def with_form(population: Population, form: object) -> Population:
    """The population with an axis for form, all of it at 0; any other motion leaves a population as it is."""
    grid = population.grid
    if not isinstance(form, Form) or grid.form is not None:
        return population
    reach = FORM_REACH * form.spread
    axis = Axis(-reach, reach, FORM_CELLS)
    density = np.zeros((grid.theta.count, axis.count, *grid.shape[1:]))
    density[:, axis.count // 2] = population.density / axis.width
    return Population._of(Grid(grid.theta, grid.sigma, grid.r, axis), density)


class FormMotion:
    """Form about each team's own mean: one generator for all."""

    def __init__(self, axis: Axis, form: Form, gamma: float) -> None:
        rate, self.frame = form.rate / gamma, 0.0
        self._bands = generator(rate * np.diff(axis.centres**2) / 2, rate * form.spread**2, axis.width)

    def step(self, density: Array, dt: float) -> None:
        """Advance the second axis."""
        rows = np.moveaxis(density, 1, 0)
        density[:] = np.moveaxis(advanced(rows.reshape(len(rows), -1), self._bands, dt).reshape(rows.shape), 0, 1)


class WalkMotion:
    """A random walk of all strengths, reflected at the ends of θ."""

    def __init__(self, axis: Axis, walk: Walk, gamma: float) -> None:
        self.frame = 0.0
        self._bands = generator(np.zeros(axis.count - 1), walk.step**2 / (2 * gamma), axis.width)

    def step(self, density: Array, dt: float) -> None:
        """Advance the first axis."""
        density[:] = advanced(density.reshape(len(density), -1), self._bands, dt).reshape(density.shape)


class LearningMotion:
    """Learning: what a team learns depends on its strength and, where w is not 1, on whom its rating lets it meet."""

    def __init__(self, outcome: Outcome, velocity: Velocity, learning: Learning, frame: float = 0.0) -> None:
        grid = velocity.grid
        self._learning, self._theta, self.frame = learning, grid.theta, frame
        self._all = velocity.separates
        self._volume = grid.volume
        # Of shape (cells, cells) of r: whom a rating meets.
        met = np.ones((1, 1)) if self._all else velocity.meeting.matrix()
        self._meets = met if self._all else (met[1:] + met[:-1]) / 2
        offsets = np.arange(grid.theta.count, dtype=np.float64) * grid.theta.width
        self._sigma = grid.sigma.centres
        self._own = learning.on == "result" and learning.beta > 0 and float(self._sigma.max()) > 0
        # Antiderivatives of the pull between teams of each two spreads, as matrices between cells of θ.
        sigma, pulls = self._sigma if self._own else np.zeros(1), {}
        self._rules: list[list[Array]] = []
        for mine in sigma:
            common = [math.sqrt((mine**2 + theirs**2) / 2) for theirs in sigma]
            for spread in common:
                if spread not in pulls:
                    pulls[spread] = toeplitz(LearningPull(outcome, learning, spread).potential(offsets))
            self._rules.append([pulls[spread] for spread in common])

    def step(self, density: Array, dt: float) -> None:
        """Advance strengths by the pull of mid-step, and return their mean to where it was."""
        centres, width = self._theta.centres, self._theta.width
        known = density.sum(axis=2, keepdims=True) if self._all else density
        middle = self._moved(known, known, dt / 2)
        moved = self._moved(density, middle, dt)
        # The equation conserves the mean, and upwinding lets it drift by the scheme's own error: it is returned by a
        # shift of the whole, less than a cell, with upwind fluxes that leave no mass beyond the ends.
        row, total = moved.sum(axis=(1, 2)), float(moved.sum())
        offset = float(centres @ row - centres @ density.sum(axis=(1, 2))) / total
        movable = 1 - float(row[-1] if offset < 0 else row[0]) / total
        part = max(-1.0, min(1.0, -offset / (width * movable))) if movable > 1e-9 else 0.0
        if abs(part) >= 1e-15:
            flux = part * (moved[:-1] if part > 0 else moved[1:])
            moved[:-1] -= flux
            moved[1:] += flux
        density[:] = moved
        self.frame += self._learning.alpha * self._pace(middle) * dt

    def _pace(self, density: Array) -> float:
        """``∬ w f f'``: matches per candidate match."""
        ratings = density.sum(axis=(0, 1)) * self._volume
        return 1.0 if self._all else float(ratings @ self._meets @ ratings)

    def _moved(self, density: Array, law: Array, dt: float) -> Array:
        """``density`` moved by the pull of ``law``; columns that share a pull go together."""
        # Rise of the potential from each cell of θ to the next, of shape (θ, σ, r), and the rate d of playing. With one
        # r for all, the mass of a label is all that counts.
        met = (law / law.sum() if self._all else law * self._volume) @ self._meets.T
        if not self._own:
            met = met.sum(axis=1, keepdims=True)
        total = np.zeros(met.shape)
        for mine, row in enumerate(self._rules):
            for theirs, kernel in enumerate(row):
                total[:, mine] += kernel @ met[:, theirs]
        rate = met.sum(axis=(0, 1))
        common = self._learning.alpha * (rate - (self._pace(law) if not self._all else rate))
        rises = np.diff(total, axis=0) - common * self._theta.width
        result = np.empty_like(density)
        groups = [slice(None)] if not self._own else [slice(s, s + 1) for s in range(density.shape[1])]
        columns = [slice(None)] if self._all else [slice(k, k + 1) for k in range(density.shape[2])]
        for s, group in enumerate(groups):
            for k, column in enumerate(columns):
                spread = self._learning.diffusion**2 * float(rate[k]) / 2
                part = density[:, group, column]
                bands = generator(rises[:, s, k], spread, self._theta.width)
                result[:, group, column] = advanced(part.reshape(len(part), -1), bands, dt).reshape(part.shape)
        return result
