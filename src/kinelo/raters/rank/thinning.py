"""A part of many contests on which parameters are estimated: the latest ones, and of large fields some entrants.

Whoever is left out of a field changes nothing in the order of the others, so that contests of some entrants follow the
same law as those of all. Entrants are chosen by their names and keep all their contests: who is new stays new, and who
returns does so as often. Fields are thinned before contests are, as far as a field remains.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.contests import Contests

LEAST_FIELD = 50
"""Entrants whom a typical field keeps: a place in a field of so many tells almost as much as in one of all."""


def thinned(contests: Contests, entries: int) -> Contests:
    """These contests where they have no more ``entries`` than that, else about so many of them."""
    if contests.entrant.size > entries:
        kept = max(entries / contests.entrant.size, LEAST_FIELD / typical_field(contests))
        contests = with_some_entrants(contests, kept)
    after = contests.entrant.size - contests.first[:-1]
    return contests if contests.entrant.size <= entries else contests[int(np.argmax(after <= entries)) :]


def typical_field(contests: Contests) -> float:
    """Size of the field in which a typical entry stands."""
    return float((contests.sizes.astype(float) ** 2).sum() / contests.sizes.sum())


def with_some_entrants(contests: Contests, part: float) -> Contests:
    """Contests with about this part of the entrants that they have, where two remain; teams stay whole.

    Names are chosen by a number made of their letters, up to a part of the largest: those chosen before can be thinned
    again.
    """
    slots = next(one for one in contests.slots.values() if not one.advantage)
    if part >= 1.0 or slots.codes.shape[1] > 1:
        return contests
    number = np.array([zlib.crc32(name.encode()) for name in slots.names], float)[slots.codes[:, 0]]
    return with_entries(contests, number < part * number.max())


def with_entries(contests: Contests, kept: NDArray[np.bool_]) -> Contests:
    """Contests with the entries that are kept (bool, entries), where there are two; places are those among them."""
    number = np.add.reduceat(kept, contests.first[:-1], dtype=np.int64)
    kept = kept & (number > 1)[contests.contest]
    first = np.append(0, np.cumsum(number[number > 1]))
    rest = replace(contests[number > 1], first=first)
    inner = contests._entries(np.flatnonzero(kept))
    place = inner.place.copy()
    for lo, hi in zip(first[:-1].tolist(), first[1:].tolist()):
        _, rank, count = np.unique(inner.place[lo:hi], return_inverse=True, return_counts=True)
        place[lo:hi] = (np.cumsum(count) - 0.5 * (count - 1))[rank]
    return replace(
        rest, entrant=inner.entrant, place=place, ended=inner.ended, slots=inner.slots, row=inner.row,
        distance=inner.distance,
    )  # fmt: skip
