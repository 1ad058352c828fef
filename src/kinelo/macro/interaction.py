r"""Sums of expected results over opponents: ``(S p)(θ, σ) = ∫ s(θ, σ; θ', σ') p(θ', σ') dθ' dσ'``.

Taylor closure: only ``∫ p dσ'`` and ``∫ σ'² p dσ'`` enter, so S is three products with matrices in θ alone.

Exact closure, performances θ + σX of one shape X, normal unless said otherwise: few labels have a small matrix. For
many, ``s = Σ_u W(u) Im[φ φ̄']`` separates into one factor per team. The factors of all labels span a space of a few
dozen dimensions; with an orthonormal basis Q of it, ``S = Q M Qᵀ`` with a small antisymmetric M, to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from kinelo.errors import InputError
from kinelo.macro.grid import Grid
from kinelo.model.expectation import (
    Closure,
    check_closure,
    expected_result,
    league_waves,
    taylor_parts,
    warn_if_taylor_fails,
)
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Normal, Strength
from kinelo.model.validation import Array

MATRIX_LABELS = 400
"""Labels up to which their matrix is smaller work than a basis."""


class Interaction(ABC):
    """The linear map S on functions of the label (θ, σ), several at once."""

    @abstractmethod
    def __call__(self, masses: Array) -> Array:
        """Apply S to each column of ``masses``, of shape (labels, columns)."""


class TaylorInteraction(Interaction):
    """``s = b(d) + ½ b''(d) (σ² + σ'²)`` by products with matrices in θ."""

    def __init__(self, outcome: Outcome, grid: Grid) -> None:
        theta = grid.label_theta[:: grid.sigma.count]
        self.b, self.half_b_second = taylor_parts(outcome, theta[:, None] - theta[None, :])
        self.variance = grid.sigma.centres**2

    def __call__(self, masses: Array) -> Array:
        """Apply S through ``∫ p dσ'`` and ``∫ σ'² p dσ'``."""
        spread = masses.reshape(len(self.b), len(self.variance), -1)
        total, second = spread.sum(axis=1), np.einsum("s,tsj->tj", self.variance, spread)
        level = self.b @ total + self.half_b_second @ second
        curvature = self.half_b_second @ total
        result = level[:, None, :] + self.variance[None, :, None] * curvature[:, None, :]
        return result.reshape(masses.shape)


class MatrixInteraction(Interaction):
    """The expectation itself as the matrix between labels: best for few labels."""

    def __init__(self, outcome: Outcome, labels: Strength) -> None:
        self.matrix = expected_result(outcome, labels)

    def __call__(self, masses: Array) -> Array:
        """Apply S as a matrix."""
        return self.matrix @ masses


class BasisInteraction(Interaction):
    """The expectation through a basis of few dimensions: best for many labels."""

    def __init__(self, outcome: Outcome, labels: Strength) -> None:
        waves = league_waves(outcome, labels)
        nodes, phi = waves.nodes, waves.strengths.characteristic_function(waves.nodes.u, waves.origin)
        root = np.sqrt(np.abs(nodes.sine))
        imaginary, real = _without_dust(phi.imag * root), _without_dust(phi.real * root)
        span, triangle = np.linalg.qr(np.hstack([imaginary, real]))
        left, size, _ = np.linalg.svd(triangle)
        self.basis = np.ascontiguousarray(span @ left[:, size > 1e-15 * size[0]])
        half = ((self.basis.T @ imaginary) * np.sign(nodes.sine)) @ (self.basis.T @ real).T
        self.core = half - half.T

    def __call__(self, masses: Array) -> Array:
        """Apply S as Q M Qᵀ."""
        return self.basis @ (self.core @ (self.basis.T @ masses))


def _without_dust(values: Array) -> Array:
    # Entries that no sum can feel would otherwise become denormal numbers, on which processors are slow.
    return np.where(np.abs(values) < 1e-25, 0.0, values)


def labelled(grid: Grid, shape: object = None) -> Strength:
    """Teams with the mean and the spread of each label: normal, or of the shape of a SciPy distribution."""
    if shape is None:
        return Normal(grid.label_theta, grid.label_sigma)
    if isinstance(shape, Strength):
        raise InputError(
            f"shape must be the distribution X of performances θ + σX, such as scipy.stats.t(3), not {shape!r}: the "
            "kinetic equation knows a team by θ and σ alone, which line-ups and samples of values are more than."
        )
    from kinelo.model.scaled import Scaled

    return Scaled(shape, grid.label_theta, grid.label_sigma)


def interaction(outcome: Outcome, grid: Grid, closure: Closure, shape: object = None) -> Interaction:
    """Return S for a closure; a Taylor closure outside its range warns."""
    check_closure(closure)
    labels = labelled(grid, shape)
    if closure == "taylor":
        # Every cell of σ holds many teams, so its largest value can meet itself.
        warn_if_taylor_fails(outcome, float(grid.sigma.centres[-1]))
        return TaylorInteraction(outcome, grid)
    return (MatrixInteraction if grid.labels <= MATRIX_LABELS else BasisInteraction)(outcome, labels)
