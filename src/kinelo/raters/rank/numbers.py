"""Covariates of entrants, such as the weight that a horse carries: numbers whose worth is the same to everyone.

A column of numbers is one slot, that of a unit, in which each entrant has a share: how far its number lies from the
mean of its contest, in usual distances (the root mean square among the contests fitted, 1 without a fit). Places show
nothing of what all in a contest have in common.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.kind import SIZE

A_UNIT = "a unit"
"""The name of the slot of a covariate."""
LEAST_LOG = 0.1
"""How far sizes, or playing times, must differ for that."""
LEAST_PART = 0.01
"""Part of all contests in which sizes differ, from which on it is said that they may count."""
NO_UNITS: Mapping[str, float] = {}


def centred_numbers(contests: Contests, kind: str) -> NDArray[np.float64]:
    """The number of every entry less the mean of its contest.

    >>> from kinelo.matches.reading import read_contests
    >>> table = {"race": [1, 1, 1], "horse": ["A", "B", "C"], "place": [1, 2, 3], "weight": [55, 57, 62]}
    >>> centred_numbers(read_contests(table, advantages=["weight"]), "weight").tolist()
    [-3.0, -1.0, 4.0]
    """
    slots = contests.slots[kind]
    try:
        levels = np.array([float(name.replace("−", "-")) for name in slots.names] + [math.nan])
    except ValueError as wrong:
        raise InputError(f"The covariate {kind!r} must hold numbers: {wrong}") from None
    if ((slots.codes != slots.codes[:, :1]) & (slots.codes >= 0)).any():  # rows of a team all say the same
        raise InputError(f"The covariate {kind!r} must hold one number for each entrant.")
    numbers = levels[slots.codes[:, 0]]
    missing = int(np.sum(~np.isfinite(numbers)))
    if missing:
        raise InputError(f"The covariate {kind!r} is missing or not finite in {missing} rows.")
    sizes = np.diff(contests.first)
    mean = np.add.reduceat(numbers, contests.first[:-1]) / sizes if len(contests) else np.empty(0)
    return numbers - np.repeat(mean, sizes)


def with_size(contests: Contests, covariates: Container[str]) -> Contests:
    """Contests with the size of every team as an advantage, where that is a covariate and no column of its own.

    A team is as strong as the mean of its members, plus ``b log(size)``: between the mean (``b = 0``) and more than
    the sum. Where it is said how long each played, they count for that.
    """
    if SIZE not in covariates or SIZE in contests.slots:
        return contests
    logs = log_sizes(contests)
    values, codes = np.unique(logs, return_inverse=True)
    size = Slots(codes.reshape(-1, 1).astype(np.int32), tuple(str(value) for value in values.tolist()), True)
    return replace(contests, slots={**contests.slots, SIZE: size})


def log_sizes(contests: Contests) -> NDArray[np.float64]:
    """The logarithm of how many play for every entrant; of those with minutes, of how long they did together.

    >>> from kinelo.raters.one_contest import contest_of
    >>> one = contest_of([["Ann", "Bob"], ["Cid"]], None, None, np.datetime64("2024-05-01"), ("player",))
    >>> log_sizes(one).round(3).tolist()
    [0.693, 0.0]
    """
    first = next(slots for slots in contests.slots.values() if not slots.advantage)
    played, there = first.playing().sum(axis=1), (first.codes >= 0).sum(axis=1)
    if first.minutes is not None:  # of a contest in which some are not known, heads are counted
        unknown = np.isnan(np.where(first.codes >= 0, first.minutes, 0.0)).any(axis=1) | (played <= 0.0)
        some = np.logical_or.reduceat(unknown, contests.first[:-1]) if len(contests) else np.empty(0, bool)
        played = np.where(np.repeat(some, contests.sizes), there, played)
    return np.log(np.maximum(played, np.finfo(float).tiny))


def sizes_differ(contests: Contests) -> int:
    """In how many contests teams are of different sizes, where these are more than a few; else 0."""
    if not len(contests):
        return 0
    logs = log_sizes(contests)
    low, high = (of.reduceat(logs, contests.first[:-1]) for of in (np.minimum, np.maximum))
    number = int(np.count_nonzero(high - low > LEAST_LOG))
    return number if number > LEAST_PART * len(contests) else 0


def usual_units(contests: Contests, covariates: Sequence[str]) -> dict[str, float]:
    """The root mean square of the distances of each covariate; 1 where there are none."""
    found = {}
    for kind in covariates:
        square = float(np.mean(centred_numbers(contests, kind) ** 2)) if contests.entrant.size else 0.0
        found[kind] = math.sqrt(square) or 1.0
    return found
