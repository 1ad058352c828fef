"""Compiled loops of the team ratings, in the paper's symbols.

One match between ``i`` and ``j``: ``z = R_i − R_j + h``, ``b = 2 sinh x / (2 cosh x + κ)`` with ``x = ν_D z`` and
``ν_D = ν (2 + κ)/2`` (Davidson in points of expected score, ``in_points`` 1; at 0 the scale is ν itself), then
``R_i += γ_i (S − b)`` and ``R_j −= γ_j (S − b)``. The step falls with experience, ``γ_i = γ (1 + β m / (m + n_i))``
after ``n_i`` matches. Rest beyond a gap pulls a rating to the mean, ``R − R₀ → f (R − R₀)`` with
``f = exp(−ρ · rest)``. The variance ``v`` of a rating follows the same linearised steps:
``v_i ← (1 − γ_i b')² v_i + γ_i² (b'² v_j + ⟨S²⟩ − b²)``, and ``v₀ + f² (v − v₀)`` while resting. Where margins stand
in for S, ``⟨S²⟩`` is their mean square after the bounded map.

Under level ``l`` of a condition side ``i`` is better by ``δ_il``, which joins ``z``, with a variance ``v_il`` that
begins at the square of the condition's spread. Davidson's law has the score ``ν_D (S − b)`` and the information
``I = ν_D b'``; with ``G = 1 + I Σ v`` over all deviations that take part, ``δ_il += v_il ν_D (S − b) / G`` and
``v_il −= v_il² I / G``.

Davidson's law counts a draw by κ, both in the update and in forecasts. A federation's Elo (``counts_draws`` 0) counts
it as half a point of ``b = tanh νz``; its forecasts follow Davidson's law at the scale ν_D, whose expected score has
the same slope between equals, and κ is learned from the draws:
``P(draw) = (1 − P(draw)) κ / 2 cosh ν_D z``, so that ``κ = Σ 1{draw} / Σ_{decisive} (2 cosh ν_D z)⁻¹``, both sums
fading over ``memory`` matches and begun with five matches of equals at κ = ½. Until the first draw κ is 0.

Where the noise of a match has a factor ``f``, it shows ``z/f``: ν is ν/f in the update, whose steps are γ/f, and
forecasts are made at ``z/f``.

What all matches share follows them by one law (:func:`kinelo.raters.reading.gain_of`): a variance ``v`` grows by
``w²`` before each match, then ``v ← v/(1 + vI)`` and the number moves by ``v`` times the score. Of ``h`` the score is
``ν_D (S − b)``; where it is not given it begins wide, and ``w`` is such that settled steps are ``c_h (S − b)``.
Forecasts are made at ``e^ℓ z``, where ``ℓ`` follows how bold they proved. κ moves by settled steps from the first on,
``log κ += c_κ (1{draw} − P(draw))`` with the forecast's chance of a draw, as long as that rises with κ: where draws are
many, a larger κ makes those of unequal sides rarer, since ν_D grows with it, and κ would run away. Margins are
measured in a running mean of their size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.steps import ELITE
from kinelo.play.elementary import tanh_of
from kinelo.play.formula import borrowing, part
from kinelo.play.laws import STEEPEST, davidson_terms, match_law, points_scale, tail_of
from kinelo.play.steps import falling, step_size
from kinelo.raters.advantage import effect_gap, follow, follow_effects, weigh
from kinelo.raters.band import follow_band
from kinelo.raters.batches import FIRST_MEMBER
from kinelo.raters.filter.belief import YEAR
from kinelo.raters.reading import gain_of, score_of
from kinelo.raters.state import BAND, BOLD, BOLD_V, HOME_POINTS, HOME_V, KAPPA, LATELY, LATELY_V, NEVER

JUNIOR, REACHED = 1, 2
"""Marks of a side: who is one of FIDE's juniors, and who has reached its line."""
NEAREST_POLE = 1.38
"""Least of ``(π − arccos κ/2)/(1 + κ/2)`` over κ from 0 to 2."""
LARGEST_DOUBT = 45.0
"""ν_D times the standard deviation of a difference beyond which e^{νx} would leave the range of numbers."""
LEAST_NOISE = 0.01

UNIT, DRAWS, DECISIVE = range(KAPPA + 1, KAPPA + 4)
PRIOR_DRAWS, PRIOR_DECISIVE = 1.0, 2.0
"""Five matches of equals, one of them drawn: κ = ½."""


class TeamParameters(NamedTuple):
    """The numbers of the kernels; ``kind`` is that of the outcome function.

    Books keep these numbers in this order: new ones come last, and their defaults are what was before them.
    """

    gamma: float
    boost: float
    settling: float
    home: float
    kappa: float
    margin_weight: float
    margin_scale: float
    rho: float
    nu: float
    mean: float
    v0: float
    gap: float
    square: float
    home_step: float
    ties_walk: float
    memory: float
    outer_nu: float
    kind: float
    in_points: float
    counts_draws: float = 1.0
    learns_ties: float = 0.0
    rule: float = 0.0
    sharpness_walk: float = 0.0
    home_wide: float = 0.0
    effect_step: float = 0.0


MEMBER = np.dtype([(name, np.float64) for name in TeamParameters._fields])
"""The same as an entry of an array with one entry per member."""


class Nodes(NamedTuple):
    """Nodes ``x`` (nodes, batch) and weights (nodes) of the expectation over a difference of performances."""

    x: NDArray[np.float64]
    weight: NDArray[np.float64]


class TeamTrace(NamedTuple):
    """What was known before each match: differences of strength ``z`` (matches, members), chances of win, draw and loss
    (batch, matches, 3), and ratings of both sides in the first member (matches, 2); ``until`` (matches, int) is where
    the matches end that are forecast together. Empty arrays ask for nothing.
    """

    z: NDArray[np.float64]
    chances: NDArray[np.float64]
    ratings: NDArray[np.float64]
    until: NDArray[np.int64]


NO_TRACE = TeamTrace(np.empty((0, 1)), np.empty((1, 0, 3)), np.empty((0, 2)), np.empty(0, np.int64))


@part
def outcome_chances(z, nu, kappa, nodes, q):
    """Win and loss probability (floats) at a difference ``z`` blurred by normal performances, in member ``q``.

    Nodes are equally spaced: ``e^{ν(z + x)}`` is a geometric series.
    """
    first, step = node_exponents(z, nu, nodes, q)
    u, ratio, weight = math.exp(first), math.exp(step), nodes.weight
    win = 0.0
    loss = 0.0
    for a in range(weight.size):
        won, lost, _ = davidson_terms(kappa, u)
        win += weight[a] * won
        loss += weight[a] * lost
        u *= ratio
    return win, loss


@part
def node_exponents(z, nu, nodes, q):
    """``ν(z + x)`` at the first node, and how much larger it is at each further one (floats), in member ``q``."""
    x = nodes.x
    step = nu * (x[1, q] - x[0, q]) if nodes.weight.size > 1 else 0.0
    return min(max(nu * z, -STEEPEST), STEEPEST) + nu * x[0, q], step


@part
def chances_with_slopes(first, step, kappa, weight):
    """The same as :func:`outcome_chances` at these exponents: win, loss, and how each moves with both exponents and κ.

    The formulas are those of :func:`kinelo.play.laws.davidson_terms`.
    """
    u, ratio = math.exp(first), math.exp(step)
    win = loss = win_first = loss_first = win_step = loss_step = win_kappa = loss_kappa = 0.0
    for a in range(weight.size):
        won, lost, r = davidson_terms(kappa, u)
        won, lost, b = weight[a] * won, weight[a] * lost, won - lost
        win += won
        loss += lost
        win_first += won * (1.0 - b)
        loss_first -= lost * (1.0 + b)
        win_step += a * won * (1.0 - b)
        loss_step -= a * lost * (1.0 + b)
        win_kappa -= r * won
        loss_kappa -= r * lost
        u *= ratio
    return win, loss, (win_first, win_step, win_kappa), (loss_first, loss_step, loss_kappa)


@part
def three_chances(win, loss, kappa):
    """Win, draw and loss probability (floats), which sum to one, from two of them; nobody draws where κ = 0."""
    if kappa > 0.0:
        return win, max(1.0 - win - loss, 0.0), loss
    return win, 0.0, 1.0 - win


@part
def level_gap(i, j, k, q, slots, delta):
    """How much better side ``i`` is than ``j`` by the levels of match ``k``; ``delta`` is (sides, slots, members)."""
    gap = 0.0
    for c in range(slots.shape[1]):
        slot = slots[k, c]
        if slot >= 0:
            gap += delta[i, slot, q] - delta[j, slot, q]
    return gap


@borrowing
def learn_levels(i, j, levels, score, information, delta, delta_v):
    """Share a surprise with the deviations (sides, slots) of two sides under the levels of a match."""
    doubt = 0.0
    for slot in levels:
        if slot >= 0:
            doubt += delta_v[i, slot] + delta_v[j, slot]
    whole = 1.0 + information * doubt
    for slot in levels:
        if slot >= 0:
            for team, sign in ((i, 1.0), (j, -1.0)):
                variance = delta_v[team, slot]
                delta[team, slot] += sign * variance * score / whole
                delta_v[team, slot] -= variance * variance * information / whole


@part
def noise_of(m, k):
    """The factor of the noise (float) of match ``k``."""
    return m.noise[k] if m.noise.size > 0 else 1.0


@part
def own_step(p, own, marks, rating, n):
    """γ (float) of a side under a rule of K, unless it has its own; ``rule`` is one more than the kind of rule."""
    if own >= 0.0:
        return own
    junior, reached = (marks & JUNIOR) > 0, (marks & REACHED) > 0
    return step_size(int(p.rule) - 1, p.gamma, p.boost, p.settling, junior, rating, n, reached)


@borrowing
def forecast_together(m, begin, end, parameters, s, common, nodes, trace):
    """Forecast the matches from ``begin`` to ``end`` (ints) from the state as it stands, as :func:`play_all` traces
    them."""
    for k in range(begin, end):
        i, j = m.home[k], m.away[k]
        for q in range(parameters.size):
            p, kappa = parameters[q], common[q, KAPPA]
            edge = 0.0 if m.neutral[k] else common[q, HOME_POINTS]
            for side, team, sign in ((0, i, 1.0), (1, j, -1.0)):
                rest = max(m.day[k] - s.last[team] - p.gap, 0.0) if s.games[team] > 0 else 0.0
                rating = p.mean + math.exp(-p.rho * rest / YEAR) * (s.rating[team, q] - p.mean)
                edge += sign * rating
                if q == 0:
                    trace.ratings[k, side] = rating
            if m.slots.shape[1] > 0:
                edge += level_gap(i, j, k, q, m.slots, s.delta)
            edge += effect_gap(k, m.effects, common[q])
            bold = math.exp(common[q, BOLD]) * edge / noise_of(m, k)
            win, loss = outcome_chances(bold, points_scale(p.outer_nu, p.in_points * kappa), kappa, nodes, q)
            trace.z[k, q] = edge
            trace.chances[q, k, 0], trace.chances[q, k, 1], trace.chances[q, k, 2] = three_chances(win, loss, kappa)


@part
def followed(value, slopes, place, origin):
    """A value (float) at a place near the origin, three numbers each, where it is ``value`` and has these slopes."""
    return (
        value
        + slopes[0] * (place[0] - origin[0])
        + slopes[1] * (place[1] - origin[1])
        + slopes[2] * (place[2] - origin[2])
    )


@part
def rest_side(team, idle, q, p, s):
    """Let a side that has rested for ``idle`` days fade towards the mean, in member ``q``."""
    if s.games[team] > 0 and idle > p.gap:
        f = math.exp(-p.rho * (idle - p.gap) / YEAR)
        s.rating[team, q] = p.mean + f * (s.rating[team, q] - p.mean)
        if q == 0:
            s.variance[team] = p.v0 + f * f * (s.variance[team] - p.v0)


@part
def learned_ties(t, S, weight, kappa, memory, sums):
    """κ (float) after a match with result ``S`` at ``t = e^{−ν_D |z|}``; ``sums`` (5) holds draws and decisive
    matches.
    """
    decisive = weight * abs(S)
    sums[DRAWS] += weight - decisive - sums[DRAWS] / memory
    sums[DECISIVE] += decisive * t / (1.0 + t * t) - sums[DECISIVE] / memory
    if sums[DRAWS] > 0.0:
        return (sums[DRAWS] + PRIOR_DRAWS) / (sums[DECISIVE] + PRIOR_DECISIVE)
    return kappa


@part
def step_sides(i, j, q, surprise, weight, p, s):
    """Move the ratings of two sides by a surprise, in member ``q``; return both steps (floats)."""
    R, n = s.rating, s.games
    gi = gj = weight * p.gamma
    if p.boost > 0.0:
        gi *= falling(p.boost, p.settling, n[i])
        gj *= falling(p.boost, p.settling, n[j])
    if p.rule > 0.0:
        gi = weight * own_step(p, s.own[i], s.marks[i], R[i, q], n[i])
        gj = weight * own_step(p, s.own[j], s.marks[j], R[j, q], n[j])
    R[i, q] += gi * surprise
    R[j, q] -= gj * surprise
    return gi, gj


@borrowing
def play_all(m, parameters, s, common, nodes, trace):
    """Rate matches ``m`` in order, in several members side by side, each with an entry of ``parameters`` (members),
    which are those of the first but for a little.

    Ratings and deviations of the state ``s`` have a last axis of members; all else is that of the first member.
    ``common`` (batch, 23) holds what all matches share and what drifts: home advantage, κ, unit of margins, sums for κ,
    variance of the advantage, boldness, its variance, an advantage since lately, and what is believed of κ. The
    :class:`TeamTrace`, unless it is empty, receives what was known before each match. Forecasts may grow bolder, and κ
    follow the draws, in a single member only.

    Returns False, having changed nothing, if some result is NaN.
    """
    R, v = s.rating, s.variance
    z, chances, levelled = trace.z, trace.chances, m.slots.shape[1] > 0
    ahead = 0 if z.size > 0 else m.home.size  # the matches before this one are forecast
    # Members stand next to the first: what is costly is found there, and followed to the others by its slopes.
    several = parameters.size > 1
    origin = by_win = by_loss = place = law = bend = (0.0, 0.0, 0.0)
    first_win = first_loss = first_b = first_slope = 0.0
    for k in range(m.signed.size):
        if math.isnan(m.signed[k]):
            return False
    for k in range(m.home.size):
        i, j, S, margin, weight, neutral = m.home[k], m.away[k], m.signed[k], m.margin[k], m.weight[k], m.neutral[k]
        if k >= ahead and trace.until[k] > k + 1:
            ahead = trace.until[k]
            forecast_together(m, k, ahead, parameters, s, common, nodes, trace)
        traced = k >= ahead
        idle_i, idle_j, f = m.day[k] - s.last[i], m.day[k] - s.last[j], noise_of(m, k)
        first_seen, anew = 0.0, False
        for q in range(parameters.size):
            p = parameters[q]
            h, kappa, unit = common[q, HOME_POINTS], common[q, KAPPA], common[q, UNIT]
            if p.rho > 0.0:
                rest_side(i, idle_i, q, p, s)
                rest_side(j, idle_j, q, p, s)
            edge = R[i, q] - R[j, q] + (0.0 if neutral else h)  # z: difference of ratings, with the home advantage
            if levelled:
                edge += level_gap(i, j, k, q, m.slots, s.delta)
            edge += effect_gap(k, m.effects, common[q])
            drifting, shown = p.ties_walk > 0.0 and kappa > 0.0, edge / f
            # What the match is forecast with: chances over the blur of both performances.
            win = loss = first = step = bold_score = bold_information = 0.0
            if several:
                first, step = node_exponents(shown, points_scale(p.outer_nu, p.in_points * kappa), nodes, q)
                if q == 0:
                    origin = first, step, kappa
                    first_win, first_loss, by_win, by_loss = chances_with_slopes(first, step, kappa, nodes.weight)
                win = followed(first_win, by_win, (first, step, kappa), origin)
                loss = followed(first_loss, by_loss, (first, step, kappa), origin)
            elif p.sharpness_walk > 0.0 or drifting:
                bold = math.exp(common[q, BOLD]) * shown
                nu = points_scale(p.outer_nu, p.in_points * kappa)
                first, step = node_exponents(bold, nu, nodes, q)
                win, loss, by_win, by_loss = chances_with_slopes(first, step, kappa, nodes.weight)
                by_loss_now = by_loss[0] if kappa > 0.0 else -by_win[0]
                bold_score, bold_information = score_of(
                    S, three_chances(win, loss, kappa), nu * bold * by_win[0], nu * bold * by_loss_now
                )
            elif traced:
                bold = math.exp(common[q, BOLD]) * shown
                win, loss = outcome_chances(bold, points_scale(p.outer_nu, p.in_points * kappa), kappa, nodes, q)
            if traced:
                if q == 0:
                    trace.ratings[k, 0], trace.ratings[k, 1] = R[i, 0], R[j, 0]
                z[k, q] = edge
                chances[q, k, 0], chances[q, k, 1], chances[q, k, 2] = three_chances(win, loss, kappa)
            # What it is rated with: b(z), its slope, and the chance of a draw.
            counted = p.counts_draws * kappa
            scale = points_scale(p.nu / f, p.in_points * counted)
            b = slope = tie = 0.0
            if q == 0 or levelled:
                b, slope, tie = match_law(p.kind, scale, counted, edge)
                if several and q == 0:
                    place, first_b, first_slope = (edge, scale, counted), b, slope
                    law = slope, slope * edge / scale, -b * tie / counted if counted > 0.0 else 0.0
                    by_edge = scale * b * (scale * tie - 2.0 * slope)
                    by_counted = scale * tie * (2.0 * b * b - 1.0 + tie) / counted if counted > 0.0 else 0.0
                    bend = by_edge, (slope + edge * by_edge) / scale, by_counted
            else:
                b = followed(first_b, law, (edge, scale, counted), place)
                slope = followed(first_slope, bend, (edge, scale, counted), place)
            if p.counts_draws == 0.0:
                t = tail_of(points_scale(p.nu, kappa) * shown)
                tie = kappa * t / (1.0 + t * t + kappa * t)
            if p.learns_ties > 0.0:
                t = tail_of(points_scale(p.outer_nu, kappa) * shown)
                kappa = learned_ties(t, S, weight, kappa, p.memory, common[q])
            noise = max(1.0 - tie - b * b, 0.0)  # Var S; by halves of a point, draws of unequal sides may exceed it
            target = S
            if p.margin_weight > 0.0 and not math.isnan(margin):
                seen = first_seen  # the unit is the same in the whole batch
                if q == 0 or p.margin_scale != parameters[0].margin_scale:
                    seen = tanh_of(margin / (p.margin_scale * unit))
                first_seen = seen if q == 0 else first_seen
                target += p.margin_weight * (seen - target)  # the margin is a part of what was scored
                noise = max(p.square - b * b, LEAST_NOISE)
                common[q, UNIT] = unit + (abs(margin) - unit) / p.memory
            if drifting and weight > 0.0:
                # ∂P/∂ log κ, with ν_D in both exponents: κ follows the draws while it makes them likelier.
                steeper = p.in_points * kappa / (2.0 + p.in_points * kappa)
                fewer_won = kappa * by_win[2] + steeper * (first * by_win[0] + step * by_win[1])
                fewer_lost = kappa * by_loss[2] + steeper * (first * by_loss[0] + step * by_loss[1])
                if fewer_won + fewer_lost < 0.0:
                    score, information = score_of(S, three_chances(win, loss, kappa), fewer_won, fewer_lost)
                    kappa = math.exp(follow_band(p.ties_walk, weight * score, weight * information, common[q], BAND))
            common[q, KAPPA] = kappa
            if common[q, HOME_V] > 0.0 and not neutral and weight > 0.0:
                steep, steady = weight * scale, p.home_step / (scale * f)
                follow(HOME_POINTS, HOME_V, steep * (target - b), steep * slope, steady, common[q])
                if q == 0 and p.home_wide > 0.0:
                    late, late_slope, _ = match_law(p.kind, scale, counted, edge - h + common[0, LATELY])
                    follow(LATELY, LATELY_V, steep * (target - late), steep * late_slope, steady, common[0])
                    share = 0.5 + 0.5 * target
                    anew = weigh(weight, share, 0.5 + 0.5 * b, 0.5 + 0.5 * late, p.home, p.home_wide, common[0])
                if anew:  # in the whole batch alike
                    common[q, HOME_POINTS], common[q, HOME_V] = common[0, HOME_POINTS], common[0, HOME_V]
            if m.effects.shape[1] > 0 and weight > 0.0:
                steep, steady = weight * scale, p.effect_step / (scale * f)
                follow_effects(k, m.effects, steep * (target - b), steep * slope, steady, common[q])
            if p.sharpness_walk > 0.0 and weight > 0.0:
                common[q, BOLD_V] = gain_of(common[q, BOLD_V], weight * bold_information, p.sharpness_walk**2)
                common[q, BOLD] += common[q, BOLD_V] * weight * bold_score
            if levelled:
                steep = weight * scale
                learn_levels(
                    i, j, m.slots[k], steep * (target - b), steep * slope, s.delta[:, :, q], s.delta_v[:, :, q]
                )
            gi, gj = step_sides(i, j, q, target - b, weight / f, p, s)  # R_i += γ_i (S − b), R_j −= γ_j (S − b)
            if q == 0:
                vi, vj = v[i], v[j]  # variance of a rating: what is left of it, what the other brings, and luck
                v[i] = (1.0 - gi * slope) ** 2 * vi + gi * gi * (slope * slope * vj + noise)
                v[j] = (1.0 - gj * slope) ** 2 * vj + gj * gj * (slope * slope * vi + noise)
        for team in (i, j):
            if parameters[0].rule > 0.0 and R[team, 0] >= ELITE:
                s.marks[team] |= REACHED
            s.last[team] = m.day[k]
            s.games[team] += 1
    return True


@part
def rating_on(side, day, p, s):
    """Rating of a side after its rest until a day, and its variance (floats); the start's of a newcomer (place -1)."""
    if side < 0:
        return p.mean, p.v0
    idle = max(day - s.last[side] - p.gap, 0.0) if s.last[side] > NEVER else 0.0
    f = math.exp(-p.rho * idle / YEAR)
    return p.mean + f * (s.rating[side] - p.mean), p.v0 + f * f * (s.variance[side] - p.v0)


@borrowing
def foresee_all(m, p, s, common, z, doubt, ratings):
    """Differences ``z`` of strengths in matches to come and their variances ``doubt`` (matches each), and ratings of
    both sides (matches, 2), from the state as it stands; place -1 is a newcomer, and ``common`` (5) holds what all
    matches share.
    """
    for k in range(m.home.size):
        i, j = m.home[k], m.away[k]
        (R_i, v_i), (R_j, v_j) = rating_on(i, m.day[k], p, s), rating_on(j, m.day[k], p, s)
        edge, both = R_i - R_j + (0.0 if m.neutral[k] else common[HOME_POINTS]), v_i + v_j
        edge += effect_gap(k, m.effects, common)
        for c in range(m.slots.shape[1]):
            slot = m.slots[k, c]
            if slot >= 0:
                edge += (s.delta[i, slot] if i >= 0 else 0.0) - (s.delta[j, slot] if j >= 0 else 0.0)
                both += s.delta_v[i, slot] if i >= 0 else s.slot_v[slot]
                both += s.delta_v[j, slot] if j >= 0 else s.slot_v[slot]
        z[k], doubt[k] = edge, both
        ratings[k, 0], ratings[k, 1] = R_i, R_j


@borrowing
def all_chances(z, nu, kappa, nodes, out):
    """Win, draw and loss probabilities of every ``z`` (n) at one ``nu`` and ``kappa`` into ``out`` (n, 3)."""
    for k in range(z.size):
        win, loss = outcome_chances(z[k], nu, kappa, nodes, FIRST_MEMBER)
        out[k, 0], out[k, 1], out[k, 2] = three_chances(win, loss, kappa)


def blur(nu: float, spreads: Sequence[float], kappa: float = 0.0) -> Nodes:
    """Nodes and weights of the expectation over a difference of two performances, ``x ~ N(0, 2 σ²)``, a member per σ.

    The trapezoidal rule converges geometrically here; its step is chosen so that the error stays below 1e-10 given the
    nearest pole of ``1/(2 cosh ν_D z + κ)``, for every σ given and every κ up to this one or 2.
    """
    sd = math.sqrt(2.0) * np.array(spreads)
    widest = float(sd.max())
    if nu * widest < 1e-8:
        return Nodes(np.zeros((1, sd.size)), np.ones(1))
    most = LARGEST_DOUBT / points_scale(nu, kappa)
    if widest > most:
        raise InputError(f"A spread of {max(spreads):g} points hides every difference; give at most {most / 1.5:.3g}.")
    pole = min(NEAREST_POLE, math.pi / (1.0 + 0.5 * kappa)) / (nu * widest)
    h = 0.9
    while 2 * math.pi * min(pole, 2 * math.pi / h) / h - min(pole, 2 * math.pi / h) ** 2 / 2 < 24.0:
        h *= 0.95
    half = math.ceil(6.6 / h)
    x = h * np.arange(-half, half + 1, dtype=np.float64)
    weight = np.exp(-0.5 * x * x)
    return Nodes(x[:, None] * sd, weight / weight.sum())
