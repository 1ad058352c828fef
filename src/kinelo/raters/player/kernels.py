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
    Lineup,
    announced_lineup,
    belief,
    by_level,
    likely_lineup,
    played_lineup,
    remember,
    rotation,
    strength_on,
    trust,
    with_effect,
)
from kinelo.raters.random_walk import move_clock, years_since_last

HOME, NEUTRAL = range(2)


@kernel
def learn(ids, w, lane, learnt, day, levels, p, s):
    """Share a surprise among those who played (``ids`` and ``w``, players each); ``learnt`` holds ``±(y − ŷ)/S``,
    ``1/S``, and the prior means of newcomers and of a stand-in (floats)."""
    for k in range(ids.size):
        q = ids[k]
        if w[k] == 0.0:
            continue
        if s.games[q] > 0:
            s.x[q, lane], s.P[q, lane] = strength_on(q, lane, day, p, s)
        elif s.kind[q] == EFFECT:
            s.x[q, lane], s.P[q, lane] = 0.0, p.squad[lane]
        else:
            s.x[q, lane], s.P[q, lane] = learnt[3] if s.kind[q] == STAND_IN else learnt[2], p.prior[lane]
        pull = w[k] * s.P[q, lane]
        s.x[q, lane] += pull * learnt[0]
        s.P[q, lane] -= pull * pull * learnt[1]
        if s.kind[q] == EFFECT:
            continue
        for slot in levels:
            if slot >= 0:
                pull = w[k] * s.delta_v[q, slot, lane]
                s.delta[q, slot, lane] += pull * learnt[0]
                s.delta_v[q, slot, lane] -= pull * pull * learnt[1]


@kernel
def foresee_side(g, side, m, sheet, p, s, room, belief_of_side):
    """Mean and variance of a side's strength before match ``g``, into the rows of ``belief_of_side`` (2, lanes)."""
    team, day, levels = m.home[g] if side == 0 else m.away[g], m.day[g], m.slots[g]
    ids, w = room
    theta, doubt = belief_of_side[0], belief_of_side[1]
    n = np.int64(0)
    if sheet.offsets[2 * g + side + 1] > sheet.offsets[2 * g + side]:
        if sheet.mode == AFTER:
            n = played_lineup(g, side, sheet, p, ids, w)
        elif sheet.mode == STARTERS:
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
def foresee(g, m, sheet, p, s, room, mean, variance):
    """Mean and variance expected of match ``g`` from the state as it stands, into ``mean`` and ``variance`` (lanes)."""
    at = NEUTRAL if m.neutral[g] else HOME
    years = years_since_last(m.day[g], s.clock)
    work = np.empty((2, mean.size))
    for lane in range(mean.size):
        mean[lane] = s.venue[at, lane]
        variance[lane] = s.venue_v[at, lane]
        variance[lane] += p.venue_walk[lane] * years if variance[lane] > 0.0 else 0.0
    for side in range(2):
        foresee_side(g, side, m, sheet, p, s, room, work)
        for lane in range(mean.size):
            mean[lane] += work[0, lane] if side == 0 else -work[0, lane]
            variance[lane] += work[1, lane]


@kernel
def taking_part(g, side, m, sheet, p, s, ids, w):
    """Ids and shares (players each) of all that a side of match ``g`` was made of; return how many."""
    team, day = m.home[g] if side == 0 else m.away[g], m.day[g]
    n = played_lineup(g, side, sheet, p, ids, w)
    if n == 0:
        n = likely_lineup(team, day, p, s, ids, w)
    return with_effect(team, n, s, ids, w)


@kernel
def play(g, m, y, sheet, p, s, rooms):
    """Learn from match ``g`` as it was played, ``y`` (lanes) being what it showed; ``rooms`` (2, players) for line-ups.

    A side whose line-up is not known is credited to its recent players and its stand-in.
    """
    teams, weight, day, levels = (m.home[g], m.away[g]), m.weight[g], m.day[g], m.slots[g]
    ids, w = rooms
    years = years_since_last(day, s.clock)
    move_clock(day, s.clock)
    at = NEUTRAL if m.neutral[g] else HOME
    sizes = (
        taking_part(g, 0, m, sheet, p, s, ids[0], w[0]),
        taking_part(g, 1, m, sheet, p, s, ids[1], w[1]),
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
            n = sizes[side]
            learnt = (surprise / S if side == 0 else -surprise / S, 1.0 / S, priors[side, 0], priors[side, 1])
            learn(ids[side, :n], w[side, :n], lane, learnt, day, levels, p, s)
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
def longest_list(offsets):
    """Length (int) of the longest list that a line-up, the recent ones, a stand-in and the team itself can make."""
    widest = RECENT * WIDEST
    for k in range(offsets.size - 1):
        widest = max(widest, RECENT * WIDEST + offsets[k + 1] - offsets[k])
    return widest + 2


@kernel
def play_all(m, y, sheet, p, s, mean, variance):
    """Rate matches ``m`` in order, a lane per column of ``y``; ``mean`` and ``variance`` (matches, lanes) receive what
    was expected of it, without its noise.
    """
    widest = longest_list(sheet.offsets)
    rooms = Lineup(np.empty((2, widest), np.int64), np.empty((2, widest)))
    first = Lineup(rooms.ids[0], rooms.w[0])
    for g in range(m.home.size):
        foresee(g, m, sheet, p, s, first, mean[g], variance[g])
        play(g, m, y[g], sheet, p, s, rooms)


@kernel
def foresee_all(m, sheet, p, s, mean, variance):
    """Forecast matches from the state as it stands into ``mean`` and ``variance`` (matches, lanes); team −1 is new."""
    widest = longest_list(sheet.offsets)
    room = Lineup(np.empty(widest, np.int64), np.empty(widest))
    for g in range(m.home.size):
        foresee(g, m, sheet, p, s, room, mean[g], variance[g])


@kernel
def team_strengths(day, p, s, theta, sigma, doubt):
    """Mean, spread and uncertainty of every team's strength (teams each) where its line-up is not known."""
    ids, w = np.empty(RECENT * WIDEST + 2, np.int64), np.empty(RECENT * WIDEST + 2)
    levels = np.empty(0, np.int64)
    for team in range(theta.size):
        n = with_effect(team, likely_lineup(team, day, p, s, ids, w), s, ids, w)
        theta[team], uncertain, _, _ = belief(ids, w, n, 0, day, p, s)
        sigma[team] = trust(team, day, s) * math.sqrt(rotation(team, 0, day, levels, p, s)[1])
        doubt[team] = math.sqrt(uncertain)
