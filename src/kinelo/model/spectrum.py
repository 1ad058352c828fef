r"""Functions of a difference of performances as sums of waves, which separate into one factor per team.

On differences up to ``span``, ``b(z) = Σ_q sine_q sin(u_q z)`` at equidistant ``u_q = (q + ½) h``, and in the same way
ties and ``1 − b²`` are sums of cosines.

A law with a known transform W has ``sine_q = h W(u_q)``: the sum is then a square wave whose flanks lie beyond the
span. For any other law only its values up to the span count: beyond it b is led smoothly into a constant, ties and
``1 − b²`` into zero, and reflected at z₀ = π/h. What results is periodic and as smooth as the law, its coefficients are
those of a discrete sine transform, and tails of the law, however heavy, never enter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinelo.model.validation import Array

EDGE = 6.1
"""Widths after which a step of the error function is complete in double precision."""

NORMAL_REACH = 6.1
"""Frequencies beyond this many over σ are damped to nothing by a normal part of spread σ in both sides."""

HEARD_OF_TANH = 18.0
"""The frequency below which tanh(z) is heard to twelve digits."""

MOST_SPECTRAL_NODES = 1 << 20
"""Nodes of a sum, far more than any league of sportsmen needs."""

FINEST_SAMPLES = 1 << 17
FADED = 4e-16


@dataclass(frozen=True)
class SpectralNodes:
    """Nodes ``u`` with the weights of b (``sine``), of ties (``cosine``) and, when asked for, of 1 − b²."""

    u: Array
    sine: Array
    cosine: Array
    make_square: Callable[[Array], Array]

    def __getitem__(self, part: slice) -> SpectralNodes:
        """Some of the nodes."""
        return SpectralNodes(self.u[part], self.sine[part], self.cosine[part], lambda _: self.square[part])

    @property
    def step(self) -> float:
        """Distance of the nodes."""
        return 2 * float(self.u[0])

    @cached_property
    def square(self) -> Array:
        """Weights of ``1 − b(z)²`` as a sum of cosines."""
        return self.make_square(self.u)


def extended_nodes(
    b: Callable[[Array], Array],
    tie: Callable[[Array], Array] | None,
    length: float,
    span: float,
    least_sigma: float,
) -> SpectralNodes:
    """Nodes for any b that turns on the scale ``length``, by extension beyond the span."""
    from scipy.fft import dct, dst
    from scipy.special import erfc

    width = max(0.75 * length, 0.02 * span)
    turn = span + 2 * EDGE * width
    count = 1 << max(8, math.ceil(math.log2(6 * turn / length)))
    while True:
        z = (np.arange(count, dtype=np.float64) + 0.5) * (turn / count)
        beyond = erfc((span + EDGE * width - z) / width) / 2
        values = b(z)
        sine = np.asarray(dst(values + beyond * (b(np.array([turn])) - values), type=4)) / count
        square = np.asarray(dct((1 - values**2) * (1 - beyond), type=4)) / count
        cosine = np.zeros(count) if tie is None else np.asarray(dct(tie(z) * (1 - beyond), type=4)) / count
        size = np.maximum(np.maximum(np.abs(sine), np.abs(cosine)), np.abs(square))
        if size[3 * count // 4 :].max() <= 10 * FADED * size.max() or count >= FINEST_SAMPLES:
            break
        count *= 2
    needed = 1 + int(np.flatnonzero(size > FADED * size.max())[-1])
    if least_sigma > 0:
        needed = min(needed, math.ceil(NORMAL_REACH / least_sigma * turn / math.pi))
    needed = min(max(8, needed), count)
    u = (np.arange(needed, dtype=np.float64) + 0.5) * (math.pi / turn)
    return SpectralNodes(u, sine[:needed], cosine[:needed], lambda _: square[:needed])


def finest_length(function: Callable[[Array], Array], length: float, parity: int) -> float:
    """Length that quadratures must resolve, on the scale on which it is 1/ν for tanh(νz).

    It is taken from the frequency beyond which a function that turns on the scale ``length`` has nothing left to twelve
    digits. A corner has no such frequency; the answer is then as little as a quadrature can afford.
    """
    from scipy.fft import dct, dst
    from scipy.special import erfc

    width, count = 0.75 * length, 4096
    turn = (8 + 2 * EDGE) * length
    z = (np.arange(count, dtype=np.float64) + 0.5) * (turn / count)
    beyond = erfc((8 * length + EDGE * width - z) / width) / 2
    values, end = function(z), function(np.array([turn])) if parity < 0 else 0.0
    size = np.abs(np.asarray((dst if parity < 0 else dct)(values + beyond * (end - values), type=4)))
    heard = float(np.flatnonzero(size > 1e-12 * size.max())[-1] + 1) * math.pi / turn
    return max(HEARD_OF_TANH / heard, 0.1 * length)
