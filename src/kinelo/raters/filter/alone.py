"""The filter that keeps a variance per slot: one loop for any table of kinds, several filters side by side (a batch).

Of a newcomer who is given a part of the newcomers' level, the level learns with that part. What he is given of his
mates adds nothing to his variance, since they are in the match themselves; what he is given of his foes does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import borrowing, inner, part
from kinelo.raters.batches import FIRST_MEMBER
from kinelo.raters.filter.active import NO_ACTIVE, Active, join, leave, mean_active
from kinelo.raters.filter.belief import (
    TODAY,
    entry_parts,
    fade,
    lateness,
    learnt,
    move_clock,
    observe_margin,
    rested,
)
from kinelo.raters.filter.entries import (
    NO_ENTRIES,
    NO_ROTATIONS,
    Entries,
    Observations,
    Rotations,
    most_entries,
    observed,
)
from kinelo.raters.filter.kinds import Kinds

Array = NDArray[np.float64]
LEVEL_SLOT = np.int64(0)
"""The slot of the level at which newcomers enter; of a bare 0 functions would be compiled for themselves."""
EXPECTING = np.bool_(True)
"""That mean and variance of a match are wanted; of a bare True likewise."""
VENUES = 2
"""The last slot, and kind, of an advantage of a venue; they follow the level."""


class SlotBeliefs(NamedTuple):
    """Beliefs: mean ``x`` and variance ``v`` (slots, members), last day, matches, kind of every slot, and the clock."""

    x: Array
    v: Array
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    kind: NDArray[np.int8]
    clock: NDArray[np.int64]


NO_SIDES = np.empty((0, 2))
"""Where strengths of sides are not wanted."""


class Days(NamedTuple):
    """Matches that are forecast together before any of them is used: ``until`` (matches, int) is where those end that
    each is forecast with. ``mean`` and ``variance`` (matches) receive what is expected of each then, in one member.
    Empty arrays ask for nothing.
    """

    until: NDArray[np.int64]
    mean: Array
    variance: Array


def days_of(until: NDArray[np.int64]) -> Days:
    """Room for what is expected of matches that are forecast together."""
    return Days(until, np.empty(until.size), np.empty(until.size))


NO_DAYS = days_of(np.empty(0, np.int64))


class EntryBeliefs(NamedTuple):
    """What is believed of the entries of one match on its day: mean and variance."""

    x: Array
    v: Array


class MatchRoom(NamedTuple):
    """Room for the entries of one match. ``sides`` (matches, 2), where it has rows, receives what the first member
    forecasts each match from: strengths of both sides without venues.
    """

    now: EntryBeliefs
    sides: Array
    days: Days
    active: Active


def room_for(*lists: Entries, sides: Array = NO_SIDES, days: Days = NO_DAYS, active: Active = NO_ACTIVE) -> MatchRoom:
    """Room for the longest match of some lists."""
    x, v = np.zeros((2, most_entries(*lists) + 1))
    return MatchRoom(EntryBeliefs(x, v), sides, days, active)


@part
def on_day(slot, kind, q, day, p, s):
    """Mean and variance on a day (int) of a slot that has been met, in member ``q``."""
    f, added = fade(day - s.last[slot], p.rho[kind, q], p.walk[kind, q])
    return rested(s.x[slot, q], s.v[slot, q], f, added)


@part
def believe_known(g, effects, day, q, p, s, work):
    """Mean and variance (floats) of those of the entries who are known, how many are not, and by side the mean,
    variance and share of those on whom newcomers lean.
    """
    lo, hi, slot, share = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share
    x, v, last, games, kinds = s.x, s.v, s.last, s.games, s.kind
    rho, walk, counts, x_now, v_now = p.rho, p.walk, p.counts, work.x, work.v
    mean = variance = x0 = v0 = w0 = x1 = v1 = w1 = 0.0
    fresh, f, added, days, same = 0, 1.0, 0.0, -1, -1
    for e in range(lo, hi):
        at, w = slot[e], share[e]
        if at < 0 or games[at] == 0:
            fresh += 1
            continue
        kind = kinds[at]
        if day - last[at] != days or kind != same:  # mates have mostly rested alike
            days, same = day - last[at], kind
            f, added = fade(days, rho[kind, q], walk[kind, q])
        strength, doubt = rested(x[at, q], v[at, q], f, added)
        x_now[e - lo], v_now[e - lo] = strength, doubt
        mean += w * strength  # m = Σ h x
        variance += w * w * doubt  # V = Σ h² v
        if counts[kind]:
            if w > 0.0:
                x0, v0, w0 = x0 + w * strength, v0 + w * w * doubt, w0 + w
            else:
                x1, v1, w1 = x1 - w * strength, v1 + w * w * doubt, w1 - w
    return mean, variance, fresh, ((x0, v0, w0), (x1, v1, w1))


@inner
def believe_fresh(g, effects, day, q, known, p, s, work):
    """Mean and variance (floats) of the newcomers among the entries, and how much of the level is in it.

    ``known`` is what :func:`believe_known` says of both sides.
    """
    lo, hi, slot, share, (ours, theirs) = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share, known
    mean = variance = load = common0 = common1 = 0.0
    level, level_v = on_day(LEVEL_SLOT, s.kind[LEVEL_SLOT], q, day, p, s)
    late = lateness(day, s.clock)
    for e in range(lo, hi):
        at, w = slot[e], share[e]
        if at >= 0 and s.games[at] > 0:
            continue
        kind = -1 - at if at < 0 else s.kind[at]
        mates, foes = (ours, theirs) if w > 0.0 else (theirs, ours)
        gift = (p.mates[kind, q], p.foes[kind, q], p.level[kind, q])
        of_mates, of_foes, of_level = entry_parts(p.whole[kind], gift, late, mates[2], foes[2])
        x = of_level * level + of_mates * mates[0] + of_foes * foes[0]
        v = p.prior[kind, q] + of_foes * of_foes * foes[1] + of_level * of_level * level_v
        work.x[e - lo], work.v[e - lo] = x, v
        mean += w * x
        variance += w * w * v
        load += w * of_level  # h of the level
        alike = math.sqrt(p.common[kind, q] * p.prior[kind, q])
        if w > 0.0:
            common0 += w * alike
        else:
            common1 += w * alike
    return mean, variance + common0 * common0 + common1 * common1, load


@part
def believe(g, effects, day, q, p, s, work):
    """Mean and variance (floats) of match ``g`` among entries ``said`` on a day, and how much of the level is in it.

    The belief about each entry is left in ``work``.
    """
    mean, variance, fresh, known = believe_known(g, effects, day, q, p, s, work)
    if fresh == 0:
        return mean, variance, 0.0
    mean_of_fresh, doubt, load = believe_fresh(g, effects, day, q, known, p, s, work)
    return mean + mean_of_fresh, variance + doubt, load


@part
def add_up(lo, hi, slot, share, x_now, kinds, effect, sides):
    """Add up entries ``lo`` to ``hi``, now believed to be ``x_now``, into strengths of both sides (2).

    Venues, covariates and kinds that are kept apart (own grounds, conditions) are no part of a side's rating.
    """
    sides[0] = sides[1] = 0.0
    for e in range(lo, hi):
        kind = -1 - slot[e] if slot[e] < 0 else np.int64(kinds[slot[e]])
        if kind > VENUES and not effect[kind]:
            sides[0 if share[e] > 0.0 else 1] += abs(share[e]) * x_now[e - lo]


@inner
def take_level(day, q, lesson, p, s):
    """Let the newcomers' level learn from a match in which it was."""
    shift, left, load = lesson
    level, level_v = on_day(LEVEL_SLOT, s.kind[LEVEL_SLOT], q, day, p, s)
    s.x[LEVEL_SLOT, q], s.v[LEVEL_SLOT, q] = learnt(level, level_v, load, shift, left)


@part
def learn(g, effects, day, q, lesson, p, s, work):
    """Let the entries of match ``g``, as believed in ``work``, take their part of what it showed.

    The ``lesson`` is the surprise over its variance, one over that variance, and how much of the level was in it.
    """
    shift, left, load = lesson
    x, v, x_now, v_now, slot, share, lo = s.x, s.v, work.x, work.v, effects.slot, effects.share, effects.offsets[g]
    for e in range(lo, effects.offsets[g + 1]):
        at = slot[e]
        x[at, q], v[at, q] = learnt(x_now[e - lo], v_now[e - lo], share[e], shift, left)
    if load != 0.0:
        take_level(day, q, lesson, p, s)


@part
def count(lo, hi, slot, day, s):
    """Note that the slots of entries ``lo`` to ``hi`` have taken part in a match on a day (int)."""
    for e in range(lo, hi):
        s.last[slot[e]] = max(day, s.last[slot[e]])
        s.games[slot[e]] += 1


@borrowing
def spread_of(g, day, q, r, p, s):
    """Variance (float) that a forecast of match ``g`` owes to line-ups of which one will play."""
    whole = 0.0
    for side in range(r.sides[g], r.sides[g + 1]):
        first, last = r.lineups[side], r.lineups[side + 1]
        mean = square = 0.0
        for lineup in range(first, last):
            strength = 0.0
            for e in range(r.offsets[lineup], r.offsets[lineup + 1]):
                at = r.slot[e]
                if s.games[at] > 0:
                    strength += r.share[e] * on_day(at, s.kind[at], q, day, p, s)[0]
            mean += strength / (last - first)
            square += strength * strength / (last - first)
        whole += r.trust[side] * max(square - mean * mean, 0.0)
    return whole


@inner
def believe_days(g, day, effects, p, s, work):
    """Note what is expected of match ``g`` and of all that are forecast with it; return where they end (int)."""
    until = work.days.until[g]
    for k in range(g, until):
        lo, hi = effects.offsets[k], effects.offsets[k + 1]
        m, V, _ = believe(k, effects, day[k], FIRST_MEMBER, p, s, work.now)
        work.days.mean[k], work.days.variance[k] = m, V
        if work.sides.size > 0:
            add_up(lo, hi, effects.slot, effects.share, work.now.x, s.kind, p.effect, work.sides[k])
    return until


@inner
def use_match(g, seen, played, p, s, now, expecting):
    """Let every member use match ``g``: believe, compare with what it shows, learn.

    Mean and variance of ``seen`` receive what was expected of it where that is asked for (``expecting``, bool).
    """
    day, weight, y, mean, variance = seen
    today, lo, hi = day[g], played.offsets[g], played.offsets[g + 1]
    move_clock(today, s.clock)
    entering = False
    for q in range(mean.shape[1]):
        m, V, load = believe(g, played, today, q, p, s, now)
        if expecting:
            mean[g, q], variance[g, q] = m, V
        shift = left = 0.0
        if weight[g] > 0.0:
            shift, left = observe_margin(y[g, q], m, V + p.noise[q] / weight[g])
        learn(g, played, today, q, (shift, left, load), p, s, now)
        entering = entering or load != 0.0
    count(lo, hi, played.slot, today, s)
    if entering:
        s.last[LEVEL_SLOT] = max(today, s.last[LEVEL_SLOT])


@borrowing
def use_in_order(seen, played, p, s, now):
    """Use matches in order; a search asks for nothing else."""
    for g in range(seen.day.size):
        use_match(g, seen, played, p, s, now, EXPECTING)


@borrowing
def watch_in_order(seen, ahead, played, rotations, p, s, work):
    """The same with entries ahead, rotations, strengths of both sides, days and those who are active, as asked for."""
    day, mean, variance = seen.day, seen.mean, seen.variance
    one_list, learning = ahead.offsets.size == 0, played.offsets.size > 0
    rotating, noting, counting = rotations.sides.size > 0, work.sides.size > 0, work.active.mean.size > 0
    slot, share, offsets, now = played.slot, played.share, played.offsets, work.now
    forecast_until = np.int64(0) if work.days.until.size > 0 else day.size
    first = s.x[:, 0]
    for g in range(day.size):
        today = day[g]
        if counting:
            work.active.mean[g] = mean_active(work.active)
            leave(offsets[g], offsets[g + 1], slot, first, work.active)
        if g >= forecast_until:
            forecast_until = believe_days(g, day, played, p, s, work)
        if not one_list:
            lo, hi = ahead.offsets[g], ahead.offsets[g + 1]
            for q in range(mean.shape[1]):
                mean[g, q], variance[g, q], _ = believe(g, ahead, today, q, p, s, now)
                if noting and q == 0:
                    add_up(lo, hi, ahead.slot, ahead.share, now.x, s.kind, p.effect, work.sides[g])
                if rotating:
                    variance[g, q] += spread_of(g, today, q, rotations, p, s)
        if not learning:
            continue
        lo, hi = offsets[g], offsets[g + 1]
        use_match(g, seen, played, p, s, now, one_list)
        if noting and one_list and work.days.until.size == 0:  # of a single member, whose beliefs before are in now
            add_up(lo, hi, slot, share, now.x, s.kind, p.effect, work.sides[g])
        if counting:
            join(lo, hi, slot, first, s.kind, s.last, s.clock[TODAY], work.active)


def filter_alone(
    seen: Observations,
    ahead: Entries,
    played: Entries,
    rotations: Rotations,
    p: Kinds,
    s: SlotBeliefs,
    work: MatchRoom,
) -> None:
    """Filter matches (:class:`kinelo.raters.filter.entries.Observations`) in order, a member per column of ``y``.

    What is expected is that of the entries ``ahead``, or where these have no offsets of those that ``played``. Matches
    without offsets of ``played`` teach nothing, and change nothing. Matches that are forecast together (:class:`Days`)
    have no entries ``ahead``, and strengths of sides are noted of a single member. What a search does not ask for is
    compiled when somebody asks for it.
    """
    if ahead.offsets.size or not played.offsets.size or work.sides.size or work.days.until.size:
        watch_in_order(seen, ahead, played, rotations, p, s, work)
    else:
        use_in_order(seen, played, p, s, work.now)


def expected_alone(
    day: NDArray[np.int64],
    ahead: Entries,
    p: Kinds,
    s: SlotBeliefs,
    rotations: Rotations = NO_ROTATIONS,
    sides: Array = NO_SIDES,
) -> tuple[Array, Array]:
    """Mean and variance (matches, members) expected of matches, all from the beliefs as they stand."""
    seen = observed(day, np.empty(0), np.empty((day.size, s.x.shape[1])))
    filter_alone(seen, ahead, NO_ENTRIES, rotations, p, s, room_for(ahead, sides=sides))
    return seen.mean, seen.variance
