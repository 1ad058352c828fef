"""Forecasts put to the test, strictly in order of time.

Each rater is fitted on the matches before a day and then forecasts every later match from the matches before it, using
it only afterwards. Nothing is fitted again. Scores are means over the same matches for all raters, so differences
are paired, and their intervals come from drawing matches with replacement.
"""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.contest_backtest import ContestBacktest, backtest_contests
from kinelo.forecasts.contest_scores import CONTEST_METRICS
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.scores import METRICS, outcome_shares
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Day, Matches, check_matches
from kinelo.matches.scan import MatchScan
from kinelo.presentation import Column, Row, Table, number, words
from kinelo.runtime.progress import Progress, speaker
from kinelo.runtime.renaming import renamed_arguments
from kinelo.runtime.workers import check_client, collected

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client

ENOUGH_TO_DOUBT = 100
TOO_GOOD = 0.05
"""Mean log-loss below which what happened was given 95 % on average: beyond any sport."""

OUTCOMES = ("home win", "draw", "away win")


class Forecaster(Protocol):
    """What can be put to the test: every rater, and anything else with these two methods."""

    def fit(self, matches: Matches, /) -> Any:
        """Learn from the matches of the training span."""
        ...

    def one_step_ahead(self, matches: Matches, /) -> Forecast:
        """Forecast each match before it is used, and use it."""
        ...


@dataclass(frozen=True, repr=False)
class Backtest:
    """Forecasts of several raters for the same matches, and how good they were.

    Attributes
    ----------
    matches
        The matches that were forecast.
    forecasts
        By name of the rater.
    raters
        As they stand after the last match.
    seconds
        Time each took to fit and to forecast.
    metrics
        Scores that are shown.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=1).results)
    >>> test = kn.backtest(matches, kn.TeamElo.classic(k=16), train_until=matches.date[30])
    >>> len(test.matches), list(test.forecasts), "log_loss" in test.scores.columns
    (30, ['ClassicElo'], True)
    """

    matches: Matches
    forecasts: Mapping[str, Forecast]
    raters: Mapping[str, Forecaster] = field(repr=False)
    seconds: Mapping[str, float] = field(repr=False)
    metrics: tuple[str, ...] = tuple(METRICS)

    def __repr__(self) -> str:
        metric = self.metrics[0]
        found = ", ".join(f"{name} {value:.4f}" for name, value in self.scores.select("rater", metric).iter_rows())
        return f"Backtest of {len(self.matches):,} matches by {metric}: {found}"

    def _repr_html_(self) -> str:
        return Table.of(self.scores, ".4f", below=(f"{len(self.matches):,} matches",)).html()

    def to_dict(self) -> dict[str, Any]:
        """Number of matches and the table of scores, as plain values."""
        return {"matches": len(self.matches), "scores": self.scores.to_dicts()}

    @cached_property
    def scores(self) -> pl.DataFrame:
        """Mean scores of every rater, the best first, and what its forecasts knew of the line-ups."""
        import polars as pl

        rows = []
        for name in self.forecasts:
            knowledge = getattr(self.raters[name], "lineup_knowledge", "not used")
            means = {metric: float(self.match_scores(name, metric).mean()) for metric in self.metrics}
            rows.append({"rater": name, "line-up": knowledge, **means, "seconds": self.seconds[name]})
        first = self.metrics[0]
        return pl.DataFrame(rows).sort(first, descending=first == "accuracy", maintain_order=True)

    def match_scores(self, name: str, metric: str = "log_loss") -> NDArray[np.float64]:
        """Score of every match for one rater."""
        if name not in self.forecasts:
            raise InputError(f"{name!r} was not put to the test; these were: {', '.join(self.forecasts)}.")
        return METRICS[metric](self.forecasts[name].probabilities, self.matches.result)

    @renamed_arguments(samples="resamples")
    def differences(
        self,
        reference: str | None = None,
        *,
        metric: str | None = None,
        resamples: int = 2000,
        confidence: float = 0.95,
        seed: int = 1,
    ) -> pl.DataFrame:
        """Score of every rater minus that of the reference (default: the best), with bootstrap intervals."""
        import polars as pl

        metric = metric or self.metrics[0]
        reference = str(reference or self.scores["rater"][0])
        base = self.match_scores(reference, metric)
        gaps = {name: self.match_scores(name, metric) - base for name in self.forecasts if name != reference}
        if not gaps:
            return pl.DataFrame(
                schema={"rater": pl.String, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64}
            )
        means = _resampled_means(np.column_stack(list(gaps.values())), resamples, seed)
        low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
        return pl.DataFrame(
            {"rater": list(gaps), "difference": [gap.mean() for gap in gaps.values()], "low": low, "high": high}
        ).sort("difference", maintain_order=True)

    def calibration(self, name: str, bins: int = 10) -> pl.DataFrame:
        """How often what was forecast happened: forecasts of each outcome in bins of equal width.

        ``low`` and ``high`` hold the frequency a calibrated forecast would show in 95 of 100 cases.
        """
        import polars as pl

        self.match_scores(name)
        probabilities, happened = self.forecasts[name].probabilities, outcome_shares(self.matches.result)
        parts = []
        for k, outcome in enumerate(OUTCOMES):
            p = probabilities[:, k]
            which = np.minimum((p * bins).astype(int), bins - 1)
            count = np.bincount(which, minlength=bins)
            kept = count > 0
            n = count[kept]
            mean, frequency, spread = (
                np.bincount(which, weights=values, minlength=bins)[kept] / n
                for values in (p, happened[:, k], p * (1 - p))
            )
            reach = 1.96 * np.sqrt(spread / n)
            columns = {
                "forecast": mean,
                "frequency": frequency,
                "low": mean - reach,
                "high": mean + reach,
                "matches": n,
            }
            parts.append(pl.DataFrame({"outcome": [outcome] * n.size, **columns}))
        return pl.concat(parts).with_columns(pl.col("low").clip(0, 1), pl.col("high").clip(0, 1))


def backtest_table(test: Backtest, title: str) -> Table:
    """Scores of every rater, the best first, and how far the others are behind it."""
    gaps = {row["rater"]: row for row in test.differences(test.scores["rater"][0]).iter_rows(named=True)}

    def behind(row: Row) -> str:
        gap = gaps.get(row["rater"])
        return "" if gap is None else f"{gap['difference']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})"

    metrics = [number(name.replace("_", "-"), name, ".4f") for name in test.metrics]
    columns = [words("Rater", "rater"), words("Line-up known", "line-up"), *metrics]
    metric = test.metrics[0].replace("_", "-")
    below = f"Behind the best: mean difference in {metric} with its 95 % bootstrap interval."
    return Table([*columns, Column("behind the best", behind, number=True)], test.scores.to_dicts(), title, (below,))


@overload
def backtest(matches: Contests, raters: Any, *, train_until: Day, metrics: Any = None) -> ContestBacktest: ...
@overload
def backtest(
    matches: Matches | MatchScan,
    raters: Any,
    *,
    train_until: Day,
    metrics: Any = None,
    client: Client | None = None,
    progress: Progress = False,
) -> Backtest: ...
def backtest(
    matches: Matches | MatchScan | Contests,
    raters: Mapping[str, Forecaster] | Iterable[Forecaster] | Forecaster,
    *,
    train_until: Day,
    metrics: Sequence[str] | None = None,
    client: Client | None = None,
    progress: Progress = False,
) -> Backtest | ContestBacktest:
    """Fit raters on the matches before ``train_until`` and score their one-step-ahead forecasts of the rest.

    Parameters
    ----------
    raters
        One, several, or a mapping from names to raters; they are copied, not changed. Anything with ``fit`` and
        ``one_step_ahead`` will do.
    train_until
        First day that is forecast.
    metrics
        Any of log_loss, brier, rps, accuracy; the first one sorts the table. Of contests, any of winner_log_loss,
        order_log_loss, pairs_right, rank_deviation.
    client
        A ``dask.distributed.Client``, to give each rater to one of its workers. The forecasts are the same, to the last
        bit.
    progress
        True says on the terminal which rater is tested and about how long the rest takes; a function is called with
        the same words.

    >>> import kinelo as kn
    >>> days = [f"2020-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    >>> table = {"date": days, "home": ["A", "B", "C"] * 112, "away": ["B", "C", "A"] * 112}
    >>> matches = kn.read_matches(table | {"result": [1, 1, 0, -1] * 84})
    >>> test = kn.backtest(matches, kn.TeamElo.classic(k=16), train_until="2020-07-01")
    >>> test.scores.select("rater", "line-up").row(0), len(test.matches)
    (('ClassicElo', 'not used'), 168)
    """
    named = named_raters(raters)
    if isinstance(matches, Contests):
        return backtest_contests(matches, named, train_until, metrics or tuple(CONTEST_METRICS))
    metrics = tuple(METRICS) if metrics is None else metrics
    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown or not metrics:
        raise InputError(
            f"Metric {', '.join(map(repr, unknown)) or '(none)'} is not known; these are: {', '.join(METRICS)}."
        )
    train, test = _parted(matches, train_until)
    if np.isnan(test.result).any():
        raise InputError("Matches without a result cannot be tested; read them with played=True to reject such rows.")
    if client is None:
        ended = _one_by_one(named, train, test, speaker(progress))
    else:
        check_client(client)
        ended = collected(client, put_to_the_test, list(named.items()), train, test)
    forecasts = {name: forecast.about(test) for name, (forecast, _, _) in zip(named, ended, strict=True)}
    fitted = {name: rater for name, (_, rater, _) in zip(named, ended, strict=True)}
    seconds = {name: taken for name, (_, _, taken) in zip(named, ended, strict=True)}
    done = Backtest(test, forecasts, fitted, seconds, tuple(metrics))
    _doubt(done)
    return done


def _one_by_one(
    named: Mapping[str, Forecaster], train: Any, test: Matches, say: Callable[[str], None]
) -> list[tuple[Forecast, Forecaster, float]]:
    """What each rater forecast; the rest is expected to take as long as the raters before it did on average."""
    ended: list[tuple[Forecast, Forecaster, float]] = []
    for name, rater in named.items():
        taken = sum(seconds for _, _, seconds in ended)
        left = f", about {taken / len(ended) * (len(named) - len(ended)):.0f} s left" if ended else ""
        say(f"Testing {name}, {len(ended) + 1} of {len(named)}{left}")
        ended.append(put_to_the_test((name, rater), train, test))
    return ended


def put_to_the_test(
    named: tuple[str, Forecaster], train: Matches | MatchScan, test: Matches
) -> tuple[Forecast, Forecaster, float]:
    """Forecasts of one rater, the rater as it stands then, and the seconds it took."""
    name, rater = named
    began = time.perf_counter()
    rater.fit(_taken_by(rater, train))
    forecast = _checked(name, rater.one_step_ahead(test), len(test))
    return forecast, rater, time.perf_counter() - began


def _taken_by(rater: Forecaster, train: Matches | MatchScan) -> Any:
    """Matches to fit as a rater takes them: one of the user's own knows nothing of pieces."""
    if isinstance(train, MatchScan) and not hasattr(rater, "needs_whole_table"):
        return train.collect()
    return train


def _parted(matches: Matches | MatchScan, train_until: Day) -> tuple[Any, Matches]:
    """Matches to fit, in pieces where they came so, and matches to test."""
    if isinstance(matches, MatchScan):
        return matches.before(train_until), matches.since(train_until).collect()
    check_matches(matches)
    train, test = matches.before(train_until), matches.since(train_until)
    if not len(train) or not len(test):
        first, last = (str(matches.date[k]) for k in (0, -1)) if len(matches) else ("none", "none")
        raise InputError(
            f"train_until={str(train_until)!r} leaves {len(train)} matches to fit and {len(test)} to test; "
            f"choose a day between {first} and {last}."
        )
    return train, test


def _doubt(test: Backtest) -> None:
    """Warn of forecasts that are too good: no sport is that predictable, so the result has leaked into them."""
    if len(test.matches) < ENOUGH_TO_DOUBT:
        return
    for name in test.forecasts:
        loss = float(test.match_scores(name).mean())
        if loss < TOO_GOOD:
            warnings.warn(
                f"{name} forecast {len(test.matches):,} matches with a log-loss of {loss:.2g}, which is too good to be "
                "true: something tells the result beforehand, such as an order of sides, a venue or a line-up that "
                "depends on who won.",
                KineloWarning,
                stacklevel=3,
            )


def named_raters(raters: Mapping[str, Forecaster] | Iterable[Forecaster] | Forecaster) -> dict[str, Forecaster]:
    """Copies of the raters by name, checked; those of one kind are numbered."""
    named: dict[str, Forecaster] = {}
    if isinstance(raters, Mapping):
        named = {str(name): copy.deepcopy(rater) for name, rater in raters.items()}
    else:
        for rater in list(raters) if isinstance(raters, Iterable) else [raters]:
            kind = type(rater).__name__
            taken = sum(name == kind or name.startswith(f"{kind} ") for name in named)
            named[kind if not taken else f"{kind} {taken + 1}"] = copy.deepcopy(rater)
    if not named:
        raise InputError("There is no rater to test; give at least one.")
    for name, rater in named.items():
        if not callable(getattr(rater, "fit", None)) or not callable(getattr(rater, "one_step_ahead", None)):
            raise InputError(f"{name} is no rater: a rater can fit and say one_step_ahead.")
    return named


def _checked(name: str, forecast: Forecast, matches: int) -> Forecast:
    p = forecast.probabilities
    if p.shape != (matches, 3) or not np.all(p >= 0) or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
        raise InputError(f"{name} did not give {matches} rows of three probabilities that sum to one.")
    return forecast


def _resampled_means(values: NDArray[np.float64], samples: int, seed: int) -> NDArray[np.float64]:
    """Column means of ``values`` over ``samples`` draws of its rows with replacement."""
    generator = np.random.default_rng(seed)
    rows = len(values)
    draws = (np.bincount(generator.integers(0, rows, rows), minlength=rows) for _ in range(samples))
    return np.array([counts @ values / rows for counts in draws])
