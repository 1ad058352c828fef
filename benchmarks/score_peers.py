"""Exact scores beside penaltyblog's models: ``python score_peers.py wyscout internationals``.

Its models are refitted every four weeks (internationals: every quarter of a year) on the matches before, of the last
eight years, with weights that decay; the decay is chosen among four on the last part of the training span. Sides that a
model has not met are forecast by how often each score was seen. Losses are ``−log`` of the chance of the exact score,
of more or fewer than 2.5 goals, and of win, draw and loss. penaltyblog is installed by hand, since Kinelo does not need
it.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import kinelo as kn
from kinelo.raters.scores.forecast import goals_of

Array = NDArray[np.float64]
DECAYS = (0.0005, 0.001, 0.002, 0.004)
YEARS, MOST_GOALS = 8, 30
TINY = 1e-15


class Span(NamedTuple):
    """A set: its file, the first day that is forecast or the share of matches before it, and days between refits."""

    path: str
    begins: Any
    refit_days: int


SETS = {
    "wyscout": Span("wyscout/matches.csv", 0.5, 28),
    "internationals": Span("intl_football/matches.csv", "2022-01-01", 91),
}


def losses_of(grid: Array, home: int, away: int) -> tuple[float, float, float]:
    """Losses of one score by a grid of chances: of the score, of 2.5 goals, of the outcome."""
    x, y = np.indices(grid.shape)
    over, outcome = grid[x + y > 2.5].sum(), grid[np.sign(x - y) == np.sign(home - away)].sum()
    chances = grid[home, away], over if home + away > 2.5 else 1.0 - over, outcome
    return tuple(-np.log(max(chance, TINY)) for chance in chances)  # type: ignore[return-value]


def peer_losses(
    matches: Any, begins: int, ends: int, model: Callable[..., Any], decay: float, refit_days: int
) -> Array:
    """Losses of the matches from ``begins`` on, by a model that is refitted every so many days."""
    home, away = goals_of(matches)
    names = np.array(matches.teams)
    rows: list[tuple[float, float, float]] = []
    fitted: Any = None
    since = -(10**9)
    for k in range(begins, ends):
        if matches.day[k] >= since + refit_days:
            since = int(matches.day[k])
            part = np.flatnonzero((matches.day < since) & (matches.day >= since - 365 * YEARS) & (home >= 0))
            seen = np.zeros((MOST_GOALS + 1, MOST_GOALS + 1))
            np.add.at(seen, (home[part], away[part]), 1.0)
            seen = (seen + 1e-3) / (seen + 1e-3).sum()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = model(
                    home[part], away[part], names[matches.home[part]], names[matches.away[part]],
                    np.exp(-decay * (since - matches.day[part])), matches.neutral[part].astype(int),
                )  # fmt: skip
                fitted.fit()
            known = {*names[matches.home[part]], *names[matches.away[part]]}
        pair = names[matches.home[k]], names[matches.away[k]]
        grid = seen
        if known.issuperset(pair):
            grid = np.asarray(fitted.predict(*pair, MOST_GOALS, True, bool(matches.neutral[k])).grid)
        rows.append(losses_of(grid, int(home[k]), int(away[k])))
    return np.array(rows)


def our_losses(matches: Any, begins: int, rater: Any) -> Array:
    """Losses of the matches from ``begins`` on, one step ahead."""
    forecast = rater.fit(matches[:begins]).one_step_ahead(matches[begins:])
    coming = matches[begins:]
    totals = forecast.totals(2.5)
    of_total = np.where(coming.total > 2.5, totals[:, 0], totals[:, 2])
    outcome = (1.0 - np.sign(coming.margin)).astype(int)
    of_outcome = forecast.probabilities[np.arange(len(coming)), outcome]
    both = -np.log(np.maximum(np.column_stack([of_total, of_outcome]), TINY))
    return np.column_stack([forecast.score_losses(coming), both])


def compare(name: str) -> pl.DataFrame:
    """Losses of ours and of every model of penaltyblog on one set."""
    from penaltyblog import models

    matches = kn.read_matches(Path(os.environ["KINELO_DATA"]) / SETS[name].path)
    begins = SETS[name].begins
    first = (
        int(begins * len(matches))
        if isinstance(begins, float)
        else int(np.searchsorted(matches.date, np.datetime64(begins)))
    )
    trial = max(first - len(matches[first:]) // 4, first * 3 // 4)
    peers = {
        "Dixon–Coles": models.DixonColesGoalModel,
        "bivariate Poisson": models.BivariatePoissonGoalModel,
        "negative binomial": models.NegativeBinomialGoalModel,
    }
    days = SETS[name].refit_days
    decay = min(DECAYS, key=lambda d: peer_losses(matches, trial, first, peers["Dixon–Coles"], d, days)[:, 0].mean())
    rows, ours = [], our_losses(matches, first, kn.ScoreElo())
    rows.append(("ScoreElo", 0.0, *ours.mean(axis=0), 0.0, 0.0))
    for peer, model in peers.items():
        began = time.process_time()
        theirs = peer_losses(matches, first, len(matches), model, decay, days)
        further = theirs[:, 0] - ours[:, 0]
        error = further.std() / np.sqrt(len(further))
        rows.append((peer, time.process_time() - began, *theirs.mean(axis=0), further.mean(), error))
        print(rows[-1], flush=True)
    print(name, len(ours), "matches, decay", decay)
    schema = ["model", "seconds", "score", "total", "outcome", "further", "error"]
    return pl.DataFrame(rows, schema=schema, orient="row")


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        with pl.Config(tbl_rows=-1, tbl_width_chars=160):
            print(compare(asked), flush=True)
