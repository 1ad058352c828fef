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

from numba import njit

# Places in the vector of numbers that the kernels take.
WALK, PRIOR, NOISE, HOME_PRIOR, VENUE_WALK, NEWCOMER, RHO = range(7)
HOME, NEUTRAL, FIRST = range(3)
YEAR = 365.25
START, TODAY = range(2)
LONG_AGO = -(2**60)


@njit(cache=True, nogil=True)
def newcomer_mean(day, clock, p):
    """Prior mean: the first sides set the level, those who come later enter at their own."""
    if clock[START] < LONG_AGO:
        return 0.0
    return p[NEWCOMER] * (1.0 - math.exp(-(day - clock[START]) / YEAR))


@njit(cache=True, nogil=True)
def fade(years, p):
    """Factor on a strength after a rest, and the variance the rest adds."""
    f = math.exp(-p[RHO] * years)
    if p[RHO] * years < 1e-6:
        return f, p[WALK] * years
    return f, p[WALK] * (1.0 - f * f) / (2.0 * p[RHO])


@njit(cache=True, nogil=True)
def rest(place, day, p, x, C, v, last, count, clock, active):
    """Bring a side to ``day``: a newcomer gets the prior, anyone else fades and grows uncertain."""
    row = place + FIRST
    if count[place] == 0:
        x[row] = newcomer_mean(day, clock, p)
        if C.size > 0:
            C[row, : row + 1] = 0.0
            C[row, row] = p[PRIOR]
        else:
            v[row] = p[PRIOR]
        return
    f, added = fade(max(day - last[place], 0) / YEAR, p)
    x[row] *= f
    if C.size == 0:
        v[row] = f * f * v[row] + added
        return
    if f < 1.0:
        for other in range(row):
            C[row, other] *= f
        for other in range(row + 1, active):
            C[other, row] *= f
    C[row, row] = f * f * C[row, row] + added


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
def learn_alone(row, sign, surprise, S, x, v):
    """The same for one entry of a diagonal covariance."""
    gain = v[row] / S
    x[row] += sign * gain * surprise
    v[row] -= gain * v[row]


@njit(cache=True, nogil=True)
def play_all(home, away, y, neutral, weight, day, p, x, C, v, eta, eta_v, last, count, clock, K, mean, variance):
    """Filter matches in order; ``mean`` and ``variance`` receive what was expected of ``y``, without its noise."""
    active = FIRST
    for place in range(count.size):
        if count[place] > 0:
            active = place + FIRST + 1
    for g in range(home.size):
        i, j = home[g] + FIRST, away[g] + FIRST
        venue = NEUTRAL if neutral[g] else HOME
        if clock[START] < LONG_AGO:
            clock[START] = clock[TODAY] = day[g]
        grown = p[VENUE_WALK] * max(day[g] - clock[TODAY], 0) / YEAR
        clock[TODAY] = max(day[g], clock[TODAY])
        for row in (HOME, NEUTRAL):
            if C.size > 0:
                C[row, row] += grown
            else:
                v[row] += grown
        active = max(active, i + 1, j + 1)
        rest(home[g], day[g], p, x, C, v, last, count, clock, active)
        rest(away[g], day[g], p, x, C, v, last, count, clock, active)
        mu = x[i] - x[j] + x[venue]
        if C.size > 0:
            gather(i, j, venue, active, C, K)
            spread = K[i] - K[j] + K[venue]
        else:
            spread = v[i] + v[j] + v[venue]
        if not neutral[g]:
            mu += eta[home[g]]
            spread += eta_v[home[g]]
        mean[g] = mu
        variance[g] = spread
        for place in (home[g], away[g]):
            last[place] = day[g]
            count[place] += 1
        if weight[g] <= 0.0:
            continue
        S = spread + p[NOISE] / weight[g]
        surprise = y[g] - mu
        if C.size > 0:
            learn_together(surprise, S, active, x, C, K)
        else:
            learn_alone(i, 1.0, surprise, S, x, v)
            learn_alone(j, -1.0, surprise, S, x, v)
            learn_alone(venue, 1.0, surprise, S, x, v)
        if not neutral[g]:
            learn_alone(home[g], 1.0, surprise, S, eta, eta_v)


@njit(cache=True, nogil=True)
def foresee_all(home, away, neutral, day, p, x, C, v, eta, eta_v, last, clock, mean, variance):
    """Forecast matches from the state as it stands; place −1 is a side never met."""
    for g in range(home.size):
        venue = NEUTRAL if neutral[g] else HOME
        mu = x[venue]
        spread = C[venue, venue] if C.size > 0 else v[venue]
        if clock[TODAY] > LONG_AGO:
            spread += p[VENUE_WALK] * max(day[g] - clock[TODAY], 0) / YEAR
        factor = (1.0, 1.0)
        for side in range(2):
            place = home[g] if side == 0 else away[g]
            sign = 1.0 if side == 0 else -1.0
            row = place + FIRST
            if place < 0:
                mu += sign * newcomer_mean(max(day[g], clock[START]), clock, p)
                spread += p[PRIOR]
                continue
            f, added = fade(max(day[g] - last[place], 0) / YEAR, p)
            factor = (f, factor[1]) if side == 0 else (factor[0], f)
            mu += sign * f * x[row]
            if C.size > 0:
                spread += f * f * C[row, row] + added + 2.0 * sign * f * C[row, venue]
            else:
                spread += f * f * v[row] + added
        if C.size > 0 and home[g] >= 0 and away[g] >= 0:
            i, j = home[g] + FIRST, away[g] + FIRST
            spread -= 2.0 * factor[0] * factor[1] * C[max(i, j), min(i, j)]
        if not neutral[g]:
            mu += eta[home[g]] if home[g] >= 0 else 0.0
            spread += eta_v[home[g]] if home[g] >= 0 else p[HOME_PRIOR]
        mean[g] = mu
        variance[g] = spread
