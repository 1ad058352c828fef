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

What all matches share may drift: ``h += c_h (S − b)``, ``log κ += c_κ (1{draw} − P(draw))`` with the forecast's chance
of a draw, and margins are measured in a running mean of their size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.outcome import LOGISTIC
from kinelo.play.elementary import tanh_of
from kinelo.play.formula import inlined, kernel
from kinelo.play.laws import davidson_terms, match_law, points_scale, tail_of
from kinelo.play.steps import ELITE, falling, step_size
from kinelo.raters.team.state import JUNIOR, REACHED

STEEPEST = 40.0
NEAREST_POLE = 1.38
"""Least of ``(π − arccos κ/2)/(1 + κ/2)`` over κ from 0 to 2."""
WIDEST = 45.0
"""ν_D times the standard deviation of a difference beyond which e^{νx} would leave the range of numbers."""
YEAR = 365.25
LEAST_NOISE = 0.01

HOME, KAPPA, UNIT, DRAWS, DECISIVE = range(5)
PRIOR_DRAWS, PRIOR_DECISIVE = 1.0, 2.0
"""Five matches of equals, one of them drawn: κ = ½."""


class Numbers(NamedTuple):
    """What the kernels take; ``kind`` is that of the outcome function.

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
    home_step: float = 0.0
    ties_step: float = 0.0
    memory: float = 1000.0
    outer_nu: float = 0.0
    kind: float = float(LOGISTIC)
    in_points: float = 0.0
    counts_draws: float = 1.0
    learns_ties: float = 0.0
    rule: float = 0.0


@inlined
def outcome_chances(z, nu, kappa, shift, node_weight):
    """Win and loss probability at a difference ``z`` blurred by normal performances (nodes of :func:`blur`).

    Nodes are equally spaced: ``e^{ν(z + x)}`` is a geometric series.
    """
    u, ratio = series(z, nu, shift)
    win = 0.0
    loss = 0.0
    for q in range(shift.size):
        won, lost, _ = davidson_terms(kappa, u)
        win += node_weight[q] * won
        loss += node_weight[q] * lost
        u *= ratio
    return win, loss


@inlined
def series(z, nu, shift):
    """First term and ratio of ``e^{ν(z + x)}`` over the nodes."""
    first = math.exp(min(max(nu * z, -STEEPEST), STEEPEST) + nu * shift[0])
    return first, (math.exp(nu * (shift[1] - shift[0])) if shift.size > 1 else 1.0)


@kernel
def level_gap(i, j, k, slots, delta):
    """How much better ``i`` is than ``j`` by the levels of match ``k``."""
    gap = 0.0
    for c in range(slots.shape[1]):
        slot = slots[k, c]
        if slot >= 0:
            gap += delta[i, slot] - delta[j, slot]
    return gap


@kernel
def learn_levels(i, j, k, slots, delta, delta_v, score, information):
    """Share a surprise with the deviations under the levels of match ``k``."""
    doubt = 0.0
    for c in range(slots.shape[1]):
        slot = slots[k, c]
        if slot >= 0:
            doubt += delta_v[i, slot] + delta_v[j, slot]
    whole = 1.0 + information * doubt
    for c in range(slots.shape[1]):
        slot = slots[k, c]
        if slot >= 0:
            for team, sign in ((i, 1.0), (j, -1.0)):
                variance = delta_v[team, slot]
                delta[team, slot] += sign * variance * score / whole
                delta_v[team, slot] -= variance * variance * information / whole


@inlined
def own_step(p, own, marks, rating, n):
    """γ of a side under a rule of K, unless it has its own; ``rule`` is one more than the kind of rule."""
    if own >= 0.0:
        return own
    junior, reached = (marks & JUNIOR) > 0, (marks & REACHED) > 0
    return step_size(int(p.rule) - 1, p.gamma, p.boost, p.settling, junior, rating, n, reached)


@kernel
def play_all(
    home, away, S, margin, neutral, weight, day, slots, p, R, v, n, last, own, marks, delta, delta_v, common, shift,
    node_weight, z, ties,
):  # fmt: skip
    """Rate matches in order; ``z[k]`` and ``ties[k]``, if there is room, receive the difference of strengths and κ
    before match ``k``. ``slots`` has a column per condition, -1 where a match says no level. ``common`` holds what all
    matches share and what drifts: home advantage, κ, unit of margins.

    Returns False, having changed nothing, if some result is NaN.

    The body stands in one loop and calls functions of numbers only: handing arrays on costs more than a match.
    """
    rho, R0, v0, gap, w = p.rho, p.mean, p.v0, p.gap, p.margin_weight
    h, kappa, unit = common[HOME], common[KAPPA], common[UNIT]
    traced = z.size > 0
    levelled = slots.shape[1] > 0
    for k in range(S.size):
        if math.isnan(S[k]):
            return False
    for k in range(home.size):
        i, j = home[k], away[k]
        if rho > 0.0:
            for team in (i, j):
                idle = day[k] - last[team]
                if n[team] > 0 and idle > gap:
                    f = math.exp(-rho * (idle - gap) / YEAR)
                    R[team] = R0 + f * (R[team] - R0)
                    v[team] = v0 + f * f * (v[team] - v0)
        last[i] = day[k]
        last[j] = day[k]
        edge = R[i] - R[j] + (0.0 if neutral[k] else h)
        if levelled:
            edge += level_gap(i, j, k, slots, delta)
        if traced:
            z[k] = edge
            ties[k] = kappa
        counted = p.counts_draws * kappa
        scale = points_scale(p.nu, p.in_points * counted)
        b, slope, tie = match_law(p.kind, scale, counted, edge)
        if p.counts_draws == 0.0:
            t = tail_of(points_scale(p.nu, kappa) * edge)
            tie = kappa * t / (1.0 + t * t + kappa * t)
            if p.learns_ties > 0.0:
                decisive = weight[k] * abs(S[k])
                common[DRAWS] += weight[k] - decisive - common[DRAWS] / p.memory
                common[DECISIVE] += decisive * t / (1.0 + t * t) - common[DECISIVE] / p.memory
                if common[DRAWS] > 0.0:
                    kappa = (common[DRAWS] + PRIOR_DRAWS) / (common[DECISIVE] + PRIOR_DECISIVE)
        noise = 1.0 - tie - b * b
        target = S[k]
        if w > 0.0 and not math.isnan(margin[k]):
            target += w * (tanh_of(margin[k] / (p.margin_scale * unit)) - target)
            noise = max(p.square - b * b, LEAST_NOISE)
            unit += (abs(margin[k]) - unit) / p.memory
        if p.ties_step > 0.0 and kappa > 0.0:
            outer = points_scale(p.outer_nu, p.in_points * kappa)
            win, loss = outcome_chances(edge, outer, kappa, shift, node_weight)
            kappa *= math.exp(p.ties_step * weight[k] * (win + loss - abs(S[k])))
        if p.home_step > 0.0 and not neutral[k]:
            h += p.home_step * weight[k] * (target - b)
        if levelled:
            told = weight[k] * scale
            learn_levels(i, j, k, slots, delta, delta_v, told * (target - b), told * slope)
        gi = gj = weight[k] * p.gamma
        if p.boost > 0.0:
            gi *= falling(p.boost, p.settling, n[i])
            gj *= falling(p.boost, p.settling, n[j])
        if p.rule > 0.0:
            gi = weight[k] * own_step(p, own[i], marks[i], R[i], n[i])
            gj = weight[k] * own_step(p, own[j], marks[j], R[j], n[j])
        R[i] += gi * (target - b)
        R[j] -= gj * (target - b)
        if p.rule > 0.0:
            marks[i] |= REACHED if R[i] >= ELITE else 0
            marks[j] |= REACHED if R[j] >= ELITE else 0
        vi, vj = v[i], v[j]
        v[i] = (1.0 - gi * slope) ** 2 * vi + gi * gi * (slope * slope * vj + noise)
        v[j] = (1.0 - gj * slope) ** 2 * vj + gj * gj * (slope * slope * vi + noise)
        n[i] += 1
        n[j] += 1
    common[HOME], common[KAPPA], common[UNIT] = h, kappa, unit
    return True


@kernel
def all_chances(z, nu, kappa, shift, node_weight, out):
    """Win, draw and loss probabilities of every ``z`` at its own scale ``nu`` into the rows of ``out``; each row sums
    to one."""
    for k in range(z.size):
        win, loss = outcome_chances(z[k], nu[k], kappa[k], shift, node_weight)
        out[k, 0] = win
        out[k, 1] = max(1.0 - win - loss, 0.0) if kappa[k] > 0.0 else 0.0
        out[k, 2] = loss if kappa[k] > 0.0 else 1.0 - win


def blur(nu: float, spread: float, kappa: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the expectation over a difference of two performances, ``x ~ N(0, 2 σ²)``.

    The trapezoidal rule converges geometrically here; its step is chosen so that the error stays below 1e-10 given the
    nearest pole of ``1/(2 cosh ν_D z + κ)``, for every κ up to this one or 2.
    """
    sd = math.sqrt(2.0) * spread
    if nu * sd < 1e-8:
        return np.zeros(1), np.ones(1)
    widest = WIDEST / points_scale(nu, kappa)
    if sd > widest:
        raise InputError(f"A spread of {spread:g} points hides every difference; give at most {widest / 1.5:.3g}.")
    pole = min(NEAREST_POLE, math.pi / (1.0 + 0.5 * kappa)) / (nu * sd)
    h = 0.9
    while 2 * math.pi * min(pole, 2 * math.pi / h) / h - min(pole, 2 * math.pi / h) ** 2 / 2 < 24.0:
        h *= 0.95
    half = math.ceil(6.6 / h)
    x = h * np.arange(-half, half + 1, dtype=np.float64)
    weight = np.exp(-0.5 * x * x)
    return np.asarray(sd * x, np.float64), weight / weight.sum()
