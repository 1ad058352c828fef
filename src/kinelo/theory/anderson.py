"""Fixed points in fewer iterations: damped steps from afar, Anderson's mixing of the last few steps once near."""

from __future__ import annotations

import math

import numpy as np

from kinelo.model.validation import Array

NEAR = 0.1
LEAST_SHARE = 0.1


class Mixing:
    """Proposes the next point of an iteration x → g(x) from the last ``depth`` points and their images."""

    def __init__(self, depth: int = 5) -> None:
        self._depth, self._share, self._last = depth, 1.0, math.inf
        self._before: tuple[Array, Array] | None = None
        self._moves: list[Array] = []
        self._changes: list[Array] = []

    def propose(self, point: Array, image: Array, change: float) -> Array:
        """The next point, given the relative change from ``point`` to its image."""
        if change > self._last:
            self._share = max(0.6 * self._share, LEAST_SHARE)
        self._last = change
        step = image - point
        if change > NEAR:
            self._before = None
            self._moves.clear()
            self._changes.clear()
            return point + self._share * step
        if self._before is not None:
            self._moves.append(point - self._before[0])
            self._changes.append(step - self._before[1])
            del self._moves[: -self._depth], self._changes[: -self._depth]
        self._before = point, step
        return self._mixed(image, step) if self._moves else image

    def _mixed(self, image: Array, step: Array) -> Array:
        """The combination of past images whose steps cancel best."""
        changes = np.array(self._changes)
        # On the vectors themselves: products of steps that are hardly more than rounding settle nothing.
        weights = np.linalg.lstsq(changes.T, step, rcond=1e-10)[0]
        return image - weights @ changes - weights @ np.array(self._moves)
