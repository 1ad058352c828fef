"""The mean strength of those who have played lately, carried from match to match: ratings may count from it.

They stand in a ring in the order in which they last played. Who plays leaves it with the strength he had and joins at
the end with the one he has then; who has not played for too long leaves it at the front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import borrowing

Array = NDArray[np.float64]


class Active(NamedTuple):
    """Slots of a ``kind`` that have played within ``days``: who comes after and before each in the ring, which begins
    and ends at the last place (slots + 1, −1 outside of it), sum and number of their strengths (2), and room for their
    mean before each match (matches).
    """

    after: NDArray[np.int64]
    before: NDArray[np.int64]
    sums: Array
    mean: Array
    kind: int
    days: int


NO_ACTIVE = Active(np.empty(0, np.int64), np.empty(0, np.int64), np.zeros(2), np.empty(0), 0, 0)


def ring_of(slots: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who comes after and before each of ``size`` slots in a ring of some in this order.

    >>> [one.tolist() for one in ring_of(np.array([2, 0]), 3)]
    [[3, -1, 0, 2], [2, -1, 3, 0]]
    """
    after, before = np.full(size + 1, -1), np.full(size + 1, -1)
    ring = np.concatenate([[size], slots, [size]])
    after[ring[:-1]], before[ring[1:]] = ring[1:], ring[:-1]
    return after, before


@borrowing
def take_out(at, x, a):
    """Let one who is in the ring leave it."""
    after, before = a.after[at], a.before[at]
    a.after[before], a.before[after], a.after[at] = after, before, -1
    a.sums[0] -= x[at]
    a.sums[1] -= 1.0


@borrowing
def leave(lo, hi, slot, x, a):
    """Let those in a match, entries ``lo`` to ``hi``, leave with their strengths ``x`` (slots)."""
    for e in range(lo, hi):
        if a.after[slot[e]] >= 0:
            take_out(slot[e], x, a)


@borrowing
def join(lo, hi, slot, x, kinds, last, today, a):
    """Let them join again as they are now, and let those leave who have not played for too long.

    ``kinds`` and days played ``last`` are by slot, and matches have come to the day ``today`` (int).
    """
    end = a.after.size - 1
    for e in range(lo, hi):
        at = slot[e]
        if kinds[at] == a.kind:
            latest = a.before[end]
            a.after[latest], a.before[at], a.after[at], a.before[end] = at, latest, end, at
            a.sums[0] += x[at]
            a.sums[1] += 1.0
    while a.after[end] != end and last[a.after[end]] < today - a.days:
        take_out(a.after[end], x, a)


@borrowing
def mean_active(a):
    """The mean (float); 0 where nobody has played."""
    return a.sums[0] / max(a.sums[1], 1.0)
