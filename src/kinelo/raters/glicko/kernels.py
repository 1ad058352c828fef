"""Compiled loops of Glicko and Glicko-2, in natural units: ``μ = q r``, ``φ = q RD``, ``q = ln 10 / 400``.

A match of ``i`` against ``j`` adds ``g (s − E)`` to the gain and ``g² E (1 − E)`` to the information of ``i``, with
``g = (1 + 3 φ_j² / π²)^{−½}`` and ``E = 1 / (1 + e^{−g (μ_i − μ_j)})``. When they count, ``φ² ← (φ⁻² + information)⁻¹``
and ``μ += φ² · gain``. While resting φ² grows by ``vol²`` per period. Glicko has one ``vol`` for all, Glicko-2 one for
each, found anew from every period (τ > 0). Home advantage, boldness of forecasts and κ follow the matches by the law of
:mod:`kinelo.raters.team.kernels`.

Where the noise of a match has a factor ``f``, it shows differences of strength over ``f``: all ratings and deviations
count as ``μ/f`` and ``φ/f``, hence ``g = (1 + 3 φ_j² / (π² f²))^{−½} / f``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.play.deviations import natural_discount
from kinelo.play.formula import borrowing, part
from kinelo.play.laws import davidson_chances, points_scale, tail_of
from kinelo.raters.advantage import effect_gap, follow, follow_effects, weigh
from kinelo.raters.band import follow_band
from kinelo.raters.filter.belief import informed
from kinelo.raters.margins import MEMORY
from kinelo.raters.reading import gain_of
from kinelo.raters.state import BAND, BOLD, BOLD_V, HOME_POINTS, HOME_V, KAPPA, LATELY, LATELY_V, NEVER
from kinelo.raters.team.kernels import learned_ties, noise_of


class GlickoParameters(NamedTuple):
    """The numbers of the kernels: days of a period, whether its matches count together, τ, largest φ², drifts, scale.

    ``sharpness`` is that of forecasts before any match.

    Books keep them in this order.
    """

    period: float
    together: float
    tau: float
    largest: float
    home_step: float
    ties_walk: float
    sharpness: float
    sharpness_walk: float
    learns_ties: float
    home: float
    home_wide: float
    effect_step: float


class GlickoState(NamedTuple):
    """Of every side (n): rating μ, φ², matches played, last day, volatility, and what was gathered in the period."""

    rating: NDArray[np.float64]
    variance: NDArray[np.float64]
    games: NDArray[np.int64]
    last: NDArray[np.int64]
    volatility: NDArray[np.float64]
    gain: NDArray[np.float64]
    info: NDArray[np.float64]


class GlickoTrace(NamedTuple):
    """Difference of ratings over the factor of the noise, ``φ_i² + φ_j²`` over its square, κ and sharpness before each
    match (n), μ of both sides (n, 2), and where the matches end that are forecast together (n, int); or empty arrays.
    """

    z: NDArray[np.float64]
    doubt: NDArray[np.float64]
    ties: NDArray[np.float64]
    sharpness: NDArray[np.float64]
    ratings: NDArray[np.float64]
    until: NDArray[np.int64]


@borrowing
def davidson_exponent(z, doubt, kappa, sharpness):
    """Exponent (float) of Davidson's law, at the scale that keeps Glicko's slope of the expected result at equality."""
    return points_scale(0.5 * sharpness, kappa) * z * natural_discount(doubt)


@part
def heard(phi2, f):
    """g (float) of a difference known up to the variance ``phi2``, where the factor of the noise is ``f``."""
    return natural_discount(phi2 / (f * f)) / f


@borrowing
def new_volatility(phi2, vol, gain, info, tau):
    """Volatility (float) after a period: the root of Glickman's equation, by the Illinois method."""
    delta2 = (gain / info) ** 2  # Δ²: the improvement that the results show
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


@borrowing
def settle(mu, phi2, vol, gain, info, tau, together):
    """Rating, squared deviation and volatility (floats) once the gathered results count."""
    if info <= 0.0:
        return mu, phi2, vol
    if tau > 0.0:
        vol = new_volatility(phi2, vol, gain, info, tau)
        if together:
            phi2 += vol * vol
    mu, phi2 = informed(mu, phi2, info, gain)
    return mu, phi2, vol


@part
def settle_side(t, s, tau, together):
    """Let what was gathered of side ``t`` (int) count, in the state ``s``."""
    s.rating[t], s.variance[t], s.volatility[t] = settle(
        s.rating[t], s.variance[t], s.volatility[t], s.gain[t], s.info[t], tau, together
    )
    s.gain[t] = 0.0
    s.info[t] = 0.0


@part
def rest_side(t, day, p, s):
    """Bring side ``t`` (int), which has played before, to a day (int): its uncertainty grows."""
    if p.together > 0.0:
        passed = math.floor(day / p.period) - math.floor(s.last[t] / p.period)
        if passed > 0:
            settle_side(t, s, p.tau, p.together > 0.0)
            # Glicko-2 has added the first period when it settled.
            rested = passed - 1.0 if p.tau > 0.0 else passed
            s.variance[t] = min(s.variance[t] + s.volatility[t] ** 2 * rested, p.largest)
    else:
        s.variance[t] = min(s.variance[t] + s.volatility[t] ** 2 * (day - s.last[t]) / p.period, p.largest)


@borrowing
def play_all(m, p, s, common, trace):
    """Rate matches ``m`` in order; ``common`` (23) holds, at the places of :mod:`kinelo.raters.team.kernels`, home
    advantage and κ, sums from which κ is learnt, variance of the advantage, boldness and its variance; ``trace``
    receives what was known before.

    Returns False, having changed nothing, if some result is NaN.
    """
    mu, phi2 = s.rating, s.variance
    h, kappa = common[HOME_POINTS], common[KAPPA]
    ahead = 0 if trace.z.size > 0 else m.home.size  # the matches before this one are forecast
    for k in range(m.signed.size):
        if math.isnan(m.signed[k]):
            return False
    for k in range(m.home.size):
        i, j, S, weight, neutral = m.home[k], m.away[k], m.signed[k], m.weight[k], m.neutral[k]
        if k >= ahead and trace.until[k] > k + 1:
            ahead = trace.until[k]
            common[KAPPA] = kappa
            foresee(m, k, ahead, p, s, p.largest, common, trace)
        for t in (i, j):
            if s.games[t] > 0:
                rest_side(t, m.day[k], p, s)
            s.last[t] = m.day[k]
            s.games[t] += 1
        # μ_i − μ_j, with the home advantage and what covariates are worth
        edge = mu[i] - mu[j] + (0.0 if neutral else h) + effect_gap(k, m.effects, common)
        doubt, f = phi2[i] + phi2[j], noise_of(m, k)
        if k >= ahead:
            trace.z[k], trace.doubt[k], trace.ties[k] = edge / f, doubt / (f * f), kappa
            trace.ratings[k, 0], trace.ratings[k, 1] = mu[i], mu[j]
            trace.sharpness[k] = p.sharpness * math.exp(common[BOLD])
        x = davidson_exponent(edge / f, doubt / (f * f), kappa, p.sharpness * math.exp(common[BOLD]))
        win, tie, loss = davidson_chances(kappa, x)
        if p.sharpness_walk > 0.0 and weight > 0.0:
            information = weight * x * x * (1.0 - tie - (win - loss) ** 2)
            common[BOLD_V] = gain_of(common[BOLD_V], information, p.sharpness_walk**2)
            common[BOLD] += common[BOLD_V] * weight * x * (S - win + loss)
        if p.ties_walk > 0.0 and kappa > 0.0 and weight > 0.0:
            score, information = weight * (1.0 - abs(S) - tie), weight * tie * (1.0 - tie)
            kappa = math.exp(follow_band(p.ties_walk, score, information, common, BAND))
        if p.learns_ties > 0.0:
            kappa = learned_ties(tail_of(x), S, weight, kappa, MEMORY, common)
        if common[HOME_V] > 0.0 and not neutral and weight > 0.0:
            g = heard(doubt, f)
            E = 1.0 / (1.0 + math.exp(-g * edge))
            information = weight * g * g * E * (1.0 - E)
            share, steady = 0.5 + 0.5 * S, 2.0 * p.home_step
            follow(HOME_POINTS, HOME_V, weight * g * (share - E), information, steady, common)
            if p.home_wide > 0.0:
                late = 1.0 / (1.0 + math.exp(-g * (edge - h + common[LATELY])))
                information = weight * g * g * late * (1.0 - late)
                follow(LATELY, LATELY_V, weight * g * (share - late), information, steady, common)
                weigh(weight, share, E, late, p.home, p.home_wide, common)
            h = common[HOME_POINTS]
        if m.effects.shape[1] > 0 and weight > 0.0:
            g = heard(doubt, f)
            E = 1.0 / (1.0 + math.exp(-g * edge))
            score, information = weight * g * (0.5 + 0.5 * S - E), weight * g * g * E * (1.0 - E)
            follow_effects(k, m.effects, score, information, 2.0 * p.effect_step, common)
        for side in range(2):
            me, other = (i, j) if side == 0 else (j, i)
            sign = 1.0 - 2.0 * side
            g = heard(phi2[other], f)
            E = 1.0 / (1.0 + math.exp(-g * sign * edge))
            s.gain[me] += weight * g * (0.5 + 0.5 * sign * S - E)  # g (s − E)
            s.info[me] += weight * g * g * E * (1.0 - E)  # g² E (1 − E)
        if p.together == 0.0:
            for t in (i, j):
                settle_side(t, s, p.tau, p.together > 0.0)
    common[KAPPA] = kappa
    return True


@borrowing
def settle_all(s, tau):
    """Count what is still gathered of everyone in the state ``s`` (rated together), in place."""
    for t in range(s.rating.size):
        settle_side(t, s, tau, np.bool_(True))  # of a literal a second copy would be compiled


@borrowing
def on_day(side, day, p, s):
    """Rating and squared deviation of a side on a day: as they were at its start while the period runs on.

    ``s`` holds the arrays of the state, an entry per side; the caller sees to newcomers (place -1).
    """
    mu, phi2, vol = s.rating[side], s.variance[side], s.volatility[side]
    if s.last[side] <= NEVER:
        return mu, phi2
    rest = (day - s.last[side]) / p.period
    if p.together > 0.0:
        passed = math.floor(day / p.period) - math.floor(s.last[side] / p.period)
        if passed == 0:
            return mu, phi2
        mu, phi2, vol = settle(mu, phi2, vol, s.gain[side], s.info[side], p.tau, p.together > 0.0)
        rest = passed - 1.0 if p.tau > 0.0 else passed
    return mu, min(phi2 + vol * vol * max(rest, 0.0), p.largest)


@borrowing
def foresee(m, begin, end, p, s, phi2_new, common, trace):
    """What is known of the matches from ``begin`` to ``end`` (ints) in the state as it stands, into the trace; a
    newcomer (place -1) has the squared deviation ``phi2_new``.
    """
    for k in range(begin, end):
        edge, both = (0.0 if m.neutral[k] else common[HOME_POINTS]) + effect_gap(k, m.effects, common), 0.0
        for side, team, sign in ((0, m.home[k], 1.0), (1, m.away[k], -1.0)):
            mu, phi2 = on_day(team, m.day[k], p, s) if team >= 0 else (0.0, phi2_new)
            edge += sign * mu
            both += phi2
            trace.ratings[k, side] = mu
        f = noise_of(m, k)
        trace.z[k], trace.doubt[k], trace.ties[k] = edge / f, both / (f * f), common[KAPPA]
        trace.sharpness[k] = p.sharpness * math.exp(common[BOLD])


@borrowing
def all_chances(z, doubt, kappa, sharpness, out):
    """Win, draw and loss probabilities into ``out`` (n, 3), from ``z``, ``doubt``, ``kappa`` and ``sharpness`` (n):
    Davidson ties.
    """
    for k in range(z.size):
        x = davidson_exponent(z[k], doubt[k], kappa[k], sharpness[k])
        out[k, 0], out[k, 1], out[k, 2] = davidson_chances(kappa[k], x)
