"""The law of margins around what was expected of them, from the matches fitted.

Surprises ``z = (y − μ)/√(V + noise²)`` have mean square 1, but they need not be normal: where nobody draws there is a
hole around an even score, and a power of the margin moves weight from the tails to the shoulders. The law is the
increasing odd function ``T`` that makes surprises of normal deviates, ``z = T(g)``: at deviates 0, 0.1, …, 3 it is the
quantile of ``|z|`` that belongs to ``|g|``, straight in between and in proportion beyond. A hundred normal surprises
are taken for seen before the first, so that a short table stays near the normal law.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]
NODES = np.linspace(0.0, 3.0, 31)
BEFORE = 100
LEAST_RISE = 1e-9


class MarginLaw:
    """``T`` by its values at the nodes; the normal law where nothing is given.

    >>> law = MarginLaw()
    >>> float(law.surprise(np.array([-1.0]))[0]), float(law.deviate(np.array([2.5]))[0])
    (-1.0, 2.5)
    """

    def __init__(self, values: Array | None = None) -> None:
        self.values = NODES.copy() if values is None else np.asarray(values, float)

    @classmethod
    def of(cls, surprises: Array) -> MarginLaw:
        """The law of surprises that were seen; those that are not finite say nothing."""
        size = np.abs(surprises[np.isfinite(surprises)])
        before = ndtri(0.5 + (np.arange(BEFORE) + 0.5) / (2.0 * BEFORE))
        quantiles = np.quantile(np.concatenate([size, before]), 2.0 * ndtr(NODES) - 1.0)
        quantiles[0] = 0.0
        return cls(np.maximum.accumulate(quantiles + LEAST_RISE * NODES))

    def surprise(self, g: Array) -> Array:
        """``T(g)``."""
        return np.sign(g) * _straight(np.abs(g), NODES, self.values)

    def deviate(self, z: Array) -> Array:
        """The ``g`` with ``T(g) = z``."""
        return np.sign(z) * _straight(np.abs(z), self.values, NODES)


def _straight(at: Array, x: Array, y: Array) -> Array:
    """Straight lines through points, in proportion beyond the last."""
    return np.where(at > x[-1], at * (y[-1] / x[-1]), np.interp(at, x, y))
