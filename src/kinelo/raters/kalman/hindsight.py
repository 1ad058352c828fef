"""Strengths given everything before and after: the exact smoother of the filter with covariance.

After match ``g`` the filter believes ``N(x, C)``. What the later matches say of that moment is gathered backwards in
``r`` and ``N`` (Bryson and Frazier; de Jong): the smoothed belief is ``N(x + C r, C − C N C)``. Through a match with
gain ``K``, direction ``h``, surprise ``v``, variance ``S`` and ``L = I − K hᵀ/S``: ``r ← h v/S + Lᵀ r`` and
``N ← h hᵀ/S + Lᵀ N L``. Through a change ``x' = F x + noise``: ``r ← Fᵀ r``, ``N ← Fᵀ N F``. As ``h`` has three
entries, a match costs one product ``N K``. What is kept apart (own home advantages, conditions) stays as it was seen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.play.formula import kernel
from kinelo.raters.kalman.kernels import FIRST, HOME, LEVEL, NEUTRAL

Array = NDArray[np.float64]
MOST_BYTES = 3e9


def check_room(matches: int, rows: int, points: int) -> None:
    """Refuse what would not fit into memory."""
    if 8.0 * rows * (matches + points * rows) > MOST_BYTES:
        raise InputError(
            f"Hindsight over {matches:,} matches of {rows - FIRST:,} sides needs more memory than is sensible; "
            "ask for fewer matches or points."
        )


@kernel
def through_match(rows, K, v, S, r, N, NK):
    """Take ``r`` (n) and ``N`` (n, n) back through a match with gain ``K`` (n); ``rows`` are both sides and venue."""
    signs = (1.0, -1.0, 1.0)
    pull = 0.0
    quadratic = 0.0
    for a in range(r.size):
        pull += K[a] * r[a]
        NK[a] = 0.0
        for b in range(r.size):
            NK[a] += N[a, b] * K[b]
        quadratic += K[a] * NK[a]
    for q in range(3):
        r[rows[q]] += signs[q] * (v - pull) / S
        for a in range(r.size):
            N[a, rows[q]] -= NK[a] * signs[q] / S
            N[rows[q], a] -= NK[a] * signs[q] / S
    for q in range(3):
        for q2 in range(3):
            N[rows[q], rows[q2]] += signs[q] * signs[q2] * (1.0 / S + quadratic / (S * S))


@kernel
def through_entry(row, ref, lean, load, r, N):
    """Take ``r`` (n) and ``N`` (n, n) back through the entry of a newcomer: nothing before it depends on what he is."""
    r[LEVEL] += load * r[row]
    r[ref] += lean * r[row]
    r[row] = 0.0
    for a in range(r.size):
        N[a, LEVEL] += load * N[a, row]
        N[a, ref] += lean * N[a, row]
        N[a, row] = 0.0
    for a in range(r.size):
        N[LEVEL, a] += load * N[row, a]
        N[ref, a] += lean * N[row, a]
        N[row, a] = 0.0


@kernel
def backwards(matches, first, last, steps, r, N):
    """Take ``r`` (n) and ``N`` (n, n) from after match ``last − 1`` to before match ``first``."""
    NK = np.empty(r.size)
    for k in range(last - 1, first - 1, -1):
        i, j, venue = matches.home[k] + FIRST, matches.away[k] + FIRST, NEUTRAL if matches.neutral[k] else HOME
        if steps.S[k] < math.inf:
            through_match((i, j, venue), steps.K[k], steps.v[k], steps.S[k], r, N, NK)
        if steps.fresh[k, 1]:
            through_entry(j, i, steps.lean[k, 1], steps.load[k, 1], r, N)
        if steps.fresh[k, 0]:
            through_entry(i, j, steps.lean[k, 0], steps.load[k, 0], r, N)
        for row, f in ((i, steps.f[k, 0]), (j, steps.f[k, 1])):
            if f != 1.0:
                r[row] *= f
                N[row, :] *= f
                N[:, row] *= f


def smooth(x: Array, C: Array, r: Array, N: Array) -> tuple[Array, Array]:
    """Mean and covariance given everything, from those given the past (lower triangle) and what the future says."""
    whole = np.tril(C) + np.tril(C, -1).T
    return x + whole @ r, whole - whole @ N @ whole
