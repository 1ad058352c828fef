"""The filter with covariance, sixteen matches at a time, for the search of parameters.

A match takes ``U Uᵀ`` from the covariance, ``U = K/√S``, and to do so at once costs a walk through all of it. The last
few ``U`` are therefore kept beside it: ``C − Σ U Uᵀ`` is what is meant, each match asks for one column of that, and the
covariance is walked through once for sixteen of them. What happens to a side in between, rest or entry, is linear, and
happens to its row of ``C`` and to its entry of every ``U`` alike. The same numbers as
:func:`kinelo.raters.kalman.kernels.play_all` up to rounding.

Two parameters, the newcomers' level and the power of margins, change what is shown and expected but no variance: the
derivatives ``∂x`` by them follow the filter's own gains, ``∂x ← ∂x + K (∂y − ∂μ)/S``, and are carried along.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import kernel
from kinelo.raters.kalman.kernels import (
    FIRST,
    HOME,
    LEVEL,
    NEUTRAL,
    apart,
    enter,
    entry,
    gather,
    learn_apart,
    pass_time,
    rest,
    rows_in_use,
)
from kinelo.raters.random_walk import fade

BLOCK = 16


@kernel
def prepare(home, away, day, p, s, active, U, pending, dx):
    """Bring both sides of a match to its day, in ``C``, in every pending ``U`` and in ``∂x``."""
    pass_time(day, p, s)
    for place in (home, away):
        if s.games[place] > 0:
            f, _ = fade(day - s.last[place], p.rho, p.walk)
            rest(place, day, p, s, active)
            for b in range(pending):
                U[b, place + FIRST] *= f
            for c in range(len(dx)):
                dx[c, place + FIRST] *= f
    for place, other in ((home, away), (away, home)):
        if s.games[place] == 0:
            lean, load = entry(s.games[other] == 0, day, p, s)
            enter(place, other, day, p, s, active)
            for b in range(pending):
                U[b, place + FIRST] = load * U[b, LEVEL] + lean * U[b, other + FIRST]
            for c in range(len(dx)):
                dx[c, place + FIRST] = load * dx[c, LEVEL] + lean * dx[c, other + FIRST]
    for place in (home, away):
        s.last[place] = day
        s.games[place] += 1


def _subtract(C, U, active):
    """``C −= Σ U Uᵀ`` over a whole block, in its lower triangle: two rows of C and four of U at a time."""
    even = active - active % 2
    for z in range(0, U.shape[0], 4):
        a, b, c, d = U[z], U[z + 1], U[z + 2], U[z + 3]
        for k in range(0, even, 2):
            upper, lower = C[k], C[k + 1]
            a0, b0, c0, d0 = a[k], b[k], c[k], d[k]
            a1, b1, c1, d1 = a[k + 1], b[k + 1], c[k + 1], d[k + 1]
            for m in range(k + 2):
                upper[m] -= a0 * a[m] + b0 * b[m] + c0 * c[m] + d0 * d[m]
                lower[m] -= a1 * a[m] + b1 * b[m] + c1 * c[m] + d1 * d[m]
        if even < active:
            row = C[even]
            a0, b0, c0, d0 = a[even], b[even], c[even], d[even]
            for m in range(active):
                row[m] -= a0 * a[m] + b0 * b[m] + c0 * c[m] + d0 * d[m]


def _column(i, j, venue, active, C, U, pending, K):
    """``K = (C − Σ U Uᵀ)(e_i − e_j + e_venue)``."""
    gather(i, j, venue, active, C, K)
    for b in range(pending):
        row = U[b]
        part = row[i] - row[j] + row[venue]
        for k in range(active):
            K[k] -= part * row[k]


def _take(surprise, S, active, x, K, row):
    """``x += K surprise/S``, and ``K/√S`` into a row of ``U``."""
    gain, root = surprise / S, 1.0 / math.sqrt(S)
    for k in range(active):
        x[k] += K[k] * gain
        row[k] = K[k] * root


subtract, column, take = (kernel(f, fastmath={"reassoc", "contract"}) for f in (_subtract, _column, _take))


@kernel
def apart_slope(home, away, neutral, slots, deta, ddelta):
    """Derivative of what is expected of the part that is kept independent."""
    slope = 0.0 if neutral else deta[home]
    for slot in slots:
        if slot >= 0:
            slope += ddelta[home, slot] - ddelta[away, slot]
    return slope


@kernel
def learn_apart_slope(home, away, neutral, slots, e, S, s, deta, ddelta):
    """Share the derivative ``e`` of a surprise with what is kept independent, before that learns itself."""
    if not neutral:
        deta[home] += s.eta_v[home] * e / S
    for slot in slots:
        if slot >= 0:
            ddelta[home, slot] += s.delta_v[home, slot] * e / S
            ddelta[away, slot] -= s.delta_v[away, slot] * e / S


@kernel
def play_all(home, away, y, dy, neutral, weight, day, slots, p, s, mean, variance, dmean):
    """Filter matches in order; ``mean`` and ``variance`` receive what was expected of ``y``, without its noise.

    ``dmean`` receives the derivatives of the mean by the newcomers' level and, ``dy`` being that of ``y``, by the
    power; with no room for them none are carried.
    """
    K = np.empty(s.x.size)
    U = np.zeros((BLOCK, s.x.size))
    carried = dmean.shape[1]
    dx = np.zeros((carried, s.x.size))
    deta, ddelta = np.zeros((carried, s.eta.size)), np.zeros((carried, *s.delta.shape))
    if carried > 0:
        dx[0, LEVEL] = 1.0
    pending = 0
    active = rows_in_use(s)
    for g in range(home.size):
        active = max(active, home[g] + FIRST + 1, away[g] + FIRST + 1)
        prepare(home[g], away[g], day[g], p, s, active, U, pending, dx)
        i, j, venue = home[g] + FIRST, away[g] + FIRST, NEUTRAL if neutral[g] else HOME
        column(i, j, venue, active, s.C, U, pending, K)
        mean[g], variance[g] = apart(home[g], away[g], neutral[g], slots[g], s)
        mean[g] += s.x[i] - s.x[j] + s.x[venue]
        variance[g] += K[i] - K[j] + K[venue]
        for c in range(carried):
            rest_of_it = apart_slope(home[g], away[g], neutral[g], slots[g], deta[c], ddelta[c])
            dmean[g, c] = rest_of_it + dx[c, i] - dx[c, j] + dx[c, venue]
        if weight[g] <= 0.0:
            continue
        S, surprise = variance[g] + p.noise / weight[g], y[g] - mean[g]
        for c in range(carried):
            e = (dy[g] if c == 1 else 0.0) - dmean[g, c]
            take(e, S, active, dx[c], K, U[pending])
            learn_apart_slope(home[g], away[g], neutral[g], slots[g], e, S, s, deta[c], ddelta[c])
        take(surprise, S, active, s.x, K, U[pending])
        pending += 1
        if pending == BLOCK:
            subtract(s.C, U, active)
            U[:] = 0.0
            pending = 0
        learn_apart(home[g], away[g], neutral[g], slots[g], surprise, S, s)
    if pending > 0:
        subtract(s.C, U, active)
