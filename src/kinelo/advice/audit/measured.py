r"""The same league rated and forecast in truth: classic Elo over K, and how forecasts meet results.

Ratings run through all matches; home advantage and ties are those of the earlier half, and the later half is scored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import NU, Array
from kinelo.advice.audit.gaps import Gaps
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.raters.team.rater import TeamElo


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


def venue_of(matches: Matches, k: float) -> Venue:
    """Home advantage and ties of these matches, under classic Elo with a middling K."""
    draws = bool(np.any(np.abs(matches.signed) < 1))
    rater = classic(k, Venue(0.0, 0.0)).set_params(home_advantage=None, ties=None if draws else 0.0)
    values = rater.fit(matches).parameters_
    return Venue(values["home_advantage"], values["ties"])


def classic(k: float, venue: Venue) -> TeamElo:
    """Elo with Davidson's expected score, this K and this venue."""
    return TeamElo(
        k / 2, 0.0, 1.0, venue.home_advantage, venue.ties, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, prior_spread=200.0
    )  # fmt: skip


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


def gaps_of(matches: Matches, since: int, home: Array, away: Array, venue: Venue) -> Gaps:
    """What ratings before each match forecast of the later half."""
    edge = np.where(matches.neutral, 0.0, venue.home_advantage)
    return Gaps((home - away + edge)[since:], 0.0, venue.ties)
