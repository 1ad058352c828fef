"""Matches of two sides as a rater of contests forecasts them: who wins, and whether anybody does.

A tie counts as half of each order, so that the chance ``E`` of the home side to come first is its expected score. How
much of it comes from draws is Davidson's law: with odds ``w² = P(win)/P(loss)`` and ``κ``,

    ``P(win) : P(draw) : P(loss) = w : κ : 1/w``, ``2E − 1 = (w − 1/w)/(w + 1/w + κ)``,

which is a quadratic equation of ``w``.

:class:`Fields` and :class:`Duels` are what a rater of contests makes of contests and of matches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.places import ContestForecast
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Matches
from kinelo.raters.rank.kernels import Expected
from kinelo.raters.team.kernels import PRIOR_DECISIVE, PRIOR_DRAWS

Array = NDArray[np.float64]
LEAST_SHARE_OF_POINTS = 1e-9


@dataclass(frozen=True)
class Fields:
    """Contests that are rated or forecast: of each the chances of all places are said."""

    contests: Contests

    def settle_ties(self, rater: Any) -> None:
        """Let what was fitted say how often sides draw, given everything else."""

    def follow(self, rater: Any, expected: Expected) -> Array | None:
        """How often sides draw, before each; None where nothing is learnt of it."""
        return None

    def forecast(self, rater: Any, expected: Expected, unknown: tuple[str, ...], ties: Array | None = None) -> Any:
        """The forecast of what is expected."""
        mean, deviation = expected.mean[:, 0], np.sqrt(expected.variance[:, 0])
        believed = rater._luck().believed(self.contests)
        return ContestForecast(self.contests, mean, deviation, unknown, **rater._off(), **believed)


@dataclass(frozen=True)
class Duels(Fields):
    """Matches of two sides that are rated or forecast as contests of two: of each it is said who wins."""

    matches: Matches

    def _points(self, rater: Any, expected: Expected) -> Array:
        """Expected points of the home sides; entries of a match stand in the order of places."""
        home = 2 * np.arange(len(self.matches)) + (self.matches.result < 0.5)
        return super().forecast(rater, expected, ()).pair_chance(home, home ^ 1)

    def settle_ties(self, rater: Any) -> None:
        """By the draws of the matches fitted."""
        if rater.ties is not None:
            return
        values = dict(rater.parameters_)
        points = self._points(rater, rater._expected_anew(self.contests))
        rater._reset(values | {"ties": likeliest_ties(points, self.matches.result)})

    def follow(self, rater: Any, expected: Expected) -> Array | None:
        """κ before each match, where it is learnt on the way."""
        if not rater._learns_ties:
            return None
        return follow_ties(self._points(rater, expected), self.matches, rater._tie_sums)

    def forecast(self, rater: Any, expected: Expected, unknown: tuple[str, ...], ties: Array | None = None) -> Any:
        """Chances of win, draw and loss."""
        now = ties_of(rater._tie_sums) if rater._learns_ties else rater.parameters_["ties"]
        chances = chances_of_points(self._points(rater, expected), now if ties is None else ties)
        return Forecast(chances, unknown, self.matches)


def chances_of_points(points: Array, ties: float | Array) -> Array:
    """Chances of home win, draw and away win (matches, 3) that have these expected points.

    >>> chances_of_points(np.array([0.5, 0.8]), 1.0).round(3).tolist()
    [[0.333, 0.333, 0.333], [0.682, 0.236, 0.082]]
    """
    signed = 2.0 * np.clip(points, LEAST_SHARE_OF_POINTS, 1.0 - LEAST_SHARE_OF_POINTS) - 1.0
    root = np.sqrt(signed**2 * ties**2 + 4.0 * (1.0 - signed**2))
    odds = (signed * ties + root) / (2.0 * (1.0 - signed))
    shares = np.column_stack([odds, np.full(odds.size, ties), 1.0 / odds])
    return shares / shares.sum(axis=1, keepdims=True)


def follow_ties(points: Array, matches: Matches, sums: Array) -> Array:
    """κ before each match, learnt from the draws of those before it by the law of :mod:`kinelo.raters.team.kernels`;
    ``sums`` holds draws and decisive matches, and runs on.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": list("ABC"), "away": list("BCA"), "result": [1, 0.5, 0]})
    >>> follow_ties(np.full(3, 0.5), matches, np.zeros(2)).round(3).tolist()
    [0.0, 0.0, 0.8]
    """
    before = np.empty(len(matches))
    for k, (weight, drawn) in enumerate(zip(matches.weight.tolist(), (1.0 - np.abs(matches.signed)).tolist())):
        before[k] = ties_of(sums)
        win, _, loss = chances_of_points(points[k : k + 1], before[k])[0]
        sums += weight * drawn, weight * (1.0 - drawn) * math.sqrt(win * loss) / (win + loss)
    return before


def ties_of(sums: Array) -> float:
    """κ from the sums of draws and decisive matches."""
    return float((sums[0] + PRIOR_DRAWS) / (sums[1] + PRIOR_DECISIVE)) if sums[0] > 0.0 else 0.0


def likeliest_ties(points: Array, result: Array) -> float:
    """The κ under which results are likeliest, given the points expected; 0 where nobody drew."""
    if not np.any(result == 0.5):
        return 0.0
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda z: log_loss(chances_of_points(points, math.exp(z)), result).sum(), bounds=(-7.0, 3.0), method="bounded"
    )
    return math.exp(found.x)
