r"""Bands of ratings before and after :func:`kinelo.theory.recover_strength`: do strong sides end under-rated?

Performances that vary by σ draw ratings to the mean: the paper's effect. ``recover_strength`` finds the strengths θ
behind the ratings R of a moment; a match then expects ``E b(θ_i − θ_j + √2 σ Z)`` in place of ``b(R_i − R_j)``. The
later half is cut into stretches; each is forecast from ratings as they stand, through the map R → θ of the sides active
at its beginning. A home advantage h is a shift of ratings, ``θ(R_i + h/2) − θ(R_j − h/2)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kinelo.advice.audit.gaps import Band, GapForecasts, bands_of, law_of
from kinelo.advice.audit.in_use import SystemInUse
from kinelo.advice.audit.kernels import Array
from kinelo.matches.matches import Matches
from kinelo.model.outcome import Outcome
from kinelo.model.validation import nonnegative
from kinelo.raters.qualifying import REFERENCE_DAYS
from kinelo.theory.recovery import recover_strength

STRETCHES = 6


@dataclass(frozen=True)
class Recovered:
    """Forecasts of the later half from ratings, and from the strengths behind them if performances vary by σ.

    Attributes
    ----------
    sigma
        The spread of performances that was assumed, in points.
    before, after
        Fifths of the ratings, weakest first, by ratings and by recovered strengths (both with 1 standard error).
    slope_before, slope_after
        Slope of results on forecasts over all matches, with its standard error: 1 is calibrated.
    log_loss_before, log_loss_after
        Mean log-loss of both.
    """

    sigma: float
    before: tuple[Band, ...] = field(repr=False)
    after: tuple[Band, ...] = field(repr=False)
    slope_before: tuple[float, float]
    slope_after: tuple[float, float]
    log_loss_before: float
    log_loss_after: float


def recovered_bands(matches: Matches, since: int, system: SystemInUse, before: Array, sigma: float) -> Recovered:
    """Hold forecasts of the later half against results, before and after ratings are corrected for σ."""
    sigma = nonnegative("sigma", sigma)
    home, away = before.T
    edge = system.home(matches)
    law = law_of(system.nu, system.ties)
    true = np.empty(len(matches))
    for start, end in _stretches(since, len(matches)):
        strength = _map(_active(matches, home, away, start), law, sigma)
        part = slice(start, end)
        true[part] = strength((home + edge / 2)[part]) - strength((away - edge / 2)[part])
    later, result = slice(since, None), matches.signed[since:]
    both = [system.gaps(matches, before, since), GapForecasts(true[later], law, math.sqrt(2) * sigma)]
    bands, after = (bands_of(home[later], away[later], one, result) for one in both)
    slopes = [one.slope(result) for one in both]
    losses = [one.log_loss(result) for one in both]
    return Recovered(sigma, bands, after, slopes[0], slopes[1], losses[0], losses[1])


def _stretches(since: int, end: int) -> list[tuple[int, int]]:
    cuts = np.linspace(since, end, STRETCHES + 1).astype(int).tolist()
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def _active(matches: Matches, home: Array, away: Array, start: int) -> Array:
    """Ratings, as last seen, of the sides that played within two years before a match."""
    first = int(np.searchsorted(matches.day, matches.day[start] - REFERENCE_DAYS))
    latest = np.full(len(matches.teams), np.nan)
    for side, rating in ((matches.home, home), (matches.away, away)):
        latest[side[first : start + 1]] = rating[first : start + 1]
    return np.unique(latest[np.isfinite(latest)])


def _map(ratings: Array, law: Outcome, sigma: float) -> Callable[[Array], Array]:
    """θ as a function of R, straight between the sides and beyond them."""
    theta = recover_strength(law, ratings, sigma).theta

    def strength(rating: Array) -> Array:
        inside = np.interp(rating, ratings, theta)
        steep = [(theta[b] - theta[a]) / (ratings[b] - ratings[a]) for a, b in ((0, 1), (-2, -1))]
        below, above = np.minimum(rating - ratings[0], 0.0), np.maximum(rating - ratings[-1], 0.0)
        return inside + steep[0] * below + steep[1] * above

    return strength
