r"""The diffusive variant of the paper's conclusion: ``+ ½ σ² d[f] ∂²_θ f`` with ``d[f](r) = ∫ w(r − r') f'``.

Strengths then wander as teams play. On cells of θ with no flux through the ends, the discrete Laplacian has cosines as
eigenvectors, so a step of any length is exact: a cosine transform, a factor ``e^{λ_k d(r) Δt}``, and back. Mass and the
mean of θ (away from the ends) are conserved, and the variance of θ grows by exactly ``σ² d Δt``.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import dct, idct

from kinelo.macro.grid import Axis
from kinelo.model.validation import Array


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
