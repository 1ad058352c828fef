"""Derivatives of losses by parameters, from a batch: raters a little apart that go through the matches side by side.

``∂ℓ_k/∂φ = (ℓ_k(φ + h) − ℓ_k(φ))/h``: a member for the rater itself and one for every parameter that is moved. They
share one kernel with a last axis for them, so that matches are read once and no derivative is written down.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import Slopes

Array = NDArray[np.float64]

FIRST_MEMBER = np.int64(0)
TWIN_DIFFERENCE = 1e-5
"""How far members of a batch stand apart, relative to a parameter or to a tenth of its range."""


class Move(NamedTuple):
    """A rater after a reset with one parameter a little away from its value, and how far."""

    twin: Any
    step: float


def moved_twins(rater: Any) -> dict[str, Move]:
    """By open parameter, twins of a rater that has been reset."""
    values = {p.name: rater.parameters_[p.name] for p in rater._open_parameters()}
    moves = {}
    for p in rater._open_parameters():
        step = TWIN_DIFFERENCE * (values[p.name] if p.positive else (p.high - p.low) / 10)
        step = step if values[p.name] + step <= p.high else -step
        twin = copy.copy(rater)
        twin._reset({**values, p.name: values[p.name] + step})
        moves[p.name] = Move(twin, step)
    return moves


def slopes_of(losses: Array, moved: Sequence[Array], moves: Mapping[str, Move]) -> Slopes:
    """Derivatives of the losses of a rater (n), from those of its moved twins in the same order."""
    by = np.empty((losses.size, len(moves)))
    for k, (there, move) in enumerate(zip(moved, moves.values(), strict=True)):
        by[:, k] = (there - losses) / move.step
    return Slopes(by, tuple(moves))
