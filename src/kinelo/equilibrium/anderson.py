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
        self._points: list[Array] = []
        self._steps: list[Array] = []

    def propose(self, point: Array, image: Array, change: float) -> Array:
        """The next point, given the relative change from ``point`` to its image."""
        if change > self._last:
            self._share = max(0.6 * self._share, LEAST_SHARE)
        self._last = change
        if change > NEAR:
            self._points.clear()
            self._steps.clear()
            return point + self._share * (image - point)
        self._points.append(point)
        self._steps.append(image - point)
        del self._points[: -self._depth - 1], self._steps[: -self._depth - 1]
        return self._mixed(image) if len(self._points) > 1 else image

    def _mixed(self, image: Array) -> Array:
        """The combination of past images whose steps cancel best."""
        steps = np.array(self._steps)
        changes, moves = np.diff(steps, axis=0), np.diff(np.array(self._points), axis=0)
        weights = np.linalg.lstsq(changes.T, steps[-1], rcond=1e-10)[0]
        return image - weights @ (moves + changes)
