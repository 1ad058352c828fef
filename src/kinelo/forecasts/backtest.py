"""Forecasts put to the test, strictly in order of time.

Each rater is fitted on the matches before a day and then forecasts every later match from the matches before it, using
it only afterwards. Nothing is fitted again.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.comparison import Comparison, binned
from kinelo.forecasts.contest_scores import ContestBacktest
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.scores import METRICS, outcome_shares
from kinelo.matches.contests import Contests
from kinelo.matches.dated import Day, check_played
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind, kind_of
from kinelo.matches.matches import Matches
from kinelo.matches.scan import MatchScan
from kinelo.presentation import counted
from kinelo.runtime.progress import Progress, speaker
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
class Backtest(Comparison):
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
    raters: Mapping[str, Forecaster]
    seconds: Mapping[str, float]
    metrics: tuple[str, ...] = tuple(METRICS)
    noun: ClassVar[str] = "matches"
    highest_best: ClassVar[tuple[str, ...]] = ("accuracy",)
    known_metrics: ClassVar[tuple[str, ...]] = tuple(METRICS)

    @staticmethod
    def _accepted(name: str, forecast: Any, tested: Any) -> Forecast:
        if not isinstance(forecast, Forecast):
            raise InputError(f"{name} does not forecast matches: one_step_ahead gave {type(forecast).__name__}.")
        p = forecast.probabilities
        if p.shape != (len(tested), 3) or not np.all(p >= 0) or not np.allclose(p.sum(axis=1), 1.0, atol=1e-6):
            raise InputError(
                f"{name} did not give {counted(len(tested), 'row', 'rows')} of three probabilities that sum to one."
            )
        return forecast

    @property
    def number(self) -> int:
        """How many matches were forecast."""
        return len(self.matches)

    def _about(self, name: str) -> dict[str, str]:
        return {"line-up": getattr(self.raters[name], "_lineup_knowledge", "not used")}

    def _scored(self, name: str, metric: str) -> NDArray[np.float64]:
        return METRICS[metric](self.forecasts[name].probabilities, self.matches.result)

    def match_scores(self, name: str, metric: str = "log_loss") -> NDArray[np.float64]:
        """Score of every match for one rater."""
        return self._score(name, metric)

    def calibration(self, name: str, bins: int = 10) -> pl.DataFrame:
        """How often what was forecast happened: forecasts of each outcome in bins of equal width.

        ``low`` and ``high`` hold the frequency a calibrated forecast would show in 95 of 100 cases.
        """
        import polars as pl

        self.match_scores(name)
        probabilities, happened = self.forecasts[name].probabilities, outcome_shares(self.matches.result)
        parts = []
        for k, outcome in enumerate(OUTCOMES):
            columns = binned(probabilities[:, k], happened[:, k], bins)
            columns["matches"] = columns.pop("number")
            parts.append(pl.DataFrame({"outcome": [outcome] * columns["matches"].size, **columns}))
        return pl.concat(parts)


@overload
def backtest(
    matches: Contests,
    raters: Any,
    *,
    train_until: Day | float,
    metrics: Any = None,
    client: Client | None = None,
    progress: Progress = False,
) -> ContestBacktest: ...
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
    train_until: Day | float,
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
        First day that is forecast. Of contests without dates, the first contest that is, how many come before it, or
        which share of them.
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
    kind = BACKTESTS[kind_of(matches)]
    metrics = kind.known_metrics if metrics is None else metrics
    if not isinstance(metrics, list | tuple | set | frozenset | dict):
        raise InputError(f"metrics must be a list of {', '.join(kind.known_metrics)}, not {metrics!r:.60}.")
    unknown = [metric for metric in metrics if metric not in kind.known_metrics]
    if unknown or not metrics:
        raise InputError(
            f"Metric {', '.join(map(repr, unknown)) or '(none)'} is not known of {kind.noun}; these are: "
            f"{', '.join(kind.known_metrics)}."
        )
    train, test = _parted(matches, train_until)
    if np.isnan(test.outcome).any():
        raise InputError(
            f"{kind.noun.capitalize()} without a result cannot be tested; read them with played=True to reject such "
            "rows."
        )
    if client is None:
        ended = _one_by_one(named, train, test, speaker(progress))
    else:
        check_client(client)
        ended = collected(client, put_to_the_test, list(named.items()), train, test)
    forecasts = {name: forecast.about(test) for name, (forecast, _, _) in zip(named, ended, strict=True)}
    fitted = {name: rater for name, (_, rater, _) in zip(named, ended, strict=True)}
    seconds = {name: taken for name, (_, _, taken) in zip(named, ended, strict=True)}
    done: Any = kind(test, forecasts, fitted, seconds, tuple(metrics))
    if isinstance(done, Backtest) and len(done.matches) >= ENOUGH_TO_DOUBT:
        for name in done.forecasts:
            loss = float(done.match_scores(name).mean())
            if loss < TOO_GOOD:  # no sport is that predictable
                warn(
                    f"{name} forecast {len(done.matches):,} matches with a log-loss of {loss:.2g}, which is too good "
                    "to be true: something tells the result beforehand, such as an order of sides, a venue or a "
                    "line-up that depends on who won."
                )
    return done


def _one_by_one(
    named: Mapping[str, Forecaster], train: Any, test: Any, say: Callable[[str], None]
) -> list[tuple[Any, Forecaster, float]]:
    """What each rater forecast; the rest is expected to take as long as the raters before it did on average."""
    ended: list[tuple[Any, Forecaster, float]] = []
    for name, rater in named.items():
        taken = sum(seconds for _, _, seconds in ended)
        left = f", about {taken / len(ended) * (len(named) - len(ended)):.0f} s left" if ended else ""
        say(f"Testing {name}, {len(ended) + 1} of {len(named)}{left}")
        ended.append(put_to_the_test((name, rater), train, test))
    return ended


def put_to_the_test(
    named: tuple[str, Forecaster], train: Matches | MatchScan, test: Any
) -> tuple[Any, Forecaster, float]:
    """Forecasts of one rater, the rater as it stands then, and the seconds it took."""
    name, rater = named
    began = time.perf_counter()
    # One of the user's own knows nothing of pieces.
    taken: Any = train if hasattr(rater, "_needs_whole_table") else train.collect()
    rater.fit(taken)
    forecast = BACKTESTS[test.kind]._accepted(name, rater.one_step_ahead(test), test)
    return forecast, rater, time.perf_counter() - began


def _parted(matches: Any, train_until: Any) -> tuple[Any, Any]:
    """Matches to fit, in pieces where they came so, and matches to test; likewise contests."""
    check_played(matches, scans=kind_of(matches) is MATCHES)
    noun = matches.kind.noun
    train, test = matches.before(train_until), matches.since(train_until).collect()
    if matches.in_memory and (not len(train) or not len(test)):
        first, last = (str(matches.date[k]) for k in (0, -1)) if len(matches) else ("none", "none")
        instead = f"choose a day between {first} and {last}" if matches.dated or noun == "matches" else "choose another"
        raise InputError(
            f"train_until={str(train_until)!r} leaves {kind_of(matches).counted(len(train))} to fit and "
            f"{len(test)} to test; {instead}."
        )
    return train, test


def named_raters(raters: Mapping[str, Forecaster] | Iterable[Forecaster] | Forecaster) -> dict[str, Forecaster]:
    """Copies of the raters by name, checked; those of one kind are numbered."""
    named: dict[str, Forecaster] = {}
    if isinstance(raters, Mapping):
        named = {str(name): copy.deepcopy(_checked_rater(str(name), rater)) for name, rater in raters.items()}
    else:
        single = (
            isinstance(raters, str | bytes) or not isinstance(raters, Iterable) or getattr(raters, "shape", 1) == ()
        )
        several: Iterable[Any] = [raters] if single else raters  # pyright: ignore[reportAssignmentType]
        for rater in several:
            kind = type(rater).__name__
            _checked_rater(kind, rater)
            taken = sum(name == kind or name.startswith(f"{kind} ") for name in named)
            named[kind if not taken else f"{kind} {taken + 1}"] = copy.deepcopy(rater)
    if not named:
        raise InputError("There is no rater to test; give at least one.")
    return named


def _checked_rater(name: str, rater: Any) -> Any:
    """A rater, or a sentence; before anything is copied or made of it."""
    if isinstance(rater, type):
        raise InputError(f"{rater.__name__:.80} is a class; make a rater of it: {rater.__name__:.80}().")
    if not callable(getattr(rater, "fit", None)) or not callable(getattr(rater, "one_step_ahead", None)):
        raise InputError(f"{name:.80} is no rater: a rater can fit and say one_step_ahead.")
    return rater


BACKTESTS: dict[Kind, type[Backtest] | type[ContestBacktest]] = {MATCHES: Backtest, CONTESTS: ContestBacktest}
"""What comes of a backtest of each kind."""
