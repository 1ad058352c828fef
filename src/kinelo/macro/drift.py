r"""Strengths that move in the kinetic equation: ``∂_t f = ∂_θ(k f) + ½σ²∂²_θ f`` beside the transport of ratings.

Learning (every pair playing): ``k = ∫ (αb − βX)(θ − θ') g'`` in the frame θ − αt, g the law of the strengths. Form:
``k = ω̂(θ − θ̄)`` with the mean strength θ̄ of the population, ω̂ = ω/γ and σ² = 2ω̂V. Walk: k = 0, σ² = s²/γ.

Fluxes are those of Scharfetter and Gummel, ``F = (D/h)[B(q)f_i − B(−q)f_{i+1}]`` with D = σ²/2, B(q) = q/(e^q − 1) and
``q = Φ_{i+1} − Φ_i``, ``Φ' = k/D``: they vanish on ``f ∝ e^{−Φ}``, so the stationary profile is kept to rounding.
Without diffusion they are upwind. Steps are implicit, of second order and L-stable (SDIRK); Φ is that of mid-step.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_banded

from kinelo.equilibrium.moving.profile import Pull
from kinelo.errors import InputError
from kinelo.macro.grid import Axis
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.pairing import AllPlayAll
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

STAGE = 1 - 1 / math.sqrt(2)


class Drifting:
    """The motion of strengths on the cells of θ, for all σ and r at once."""

    def __init__(self, system: RatingSystem, theta: Axis, sigma: Array, dynamics: Dynamics) -> None:
        self._theta = theta
        self._pull: Pull | None = None
        self._middle: float | None = None
        self.frame = 0.0
        if isinstance(dynamics, Learning):
            self._learn(system, theta, sigma, dynamics)
        elif isinstance(dynamics, Form | Walk):
            # Kinetic time is γ times the matches of a team.
            self._rate = dynamics.rate / system.step if isinstance(dynamics, Form) else 0.0
            self._diffusion = dynamics.step**2 / (2 * system.step)
        else:
            raise InputError(f"dynamics must be Learning, Form or Walk in the kinetic equation, not {dynamics!r}.")

    def _learn(self, system: RatingSystem, theta: Axis, sigma: Array, dynamics: Learning) -> None:
        if not isinstance(system.pairing, AllPlayAll):
            raise InputError("Learning is solved in the kinetic equation for AllPlayAll only; simulate plays the rest.")
        if sigma.size > 1:
            raise InputError("Learning is solved in the kinetic equation for one common sigma, not for an interval.")
        self._pull = Pull(system.outcome, dynamics, float(sigma[0]))
        self._diffusion, self._rate, self.frame = dynamics.diffusion**2 / 2, 0.0, dynamics.alpha
        offsets = np.arange(-theta.count + 1, theta.count, dtype=np.float64) * theta.width
        self._potential = self._pull.potential(offsets)

    def step(self, density: Array, meeting_rate: Array, dt: float) -> None:
        """Advance ``density``, of shape (theta, sigma, r), in place."""
        flat = density.reshape(density.shape[0], -1)
        law = flat.sum(axis=1)
        if self._pull is not None:
            # The law of strengths moves by itself, so its middle is known before the step.
            law = self._advanced(law[:, None], self._matrix(law), dt / 2)[:, 0]
        moved = self._advanced(flat, self._matrix(law), dt)
        before, after = flat.sum(axis=0), moved.sum(axis=0)
        flat[:] = moved * np.divide(before, after, out=np.zeros_like(after), where=after > 0)

    def _matrix(self, law: Array) -> Array:
        """The three diagonals of the generator, upper first, for the law of strengths of the moment."""
        width = self._theta.width
        rises = self._rises(law)
        if self._diffusion > 0:
            ratio = rises / self._diffusion
            right, left = _bernoulli(ratio), _bernoulli(-ratio)
            scale = self._diffusion / width**2
        else:
            # Upwind: what lies higher flows down.
            right, left, scale = np.maximum(-rises, 0.0), np.maximum(rises, 0.0), 1 / width**2
        bands = np.zeros((3, law.size))
        bands[0, 1:], bands[2, :-1] = scale * left, scale * right
        bands[1, :-1] -= scale * right
        bands[1, 1:] -= scale * left
        return bands

    def _rises(self, law: Array) -> Array:
        """Rise of the potential of k from each cell to the next."""
        if self._pull is not None:
            potential = np.convolve(law / law.sum(), self._potential)[law.size - 1 : 2 * law.size - 1]
            return np.diff(potential)
        centres = self._theta.centres
        if self._middle is None:
            self._middle = float(law @ centres / law.sum())
        return self._rate * np.diff((centres - self._middle) ** 2) / 2

    def _advanced(self, density: Array, bands: Array, dt: float) -> Array:
        """Two implicit stages; what falls below zero is the error of the step and is cut off."""
        system = -STAGE * dt * bands
        system[1] += 1.0
        first = solve_banded((1, 1), system, _applied(bands, density))
        second = solve_banded((1, 1), system, _applied(bands, density + (1 - STAGE) * dt * first))
        return np.maximum(density + dt * ((1 - STAGE) * first + STAGE * second), 0.0)


def _applied(bands: Array, density: Array) -> Array:
    result = bands[1][:, None] * density
    result[:-1] += bands[0][1:, None] * density[1:]
    result[1:] += bands[2][:-1, None] * density[:-1]
    return result


def _bernoulli(q: Array) -> Array:
    """``q/(e^q − 1)``, without loss near 0 and without overflow far from it."""
    small = np.abs(q) < 1e-8
    safe = np.where(small, 1.0, np.clip(q, -700, 700))
    return np.where(small, 1 - q / 2, safe / np.expm1(safe))
