"""Matches as lists of entries: which slot takes part in a match, and with what share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Entries(NamedTuple):
    """Entries of match ``g`` at ``offsets[g]:offsets[g + 1]``: slots (int64), and shares with a sign.

    The sign tells the side: those with positive shares are mates of one another, and foes of those with negative ones.
    A slot occurs once in a match. A negative slot stands for somebody who has never been met: ``−1 − kind``.
    """

    offsets: NDArray[np.int64]
    slot: NDArray[np.int64]
    share: Array

    def of(self, first: int, last: int) -> Entries:
        """The entries of matches ``first`` to ``last − 1``."""
        lo, hi = self.offsets[first], self.offsets[last]
        return Entries(self.offsets[first : last + 1] - lo, self.slot[lo:hi], self.share[lo:hi])


NO_ENTRIES = Entries(np.zeros(0, np.int64), np.empty(0, np.int64), np.empty(0))


def entries_of(columns: Sequence[tuple[NDArray[np.int64], float, NDArray[np.bool_] | None]]) -> Entries:
    """Entries of matches from columns: a slot for every match, its share, and where it takes part (None: everywhere).

    >>> entries_of([(np.array([3, 4]), 1.0, None), (np.array([5, 5]), -1.0, np.array([True, False]))]).offsets.tolist()
    [0, 2, 3]
    """
    size = len(columns[0][0])
    slots = np.column_stack([slot for slot, _, _ in columns])
    # A copy: of no matches a view would remain, which cannot be written to and is of another type in compiled code.
    share = np.array(np.broadcast_to(np.array([share for _, share, _ in columns]), slots.shape))
    if all(there is None for _, _, there in columns):
        offsets = np.arange(size + 1, dtype=np.int64) * len(columns)
        return Entries(offsets, slots.astype(np.int64).ravel(), share.ravel())
    there = np.column_stack([np.ones(size, np.bool_) if at is None else at for _, _, at in columns])
    offsets = np.append(0, np.cumsum(there.sum(axis=1)))
    return Entries(offsets, slots[there].astype(np.int64), share[there])


class Rotations(NamedTuple):
    """Line-ups of which one will play, unknown which: the spread of their strengths joins a forecast's variance.

    Match ``g`` has the sides ``sides[g]:sides[g + 1]``, side ``k`` the line-ups ``lineups[k]:lineups[k + 1]`` and the
    factor ``trust[k]`` on the spread, line-up ``r`` the entries ``offsets[r]:offsets[r + 1]``.
    """

    sides: NDArray[np.int64]
    trust: Array
    lineups: NDArray[np.int64]
    offsets: NDArray[np.int64]
    slot: NDArray[np.int64]
    share: Array


NO_ROTATIONS = Rotations(
    np.zeros(0, np.int64), np.empty(0), np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0)
)


class Observations(NamedTuple):
    """Matches as the filter sees them: days (int) and weights (matches each), and what they show, ``y`` (matches, with
    a last axis of members where there are several). ``mean`` and ``variance`` receive what was expected of ``y``,
    without its noise.
    """

    day: NDArray[np.int64]
    weight: Array
    y: Array
    mean: Array
    variance: Array


def observed(day: NDArray[np.int64], weight: Array, y: Array) -> Observations:
    """Matches of which nothing was expected yet."""
    return Observations(day, weight, y, np.empty(y.shape), np.empty(y.shape))


def most_entries(*lists: Entries) -> int:
    """Length of the longest list among those of all matches."""
    sizes = (one.offsets for one in lists if one.offsets.size)
    return max((int(at[1] if at.size == 2 else np.diff(at).max(initial=0)) for at in sizes), default=0)
