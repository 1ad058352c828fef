"""Rows that repeat the date and the sides of an earlier row."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

SLOTS = 4096


@njit(cache=True, nogil=True)
def _mark_by_day(day, home, away, repeated, slot_run, slot_pair, slot_row):
    """Mark repeats with a small hash table for the pairs of one day, which the next day takes over as it stands.

    Gives up with False where days are out of order or one has too many matches for the table. ``day``, ``home``,
    ``away`` (int) and ``repeated`` (bool) are (matches); ``slot_…`` (int64) are the table, a power of two long.
    """
    mask = slot_run.size - 1
    run = 1
    today = 0
    for k in range(day.size):
        if k > 0 and day[k] < day[k - 1]:
            return False
        if k > 0 and day[k] > day[k - 1]:
            run += 1
            today = 0
        today += 1
        if 2 * today > slot_run.size:
            return False
        pair = (np.int64(home[k]) << 32) + away[k]
        at = ((pair * 0x9E3779B1) >> 20) & mask
        while slot_run[at] == run and slot_pair[at] != pair:
            at = (at + 1) & mask
        if slot_run[at] == run:
            repeated[k] = True
            repeated[slot_row[at]] = True
        else:
            slot_run[at] = run
            slot_pair[at] = pair
            slot_row[at] = k
    return True


def repeated_meetings(
    day: NDArray[np.int64], home: NDArray[np.int32], away: NDArray[np.int32], sides: int
) -> NDArray[np.bool_]:
    """Whether another row has the same day and the same sides at home and away.

    >>> repeated_meetings(np.array([1, 1, 1, 2]), np.array([0, 1, 0, 0]), np.array([1, 0, 1, 1]), 2).tolist()
    [True, False, True, False]
    """
    repeated = np.zeros(day.size, bool)
    slots = np.zeros((3, SLOTS), np.int64)
    if _mark_by_day(day, home, away, repeated, slots[0], slots[1], slots[2]):
        return repeated
    size = np.int64(sides + 1)
    key = (day * size + home) * size + away
    ordered = np.sort(key)
    return np.isin(key, ordered[1:][ordered[1:] == ordered[:-1]])
