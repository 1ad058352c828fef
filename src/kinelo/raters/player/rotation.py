"""Who plays, and for how long: the line-up as it played, as its starters announce it, or as recent matches suggest.

A side's shares ``w_k`` come from minutes, else from who started, times the weight of the role. Before a match each
starter counts with the share he usually plays, and the team's recent substitutes fill up. Where nothing is known the
line-up is a random one of the team's recent line-ups: the paper's random strength, with mean ``θ`` and variance ``σ²``
over those line-ups as their players are rated now. Squads change: the recent line-ups count with ``q = e^{−years}``
since the last one that is known, and a stand-in, the squad of the team, plays the rest. It is rated as one player.

Beside the players stands what a team has as a team, whoever plays (its ``effect``), in every match with share one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import inlined, kernel
from kinelo.raters.random_walk import YEAR, fade, years_since_start

AFTER, STARTERS, UNKNOWN = range(3)
RECENT, WIDEST = 10, 48
USUAL_GAIN = 0.1
FRESH_STARTER = 0.7


PLAYER, STAND_IN, EFFECT = range(3)
"""What is rated: a player, the squad of a team that plays where no line-up is known, or what the team has itself."""


class PlayerParameters(NamedTuple):
    """The numbers of the kernels: variances (``walk``, ``venue_walk`` and ``squad_walk`` a year's), ρ, and how line-ups
    are read; all but the last two are arrays with an entry per lane.

    ``size`` is the total of a line-up where its sum counts, 0 where its mean does.
    """

    walk: NDArray[np.float64]
    prior: NDArray[np.float64]
    newcomer: NDArray[np.float64]
    team_prior: NDArray[np.float64]
    rho: NDArray[np.float64]
    together: NDArray[np.float64]
    noise: NDArray[np.float64]
    venue_walk: NDArray[np.float64]
    squad: NDArray[np.float64]
    squad_walk: NDArray[np.float64]
    bench: float
    size: float


class Sheet(NamedTuple):
    """Line-ups of matches: places of the players of side ``k`` at ``player[offsets[k]:offsets[k + 1]]``; ``mode`` says
    what a forecast may know of them."""

    offsets: NDArray[np.int64]
    player: NDArray[np.int32]
    minutes: NDArray[np.float64]
    starter: NDArray[np.int8]
    role_weight: NDArray[np.float64]
    mode: int = AFTER


class Lineup(NamedTuple):
    """Room for a line-up: places of players, and their shares (players each)."""

    ids: NDArray[np.int64]
    w: NDArray[np.float64]


class PlayerState(NamedTuple):
    """What is known of players (``x, P, last, games, usual, team_of, kind``), of teams' recent line-ups, and of venues.

    ``x, P, venue, venue_v, delta, delta_v`` have a last axis of lanes where kernels read and write them. ``ring_day``
    is the day of the last line-up known, ``stand_in`` and ``effect`` the places of those of a team (−1: none).
    ``delta`` and ``delta_v`` hold the players' strengths under conditions, ``slot_v`` their variance before any match;
    ``seat`` is scratch space: one plus the place of a player in a list that is being made, 0 outside.
    """

    x: NDArray[np.float64]
    P: NDArray[np.float64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    usual: NDArray[np.float64]
    seat: NDArray[np.int64]
    team_of: NDArray[np.int64]
    kind: NDArray[np.int8]
    ring_ids: NDArray[np.int32]
    ring_w: NDArray[np.float64]
    ring_start: NDArray[np.int8]
    ring_count: NDArray[np.int64]
    ring_day: NDArray[np.int64]
    stand_in: NDArray[np.int64]
    effect: NDArray[np.int64]
    venue: NDArray[np.float64]
    venue_v: NDArray[np.float64]
    clock: NDArray[np.int64]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    slot_v: NDArray[np.float64]


@kernel
def raw_shares(lo, hi, sheet, bench, w):
    """Time played as a part of the longest, into ``w`` (players); by starts if minutes are unknown. Return the sum."""
    longest = 0.0
    known = 0
    played = 0.0
    for c in range(lo, hi):
        if not math.isnan(sheet.minutes[c]):
            longest = max(longest, sheet.minutes[c])
            played += sheet.minutes[c]
            known += 1
    total = 0.0
    for c in range(lo, hi):
        if longest > 0.0:
            share = (played / known if math.isnan(sheet.minutes[c]) else sheet.minutes[c]) / longest
        else:
            share = bench if sheet.starter[c] == 0 else 1.0
        w[c - lo] = share * sheet.role_weight[c]
        total += w[c - lo]
    return total


@kernel
def normalise(w, n, total, size):
    """Make shares ``w`` (players) sum to one (``size`` 0), or to ``total / size`` where a side's strength is a sum."""
    scale = size if size > 0.0 else max(total, 1e-12)
    for k in range(n):
        w[k] /= scale


@kernel
def played_lineup(g, side, sheet, p, ids, w):
    """Ids and shares (players each) of those of the line-up who played; return how many."""
    lo, hi = sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]
    total = raw_shares(lo, hi, sheet, p.bench, w)
    n = 0
    for c in range(lo, hi):
        if w[c - lo] > 0.0:
            ids[n] = sheet.player[c]
            w[n] = w[c - lo]
            n += 1
    normalise(w, n, total, p.size)
    return n


@kernel
def add_recent(team, fixed, s, ids, w):
    """Append the average of the team's recent line-ups to ids[:fixed] (players); only substitutes if any are fixed."""
    n = fixed
    for k in range(fixed):
        s.seat[ids[k]] = k + 1
    lineups = min(s.ring_count[team], RECENT)
    added = 0.0
    for r in range(lineups):
        for c in range(WIDEST):
            q = s.ring_ids[team, r, c]
            if q < 0:
                break
            if fixed > 0 and s.ring_start[team, r, c] != 0:
                break
            if 0 < s.seat[q] <= fixed:
                continue
            if s.seat[q] == 0:
                ids[n] = q
                w[n] = 0.0
                n += 1
                s.seat[q] = n
            w[s.seat[q] - 1] += s.ring_w[team, r, c] / lineups
            added += s.ring_w[team, r, c] / lineups
    for k in range(n):
        s.seat[ids[k]] = 0
    return n, added


@kernel
def recent_average(team, p, s, ids, w):
    """Ids and shares (players each) of the average of the team's recent line-ups; return how many."""
    n, total = add_recent(team, np.int64(0), s, ids, w)  # a bare 0 would be compiled for itself
    normalise(w, n, total, p.size)
    return n


@kernel
def trust(team, day, s):
    """How much (float) a team's recent line-ups still tell of who plays."""
    if team < 0 or s.ring_count[team] == 0:
        return 0.0
    return math.exp(-max(day - s.ring_day[team], 0) / YEAR)


@kernel
def likely_lineup(team, day, p, s, ids, w):
    """Ids and shares (players each) where no line-up is known: recent players as far as trusted, and the stand-in."""
    q = trust(team, day, s)
    n = np.int64(0)
    if q > 0.0:
        n = recent_average(team, p, s, ids, w)
        for k in range(n):
            w[k] *= q
    if team >= 0 and s.stand_in[team] >= 0:
        ids[n] = s.stand_in[team]
        w[n] = 1.0 - q
        n += 1
    return n


@kernel
def with_effect(team, n, s, ids, w):
    """Append what the team has itself to ids and shares (players each); return how many."""
    if team >= 0 and s.effect[team] >= 0:
        ids[n] = s.effect[team]
        w[n] = 1.0
        n += 1
    return n


@kernel
def announced_lineup(g, side, team, sheet, p, s, ids, w):
    """Ids and shares (players each) of the line-up as its starters let expect it; return how many."""
    n = np.int64(0)
    total = 0.0
    for c in range(sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]):
        if sheet.starter[c] != 0:
            q = sheet.player[c]
            ids[n] = q
            w[n] = (s.usual[q] if s.usual[q] > 0.0 else FRESH_STARTER) * sheet.role_weight[c]
            total += w[n]
            n += 1
    if team >= 0:
        n, added = add_recent(team, n, s, ids, w)
        total += added
    normalise(w, n, total, p.size)
    return n


@inlined
def strength_on(player, lane, day, p, s):
    """Mean and variance of a strength on a day, of one who has played."""
    if s.kind[player] == EFFECT:
        f, added = fade(day - s.last[player], 0.0, p.squad_walk[lane])
    else:
        f, added = fade(day - s.last[player], p.rho[lane], p.walk[lane])
    return f * s.x[player, lane], f * f * s.P[player, lane] + added


@kernel
def belief(ids, w, n, lane, day, p, s):
    """Mean and variance (floats) of ``Σ w x`` on a day, and the prior means of newcomers and of a stand-in among them.

    A newcomer leans on those he plays with, as far as they are known: a side of newcomers is as strong as they are.
    What newcomers of one side have in common is doubted as well. A new stand-in is what is known of the team.
    """
    mean = variance = fresh = squads = share = own = 0.0
    for k in range(n):
        q = ids[k]
        kind = s.kind[q]
        if s.games[q] > 0:
            x, P = strength_on(q, lane, day, p, s)
            variance += w[k] * w[k] * P
            if kind == EFFECT:
                own += w[k] * x
            else:
                mean += w[k] * x
                share += w[k]
        elif kind == EFFECT:
            variance += w[k] * w[k] * p.squad[lane]
        else:
            variance += w[k] * w[k] * p.prior[lane]
            if kind == STAND_IN:
                squads += w[k]
            else:
                fresh += w[k]
    variance += p.together[lane] * fresh * fresh * p.prior[lane]
    level = p.newcomer[lane] * (1.0 - math.exp(-years_since_start(day, s.clock)))
    prior = level + p.team_prior[lane] * mean
    known = mean / share if share > 1e-9 else level
    if n == 0:
        return prior, p.prior[lane] + p.squad[lane], prior, known
    return mean + own + fresh * prior + squads * known, variance, prior, known


@kernel
def by_level(ids, w, n, lane, levels, s):
    """Mean and variance (floats) of ``Σ w δ`` under the levels of a match; if nobody is listed, one unknown player."""
    mean = 0.0
    variance = 0.0
    for slot in levels:
        if slot >= 0:
            for k in range(n):
                if s.kind[ids[k]] != EFFECT:
                    mean += w[k] * s.delta[ids[k], slot, lane]
                    variance += w[k] * w[k] * s.delta_v[ids[k], slot, lane]
            if n == 0:
                variance += s.slot_v[slot, lane]
    return mean, variance


@kernel
def rotation(team, lane, day, levels, p, s):
    """Mean ``θ`` and variance ``σ²`` (floats) of the strength over the team's recent line-ups, as rated now."""
    lineups = min(s.ring_count[team], RECENT)
    theta = 0.0
    square = 0.0
    for r in range(lineups):
        strength = 0.0
        total = 0.0
        c = 0
        while c < WIDEST and s.ring_ids[team, r, c] >= 0:
            player, share = s.ring_ids[team, r, c], s.ring_w[team, r, c]
            total += share
            x = strength_on(player, lane, day, p, s)[0]
            for slot in levels:
                if slot >= 0:
                    x += s.delta[player, slot, lane]
            strength += share * x
            c += 1
        strength /= p.size if p.size > 0.0 else max(total, 1e-12)
        theta += strength / max(lineups, 1)
        square += strength * strength / max(lineups, 1)
    return theta, max(square - theta * theta, 0.0)


@kernel
def remember(g, side, team, day, sheet, p, s, w):
    """Keep the line-up (shares ``w``) among the team's recent ones, and how long each of its players usually plays."""
    lo, hi = sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]
    if raw_shares(lo, hi, sheet, p.bench, w) <= 0.0:
        return
    slot = s.ring_count[team] % RECENT
    s.ring_ids[team, slot, :] = -1
    n = 0
    for started in (False, True):  # substitutes first, so that a search for them can stop early
        for c in range(lo, hi):
            if w[c - lo] > 0.0 and (sheet.starter[c] != 0) == started and n < WIDEST:
                s.ring_ids[team, slot, n] = sheet.player[c]
                s.ring_w[team, slot, n] = w[c - lo]
                s.ring_start[team, slot, n] = sheet.starter[c]
                n += 1
    for c in range(lo, hi):
        if w[c - lo] > 0.0:
            q = sheet.player[c]
            share = w[c - lo] / sheet.role_weight[c]
            s.usual[q] = share if s.usual[q] == 0.0 else s.usual[q] + USUAL_GAIN * (share - s.usual[q])
    s.ring_count[team] += 1
    s.ring_day[team] = max(day, s.ring_day[team])
