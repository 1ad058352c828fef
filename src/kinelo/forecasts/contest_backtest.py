"""Forecasts of contests put to the test, strictly in order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.comparison import Comparison
from kinelo.forecasts.contest_scores import CONTEST_METRICS, HIGHER_IS_BETTER, OF_PAIRS, pairs_of, place_calibration
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class ContestBacktest(Comparison):
    """Forecasts of several raters for the same contests, and how good they were.

    Attributes
    ----------
    contests
        The contests that were forecast.
    forecasts
        By name of the rater.
    raters
        As they stand after the last contest.
    seconds
        Time each took to fit and to forecast.
    metrics
        Scores that are shown: winner_log_loss, order_log_loss (mean over pairs of finishers), pairs_right (share of
        pairs in the order forecast), rank_deviation (mean distance of places, as a share of the field).

    >>> import kinelo as kn
    >>> races = kn.read_contests(kn.matches.sample_contests(contests=40, entrants=12, size=6, seed=1))
    >>> test = kn.backtest(races, kn.RankElo(), train_until=races.date[20])
    >>> len(test.contests), list(test.forecasts), "pairs_right" in test.scores.columns
    (20, ['RankElo'], True)
    """

    contests: Contests
    forecasts: Mapping[str, ContestForecast]
    raters: Mapping[str, Any] = field(repr=False)
    seconds: Mapping[str, float] = field(repr=False)
    metrics: tuple[str, ...] = tuple(CONTEST_METRICS)

    noun: ClassVar[str] = "contests"
    highest_best: ClassVar[tuple[str, ...]] = HIGHER_IS_BETTER
    known_metrics: ClassVar[tuple[str, ...]] = tuple(CONTEST_METRICS)

    @property
    def number(self) -> int:
        """How many contests were forecast."""
        return len(self.contests)

    def _scored(self, name: str, metric: str) -> NDArray[np.float64]:
        return CONTEST_METRICS[metric](self.forecasts[name])

    def _counts(self, metric: str) -> NDArray[np.float64] | None:
        return pairs_of(self.contests) if metric in OF_PAIRS else None

    def contest_scores(self, name: str, metric: str = "winner_log_loss") -> NDArray[np.float64]:
        """Score of every contest for one rater; NaN where fewer than two finished."""
        return self._score(name, metric)

    def calibration(self, name: str, bins: int = 10) -> pl.DataFrame:
        """How often entrants came first, and among the first three, where that was forecast with a certain chance.

        ``low`` and ``high`` hold the frequency a calibrated forecast would show in 95 of 100 cases.
        """
        self.contest_scores(name)
        return place_calibration(self.forecasts[name], bins)
