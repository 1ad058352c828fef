"""Strengths of players given everything before and after: messages passed along and between their matches.

A match shows ``y = Σ w_k x_k + venue + ε`` and a strength moves as in :mod:`kinelo.raters.random_walk`, so that all
strengths at all matches are one Gaussian. What is believed of player ``k`` at a match is the product of three messages:
``N(m, v)`` from his earlier matches, one from his later ones, and what this match says of him when the others are as
their earlier and later matches say, ``(y − Σ_others)/w_k`` with variance ``(V − w_k² v_k)/w_k²``. Matches are gone
through forwards, which alone is the filter, and backwards, until nothing moves. The means are then those of the one
Gaussian; the variances leave out what players learn from one another in a circle, as those of the filter do.

A stand-in for a line-up that is not known, and what a team has itself, are linked as players are. Newcomers enter at
the level that was given to them then, and what newcomers of one side have in common is noise. Strengths under
conditions stay as they were seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel
from kinelo.raters.player.kernels import HOME, NEUTRAL, longest_list, play, taking_part
from kinelo.raters.player.rotation import (
    EFFECT,
    PLAYER,
    STAND_IN,
    Lineup,
    PlayerParameters,
    PlayerState,
    Sheet,
    belief,
    by_level,
    strength_on,
)
from kinelo.raters.random_walk import fade, years_since_last
from kinelo.raters.state import MatchColumns

Array = NDArray[np.float64]
BLOCK = 256
MOST_PASSES = 200
SETTLED = 1e-4
"""Largest move of a mean in a pass, in standard deviations, below which the passes end."""


class Appearances(NamedTuple):
    """Who took part in which match: matches ``g`` at ``bounds[g]:bounds[g + 1]``.

    ``who`` counts players, then the venues; ``w`` is the share with its sign; ``mean`` and ``variance`` are those with
    which somebody begins, NaN later on. Of a match, ``noise`` is its variance and ``apart`` what conditions make of it.
    """

    bounds: NDArray[np.int64]
    who: NDArray[np.int64]
    w: Array
    mean: Array
    variance: Array
    noise: Array
    apart: Array


class Recorded(NamedTuple):
    """Who has appeared so far (players and venues), and the place of everyone's latest appearance (the same)."""

    met: NDArray[np.bool_]
    mark: NDArray[np.int64]


class Messages(NamedTuple):
    """By appearance: mean and variance from before, and precision and precision times mean from after and from here."""

    m: Array
    v: Array
    later: Array
    later_m: Array
    here: Array
    here_m: Array


@kernel
def note(q, w, prior, n, start, seen, out):
    """Write an appearance at place ``n`` (int), or add its share to the one in the same match; return the next place.

    ``prior`` holds mean and variance (floats) with which somebody begins.
    """
    met, mark = seen
    mean, variance = prior
    if mark[q] >= start:
        out.w[mark[q]] += w
        return n
    mark[q] = n
    out.who[n] = q
    out.w[n] = w
    out.mean[n] = math.nan if met[q] else mean
    out.variance[n] = math.nan if met[q] else variance
    met[q] = True
    return n + 1


@kernel
def record(first, m, y, sheet, p, s, room, out):
    """Filter the matches from ``first`` (int) on and note who took part in them, into ``out``.

    ``room`` holds who has appeared, and two line-ups to work in (2, players).
    """
    n = 0
    seen, rooms = room
    players = seen.met.size - 2
    seen.mark[:] = -1
    ids, w = rooms
    day, weight = m.day, m.weight
    for b in range(out.noise.size):
        g = first + b
        start = n
        out.noise[b] = p.noise[0] / weight[g] if weight[g] > 0.0 else math.inf
        out.apart[b] = 0.0
        for side in range(2):
            size = taking_part(g, side, m, sheet, p, s, ids[side], w[side])
            _, _, level, known = belief(ids[side], w[side], size, 0, day[g], p, s)
            fresh = 0.0
            for k in range(size):
                q = ids[side, k]
                if w[side, k] <= 0.0:
                    continue
                if s.games[q] > 0:
                    mean, variance = strength_on(q, 0, day[g], p, s)
                elif s.kind[q] == EFFECT:
                    mean, variance = 0.0, p.squad[0]
                else:
                    mean, variance = known if s.kind[q] == STAND_IN else level, p.prior[0]
                    fresh += w[side, k] if s.kind[q] == PLAYER else 0.0
                if variance <= 0.0:  # what is certain is never learnt
                    out.apart[b] += w[side, k] * mean * (1.0 - 2.0 * side)
                    continue
                n = note(q, w[side, k] * (1.0 - 2.0 * side), (mean, variance), n, start, seen, out)
            better, more = by_level(ids[side], w[side], size, 0, m.slots[g], s)
            out.apart[b] += better * (1.0 - 2.0 * side)
            out.noise[b] += more + p.together[0] * fresh * fresh * p.prior[0]
        at = NEUTRAL if m.neutral[g] else HOME
        if s.venue_v[at, 0] > 0.0:
            grown = s.venue_v[at, 0] + p.venue_walk[0] * years_since_last(day[g], s.clock)
            n = note(players + at, 1.0, (s.venue[at, 0], grown), n, start, seen, out)
        out.bounds[b + 1] = n
        play(g, m, y[g : g + 1], sheet, p, s, rooms)


@kernel
def link(who, match, day, kind, p, links):
    """Fill ``links`` (appearances each) from who appeared in which match (appearances each), and when (matches)."""
    before, after, f, added = links
    players = kind.size
    latest = np.full(players + 2, -1)
    for a in range(who.size):
        last = latest[who[a]]
        before[a] = last
        after[a] = -1
        if last >= 0:
            after[last] = a
            days = day[match[a]] - day[match[last]]
            if who[a] >= players:
                f[a], added[a] = fade(days, 0.0, p.venue_walk[0])
            elif kind[who[a]] == EFFECT:
                f[a], added[a] = fade(days, 0.0, p.squad_walk[0])
            else:
                f[a], added[a] = fade(days, p.rho[0], p.walk[0])
        latest[who[a]] = a


@kernel
def meet(g, y, u, to, mean, variance):
    """What match ``g`` says of everyone in it; return the largest move (float) of a mean, in standard deviations.

    ``mean`` and ``variance`` (players) are room to work in.
    """
    M = 0.0
    V = u.noise[g]
    if not math.inf > V:
        return 0.0
    lo = u.bounds[g]
    for a in range(lo, u.bounds[g + 1]):
        precision = 1.0 / to.v[a] + to.later[a]
        variance[a - lo] = 1.0 / precision
        mean[a - lo] = (to.m[a] / to.v[a] + to.later_m[a]) / precision
        M += u.w[a] * mean[a - lo]
        V += u.w[a] * u.w[a] * variance[a - lo]
    moved = 0.0
    for a in range(lo, u.bounds[g + 1]):
        m, v, w = mean[a - lo], variance[a - lo], u.w[a]
        others = V - w * w * v
        before = (m + v * to.here_m[a]) / (1.0 + v * to.here[a])
        to.here[a] = w * w / others
        to.here_m[a] = w * (y[g] - (M - w * m)) / others
        now = (m + v * to.here_m[a]) / (1.0 + v * to.here[a])
        moved = max(moved, abs(now - before) / math.sqrt(v / (1.0 + v * to.here[a])))
    return moved


@kernel
def pass_through(y, u, links, to, widest):
    """Once forwards and once backwards through ``y`` (matches); return the largest move (float) on the way back."""
    before, after, f, added = links
    mean, variance = np.empty(widest), np.empty(widest)
    for g in range(y.size):
        for a in range(u.bounds[g], u.bounds[g + 1]):
            b = before[a]
            if b < 0:
                to.m[a], to.v[a] = u.mean[a], u.variance[a]
                continue
            precision = 1.0 / to.v[b] + to.here[b]
            to.m[a] = f[a] * (to.m[b] / to.v[b] + to.here_m[b]) / precision
            to.v[a] = f[a] * f[a] / precision + added[a]
        meet(g, y, u, to, mean, variance)
    moved = 0.0
    for g in range(y.size - 1, -1, -1):
        for a in range(u.bounds[g], u.bounds[g + 1]):
            b = after[a]
            if b < 0:
                continue
            known = to.later[b] + to.here[b]
            if known <= 0.0:
                to.later[a] = to.later_m[a] = 0.0
                continue
            spread = 1.0 + added[b] * known  # the variance 1/known grows by what time added, and f shrinks the strength
            to.later[a] = f[b] * f[b] * known / spread
            to.later_m[a] = f[b] * (to.later_m[b] + to.here_m[b]) / spread
        moved = max(moved, meet(g, y, u, to, mean, variance))
    return moved


class Links(NamedTuple):
    """Of every appearance: those of the same player before and after it (−1: none), and what time did in between."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    f: Array
    added: Array


class Beliefs(NamedTuple):
    """Of every appearance: who, in which match, on which side (1 home, −1 away), and mean and variance given all."""

    bounds: NDArray[np.int64]
    who: NDArray[np.int64]
    match: NDArray[np.int64]
    side: Array
    mean: Array
    variance: Array
    players: int
    settled: bool

    def latest(self, stop: int) -> NDArray[np.int64]:
        """Place of everyone's last appearance among the first ``stop`` matches, −1 where there is none."""
        place = np.full(self.players + 2, -1)
        end = self.bounds[stop]
        place[self.who[:end]] = np.arange(end)
        return place[: self.players]


def smooth(m: MatchColumns, y: Array, sheet: Sheet, p: PlayerParameters, s: PlayerState) -> Beliefs:
    """Filter the matches with the state ``s``, then pass back and forth until nothing moves."""
    u = _appearances(m, y, sheet, p, s)
    size, players = u.who.size, len(s.x)
    match = np.repeat(np.arange(y.size), np.diff(u.bounds))
    links = Links(np.empty(size, np.int64), np.empty(size, np.int64), np.ones(size), np.zeros(size))
    link(u.who, match, m.day, s.kind, p, links)
    to = Messages(*(np.zeros(size) for _ in Messages._fields))
    widest, passes, moved = int(np.diff(u.bounds).max(initial=1)), 0, math.inf
    while moved > SETTLED and passes < MOST_PASSES:
        moved = pass_through(y - u.apart, u, links, to, widest)
        passes += 1
    precision = 1.0 / to.v + to.later + to.here
    mean = (to.m / to.v + to.later_m + to.here_m) / precision
    return Beliefs(u.bounds, u.who, match, np.sign(u.w), mean, 1.0 / precision, players, moved <= SETTLED)


def _appearances(m: MatchColumns, y: Array, sheet: Sheet, p: PlayerParameters, s: PlayerState) -> Appearances:
    """Who took part in which match, written in blocks, since recent players stand in where no line-up is known."""
    widest = longest_list(sheet.offsets)
    rooms = Lineup(np.empty((2, widest), np.int64), np.empty((2, widest)))
    seen = Recorded(np.zeros(len(s.x) + 2, np.bool_), np.empty(len(s.x) + 2, np.int64))
    parts: list[Appearances] = []
    for first in range(0, y.size, BLOCK):
        block = min(BLOCK, y.size - first)
        most = block * (2 * widest + 1)
        out = Appearances(
            np.zeros(block + 1, np.int64), np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most),
            np.empty(block), np.empty(block),
        )  # fmt: skip
        record(first, m, y, sheet, p, s, (seen, rooms), out)
        end = int(out.bounds[-1])
        parts.append(
            out._replace(
                who=out.who[:end].copy(),
                w=out.w[:end].copy(),
                mean=out.mean[:end].copy(),
                variance=out.variance[:end].copy(),
            )
        )
    counts = np.concatenate([np.diff(part.bounds) for part in parts])
    whole = (np.concatenate(columns) for columns in list(zip(*parts))[1:])
    return Appearances(np.append(0, np.cumsum(counts)), *whole)
