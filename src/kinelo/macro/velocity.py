r"""The speed ``a[f] = ∫ w(r − r') (s(θ, σ; θ', σ') − b(r − r')) f'`` at the faces between cells of r.

Speeds are averages over the interval of length Δr around a face (the paper's ``a_{j+1/2}``), with the mass of a cell at
its centre. For w ≡ 1 they separate, ``a = G(θ, σ) − D(r)``: G is fixed as long as the labels are, and D is one product
of a Toeplitz matrix with the r-marginal. For any other w, ``a = S f W̄ᵀ − D``: S acts on labels and W̄ on ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.linalg import toeplitz

from kinelo.macro.grid import Axis, Grid
from kinelo.macro.interaction import interaction
from kinelo.macro.kernels import largest_outflow
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll, Pairing, Window
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array


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

    def __init__(self, system: RatingSystem, grid: Grid, closure: Closure) -> None:
        self.grid = grid
        self.separates = isinstance(system.pairing, AllPlayAll)
        self.interaction = interaction(system.outcome, grid, closure)
        self.loss = face_average_of_wb(system.outcome, system.pairing, grid.r)
        self.meeting = face_average_of_w(system.pairing, grid.r)
        self.label = np.zeros(grid.labels)

    def update_labels(self, label_mass: Array) -> None:
        """Compute G from the mass of each label; needed at the start and whenever labels move."""
        if self.separates:
            self.label = self.interaction(label_mass.reshape(-1, 1))[:, 0]

    def speeds(self, density: Array, rating_mass: Array) -> Speeds:
        """Speeds for cell averages of shape (labels, ratings) and the mass in each cell of r."""
        drag = (self.loss @ rating_mass)[None, :]
        if self.separates:
            inner = drag[0, 1:-1]
            largest = float(max(self.label.max() - inner.min(), inner.max() - self.label.min()))
            # D increases with r, so no cell loses mass through both of its faces at once.
            return Speeds(self.label, drag, largest, largest)
        mixed = drag - self.interaction(density) @ (self.meeting.T * self.grid.volume)
        return Speeds(self.label, mixed, *largest_outflow(self.label, mixed))

    def meeting_rate(self, rating_mass: Array) -> Array:
        """``d[f] = ∫ w(r − r') f'`` in each cell of r."""
        at_faces = self.meeting @ rating_mass
        return (at_faces[1:] + at_faces[:-1]) / 2


def face_average_of_w(pairing: Pairing, r: Axis) -> Array:
    """Averages of w(r − r_k) around the faces, of shape (faces, cells)."""
    return _face_averages(pairing.w, pairing, r)


def face_average_of_wb(outcome: Outcome, pairing: Pairing, r: Axis) -> Array:
    """Averages of w(r − r_k) b(r − r_k) around the faces, of shape (faces, cells)."""
    if isinstance(pairing, AllPlayAll):
        z = np.arange(-r.count, r.count + 1) * r.width
        return _toeplitz(np.diff(outcome.antiderivative(z)) / r.width, r)
    return _face_averages(lambda z: pairing.w(z) * outcome.b(z), pairing, r)


def _face_averages(kernel: Callable[[Array], Array], pairing: Pairing, r: Axis) -> Array:
    edges = np.arange(-r.count, r.count + 1) * r.width
    breaks = np.array([-pairing.c, pairing.c]) if isinstance(pairing, Window) else np.empty(0)
    # An interval is cut where w jumps, so that the quadrature sees smooth pieces only.
    cuts = np.unique(np.concatenate([edges, breaks[(breaks > edges[0]) & (breaks < edges[-1])]]))
    nodes, weights = leggauss(10)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    integrals = (kernel(middle[:, None] + half[:, None] * nodes) @ weights) * half
    home = np.clip(np.searchsorted(edges, middle) - 1, 0, len(edges) - 2)
    return _toeplitz(np.bincount(home, integrals, len(edges) - 1) / r.width, r)


def _toeplitz(average: Array, r: Axis) -> Array:
    # average[m] belongs to offset (face − cell) = (m + ½ − count) Δr; face i, cell k: m = i − k + count − 1.
    n = r.count
    return np.ascontiguousarray(toeplitz(average[n - 1 :], average[n - 1 :: -1]))
