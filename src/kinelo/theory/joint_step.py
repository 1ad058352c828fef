r"""Newton's step for the means and variances of ratings together.

The drift of a team and the variance ``V`` that its equation gives depend on the means and variances of all. For the
step, V is taken to change as that of independent ratings, ``γ Q_ii / 2A_ii``, does; what correlations add comes with
the next iteration. So few iterations suffice even where noise is large and moves the means far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from kinelo.model.validation import Array
from kinelo.theory.pair_means import Bends, PairMeans, laplacian


class Aim(NamedTuple):
    """A linear condition on the means, which γ is to meet: what it weighs them by, and what it misses."""

    weights: Array
    missing: float


class JointStep(NamedTuple):
    """Changes of the means, of the variances, and of γ where it has an aim."""

    rating: Array
    variance: Array
    gamma: float


def joint_step(
    means: PairMeans,
    bends: Bends,
    weights: Array,
    mass: Array,
    variance: Array,
    implied: Array,
    gamma: float,
    aim: Aim | None,
) -> JointStep:
    """Solve ``drift = 0`` and ``v = V`` to first order; ``implied`` is V, ``weights`` are those of opponents."""
    drift, slope, shake = means.drift * weights, means.slope * weights, means.shake * weights
    second, third, first, bend = (one * weights for one in bends)
    n, unknowns = variance.size, 2 * variance.size + (aim is not None)
    held, shaken = slope.sum(axis=1)[:, None], shake.sum(axis=1)[:, None]
    matrix, right = np.zeros((unknowns, unknowns)), np.zeros(unknowns)
    # A shift of all means changes nothing; it is held at 0.
    matrix[:n, :n] = laplacian(slope) + held.max() * mass
    matrix[:n, n : 2 * n] = -_widening(second)
    matrix[n : 2 * n, :n] = -implied[:, None] * (laplacian(first) / shaken + laplacian(second) / held)
    matrix[n : 2 * n, n : 2 * n] = np.eye(n) - implied[:, None] * (_widening(bend) / shaken + _widening(third) / held)
    right[:n], right[n : 2 * n] = drift.sum(axis=1), implied - variance
    if aim is not None:
        matrix[n : 2 * n, -1], matrix[-1, :n], right[-1] = -implied / gamma, aim.weights, aim.missing
    found: Array = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    if not np.isfinite(found).all():
        raise LinAlgError("no step leads nearer")
    return JointStep(found[:n], found[n : 2 * n], 0.0 if aim is None else float(found[-1]))


def _widening(pairs: Array) -> Array:
    """Matrix of ``h → ½ Σ_j pairs_ij (h_i + h_j)``: the variance of a difference is the sum of two."""
    return (np.diag(pairs.sum(axis=1)) + pairs) / 2
