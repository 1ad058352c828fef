"""A posterior check: the league played again from the estimates on the same calendar, rated alike, beside the real one.

Two kinds of leagues are played. In the first the very sides play whose results are known: their strengths are drawn
given all results, backwards through the filter, and only luck is new. In the second other sides of the same kind play:
all strengths are new too. Where only the first looks like the real league, the calendar knows something of strengths,
as where like meets like.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import Array, Calendar, LeagueEstimate, filtered
from kinelo.advice.audit.measured import Venue, classic, gaps_of, ratings_before
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches

REPEATS = 30
CHECKED = ("spread", "movement", "likeness", "slope", "log_loss")


@dataclass(frozen=True)
class PosteriorCheck:
    """What the real league shows, and what leagues played from the estimates show.

    Attributes
    ----------
    spread, movement, likeness, slope, log_loss
        Of the real league: standard deviation of ratings in matches, of the change of a rating over 20 matches,
        correlation of the ratings of two opponents, slope of results on forecasts, log-loss.
    played
        The same five of every league in which the same sides played again, one row each.
    others
        The same five of leagues in which other sides of the same kind played, one row each.
    error
        True root mean square error of a rating difference, over √2, in ``played``.
    """

    spread: float
    movement: float
    likeness: float
    slope: float
    log_loss: float
    played: Array
    others: Array
    error: float

    @property
    def names(self) -> tuple[str, ...]:
        """The quantities."""
        return CHECKED

    @property
    def real(self) -> Array:
        """The quantities of the real league."""
        return np.array([getattr(self, name) for name in self.names])

    @property
    def interval(self) -> Array:
        """Where 95 % of the leagues lie in which the same sides played again, one row for each quantity."""
        return np.nanquantile(self.played, [0.025, 0.975], axis=0).T

    @property
    def shares(self) -> dict[str, float]:
        """Share of the leagues played again that lie below the real one."""
        return {name: float(np.mean(self.played[:, n] < self.real[n])) for n, name in enumerate(self.names)}


def posterior_check(
    matches: Matches, league: LeagueEstimate, since: int, k: float, venue: Venue, seed: int = 0
) -> PosteriorCheck:
    """Play the calendar again, by the same sides and by others, and rate it with the same K."""
    calendar = Calendar.of(matches)
    path = filtered(calendar, league.vector, keep_path=True).path
    own = Venue(league.home_advantage, league.ties)
    played: list[list[tuple[float, ...]]] = [[], []]
    errors = []
    for stream in np.random.SeedSequence(seed).spawn(REPEATS):
        generator = np.random.default_rng(stream)
        for kind, strengths in enumerate((same_sides, other_sides)):
            strength = strengths(calendar, league, path, generator)
            signed = np.empty(len(calendar))
            kernels.results(strength, calendar.neutral, league.vector, generator.random(signed.size), signed)
            again = replace(matches, result=(signed + 1) / 2, margin=np.full(signed.size, np.nan), source=None)
            played[kind].append(_described(again, since, k, own))
            if kind == 0:
                home, away = ratings_before(again, k, own)
                off = home - away - (strength[:, 0] - strength[:, 1])
                errors.append(float(np.mean(off[since:] ** 2) / 2))
    error = math.sqrt(float(np.mean(errors)))
    real = dict(zip(CHECKED, _described(matches, since, k, venue)))
    return PosteriorCheck(**real, played=np.array(played[0]), others=np.array(played[1]), error=error)


def same_sides(calendar: Calendar, league: LeagueEstimate, path: Array, generator: np.random.Generator) -> Array:
    """Strengths of both sides of every match, drawn given all results."""
    normal, strength = generator.standard_normal((len(calendar), 2)), np.empty((len(calendar), 2))
    kernels.same_strengths(calendar.home, calendar.away, path, normal, np.zeros((calendar.sides, 4)), strength)
    return strength


def other_sides(calendar: Calendar, league: LeagueEstimate, path: Array, generator: np.random.Generator) -> Array:
    """Strengths of both sides of every match, drawn from the model alone."""
    normal, strength = generator.standard_normal((len(calendar), 2)), np.empty((len(calendar), 2))
    kernels.new_strengths(
        calendar.home, calendar.away, calendar.day, league.vector, normal, np.zeros(calendar.sides),
        np.full(calendar.sides, -1.0), strength,
    )  # fmt: skip
    return strength


def _described(matches: Matches, since: int, k: float, venue: Venue) -> tuple[float, ...]:
    home, away = ratings_before(matches, k, venue)
    slope, _ = gaps_of(matches, since, home, away, venue).slope(matches.signed[since:])
    forecast = classic(k, venue).one_step_ahead(matches).probabilities[since:]
    loss = float(log_loss(forecast, matches.result[since:]).mean())
    both = np.concatenate([home[since:], away[since:]])
    # Every match is seen from both sides, so that who is named first does not matter.
    likeness = float(np.corrcoef(both, np.concatenate([away[since:], home[since:]]))[0, 1])
    return float(both.std()), _movement(matches, home, away, since), likeness, slope, loss


def _movement(matches: Matches, home: Array, away: Array, since: int, reach: int = 20) -> float:
    """Standard deviation of the change of a side's rating over ``reach`` of its matches."""
    side = np.column_stack([matches.home, matches.away])[since:].ravel()
    rating = np.column_stack([home, away])[since:].ravel()
    order = np.argsort(side, kind="stable")
    side, rating = side[order], rating[order]
    same = side[reach:] == side[:-reach]
    change = (rating[reach:] - rating[:-reach])[same]
    return float(change.std()) if change.size else math.nan
