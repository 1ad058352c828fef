"""Strengths given everything before and after: the exact smoother of the filter with covariance.

After a match the filter believes ``N(x, C)``. What the later matches say of that moment is gathered backwards in ``r``
and ``N`` (Bryson and Frazier; de Jong): the smoothed belief is ``N(x + C r, C − C N C)``. Through a match with gain
``K``, shares ``h``, surprise ``v``, variance ``S`` and ``L = I − K hᵀ/S``: ``r ← h v/S + Lᵀ r`` and ``N ← h hᵀ/S + Lᵀ
N L``. Through a change ``x' = F x + noise``: ``r ← Fᵀ r``, ``N ← Fᵀ N F``. As ``h`` has few entries, a match costs one
product ``N K``. Kinds that are kept apart stay as they were seen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.play.formula import inner, kernel
from kinelo.raters.filter.alone import LEVEL_SLOT

Array = NDArray[np.float64]
MOST_BYTES = 3e9


def check_room(matches: int, rows: int, points: int) -> None:
    """Refuse what would not fit into memory."""
    if 8.0 * rows * (matches + points * rows) > MOST_BYTES:
        raise InputError(
            f"Hindsight over {matches:,} matches of {rows:,} names needs more memory than is sensible; "
            "ask for fewer matches or points."
        )


@inner
def through_match(g, played, row, steps, r, N, NK):
    """Take ``r`` (n) and ``N`` (n, n) back through match ``g``; ``NK`` (n) is room to work in."""
    lo, hi, slot, share = played.offsets[g], played.offsets[g + 1], played.slot, played.share
    K, surprise, S = steps.K[g], steps.surprise[g], steps.S[g]
    pull = quadratic = 0.0
    for a in range(r.size):
        pull += K[a] * r[a]  # Kᵀ r
        NK[a] = 0.0
        for b in range(r.size):
            NK[a] += N[a, b] * K[b]
        quadratic += K[a] * NK[a]  # Kᵀ N K
    for e in range(lo, hi):
        at = row[slot[e]]
        if at >= 0:
            r[at] += share[e] * (surprise - pull) / S  # r ← h v/S + Lᵀ r
            for a in range(r.size):  # Lᵀ N L: − N K hᵀ/S and its transpose
                N[a, at] -= NK[a] * share[e] / S
                N[at, a] -= NK[a] * share[e] / S
    for e in range(lo, hi):
        for other in range(lo, hi):
            a, b = row[slot[e]], row[slot[other]]
            if a >= 0 and b >= 0:
                N[a, b] += share[e] * share[other] * (1.0 / S + quadratic / (S * S))  # h hᵀ/S + h KᵀNK hᵀ/S²


@inner
def propagated_gift(at, ref, part, r, N):
    """Hand on to ``ref`` what the future says of a newcomer who was given ``part`` (float) of him."""
    r[ref] += part * r[at]
    for a in range(r.size):
        N[a, ref] += part * N[a, at]
    for a in range(r.size):
        N[ref, a] += part * N[at, a]


@inner
def through_entry(e, g, played, counts, row, steps, r, N):
    """Take ``r`` (n) and ``N`` (n, n) back through the entry of a newcomer: nothing before it depends on what he is."""
    slot, share = played.slot, played.share
    at = row[slot[e]]
    if at < 0:
        return
    mates, foes, part = steps.given[e, 0], steps.given[e, 1], steps.given[e, 2]
    if part != 0.0:
        propagated_gift(at, row[LEVEL_SLOT], part, r, N)
    for other in range(played.offsets[g], played.offsets[g + 1]):
        if not steps.fresh[other] and counts[slot[other]]:
            lean = abs(share[other]) * (mates if share[other] * share[e] > 0.0 else foes)
            if lean != 0.0:
                propagated_gift(at, row[slot[other]], lean, r, N)
    r[at] = 0.0
    N[at, :] = 0.0
    N[:, at] = 0.0


@kernel
def backwards(first, last, played, counts, row, steps, r, N):
    """Take ``r`` (n) and ``N`` (n, n) from after match ``last − 1`` to before match ``first``.

    ``counts`` (slots) says on whom newcomers lean.
    """
    NK = np.empty(r.size)
    for g in range(last - 1, first - 1, -1):
        lo, hi = played.offsets[g], played.offsets[g + 1]
        if steps.S[g] < math.inf:
            through_match(g, played, row, steps, r, N, NK)
        for e in range(hi - 1, lo - 1, -1):
            if steps.fresh[e]:
                through_entry(e, g, played, counts, row, steps, r, N)
        for e in range(lo, hi):
            f, at = steps.f[e], row[played.slot[e]]
            if f != 1.0 and at >= 0:
                r[at] *= f  # r ← Fᵀ r, N ← Fᵀ N F
                for a in range(r.size):
                    N[at, a] *= f
                for a in range(r.size):
                    N[a, at] *= f


def symmetric(C: Array) -> Array:
    """The matrix of which this is the lower triangle."""
    lower = np.tril(C)
    return lower + np.tril(lower, -1).T


def smooth(x: Array, C: Array, r: Array, N: Array) -> tuple[Array, Array]:
    """Mean and covariance given everything, from those given the past (lower triangle) and what the future says."""
    whole = symmetric(C)
    return x + whole @ r, whole - whole @ N @ whole
