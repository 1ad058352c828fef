"""Strengths given everything before and after, without a covariance: messages along and between matches.

A match shows ``y = Σ share · x + ε`` and a strength moves as in :mod:`kinelo.raters.filter.belief`, so that all
strengths at all matches are one Gaussian. What is believed of a slot at a match is the product of three messages:
``N(m, v)`` from its earlier matches, one from its later ones, and what this match says of it when the others are as
their earlier and later matches say, ``(y − Σ_others)/w`` with variance ``(V − w² v)/w²``. Matches are gone through
forwards, which alone is the filter, and backwards, until nothing moves. The means are then those of the one Gaussian;
the variances leave out what slots learn from one another in a circle, as those of the filter do.

Newcomers enter at the level that was given to them then, and what newcomers of one side have in common is noise. Kinds
that are kept apart stay as they were seen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import kernel
from kinelo.raters.batches import FIRST_MEMBER
from kinelo.raters.filter.alone import SlotBeliefs, believe, count, learn, room_for
from kinelo.raters.filter.belief import fade_all, move_clock, observe_margin
from kinelo.raters.filter.entries import Entries, Observations
from kinelo.raters.filter.kinds import Kinds

Array = NDArray[np.float64]
MOST_PASSES = 200
SETTLED_MOVE = 1e-4
"""Largest move of a mean in a pass, in standard deviations, below which the passes end."""


class MessageEntries(NamedTuple):
    """Who took part in which match: matches ``g`` at ``bounds[g]:bounds[g + 1]``, with shares ``w``.

    ``mean`` and ``variance`` are those before each match; ``noise`` is the variance of a match.
    """

    bounds: NDArray[np.int64]
    who: NDArray[np.int64]
    w: Array
    mean: Array
    variance: Array
    noise: Array


class Links(NamedTuple):
    """Of every appearance: those of the same slot before and after it (−1: none), and what time did in between."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    f: Array
    added: Array


class Messages(NamedTuple):
    """By appearance: mean and variance from before, and precision and precision times mean from after and from here."""

    m: Array
    v: Array
    later: Array
    later_m: Array
    here: Array
    here_m: Array


class Beliefs(NamedTuple):
    """Of every appearance: which slot, in which match, on which side (1 home, −1 away), and mean and variance given
    all."""

    bounds: NDArray[np.int64]
    who: NDArray[np.int64]
    match: NDArray[np.int64]
    side: Array
    mean: Array
    variance: Array
    slots: int
    settled: bool

    def latest(self, stop: int) -> NDArray[np.int64]:
        """Place of everyone's last appearance among the first ``stop`` matches, −1 where there is none."""
        place = np.full(self.slots, -1)
        end = self.bounds[stop]
        place[self.who[:end]] = np.arange(end)
        return place


@kernel
def record(seen, played, p, s, work, common):
    """Filter matches in order. Mean and variance of ``seen`` (entries) receive what was believed of every entry before
    its match, and ``common`` (matches) the variance that newcomers of a match have in common.
    """
    (day, weight, y, mean, variance), slot, share = seen, played.slot, played.share
    for g in range(day.size):
        lo, hi = played.offsets[g], played.offsets[g + 1]
        move_clock(day[g], s.clock)
        m, V, load = believe(g, played, day[g], FIRST_MEMBER, p, s, work)
        common[g] = V
        for e in range(lo, hi):
            mean[e], variance[e] = work.x[e - lo], work.v[e - lo]
            common[g] -= share[e] * share[e] * work.v[e - lo]
        shift = left = 0.0
        if weight[g] > 0.0:
            shift, left = observe_margin(y[g], m, V + p.noise[0] / weight[g])
        learn(g, played, day[g], FIRST_MEMBER, (shift, left, load), p, s, work)
        count(lo, hi, slot, day[g], s)


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
        precision = 1.0 / to.v[a] + to.later[a]  # earlier and later matches together
        variance[a - lo] = 1.0 / precision
        mean[a - lo] = (to.m[a] / to.v[a] + to.later_m[a]) / precision
        M += u.w[a] * mean[a - lo]
        V += u.w[a] * u.w[a] * variance[a - lo]
    moved = 0.0
    for a in range(lo, u.bounds[g + 1]):
        m, v, w = mean[a - lo], variance[a - lo], u.w[a]
        others = V - w * w * v  # variance of y less this slot
        before = (m + v * to.here_m[a]) / (1.0 + v * to.here[a])
        to.here[a] = w * w / others  # what the match says: (y − Σ_others)/w
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
            precision = 1.0 / to.v[b] + to.here[b]  # the match before, then the rest since
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


def smooth(day: NDArray[np.int64], weight: Array, y: Array, played: Entries, p: Kinds, s: SlotBeliefs) -> Beliefs:
    """Filter the matches with the beliefs ``s``, then pass back and forth until nothing moves."""
    u, apart = _appearances(day, weight, y, played, p, s)
    match = np.repeat(np.arange(day.size), np.diff(u.bounds))
    links = _links(u.who, day[match], s.kind, p)
    to = Messages(*(np.zeros(u.who.size) for _ in Messages._fields))
    widest, passes, moved = int(np.diff(u.bounds).max(initial=1)), 0, math.inf
    while moved > SETTLED_MOVE and passes < MOST_PASSES:
        moved = pass_through(y - apart, u, links, to, widest)
        passes += 1
    precision = 1.0 / to.v + to.later + to.here
    mean = (to.m / to.v + to.later_m + to.here_m) / precision
    return Beliefs(u.bounds, u.who, match, np.sign(u.w), mean, 1.0 / precision, len(s.x), moved <= SETTLED_MOVE)


def _appearances(
    day: NDArray[np.int64], weight: Array, y: Array, played: Entries, p: Kinds, s: SlotBeliefs
) -> tuple[MessageEntries, Array]:
    """Who took part in which match, and what those add to it who stay as they were seen."""
    mean, variance, common = np.empty(played.slot.size), np.empty(played.slot.size), np.empty(day.size)
    record(Observations(day, weight, y, mean, variance), played, p, s, room_for(played).now, common)
    match = np.repeat(np.arange(day.size), np.diff(played.offsets))
    aside = p.effect[s.kind[played.slot]]
    certain = aside | (variance <= 0.0)  # what is certain is never learnt
    apart = np.bincount(match[certain], (played.share * mean)[certain], day.size)
    doubt = np.bincount(match[aside], (played.share**2 * variance)[aside], day.size)
    noise = np.where(weight > 0.0, p.noise[0] / np.maximum(weight, 1e-300), math.inf)
    bounds = np.append(0, np.cumsum(np.bincount(match[~certain], minlength=day.size)))
    kept = (values[~certain] for values in (played.slot, played.share, mean, variance))
    u = MessageEntries._make([bounds, *kept, noise + np.maximum(common, 0.0) + doubt])
    return u, np.asarray(apart, float)


def _links(who: NDArray[np.int64], day: NDArray[np.int64], kind: NDArray[np.int8], p: Kinds) -> Links:
    """Appearances before and after each of the same slot, and what time did to it since the one before."""
    size = who.size
    order = np.argsort(who, kind="stable")
    same = who[order[1:]] == who[order[:-1]]
    earlier, later = order[:-1][same], order[1:][same]
    links = Links(np.full(size, -1), np.full(size, -1), np.ones(size), np.zeros(size))
    links.before[later], links.after[earlier] = earlier, later
    days, kinds = day[later] - day[earlier], kind[who[later]]
    for k in np.unique(kinds):
        at = kinds == k
        links.f[later[at]], links.added[later[at]] = fade_all(days[at], p.rho[k, 0], p.walk[k, 0])
    return links
