"""What the player ratings expect of matches, and the exact derivatives of that by every parameter of the filter.

Beside each player's mean and variance of :mod:`kinelo.raters.player.kernels` runs the row of its derivatives by all
parameters (forward differentiation). Line-ups do not depend on them, except through the weights of roles, which are
left to differences.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.play.formula import inlined, kernel
from kinelo.raters.player.kernels import HOME, NEUTRAL, room
from kinelo.raters.player.rotation import (
    AFTER,
    RECENT,
    STARTERS,
    WIDEST,
    announced_lineup,
    played_lineup,
    recent_average,
    remember,
)
from kinelo.raters.random_walk import fade_slopes, move_clock, years_since_last, years_since_start

WALK, PRIOR, VENUE_WALK, NEWCOMER, TEAM_PRIOR, TOGETHER, RHO, POWER, SIZE = range(9)
"""Columns of derivatives: by the numbers of the kernels, by the power of margins, and from SIZE on by the variance of
strengths under each condition."""


@kernel
def belief(ids, w, n, day, p, s, dx, dP, dmean, dvariance, dprior):
    """Mean and variance of ``Σ w x`` and the newcomers' prior mean as in the rater, and their derivatives."""
    mean = variance = fresh = alone = 0.0
    dmean[:] = 0.0
    dvariance[:] = 0.0
    for k in range(n):
        player, share = ids[k], w[k]
        square = share * share
        if s.games[player] == 0:
            fresh += share
            alone += square
        else:
            f, A, df, dA = fade_slopes(day - s.last[player], p.rho)
            mean += share * f * s.x[player]
            variance += square * (f * f * s.P[player] + p.walk * A)
            for q in range(dx.shape[1]):
                dmean[q] += share * f * dx[player, q]
                dvariance[q] += square * f * f * dP[player, q]
            dmean[RHO] += share * df * s.x[player]
            dvariance[RHO] += square * (2.0 * f * df * s.P[player] + p.walk * dA)
            dvariance[WALK] += square * A
    together = p.together * fresh * fresh
    variance += (alone + together) * p.prior
    dvariance[PRIOR] += alone + together
    dvariance[TOGETHER] += fresh * fresh * p.prior
    late = 1.0 - math.exp(-years_since_start(day, s.clock))
    prior = p.newcomer * late + p.team_prior * mean
    for q in range(dx.shape[1]):
        dprior[q] = p.team_prior * dmean[q]
    dprior[NEWCOMER] += late
    dprior[TEAM_PRIOR] += mean
    if n == 0:
        dmean[:] = dprior
        dvariance[PRIOR] = 1.0
        return prior, p.prior, prior
    for q in range(dx.shape[1]):
        dmean[q] += fresh * dprior[q]
    return mean + fresh * prior, variance, prior


@kernel
def by_level(ids, w, n, levels, s, ddelta, ddelta_v, dmean, dvariance):
    """Mean and variance of ``Σ w δ`` as in the rater; the derivatives are added to those of ``Σ w x``."""
    mean = variance = 0.0
    for c in range(levels.size):
        slot = levels[c]
        if slot < 0:
            continue
        for k in range(n):
            player, share = ids[k], w[k]
            square = share * share
            mean += share * s.delta[player, slot]
            variance += square * s.delta_v[player, slot]
            for q in range(dmean.size):
                dmean[q] += share * ddelta[slot, player, q]
                dvariance[q] += square * ddelta_v[slot, player, q]
        if n == 0:
            variance += s.slot_v[slot]
            dvariance[SIZE + c] += 1.0
    return mean, variance


@kernel
def rotation(team, day, levels, p, s, ids, w, dx, dP, ddelta, ddelta_v, dmean, dvariance, dprior, dstrength):
    """Mean and variance of a side of which only recent line-ups are known, and their derivatives."""
    n = recent_average(team, p, s, ids, w)
    _, variance, _ = belief(ids, w, n, day, p, s, dx, dP, dmean, dvariance, dprior)
    if levels.size > 0:
        variance += by_level(ids, w, n, levels, s, ddelta, ddelta_v, dmean, dvariance)[1]
    dmean[:] = 0.0
    lineups = min(s.ring_count[team], RECENT)
    theta = square = 0.0
    dsquare = np.zeros(dx.shape[1])
    for r in range(lineups):
        strength = total = 0.0
        dstrength[:] = 0.0
        for c in range(WIDEST):
            player = s.ring_ids[team, r, c]
            if player < 0:
                break
            share = s.ring_w[team, r, c]
            total += share
            f, _, df, _ = fade_slopes(day - s.last[player], p.rho)
            strength += share * f * s.x[player]
            for q in range(dx.shape[1]):
                dstrength[q] += share * f * dx[player, q]
            dstrength[RHO] += share * df * s.x[player]
            for slot in levels:
                if slot >= 0:
                    strength += share * s.delta[player, slot]
                    for q in range(dx.shape[1]):
                        dstrength[q] += share * ddelta[slot, player, q]
        scale = p.size if p.size > 0.0 else max(total, 1e-12)
        strength /= scale
        theta += strength / lineups
        square += strength * strength / lineups
        for q in range(dx.shape[1]):
            dmean[q] += dstrength[q] / (scale * lineups)
            dsquare[q] += 2.0 * strength * dstrength[q] / (scale * lineups)
    between = square - theta * theta
    if between > 0.0:
        variance += between
        for q in range(dx.shape[1]):
            dvariance[q] += dsquare[q] - 2.0 * theta * dmean[q]
    return theta, variance


@inlined
def taken(share, sign, e, de, S, dS, x, v, dx, dv):
    """Mean and variance of one strength after its part of the surprise; ``dx`` and ``dv`` take the derivatives."""
    pull = share * v
    for q in range(de.size):
        dpull = share * dv[q]
        part = (dpull - pull * dS[q] / S) / S
        dx[q] += sign * (part * e + pull * de[q] / S)
        dv[q] -= pull * (part + dpull / S)
    return x + sign * pull * e / S, v - pull * pull / S


@kernel
def learn(ids, w, n, sign, prior, dprior, e, de, S, dS, day, p, s, dx, dP):
    """Share the surprise ``e`` among those who played, and its derivative among theirs."""
    for k in range(n):
        player = ids[k]
        if s.games[player] == 0:
            s.x[player] = prior
            s.P[player] = p.prior
            dx[player] = dprior
            dP[player] = 0.0
            dP[player, PRIOR] = 1.0
        else:
            f, A, df, dA = fade_slopes(day - s.last[player], p.rho)
            for q in range(dx.shape[1]):
                dx[player, q] *= f
                dP[player, q] *= f * f
            dx[player, RHO] += df * s.x[player]
            dP[player, RHO] += 2.0 * f * df * s.P[player] + p.walk * dA
            dP[player, WALK] += A
            s.x[player] *= f
            s.P[player] = f * f * s.P[player] + p.walk * A
        s.x[player], s.P[player] = taken(w[k], sign, e, de, S, dS, s.x[player], s.P[player], dx[player], dP[player])
        s.last[player] = day
        s.games[player] += 1


@kernel
def learn_levels(ids, w, n, levels, sign, e, de, S, dS, s, ddelta, ddelta_v):
    """Share the surprise among the strengths under the levels of a match, and its derivative among theirs."""
    for slot in levels:
        if slot < 0:
            continue
        for k in range(n):
            player = ids[k]
            s.delta[player, slot], s.delta_v[player, slot] = taken(
                w[k], sign, e, de, S, dS, s.delta[player, slot], s.delta_v[player, slot], ddelta[slot, player],
                ddelta_v[slot, player],
            )  # fmt: skip


@kernel
def walk_with_slopes(
    home, away, y, dy, neutral, weight, day, slots, sheet, mode, p, s, mean, variance, dmean, dvariance
):  # fmt: skip
    """Rate matches in order; ``dy`` is the derivative of ``y`` by the power of margins."""
    width = dmean.shape[1]
    widest = room(sheet.offsets)
    ids, w = np.empty((2, widest), np.int64), np.empty((2, widest))
    dx, dP = np.zeros((s.x.size, width)), np.zeros((s.x.size, width))
    dvenue, dvenue_v = np.zeros((2, width)), np.zeros((2, width))
    part, dpart, dspread = np.zeros((2, width)), np.zeros((2, width)), np.zeros(width)
    de, dS = np.empty(width), np.empty(width)
    size, prior = np.zeros(2, np.int64), np.zeros(2)
    dtheta = np.empty(width)
    ddelta, ddelta_v = np.zeros((s.slot_v.size, s.x.size, width)), np.zeros((s.slot_v.size, s.x.size, width))
    started = np.zeros(s.slot_v.size, np.bool_)
    for g in range(home.size):
        levels = slots[g]
        for c in range(levels.size):
            if levels[c] >= 0 and not started[levels[c]]:
                started[levels[c]] = True
                ddelta_v[levels[c], :, SIZE + c] = 1.0
        at = NEUTRAL if neutral[g] else HOME
        years = years_since_last(day[g], s.clock)
        for venue in (HOME, NEUTRAL):
            if s.venue_v[venue] > 0.0:
                s.venue_v[venue] += p.venue_walk * years
                dvenue_v[venue, VENUE_WALK] += years
        m, V = s.venue[at], s.venue_v[at]
        dm, dV = dmean[g], dvariance[g]
        dm[:] = dvenue[at]
        dV[:] = dvenue_v[at]
        for side in range(2):
            team = home[g] if side == 0 else away[g]
            sign = 1.0 - 2.0 * side
            listed = sheet.offsets[2 * g + side + 1] > sheet.offsets[2 * g + side]
            n = np.int64(0)
            if listed and mode == AFTER:
                n = played_lineup(g, side, sheet, p, ids[0], w[0])
            elif listed and mode == STARTERS:
                n = announced_lineup(g, side, team, sheet, p, s, ids[0], w[0])
            if n == 0 and s.ring_count[team] > 0:
                theta, doubt = rotation(
                    team, day[g], levels, p, s, ids[0], w[0], dx, dP, ddelta, ddelta_v, dtheta, dspread, dpart[0],
                    dpart[1],
                )  # fmt: skip
            else:
                theta, doubt, _ = belief(ids[0], w[0], n, day[g], p, s, dx, dP, dtheta, dspread, dpart[0])
                if levels.size > 0:
                    better, more = by_level(ids[0], w[0], n, levels, s, ddelta, ddelta_v, dtheta, dspread)
                    theta += better
                    doubt += more
            m += sign * theta
            V += doubt
            for q in range(width):
                dm[q] += sign * dtheta[q]
                dV[q] += dspread[q]
        mean[g], variance[g] = m, V
        move_clock(day[g], s.clock)
        e, S = y[g] - s.venue[at], s.venue_v[at] + p.noise / max(weight[g], 1e-300)
        for q in range(width):
            de[q] = -dvenue[at, q]
            dS[q] = dvenue_v[at, q]
        de[POWER] += dy[g]
        for side in range(2):
            sign = 1.0 - 2.0 * side
            n = played_lineup(g, side, sheet, p, ids[side], w[side])
            if n == 0:
                n = recent_average(home[g] if side == 0 else away[g], p, s, ids[side], w[side])
            theta, doubt, prior[side] = belief(ids[side], w[side], n, day[g], p, s, dx, dP, dtheta, dspread, part[side])
            if levels.size > 0:
                better, more = by_level(ids[side], w[side], n, levels, s, ddelta, ddelta_v, dtheta, dspread)
                theta += better
                doubt += more
            size[side] = n
            e -= sign * theta
            S += doubt
            for q in range(width):
                de[q] -= sign * dtheta[q]
                dS[q] += dspread[q]
        if weight[g] <= 0.0:
            e = 0.0
            de[:] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            learn(ids[side], w[side], size[side], sign, prior[side], part[side], e, de, S, dS, day[g], p, s, dx, dP)
            if levels.size > 0:
                learn_levels(ids[side], w[side], size[side], levels, sign, e, de, S, dS, s, ddelta, ddelta_v)
            remember(g, side, home[g] if side == 0 else away[g], sheet, p, s, w[side])
        s.venue[at], s.venue_v[at] = taken(1.0, 1.0, e, de, S, dS, s.venue[at], s.venue_v[at], dvenue[at], dvenue_v[at])
