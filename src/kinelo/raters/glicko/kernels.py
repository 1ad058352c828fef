"""Compiled loops of Glicko and Glicko-2, in natural units: ``μ = q r``, ``φ = q RD``, ``q = ln 10 / 400``.

A match of ``i`` against ``j`` adds ``g (s − E)`` to the gain and ``g² E (1 − E)`` to the information of ``i``, with
``g = (1 + 3 φ_j² / π²)^{−½}`` and ``E = 1 / (1 + e^{−g (μ_i − μ_j)})``. When they count, ``φ² ← (φ⁻² + information)⁻¹``
and ``μ += φ² · gain``. While resting φ² grows by ``vol²`` per period. Glicko has one ``vol`` for all, Glicko-2 one for
each, found anew from every period (τ > 0).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinelo.play.formula import kernel
from kinelo.play.laws import davidson_chances, points_scale
from kinelo.raters.state import NEVER

HOME, KAPPA = range(2)


class Numbers(NamedTuple):
    """What the kernels take: days of a period, whether its matches count together, τ, largest φ², drifts, sharpness."""

    period: float
    together: float
    tau: float
    largest: float
    home_step: float
    ties_step: float
    sharpness: float


@kernel
def attenuation(phi2):
    """``g``: how much the uncertainty of an opponent takes from what a result says."""
    return 1.0 / math.sqrt(1.0 + 3.0 * phi2 / math.pi**2)


@kernel
def davidson_exponent(z, doubt, kappa, sharpness):
    """Exponent of Davidson's law, at the scale that keeps Glicko's slope of the expected result between equals."""
    return points_scale(0.5 * sharpness, kappa) * z * attenuation(doubt)


@kernel
def new_volatility(phi2, vol, gain, info, tau):
    """Volatility after a period: the root of Glickman's equation, by the Illinois method."""
    delta2 = (gain / info) ** 2
    v = 1.0 / info
    a = math.log(vol * vol)

    def residual(x):
        e = math.exp(x)
        return e * (delta2 - phi2 - v - e) / (2.0 * (phi2 + v + e) ** 2) - (x - a) / (tau * tau)

    low = a
    if delta2 > phi2 + v:
        high = math.log(delta2 - phi2 - v)
    else:
        k = 1
        while residual(a - k * tau) < 0.0:
            k += 1
        high = a - k * tau
    f_low, f_high = residual(low), residual(high)
    while abs(high - low) > 1e-9:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = residual(middle)
        if f_middle * f_high <= 0.0:
            low, f_low = high, f_high
        else:
            f_low /= 2.0
        high, f_high = middle, f_middle
    return math.exp(low / 2.0)


@kernel
def settle(mu, phi2, vol, gain, info, tau, together):
    """Rating, squared deviation and volatility once the gathered results count."""
    if info <= 0.0:
        return mu, phi2, vol
    if tau > 0.0:
        vol = new_volatility(phi2, vol, gain, info, tau)
        if together:
            phi2 += vol * vol
    phi2 = 1.0 / (1.0 / phi2 + info)
    return mu + phi2 * gain, phi2, vol


@kernel
def play_all(home, away, S, neutral, weight, day, p, mu, phi2, vol, n, last, gain, info, common, z, doubt, ties):
    """Rate matches in order; ``z`` and ``doubt``, if there is room, receive the difference of ratings and
    ``φ_i² + φ_j²`` before each match.

    Returns False, having changed nothing, if some result is NaN.
    """
    period, together, tau, largest = p.period, p.together > 0.0, p.tau, p.largest
    h, kappa = common[HOME], common[KAPPA]
    for k in range(S.size):
        if math.isnan(S[k]):
            return False
    for k in range(home.size):
        for t in (home[k], away[k]):
            if n[t] > 0 and together:
                passed = math.floor(day[k] / period) - math.floor(last[t] / period)
                if passed > 0:
                    mu[t], phi2[t], vol[t] = settle(mu[t], phi2[t], vol[t], gain[t], info[t], tau, True)
                    gain[t] = 0.0
                    info[t] = 0.0
                    # Glicko-2 has added the first period when it settled.
                    rested = passed - 1.0 if tau > 0.0 else passed
                    phi2[t] = min(phi2[t] + vol[t] ** 2 * rested, largest)
            elif n[t] > 0:
                phi2[t] = min(phi2[t] + vol[t] ** 2 * (day[k] - last[t]) / period, largest)
            last[t] = day[k]
            n[t] += 1
        i, j = home[k], away[k]
        edge = mu[i] - mu[j] + (0.0 if neutral[k] else h)
        if z.size > 0:
            z[k] = edge
            doubt[k] = phi2[i] + phi2[j]
            ties[k] = kappa
        if p.ties_step > 0.0 and kappa > 0.0:
            x = davidson_exponent(edge, phi2[i] + phi2[j], kappa, p.sharpness)
            tie = davidson_chances(kappa, x)[1]
            kappa *= math.exp(p.ties_step * weight[k] * (1.0 - abs(S[k]) - tie))
        if p.home_step > 0.0 and not neutral[k]:
            E = 1.0 / (1.0 + math.exp(-attenuation(phi2[i] + phi2[j]) * edge))
            drifted = p.home_step * weight[k] * (S[k] - 2.0 * E + 1.0)
        else:
            drifted = 0.0
        for side in range(2):
            me, other = (i, j) if side == 0 else (j, i)
            sign = 1.0 - 2.0 * side
            g = attenuation(phi2[other])
            E = 1.0 / (1.0 + math.exp(-g * sign * edge))
            gain[me] += weight[k] * g * (0.5 + 0.5 * sign * S[k] - E)
            info[me] += weight[k] * g * g * E * (1.0 - E)
        if not together:
            for t in (i, j):
                mu[t], phi2[t], vol[t] = settle(mu[t], phi2[t], vol[t], gain[t], info[t], tau, False)
                gain[t] = 0.0
                info[t] = 0.0
        h += drifted
    common[HOME], common[KAPPA] = h, kappa
    return True


@kernel
def settle_all(mu, phi2, vol, gain, info, tau):
    """Count what is still gathered of everyone (rated together), in place."""
    for t in range(mu.size):
        mu[t], phi2[t], vol[t] = settle(mu[t], phi2[t], vol[t], gain[t], info[t], tau, True)
        gain[t] = 0.0
        info[t] = 0.0


@kernel
def on_day(side, day, p, s):
    """Rating and squared deviation of a side on a day: as they were at its start while the period runs on.

    ``s`` holds the arrays of the state, an entry per side; a newcomer (place -1) is told by the caller.
    """
    mu, phi2, vol = s.rating[side], s.variance[side], s.volatility[side]
    if s.last[side] <= NEVER:
        return mu, phi2
    rest = (day - s.last[side]) / p.period
    if p.together > 0.0:
        passed = math.floor(day / p.period) - math.floor(s.last[side] / p.period)
        if passed == 0:
            return mu, phi2
        mu, phi2, vol = settle(mu, phi2, vol, s.gain[side], s.info[side], p.tau, True)
        rest = passed - 1.0 if p.tau > 0.0 else passed
    return mu, min(phi2 + vol * vol * max(rest, 0.0), p.largest)


@kernel
def foresee_all(home, away, neutral, day, p, s, phi2_new, common, z, doubt):
    """Differences ``z`` of ratings in matches to come and their ``doubt`` φ_i² + φ_j², from the state as it stands.

    ``home``, ``away`` (place -1: a newcomer, whose squared deviation is ``phi2_new``), ``neutral``, ``day``, ``z``
    and ``doubt`` have an entry per match, the arrays of ``s`` one per side.
    """
    for k in range(home.size):
        edge, both = 0.0 if neutral[k] else common[HOME], 0.0
        for side, sign in ((home[k], 1.0), (away[k], -1.0)):
            mu, phi2 = on_day(side, day[k], p, s) if side >= 0 else (0.0, phi2_new)
            edge += sign * mu
            both += phi2
        z[k], doubt[k] = edge, both


@kernel
def all_chances(z, doubt, kappa, sharpness, out):
    """Win, draw and loss probabilities into the rows of ``out``: Davidson ties around Glicko's expected score."""
    for k in range(z.size):
        x = davidson_exponent(z[k], doubt[k], kappa[k], sharpness)
        out[k, 0], out[k, 1], out[k, 2] = davidson_chances(kappa[k], x)
