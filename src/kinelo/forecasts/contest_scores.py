"""How good forecasts of contests were: scores of every contest, among those who finished, and raters compared by them.

Forecasts are made strictly in order of time; scores take them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.comparison import Comparison, binned, weighted_mean
from kinelo.forecasts.pair_sums import pairs_in_order, sum_of_losses
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import FINISHED, Contests
from kinelo.presentation import Column, Table

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]
LEAST_CONTEST_CHANCE = 1e-15


def winner_log_loss(forecast: ContestForecast) -> Array:
    """Minus the logarithm of the chance given to who won, of all who took part; the mean where several tie for it."""
    contests = forecast.contests
    best = np.minimum.reduceat(contests.place, contests.first[:-1])[contests.contest]
    won = (contests.place == best) & (contests.ended == FINISHED)
    loss = np.where(won, -np.log(np.maximum(forecast.win, LEAST_CONTEST_CHANCE)), 0.0)
    number = np.add.reduceat(won.astype(float), contests.first[:-1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.add.reduceat(loss, contests.first[:-1]) / number


def _finishers(forecast: ContestForecast, contest: int) -> NDArray[np.int64]:
    """Entries of those who finished one contest, in order of places."""
    contests = forecast.contests
    entries = np.arange(contests.first[contest], contests.first[contest + 1])
    entries = entries[contests.ended[entries] == FINISHED]
    return entries[np.argsort(contests.place[entries], kind="stable")]


def order_log_loss(forecast: ContestForecast) -> Array:
    """Mean log-loss over the pairs of those who finished: 0.693 is a guess; a tie counts half of each order."""
    loss = np.full(len(forecast), np.nan)
    for contest in range(loss.size):
        finishers = _finishers(forecast, contest)
        if finishers.size > 1:
            place, mean, deviation = (
                forecast.contests.place[finishers],
                forecast.mean[finishers],
                forecast.deviation[finishers],
            )
            total = -sum_of_losses(partial(forecast.log_pair_chance, contest), mean, deviation, place)
            loss[contest] = total / (finishers.size * (finishers.size - 1) / 2)
    return loss


def pairs_right(forecast: ContestForecast) -> Array:
    """Share of the pairs of those who finished, and did not tie, that stand in the order forecast: that of the medians
    of performances. A pair of equal medians counts half.
    """
    share = np.full(len(forecast), np.nan)
    for contest in range(share.size):
        own = _finishers(forecast, contest)
        values, rank = np.unique(-forecast.middle[own], return_inverse=True)
        first = np.append(0, np.append(np.flatnonzero(np.diff(forecast.contests.place[own])) + 1, own.size))
        right, pairs = pairs_in_order(rank.astype(np.int64), first.astype(np.int64), values.size)
        share[contest] = right / pairs if pairs else np.nan
    return share


def rank_deviation(forecast: ContestForecast) -> Array:
    """Mean distance between place and forecast place among those who finished, as a share of the field."""
    deviation = np.full(len(forecast), np.nan)
    for contest in range(deviation.size):
        own = _finishers(forecast, contest)
        order = np.argsort(np.argsort(-forecast.middle[own], kind="stable"), kind="stable") + 1.0
        if own.size > 1:
            deviation[contest] = np.abs(order - forecast.contests.place[own]).mean() / own.size
    return deviation


CONTEST_METRICS: dict[str, Callable[[ContestForecast], Array]] = {
    "winner_log_loss": winner_log_loss,
    "order_log_loss": order_log_loss,
    "pairs_right": pairs_right,
    "rank_deviation": rank_deviation,
}
HIGHER_IS_BETTER = ("pairs_right",)
EVENTS = ("win", "top 3")
"""Of which places it is asked how often they came true."""
OF_PAIRS = ("pairs_right", "order_log_loss")


def pairs_of(contests: Contests) -> Array:
    """Pairs of finishers of each contest."""
    finished = np.add.reduceat((contests.ended == FINISHED).astype(float), contests.first[:-1])
    return finished * (finished - 1.0) / 2.0


def pooled(metric: str, forecast: ContestForecast, scores: Array) -> float:
    """Mean score over contests; of pairs, over all pairs of all contests."""
    weights = pairs_of(forecast.contests) if metric in OF_PAIRS else np.ones(len(forecast))
    return weighted_mean(scores, np.where(np.isnan(scores), 0.0, weights))


def score_of(forecast: ContestForecast) -> float:
    """Minus the mean log-loss over pairs of finishers: what ``score`` of a rater says of contests."""
    return -pooled("order_log_loss", forecast, order_log_loss(forecast))


def _reached(contests: Contests, last: int) -> Array:
    """Which entries came among the first ``last``; of those who tie around that place, the share that did."""
    finished = contests.ended == FINISHED
    contest, place = contests.contest, np.where(finished, contests.place, np.inf)
    order = np.lexsort((place, contest))
    new = np.ones(order.size, np.int64)
    new[1:] = (np.diff(contest[order]) > 0) | (place[order][1:] > place[order][:-1])
    group = np.empty(order.size, np.int64)
    group[order] = np.cumsum(new) - 1
    tied = np.bincount(group)[group]
    ahead = contests.place - (tied + 1) / 2.0
    return np.where(finished, np.clip((last - ahead) / tied, 0.0, 1.0), 0.0)


def place_calibration(forecast: ContestForecast, bins: int = 10) -> pl.DataFrame:
    """How often entrants came first, and among the first three, where that was forecast with a certain chance."""
    import polars as pl

    top = np.concatenate([forecast.top(contest) for contest in range(len(forecast))])
    parts = []
    for event, chance, last in zip(EVENTS, (forecast.win, top), (1, 3)):
        columns = binned(chance, _reached(forecast.contests, last), bins)
        columns["entries"] = columns.pop("number")
        parts.append(pl.DataFrame({"event": [event] * columns["entries"].size, **columns}))
    return pl.concat(parts)


BAND_ENDS = (0.0, 0.005, 0.02, 0.05, 0.12, 0.3, 1.0)
"""Chances between which winners and podiums are counted: outsiders, most of a field, favourites."""


def place_bands(forecast: ContestForecast) -> pl.DataFrame:
    """How many winners, and how many of the first three, were expected and seen among entrants by their chance.

    ``error`` is one standard deviation of the number seen, were the forecast right. Those who tie for a place share it.
    """
    import polars as pl

    rows = []
    top = np.concatenate([forecast.top(contest) for contest in range(len(forecast))])
    for event, chance, last in zip(EVENTS, (forecast.win, top), (1, 3)):
        came = _reached(forecast.contests, last)
        band = np.clip(np.searchsorted(BAND_ENDS, chance, side="right") - 1, 0, len(BAND_ENDS) - 2)
        for number in np.unique(band).tolist():
            inside = band == number
            error = float(np.sqrt((chance[inside] * (1.0 - chance[inside])).sum()))
            rows.append(
                (event, BAND_ENDS[number], BAND_ENDS[number + 1], int(inside.sum()), float(chance[inside].sum()),
                 float(came[inside].sum()), error)
            )  # fmt: skip
    names = ("event", "low", "high", "entries", "expected", "seen", "error")
    return pl.DataFrame(rows, schema=list(names), orient="row")


BAND_WORDS = {"win": "to win", "top 3": "to be among the first three"}


def place_bands_table(bands: pl.DataFrame, name: str) -> Table:
    """Winners and podiums expected and seen, by the chance that a rater gave: what :func:`place_bands` counts."""
    columns = [
        Column("chance", lambda row: f"{100 * row['low']:g} to {100 * row['high']:g} % {BAND_WORDS[row['event']]}"),
        Column("entrants", lambda row: f"{row['entries']:,}", number=True),
        Column("expected", lambda row: f"{row['expected']:.1f} ± {row['error']:.1f}", number=True),
        Column("seen", lambda row: f"{round(row['seen'], 1):,g}", number=True),
    ]
    below = "± is one standard deviation of the number seen, were the chances right."
    return Table(columns, bands.to_dicts(), f"What {name} expected, and what came", (below,))


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
    raters: Mapping[str, Any]
    seconds: Mapping[str, float]
    metrics: tuple[str, ...] = tuple(CONTEST_METRICS)

    noun: ClassVar[str] = "contests"
    highest_best: ClassVar[tuple[str, ...]] = HIGHER_IS_BETTER
    known_metrics: ClassVar[tuple[str, ...]] = tuple(CONTEST_METRICS)

    @staticmethod
    def _accepted(name: str, forecast: Any, tested: Any) -> ContestForecast:
        if not isinstance(forecast, ContestForecast) or len(forecast) != len(tested):
            raise InputError(f"{name} does not forecast contests; kinelo.RankElo and kinelo.TeamElo.classic do.")
        return forecast

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

    def _bands_by_rater(self) -> dict[str, pl.DataFrame]:
        return {name: self.bands(name) for name in self.forecasts}

    def bands(self, name: str) -> pl.DataFrame:
        """Winners and podiums expected and seen, by the chance that was given: event, low, high, entries, expected,
        seen and error, which is one standard deviation of the number seen.
        """
        self.contest_scores(name)
        return place_bands(self.forecasts[name])
