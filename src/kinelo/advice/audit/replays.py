"""The league played again from the estimates on the same calendar, rated alike, beside the real one.

Two kinds of leagues are played. In the first the very sides play whose results are known: their strengths are drawn
given all results, backwards through the filter, and only luck is new. In the second other sides of the same kind play:
all strengths are new too. Where only the first looks like the real league, the calendar knows something of strengths,
as where like meets like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import filter_league
from kinelo.advice.audit.in_use import SystemInUse, with_results
from kinelo.advice.audit.kernels import Array, Calendar, Parameters
from kinelo.advice.audit.recursion import Recursion
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches

REPEATS = 30
QUANTITIES = ("spread", "movement", "likeness", "slope", "log_loss")


class Replay(NamedTuple):
    """Results in [−1, 1] of every match, the strengths of both sides (n × 2) and the home advantage behind them."""

    result: Array
    strength: Array
    home: Array


def replay(
    calendar: Calendar, parameters: Parameters, generator: np.random.Generator, *, other_sides: bool = False
) -> Replay:
    """Play the calendar once more: strengths drawn given all results (or anew), and new results."""
    n = calendar.size
    filtered = filter_league(calendar, parameters)
    strength, home, result = np.empty((n, 2)), np.empty(n), np.empty(n)
    normal = generator.standard_normal((n, 2))
    if other_sides:
        nobody = np.zeros(calendar.sides), np.full(calendar.sides, -1.0)
        kernels.draw_sides(calendar, parameters, *nobody, 0.0, 0, 0, normal, strength)
    else:
        kernels.smooth_sides(calendar, filtered.path, normal, strength, np.empty((n, 2)), np.empty((n, 2)))
    kernels.smooth_home(calendar.neutral, filtered.home_path, generator.standard_normal(n), home)
    kernels.draw_results(strength, home, parameters, generator.random(n), result)
    return Replay(result, strength, home)


def replays(calendar: Calendar, drawn: list[Parameters], seed: int = 0) -> Iterator[Replay]:
    """One replay for each draw of the parameters."""
    for parameters, stream in zip(drawn, np.random.SeedSequence(seed).spawn(len(drawn))):
        yield replay(calendar, parameters, np.random.default_rng(stream))


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
        return QUANTITIES

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
    recursion: Recursion, system: SystemInUse, matches: Matches, k: float, seed: int = 0
) -> PosteriorCheck:
    """Play the calendar again, by the same sides and by others, and rate it with the same K."""
    calendar, parameters, since = recursion.calendar, recursion.parameters, recursion.since
    played: list[list[tuple[float, ...]]] = [[], []]
    errors = []
    for stream in np.random.SeedSequence(seed).spawn(REPEATS):
        generator = np.random.default_rng(stream)
        for kind in range(2):
            drawn = replay(calendar, parameters, generator, other_sides=kind == 1)
            again = with_results(matches, drawn.result)
            before = system.ratings_before(again, k)
            played[kind].append(_quantities(again, since, k, system, before))
            if kind == 0:
                off = (before - drawn.strength) @ np.array([1.0, -1.0])
                errors.append(float(np.mean(off[since:] ** 2) / 2))
    real = dict(zip(QUANTITIES, _quantities(matches, since, k, system, system.ratings_before(matches, k))))
    error = math.sqrt(float(np.mean(errors)))
    return PosteriorCheck(**real, played=np.array(played[0]), others=np.array(played[1]), error=error)


def _quantities(matches: Matches, since: int, k: float, system: SystemInUse, before: Array) -> tuple[float, ...]:
    forecast = system.at(k).one_step_ahead(matches).probabilities[since:]
    slope, _ = system.gaps(matches, before, since).slope(matches.signed[since:])
    loss = float(log_loss(forecast, matches.result[since:]).mean())
    home, away = before.T
    both = before[since:].ravel()
    # Every match is seen from both sides, so that who is named first does not matter.
    likeness = float(np.corrcoef(both, before[since:, ::-1].ravel())[0, 1])
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
