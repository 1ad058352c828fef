"""Forecasts of contests put to the test, strictly in order of time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import CONTEST_METRICS, HIGHER_IS_BETTER, place_calibration, pooled
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Day
from kinelo.presentation import Table, number, words

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class ContestBacktest:
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

    def __repr__(self) -> str:
        metric = self.metrics[0]
        found = ", ".join(f"{name} {value:.4f}" for name, value in self.scores.select("rater", metric).iter_rows())
        return f"Backtest of {len(self.contests):,} contests by {metric}: {found}"

    def _repr_html_(self) -> str:
        return Table.of(self.scores, ".4f", below=(f"{len(self.contests):,} contests",)).html()

    def to_dict(self) -> dict[str, Any]:
        """Number of contests and the table of scores, as plain values."""
        return {"contests": len(self.contests), "scores": self.scores.to_dicts()}

    @cached_property
    def scores(self) -> pl.DataFrame:
        """Mean scores of every rater, the best first."""
        import polars as pl

        rows = []
        for name, forecast in self.forecasts.items():
            means = {metric: pooled(metric, forecast, self.contest_scores(name, metric)) for metric in self.metrics}
            rows.append({"rater": name, **means, "seconds": self.seconds[name]})
        first = self.metrics[0]
        return pl.DataFrame(rows).sort(first, descending=first in HIGHER_IS_BETTER, maintain_order=True)

    def contest_scores(self, name: str, metric: str = "winner_log_loss") -> NDArray[np.float64]:
        """Score of every contest for one rater; NaN where fewer than two finished."""
        if name not in self.forecasts:
            raise InputError(f"{name!r} was not put to the test; these were: {', '.join(self.forecasts)}.")
        if metric not in CONTEST_METRICS:
            raise InputError(f"Metric {metric!r} is not known; these are: {', '.join(CONTEST_METRICS)}.")
        return CONTEST_METRICS[metric](self.forecasts[name])

    def calibration(self, name: str, bins: int = 10) -> pl.DataFrame:
        """How often entrants came first, and among the first three, where that was forecast with a certain chance.

        ``low`` and ``high`` hold the frequency a calibrated forecast would show in 95 of 100 cases.
        """
        self.contest_scores(name)
        return place_calibration(self.forecasts[name], bins)


def contest_backtest_table(test: ContestBacktest, title: str) -> Table:
    """Scores of every rater, the best first."""
    metrics = [number(name.replace("_", " "), name, ".4f") for name in test.metrics]
    return Table([words("Rater", "rater"), *metrics], test.scores.to_dicts(), title)


def backtest_contests(
    contests: Contests, raters: Mapping[str, Any], train_until: Day, metrics: Sequence[str]
) -> ContestBacktest:
    """Fit raters on the contests before a day and score their one-step-ahead forecasts of the rest."""
    unknown = [metric for metric in metrics if metric not in CONTEST_METRICS]
    if unknown or not metrics:
        raise InputError(
            f"Metric {', '.join(map(repr, unknown)) or '(none)'} is not known of contests; these are: "
            f"{', '.join(CONTEST_METRICS)}."
        )
    train, test = contests.before(train_until), contests.since(train_until)
    if not len(train) or not len(test):
        first, last = (str(contests.date[k]) for k in (0, -1)) if len(contests) else ("none", "none")
        raise InputError(
            f"train_until={str(train_until)!r} leaves {len(train)} contests to fit and {len(test)} to test; "
            f"choose a day between {first} and {last}."
        )
    forecasts, seconds = {}, {}
    for name, rater in raters.items():
        began = time.perf_counter()
        rater.fit(train)
        forecast = rater.one_step_ahead(test)
        if not isinstance(forecast, ContestForecast):
            raise InputError(f"{name} does not forecast contests; kinelo.RankElo and kinelo.TeamElo.classic do.")
        forecasts[name], seconds[name] = forecast, time.perf_counter() - began
    return ContestBacktest(test, forecasts, dict(raters), seconds, tuple(metrics))
