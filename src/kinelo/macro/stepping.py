"""Steps in time: as long as the scheme allows, or of a fixed length, alternating with diffusion of strengths.

The diffusive variant of the paper's conclusion is ``+ ½ σ² d[f] ∂²_θ f`` with ``d[f](r) = ∫ w(r − r') f'``. On cells of
θ with no flux through the ends, the discrete Laplacian has cosines as eigenvectors, so a step of any length is exact: a
cosine transform, a factor ``e^{λ_k d(r) Δt}``, and back. Mass and the mean of θ (away from the ends) are conserved, and
the variance of θ grows by exactly ``σ² d Δt``.

What a run will take, ``n ≈ T / Δt`` steps over all cells, is known before its first step and checked here.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.fft import dct, idct

from kinelo.errors import InputError
from kinelo.macro.grid import Axis
from kinelo.macro.moving import Moving
from kinelo.macro.scheme import Transport
from kinelo.model.validation import Array
from kinelo.runtime.limits import check_memory, check_time


class StrengthDiffusion:
    """Diffusion in θ of strength σ: ``σ²`` is the variance that strengths gain per unit of kinetic time at d = 1."""

    def __init__(self, theta: Axis, sigma: float) -> None:
        wave = np.pi * np.arange(theta.count) / theta.count
        self.rates = -(sigma**2) * (1 - np.cos(wave)) / theta.width**2

    def step(self, density: Array, meeting_rate: Array, dt: float) -> None:
        """Advance ``density``, of shape (theta, sigma, r), in place."""
        before = density.sum(axis=0)
        waves = np.asarray(dct(density, axis=0))
        waves *= np.exp(dt * np.multiply.outer(self.rates, meeting_rate))[:, None, :]
        # The exact step is positive: what lies below zero is rounding of the transforms.
        np.maximum(np.asarray(idct(waves, axis=0, overwrite_x=True)), 0.0, out=density)
        after = density.sum(axis=0)
        density *= np.divide(before, after, out=np.zeros_like(after), where=after > 0)


COURANT = 0.9
"""Part of the largest stable step that is taken."""


class Stepper:
    """Advances a density; with diffusion, by ``T(Δt/2) D(Δt) T(Δt/2)``, which is of second order."""

    def __init__(self, transport: Transport, motion: StrengthDiffusion | Moving | None, fixed: float | None) -> None:
        self.transport = transport
        self.motion = motion
        self.fixed = fixed

    def go_on(self, time: float, stop: float, mark: float) -> tuple[float, int]:
        """Step once, or as often as the transport can at once, until ``stop`` or past ``mark``: new time and steps."""
        if self.fixed is not None and self.motion is None and self.transport.marches:
            later, count = time, 0
            while later < mark and self.fixed < stop - later:
                later, count = later + self.fixed, count + 1
            if count > 0:
                self._refuse_above(self.transport.limit(self.transport.speeds()))
                largest = self.transport.march(self.fixed, count)
                self._refuse_above(
                    self.transport.limit(replace(self.transport.speeds(), largest=largest, outflow=largest))
                )
                return later, count
        dt = self.advance(stop - time)
        return (stop if dt >= stop - time else time + dt), 1

    def advance(self, longest: float) -> float:
        """Take one step of at most ``longest`` and return its length."""
        if self.motion is None:
            return self._move(longest)
        half = self._move(longest / 2)
        if isinstance(self.motion, Moving):
            self.motion.step(self.transport, 2 * half)
        else:
            density = self.transport.density()
            rate = self.transport.velocity.meeting_rate(self.transport.rating_mass)
            self.motion.step(density.reshape(self.transport.grid.shape), rate, 2 * half)
            self.transport.relabel()
        rest = half
        while rest > 0:
            rest -= self._move(rest)
        return 2 * half

    def _move(self, longest: float) -> float:
        speeds = self.transport.speeds()
        limit = self.transport.limit(speeds)
        if self.fixed is not None:
            self._refuse_above(limit)
            wanted = min(self.fixed, longest)
        else:
            wanted = COURANT * limit
            # Two equal steps rather than a long one and a sliver.
            wanted = longest if wanted >= longest else min(wanted, max(longest / 2, longest - wanted))
        while (taken := self.transport.step(speeds, wanted)) < wanted:
            if self.fixed is not None:
                self._refuse_above(taken)
            wanted = taken
        return taken

    def _refuse_above(self, limit: float) -> None:
        if self.fixed is not None and self.fixed > limit:
            raise InputError(
                f"dt = {self.fixed:g} is above the stability limit of this scheme on this grid, {limit:.4g}; "
                'use a smaller dt, or dt="cfl" for steps just below the limit.'
            )


SECONDS_PER_CELL, SECONDS_PER_STEP = 1e-11, 1e-6
"""Of the fastest device at its best."""

BYTES_PER_SAMPLE = 256


def check_samples(samples: int) -> None:
    """Refuse a series of integrals that cannot fit into memory."""
    check_memory(float(BYTES_PER_SAMPLE) * samples, f"A series of {samples:,} samples", "use fewer samples")


def check_steps(transport: Transport, fixed: float | None, span: float) -> None:
    """Refuse a run over ``span`` whose steps, of the length that the start allows or of a fixed one, take years."""
    step = COURANT * transport.limit(transport.speeds()) if fixed is None else fixed
    steps = span / step
    seconds = steps * (math.prod(transport.grid.shape) * SECONDS_PER_CELL + SECONDS_PER_STEP)
    check_time(
        seconds, f"Solving over a time of {span:.4g} in about {steps:.3g} steps", "use an earlier until or larger cells"
    )
