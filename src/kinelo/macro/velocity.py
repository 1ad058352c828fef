r"""The speed ``a[f] = ∫ w(r − r') (s(θ, σ; θ', σ') − b(r − r')) f'`` at the faces between cells of r.

Speeds are averages over the interval of length Δr around a face (the paper's ``a_{j+1/2}``), with the mass of a cell at
its centre. For w ≡ 1 they separate, ``a = G(θ, σ) − D(r)``: G is fixed as long as the labels are, and D is one product
of a Toeplitz matrix with the r-marginal. For any other w, ``a = S f W̄ᵀ − D``: S acts on labels and W̄ on ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from kinelo.macro.grid import Axis, Grid
from kinelo.macro.interaction import interaction
from kinelo.macro.kernels import convolve, largest_outflow
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

DIRECT_CELLS = 600
"""Cells of r up to which a direct sum is faster than an FFT."""


@dataclass(frozen=True)
class Speeds:
    """Speeds ``label[i] − drag[i, j]`` at all faces, both ends included; one row of drag serves all labels.

    ``largest`` is the largest at inner faces, ``outflow`` the largest sum of those at which one cell loses mass.
    """

    label: Array
    drag: Array
    largest: float
    outflow: float


class Velocity:
    """The functional a[f] on a grid."""

    def __init__(self, system: RatingSystem, grid: Grid, closure: Closure, shape: object = None) -> None:
        self.grid = grid
        self.separates = system.pairing.constant
        self.interaction = interaction(system.outcome, grid, closure, shape)
        self.loss = FaceAverages.of_wb(system.outcome, system.pairing, grid.r)
        self.meeting = FaceAverages.of_w(system.pairing, grid.r)
        self.label = np.zeros(grid.labels)
        self.range = 0.0, 0.0
        # Of shape (cells, faces): what the masses of one label contribute at every face.
        self._met = np.empty((0, 0)) if self.separates else self.meeting.matrix().T * grid.volume

    def update_labels(self, label_mass: Array) -> None:
        """Compute G from the mass of each label; needed at the start and whenever labels move."""
        if self.separates:
            self.label = self.interaction(label_mass.reshape(-1, 1))[:, 0]
            self.range = float(self.label.min()), float(self.label.max())

    def speeds(self, density: Array, rating_mass: Array) -> Speeds:
        """Speeds for cell averages of shape (labels, ratings) and the mass in each cell of r."""
        drag = self.loss(rating_mass)
        if self.separates:
            # D increases with r: it is extreme at the outermost inner faces, and no cell loses mass through both faces.
            largest = max(self.range[1] - float(drag[1]), float(drag[-2]) - self.range[0])
            return Speeds(self.label, drag[None, :], largest, largest)
        mixed = drag - self.interaction(density) @ self._met
        return Speeds(self.label, mixed, *largest_outflow(self.label, mixed))

    def meeting_rate(self, rating_mass: Array) -> Array:
        """``d[f] = ∫ w(r − r') f'`` in each cell of r."""
        at_faces = self.meeting(rating_mass)
        return (at_faces[1:] + at_faces[:-1]) / 2


class FaceAverages:
    """Averages of a function of ``r − r_k`` around every face, for a mass at the centre of every cell k.

    ``average[m]`` is that over offsets from ``(m − count) Δr`` to ``(m + 1 − count) Δr``: face i and cell k have
    ``m = i − k + count − 1``.
    """

    def __init__(self, average: Array) -> None:
        self.cells = average.size // 2
        self.reversed = np.ascontiguousarray(average[::-1])
        self._length = next_fast_len(3 * self.cells, real=True)

    @classmethod
    def of_w(cls, pairing: Pairing, r: Axis) -> FaceAverages:
        """Averages of w."""
        return cls(_quadrature(pairing.w, pairing, r))

    @classmethod
    def of_wb(cls, outcome: Outcome, pairing: Pairing, r: Axis) -> FaceAverages:
        """Averages of w b."""
        if pairing.constant:
            return cls(np.diff(outcome.antiderivative(_edges(r))) / r.width)
        return cls(_quadrature(lambda z: pairing.w(z) * outcome.b(z), pairing, r))

    def __call__(self, mass: Array) -> Array:
        """Sum over cells at every face: directly for few cells, by FFT for many."""
        if self.cells <= DIRECT_CELLS:
            return convolve(self.reversed, mass)
        product = irfft(self._spectrum * np.asarray(rfft(mass, self._length)), self._length)
        return np.asarray(product)[self.cells - 1 : 2 * self.cells]

    @cached_property
    def _spectrum(self) -> NDArray[np.complex128]:
        return np.asarray(rfft(self.reversed[::-1], self._length))

    def matrix(self) -> Array:
        """The sum over cells as a matrix of shape (faces, cells)."""
        rows = [self.reversed[self.cells - i : 2 * self.cells - i] for i in range(self.cells + 1)]
        return np.array(rows)


def _edges(r: Axis) -> Array:
    return np.arange(-r.count, r.count + 1, dtype=np.float64) * r.width


def _quadrature(kernel: Callable[[Array], Array], pairing: Pairing, r: Axis) -> Array:
    edges = _edges(r)
    breaks = np.array(pairing.jumps)
    # An interval is cut where w jumps, so that the quadrature sees smooth pieces only.
    cuts = np.unique(np.concatenate([edges, breaks[(breaks > edges[0]) & (breaks < edges[-1])]]))
    nodes, weights = leggauss(10)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    integrals = (kernel(middle[:, None] + half[:, None] * nodes) @ weights) * half
    home = np.clip(np.searchsorted(edges, middle) - 1, 0, len(edges) - 2)
    return np.bincount(home, integrals, len(edges) - 1) / r.width
