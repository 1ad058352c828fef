"""Matches forecast together, from what was known before any of them: those of a day whose order nobody knows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches


def forecast_until(matches: Matches) -> NDArray[np.int64]:
    """Where the matches end that each is forecast with: unordered ones of a day together, every other by itself.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]}
    >>> forecast_until(kn.read_matches(table | {"date": ["2024-05-01", "2024-05-01", "2024-05-02"]})).tolist()
    [2, 2, 3]
    """
    size, unordered, day = len(matches), matches.unordered, matches.day
    if unordered is None or not size:
        return np.arange(1, size + 1)
    joined = unordered[1:] & unordered[:-1] & (day[1:] == day[:-1])
    ends = np.append(np.flatnonzero(~joined) + 1, size)
    return np.repeat(ends, np.diff(ends, prepend=0))


def first_of_each(until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the matches begin that each is forecast with, from where they end.

    >>> first_of_each(np.array([2, 2, 3])).tolist()
    [0, 0, 2]
    """
    ends, count = np.unique(until, return_counts=True)
    return np.repeat(ends - count, count)
