"""A system that is not classic Elo: its forecasts of the later half, held against results and against Elo at K*."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import dataclass

import numpy as np

from kinelo.advice.audit.estimate import NU, Array
from kinelo.advice.audit.gaps import Band, Gaps, bands_of
from kinelo.advice.audit.measured import Venue, classic, ratings_before
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.raters.rater import Rater


@dataclass(frozen=True)
class OtherSystem:
    """Forecasts of the later half by a rater that was fitted on the earlier one.

    Attributes
    ----------
    name
        The kind of rater.
    log_loss, elo_log_loss
        Of the rater, and of classic Elo at K*.
    difference, standard_error
        How much more the rater loses, per match.
    slope
        Slope of results on its forecasts, with its standard error: 1 is calibrated.
    bands
        Its forecasts by fifths of the ratings at K*.
    """

    name: str
    log_loss: float
    elo_log_loss: float
    difference: float
    standard_error: float
    slope: tuple[float, float]
    bands: tuple[Band, ...]

    @property
    def better(self) -> bool | None:
        """Whether the rater forecasts better than Elo at K*; None where these matches cannot tell."""
        return None if abs(self.difference) < 2 * self.standard_error else self.difference < 0


def other_system(rater: Rater, matches: Matches, since: int, best_k: float, venue: Venue) -> OtherSystem:
    """Fit a rater on the earlier half and judge what it says of the later one."""
    name = type(rater).__name__
    own = copy.deepcopy(rater)
    try:
        with warnings.catch_warnings():
            # What there is to say about these matches is said by the audit.
            warnings.simplefilter("ignore", KineloWarning)
            forecast = own.fit(matches[:since]).one_step_ahead(matches[since:]).probabilities
    except InputError as error:
        raise InputError(f"{name} cannot be fitted on the earlier half: {error}") from error
    result = matches.result[since:]
    theirs = log_loss(forecast, result)
    elo = log_loss(classic(best_k, venue).one_step_ahead(matches).probabilities[since:], result)
    home, away = (side[since:] for side in ratings_before(matches, best_k, venue))
    gaps = Gaps(implied_gap(forecast[:, 0] - forecast[:, 2], venue.ties), 0.0, venue.ties)
    signed = matches.signed[since:]
    more = theirs - elo
    return OtherSystem(
        name, float(theirs.mean()), float(elo.mean()), float(more.mean()),
        float(more.std()) / math.sqrt(more.size), gaps.slope(signed), bands_of(home, away, gaps, signed),
    )  # fmt: skip


def implied_gap(expected: Array, ties: float) -> Array:
    """The gap at which Davidson's law expects this result: sinh t − b cosh t = bκ/2 with t = νz.

    >>> implied_gap(np.array([0.0, 0.5]), 0.0).round(1).tolist()
    [0.0, 190.8]
    """
    b = np.clip(expected, -1 + 1e-12, 1 - 1e-12)
    s = np.arctanh(b)
    return (s + np.arcsinh(b * ties / 2 * np.cosh(s))) / NU
