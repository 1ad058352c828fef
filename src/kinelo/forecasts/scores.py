"""How good a forecast was, match by match.

With forecast ``p`` and outcome ``o`` (home win, draw, away win): log-loss ``−Σ o log p``, Brier ``Σ (p − o)²``,
ranked probability score ``½ Σ_k (Σ_{i≤k} p_i − o_i)²`` with ``k = 1, 2``, and whether the likeliest outcome happened.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST_CHANCE = 1e-12


def outcome_shares(result: Array) -> Array:
    """Rows (home win, draw, away win) of a result in [0, 1]; one between two outcomes counts for both in part.

    >>> outcome_shares(np.array([1.0, 0.5, 0.375])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.75, 0.25]]
    """
    signed = 2.0 * result - 1.0
    return np.column_stack([np.maximum(signed, 0.0), 1.0 - np.abs(signed), np.maximum(-signed, 0.0)])


def log_loss(probabilities: Array, result: Array) -> Array:
    """``−log`` of the probability that was given to what happened."""
    signed = 2.0 * result - 1.0
    decided = np.where(signed > 0.0, probabilities[:, 0], probabilities[:, 2])
    part = np.abs(signed)
    loss = -part * np.log(np.maximum(decided, SMALLEST_CHANCE))
    if (part < 1.0).any():
        loss -= (1.0 - part) * np.log(np.maximum(probabilities[:, 1], SMALLEST_CHANCE))
    return loss


def brier(probabilities: Array, result: Array) -> Array:
    """Squared distance between the forecast and what happened."""
    return ((probabilities - outcome_shares(result)) ** 2).sum(axis=1)


def ranked_probability(probabilities: Array, result: Array) -> Array:
    """Ranked probability score: a draw is nearer to a win than a loss is."""
    gap = np.cumsum(probabilities - outcome_shares(result), axis=1)[:, :2]
    return 0.5 * (gap**2).sum(axis=1)


def accuracy(probabilities: Array, result: Array) -> Array:
    """Whether the likeliest outcome is the one that happened."""
    return outcome_shares(result)[np.arange(result.size), probabilities.argmax(axis=1)]


METRICS: dict[str, Callable[[Array, Array], Array]] = {
    "log_loss": log_loss,
    "brier": brier,
    "rps": ranked_probability,
    "accuracy": accuracy,
}
