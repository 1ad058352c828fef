"""How beliefs about matches are read as forecasts, in the order of the matches.

A filter expects mean ``μ`` and variance ``V`` of what a match shows. With sharpness κ, half width ``c`` of the draw
band and doubt ``d``, ``a = (κμ − c)/√(1 + κ²dV)`` and ``a' = (−κμ − c)/√(1 + κ²dV)``, a home win has the chance
``Φ(a)`` and an away win ``Φ(a')``.

Two of these numbers may change over the years. The draw band follows the matches (:mod:`kinelo.raters.band`). The
sharpness runs: ``κ e^ℓ`` is used, where ``ℓ`` is 0 at first and then follows how bold the forecasts proved, by a scalar
filter. With the score ``g = ∂ log P(result)/∂ℓ`` and its expected square ``I``, each match makes
``v ← v + walk²``, ``ℓ ← ℓ + v g/(1 + v I)``, ``v ← v/(1 + v I)``. Both use a match only after it was forecast.

A rater that was never fitted learns its draw band from none: ``2Φ(c) − 1``, the chance of a draw between equals, is the
sum of draws over that of ``P(draw)/(2Φ(c) − 1)``, both begun with five matches of equals of which one is drawn. Until
the first draw ``c`` is 0.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import WARM_UP, estimate, says_anew
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Estimates, Parameter
from kinelo.matches.matches import Matches
from kinelo.play.formula import inlined, kernel, part
from kinelo.raters.band import follow_band, fresh_band

Array = NDArray[np.float64]
READING = ("sharpness", "ties", "doubt")
"""Parameters that say how a belief is read, and change none."""

BAND, BOLD, BOLD_V, DRAWN, LEVEL, BELIEF = range(6)
"""Places in the state of a reading: log of the draw band over its first width (or, where it is learnt, the width), ℓ,
the variance of ℓ, draws, and matches in units of those of equals; from the sixth on, what the band's logarithm is
believed to be."""

PRIOR_DRAWN, PRIOR_LEVEL, MOST_DRAWN = 1.0, 5.0, 0.95

FIRST_SPREAD = 0.05
"""Standard deviation of ℓ before any match: the sharpness that was estimated is about right."""

SHARPNESS_WALK = 1e-3
"""How far the logarithm of the sharpness may move per match."""

WIDEST_BAND = 4.0


class Reading(NamedTuple):
    """Sharpness, first half width of the draw band, doubt, and how far the band's logarithm and ℓ may move a match."""

    sharpness: float
    ties: float
    doubt: float
    ties_walk: float
    walk: float
    learns_ties: float = 0.0


def fresh_state() -> Array:
    """The state of a reading before any match."""
    return np.array([0.0, 0.0, FIRST_SPREAD**2, 0.0, 0.0, *fresh_band()])


@inlined
def normal_cdf(z):
    """Φ(z)."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@inlined
def normal_density(z):
    """φ(z)."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


@part
def gain_of(v, information, walk2):
    """Variance (float) after a match of what all matches share and what moves by a variance ``walk2`` from one to the
    next: times the score of the match it is also how far that moves.
    """
    v += walk2
    return v / (1.0 + v * information)


@part
def steady_walk(v, information):
    """The variance of the moves (float) under which the variance after matches of this information stays at ``v``."""
    return v * v * information / max(1.0 - v * information, 0.5)


@part
def score_of(signed, chances, by_win, by_loss):
    """``∂ log P(result)`` of a result in [−1, 1], and its expected square (floats), where ``chances`` of win, draw and
    loss move by ``by_win`` and ``by_loss``.
    """
    score = information = 0.0
    won, lost = max(signed, 0.0), max(-signed, 0.0)
    shares, slopes = (won, 1.0 - won - lost, lost), (by_win, -by_win - by_loss, by_loss)
    for share, chance, slope in zip(shares, chances, slopes):
        if chance > 1e-12:
            score += share * slope / chance
            information += slope * slope / chance
    return score, information


@inlined
def learned_band(drawn, weight, draw, flat, band, state):
    """Half width of the draw band (float) after a match that was ``drawn`` (0 to 1), of which a draw had this chance;
    ``flat`` is that chance over the one between equals where the band is 0."""
    level = draw / (2.0 * normal_cdf(band) - 1.0) if band > 0.0 else flat
    state[DRAWN] += weight * drawn
    state[LEVEL] += weight * level
    if state[DRAWN] <= 0.0:
        return 0.0
    share = min((state[DRAWN] + PRIOR_DRAWN) / (state[LEVEL] + PRIOR_LEVEL), MOST_DRAWN)
    width = share * math.sqrt(math.pi / 2.0)
    for _ in range(8):  # Newton's steps to 2Φ(c) − 1 = share
        width -= (2.0 * normal_cdf(width) - 1.0 - share) / (2.0 * normal_density(width))
    return width


@kernel
def read_in_order(mean, variance, signed, weight, r, state, out):
    """Forecast matches in order into the rows of ``out``, learning from each result ``signed`` in [−1, 1] after it."""
    learns = r.learns_ties > 0.0
    kappa = r.sharpness * math.exp(state[BOLD])
    band = state[BAND] if learns else min(r.ties * math.exp(state[BAND]), WIDEST_BAND)
    for k in range(mean.size):
        drawable = band > 0.0
        spread = kappa * kappa * r.doubt * variance[k]
        s = 1.0 / math.sqrt(1.0 + spread)
        home, away = (kappa * mean[k] - band) * s, (-kappa * mean[k] - band) * s
        win = normal_cdf(home)
        loss = normal_cdf(away) if drawable else 1.0 - win
        draw = max(1.0 - win - loss, 0.0) if drawable else 0.0
        out[k, 0], out[k, 1], out[k, 2] = win, draw, loss
        if not weight[k] > 0.0:
            continue
        drawn = 1.0 - abs(signed[k])
        if learns:
            flat = s * math.exp(-0.5 * (kappa * mean[k] * s) ** 2)
            state[BAND] = band = learned_band(drawn, weight[k], draw, flat, band, state)
        elif r.ties_walk > 0.0 and drawable:
            wider = -band * s  # d home/d log c, and d away
            score, information = score_of(
                signed[k], (win, draw, loss), normal_density(home) * wider, normal_density(away) * wider
            )
            state[BAND] = follow_band(r.ties_walk, weight[k] * score, weight[k] * information, state, BELIEF)
            band = min(r.ties * math.exp(state[BAND]), WIDEST_BAND)
        if r.walk > 0.0:
            # d home/dℓ and d away/dℓ: κ moves both the gap and how much of it is doubted
            by_win = normal_density(home) * (kappa * mean[k] * s - home * spread * s * s)
            by_loss = -by_win
            if drawable:
                by_loss = normal_density(away) * (-kappa * mean[k] * s - away * spread * s * s)
            score, information = score_of(signed[k], (win, draw, loss), by_win, by_loss)
            state[BOLD_V] = gain_of(state[BOLD_V], weight[k] * information, r.walk * r.walk)
            state[BOLD] += state[BOLD_V] * weight[k] * score
            kappa = r.sharpness * math.exp(state[BOLD])


@kernel
def read_by_days(mean, variance, days, signed, weight, r, state, out):
    """The same where matches of a day are forecast together (:class:`kinelo.raters.filter.alone.Days`): from what was
    expected of each before any of them, and read as before any of them; what a match teaches is as above.
    """
    nothing, learning = np.zeros(mean.size), np.empty((mean.size, 3))
    g = 0
    while g < mean.size:
        end = days.until[g]
        none = nothing[g:end]  # matches without a weight teach nothing
        read_in_order(days.mean[g:end], days.variance[g:end], none, none, r, state, out[g:end])
        read_in_order(mean[g:end], variance[g:end], signed[g:end], weight[g:end], r, state, learning[g:end])
        g = end


class Read:
    """Beliefs about matches that stand as they are; only how they are read as forecasts is sought."""

    def __init__(self, rater: Any, mean: Array, variance: Array) -> None:
        self.rater = rater
        self.mean, self.variance = mean, variance

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Those of the rater that change no belief."""
        return tuple(p for p in self.rater._open_parameters() if p.name in READING)

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Read by these values."""
        self.rater = copy.copy(self.rater)
        self.rater.parameters_ = dict(self.rater.parameters_) | (estimated or {})

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """What was forecast of each of these matches, which are the first of those believed in."""
        self.rater._reading_state = fresh_state()
        asked = slice(len(matches))
        return Forecast(self.rater._forecast_in_order(self.mean[asked], self.variance[asked], matches))


def refit_reading(rater: Any, estimates: Estimates, matches: Matches) -> Estimates:
    """The estimates of a rater with normal beliefs, all that says how beliefs are read settled anew.

    A subclass with forecasts of its own reads them in its own way.
    """
    if says_anew(rater):
        return estimates
    rater._reset(estimates.values)
    mean, variance, _ = rater._expected(matches)
    again = estimate(Read(rater, mean, variance), matches, WARM_UP)
    return replace(
        estimates,
        values=estimates.values | again.values,
        standard_errors=estimates.standard_errors | again.standard_errors,
        log_likelihood=again.log_likelihood,
        at_bounds=tuple(name for name in estimates.at_bounds if name not in READING) + again.at_bounds,
    )
