"""Compiled loops of the player ratings.

A side's strength is ``θ = Σ_k w_k x_k`` over its line-up, with shares ``w_k`` from minutes, starts and roles. A match
shows ``y = θ_home − θ_away + venue + ε``. With independent normal beliefs ``x_k ~ N(·, P_k)`` and
``S = Σ w_k² P_k + Var venue + Var ε`` over both sides, everyone who played shares in the surprise:
``x_k += ± w_k P_k (y − ŷ)/S``, ``P_k −= (w_k P_k)²/S``. Under level ``l`` of a condition a player is better by
``δ_kl``, believed independent of everything else: it joins θ and ``S`` with his share, and learns as ``x_k`` does.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import kernel
from kinelo.raters.player.rotation import (
    AFTER,
    RECENT,
    STARTERS,
    WIDEST,
    announced_lineup,
    belief,
    by_level,
    played_lineup,
    recent_average,
    remember,
    rotation,
)
from kinelo.raters.random_walk import fade, move_clock, years_since_last

HOME, NEUTRAL = range(2)


@kernel
def learn(ids, w, n, prior, gain, day, levels, p, s):
    """Share a surprise among those who played; ``gain`` holds ``±(y − ŷ)/S`` and ``1/S``."""
    for k in range(n):
        q = ids[k]
        if s.games[q] == 0:
            s.x[q] = prior
            s.P[q] = p.prior
        else:
            f, added = fade(day - s.last[q], p.rho, p.walk)
            s.x[q] *= f
            s.P[q] = f * f * s.P[q] + added
        pull = w[k] * s.P[q]
        s.x[q] += pull * gain[0]
        s.P[q] -= pull * pull * gain[1]
        for slot in levels:
            if slot >= 0:
                pull = w[k] * s.delta_v[q, slot]
                s.delta[q, slot] += pull * gain[0]
                s.delta_v[q, slot] -= pull * pull * gain[1]
        s.last[q] = day
        s.games[q] += 1


@kernel
def foresee(g, teams, neutral, day, levels, sheet, mode, p, s, ids, w):
    """Mean and variance expected of match ``g``, from the state as it stands."""
    at = NEUTRAL if neutral else HOME
    mean = s.venue[at]
    variance = s.venue_v[at]
    variance += p.venue_walk * years_since_last(day, s.clock) if variance > 0.0 else 0.0
    for side in range(2):
        team = teams[side]
        listed = sheet.offsets[2 * g + side + 1] > sheet.offsets[2 * g + side]
        n = np.int64(0)
        if listed and mode == AFTER:
            n = played_lineup(g, side, sheet, p, ids, w)
        elif listed and mode == STARTERS:
            n = announced_lineup(g, side, team, sheet, p, s, ids, w)
        theta, doubt, _ = belief(ids, w, n, day, p, s)
        if n == 0 and team >= 0 and s.ring_count[team] > 0:
            theta, sigma2, doubt = rotation(team, day, levels, p, s, ids, w)
            doubt += sigma2
        elif levels.size > 0:  # to hand the state on takes time
            better, more = by_level(ids, w, n, levels, s)
            theta += better
            doubt += more
        mean += theta if side == 0 else -theta
        variance += doubt
    return mean, variance


@kernel
def play(g, teams, y, neutral, weight, day, levels, sheet, p, s, ids, w):
    """Learn from match ``g`` as it was played; a side whose line-up is not known is credited to its recent players."""
    for venue in (HOME, NEUTRAL):  # an advantage that is certain is never learnt and stays so
        s.venue_v[venue] += p.venue_walk * years_since_last(day, s.clock) if s.venue_v[venue] > 0.0 else 0.0
    move_clock(day, s.clock)
    at = NEUTRAL if neutral else HOME
    S = s.venue_v[at] + p.noise / max(weight, 1e-300)
    surprise = y - s.venue[at]
    size = np.zeros(2, np.int64)
    prior = np.zeros(2)
    for side in range(2):
        n = played_lineup(g, side, sheet, p, ids[side], w[side])
        if n == 0:
            n = recent_average(teams[side], p, s, ids[side], w[side])
        theta, doubt, prior[side] = belief(ids[side], w[side], n, day, p, s)
        if levels.size > 0:
            better, more = by_level(ids[side], w[side], n, levels, s)
            theta += better
            doubt += more
        size[side] = n
        surprise -= theta if side == 0 else -theta
        S += doubt
    if weight <= 0.0:
        surprise = 0.0
    for side in range(2):
        gain = (surprise / S if side == 0 else -surprise / S, 1.0 / S)
        learn(ids[side], w[side], size[side], prior[side], gain, day, levels, p, s)
        remember(g, side, teams[side], sheet, p, s, w[side])
    pull = s.venue_v[at]
    s.venue[at] += pull * surprise / S
    s.venue_v[at] -= pull * pull / S


@kernel
def room(offsets):
    """The longest list of players that a line-up and the recent ones can make."""
    widest = RECENT * WIDEST
    for k in range(offsets.size - 1):
        widest = max(widest, RECENT * WIDEST + offsets[k + 1] - offsets[k])
    return widest


@kernel
def play_all(home, away, y, neutral, weight, day, slots, sheet, mode, p, s, mean, variance):
    """Rate matches in order; ``mean`` and ``variance`` receive what was expected of ``y``, without its noise."""
    widest = room(sheet.offsets)
    ids, w = np.empty((2, widest), np.int64), np.empty((2, widest))
    for g in range(home.size):
        teams = (home[g], away[g])
        mean[g], variance[g] = foresee(g, teams, neutral[g], day[g], slots[g], sheet, mode, p, s, ids[0], w[0])
        play(g, teams, y[g], neutral[g], weight[g], day[g], slots[g], sheet, p, s, ids, w)


@kernel
def foresee_all(home, away, neutral, day, slots, sheet, mode, p, s, mean, variance):
    """Forecast matches from the state as it stands; team −1 was never met."""
    widest = room(sheet.offsets)
    ids, w = np.empty(widest, np.int64), np.empty(widest)
    for g in range(home.size):
        mean[g], variance[g] = foresee(g, (home[g], away[g]), neutral[g], day[g], slots[g], sheet, mode, p, s, ids, w)


@kernel
def team_strengths(day, p, s, theta, sigma, doubt):
    """Mean and spread of every team's strength over its recent line-ups, and how uncertain the mean is."""
    ids, w = np.empty(RECENT * WIDEST, np.int64), np.empty(RECENT * WIDEST)
    levels = np.empty(0, np.int64)
    for team in range(theta.size):
        theta[team], variance, uncertain = rotation(team, day, levels, p, s, ids, w)
        sigma[team] = math.sqrt(variance)
        doubt[team] = math.sqrt(uncertain)
