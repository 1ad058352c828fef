"""A system that is no Elo with a K: its forecasts of the later half, against results and against Elo at its best."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass

import numpy as np

from kinelo.advice.audit.backtest import Backtest, Difference
from kinelo.advice.audit.gaps import Band, Gaps, bands_of
from kinelo.advice.audit.in_use import SystemInUse
from kinelo.advice.audit.kernels import Array
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.play.laws import points_scale
from kinelo.raters.rater import Rater


@dataclass(frozen=True)
class OtherSystem:
    """Forecasts of the later half by a rater that was fitted on the earlier one.

    Attributes
    ----------
    name
        The kind of rater.
    k
        The best K of Elo on the later half, which it is held against.
    log_loss, elo_log_loss
        Of the rater, and of Elo at that K.
    difference
        How much more the rater loses than Elo, per match, with its 95 % interval.
    slope
        Slope of results on its forecasts, with its standard error: 1 is calibrated.
    bands
        Its forecasts by fifths of Elo's ratings.
    """

    name: str
    k: float
    log_loss: float
    elo_log_loss: float
    difference: Difference
    slope: tuple[float, float]
    bands: tuple[Band, ...]

    @property
    def better(self) -> bool | None:
        """Whether the rater forecasts better than Elo at its best K; None where these matches cannot tell."""
        return True if self.difference.high < 0 else False if self.difference.low > 0 else None


def other_system(rater: Rater, matches: Matches, since: int, system: SystemInUse, measured: Backtest) -> OtherSystem:
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
    k = measured.best
    losses = np.zeros(len(matches))
    losses[since:] = log_loss(forecast, matches.result[since:])
    home, away = system.ratings_before(matches, k)[since:].T
    gaps = Gaps(implied_gap(forecast[:, 0] - forecast[:, 2], system.ties, system.nu), 0.0, system.ties, system.nu)
    signed = matches.signed[since:]
    difference = measured.against(losses, k)
    theirs = float(losses[since:].mean())
    return OtherSystem(
        name, k, theirs, theirs - difference.mean, difference, gaps.slope(signed), bands_of(home, away, gaps, signed)
    )


def implied_gap(expected: Array, ties: float, nu: float) -> Array:
    """The gap at which Davidson's law expects this result: sinh t − b cosh t = bκ/2 with t = ν_D z.

    >>> implied_gap(np.array([0.0, 0.5]), 0.0, np.log(10) / 800).round(1).tolist()
    [0.0, 190.8]
    """
    b = np.clip(expected, -1 + 1e-12, 1 - 1e-12)
    s = np.arctanh(b)
    return (s + np.arcsinh(b * ties / 2 * np.cosh(s))) / points_scale(nu, ties)
