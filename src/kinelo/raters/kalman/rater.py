"""Ratings of teams by a Gaussian filter with the covariance between all of them.

Strengths move as ``dx = −ρ x dt + walk dW``; a match shows their difference plus the venue's advantage, in noise. The
theory of rating noise says how uncertain a rating is, and that ratings of sides which met are uncertain together. The
filter carries exactly that: a result tells about everyone connected with the two who played, and the forecast knows
how much of a difference is doubt. Equations in :mod:`kinelo.raters.kalman.kernels`.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Option, Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.gaussian import MARGIN_POWER, SHARPNESS, TIES, Array, GaussianRater
from kinelo.raters.kalman import kernels
from kinelo.raters.kalman.state import FilterState

if TYPE_CHECKING:
    import polars as pl

MOST_WORK = 4e9
"""Matches times sides squared beyond which parameters are sought without covariance."""

ACTIVE_DAYS = 730
_P = Parameter


class KalmanElo(GaussianRater):
    """Team ratings by a Gaussian filter: full covariance, wandering strengths, venue advantages learnt on the way.

    Every parameter left at None is estimated by ``fit``; without ``fit`` it takes its default. Strengths are in units
    of what a match shows: its margin in mean absolute margins, to the power ``margin_power``.

    Parameters
    ----------
    walk
        Standard deviation by which a strength wanders in a year.
    prior_spread
        Standard deviation of a newcomer's strength.
    noise
        Standard deviation of what a match shows around the difference of strengths.
    home_spread
        Standard deviation between teams of what their home is worth.
    venue_walk
        Standard deviation by which the advantages of playing at home, and of being named first on neutral ground,
        wander in a year.
    newcomer
        Mean strength of those who enter years after the first, who average 0.
    regression
        Rate per year at which strengths return to the mean.
    margin_power
        Power of the margin that the update sees.
    sharpness, ties
        Scale and half width of the draw band of the forecast: equal sides of known strength draw with ``2Φ(ties) − 1``.
    covariance
        ``"full"``, or ``"diagonal"`` to forget how strengths are connected (for many thousands of sides).
    initial
        Rating shown for the average of the teams that are active; 400 points are odds of about ten to one.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [1, 1], "neutral": [True, True]})
    >>> rater = kn.KalmanElo().update(matches)
    >>> rater.ratings_["name"].to_list(), rater.correlation("A", "C") > 0
    (['A', 'B', 'C'], True)
    """

    parameters = (
        _P("walk", 0.15, 0.005, 3.0, True, "yearly wandering of a strength"),
        _P("prior_spread", 1.5, 0.05, 10.0, True, "spread of newcomers"),
        _P("noise", 1.0, 0.6, 1.6, True, "spread of a match around the strengths", above_zero=True),
        _P("home_spread", 0.15, 0.005, 1.5, True, "spread of teams' own home advantages"),
        _P("venue_walk", 0.03, 0.003, 0.3, True, "yearly wandering of the venue advantages"),
        _P("newcomer", -0.5, -8.0, 4.0, False, "mean strength of late entrants"),
        _P("regression", 0.05, 0.0, 3.0, False, "yearly return to the mean"),
        MARGIN_POWER,
        SHARPNESS,
        TIES,
    )
    options = (Option("initial"),)

    def __init__(
        self,
        walk: float | None = None,
        prior_spread: float | None = None,
        noise: float | None = None,
        home_spread: float | None = None,
        venue_walk: float | None = None,
        newcomer: float | None = None,
        regression: float | None = None,
        margin_power: float | None = None,
        sharpness: float | None = None,
        ties: float | None = None,
        *,
        covariance: Literal["full", "diagonal"] = "full",
        initial: float = 1500.0,
    ) -> None:
        self.walk = walk
        self.prior_spread = prior_spread
        self.noise = noise
        self.home_spread = home_spread
        self.venue_walk = venue_walk
        self.newcomer = newcomer
        self.regression = regression
        self.margin_power = margin_power
        self.sharpness = sharpness
        self.ties = ties
        self.covariance = covariance
        self.initial = initial

    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start.

        Where one pass with the full covariance would take seconds, the parameters are those of the filter without it.
        """
        work = len(matches) * float(np.unique(np.concatenate([matches.home, matches.away])).size) ** 2
        if self.covariance == "diagonal" or work <= MOST_WORK:
            return super().fit(matches)
        rough = copy.copy(self)
        rough.covariance = "diagonal"
        rough.fit(matches)
        self.margin_unit_, self.moot_, self.estimates_ = rough.margin_unit_, rough.moot_, rough.estimates_
        self.order_, self.fitted_ = rough.order_, matches
        self.reset(dict(rough.parameters_))
        return self.update(matches)

    def _fresh(self) -> FilterState:
        if self.covariance not in ("full", "diagonal"):
            raise InputError(f"covariance={self.covariance!r} is not known; it is 'full' or 'diagonal'")
        values = self.parameters_
        numbers = np.empty(7)
        numbers[kernels.WALK] = values["walk"] ** 2
        numbers[kernels.PRIOR] = values["prior_spread"] ** 2
        numbers[kernels.NOISE] = values["noise"] ** 2
        numbers[kernels.HOME_PRIOR] = values["home_spread"] ** 2 if self.order_.home else 0.0
        numbers[kernels.VENUE_WALK] = values["venue_walk"] ** 2
        numbers[kernels.NEWCOMER] = values["newcomer"]
        numbers[kernels.RHO] = values["regression"]
        self._numbers = numbers
        return FilterState(self.covariance == "full", self._venue_variance, float(numbers[kernels.HOME_PRIOR]))

    def _walk(self, matches: Matches) -> tuple[Array, Array, tuple[str, ...]]:
        state: FilterState = self._state
        home, away, newcomers = state.admit(matches)
        mean, variance = np.empty(len(matches)), np.empty(len(matches))
        kernels.play_all(
            home, away, self._signal(matches), matches.neutral, matches.weight, matches.day, self._numbers,
            state.known, mean, variance,
        )  # fmt: skip
        return mean, variance, newcomers

    def _look(self, matches: Matches) -> tuple[Array, Array, tuple[str, ...]]:
        state: FilterState = self._state
        home, away, unknown = state.find(matches)
        mean, variance = np.empty(len(matches)), np.empty(len(matches))
        kernels.foresee_all(home, away, matches.neutral, matches.day, self._numbers, state.known, mean, variance)
        return mean, variance, unknown

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone who has played, the best first.

        Only differences of strength can be seen in matches, so ratings and their uncertainty are relative to the
        average of the teams that played within two years of the last match. Uncertainty is that of a team's own last
        match; ``home`` is what its ground adds to the common home advantage, in points.
        """
        import polars as pl

        state: FilterState = self._begun()
        size, points = len(state), self.points_per_unit_
        strength, variance = state.relative(ACTIVE_DAYS)
        return pl.DataFrame(
            {
                "name": pl.Series(state.roster.names, dtype=pl.String),
                "rating": self.initial + points * strength,
                "uncertainty": points * np.sqrt(variance),
                "home": points * state.known.eta[:size],
                "matches": state.known.games[:size],
                "last_played": state.known.last[:size].astype("datetime64[D]"),
            }
        ).sort("rating", descending=True, maintain_order=True)

    @property
    def home_advantage_(self) -> float:
        """Rating points that playing at home is worth now."""
        return float(self.points_per_unit_ * self._begun().known.x[kernels.HOME])

    def correlation(self, one: str, other: str) -> float:
        """Correlation between what is believed of two teams' strengths."""
        state: FilterState = self._begun()
        missing = [name for name in (one, other) if name not in state.roster.index]
        if missing:
            raise InputError(f"{missing[0]!r} has not played; the correlation is between teams that have")
        i, j = state.roster.index[one], state.roster.index[other]
        covariance: NDArray[np.float64] = state.covariance()
        return float(covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j]))
