"""Who plays, and for how long: the line-up as it played, as its starters announce it, or as recent matches suggest.

A side's shares ``w_k`` come from minutes, else from who started, times the weight of the role. Before a match each
starter counts with the share he usually plays, and the team's recent substitutes fill up. Where nothing is known the
line-up is a random one of the team's recent line-ups: the paper's random strength, with mean ``θ`` and variance ``σ²``
over those line-ups as their players are rated now. Squads change: the recent line-ups count with ``q = e^{−years}``
since the last one that is known, and a stand-in, the squad of the team, plays the rest. It is rated as one player.

Beside the players stands what a team has as a team, whoever plays (its ``effect``), in every match with share one.

All this becomes entries of slots (:func:`make_lists`), before anything is believed of a strength.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import borrowing, inlined, kernel, part
from kinelo.raters.filter.belief import YEAR
from kinelo.raters.filter.state import HOME, NEUTRAL, OWN, STAND_IN, STRENGTH

AFTER, STARTERS, UNSEEN = range(3)
RECENT, MOST_PLAYERS = 10, 48
USUAL_GAIN = 0.1
FRESH_STARTER = 0.7
FIRST_ROOM = 64
"""Entries a match has room for at first."""


class Sheet(NamedTuple):
    """Line-ups of matches: places of the players of side ``k`` at ``player[offsets[k]:offsets[k + 1]]``, −1 for
    somebody never met; ``mode`` says what a forecast may know of them, ``bench`` how long a substitute plays where
    nothing is known, and ``size`` is the total of a line-up where its sum counts, 0 where its mean does.
    """

    offsets: NDArray[np.int64]
    player: NDArray[np.int32]
    minutes: NDArray[np.float64]
    starter: NDArray[np.int8]
    role_weight: NDArray[np.float64]
    mode: int
    bench: float
    size: float


class Squads(NamedTuple):
    """Slots of players, how long each usually plays, and the team played for last; of teams the recent line-ups, the
    day of the last one known, and the slots of the stand-in and of what the team has itself.

    ``seat`` is scratch space: one plus the place of a player in a list that is being made, 0 outside.
    """

    own: NDArray[np.int64]
    usual: NDArray[np.float64]
    seat: NDArray[np.int64]
    team_of: NDArray[np.int64]
    ring_ids: NDArray[np.int32]
    ring_w: NDArray[np.float64]
    ring_start: NDArray[np.int8]
    ring_count: NDArray[np.int64]
    ring_day: NDArray[np.int64]
    stand_in: NDArray[np.int64]
    effect: NDArray[np.int64]


class Side(NamedTuple):
    """Room for a line-up: places of players, their shares, and how long those of its sheet played (players each); and
    by side how much of a forecast rests on recent line-ups (2).
    """

    ids: NDArray[np.int64]
    w: NDArray[np.float64]
    raw: NDArray[np.float64]
    trusts: NDArray[np.float64]


class Written(NamedTuple):
    """A list of entries that is being written: slots and shares (room for entries), and the place of the latest entry
    of every slot, −1 before the first (slots).
    """

    slots: NDArray[np.int64]
    shares: NDArray[np.float64]
    mark: NDArray[np.int64]


class Fixtures(NamedTuple):
    """Matches as line-ups are made for them: places of both teams (−1: never met), days and venues."""

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    day: NDArray[np.int64]
    neutral: NDArray[np.bool_]


@part
def raw_shares(lo, hi, sheet, w):
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
            share = sheet.bench if sheet.starter[c] == 0 else 1.0
        w[c - lo] = share * sheet.role_weight[c]
        total += w[c - lo]
    return total


@kernel
def mean_lineup_size(sheet):
    """Average total share (float) of the line-ups of which anybody is known, a full match counting one."""
    widest = 0
    for k in range(sheet.offsets.size - 1):
        widest = max(widest, sheet.offsets[k + 1] - sheet.offsets[k])
    w, total, known = np.empty(widest), 0.0, 0
    for k in range(sheet.offsets.size - 1):
        if sheet.offsets[k + 1] > sheet.offsets[k]:
            total += raw_shares(sheet.offsets[k], sheet.offsets[k + 1], sheet, w)
            known += 1
    return total / known


@part
def normalise(w, n, total, size):
    """Make shares ``w`` (players) sum to one (``size`` 0), or to ``total / size`` where a side's strength is a sum."""
    scale = size if size > 0.0 else max(total, 1e-12)
    for k in range(n):
        w[k] /= scale


@part
def played_lineup(g, side, sheet, room):
    """Ids and shares (players each) of those of the line-up who played, and how long; return how many."""
    lo, hi = sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]
    ids, w, raw = room.ids, room.w, room.raw
    total = raw_shares(lo, hi, sheet, raw)
    n = np.int64(0)
    for c in range(lo, hi):
        if raw[c - lo] > 0.0:
            ids[n], w[n] = sheet.player[c], raw[c - lo]
            n += 1
    normalise(w, n, total, sheet.size)
    return n


@part
def add_recent(team, fixed, s, ids, w):
    """Append the average of the team's recent line-ups to ids[:fixed] (players); only substitutes if any are fixed."""
    n = fixed
    for k in range(fixed):
        if ids[k] >= 0:
            s.seat[ids[k]] = k + 1
    lineups = min(s.ring_count[team], RECENT)
    added = 0.0
    for r in range(lineups):
        for c in range(MOST_PLAYERS):
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
        if ids[k] >= 0:
            s.seat[ids[k]] = 0
    return n, added


@part
def trust(team, day, s):
    """How much (float) a team's recent line-ups still tell of who plays."""
    if team < 0 or s.ring_count[team] == 0:
        return 0.0
    return math.exp(-max(day - s.ring_day[team], 0) / YEAR)


@part
def likely_lineup(team, q, sheet, s, ids, w):
    """Ids and shares (players each) where no line-up is known: recent players as far as trusted; return how many."""
    if q <= 0.0:
        return np.int64(0)
    n, total = add_recent(team, np.int64(0), s, ids, w)  # a bare 0 would be compiled for itself
    normalise(w, n, total, sheet.size)
    for k in range(n):
        w[k] *= q
    return n


@part
def announced_lineup(g, side, team, sheet, s, ids, w):
    """Ids and shares (players each) of the line-up as its starters let expect it; return how many."""
    n = np.int64(0)
    total = 0.0
    for c in range(sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]):
        if sheet.starter[c] != 0:
            q = sheet.player[c]
            usual = s.usual[q] if q >= 0 and s.usual[q] > 0.0 else FRESH_STARTER
            ids[n] = q
            w[n] = usual * sheet.role_weight[c]
            total += w[n]
            n += 1
    if team >= 0:
        n, added = add_recent(team, n, s, ids, w)
        total += added
    normalise(w, n, total, sheet.size)
    return n


@part
def remember(g, side, team, day, sheet, s, w):
    """Keep the line-up, whose players played ``w``, among the team's recent ones, and how long each usually plays."""
    lo, hi = sheet.offsets[2 * g + side], sheet.offsets[2 * g + side + 1]
    at = s.ring_count[team] % RECENT
    ids, shares, starts = s.ring_ids[team, at], s.ring_w[team, at], s.ring_start[team, at]
    n = 0
    for started in (False, True):  # substitutes first, so that a search for them can stop early
        for c in range(lo, hi):
            if w[c - lo] > 0.0 and (sheet.starter[c] != 0) == started and n < MOST_PLAYERS:
                ids[n], shares[n], starts[n] = sheet.player[c], w[c - lo], sheet.starter[c]
                n += 1
    while n < MOST_PLAYERS and ids[n] >= 0:
        ids[n] = -1
        n += 1
    for c in range(lo, hi):
        if w[c - lo] > 0.0:
            q = sheet.player[c]
            share = w[c - lo] / sheet.role_weight[c]
            s.usual[q] = share if s.usual[q] == 0.0 else s.usual[q] + USUAL_GAIN * (share - s.usual[q])
    s.ring_count[team] += 1
    s.ring_day[team] = max(day, s.ring_day[team])


@inlined
def longer(values, size):
    """The values in an array with room for ``size``."""
    more = np.empty(size, values.dtype)
    for k in range(values.size):
        more[k] = values[k]
    return more


@inlined
def enlarged(written, size):
    """The same list if it has room for ``size`` entries (int), else one with twice the room."""
    if size <= written.slots.size:
        return written
    twice = 2 * written.slots.size
    return Written(longer(written.slots, twice), longer(written.shares, twice), written.mark)


@part
def write(slot, share, n, start, written):
    """Write an entry at place ``n`` (int), or add its share to that of the same slot in the match that begins at
    ``start``; return the next place.
    """
    mark, slots, shares = written.mark, written.slots, written.shares
    if slot >= 0:
        if mark[slot] >= start:
            shares[mark[slot]] += share
            return n
        mark[slot] = n
    slots[n], shares[n] = slot, share
    return n + 1


@part
def write_side(team, sign, lineup, room, s, at, written):
    """Write the entries of a side: its line-up, its stand-in, and what the team has itself; return the next place.

    ``lineup`` is the number of its players in ``room`` and the share of the stand-in, ``at`` the next place and where
    the match begins. A team never met is a newcomer, whoever plays for it.
    """
    ids, w, (count, rest), (n, start) = room.ids, room.w, lineup, at
    for k in range(count):
        if w[k] > 0.0:
            n = write(s.own[ids[k]] if ids[k] >= 0 else -1 - STRENGTH, sign * w[k], n, start, written)
    if rest > 0.0:
        n = write(s.stand_in[team] if team >= 0 else -1 - STAND_IN, sign * rest, n, start, written)
    return write(s.effect[team] if team >= 0 else -1 - OWN, sign, n, start, written)


@borrowing
def write_rotation(team, sheet, s, lineup, n, offsets, written):
    """Write the recent line-ups of a team, of which one will play; return how many line-ups and entries there are."""
    slots, shares = written.slots, written.shares
    for r in range(min(s.ring_count[team], RECENT)):
        total = 0.0
        c = 0
        while c < MOST_PLAYERS and s.ring_ids[team, r, c] >= 0:
            total += s.ring_w[team, r, c]
            c += 1
        scale = sheet.size if sheet.size > 0.0 else max(total, 1e-12)
        for k in range(c):
            slots[n], shares[n] = s.own[s.ring_ids[team, r, k]], s.ring_w[team, r, k] / scale
            n += 1
        lineup += 1
        offsets[lineup] = n
    return lineup, n


@borrowing
def make_ahead(m, g, sheet, s, room, start, written):
    """Write the entries with which match ``g`` is forecast from ``start`` on; return where they end.

    ``room`` receives how much of it rests on recent line-ups.
    """
    trusts = room.trusts
    n = write(NEUTRAL if m.neutral[g] else HOME, 1.0, start, start, written)
    for side in range(2):
        team, sign = (m.home[g], 1.0) if side == 0 else (m.away[g], -1.0)
        trusts[side] = 0.0
        count, rest = np.int64(0), 0.0
        if sheet.offsets[2 * g + side + 1] > sheet.offsets[2 * g + side]:
            if sheet.mode == AFTER:
                count = played_lineup(g, side, sheet, room)
            elif sheet.mode == STARTERS:
                count = announced_lineup(g, side, team, sheet, s, room.ids, room.w)
        if count == 0:
            q = trust(team, m.day[g], s)
            trusts[side] = q
            count = likely_lineup(team, trusts[side], sheet, s, room.ids, room.w)
            rest = 1.0 - trusts[side]
        n = write_side(team, sign, (count, rest), room, s, (n, start), written)
    return n


@borrowing
def make_played(m, g, sheet, s, room, start, written):
    """Write the entries of match ``g`` as it was played from ``start`` on, and remember its line-ups; return the end.

    A side whose line-up is not known is credited to its recent players and its stand-in.
    """
    n = write(NEUTRAL if m.neutral[g] else HOME, 1.0, start, start, written)
    for side in range(2):
        team, sign = (m.home[g], 1.0) if side == 0 else (m.away[g], -1.0)
        count, rest = played_lineup(g, side, sheet, room), 0.0
        if count > 0:
            remember(g, side, team, m.day[g], sheet, s, room.raw)
        else:
            q = trust(team, m.day[g], s)
            count = likely_lineup(team, q, sheet, s, room.ids, room.w)
            rest = 1.0 - q
        n = write_side(team, sign, (count, rest), room, s, (n, start), written)
    return n


@kernel
def make_lists(m, sheet, s, slots, keep):
    """Entries of matches ``m`` in order: as they are forecast, as they are played (none unless they are to be kept),
    and the recent line-ups that forecasts rest on, as arrays; there are ``slots`` (int) slots.
    """
    size = m.day.size
    widest = RECENT * MOST_PLAYERS
    for k in range(sheet.offsets.size - 1):
        widest = max(widest, RECENT * MOST_PLAYERS + sheet.offsets[k + 1] - sheet.offsets[k])
    room = Side(np.empty(widest, np.int64), np.empty(widest), np.empty(widest), np.zeros(2))
    most = 2 * widest + 5
    begun = FIRST_ROOM * size + most
    ahead_at, played_at = np.zeros(size + 1, np.int64), np.zeros(size + 1 if keep else 0, np.int64)
    ahead = Written(np.empty(begun, np.int64), np.empty(begun), np.full(slots, -1))
    played = Written(np.empty(begun, np.int64), np.empty(begun), np.full(slots, -1))
    sides_at, trusts = np.zeros(size + 1, np.int64), np.empty(2 * size)
    lineups_at, offsets = np.zeros(2 * size + 1, np.int64), np.zeros(2 * size * RECENT + 1, np.int64)
    turns = Written(np.empty(2 * most, np.int64), np.empty(2 * most), np.empty(0, np.int64))
    none = np.int64(0)
    sides, lineups, n, a, t = none, none, none, none, none
    for g in range(size):
        ahead, played, turns = enlarged(ahead, a + most), enlarged(played, n + most), enlarged(turns, t + most)
        a = make_ahead(m, g, sheet, s, room, a, ahead)
        ahead_at[g + 1] = a
        for side in range(2):
            if room.trusts[side] > 0.0:
                trusts[sides] = room.trusts[side] * room.trusts[side]
                team = m.home[g] if side == 0 else m.away[g]
                lineups, t = write_rotation(team, sheet, s, lineups, t, offsets, turns)
                sides += 1
                lineups_at[sides] = lineups
        sides_at[g + 1] = sides
        if keep:
            n = make_played(m, g, sheet, s, room, n, played)
            played_at[g + 1] = n
    return (
        (ahead_at, ahead.slots[:a], ahead.shares[:a]),
        (played_at, played.slots[:n], played.shares[:n]),
        (sides_at, trusts[:sides], lineups_at[: sides + 1], offsets[: lineups + 1], turns.slots[:t], turns.shares[:t]),
    )
