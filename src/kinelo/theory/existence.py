r"""Whether any ratings can balance the results at all.

A balance exists iff ``Σ_{i∈S, j∉S} μ_i μ_j (1 − s_ij) > 0`` for every proper subset S. Since s is antisymmetric,
results inside S cancel, and the sum is ``μ(S) (1 − μ(S)) − Σ_{i∈S} μ_i t_i`` with the mean results
``t_i = Σ_j μ_j s_ij``. For a given mass the worst S therefore holds the teams with the largest t: one sort decides all
2^N conditions, for any closure. Where b stays below a supremum other than 1, that takes the place of 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.model.validation import Array

ROUNDING = 1e-14


def runaway_group(mean_result: Array, mass: Array, supremum: float = 1.0) -> NDArray[np.intp] | None:
    """Teams that score at least as much against the rest as infinitely high ratings would explain, or None.

    >>> runaway_group(np.array([0.5, -0.5]), np.array([0.5, 0.5]))  # the first team always wins
    array([0])
    >>> runaway_group(np.array([0.4, -0.4]), np.array([0.5, 0.5])) is None
    True
    """
    order = np.argsort(-mean_result, kind="stable")
    above = np.cumsum(mass[order])[:-1]
    below = 1 - above
    score = np.cumsum((mass * mean_result)[order])[:-1]
    slack = supremum - score / (above * below)
    worst = int(np.argmin(slack))
    return None if slack[worst] > ROUNDING else np.sort(order[: worst + 1])
