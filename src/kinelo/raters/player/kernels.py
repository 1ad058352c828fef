"""Compiled loops of the player ratings.

A side's strength is ``θ = Σ_k w_k x_k`` over its line-up, with shares ``w_k`` from minutes, starts and roles. A match
shows ``y = θ_home − θ_away + venue + ε``. What a team has whoever plays is one more entry of its side with share one,
and so is the stand-in of a team whose line-up is not known (:mod:`kinelo.raters.player.rotation`). With independent
normal beliefs ``x_k ~ N(·, P_k)`` and ``S = Σ w_k² P_k + Var venue + Var ε`` over both sides, everyone who played
shares in the surprise: ``x_k += ± w_k P_k (y − ŷ)/S``, ``P_k −= (w_k P_k)²/S``. Under level ``l`` of a condition a
player is better by ``δ_kl``, believed independent of everything else: it joins θ and ``S`` with his share, and learns
as ``x_k`` does.

Several filters, each with numbers of its own, go through the matches side by side (lanes), so that line-ups are read
once; how a forecast depends on a number is the difference of two lanes.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import kernel
from kinelo.raters.player.rotation import (
    AFTER,
    EFFECT,
    RECENT,
    STAND_IN,
    STARTERS,
    WIDEST,
    aged,
    announced_lineup,
    belief,
    by_level,
    likely_lineup,
    played_lineup,
    remember,
    rotation,
    trust,
    with_effect,
)
from kinelo.raters.random_walk import move_clock, years_since_last

HOME, NEUTRAL = range(2)


@kernel
def learn(ids, w, n, lane, priors, gain, day, levels, p, s):
    """Share a surprise among those who played; ``gain`` holds ``±(y − ŷ)/S`` and ``1/S``."""
    for k in range(n):
        q = ids[k]
        if w[k] == 0.0:
            continue
        if s.games[q] > 0:
            s.x[q, lane], s.P[q, lane] = aged(q, lane, day, p, s)
        elif s.kind[q] == EFFECT:
            s.x[q, lane], s.P[q, lane] = 0.0, p.squad[lane]
        else:
            s.x[q, lane], s.P[q, lane] = priors[1] if s.kind[q] == STAND_IN else priors[0], p.prior[lane]
        pull = w[k] * s.P[q, lane]
        s.x[q, lane] += pull * gain[0]
        s.P[q, lane] -= pull * pull * gain[1]
        if s.kind[q] == EFFECT:
            continue
        for slot in levels:
            if slot >= 0:
                pull = w[k] * s.delta_v[q, slot, lane]
                s.delta[q, slot, lane] += pull * gain[0]
                s.delta_v[q, slot, lane] -= pull * pull * gain[1]


@kernel
def foresee_side(g, side, team, day, levels, sheet, mode, p, s, ids, w, theta, doubt):
    """Mean and variance of a side's strength before match ``g``, into ``theta`` and ``doubt`` (lanes)."""
    n = np.int64(0)
    if sheet.offsets[2 * g + side + 1] > sheet.offsets[2 * g + side]:
        if mode == AFTER:
            n = played_lineup(g, side, sheet, p, ids, w)
        elif mode == STARTERS:
            n = announced_lineup(g, side, team, sheet, p, s, ids, w)
    q = 0.0
    if n == 0:
        q = trust(team, day, s)
        n = likely_lineup(team, day, p, s, ids, w)
    n = with_effect(team, n, s, ids, w)
    for lane in range(theta.size):
        theta[lane], doubt[lane], _, _ = belief(ids, w, n, lane, day, p, s)
        if levels.size > 0:  # to hand the state on takes time
            better, more = by_level(ids, w, n, lane, levels, s)
            theta[lane] += better
            doubt[lane] += more
        if q > 0.0:  # it is one of the recent line-ups, not their average
            doubt[lane] += q * q * rotation(team, lane, day, levels, p, s)[1]


@kernel
def foresee(g, teams, neutral, day, levels, sheet, mode, p, s, ids, w, work, mean, variance):
    """Mean and variance expected of match ``g`` from the state as it stands, into ``mean`` and ``variance`` (lanes)."""
    at = NEUTRAL if neutral else HOME
    years = years_since_last(day, s.clock)
    for lane in range(mean.size):
        mean[lane] = s.venue[at, lane]
        variance[lane] = s.venue_v[at, lane]
        variance[lane] += p.venue_walk[lane] * years if variance[lane] > 0.0 else 0.0
    for side in range(2):
        foresee_side(g, side, teams[side], day, levels, sheet, mode, p, s, ids, w, work[0], work[1])
        for lane in range(mean.size):
            mean[lane] += work[0, lane] if side == 0 else -work[0, lane]
            variance[lane] += work[1, lane]


@kernel
def taking_part(g, side, team, day, sheet, p, s, ids, w):
    """Ids and shares of all that a side of match ``g`` was made of; return how many."""
    n = played_lineup(g, side, sheet, p, ids, w)
    if n == 0:
        n = likely_lineup(team, day, p, s, ids, w)
    return with_effect(team, n, s, ids, w)


@kernel
def play(g, teams, y, neutral, weight, day, levels, sheet, p, s, ids, w):
    """Learn from match ``g`` as it was played, ``y`` (lanes) being what it showed.

    A side whose line-up is not known is credited to its recent players and its stand-in.
    """
    years = years_since_last(day, s.clock)
    move_clock(day, s.clock)
    at = NEUTRAL if neutral else HOME
    sizes = (
        taking_part(g, 0, teams[0], day, sheet, p, s, ids[0], w[0]),
        taking_part(g, 1, teams[1], day, sheet, p, s, ids[1], w[1]),
    )
    priors = np.zeros((2, 2))
    for lane in range(y.size):
        for venue in (HOME, NEUTRAL):  # an advantage that is certain is never learnt and stays so
            s.venue_v[venue, lane] += p.venue_walk[lane] * years if s.venue_v[venue, lane] > 0.0 else 0.0
        S = s.venue_v[at, lane] + p.noise[lane] / max(weight, 1e-300)
        surprise = y[lane] - s.venue[at, lane]
        for side in range(2):
            n = sizes[side]
            theta, doubt, priors[side, 0], priors[side, 1] = belief(ids[side], w[side], n, lane, day, p, s)
            if levels.size > 0:
                better, more = by_level(ids[side], w[side], n, lane, levels, s)
                theta += better
                doubt += more
            surprise -= theta if side == 0 else -theta
            S += doubt
        if weight <= 0.0:
            surprise = 0.0
        for side in range(2):
            gain = (surprise / S if side == 0 else -surprise / S, 1.0 / S)
            learn(ids[side], w[side], sizes[side], lane, priors[side], gain, day, levels, p, s)
        pull = s.venue_v[at, lane]
        s.venue[at, lane] += pull * surprise / S
        s.venue_v[at, lane] -= pull * pull / S
    for side in range(2):
        for k in range(sizes[side]):
            if w[side, k] > 0.0:
                s.last[ids[side, k]] = day
                s.games[ids[side, k]] += 1
        remember(g, side, teams[side], day, sheet, p, s, w[side])


@kernel
def room(offsets):
    """The longest list that a line-up, the recent ones, a stand-in and the team itself can make."""
    widest = RECENT * WIDEST
    for k in range(offsets.size - 1):
        widest = max(widest, RECENT * WIDEST + offsets[k + 1] - offsets[k])
    return widest + 2


@kernel
def play_all(home, away, y, neutral, weight, day, slots, sheet, mode, p, s, mean, variance):
    """Rate matches in order, a lane per column of ``y``; ``mean`` and ``variance`` (matches, lanes) receive what was
    expected of it, without its noise.
    """
    widest = room(sheet.offsets)
    ids, w = np.empty((2, widest), np.int64), np.empty((2, widest))
    work = np.empty((2, y.shape[1]))
    for g in range(home.size):
        teams = (home[g], away[g])
        foresee(g, teams, neutral[g], day[g], slots[g], sheet, mode, p, s, ids[0], w[0], work, mean[g], variance[g])
        play(g, teams, y[g], neutral[g], weight[g], day[g], slots[g], sheet, p, s, ids, w)


@kernel
def foresee_all(home, away, neutral, day, slots, sheet, mode, p, s, mean, variance):
    """Forecast matches from the state as it stands into ``mean`` and ``variance`` (matches, lanes); team −1 is new."""
    widest = room(sheet.offsets)
    ids, w = np.empty(widest, np.int64), np.empty(widest)
    work = np.empty((2, mean.shape[1]))
    for g in range(home.size):
        teams = (home[g], away[g])
        foresee(g, teams, neutral[g], day[g], slots[g], sheet, mode, p, s, ids, w, work, mean[g], variance[g])


@kernel
def team_strengths(day, p, s, theta, sigma, doubt):
    """Mean and spread of every team's strength where its line-up is not known, and how uncertain the mean is."""
    ids, w = np.empty(RECENT * WIDEST + 2, np.int64), np.empty(RECENT * WIDEST + 2)
    levels = np.empty(0, np.int64)
    for team in range(theta.size):
        n = with_effect(team, likely_lineup(team, day, p, s, ids, w), s, ids, w)
        theta[team], uncertain, _, _ = belief(ids, w, n, 0, day, p, s)
        sigma[team] = trust(team, day, s) * math.sqrt(rotation(team, 0, day, levels, p, s)[1])
        doubt[team] = math.sqrt(uncertain)
