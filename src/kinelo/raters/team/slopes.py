"""Losses of the team ratings and their exact derivatives by every parameter, in one pass over the matches.

Beside each rating runs the row ``∂R/∂φ`` of its derivatives by all parameters ``φ`` (forward differentiation), beside
the home advantage ``∂h/∂φ`` and beside κ ``∂κ/∂φ``. With ``z = R_i − R_j + h``, ``D = S' − b(z)`` and ``S'`` what
the update sees, the chain rule carries them through a match: ``∂z = ∂R_i − ∂R_j + ∂h``,
``∂R_i ← ∂R_i + D ∂γ_i + γ_i (∂S' − b_x ∂x − b_κ ∂κ)``, and likewise for ``h`` and ``log κ``. Here ``x = ν_D z``, so
that ``∂x = ν_D ∂z + x ∂log ν_D``, and ν_D moves with κ and with the contraction. The loss of a match has
``∂ℓ = ℓ_z ∂z + ℓ_κ ∂κ + ℓ_σ``. Rows are in the order of ``TeamElo.parameters``, spreads by condition after them.
Deviations under conditions need the information ``I = ν_D² V``, ``V = b_x = q − b²`` being the variance of a result and
``q`` the chance that nobody draws; ``∂V/∂x = b (1 − 3q + 2b²)`` is its third cumulant.
"""

from __future__ import annotations

import math

import numpy as np

from kinelo.forecasts.scores import SMALLEST
from kinelo.play.formula import inlined, kernel
from kinelo.play.laws import davidson_terms, points_scale
from kinelo.raters.team.kernels import KAPPA, STEEPEST, UNIT, YEAR, series

(
    STEP, BOOST, SETTLING, HOME, TIES, SPREAD, WEIGHT, SCALE, CONTRACTION, REGRESSION, HOME_STEP, TIES_STEP, SIZE
) = range(13)  # fmt: skip


@inlined
def chances(z, nu, bent, kappa, shift, node_weight, lean):
    """Win and loss probability of a blurred difference, and the derivatives of each by ``z``, ``κ`` and ``σ``.

    ``bent`` is ``∂ν_D/∂κ``, and ``lean`` holds ``∂x/∂σ`` of every node x.
    """
    u, ratio = series(z, nu, shift)
    win = loss = win_z = loss_z = win_k = loss_k = win_s = loss_s = 0.0
    for q in range(shift.size):
        apart = z + shift[q]
        won, lost, r = davidson_terms(kappa, u)
        won, lost, b = node_weight[q] * won, node_weight[q] * lost, won - lost
        up, down = won * (1.0 - b), lost * (1.0 + b)
        win += won
        loss += lost
        win_z += up
        loss_z -= down
        win_s += lean[q] * up
        loss_s -= lean[q] * down
        win_k += bent * apart * up - r * won
        loss_k -= bent * apart * down + r * lost
        u *= ratio
    return win, loss, nu * win_z, nu * loss_z, win_k, loss_k, nu * win_s, nu * loss_s


@inlined
def share_of_loss(part, chance):
    """``−part log chance`` and its derivative by the chance."""
    if part <= 0.0:
        return 0.0, 0.0
    if chance <= SMALLEST:
        return -part * math.log(SMALLEST), 0.0
    return -part * math.log(chance), -part / chance


@kernel
def level_gap(i, j, levels, started, delta, dz, ddelta, ddelta_v, slot_v):
    """How much better ``i`` is than ``j`` by the levels of a match; ``dz`` takes the derivatives."""
    gap = 0.0
    for c in range(levels.size):
        slot = levels[c]
        if slot < 0:
            continue
        if not started[slot]:
            started[slot] = True
            ddelta_v[slot, :, SIZE + c] = 2.0 * math.sqrt(slot_v[slot])
        gap += delta[i, slot] - delta[j, slot]
        for q in range(dz.size):
            dz[q] += ddelta[slot, i, q] - ddelta[slot, j, q]
    return gap


@kernel
def learn_levels(i, j, levels, surprise, move, told, information, dinformation, dnu, delta, delta_v, ddelta, ddelta_v):
    """Share a surprise with the deviations under the levels of a match, and its derivative ``move`` with theirs.

    ``told`` is the weight times ν_D, and ``dnu`` the derivatives of its logarithm.
    """
    doubt, ddoubt = 0.0, np.zeros(move.size)
    for slot in levels:
        if slot >= 0:
            for team in (i, j):
                doubt += delta_v[team, slot]
                ddoubt += ddelta_v[slot, team]
    whole = 1.0 + information * doubt
    drop = information / whole
    for slot in levels:
        if slot < 0:
            continue
        for team, sign in ((i, 1.0), (j, -1.0)):
            v, dv = delta_v[team, slot], ddelta_v[slot, team]
            gain = sign * told / whole
            for q in range(move.size):
                dwhole = dinformation[q] * doubt + information * ddoubt[q]
                dgain = gain * (dnu[q] - dwhole / whole)
                ddrop = (dinformation[q] - drop * dwhole) / whole
                ddelta[slot, team, q] += dv[q] * gain * surprise + v * (dgain * surprise + gain * move[q])
                dv[q] -= 2.0 * v * dv[q] * drop + v * v * ddrop
            delta[team, slot] += v * gain * surprise
            delta_v[team, slot] -= v * v * drop


@kernel
def losses_and_slopes(
    home, away, S, margin, neutral, weight, day, slots, p, contraction, R, n, last, delta, delta_v, slot_v, common,
    shift, node_weight, lean, skipped, loss, slope,
):  # fmt: skip
    """Rate matches in order; ``loss`` and the rows of ``slope`` receive those of matches from ``skipped`` on."""
    width = slope.shape[1]
    dR = np.zeros((R.size, width))
    dz, dh, dk, move = np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width)
    levelled = slots.shape[1] > 0
    ddelta, ddelta_v = np.zeros((slot_v.size, R.size, width)), np.zeros((slot_v.size, R.size, width))
    started, dinformation = np.zeros(slot_v.size, np.bool_), np.zeros(width)
    dnu, dx = np.zeros(width), np.zeros(width)
    half = 0.5 * p.in_points
    h, kappa, unit = common[0], common[KAPPA], common[UNIT]
    dh[HOME] = 1.0
    dk[TIES] = 1.0
    for k in range(home.size):
        i, j = home[k], away[k]
        for team in (i, j):
            idle = day[k] - last[team]
            if n[team] > 0 and idle > p.gap:
                years = (idle - p.gap) / YEAR
                f = math.exp(-p.rho * years) if p.rho > 0.0 else 1.0
                for q in range(width):
                    dR[team, q] *= f
                dR[team, REGRESSION] -= years * f * (R[team] - p.mean)
                R[team] = p.mean + f * (R[team] - p.mean)
            last[team] = day[k]
        at_home = 0.0 if neutral[k] else 1.0
        z = R[i] - R[j] + at_home * h
        for q in range(width):
            dz[q] = dR[i, q] - dR[j, q] + at_home * dh[q]
        if levelled:
            z += level_gap(i, j, slots[k], started, delta, dz, ddelta, ddelta_v, slot_v)
        outer = points_scale(p.outer_nu, p.in_points * kappa)
        win, lost, win_z, lost_z, win_k, lost_k, win_s, lost_s = chances(
            z, outer, half * p.outer_nu, kappa, shift, node_weight, lean
        )
        if k >= skipped:
            won, drawn, beaten = max(S[k], 0.0), 1.0 - abs(S[k]), max(-S[k], 0.0)
            part_win, by_win = share_of_loss(won, win)
            part_lost, by_lost = share_of_loss(beaten, lost if kappa > 0.0 else 1.0 - win)
            part_draw, by_draw = share_of_loss(drawn, max(1.0 - win - lost, 0.0) if kappa > 0.0 else 0.0)
            if kappa > 0.0:
                by_win -= by_draw
                by_lost -= by_draw
            else:
                by_win -= by_lost
                by_lost = 0.0
            g = k - skipped
            loss[g] = part_win + part_lost + part_draw
            by_z, by_k = by_win * win_z + by_lost * lost_z, by_win * win_k + by_lost * lost_k
            for q in range(width):
                slope[g, q] = by_z * dz[q] + by_k * dk[q]
            slope[g, SPREAD] += by_win * win_s + by_lost * lost_s
        nu = points_scale(p.nu, p.in_points * kappa)
        x = nu * z
        expect_win, expect_loss, r = davidson_terms(kappa, math.exp(min(max(x, -STEEPEST), STEEPEST)))
        b, either = expect_win - expect_loss, expect_win + expect_loss
        variance = either - b * b
        for q in range(width):
            dnu[q] = half / (1.0 + half * kappa) * dk[q]
        if p.margin_weight > 0.0:
            dnu[CONTRACTION] -= 1.0 / contraction
        target, seen, wider = S[k], 0.0, 0.0
        if not math.isnan(margin[k]):
            size = margin[k] / (p.margin_scale * unit)
            bounded = math.tanh(size)
            seen = bounded - S[k]
            wider = -p.margin_weight * (1.0 - bounded * bounded) * size / p.margin_scale
            target += p.margin_weight * seen
            unit += (abs(margin[k]) - unit) / p.memory
        surprise = target - b
        for q in range(width):
            dx[q] = nu * dz[q] + x * dnu[q]
            move[q] = b * r * dk[q] - variance * dx[q]
        move[WEIGHT] += seen
        move[SCALE] += wider
        if levelled:
            told = weight[k] * nu
            by_x, by_k = b * (1.0 - 3.0 * either + 2.0 * b * b), (2.0 * b * b - either) * r
            for q in range(width):
                dinformation[q] = told * nu * (by_x * dx[q] + by_k * dk[q] + 2.0 * variance * dnu[q])
            learn_levels(
                i, j, slots[k], surprise, move, told, told * nu * variance, dinformation, dnu, delta, delta_v, ddelta,
                ddelta_v,
            )  # fmt: skip
        if p.ties_step > 0.0 and kappa > 0.0:
            more = win + lost - abs(S[k])
            grown = math.exp(p.ties_step * weight[k] * more)
            c = kappa * grown * weight[k]
            by_z, by_k = c * p.ties_step * (win_z + lost_z), c * p.ties_step * (win_k + lost_k) + grown
            for q in range(width):
                dk[q] = by_k * dk[q] + by_z * dz[q]
            dk[SPREAD] += c * p.ties_step * (win_s + lost_s)
            dk[TIES_STEP] += c * more
            kappa *= grown
        if p.home_step > 0.0 and not neutral[k]:
            c = p.home_step * weight[k]
            for q in range(width):
                dh[q] += c * move[q]
            dh[HOME_STEP] += weight[k] * surprise
            h += c * surprise
        for team, sign in ((i, 1.0), (j, -1.0)):
            new = p.settling / (p.settling + n[team])
            each = weight[k] * p.gamma * (1.0 + p.boost * new)
            for q in range(width):
                dR[team, q] += sign * each * move[q]
            full = sign * weight[k] * surprise
            dR[team, STEP] += full * (1.0 + p.boost * new)
            dR[team, BOOST] += full * p.gamma * new
            dR[team, SETTLING] += full * p.gamma * p.boost * n[team] / (p.settling + n[team]) ** 2
            R[team] += sign * each * surprise
            n[team] += 1
