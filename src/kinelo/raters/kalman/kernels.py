"""Compiled Gaussian filter between sides, with the covariance of everyone's strength with everyone else's.

The state ``x`` holds the advantage of the first-named side at home and on neutral ground (rows 0 and 1) and the
strengths of all sides; ``C`` is its covariance, of which the lower triangle is kept. A match of ``i`` against ``j``
shows ``y = x_i − x_j + x_venue + η_i + ε`` with ``Var ε = noise``, where ``η_i`` is what this side's home is worth
beyond the common advantage. With ``K = C (e_i − e_j + e_venue)`` and ``S = K_i − K_j + K_venue + Var η_i + noise``
the update is ``x += K (y − ŷ)/S``, ``C −= K Kᵀ/S``. The ``η`` are kept independent of everything else, as if what they
share with the strengths were forgotten after each match: a full account of them would double the state.
Between matches ``dx = −ρ x dt + walk dW``. Without covariance only the diagonal is kept (``v``; ``C`` is then empty).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinelo.raters.wandering import fade, move_clock, years_since_last, years_since_start

# Places in the vector of numbers that the kernels take.
WALK, PRIOR, NOISE, HOME_PRIOR, VENUE_WALK, NEWCOMER, RHO = range(7)
HOME, NEUTRAL, FIRST = range(3)


class Known(NamedTuple):
    """The state: ``x`` and ``C`` (or ``v``) by row; own home advantages, last days and matches played by side."""

    x: NDArray[np.float64]
    C: NDArray[np.float64]
    v: NDArray[np.float64]
    eta: NDArray[np.float64]
    eta_v: NDArray[np.float64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    clock: NDArray[np.int64]


@njit(cache=True, nogil=True)
def newcomer_mean(day, p, s):
    """Prior mean: the first sides set the level, those who come later enter at their own."""
    return p[NEWCOMER] * (1.0 - math.exp(-years_since_start(day, s.clock)))


@njit(cache=True, nogil=True)
def rest(place, day, p, s, active):
    """Bring a side to ``day``: a newcomer gets the prior, anyone else fades and grows uncertain."""
    row = place + FIRST
    if s.games[place] == 0:
        s.x[row] = newcomer_mean(day, p, s)
        if s.C.size > 0:
            s.C[row, : row + 1] = 0.0
            s.C[row, row] = p[PRIOR]
        else:
            s.v[row] = p[PRIOR]
        return
    f, added = fade(day - s.last[place], p[RHO], p[WALK])
    s.x[row] *= f
    if s.C.size == 0:
        s.v[row] = f * f * s.v[row] + added
        return
    if f < 1.0:
        for other in range(row):
            s.C[row, other] *= f
        for other in range(row + 1, active):
            s.C[other, row] *= f
    s.C[row, row] = f * f * s.C[row, row] + added


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def gather(i, j, venue, active, C, K):
    """``K = C (e_i − e_j + e_venue)`` from the lower triangle."""
    for k in range(active):
        K[k] = C[max(i, k), min(i, k)] - C[max(j, k), min(j, k)] + C[max(venue, k), min(venue, k)]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def learn_together(surprise, S, active, x, C, K):
    """``x += K surprise/S`` and ``C −= K Kᵀ/S``."""
    for k in range(active):
        gain = K[k] / S
        x[k] += gain * surprise
        row = C[k]
        for m in range(k + 1):
            row[m] -= gain * K[m]


@njit(cache=True, nogil=True)
def learn_alone(row, surprise, S, x, v):
    """The same for one entry of a diagonal covariance; ``surprise`` carries the side's sign."""
    gain = v[row] / S
    x[row] += gain * surprise
    v[row] -= gain * v[row]


@njit(cache=True, nogil=True)
def pass_time(day, p, s):
    """Let the venue advantages wander until ``day``; one that is certain is never learnt and stays so."""
    grown = p[VENUE_WALK] * years_since_last(day, s.clock)
    for row in (HOME, NEUTRAL):
        if s.C.size > 0:
            s.C[row, row] += grown if s.C[row, row] > 0.0 else 0.0
        else:
            s.v[row] += grown if s.v[row] > 0.0 else 0.0
    move_clock(day, s.clock)


@njit(cache=True, nogil=True)
def play(home, away, y, neutral, weight, active, p, s, K):
    """Forecast a match between sides that are up to date, then learn from it; return the forecast."""
    i, j = home + FIRST, away + FIRST
    venue = NEUTRAL if neutral else HOME
    mean = s.x[i] - s.x[j] + s.x[venue]
    if s.C.size > 0:
        gather(i, j, venue, active, s.C, K)
        variance = K[i] - K[j] + K[venue]
    else:
        variance = s.v[i] + s.v[j] + s.v[venue]
    if not neutral:
        mean += s.eta[home]
        variance += s.eta_v[home]
    if weight > 0.0:
        S = variance + p[NOISE] / weight
        surprise = y - mean
        if s.C.size > 0:
            learn_together(surprise, S, active, s.x, s.C, K)
        else:
            learn_alone(i, surprise, S, s.x, s.v)
            learn_alone(j, -surprise, S, s.x, s.v)
            learn_alone(venue, surprise, S, s.x, s.v)
        if not neutral:
            learn_alone(home, surprise, S, s.eta, s.eta_v)
    return mean, variance


@njit(cache=True, nogil=True)
def play_all(home, away, y, neutral, weight, day, p, s, mean, variance):
    """Filter matches in order; ``mean`` and ``variance`` receive what was expected of ``y``, without its noise."""
    K = np.empty(s.x.size)
    active = FIRST
    for place in range(s.games.size):
        if s.games[place] > 0:
            active = place + FIRST + 1
    for g in range(home.size):
        pass_time(day[g], p, s)
        active = max(active, home[g] + FIRST + 1, away[g] + FIRST + 1)
        for place in (home[g], away[g]):
            rest(place, day[g], p, s, active)
            s.last[place] = day[g]
            s.games[place] += 1
        mean[g], variance[g] = play(home[g], away[g], y[g], neutral[g], weight[g], active, p, s, K)


@njit(cache=True, nogil=True)
def foresee(home, away, neutral, day, p, s):
    """Mean and variance expected of a match, from the state as it stands; place −1 is a side never met."""
    venue = NEUTRAL if neutral else HOME
    full = s.C.size > 0
    mean = s.x[venue]
    variance = s.C[venue, venue] if full else s.v[venue]
    variance += p[VENUE_WALK] * years_since_last(day, s.clock) if variance > 0.0 else 0.0
    together = 1.0
    for place, sign in ((home, 1.0), (away, -1.0)):
        if place < 0:
            mean += sign * newcomer_mean(day, p, s)
            variance += p[PRIOR]
            together = 0.0
            continue
        row = place + FIRST
        f, added = fade(day - s.last[place], p[RHO], p[WALK])
        together *= f
        mean += sign * f * s.x[row]
        variance += f * f * (s.C[row, row] if full else s.v[row]) + added
        if full:
            variance += 2.0 * sign * f * s.C[row, venue]
    if full and together > 0.0:
        i, j = max(home, away) + FIRST, min(home, away) + FIRST
        variance -= 2.0 * together * s.C[i, j]
    if not neutral:
        mean += s.eta[home] if home >= 0 else 0.0
        variance += s.eta_v[home] if home >= 0 else p[HOME_PRIOR]
    return mean, variance


@njit(cache=True, nogil=True)
def foresee_all(home, away, neutral, day, p, s, mean, variance):
    """Forecast matches from the state as it stands."""
    for g in range(home.size):
        mean[g], variance[g] = foresee(home[g], away[g], neutral[g], day[g], p, s)
