"""Exact scores beside penaltyblog's models, and points beside a plain normal law: ``python score_peers.py wyscout
internationals nba``.

Its models are refitted every four weeks (internationals: every quarter of a year) on the matches before, of the last
eight years, with weights that decay; the decay is chosen among four on the last part of the training span. Sides that a
model has not met are forecast by how often each score was seen. Losses are ``−log`` of the chance of the exact score,
of more or fewer than 2.5 goals, and of win, draw and loss. penaltyblog is installed by hand, since Kinelo does not need
it.

Of points (``nba``, from October 2021 on) the peer is what anybody would write: margins are normal around a home edge
and a multiple of the difference of plain Elo ratings, totals around a multiple of the mean of the latest matches of the
league and of those of both sides, each by least squares on the matches before, as are the standard deviations; the step
of Elo and how many matches are the latest are those with the least error there. Losses are ``−log`` of the chance of
the exact score, margin and total and of more points than the league's mean, beside shares inside the middle 80 %.
"""

from __future__ import annotations

import math
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
from scipy.special import ndtr

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


def latest_mean(values: Array, count: int) -> Array:
    """Mean of so many values before each, or of all that there are."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(values.size)
    first = np.maximum(at - count, 0)
    return np.where(at > 0, (sums[at] - sums[first]) / np.maximum(at - first, 1), values.mean())


def normal_peer(columns: list[Array], wanted: Array, first: int) -> tuple[Array, float]:
    """Means by least squares on the matches before the first that is forecast, and the deviation around them."""
    X = np.column_stack(columns)
    means = X @ np.linalg.lstsq(X[:first], wanted[:first], rcond=None)[0]
    return means, float((wanted - means)[:first].std())


def points() -> pl.DataFrame:
    """Losses of ours and of a normal law on games of basketball."""
    matches = kn.read_matches(Path(os.environ["KINELO_DATA"]) / "nba" / "matches.csv")
    matches = matches[np.flatnonzero(goals_of(matches)[0] >= 0)]
    first = int(np.searchsorted(matches.date, np.datetime64("2021-10-01")))
    margin, total = matches.margin, np.asarray(matches.total)
    at_home, league = 1.0 - matches.neutral, latest_mean(total, 1000)
    margins, totals = [], []
    for k in (10.0, 20.0, 30.0, 40.0):
        before = kn.TeamElo.classic(k=k, home_advantage=0.0).one_step_ahead(matches).ratings_before
        margins.append(normal_peer([at_home, before[:, 0] - before[:, 1]], margin, first))
    for count in (10, 20, 40, 80):
        sides = np.empty((len(matches), 2))
        for team in range(len(matches.teams)):
            own = np.flatnonzero((matches.home == team) | (matches.away == team))
            sides[own, (matches.away[own] == team).astype(int)] = latest_mean(total[own], count)
        totals.append(normal_peer([np.ones(len(matches)), league, *sides.T], total, first))
    (m, s), (t, w) = (min(found, key=lambda one: one[1]) for found in (margins, totals))
    m, t, margin, total, line = m[first:], t[first:], margin[first:], total[first:], np.floor(league[first:]) + 0.5

    def density(x: Array, mean: Array, deviation: float) -> Array:
        return np.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi))

    by_margin, by_total = density(margin, m, s) / (1.0 - density(np.zeros(m.size), m, s)), density(total, t, w)
    over = 1.0 - ndtr((line - t) / w)
    reach = 1.2815515655446004
    inside = [np.abs(margin - m) <= reach * s, np.abs(total - t) <= reach * w]
    peer = [2.0 * by_margin * by_total, by_margin, by_total, np.where(total > line, over, 1.0 - over)]
    forecast = kn.ScoreElo().fit(matches[:first]).one_step_ahead(matches[first:])
    at, found = 0, []
    for grids in forecast._grids():
        for grid in grids:
            n = len(grid)
            of_total = np.bincount(np.add.outer(np.arange(n), np.arange(n)).ravel(), grid.ravel())
            of_margin = np.bincount(np.subtract.outer(np.arange(n), np.arange(n)).ravel() + n - 1, grid.ravel())
            d, N = int(margin[at]) + n - 1, int(total[at])
            home, away = (N + d - n + 1) // 2, (N - d + n - 1) // 2
            more = of_total[int(line[at] + 0.5) :].sum()
            below = [law[:x].sum() + 0.5 * law[x] for law, x in ((of_margin, d), (of_total, N))]
            found.append((grid[home, away], of_margin[d], of_total[N], more if line[at] < N else 1.0 - more, *below))
            at += 1
    ours = np.array(found).T
    rows = []
    for name, mine, theirs in zip(("score", "margin", "total", "over the league's mean"), ours, peer, strict=False):
        further = -np.log(np.maximum(theirs, TINY)) + np.log(np.maximum(mine, TINY))
        rows.append((name, -np.log(mine).mean(), further.mean(), further.std() / math.sqrt(at), math.nan, math.nan))
    for k, name in enumerate(("margin", "total")):
        within = np.abs(ours[4 + k] - 0.5) <= 0.4
        rows.append((f"{name} inside 80 %", math.nan, math.nan, math.nan, within.mean(), inside[k].mean()))
    print("nba", at, "games; deviations of the peer", s, w)
    schema = ["what", "ScoreElo", "further", "error", "inside", "inside_peer"]
    return pl.DataFrame(rows, schema=schema, orient="row")


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        with pl.Config(tbl_rows=-1, tbl_width_chars=160):
            print(points() if asked == "nba" else compare(asked), flush=True)
