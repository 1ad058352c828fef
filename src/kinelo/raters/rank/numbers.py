"""Covariates of entrants, such as the weight that a horse carries: numbers whose worth is the same to everyone.

A column of numbers is one slot, that of a unit, in which each entrant has a share: how far its number lies from the
mean of its contest, in usual distances (the root mean square among the contests fitted, 1 without a fit). Places show
nothing of what all in a contest have in common.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests

A_UNIT = "a unit"
"""The name of the slot of a covariate."""
NO_UNITS: Mapping[str, float] = {}


def centred_numbers(contests: Contests, kind: str) -> NDArray[np.float64]:
    """The number of every entry less the mean of its contest.

    >>> from kinelo.matches.contest_reading import read_contests
    >>> table = {"race": [1, 1, 1], "horse": ["A", "B", "C"], "place": [1, 2, 3], "weight": [55, 57, 62]}
    >>> centred_numbers(read_contests(table, advantages=["weight"]), "weight").tolist()
    [-3.0, -1.0, 4.0]
    """
    slots = contests.slots[kind]
    try:
        levels = np.array([float(name.replace("−", "-")) for name in slots.names] + [math.nan])
    except ValueError as wrong:
        raise InputError(f"The covariate {kind!r} must hold numbers: {wrong}") from None
    if slots.codes.shape[1] != 1:
        raise InputError(f"The covariate {kind!r} must hold one number for each entrant.")
    numbers = levels[slots.codes[:, 0]]
    missing = int(np.sum(~np.isfinite(numbers)))
    if missing:
        raise InputError(f"The covariate {kind!r} is missing or not finite in {missing} rows.")
    sizes = np.diff(contests.first)
    mean = np.add.reduceat(numbers, contests.first[:-1]) / sizes if len(contests) else np.empty(0)
    return numbers - np.repeat(mean, sizes)


def usual_units(contests: Contests, covariates: Sequence[str]) -> dict[str, float]:
    """The root mean square of the distances of each covariate; 1 where there are none."""
    found = {}
    for kind in covariates:
        square = float(np.mean(centred_numbers(contests, kind) ** 2)) if contests.entrant.size else 0.0
        found[kind] = math.sqrt(square) or 1.0
    return found
