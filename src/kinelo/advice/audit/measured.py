r"""The same league rated and forecast in truth: classic Elo over K, and how forecasts meet results.

Ratings run through all matches; home advantage and ties are those of the earlier half, and the later half is scored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import root_scalar

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import NU, Array
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.raters.team.rater import TeamElo

BANDS = 5


@dataclass(frozen=True)
class Venue:
    """What a forecast adds to ratings, estimated on the earlier half."""

    home_advantage: float
    ties: float


@dataclass(frozen=True)
class Measured:
    """Mean log-loss of the later half by backtest, at every K.

    Attributes
    ----------
    k, log_loss
        The curve.
    difference_error
        Standard error of the difference between each K and the best one.
    """

    k: Array
    log_loss: Array
    difference_error: Array = field(repr=False)

    @property
    def best(self) -> float:
        """The K with the least log-loss."""
        return float(self.k[np.argmin(self.log_loss)])

    def at(self, k: float) -> float:
        """Log-loss at any K on the curve."""
        return float(np.interp(math.log(k), np.log(self.k), self.log_loss))


@dataclass(frozen=True)
class Band:
    """Sides of one fifth of the ratings: how far off, seen from the results of their matches.

    Attributes
    ----------
    rating
        Mean rating of the band.
    matches
        Matches seen, from the side in the band.
    underrated, error
        Rating points that would have made expected and real points agree, with their standard error.
    slope, slope_error
        Slope of results on forecasts within the band: 1 is calibrated, below 1 too bold.
    """

    rating: float
    matches: int
    underrated: float
    error: float
    slope: float
    slope_error: float


def venue_of(matches: Matches, k: float) -> Venue:
    """Home advantage and ties of these matches, under classic Elo with a middling K."""
    draws = bool(np.any(np.abs(matches.signed) < 1))
    rater = TeamElo.classic(k).set_params(home_advantage=None, ties=None if draws else 0.0)
    values = rater.fit(matches).parameters_
    return Venue(values["home_advantage"], values["ties"])


def classic(k: float, venue: Venue) -> TeamElo:
    """Classic Elo with this K at this venue."""
    return TeamElo.classic(k, ties=venue.ties, home_advantage=venue.home_advantage)


def measured_curve(matches: Matches, since: int, ks: Array, venue: Venue) -> Measured:
    """Backtest every K."""
    later = matches.result[since:]
    losses = np.array(
        [log_loss(classic(float(k), venue).one_step_ahead(matches).probabilities[since:], later) for k in ks]
    )
    best = losses[int(np.argmin(losses.mean(axis=1)))]
    spread = (losses - best).std(axis=1) / math.sqrt(later.size)
    return Measured(np.asarray(ks, float), losses.mean(axis=1), spread)


def ratings_before(matches: Matches, k: float, venue: Venue) -> tuple[Array, Array]:
    """Ratings of both sides before each match, about 0."""
    home, away = np.empty(len(matches)), np.empty(len(matches))
    kernels.elo(
        matches.home, matches.away, matches.signed, matches.neutral, matches.weight, k / 2, venue.home_advantage,
        venue.ties, NU, np.zeros(len(matches.teams)), home, away,
    )  # fmt: skip
    return home, away


def calibration_slope(gap: Array, result: Array, ties: float) -> tuple[float, float]:
    """β that makes ``b(βz)`` agree with results in the mean of z, and its standard error: 1 is calibrated."""

    def score(beta: float) -> float:
        return float((gap * (result - _law(beta * gap, ties)[0])).sum())

    if score(0.0) <= 0.0 or score(20.0) >= 0.0:
        return math.nan, math.nan
    beta = float(root_scalar(score, bracket=(0.0, 20.0), method="brentq", xtol=1e-6).root)
    spread = _law(beta * gap, ties)[1]
    information = float((gap**2 * NU * spread).sum())
    return beta, math.sqrt(float((gap**2 * spread).sum())) / information


def bands_of(matches: Matches, since: int, k: float, venue: Venue, bands: int = BANDS) -> tuple[Band, ...]:
    """The later half by rating of the side in question, lowest band first; every match is seen from both sides."""
    home, away = ratings_before(matches, k, venue)
    edge = np.where(matches.neutral, 0.0, venue.home_advantage)
    own = np.concatenate([home[since:], away[since:]])
    gap = np.concatenate([(home - away + edge)[since:], (away - home - edge)[since:]])
    result = np.concatenate([matches.signed[since:], -matches.signed[since:]])
    cuts = np.quantile(own, np.linspace(0, 1, bands + 1)[1:-1])
    place = np.searchsorted(cuts, own)
    found = []
    for band in range(bands):
        here = place == band
        if here.sum() < 30:
            continue
        expected, spread = _law(gap[here], venue.ties)
        pull = float((NU * spread).sum())
        found.append(
            Band(
                float(own[here].mean()),
                int(here.sum()),
                float((result[here] - expected).sum()) / pull,
                math.sqrt(float(spread.sum())) / pull,
                *calibration_slope(gap[here], result[here], venue.ties),
            )
        )
    return tuple(found)


def _law(z: Array, ties: float) -> tuple[Array, Array]:
    """Expected result and variance of a result at a gap."""
    up = np.exp(np.clip(NU * z, -300, 300))
    whole = up + 1 / up + ties
    expected = (up - 1 / up) / whole
    return expected, (up + 1 / up) / whole - expected**2
