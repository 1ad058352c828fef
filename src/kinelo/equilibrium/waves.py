r"""Sums over all pairs of teams in O(N Q): every function of a rating difference is a sum of Q waves.

With ``φ_j(u) = e^{iu x_j − u² v_j / 2}`` for a rating of mean x and variance v,
``Σ_j c_j E b(Δ_ij) = Im Σ_q W_q φ_i(u_q) C̄_q`` with ``C_q = Σ_j c_j φ_j(u_q)``, and b' replaces W by uW and Im by Re.
The nodes are equidistant, so each wave is the last one times a fixed factor: no exponentials, memory O(N).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinelo.model.expectation import spectral_nodes
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Complex
from kinelo.model.validation import Array

BLOCK = 8192


def wave_step(outcome: Outcome, span: float, spread: float = 0.0) -> tuple[float, int]:
    """Step and number of nodes for differences up to ``span`` with normal parts of at most ``spread`` each."""
    u = spectral_nodes(outcome, span + 12.2 * spread).u
    return 2 * float(u[0]), u.size


class Waves:
    """The waves of teams at ``positions`` with ``variances`` (None for none), at nodes ``u = (q + ½) step``."""

    def __init__(self, positions: Array, variances: Array | None, step: float, count: int) -> None:
        self.step = step
        self.u: Array = (np.arange(count, dtype=np.float64) + 0.5) * step
        self.centre = float(positions.max() + positions.min()) / 2
        self._positions = positions - self.centre
        self._variances = variances

    def _blocks(self) -> Iterator[tuple[slice, Complex, Complex, Array | None]]:
        for first in range(0, self._positions.size, BLOCK):
            part = slice(first, first + BLOCK)
            turn = np.exp(1j * self.step * self._positions[part])
            wave = np.exp(0.5j * self.step * self._positions[part])
            if self._variances is None:
                yield part, wave, turn, None
                continue
            damping = np.exp(-(self.step**2) * self._variances[part])
            wave *= np.exp(-(self.step**2) * self._variances[part] / 8)
            turn *= damping
            yield part, wave, turn, damping

    def sums(self, coefficients: Array) -> Complex:
        """``C_q = Σ_j c_j φ_j(u_q)`` for each row of coefficients."""
        total = np.zeros((len(coefficients), self.u.size), dtype=np.complex128)
        for part, wave, turn, damping in self._blocks():
            rows = coefficients[:, part]
            for q in range(self.u.size):
                total[:, q] += rows @ wave.real + 1j * (rows @ wave.imag)
                wave *= turn
                if damping is not None:
                    turn *= damping
        return total

    def values(self, amplitudes: Complex) -> Complex:
        """``Σ_q φ_i(u_q) Ā_q`` for each row of amplitudes."""
        total = np.zeros((len(amplitudes), self._positions.size), dtype=np.complex128)
        conjugate = amplitudes.conj()
        for part, wave, turn, damping in self._blocks():
            for q in range(self.u.size):
                for row, amplitude in zip(total, conjugate[:, q]):
                    row[part] += amplitude * wave
                wave *= turn
                if damping is not None:
                    turn *= damping
        return total


def normal_waves(centred: Array, variances: Array | float, u: Array) -> Complex:
    """``φ_i(u_q)`` as a full matrix, for leagues small enough; positions are taken about a common centre."""
    phase = 1j * np.multiply.outer(centred, u)
    return np.exp(phase - np.multiply.outer(np.broadcast_to(variances, np.shape(centred)), u**2) / 2)


def square_weight(outcome: Outcome, u: Array) -> Array:
    """``V(u)`` of ``1 − b(z)² = ∫ V(u) cos(uz) du``, by the trapezoidal rule, which is exact here to rounding."""
    z = np.arange(0.0, outcome.saturation, 0.05 / outcome.nu)
    values = 1 - outcome.b(z) ** 2
    values[0] /= 2
    return 2 / math.pi * (np.cos(np.multiply.outer(u, z)) @ values) * z[1]
