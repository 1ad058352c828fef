r"""A function given by one scalar formula, tabulated so that it, its derivatives and its integral come as arrays.

The formula f, odd or even, is sampled at equal distances; in each cell the polynomial of degree 9 through the ten
nearest samples stands for it. Distances are halved until those polynomials meet the formula between samples. Cells in
which they never do hold a corner or a jump: there, and beyond the table, the formula itself is called.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from kinelo.model.law import Scalar
from kinelo.model.validation import Array

STENCIL = 10
LENGTHS = 160
"""Extent of a table, in lengths on which the function turns."""

FINENESS = (16, 32, 64, 128)
"""Cells per length that are tried."""

MET = 4e-15
PLACES_AT_ONCE = 1 << 16

_POSITIONS = np.arange(STENCIL) - (STENCIL - 1) / 2


def _lagrange() -> Array:
    """Coefficients of the polynomial through unit samples at the positions, exact before they are rounded."""
    positions = [Fraction(2 * k + 1 - STENCIL, 2) for k in range(STENCIL)]
    rows = []
    for node in positions:
        row = [Fraction(1)]
        for other in positions:
            if other != node:
                shifted, scaled = [Fraction(0), *row], [-other * value for value in row] + [Fraction(0)]
                row = [(a + b) / (node - other) for a, b in zip(shifted, scaled)]
        rows.append([float(value) for value in row])
    return np.array(rows)


_INTERPOLATION = _lagrange()


class Curve:
    """``formula`` on an axis whose natural length is ``length``; ``parity`` is −1 where it is odd, 1 where it is even.

    ``jumps`` are the places at which it jumps.

    >>> curve = Curve(math.sin, parity=-1, length=1.0)
    >>> curve([0.5, -0.5]).round(6), float(curve.derivative(0.0, 1).round(12)), float(curve.integral(math.pi).round(12))
    (array([ 0.479426, -0.479426]), 1.0, 2.0)
    """

    def __init__(self, formula: Scalar, *, parity: int, length: float, jumps: Iterable[float] = ()) -> None:
        self.formula, self.parity, self.length = formula, parity, length
        coefficients, count = np.empty((0, STENCIL)), 0
        self._jumps = np.array(list(jumps), dtype=np.float64)
        for fineness in FINENESS:
            self._step = length / fineness
            count = LENGTHS * fineness
            first = _POSITIONS[0] + 0.5
            samples = self.exactly((np.arange(count + STENCIL - 1) + first) * self._step)
            stencils = np.lib.stride_tricks.sliding_window_view(samples, STENCIL)
            coefficients = stencils @ _INTERPOLATION
            # Cells in which the polynomial and the formula differ.
            centres = (np.arange(count) + 0.5) * self._step
            self._rough = np.zeros(count, dtype=bool)
            for offset in (-0.5, -0.21, 0.29):
                exact = self.exactly(centres + offset * self._step)
                missed = np.abs(_horner(coefficients, np.full(count, offset)) - exact)
                self._rough |= missed > MET * (1 + np.abs(exact))
            if not self._rough.any():
                break
        self._coefficients = [coefficients]
        for _ in range(3):
            last = self._coefficients[-1]
            self._coefficients.append(last[:, 1:] * np.arange(1, last.shape[1]) / self._step)
        self.end = count * self._step

    def exactly(self, z: ArrayLike) -> Array:
        """The formula itself, called for every entry."""
        values = np.asarray(z, dtype=np.float64)
        formula = self.formula
        return np.array([formula(x) for x in values.ravel().tolist()], dtype=np.float64).reshape(values.shape)

    def __call__(self, z: ArrayLike) -> Array:
        """Values of the function."""
        return self._by_cells(np.asarray(z, dtype=np.float64), 0)

    def derivative(self, z: ArrayLike, order: int) -> Array:
        """Its derivative of order 1, 2 or 3."""
        return self._by_cells(np.asarray(z, dtype=np.float64), order)

    def _by_cells(self, z: Array, order: int) -> Array:
        flat = np.ascontiguousarray(z).ravel()
        result = np.empty_like(flat)
        for first in range(0, flat.size, PLACES_AT_ONCE):
            part = slice(first, first + PLACES_AT_ONCE)
            x = flat[part]
            far = np.abs(x)
            place = np.minimum(far / self._step, len(self._rough) - 0.5)
            cell = place.astype(np.intp)
            values = _horner(self._coefficients[order][cell], place - cell.astype(np.float64) - 0.5)
            if self.parity * (-1) ** order < 0:
                values = np.copysign(1.0, x) * values
            rough = self._rough[cell] | (far >= self.end) | ~np.isfinite(x)
            if rough.any():
                values[rough] = self.exactly(x[rough]) if order == 0 else self._quotients(x[rough], order)
            result[part] = values
        return result.reshape(z.shape)

    def _quotients(self, z: Array, order: int) -> Array:
        """Derivatives by differences of the formula; none across a jump."""
        reach = np.where(np.abs(z) >= self.end, 0.02 * np.abs(z), (1e-6, 1e-4, 1e-3)[order - 1] * self.length)
        weights = {1: (0.0, -0.5, 0.0, 0.5, 0.0), 2: (0.0, 1.0, -2.0, 1.0, 0.0), 3: (-0.5, 1.0, 0.0, -1.0, 0.5)}[order]
        total = sum(w * self.exactly(z + (k - 2) * reach) for k, w in enumerate(weights) if w)
        across = (np.abs(np.abs(z)[:, None] - self._jumps) <= 2 * reach[:, None]).any(axis=1)
        return np.where(across, 0.0, total / reach**order)

    def integral(self, z: ArrayLike) -> Array:
        """``∫₀^z f``."""
        values = np.asarray(z, dtype=np.float64)
        far = np.abs(values).ravel()
        place = np.minimum(far / self._step, len(self._rough) - 0.5)
        cell = place.astype(np.intp)
        inside = place - cell.astype(np.float64) - 0.5
        result = self._cumulative[cell] + _horner(self._primitive[cell], inside)
        by_formula = np.flatnonzero(self._rough[cell] | (far >= self.end))
        for k in by_formula:
            start = self.end if far[k] >= self.end else cell[k] * self._step
            base = self._cumulative[-1] if far[k] >= self.end else self._cumulative[cell[k]]
            result[k] = base + self._gauss(start, far[k])
        odd = self.parity > 0
        return (np.copysign(1.0, values.ravel()) * result if odd else result).reshape(values.shape)

    @property
    def _primitive(self) -> Array:
        """Coefficients of the integral from the left end of each cell."""
        if not hasattr(self, "_primitives"):
            values = self._coefficients[0] * self._step / np.arange(1, STENCIL + 1)
            constant = -(values @ (-0.5) ** np.arange(1, STENCIL + 1))
            self._primitives = np.column_stack([constant, values])
        return self._primitives

    @property
    def _cumulative(self) -> Array:
        if not hasattr(self, "_sums"):
            whole = _horner(self._primitive, np.full(len(self._rough), 0.5))
            for cell in np.flatnonzero(self._rough):
                whole[cell] = self._gauss(cell * self._step, (cell + 1) * self._step)
            self._sums = np.concatenate([[0.0], np.cumsum(whole)])
        return self._sums

    def _gauss(self, low: float, high: float) -> float:
        """``∫ f`` by Gauss's rule on parts: of growing length beyond the table, cut at jumps within it."""
        if low >= self.end:
            cuts = np.geomspace(low, high, 2 + int(math.log2(high / low))) if high > low else np.array([low, low])
        else:
            inside = self._jumps[(self._jumps > low) & (self._jumps < high)]
            cuts = np.unique(np.concatenate([np.linspace(low, high, 9), inside]))
        nodes, weights = np.polynomial.legendre.leggauss(12)
        middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
        return float(((self.exactly(middle[:, None] + half[:, None] * nodes) @ weights) * half).sum())


def _horner(rows: Array, t: Array) -> Array:
    """Polynomials, one per row with rising powers, each at its own t."""
    total = rows[:, -1].copy()
    for k in range(rows.shape[1] - 2, -1, -1):
        total *= t
        total += rows[:, k]
    return total
