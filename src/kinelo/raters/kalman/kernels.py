"""Compiled Gaussian filter between sides, with the covariance of everyone's strength with everyone else's, or without.

The state ``x`` holds the advantage of the first-named side at home and on neutral ground (rows 0 and 1), the level at
which newcomers enter (row 2) and the strengths of all sides; ``C`` is its covariance, of which the lower triangle is
kept. A match of ``i`` against ``j`` shows ``y = x_i − x_j + x_venue + η_i + Σ (δ_il − δ_jl) + ε``, ``Var ε = noise``,
where ``η_i`` is what this side's home is worth beyond the common advantage and ``δ_il`` what it is better by under
condition ``l``. With ``K = C (e_i − e_j + e_venue)`` and ``S = K_i − K_j + K_venue + Var η + Σ Var δ + noise`` the
update is ``x += K (y − ŷ)/S``, ``C −= K Kᵀ/S``. The ``η`` and ``δ`` are kept independent of everything else, as if what
they share with the strengths were forgotten after each match: a full account of them would double the state.
Between matches ``dx = −ρ x dt + walk dW``. Without covariance only the diagonal is kept (``v``; ``C`` is then empty).

A newcomer enters at ``x_i = λ x_j + (1 − λ) g x_level + N(0, prior)`` where ``j`` is the first whom it meets (``λ = 0``
if that one is new as well): schedules tell of strength. ``g = 1 − e^{−years}`` since the first match, because those who
begin together set the level 0.

There are two loops. :func:`play_alone` keeps the diagonal and plays several filters side by side (lanes), each with
numbers of its own: how forecasts depend on a number is the difference of two lanes. :func:`play_together` keeps the
covariance. There a match takes ``U Uᵀ`` from it, ``U = K/√S``, and to do so at once costs a walk through all of it. The
last few ``U`` are therefore kept beside it: ``C − Σ U Uᵀ`` is what is meant, each match asks for one column of that,
and the covariance is walked through once for sixteen of them (in a search; one by one where ratings are kept). What
happens to a side in between, rest or entry, is linear, and happens to its row of ``C`` and to its entry of every ``U``
alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.formula import inlined, kernel
from kinelo.raters.random_walk import fade, move_clock, years_since_last, years_since_start

HOME, NEUTRAL, LEVEL, FIRST = range(4)
BLOCK = 16


class KalmanParameters(NamedTuple):
    """The numbers of the kernels: variances (``walk`` and ``venue_walk`` a year's), ρ and λ (``lean``).

    Numbers where there is one filter, arrays with an entry per lane where there are several.
    """

    walk: float
    prior: float
    noise: float
    home_prior: float
    venue_walk: float
    rho: float
    lean: float


class KalmanState(NamedTuple):
    """The state: ``x`` and ``C`` (or ``v``) by row; own home advantages, last days and matches played by side.

    ``delta`` and ``delta_v`` hold the side's strengths under conditions, ``slot_v`` their variance before any match.
    """

    x: NDArray[np.float64]
    C: NDArray[np.float64]
    v: NDArray[np.float64]
    eta: NDArray[np.float64]
    eta_v: NDArray[np.float64]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    slot_v: NDArray[np.float64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    clock: NDArray[np.int64]


class Lanes(NamedTuple):
    """States of several filters without covariance: ``x, v`` (rows, lanes), ``eta, eta_v`` (sides, lanes) and
    ``delta, delta_v`` (slots, sides, lanes); who played when is the same for all.
    """

    x: NDArray[np.float64]
    v: NDArray[np.float64]
    eta: NDArray[np.float64]
    eta_v: NDArray[np.float64]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    last: NDArray[np.int64]
    games: NDArray[np.int64]
    clock: NDArray[np.int64]


class Steps(NamedTuple):
    """What a way back needs of every match: gain ``K`` (matches, rows), surprise ``v``, variance ``S``, and by side the
    fade ``f``, how newcomers entered (``lean``, ``load``) and who was one (``fresh``); no rows where none is wanted.
    """

    K: NDArray[np.float64]
    v: NDArray[np.float64]
    S: NDArray[np.float64]
    f: NDArray[np.float64]
    lean: NDArray[np.float64]
    load: NDArray[np.float64]
    fresh: NDArray[np.bool_]


def steps(matches: int, rows: int) -> Steps:
    """Room for the steps of so many matches."""
    pair = (matches, 2)
    return Steps(
        np.zeros((matches, rows)), np.zeros(matches), np.full(matches, math.inf), np.ones(pair), np.zeros(pair),
        np.zeros(pair), np.zeros(pair, np.bool_),
    )  # fmt: skip


NO_STEPS = steps(0, 0)


@inlined
def learn_alone(row, lane, surprise, precision, x, v):
    """One entry of a diagonal covariance takes its part of a surprise of so much precision, ``1/S``."""
    gain = v[row, lane] * precision
    x[row, lane] += gain * surprise
    v[row, lane] -= gain * v[row, lane]


@kernel
def play_alone(matches, y, p, s, mean, variance):
    """Filter matches in order without covariance, a lane per column of ``y`` (matches, lanes) and entry of ``p``.

    ``mean`` and ``variance`` (matches, lanes) receive what was expected of ``y``, without its noise. One loop: handing
    the state on costs more than a match.
    """
    x, v, eta, eta_v = s.x, s.v, s.eta, s.eta_v
    neutral, weight, day, slots = matches.neutral, matches.weight, matches.day, matches.slots
    for g in range(y.shape[0]):
        a, b = matches.home[g], matches.away[g]
        i, j, venue = a + FIRST, b + FIRST, NEUTRAL if neutral[g] else HOME
        years = years_since_last(day[g], s.clock)
        move_clock(day[g], s.clock)
        new_i, new_j = s.games[a] == 0, s.games[b] == 0
        late = 1.0 - math.exp(-years_since_start(day[g], s.clock)) if new_i or new_j else 0.0
        rest_i, rest_j = day[g] - s.last[a], day[g] - s.last[b]
        for place in (a, b):
            s.last[place] = day[g]
            s.games[place] += 1
        for q in range(y.shape[1]):
            if years > 0.0:
                for row in range(FIRST):
                    if v[row, q] > 0.0:  # what is certain is never learnt
                        v[row, q] += years * (p.walk[q] if row == LEVEL else p.venue_walk[q])
            load = 0.0  # how much of the newcomers' level is in the difference of the two
            if not new_i:
                f, added = fade(rest_i, p.rho[q], p.walk[q])
                x[i, q] *= f
                v[i, q] = f * f * v[i, q] + added
            if not new_j:
                f, added = fade(rest_j, p.rho[q], p.walk[q])
                x[j, q] *= f
                v[j, q] = f * f * v[j, q] + added
            if new_i:
                lean = 0.0 if new_j else p.lean[q]
                part = (1.0 - lean) * late
                x[i, q] = part * x[LEVEL, q] + lean * x[j, q]
                v[i, q] = p.prior[q] + lean * lean * v[j, q] + part * part * v[LEVEL, q]
                load += part
            if new_j:
                lean = 0.0 if new_i else p.lean[q]
                part = (1.0 - lean) * late
                x[j, q] = part * x[LEVEL, q] + lean * x[i, q]
                v[j, q] = p.prior[q] + lean * lean * v[i, q] + part * part * v[LEVEL, q]
                load -= part
            m, V = x[i, q] - x[j, q] + x[venue, q], v[i, q] + v[j, q] + v[venue, q]
            if not neutral[g]:
                m += eta[a, q]
                V += eta_v[a, q]
            for c in range(slots.shape[1]):
                slot = slots[g, c]
                if slot >= 0:
                    m += s.delta[slot, a, q] - s.delta[slot, b, q]
                    V += s.delta_v[slot, a, q] + s.delta_v[slot, b, q]
            mean[g, q] = m
            variance[g, q] = V
            if weight[g] <= 0.0:
                continue
            precision, surprise = 1.0 / (V + p.noise[q] / weight[g]), y[g, q] - m
            learn_alone(i, q, surprise, precision, x, v)
            learn_alone(j, q, -surprise, precision, x, v)
            learn_alone(venue, q, surprise, precision, x, v)
            if load != 0.0:
                pull = load * v[LEVEL, q]
                x[LEVEL, q] += pull * surprise * precision
                v[LEVEL, q] -= pull * pull * precision
            if not neutral[g]:
                learn_alone(a, q, surprise, precision, eta, eta_v)
            for c in range(slots.shape[1]):
                slot = slots[g, c]
                if slot >= 0:
                    learn_alone(a, q, surprise, precision, s.delta[slot], s.delta_v[slot])
                    learn_alone(b, q, -surprise, precision, s.delta[slot], s.delta_v[slot])


@kernel
def entry(fresh_opponent, day, p, s):
    """How much (floats) a newcomer is given of its opponent's strength, and how much of the newcomers' level."""
    lean = 0.0 if fresh_opponent else p.lean
    return lean, (1.0 - lean) * (1.0 - math.exp(-years_since_start(day, s.clock)))


@kernel
def enter(row, ref, lean, load, p, s, active):
    """Give a newcomer its prior, in ``x`` (rows) and ``C`` (rows, rows); ``row`` and ``ref`` are places in them."""
    s.x[row] = load * s.x[LEVEL] + lean * s.x[ref]
    C = s.C
    for k in range(active):
        if k != row:
            given = load * C[max(LEVEL, k), min(LEVEL, k)]
            if lean > 0.0:
                given += lean * C[max(ref, k), min(ref, k)]
            C[max(row, k), min(row, k)] = given
    C[row, row] = p.prior + load * load * C[LEVEL, LEVEL]
    if lean > 0.0:
        C[row, row] += lean * (lean * C[ref, ref] + 2.0 * load * C[ref, LEVEL])


@kernel
def rest(row, f, added, s, active):
    """Let the side at a row (int) rest: it fades by ``f`` and its variance grows by ``added`` (floats)."""
    s.x[row] *= f
    if f < 1.0:
        for other in range(row):
            s.C[row, other] *= f
        for other in range(row + 1, active):
            s.C[other, row] *= f
    s.C[row, row] = f * f * s.C[row, row] + added


@kernel
def prepare(g, pair, day, p, s, active, U, out):
    """Advance both sides (a pair of ints) of match ``g`` to its day, in ``C`` and in the pending ``U`` (…, rows)."""
    years = years_since_last(day, s.clock)
    for row in range(FIRST):
        if s.C[row, row] > 0.0:  # what is certain is never learnt
            s.C[row, row] += years * (p.walk if row == LEVEL else p.venue_walk)
    move_clock(day, s.clock)
    for side in range(2):
        place = pair[side]
        if s.games[place] > 0:
            f, added = fade(day - s.last[place], p.rho, p.walk)
            rest(place + FIRST, f, added, s, active)
            for b in range(U.shape[0]):
                U[b, place + FIRST] *= f
            if out.v.size > 0:
                out.f[g, side] = f
    for side in range(2):
        place, other = pair[side], pair[1 - side]
        if s.games[place] == 0:
            lean, load = entry(s.games[other] == 0, day, p, s)
            enter(place + FIRST, other + FIRST, lean, load, p, s, active)
            for b in range(U.shape[0]):
                U[b, place + FIRST] = load * U[b, LEVEL] + lean * U[b, other + FIRST]
            if out.v.size > 0:
                out.fresh[g, side], out.lean[g, side], out.load[g, side] = True, lean, load
    for place in pair:
        s.last[place] = day
        s.games[place] += 1


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


def _column(i, j, venue, active, C, U, pending, K):
    """``K = (C − Σ U Uᵀ)(e_i − e_j + e_venue)``, C from its lower triangle."""
    for k in range(active):
        K[k] = C[max(i, k), min(i, k)] - C[max(j, k), min(j, k)] + C[max(venue, k), min(venue, k)]
    for b in range(pending):
        row = U[b]
        part = row[i] - row[j] + row[venue]
        for k in range(active):
            K[k] -= part * row[k]


def _take(surprise, S, active, x, K, row):
    """``x += K surprise/S``, and ``K/√S`` into a row of ``U``."""
    gain, root = surprise / S, 1.0 / math.sqrt(S)
    for k in range(active):
        x[k] += K[k] * gain
        row[k] = K[k] * root


subtract, column, take = (kernel(f, fastmath={"reassoc", "contract"}) for f in (_subtract, _column, _take))


@kernel
def apart(home, away, neutral, slots, s):
    """Mean and variance (floats) of what is independent of all else: own home advantage, strengths under conditions."""
    mean = 0.0
    variance = 0.0
    if not neutral:
        mean += s.eta[home]
        variance += s.eta_v[home]
    for slot in slots:
        if slot >= 0:
            mean += s.delta[home, slot] - s.delta[away, slot]
            variance += s.delta_v[home, slot] + s.delta_v[away, slot]
    return mean, variance


@kernel
def learn_one(sign, surprise, S, x, v, at):
    """One entry of ``x`` and ``v`` takes its part of a surprise (float), which counts with a sign."""
    gain = v[at] / S
    x[at] += sign * gain * surprise
    v[at] -= gain * v[at]


@kernel
def learn_apart(home, away, neutral, slots, surprise, S, s):
    """Share a surprise (float) of variance ``S`` with what is independent of all else; ``slots`` (conditions)."""
    if not neutral:
        learn_one(1.0, surprise, S, s.eta, s.eta_v, home)
    for slot in slots:
        if slot >= 0:
            learn_one(1.0, surprise, S, s.delta, s.delta_v, (home, slot))
            learn_one(-1.0, surprise, S, s.delta, s.delta_v, (away, slot))


@kernel
def rows_in_use(s):
    """Number of rows (int) of the state up to the last side that has played."""
    active = FIRST
    for place in range(s.games.size):
        if s.games[place] > 0:
            active = place + FIRST + 1
    return active


@kernel
def play_together(matches, y, p, s, block, expected, out):
    """Filter matches in order with the covariance; ``expected``, mean and variance (matches each), receives what was
    expected of ``y`` (matches), without its noise, and ``out``, where it has rows, what a way back needs.

    ``block`` is 1 or a multiple of four: with 1, matches that come one by one end at the same bits as all at once.
    """
    home, away, neutral, weight, slots = matches.home, matches.away, matches.neutral, matches.weight, matches.slots
    mean, variance = expected
    K = np.empty(s.x.size)
    U = np.zeros((block, s.x.size))
    pending = 0
    active = rows_in_use(s)
    for g in range(home.size):
        active = max(active, home[g] + FIRST + 1, away[g] + FIRST + 1)
        prepare(g, (home[g], away[g]), matches.day[g], p, s, active, U[:pending], out)
        i, j, venue = home[g] + FIRST, away[g] + FIRST, NEUTRAL if neutral[g] else HOME
        column(i, j, venue, active, s.C, U, pending, K)
        mean[g], variance[g] = apart(home[g], away[g], neutral[g], slots[g], s)
        mean[g] += s.x[i] - s.x[j] + s.x[venue]
        variance[g] += K[i] - K[j] + K[venue]
        if weight[g] <= 0.0:
            continue
        S, surprise = variance[g] + p.noise / weight[g], y[g] - mean[g]
        if out.v.size > 0:
            out.v[g], out.S[g] = surprise, S
            out.K[g, :active] = K[:active]
        take(surprise, S, active, s.x, K, U[pending])
        pending += 1
        if pending == block:
            subtract(s.C, U, active)
            U[:] = 0.0
            pending = 0
        learn_apart(home[g], away[g], neutral[g], slots[g], surprise, S, s)
    if pending > 0:
        subtract(s.C, U, active)


@kernel
def foresee_apart(home, away, neutral, slots, p, s):
    """The same (floats) as :func:`apart` where sides may never have been met (place −1)."""
    mean = 0.0
    variance = 0.0
    if not neutral:
        mean += s.eta[home] if home >= 0 else 0.0
        variance += s.eta_v[home] if home >= 0 else p.home_prior
    for slot in slots:
        if slot >= 0:
            for place, sign in ((home, 1.0), (away, -1.0)):
                mean += sign * s.delta[place, slot] if place >= 0 else 0.0
                variance += s.delta_v[place, slot] if place >= 0 else s.slot_v[slot]
    return mean, variance


@kernel
def advance(day, rows, p, s, u, M):
    """Mean ``u`` (4) and covariance ``M`` (4, 4) of venue, newcomers' level and sides on a day; zero for newcomers."""
    f = np.ones(4)
    own = np.zeros(4)
    for a in range(4):
        row = rows[a]
        if row >= FIRST:
            f[a], own[a] = fade(day - s.last[row - FIRST], p.rho, p.walk)
        elif row >= 0 and (s.C[row, row] if s.C.size > 0 else s.v[row]) > 0.0:
            own[a] = years_since_last(day, s.clock) * (p.walk if row == LEVEL else p.venue_walk)
    for a in range(4):
        if rows[a] < 0:
            continue
        u[a] = f[a] * s.x[rows[a]]
        for b in range(4):
            if rows[b] >= 0 and s.C.size > 0:
                M[a, b] = f[a] * f[b] * s.C[max(rows[a], rows[b]), min(rows[a], rows[b])]
            elif a == b:
                M[a, a] = f[a] * f[a] * s.v[rows[a]]
        M[a, a] += own[a]


@kernel
def foresee(home, away, neutral, day, slots, p, s):
    """Mean and variance (floats) expected of a match, from the state as it stands; place −1 is a side never met."""
    rows = np.array([NEUTRAL if neutral else HOME, LEVEL, home + FIRST, away + FIRST])
    for k, place in ((2, home), (3, away)):
        if place < 0:
            rows[k] = -1
    u, M = np.zeros(4), np.zeros((4, 4))
    advance(day, rows, p, s, u, M)
    for k, other in ((2, 3), (3, 2)):
        if rows[k] < 0:
            lean, load = entry(rows[other] < 0, day, p, s)
            u[k] = load * u[1] + lean * u[other]
            M[k, k] = p.prior + load * load * M[1, 1] + lean * (lean * M[other, other] + 2.0 * load * M[other, 1])
            if s.C.size > 0:
                for b in range(4):
                    if b != k:
                        M[k, b] = load * M[1, b] + lean * M[other, b]
                        M[b, k] = M[k, b]
    mean, variance = foresee_apart(home, away, neutral, slots, p, s)
    mean += u[0] + u[2] - u[3]
    variance += M[0, 0] + M[2, 2] + M[3, 3] + 2.0 * (M[0, 2] - M[0, 3] - M[2, 3])
    return mean, variance


@kernel
def foresee_all(matches, p, s, mean, variance):
    """Forecast matches from the state as it stands, into ``mean`` and ``variance`` (matches)."""
    m = matches
    for g in range(m.home.size):
        mean[g], variance[g] = foresee(m.home[g], m.away[g], m.neutral[g], m.day[g], m.slots[g], p, s)
