"""The mean strength of those who have played lately, carried from match to match: ratings may count from it.

Who plays leaves with the strength he had and joins with the one he has then. Who has not played for too long leaves
when a day shows it; then all are counted anew, at most once a day.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import borrowing
from kinelo.raters.random_walk import TODAY

Array = NDArray[np.float64]


class Active(NamedTuple):
    """Whether each slot of a ``kind`` has played within ``days`` (slots), sum and number of their strengths (2), a day
    (1) that none of them has last played before, and room for their mean before each match (matches).
    """

    inside: NDArray[np.bool_]
    sums: Array
    oldest: NDArray[np.int64]
    mean: Array
    kind: int
    days: int


NO_ACTIVE = Active(np.empty(0, np.bool_), np.zeros(2), np.zeros(1, np.int64), np.empty(0), 0, 0)


@borrowing
def count_active(x, s, a):
    """Count anew who is active at the clock of the beliefs ``s``, whose strengths are ``x`` (slots)."""
    since, oldest = s.clock[TODAY] - a.days, s.clock[TODAY]
    a.sums[0] = a.sums[1] = 0.0
    for at in range(a.inside.size):
        last = s.last[at]
        a.inside[at] = s.kind[at] == a.kind and s.games[at] > 0 and last >= since
        if a.inside[at]:
            a.sums[0] += x[at]
            a.sums[1] += 1.0
            oldest = min(oldest, last)
    a.oldest[0] = oldest


@borrowing
def leave(lo, hi, slot, x, a):
    """Take those in a match, entries ``lo`` to ``hi``, out of the sum."""
    for e in range(lo, hi):
        at = slot[e]
        if a.inside[at]:
            a.inside[at] = False
            a.sums[0] -= x[at]
            a.sums[1] -= 1.0


@borrowing
def join(lo, hi, slot, x, s, a):
    """Take them in again as they are now, and those out who have not played for too long."""
    for e in range(lo, hi):
        at = slot[e]
        if s.kind[at] == a.kind:
            a.inside[at] = True
            a.sums[0] += x[at]
            a.sums[1] += 1.0
    if a.oldest[0] < s.clock[TODAY] - a.days:
        count_active(x, s, a)


@borrowing
def mean_active(a):
    """The mean (float); 0 where nobody has played."""
    return a.sums[0] / max(a.sums[1], 1.0)
