"""Forecasts of several raters for the same matches or contests, side by side: what every backtest shows and tells.

Scores are those of the same matches (contests) for all raters, so differences are paired; their intervals and standard
errors come from drawing matches (contests) with replacement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.kinds import KINDS
from kinelo.presentation import Column, Row, Table, number, percent, words

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]
SHARES = ("accuracy", "pairs_right")


class Comparison:
    """Base of backtests: one score of everything tested, by rater and metric."""

    noun: ClassVar[str]
    highest_best: ClassVar[tuple[str, ...]]
    known_metrics: ClassVar[tuple[str, ...]]
    forecasts: Mapping[str, Any]
    seconds: Mapping[str, float]
    metrics: tuple[str, ...]

    @staticmethod
    @abstractmethod
    def _accepted(name: str, forecast: Any, tested: Any) -> Any:
        """A forecast of what was tested, or a sentence about who gave it where it is none."""

    @abstractmethod
    def _scored(self, name: str, metric: str) -> Array:
        """Score of everything tested for one rater; NaN where there is none."""

    def _counts(self, metric: str) -> Array | None:
        """How much each score counts in a mean; None where all count the same."""
        return None

    def _about(self, name: str) -> dict[str, str]:
        """What the table says of a rater beside its scores."""
        return {}

    def _bands_by_rater(self) -> dict[str, pl.DataFrame]:
        """Of contests, winners and podiums expected and seen by every rater."""
        return {}

    @property
    @abstractmethod
    def number(self) -> int:
        """How many matches or contests were forecast."""

    def _score(self, name: str, metric: str) -> Array:
        """Score of everything tested, or a sentence where the rater or the metric is not known."""
        if not isinstance(name, str) or name not in self.forecasts:
            raise InputError(f"{name!r:.60} was not put to the test; these were: {', '.join(self.forecasts)}.")
        if not isinstance(metric, str) or metric not in self.known_metrics:
            raise InputError(f"Metric {metric!r:.60} is not known; these are: {', '.join(self.known_metrics)}.")
        return self._scored(name, metric)

    def _weights(self, metric: str, scores: Array) -> Array:
        counts = self._counts(metric)
        return np.where(np.isnan(scores), 0.0, 1.0 if counts is None else counts)

    def mean_score(self, name: str, metric: str) -> float:
        """Mean score of one rater."""
        scores = self._score(name, metric)
        return weighted_mean(scores, self._weights(metric, scores))

    @abstractmethod
    def calibration(self, name: str, bins: int = 10) -> pl.DataFrame:
        """How often what was forecast happened, in bins of equal width."""

    def __repr__(self) -> str:
        metric = self.metrics[0]
        found = ", ".join(f"{name} {value:.4f}" for name, value in self.scores.select("rater", metric).iter_rows())
        return f"Backtest of {KINDS[self.noun].counted(self.number)} by {metric}: {found}"

    def _repr_html_(self) -> str:
        return Table.of(self.scores, ".4f", below=(KINDS[self.noun].counted(self.number),)).html()

    def to_dict(self) -> dict[str, Any]:
        """How many were forecast, and the table of scores, as plain values."""
        return {self.noun: self.number, "scores": self.scores.to_dicts()}

    @cached_property
    def scores(self) -> pl.DataFrame:
        """Mean scores of every rater, the best first, and the seconds it took."""
        import polars as pl

        rows = []
        for name in self.forecasts:
            means = {
                metric: weighted_mean(s := self._score(name, metric), self._weights(metric, s))
                for metric in self.metrics
            }
            rows.append({"rater": name, **self._about(name), **means, "seconds": self.seconds[name]})
        first = self.metrics[0]
        return pl.DataFrame(rows).sort(first, descending=first in self.highest_best, maintain_order=True)

    def differences(
        self,
        reference: str | None = None,
        *,
        metric: str | None = None,
        resamples: int = 2000,
        confidence: float = 0.95,
        seed: int = 1,
    ) -> pl.DataFrame:
        """Score of every rater minus that of the reference (default: the best), with bootstrap intervals.

        ``standard_error`` is the standard deviation of the difference over the resamples.
        """
        import polars as pl

        metric = self.metrics[0] if metric is None else metric
        reference = str(self.scores["rater"][0] if reference is None else reference)
        base = self._score(reference, metric)
        gaps = {name: self._score(name, metric) - base for name in self.forecasts if name != reference}
        if not gaps:
            numbers = ("difference", "low", "high", "standard_error")
            return pl.DataFrame(schema={"rater": pl.String, **dict.fromkeys(numbers, pl.Float64)})
        weights = np.column_stack([self._weights(metric, gap) for gap in gaps.values()])
        # Weighted means over draws of the rows with replacement.
        values, generator = np.column_stack(list(gaps.values())), np.random.default_rng(seed)
        rows, parts = len(values), np.where(weights > 0.0, values * weights, 0.0)
        draws = (np.bincount(generator.integers(0, rows, rows), minlength=rows) for _ in range(resamples))
        means = np.array([counts @ parts / np.maximum(counts @ weights, 1e-300) for counts in draws])
        low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        differences = [weighted_mean(gap, weight) for gap, weight in zip(gaps.values(), weights.T)]
        columns = {
            "rater": list(gaps),
            "difference": differences,
            "low": low,
            "high": high,
            "standard_error": means.std(axis=0),
        }
        return pl.DataFrame(columns).sort("difference", maintain_order=True)


def in_words(metric: str) -> str:
    """A score as tables call it.

    >>> in_words("log_loss"), in_words("winner_log_loss")
    ('log-loss', 'winner log-loss')
    """
    return metric.replace("log_loss", "log-loss").replace("_", " ")


def backtest_table(test: Comparison, title: str) -> Table:
    """Scores of every rater, the best first, and how far the others are behind it."""
    gaps = {row["rater"]: row for row in test.differences(test.scores["rater"][0]).iter_rows(named=True)}

    def behind(row: Row) -> str:
        gap = gaps.get(row["rater"])
        return "" if gap is None else f"{gap['difference']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})"

    metrics = [_score_column(name) for name in test.metrics]
    lineups = [words("Line-up known", "line-up")] if "line-up" in test.scores.columns else []
    columns = [words("Rater", "rater"), *lineups, *metrics]
    below = f"Behind the best: mean difference in {in_words(test.metrics[0])} with its 95 % bootstrap interval."
    return Table([*columns, Column("behind the best", behind, number=True)], test.scores.to_dicts(), title, (below,))


def _score_column(metric: str) -> Column:
    """Shares of what was right in percent, any other score to four digits."""
    if metric in SHARES:
        return Column(in_words(metric), lambda row: percent(row[metric], 1), number=True, key=metric)
    return replace(number(in_words(metric), metric, ".4f"), wraps=True)


def weighted_mean(scores: Array, weights: Array) -> float:
    """Mean of those scores that count.

    >>> weighted_mean(np.array([1.0, 4.0, np.nan]), np.array([2.0, 1.0, 0.0]))
    2.0
    """
    counted = weights > 0.0
    total = weights[counted].sum()
    return float((scores[counted] * weights[counted]).sum() / total) if total else float("nan")


def binned(chance: Array, happened: Array, bins: int) -> dict[str, NDArray[Any]]:
    """Forecasts in bins of equal width: their mean, how often the thing happened, the range of 95 of 100 cases, number.

    >>> found = binned(np.array([0.1, 0.12, 0.9]), np.array([0.0, 1.0, 1.0]), 2)
    >>> found["forecast"].round(2).tolist(), found["frequency"].tolist(), found["number"].tolist()
    ([0.11, 0.9], [0.5, 1.0], [2, 1])
    """
    which = np.minimum((chance * bins).astype(int), bins - 1)
    count = np.bincount(which, minlength=bins)
    filled = count > 0
    mean, frequency, spread = (
        np.bincount(which, weights=values, minlength=bins)[filled] / count[filled]
        for values in (chance, happened, chance * (1.0 - chance))
    )
    reach = 1.96 * np.sqrt(spread / count[filled])
    low, high = np.clip(mean - reach, 0, 1), np.clip(mean + reach, 0, 1)
    return {"forecast": mean, "frequency": frequency, "low": low, "high": high, "number": count[filled]}
