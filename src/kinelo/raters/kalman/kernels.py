"""Compiled Gaussian filter between sides, with the covariance of everyone's strength with everyone else's.

The state ``x`` holds the advantage of the first-named side at home and on neutral ground (rows 0 and 1), the level at
which newcomers enter (row 2) and the strengths of all sides; ``C`` is its covariance, of which the lower triangle is
kept. A match of ``i`` against ``j`` shows ``y = x_i − x_j + x_venue + η_i + Σ (δ_il − δ_jl) + ε``, ``Var ε = noise``,
where ``η_i`` is what this side's home is worth beyond the common advantage and ``δ_il`` what it is better by under
condition ``l``. With ``K = C (e_i − e_j + e_venue)`` and ``S = K_i − K_j + K_venue + Var η + Σ Var δ + noise`` the
update is ``x += K (y − ŷ)/S``, ``C −= K Kᵀ/S``. The ``η`` and ``δ`` are kept independent of everything else, as if what
they share with the strengths were forgotten after each match: a full account of them would double the state.
Between matches ``dx = −ρ x dt + walk dW``. Without covariance only the diagonal is kept (``v``; ``C`` is then empty).

A newcomer enters at ``x_i = λ x_j + (1 − λ) g x_level + N(0, prior)`` where ``j`` is the first whom it meets (``λ = 0``
if that one is new as well): schedules tell of strength. ``g = 1 − e^{−years}`` since the first match, because those who
begin together set the level 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kinelo.play.formula import kernel
from kinelo.raters.random_walk import fade, move_clock, years_since_last, years_since_start

HOME, NEUTRAL, LEVEL, FIRST = range(4)


class Numbers(NamedTuple):
    """What the kernels take: variances (``walk`` and ``venue_walk`` a year's), ρ and λ (``lean``)."""

    walk: float
    prior: float
    noise: float
    home_prior: float
    venue_walk: float
    rho: float
    lean: float


class Known(NamedTuple):
    """The state: ``x`` and ``C`` (or ``v``) by row; own home advantages, last days and matches played by side.

    ``delta`` and ``delta_v`` hold the side's strengths under conditions, ``slot_v`` their variance before any match.
    """

    x: NDArray[np.float64]
    C: NDArray[np.float64]
    v: NDArray[np.float64]
    eta: NDArray[np.float64]
    eta_v: NDArray[np.float64]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    slot_v: NDArray[np.float64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    clock: NDArray[np.int64]


@kernel
def entry(fresh_opponent, day, p, s):
    """How much a newcomer is given of its opponent's strength, and how much of the newcomers' level."""
    lean = 0.0 if fresh_opponent else p.lean
    return lean, (1.0 - lean) * (1.0 - math.exp(-years_since_start(day, s.clock)))


@kernel
def enter(place, other, day, p, s, active):
    """Give a newcomer its prior; return how much of the newcomers' level is in it."""
    row, ref = place + FIRST, other + FIRST
    lean, load = entry(s.games[other] == 0, day, p, s)
    s.x[row] = load * s.x[LEVEL] + lean * s.x[ref]
    if s.C.size == 0:
        s.v[row] = p.prior + lean * lean * s.v[ref] + load * load * s.v[LEVEL]
        return load
    C = s.C
    for k in range(active):
        if k != row:
            given = load * C[max(LEVEL, k), min(LEVEL, k)]
            if lean > 0.0:
                given += lean * C[max(ref, k), min(ref, k)]
            C[max(row, k), min(row, k)] = given
    C[row, row] = p.prior + load * load * C[LEVEL, LEVEL]
    if lean > 0.0:
        C[row, row] += lean * (lean * C[ref, ref] + 2.0 * load * C[ref, LEVEL])
    return load


@kernel
def rest(place, day, p, s, active):
    """Bring a side that has played before to ``day``: it fades and grows uncertain."""
    row = place + FIRST
    f, added = fade(day - s.last[place], p.rho, p.walk)
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


@kernel
def learn_alone(row, surprise, S, x, v):
    """The same for one entry of a diagonal covariance; ``surprise`` carries the side's sign."""
    gain = v[row] / S
    x[row] += gain * surprise
    v[row] -= gain * v[row]


@kernel
def pass_time(day, p, s):
    """Let venue advantages and the newcomers' level wander until ``day``; what is certain is never learnt."""
    years = years_since_last(day, s.clock)
    for row in range(FIRST):
        grown = years * (p.walk if row == LEVEL else p.venue_walk)
        if s.C.size > 0:
            s.C[row, row] += grown if s.C[row, row] > 0.0 else 0.0
        else:
            s.v[row] += grown if s.v[row] > 0.0 else 0.0
    move_clock(day, s.clock)


@kernel
def apart(home, away, neutral, slots, s):
    """Mean and variance of what is kept independent: the own home advantage, and strengths under conditions."""
    mean = 0.0
    variance = 0.0
    if not neutral:
        mean += s.eta[home]
        variance += s.eta_v[home]
    for slot in slots:
        if slot >= 0:
            mean += s.delta[home, slot] - s.delta[away, slot]
            variance += s.delta_v[home, slot] + s.delta_v[away, slot]
    return mean, variance


@kernel
def learn_apart(home, away, neutral, slots, surprise, S, s):
    """Share a surprise with what is kept independent."""
    if not neutral:
        learn_alone(home, surprise, S, s.eta, s.eta_v)
    for slot in slots:
        if slot >= 0:
            learn_alone(home, surprise, S, s.delta[:, slot], s.delta_v[:, slot])
            learn_alone(away, -surprise, S, s.delta[:, slot], s.delta_v[:, slot])


@kernel
def play(home, away, y, neutral, weight, slots, load, active, p, s, K):
    """Forecast a match between sides that are up to date, then learn from it; return the forecast.

    ``load`` is how much of the newcomers' level is in the difference of the two.
    """
    i, j = home + FIRST, away + FIRST
    venue = NEUTRAL if neutral else HOME
    mean, variance = apart(home, away, neutral, slots, s)
    mean += s.x[i] - s.x[j] + s.x[venue]
    if s.C.size > 0:
        gather(i, j, venue, active, s.C, K)
        variance += K[i] - K[j] + K[venue]
    else:
        variance += s.v[i] + s.v[j] + s.v[venue]
    if weight > 0.0:
        S = variance + p.noise / weight
        surprise = y - mean
        if s.C.size > 0:
            learn_together(surprise, S, active, s.x, s.C, K)
        else:
            learn_alone(i, surprise, S, s.x, s.v)
            learn_alone(j, -surprise, S, s.x, s.v)
            learn_alone(venue, surprise, S, s.x, s.v)
            pull = load * s.v[LEVEL]
            s.x[LEVEL] += pull * surprise / S
            s.v[LEVEL] -= pull * pull / S
        learn_apart(home, away, neutral, slots, surprise, S, s)
    return mean, variance


@kernel
def prepare(home, away, day, p, s, active):
    """Bring both sides of a match to its day; return how much of the newcomers' level is in their difference."""
    pass_time(day, p, s)
    for place in (home, away):
        if s.games[place] > 0:
            rest(place, day, p, s, active)
    load = 0.0
    if s.games[home] == 0:
        load += enter(home, away, day, p, s, active)
    if s.games[away] == 0:
        load -= enter(away, home, day, p, s, active)
    for place in (home, away):
        s.last[place] = day
        s.games[place] += 1
    return load


@kernel
def rows_in_use(s):
    """Rows of the state up to the last side that has played."""
    active = FIRST
    for place in range(s.games.size):
        if s.games[place] > 0:
            active = place + FIRST + 1
    return active


@kernel
def play_all(home, away, y, neutral, weight, day, slots, p, s, mean, variance):
    """Filter matches in order; ``mean`` and ``variance`` receive what was expected of ``y``, without its noise."""
    K = np.empty(s.x.size)
    active = rows_in_use(s)
    for g in range(home.size):
        active = max(active, home[g] + FIRST + 1, away[g] + FIRST + 1)
        load = prepare(home[g], away[g], day[g], p, s, active)
        mean[g], variance[g] = play(home[g], away[g], y[g], neutral[g], weight[g], slots[g], load, active, p, s, K)


@kernel
def foreseen_apart(home, away, neutral, slots, p, s):
    """The same as :func:`apart` where sides may never have been met."""
    mean = 0.0
    variance = 0.0
    if not neutral:
        mean += s.eta[home] if home >= 0 else 0.0
        variance += s.eta_v[home] if home >= 0 else p.home_prior
    for slot in slots:
        if slot >= 0:
            for place, sign in ((home, 1.0), (away, -1.0)):
                mean += sign * s.delta[place, slot] if place >= 0 else 0.0
                variance += s.delta_v[place, slot] if place >= 0 else s.slot_v[slot]
    return mean, variance


@kernel
def brought_to(day, rows, p, s, u, M):
    """Mean ``u`` and covariance ``M`` of four rows (venue, newcomers' level, sides) on a day; none for strangers."""
    f = np.ones(4)
    own = np.zeros(4)
    for a in range(4):
        row = rows[a]
        if row >= FIRST:
            f[a], own[a] = fade(day - s.last[row - FIRST], p.rho, p.walk)
        elif row >= 0 and (s.C[row, row] if s.C.size > 0 else s.v[row]) > 0.0:
            own[a] = years_since_last(day, s.clock) * (p.walk if row == LEVEL else p.venue_walk)
    for a in range(4):
        if rows[a] < 0:
            continue
        u[a] = f[a] * s.x[rows[a]]
        for b in range(4):
            if rows[b] >= 0 and s.C.size > 0:
                M[a, b] = f[a] * f[b] * s.C[max(rows[a], rows[b]), min(rows[a], rows[b])]
            elif a == b:
                M[a, a] = f[a] * f[a] * s.v[rows[a]]
        M[a, a] += own[a]


@kernel
def foresee(home, away, neutral, day, slots, p, s):
    """Mean and variance expected of a match, from the state as it stands; place −1 is a side never met."""
    rows = np.array([NEUTRAL if neutral else HOME, LEVEL, home + FIRST, away + FIRST])
    for k, place in ((2, home), (3, away)):
        if place < 0:
            rows[k] = -1
    u, M = np.zeros(4), np.zeros((4, 4))
    brought_to(day, rows, p, s, u, M)
    for k, other in ((2, 3), (3, 2)):
        if rows[k] < 0:
            lean, load = entry(rows[other] < 0, day, p, s)
            u[k] = load * u[1] + lean * u[other]
            M[k, k] = p.prior + load * load * M[1, 1] + lean * (lean * M[other, other] + 2.0 * load * M[other, 1])
            if s.C.size > 0:
                for b in range(4):
                    if b != k:
                        M[k, b] = load * M[1, b] + lean * M[other, b]
                        M[b, k] = M[k, b]
    mean, variance = foreseen_apart(home, away, neutral, slots, p, s)
    mean += u[0] + u[2] - u[3]
    variance += M[0, 0] + M[2, 2] + M[3, 3] + 2.0 * (M[0, 2] - M[0, 3] - M[2, 3])
    return mean, variance


@kernel
def foresee_all(home, away, neutral, day, slots, p, s, mean, variance):
    """Forecast matches from the state as it stands."""
    for g in range(home.size):
        mean[g], variance[g] = foresee(home[g], away[g], neutral[g], day[g], slots[g], p, s)
