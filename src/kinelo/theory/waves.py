r"""Sums over all pairs of teams in O(N Q): every function of a rating difference is a sum of Q waves.

With ``φ_j(u) = e^{iu x_j − u² v_j / 2}`` for a rating of mean x and variance v,
``Σ_j c_j E b(Δ_ij) = Im Σ_q W_q φ_i(u_q) C̄_q`` with ``C_q = Σ_j c_j φ_j(u_q)``, and b' replaces W by uW and Im by Re.
The nodes are equidistant, so each wave is the last one times a fixed factor: no exponentials, memory O(N).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinelo.model.expectation import spectral_nodes
from kinelo.model.outcome import Outcome
from kinelo.model.spectrum import SpectralNodes
from kinelo.model.strength import Complex
from kinelo.model.validation import Array

WAVE_BLOCK = 8192


def wave_nodes(outcome: Outcome, span: float, spread: float = 0.0) -> SpectralNodes:
    """Nodes for differences up to ``span`` with normal parts of at most ``spread`` each."""
    return spectral_nodes(outcome, span + 12.2 * spread)


class Waves:
    """The waves of teams at ``positions`` with ``variances`` (None for none)."""

    def __init__(self, positions: Array, variances: Array | None, nodes: SpectralNodes) -> None:
        self.nodes, self.u, self.step = nodes, nodes.u, nodes.step
        self.centre = float(positions.max() + positions.min()) / 2
        self._positions = positions - self.centre
        self._variances = variances

    def _blocks(self) -> Iterator[tuple[slice, Complex, Complex, Array | None]]:
        for first in range(0, self._positions.size, WAVE_BLOCK):
            part = slice(first, first + WAVE_BLOCK)
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
