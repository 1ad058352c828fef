r"""Quantiles of a distribution that knows its density but not its quantiles.

The density is integrated over parts that lengthen with the distance from the mean, from both ends inwards, so that
tails keep their relative accuracy. A quantile is then found by Newton's method in its part.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.model.validation import Array

REACH = 12.5
PARTS = 800
NEWTON = 8


class Inversion:
    """Quantiles at normal deviates, from a density with a given mean and standard deviation.

    >>> normal = Inversion(lambda x: np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), 0.0, 1.0)
    >>> normal(np.array([-3.0, 0.5])).round(10)
    array([-3. ,  0.5])
    """

    def __init__(self, density: Callable[[Array], Array], mean: float, deviation: float) -> None:
        self._density = density
        self._nodes, self._weights = np.polynomial.legendre.leggauss(10)
        self._edges = mean + deviation * np.sinh(np.linspace(-REACH, REACH, PARTS + 1))
        masses = self._mass(self._edges[:-1], self._edges[1:])
        self.total = float(masses.sum())
        self._below = np.concatenate([[0.0], np.cumsum(masses)])
        self._above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])

    def _mass(self, low: Array, high: Array) -> Array:
        middle, half = (low + high) / 2, (high - low) / 2
        return (self._density(middle[..., None] + half[..., None] * self._nodes) @ self._weights) * half

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        middle, half = (self._edges[1:] + self._edges[:-1]) / 2, np.diff(self._edges) / 2
        x = middle[:, None] + half[:, None] * self._nodes
        mass = self._density(x) * self._weights * half[:, None]
        mean = float((mass * x).sum())
        return mean, float(np.sqrt((mass * (x - mean) ** 2).sum()))

    def __call__(self, t: Array) -> Array:
        """The values that are exceeded as rarely as a standard normal exceeds t."""
        upper = t > 0
        wanted = ndtr(-np.abs(t))
        part = np.where(upper, self._part_above(wanted), self._part_below(wanted))
        low, high = self._edges[part], self._edges[part + 1]
        rest = np.where(upper, self._above[part] - wanted, wanted - self._below[part])
        first, x = low, (low + high) / 2
        for _ in range(NEWTON):
            excess, slope = self._mass(first, x) - rest, self._density(x)
            low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                guess = x - excess / slope
            x = np.where((guess >= low) & (guess <= high), guess, (low + high) / 2)
        return x

    def _part_below(self, wanted: Array) -> NDArray[np.intp]:
        return np.clip(np.searchsorted(self._below, wanted, side="right") - 1, 0, PARTS - 1)

    def _part_above(self, wanted: Array) -> NDArray[np.intp]:
        return np.clip(PARTS - np.searchsorted(self._above[::-1], wanted, side="right"), 0, PARTS - 1)

    def at(self, uniforms: Array) -> Array:
        """Quantiles at probabilities."""
        return self(ndtri(uniforms))
