"""A rated league as the page shows it: leaderboard, histories, and how good the forecasts were."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.charts import calibration_chart, outcome_words
from kinelo.errors import KineloWarning
from kinelo.forecasts.backtest import backtest
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Matches
from kinelo.presentation import percent
from kinelo.raters.choice import rater_called
from kinelo.raters.history import broken_line
from kinelo.raters.tables import board_table, left_out_words, pool_words

MOST_BOARD_ROWS = 5000
MOST_HISTORIES = 24
LEAST_CHECKED = 40
BESIDE_CELLS = ("name", "place", "rating", "uncertainty", "team", "note", "pool")
"""What the page needs of a row beside its cells: to find it, to draw its bar, to say more below its name."""


def summary(found: Matches | Contests) -> dict[str, Any]:
    """What was read."""
    lineups = getattr(found, "lineups", None)
    return {
        "matches": len(found),
        "teams": len(found.present),
        "words": [found.kind.noun, found.kind.who],
        "first": str(found.date[0]) if found.dated else None,
        "last": str(found.date[-1]) if found.dated else None,
        "notes": list(found.notes),
        "lineups": None if lineups is None else int(lineups.known().sum()),
    }


def first_matches(matches: Matches, most: int = 6) -> list[dict[str, Any]]:
    """The first matches as they were read."""
    head = matches[:most]
    table = head.to_polars().select("date", "home", "away", "result", "neutral", *head.conditions)
    if not matches.dated:
        table = table.drop("date")
    lineups = head.lineups
    if lineups is not None:
        sizes = np.diff(lineups.offsets).reshape(-1, 2)
        table = table.with_columns(players=pl.Series([f"{home} and {away}" for home, away in sizes.tolist()]))
    return [
        {name: str(value) if name == "date" else plain(value) for name, value in row.items()}
        for row in table.to_dicts()
    ]


def leaderboard(
    table: pl.DataFrame,
    rated: int,
    ranking: Mapping[str, Any],
    then: Mapping[str, int] | None = None,
    noun: str = "matches",
    everyone: str = "",
) -> dict[str, Any]:
    """A ranking: the table that every surface shows, and what the page does with a row beside its cells.

    ``left_out`` says how many are rated but not ranked, ``everyone`` that all are because nobody qualifies. ``then``
    are places at an earlier day; a row says what became of them: ``before``, None for who was not ranked.
    """
    listed = table.head(MOST_BOARD_ROWS)
    shown = board_table(listed, noun=noun, narrow=True).to_dict()
    kept = [name for name in BESIDE_CELLS if name in listed.columns]
    rows = [
        {name: plain(row[name]) for name in kept} | {"cells": cells}
        for row, cells in zip(listed.iter_rows(named=True), shown["rows"])
    ]
    if then is not None:
        rows = [{**row, "before": then.get(row["name"])} for row in rows]
    pools = listed["pool"].unique(maintain_order=True) if "pool" in listed.columns else []
    return {
        "columns": shown["columns"],
        "rows": rows,
        "more": table.height - listed.height,
        "everyone": everyone,
        "left_out": left_out_words(rated - table.height, noun),
        "pools": {pool: pool_words(pool) for pool in pools} if len(pools) > 1 else {},
        "ranking": dict(ranking),
    }


def histories(history: pl.DataFrame, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rating over time of those at the top of the table."""
    shown = table["name"].head(MOST_HISTORIES).to_list()
    stops = history["date"].unique().sort().to_numpy()
    parts = history.filter(pl.col("name").is_in(shown)).partition_by("name", as_dict=True)
    lines = []
    for name in shown:
        part = parts.get((name,))
        if part is not None:
            date, rating, _ = broken_line(part, stops)
            days = np.datetime_as_string(date.astype("datetime64[D]")).tolist()
            lines.append({"name": name, "date": days, "rating": [plain(float(value), 2) for value in rating]})
    return lines


def plain(value: Any, digits: int = 6) -> Any:
    """Numbers short enough to send, and None for what is none.

    >>> plain(math.nan), plain(1 / 3), plain("A")
    (None, 0.333333, 'A')
    """
    if isinstance(value, float):
        return round(value, digits) if math.isfinite(value) else None
    return value


def calibration(
    kind: str,
    matches: Matches,
    conditions: Sequence[str] = (),
    noise_by: Sequence[str] = (),
    covariates: Sequence[str] = (),
) -> tuple[dict[str, Any] | None, pl.DataFrame]:
    """Forecasts of the later half, made by a rater fitted on the earlier, and how they compare with what happened."""
    day = matches.date[len(matches) // 2]
    if day == matches.date[0] or len(matches.since(day)) < LEAST_CHECKED:
        return None, pl.DataFrame()
    with warnings.catch_warnings():
        # What there is to say about these matches was said when all of them were fitted.
        warnings.simplefilter("ignore", KineloWarning)
        test = backtest(matches, {kind: rater_called(kind, None, conditions, noise_by, covariates)}, train_until=day)
    scores = test.scores.row(0, named=True)
    table = test.forecasts[kind].to_polars().with_columns(result=test.matches.result)
    sentence = (
        f"The log-loss is {scores['log_loss']:.4f}, the Brier score {scores['brier']:.3f}; the likeliest outcome "
        f"happened in {percent(scores['accuracy'])} of cases."
    )
    chart = calibration_chart(test.calibration(kind), outcome_words(matches))
    return {"chart": chart.to_dict(), "words": f"{forecast_words(matches, test.matches)} {sentence}"}, table


def forecast_words(played: Matches | Contests, tested: Matches | Contests) -> str:
    """How forecasts were made and what their chart shows."""
    return (
        f"A rater that had seen only the first {len(played) - len(tested):,} {played.kind.noun} forecast the other "
        f"{len(tested):,}, one by one. A dot on the dashed line is a chance that came true as often as it was given; "
        "a calibrated forecast lies within its line in 95 of 100 cases."
    )
