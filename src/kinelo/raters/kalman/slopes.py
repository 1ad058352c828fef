"""What the filter without covariance expects of matches, and the exact derivatives of that by every parameter.

Beside each mean and variance of :mod:`kinelo.raters.kalman.kernels` runs the row of its derivatives by all parameters
(forward differentiation). With gain ``K = v/S`` and surprise ``e``, a match makes ``x ← x + K e`` and ``v ← v − K v``;
so ``∂K = (∂v − K ∂S)/S``, ``∂x ← ∂x + e ∂K + K ∂e`` and ``∂v ← ∂v − v ∂K − K ∂v``.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import kernel
from kinelo.raters.kalman.kernels import FIRST, HOME, LEVEL, NEUTRAL
from kinelo.raters.random_walk import fade_slopes, move_clock, years_since_last, years_since_start

WALK, PRIOR, HOME_PRIOR, VENUE_WALK, RHO, LEAN, NEWCOMER, POWER, FIRST_CONDITION = range(9)
"""Columns of derivatives: by the numbers of the kernels, the newcomers' level, the power of margins, and the variance
of strengths under each condition."""


@kernel
def rest(place, day, p, s, dx, dv):
    """Bring a side that has played before to ``day``."""
    row = place + FIRST
    f, A, df, dA = fade_slopes(day - s.last[place], p.rho)
    for q in range(dx.shape[1]):
        dx[row, q] *= f
        dv[row, q] *= f * f
    dx[row, RHO] += df * s.x[row]
    dv[row, RHO] += 2.0 * f * df * s.v[row] + p.walk * dA
    dv[row, WALK] += A
    s.x[row] *= f
    s.v[row] = f * f * s.v[row] + p.walk * A


@kernel
def enter(place, other, day, p, s, dx, dv):
    """Give a newcomer its prior; return how much of the newcomers' level is in it, and the derivative by λ."""
    row, ref = place + FIRST, other + FIRST
    known = 1.0 if s.games[other] > 0 else 0.0
    lean = known * p.lean
    late = 1.0 - math.exp(-years_since_start(day, s.clock))
    load = (1.0 - lean) * late
    for q in range(dx.shape[1]):
        dx[row, q] = load * dx[LEVEL, q] + lean * dx[ref, q]
        dv[row, q] = load * load * dv[LEVEL, q] + lean * lean * dv[ref, q]
    dx[row, LEAN] += known * (s.x[ref] - late * s.x[LEVEL])
    dv[row, LEAN] += known * 2.0 * (lean * s.v[ref] - load * late * s.v[LEVEL])
    dv[row, PRIOR] += 1.0
    s.x[row] = load * s.x[LEVEL] + lean * s.x[ref]
    s.v[row] = p.prior + lean * lean * s.v[ref] + load * load * s.v[LEVEL]
    return load, -known * late


@kernel
def learn(sign, e, de, S, dS, x, v, dx, dv, row):
    """One entry takes its part of the surprise ``e``, which counts with a sign."""
    K = v[row] / S
    for q in range(de.size):
        dK = (dv[row, q] - K * dS[q]) / S
        dx[row, q] += sign * (e * dK + K * de[q])
        dv[row, q] -= v[row] * dK + K * dv[row, q]
    x[row] += sign * K * e
    v[row] -= K * v[row]


@kernel
def learn_level(load, by_lean, e, de, S, dS, x, v, dx, dv):
    """The newcomers' level, of which ``load`` is in the difference of the two sides, takes its part."""
    pull = load * v[LEVEL]
    for q in range(de.size):
        dpull = load * dv[LEVEL, q] + (by_lean * v[LEVEL] if q == LEAN else 0.0)
        part = (dpull - pull * dS[q] / S) / S
        dx[LEVEL, q] += part * e + pull * de[q] / S
        dv[LEVEL, q] -= pull * (part + dpull / S)
    x[LEVEL] += pull * e / S
    v[LEVEL] -= pull * pull / S


@kernel
def walk_with_slopes(home, away, y, dy, neutral, weight, day, slots, p, s, mean, variance, dmean, dvariance):
    """Filter matches in order; ``dy`` is the derivative of ``y`` by the power of margins."""
    size = dmean.shape[1]
    dx, dv = np.zeros((s.x.size, size)), np.zeros((s.x.size, size))
    sides = s.games.size
    deta, deta_v = np.zeros((sides, size)), np.zeros((sides, size))
    ddelta = np.zeros((s.slot_v.size, sides, size))
    ddelta_v = np.zeros((s.slot_v.size, sides, size))
    dx[LEVEL, NEWCOMER] = 1.0
    deta_v[:, HOME_PRIOR] = 1.0
    delta, delta_v = s.delta.T.copy(), s.delta_v.T.copy()
    started = np.zeros(s.slot_v.size, np.bool_)
    de = np.empty(size)
    for g in range(home.size):
        a, b = home[g], away[g]
        years = years_since_last(day[g], s.clock)
        for row in range(FIRST):
            if s.v[row] > 0.0:
                s.v[row] += years * (p.walk if row == LEVEL else p.venue_walk)
                dv[row, WALK if row == LEVEL else VENUE_WALK] += years
        move_clock(day[g], s.clock)
        for place in (a, b):
            if s.games[place] > 0:
                rest(place, day[g], p, s, dx, dv)
        load, by_lean = 0.0, 0.0
        if s.games[a] == 0:
            load, by_lean = enter(a, b, day[g], p, s, dx, dv)
        if s.games[b] == 0:
            less, by = enter(b, a, day[g], p, s, dx, dv)
            load, by_lean = load - less, by_lean - by
        for place in (a, b):
            s.last[place] = day[g]
            s.games[place] += 1
        i, j, venue = a + FIRST, b + FIRST, NEUTRAL if neutral[g] else HOME
        own = 0.0 if neutral[g] else 1.0
        m, V = s.x[i] - s.x[j] + s.x[venue] + own * s.eta[a], s.v[i] + s.v[j] + s.v[venue] + own * s.eta_v[a]
        dm, dV = dmean[g], dvariance[g]
        for q in range(size):
            dm[q] = dx[i, q] - dx[j, q] + dx[venue, q] + own * deta[a, q]
            dV[q] = dv[i, q] + dv[j, q] + dv[venue, q] + own * deta_v[a, q]
        for c in range(slots.shape[1]):
            slot = slots[g, c]
            if slot < 0:
                continue
            if not started[slot]:
                started[slot] = True
                ddelta_v[slot, :, FIRST_CONDITION + c] = 1.0
            m += delta[slot, a] - delta[slot, b]
            V += delta_v[slot, a] + delta_v[slot, b]
            for q in range(size):
                dm[q] += ddelta[slot, a, q] - ddelta[slot, b, q]
                dV[q] += ddelta_v[slot, a, q] + ddelta_v[slot, b, q]
        mean[g], variance[g] = m, V
        if weight[g] <= 0.0:
            continue
        S, e = V + p.noise / weight[g], y[g] - m
        for q in range(size):
            de[q] = -dm[q]
        de[POWER] += dy[g]
        learn(1.0, e, de, S, dV, s.x, s.v, dx, dv, i)
        learn(-1.0, e, de, S, dV, s.x, s.v, dx, dv, j)
        learn(1.0, e, de, S, dV, s.x, s.v, dx, dv, venue)
        learn_level(load, by_lean, e, de, S, dV, s.x, s.v, dx, dv)
        if not neutral[g]:
            learn(1.0, e, de, S, dV, s.eta, s.eta_v, deta, deta_v, a)
        for c in range(slots.shape[1]):
            slot = slots[g, c]
            if slot >= 0:
                learn(1.0, e, de, S, dV, delta[slot], delta_v[slot], ddelta[slot], ddelta_v[slot], a)
                learn(-1.0, e, de, S, dV, delta[slot], delta_v[slot], ddelta[slot], ddelta_v[slot], b)
