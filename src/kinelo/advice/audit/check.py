"""A posterior check: leagues played again from the estimates on the same calendar, rated alike, beside the real one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import Array, Calendar, LeagueEstimate
from kinelo.advice.audit.measured import Venue, calibration_slope, classic, ratings_before
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches

REPEATS = 30


@dataclass(frozen=True)
class PosteriorCheck:
    """What the real league shows, and what leagues played from the estimates show.

    Attributes
    ----------
    spread, movement, slope, log_loss
        Of the real league: standard deviation of ratings in matches, of the change of a rating over 20 matches,
        slope of results on forecasts, log-loss.
    played
        The same four of every league played again, one row each.
    error
        True root mean square error of a rating difference, over √2, in the leagues played again.
    """

    spread: float
    movement: float
    slope: float
    log_loss: float
    played: Array
    error: float

    @property
    def names(self) -> tuple[str, ...]:
        """The four quantities."""
        return ("spread", "movement", "slope", "log_loss")

    @property
    def interval(self) -> Array:
        """Where 95 % of the leagues played again lie, one row for each quantity."""
        return np.nanquantile(self.played, [0.025, 0.975], axis=0).T

    @property
    def shares(self) -> dict[str, float]:
        """Share of the leagues played again that lie below the real one."""
        real = [getattr(self, name) for name in self.names]
        return {name: float(np.mean(self.played[:, n] < real[n])) for n, name in enumerate(self.names)}


def posterior_check(
    matches: Matches, league: LeagueEstimate, since: int, k: float, venue: Venue, seed: int = 0
) -> PosteriorCheck:
    """Play the calendar again and rate it with the same K."""
    calendar = Calendar.of(matches)
    own = Venue(league.home_advantage, league.ties)
    played, errors = [], []
    for stream in np.random.SeedSequence(seed).spawn(REPEATS):
        signed, truth = play_again(calendar, league, np.random.default_rng(stream))
        again = replace(matches, result=(signed + 1) / 2, margin=np.full(len(matches), np.nan), source=None)
        played.append(_described(again, since, k, own))
        home, away = ratings_before(again, k, own)
        errors.append(float(np.mean((home - away - truth)[since:] ** 2) / 2))
    return PosteriorCheck(*_described(matches, since, k, venue), np.array(played), math.sqrt(float(np.mean(errors))))


def play_again(calendar: Calendar, league: LeagueEstimate, generator: np.random.Generator) -> tuple[Array, Array]:
    """Results of the calendar drawn from the model, and the differences of strength they were drawn from."""
    size = len(calendar)
    signed, gap, theta = np.empty(size), np.empty(size), np.zeros(calendar.sides)
    kernels.play_again(
        calendar.home, calendar.away, calendar.neutral, calendar.day, league.vector, generator.standard_normal(size),
        generator.standard_normal(size), generator.random(size), theta, np.full(calendar.sides, -1.0), signed, gap,
    )  # fmt: skip
    return signed, gap


def _described(matches: Matches, since: int, k: float, venue: Venue) -> tuple[float, float, float, float]:
    home, away = ratings_before(matches, k, venue)
    gap = home - away + np.where(matches.neutral, 0.0, venue.home_advantage)
    slope, _ = calibration_slope(gap[since:], matches.signed[since:], venue.ties)
    forecast = classic(k, venue).one_step_ahead(matches).probabilities[since:]
    loss = float(log_loss(forecast, matches.result[since:]).mean())
    both = np.concatenate([home[since:], away[since:]])
    return float(both.std()), _movement(matches, home, away, since), slope, loss


def _movement(matches: Matches, home: Array, away: Array, since: int, reach: int = 20) -> float:
    """Standard deviation of the change of a side's rating over ``reach`` of its matches."""
    side = np.column_stack([matches.home, matches.away])[since:].ravel()
    rating = np.column_stack([home, away])[since:].ravel()
    order = np.argsort(side, kind="stable")
    side, rating = side[order], rating[order]
    same = side[reach:] == side[:-reach]
    change = (rating[reach:] - rating[:-reach])[same]
    return float(change.std()) if change.size else math.nan
