"""Powers and parts of runs that several figures of the literature measure alike."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from kinelo.model.validation import Array

SMALLEST = 3
"""Laws for small steps are fitted to so many of the smallest that were played."""
BURN_IN = 0.25
"""Part of a run that is left out, as its way to the equilibrium."""


class PowerLaw(NamedTuple):
    """``y ∝ x^power`` by weighted least squares on logarithms, with the standard error of the power."""

    power: float
    error: float


def power_law(x: Array, y: Array, error: Array) -> PowerLaw:
    """Fit a power; ``error`` are the standard errors of y.

    >>> power_law(np.array([1.0, 4.0, 9.0]), np.array([2.0, 4.0, 6.0]), np.full(3, 0.1)).power
    0.5
    """
    weight = (y / error) ** 2
    log_x, log_y = np.log(x), np.log(y)
    centred = log_x - np.average(log_x, weights=weight)
    spread = float((weight * centred**2).sum())
    return PowerLaw(round(float((weight * centred * log_y).sum()) / spread, 12), 1 / math.sqrt(spread))
