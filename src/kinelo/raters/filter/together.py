"""The filter that keeps the covariance of all slots, but for kinds that are kept apart.

With ``h`` the shares of a match by row of the covariance ``C``, ``K = C h`` and ``S = hᵀK + noise`` (and the variances
of entries kept apart), a match does ``x += K (y − ŷ)/S`` and ``C −= K Kᵀ/S``: it tells about everyone connected with
those who played. Of ``C`` the lower triangle is kept, with a row for everyone who has played, in order of their first
match.

To subtract ``U Uᵀ``, ``U = K/√S``, at once costs a walk through all of ``C``. The last few ``U`` are therefore kept
beside it: ``C − Σ U Uᵀ`` is what is meant, each match asks for one column of that, and the covariance is walked
through once for sixteen of them (in a search; one by one where ratings are kept, so that matches that come one by one
end at the same bits). Rest and entry are linear: they happen to a row of ``C`` and to the entries of every ``U``
alike.

A forecast looks at nobody but those in the match. A newcomer is what he is given of the others plus his own part, so
that his share is added to theirs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import borrowing, inlined, inner, part
from kinelo.raters.filter.active import NO_ACTIVE, Active, join, leave, mean_active
from kinelo.raters.filter.alone import EXPECTING, LEVEL_SLOT, NO_DAYS, NO_SIDES, Days, add_up
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
BLOCK = 16


class Joint(NamedTuple):
    """Beliefs: mean ``x`` of every slot, variance ``v`` of those kept apart, and the covariance ``C`` (rows, rows) of
    the others; ``row`` is the row of a slot (−1: none yet), ``rows`` (1) how many there are. The rest is as in
    ``SlotBeliefs``.
    """

    x: Array
    v: Array
    row: NDArray[np.int64]
    C: Array
    rows: NDArray[np.int64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    kind: NDArray[np.int8]
    clock: NDArray[np.int64]


class Steps(NamedTuple):
    """What a way back needs: by match the gain ``K`` (matches, rows), surprise and ``S``; by entry the fade ``f``, and
    of newcomers what they were given of mates, foes and level. No rows where none is wanted.
    """

    K: Array
    surprise: Array
    S: Array
    f: Array
    fresh: NDArray[np.bool_]
    given: Array


def steps(matches: int, entries: int, rows: int) -> Steps:
    """Room for the steps of so many matches and entries."""
    return Steps(
        np.zeros((matches, rows)), np.zeros(matches), np.full(matches, math.inf), np.ones(entries),
        np.zeros(entries, np.bool_), np.zeros((entries, 3)),
    )  # fmt: skip


NO_STEPS = steps(0, 0, 0)


class Gains(NamedTuple):
    """Room for gains: by row ``K`` of a match and the slot of the row, and pending ``U`` (block, rows).

    ``steps``, where they have rows, receive what a way back needs.
    """

    K: Array
    of_row: NDArray[np.int64]
    U: Array
    steps: Steps


class Room(NamedTuple):
    """Room for one match: by entry a coefficient, a fade and what time added; and its gains.

    ``sides``, ``days`` and ``active`` are as in ``MatchRoom``.
    """

    c: Array
    f: Array
    added: Array
    gains: Gains
    sides: Array
    days: Days
    active: Active


def room_for(
    rows: int,
    block: int,
    *lists: Entries,
    sides: Array = NO_SIDES,
    days: Days = NO_DAYS,
    active: Active = NO_ACTIVE,
    steps: Steps = NO_STEPS,
) -> Room:
    """Room for the longest match of some lists, and ``block`` pending ones of so many rows."""
    c, f, added = np.zeros((3, most_entries(*lists) + 1))
    gains = Gains(np.zeros(rows), np.zeros(rows, np.int64), np.zeros((block, rows)), steps)
    return Room(c, f, added, gains, sides, days, active)


@inlined
def known(at, s):
    """Whether the slot of an entry has been met."""
    return at >= 0 and s.games[at] > 0


@inlined
def given_to(kind, w, sums, late, p):
    """How much (three floats) a newcomer is given of his mates, his foes and the level; ``sums`` are shares known."""
    mates, foes = (sums[0], sums[1]) if w > 0.0 else (sums[1], sums[0])
    gift = (p.mates[kind, 0], p.foes[kind, 0], p.level[kind, 0])
    return entry_parts(p.whole[kind], gift, late, mates, foes)


@inlined
def known_shares(g, effects, p, s):
    """Total shares (two floats) of those of both sides of match ``g`` who are known and count."""
    slot, share = effects.slot, effects.share
    ours = theirs = 0.0
    for e in range(effects.offsets[g], effects.offsets[g + 1]):
        if known(slot[e], s) and p.counts[s.kind[slot[e]]]:
            if share[e] > 0.0:
                ours += share[e]
            else:
                theirs -= share[e]
    return ours, theirs


@inner
def expect(g, effects, day, p, s, pending, room):
    """Mean and variance (floats) of match ``g`` on a day, from the beliefs less the ``pending`` ``U``.

    One function: in parts it takes a tenth longer to compile.
    """
    lo, hi, slot, share = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share
    c, f, added, U = room.c, room.f, room.added, room.gains.U
    fresh = 0
    for e in range(lo, hi):
        k, at = e - lo, slot[e]
        c[k] = share[e]
        if known(at, s):
            kind = s.kind[at]
            f[k], added[k] = fade(day - s.last[at], p.rho[kind, 0], p.walk[kind, 0])
        else:
            fresh += 1
    level = 0.0
    mean = variance = common0 = common1 = 0.0
    if fresh > 0:
        late = lateness(day, s.clock)
        sums = known_shares(g, effects, p, s)
        for e in range(lo, hi):
            if known(slot[e], s):
                continue
            w, kind = share[e], -1 - slot[e] if slot[e] < 0 else s.kind[slot[e]]
            mates, foes, part = given_to(kind, w, sums, late, p)
            level += w * part  # h of the level
            variance += w * w * p.prior[kind, 0]  # his own part
            alike = w * math.sqrt(p.common[kind, 0] * p.prior[kind, 0])
            if w > 0.0:
                common0 += alike
            else:
                common1 += alike
            for other in range(lo, hi):
                if known(slot[other], s) and p.counts[s.kind[slot[other]]]:
                    c[other - lo] += w * abs(share[other]) * (mates if share[other] * w > 0.0 else foes)
        variance += common0 * common0 + common1 * common1
        kind = s.kind[LEVEL_SLOT]
        mean += level * s.x[LEVEL_SLOT]
        variance += level * level * fade(day - s.last[LEVEL_SLOT], p.rho[kind, 0], p.walk[kind, 0])[1]
    # From here on c holds coefficients of the beliefs as they stand.
    for e in range(lo, hi):
        k, at = e - lo, slot[e]
        if known(at, s):
            variance += c[k] * c[k] * added[k]  # what rest adds
            c[k] *= f[k]
            mean += c[k] * s.x[at]
            if s.row[at] < 0:
                variance += c[k] * c[k] * s.v[at]
    top = s.row[LEVEL_SLOT]
    if level != 0.0:
        variance += level * level * s.C[top, top]
    for e in range(lo, hi):
        if not known(slot[e], s) or s.row[slot[e]] < 0:
            continue
        row, c_e = s.row[slot[e]], c[e - lo]
        variance += c_e * c_e * s.C[row, row]  # cᵀ C c, from the lower triangle
        if level != 0.0:
            variance += 2.0 * c_e * level * s.C[max(row, top), min(row, top)]
        for other in range(lo, e):
            if known(slot[other], s) and s.row[slot[other]] >= 0:
                b = s.row[slot[other]]
                variance += 2.0 * c_e * c[other - lo] * s.C[max(row, b), min(row, b)]
    for b in range(pending):
        part = level * U[b, top]
        for e in range(lo, hi):
            if known(slot[e], s) and s.row[slot[e]] >= 0:
                part += c[e - lo] * U[b, s.row[slot[e]]]
        variance -= part * part  # − (cᵀ U)²
    return mean, variance


@inner
def note_sides(g, effects, day, p, s, room):
    """Note the strengths of both sides of match ``g`` on a day, as :func:`add_up` says."""
    lo, hi, slot, share = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share
    late = lateness(day, s.clock)
    sums = known_shares(g, effects, p, s)
    now = room.c
    for e in range(lo, hi):
        at = slot[e]
        if known(at, s):
            now[e - lo] = s.x[at] * fade(day - s.last[at], p.rho[s.kind[at], 0], p.walk[s.kind[at], 0])[0]
    for e in range(lo, hi):
        if known(slot[e], s):
            continue
        w, kind = share[e], -1 - slot[e] if slot[e] < 0 else s.kind[slot[e]]
        mates, foes, part = given_to(kind, w, sums, late, p)
        now[e - lo] = part * s.x[LEVEL_SLOT]
        for other in range(lo, hi):
            if known(slot[other], s) and p.counts[s.kind[slot[other]]]:
                now[e - lo] += abs(share[other]) * (mates if share[other] * w > 0.0 else foes) * now[other - lo]
    add_up(lo, hi, slot, share, now, s.kind, p.effect, room.sides[g])


@inner
def rest(row, f, added, s, active, pending, U):
    """Let a row of the covariance rest: it fades by ``f`` and its variance grows by ``added`` (floats)."""
    C = s.C
    if f < 1.0:
        for other in range(row):
            C[row, other] *= f
        for other in range(row + 1, active):
            C[other, row] *= f
        for b in range(pending):
            U[b, row] *= f
    _, C[row, row] = rested(0.0, C[row, row], f, added)


@inner
def advance(at, day, p, s, pending, U):
    """Bring a slot that has been met to a day (int); return its fade (float)."""
    kind = s.kind[at]
    f, added = fade(day - s.last[at], p.rho[kind, 0], p.walk[kind, 0])
    if s.row[at] < 0:
        s.x[at], s.v[at] = rested(s.x[at], s.v[at], f, added)
    else:
        s.x[at] *= f
        rest(s.row[at], f, added, s, s.rows[0], pending, U)
    s.last[at] = max(day, s.last[at])
    return f


@inner
def give(row, ref, part, s, active, pending, U):
    """Add ``part`` (float) of what is believed of the row ``ref`` to the covariances of the last ``row``."""
    C = s.C
    for k in range(ref):
        C[row, k] += part * C[ref, k]
    for k in range(ref, active):
        C[row, k] += part * C[k, ref]
    for b in range(pending):
        U[b, row] += part * U[b, ref]


@inner
def enter(e, g, effects, given, p, s, pending, U):
    """Give the newcomer of entry ``e`` a row: what he is ``given`` of those known before, and his own part.

    Newcomers of the same match have rows already, but are not marked as met.
    """
    lo, hi, slot, share = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share
    at, w = slot[e], share[e]
    kind = s.kind[at]
    mates, foes, part = given
    variance = p.prior[kind, 0]
    x = part * s.x[LEVEL_SLOT]
    row = np.int64(-1)
    if not p.apart[kind]:
        row = s.rows[0]
        s.rows[0] += 1
        s.row[at] = row
        for k in range(row + 1):
            s.C[row, k] = 0.0
        for b in range(pending):
            U[b, row] = 0.0
        if part != 0.0:
            give(row, s.row[LEVEL_SLOT], part, s, row, pending, U)
    for other in range(lo, hi):
        ref = slot[other]
        if not known(ref, s) or not p.counts[s.kind[ref]]:
            continue
        lean = abs(share[other]) * (mates if share[other] * w > 0.0 else foes)
        if lean != 0.0:
            x += lean * s.x[ref]
            if row >= 0:
                give(row, s.row[ref], lean, s, row, pending, U)
    s.x[at] = x
    if row < 0:
        s.v[at] = variance
        return
    square = variance  # his variance: own part, and his parts of those he was given
    if part != 0.0:
        square += part * s.C[row, s.row[LEVEL_SLOT]]
    for other in range(lo, hi):
        ref = slot[other]
        if known(ref, s) and p.counts[s.kind[ref]]:
            lean = abs(share[other]) * (mates if share[other] * w > 0.0 else foes)
            square += lean * s.C[row, s.row[ref]]
    s.C[row, row] = square


@inner
def prepare(g, effects, day, p, s, pending, gains):
    """Bring everyone in match ``g`` to its day, and let newcomers enter; steps, if they have rows, are filled."""
    lo, hi, slot, share = effects.offsets[g], effects.offsets[g + 1], effects.slot, effects.share
    U, out = gains.U, gains.steps
    noting = out.f.size > 0
    fresh = 0
    for e in range(lo, hi):
        if s.games[slot[e]] > 0:
            f = advance(slot[e], day, p, s, pending, U)
            if noting:
                out.f[e] = f
        else:
            fresh += 1
    if fresh == 0:
        return
    advance(LEVEL_SLOT, day, p, s, pending, U)
    late = lateness(day, s.clock)
    sums = known_shares(g, effects, p, s)
    for e in range(lo, hi):
        if s.games[slot[e]] > 0:
            continue
        given = given_to(np.int64(s.kind[slot[e]]), share[e], sums, late, p)
        enter(e, g, effects, given, p, s, pending, U)
        if noting:
            out.fresh[e] = True
            out.given[e, 0], out.given[e, 1], out.given[e, 2] = given
    for e in range(lo, hi):  # what newcomers of one side have in common
        at = slot[e]
        alike = p.common[s.kind[at], 0] * p.prior[s.kind[at], 0]
        if s.games[at] > 0 or alike == 0.0 or s.row[at] < 0:
            continue
        for other in range(lo, e + 1):
            to = slot[other]
            if s.games[to] == 0 and s.kind[to] == s.kind[at] and s.row[to] >= 0 and share[other] * share[e] > 0.0:
                s.C[max(s.row[at], s.row[to]), min(s.row[at], s.row[to])] += alike


def _subtract(C, U, active):
    """``C −= Σ U Uᵀ`` over a whole block, in its lower triangle: two rows of C and four of U at a time."""
    if U.shape[0] == 1:
        for k in range(active):
            row, part = C[k], U[0, k]
            for m in range(k + 1):
                row[m] -= part * U[0, m]
        return
    even = active - active % 2
    for z in range(0, U.shape[0], 4):
        a, b, c, d = U[z], U[z + 1], U[z + 2], U[z + 3]
        for k in range(0, even, 2):
            upper, lower = C[k], C[k + 1]
            a0, b0, c0, d0 = a[k], b[k], c[k], d[k]
            a1, b1, c1, d1 = a[k + 1], b[k + 1], c[k + 1], d[k + 1]
            for m in range(k + 2):
                upper[m] -= a0 * a[m] + b0 * b[m] + c0 * c[m] + d0 * d[m]
                lower[m] -= a1 * a[m] + b1 * b[m] + c1 * c[m] + d1 * d[m]
        if even < active:
            row = C[even]
            a0, b0, c0, d0 = a[even], b[even], c[even], d[even]
            for m in range(active):
                row[m] -= a0 * a[m] + b0 * b[m] + c0 * c[m] + d0 * d[m]


def _column(g, said, active, s, pending, U, K):
    """``K = (C − Σ U Uᵀ) h`` of match ``g``, C from its lower triangle."""
    lo, hi, slot, share, C = said.offsets[g], said.offsets[g + 1], said.slot, said.share, s.C
    for k in range(active):
        K[k] = 0.0
    for e in range(lo, hi):
        row, w = s.row[slot[e]], share[e]
        if row < 0:
            continue
        for k in range(row):
            K[k] += w * C[row, k]
        for k in range(row, active):
            K[k] += w * C[k, row]
    for b in range(pending):
        part = 0.0
        for e in range(lo, hi):
            if s.row[slot[e]] >= 0:
                part += share[e] * U[b, s.row[slot[e]]]
        for k in range(active):
            K[k] -= part * U[b, k]


def _take(root, active, K, U_row):
    """``K/√S`` into a row of ``U``."""
    for k in range(active):
        U_row[k] = K[k] * root


@part
def clear(U):
    """No ``U`` is pending."""
    for b in range(U.shape[0]):
        for k in range(U.shape[1]):
            U[b, k] = 0.0


subtract, column, take = (inner(f, fastmath={"reassoc", "contract"}) for f in (_subtract, _column, _take))


@inner
def learn(g, effects, lesson, s, K, of_row):
    """Let everyone take part in what match ``g`` showed: rows by their gain ``K``, entries kept apart by their
    variance. The ``lesson`` is the surprise over its variance, and one over that variance.
    """
    shift, left = lesson
    for row in range(s.rows[0]):
        s.x[of_row[row]] += K[row] * shift  # x += K (y − ŷ)/S
    for e in range(effects.offsets[g], effects.offsets[g + 1]):
        at = effects.slot[e]
        if s.row[at] < 0:
            s.x[at], s.v[at] = learnt(s.x[at], s.v[at], effects.share[e], shift, left)


@inner
def move_active(shift, active, K, of_row, a):
    """Let the strengths of those who are active and do not play move with a match."""
    moved = 0.0
    for row in range(active):
        if a.after[of_row[row]] >= 0:
            moved += K[row]
    a.sums[0] += moved * shift


@inner
def slots_of_rows(s, of_row):
    """Write the slot of every row into ``of_row`` (rows)."""
    for at in range(s.row.size):
        if s.row[at] >= 0:
            of_row[s.row[at]] = at


@inner
def spread_of(g, day, r, p, s):
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
                    f, _ = fade(day - s.last[at], p.rho[s.kind[at], 0], p.walk[s.kind[at], 0])
                    strength += r.share[e] * f * s.x[at]
            mean += strength / (last - first)
            square += strength * strength / (last - first)
        whole += r.trust[side] * max(square - mean * mean, 0.0)
    return whole


@inner
def expect_days(g, day, effects, p, s, pending, room):
    """Note what is expected of match ``g`` and of all that are forecast with it; return where they end (int)."""
    until = room.days.until[g]
    for k in range(g, until):
        if room.sides.size > 0:
            note_sides(k, effects, day[k], p, s, room)
        mean, variance = expect(k, effects, day[k], p, s, pending, room)
        room.days.mean[k], room.days.variance[k] = mean, variance
    return until


@inner
def use_match(g, seen, played, p, s, gains, pending, expecting):
    """Let everyone learn from match ``g``; return how many ``U`` are pending after it, and its shift (int, float).

    Mean and variance of ``seen`` receive what was expected of it where that is asked for (``expecting``, bool).
    """
    day, weight, y, mean, variance = seen
    slot, share = played.slot, played.share
    K, of_row, U, out = gains
    lo, hi, before = played.offsets[g], played.offsets[g + 1], s.rows[0]
    move_clock(day[g], s.clock)
    prepare(g, played, day[g], p, s, pending, gains)
    active = s.rows[0]
    m = V = 0.0
    for e in range(lo, hi):
        if active > before and s.row[slot[e]] >= before:
            of_row[s.row[slot[e]]] = slot[e]
        s.last[slot[e]] = max(day[g], s.last[slot[e]])
        s.games[slot[e]] += 1
        m += share[e] * s.x[slot[e]]  # ŷ = hᵀ x
    column(g, played, active, s, pending, U, K)
    for e in range(lo, hi):
        row = s.row[slot[e]]
        V += share[e] * K[row] if row >= 0 else share[e] * share[e] * s.v[slot[e]]  # hᵀ K
    if expecting:
        mean[g], variance[g] = m, V
    if not weight[g] > 0.0:
        return pending, 0.0
    S = V + p.noise[0] / weight[g]  # S = hᵀ C h + noise
    shift, left = observe_margin(y[g], m, S)
    if out.S.size > 0:
        out.surprise[g], out.S[g] = y[g] - m, S
        for row in range(active):
            out.K[g, row] = K[row]
    learn(g, played, (shift, left), s, K, of_row)
    take(1.0 / math.sqrt(S), active, K, U[pending])  # U = K/√S
    pending += 1
    if pending == U.shape[0]:
        subtract(s.C, U, active)  # C −= Σ U Uᵀ
        clear(U)
        pending = np.int64(0)
    return pending, shift


@borrowing
def use_in_order(seen, played, p, s, gains):
    """Use matches in order; a search asks for nothing else."""
    pending = np.int64(0)  # of a bare 0 every function it is handed to is compiled for itself
    slots_of_rows(s, gains.of_row)
    for g in range(seen.day.size):
        pending, _ = use_match(g, seen, played, p, s, gains, pending, EXPECTING)
    if pending > 0:
        subtract(s.C, gains.U, s.rows[0])
        clear(gains.U)


@borrowing
def watch_in_order(seen, ahead, played, rotations, p, s, room):
    """The same with entries ahead, rotations, strengths of both sides, days and those who are active, as asked for."""
    day, mean, variance = seen.day, seen.mean, seen.variance
    one_list, learning = ahead.offsets.size == 0, played.offsets.size > 0
    slot, gains, pending = played.slot, room.gains, np.int64(0)
    strengths = s.x[::1]  # of the type that the loop without covariance hands on: one compilation for both
    if learning:
        slots_of_rows(s, gains.of_row)
    forecast_until = np.int64(0) if room.days.until.size > 0 else day.size
    counting = room.active.mean.size > 0
    for g in range(day.size):
        if counting:
            room.active.mean[g] = mean_active(room.active)
            leave(played.offsets[g], played.offsets[g + 1], slot, strengths, room.active)
        if g >= forecast_until:
            forecast_until = expect_days(g, day, played, p, s, pending, room)
        if room.sides.size > 0 and room.days.until.size == 0:
            note_sides(g, played if one_list else ahead, day[g], p, s, room)
        if not one_list:
            mean[g], variance[g] = expect(g, ahead, day[g], p, s, pending, room)
            if rotations.sides.size > 0:
                variance[g] += spread_of(g, day[g], rotations, p, s)
        if not learning:
            continue
        pending, shift = use_match(g, seen, played, p, s, gains, pending, one_list)
        if counting:
            move_active(shift, s.rows[0], gains.K, gains.of_row, room.active)
            join(
                played.offsets[g], played.offsets[g + 1], slot, strengths, s.kind, s.last, s.clock[TODAY], room.active
            )  # fmt: skip
    if pending > 0:
        subtract(s.C, gains.U, s.rows[0])
        clear(gains.U)


def filter_together(
    seen: Observations,
    ahead: Entries,
    played: Entries,
    rotations: Rotations,
    p: Kinds,
    s: Joint,
    room: Room,
) -> None:
    """The same as :func:`kinelo.raters.filter.alone.filter_alone` with the covariance, in one member."""
    if ahead.offsets.size or not played.offsets.size or room.sides.size or room.days.until.size:
        watch_in_order(seen, ahead, played, rotations, p, s, room)
    else:
        use_in_order(seen, played, p, s, room.gains)


def expected_together(
    day: NDArray[np.int64],
    ahead: Entries,
    p: Kinds,
    s: Joint,
    rotations: Rotations = NO_ROTATIONS,
    sides: Array = NO_SIDES,
) -> tuple[Array, Array]:
    """Mean and variance (matches) expected of matches, all from the beliefs as they stand."""
    seen = observed(day, np.empty(0), np.empty(day.size))
    filter_together(seen, ahead, NO_ENTRIES, rotations, p, s, room_for(0, 1, ahead, sides=sides))
    return seen.mean, seen.variance
