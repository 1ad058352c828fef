"""How good forecasts of contests were: the later half, forecast by a rater fitted on the earlier."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl

from kinelo.errors import KineloWarning
from kinelo.forecasts.backtest import backtest
from kinelo.lab.rate.standings import LEAST_IN_BIN, plain
from kinelo.matches.contests import Contests
from kinelo.raters.rank.rater import RankElo
from kinelo.raters.team.rater import TeamElo

LEAST_CONTESTS = 10
OWN_RATER, PLAIN = "RankElo", "plain Elo"
EVENT_WORDS = {"win": "comes first", "top 3": "is among the first three"}


def check_forecasts(contests: Contests) -> tuple[dict[str, Any] | None, pl.DataFrame]:
    """Scores and calibration of forecasts one step ahead, beside those of plain Elo; None where there are too few."""
    day = contests.date[len(contests) // 2]
    if day == contests.date[0] or len(contests.since(day)) < LEAST_CONTESTS:
        return None, pl.DataFrame()
    with warnings.catch_warnings():
        # What there is to say about these contests was said when all of them were fitted.
        warnings.simplefilter("ignore", KineloWarning)
        test = backtest(contests, {OWN_RATER: RankElo(), PLAIN: TeamElo.classic(k=32)}, train_until=day)
    bins = test.calibration(OWN_RATER).filter(pl.col("entries") >= LEAST_IN_BIN)
    rows = [{name: plain(value) for name, value in row.items()} for row in bins.iter_rows(named=True)]
    scores = {row["rater"]: row for row in test.scores.iter_rows(named=True)}
    table = test.forecasts[OWN_RATER].to_polars().with_columns(place=test.contests.place)
    checked = {
        "bins": [{**row, "outcome": EVENT_WORDS[row["event"]], "matches": row["entries"]} for row in rows],
        "outcomes": list(EVENT_WORDS.values()),
        "scores": {metric: plain(scores[OWN_RATER][metric]) for metric in test.metrics},
        "plain": {metric: plain(scores[PLAIN][metric]) for metric in test.metrics},
        "matches": len(test.contests),
        "trained_on": len(contests) - len(test.contests),
    }
    return checked, table
