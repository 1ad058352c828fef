"""The page of one side: its ratings and places through time, its biggest upsets, and what comes next."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.lab.rate.standings import plain
from kinelo.matches.matches import Matches
from kinelo.raters.explanation import explain_last
from kinelo.raters.history import broken_line, rating_history
from kinelo.raters.leaderboard import ACTIVE_DAYS
from kinelo.raters.questions import answers
from kinelo.raters.rater import Rater

TEAM_STOPS = 300
"""Days of a side's own matches at which its rating is shown."""
UPSETS_LISTED = 6
EXPLAINED = 5
"""Matches whose changes are explained."""


def team_page(
    rater: Rater, matches: Matches, name: str, history: pl.DataFrame, surprises: pl.DataFrame
) -> dict[str, Any]:
    """What there is to say of one side: today's rating, history, places and upsets."""
    today = _today(rater).filter(pl.col("name") == name)
    if not today.height:
        raise InputError(f"{name!r:.80} is not rated in this league.")
    path = rating_history(rater, matches, TEAM_STOPS, side=name)
    now = today.row(0, named=True)
    return {
        "name": name,
        "today": {key: plain(now[key], 2) for key in ("rating", "uncertainty", "matches")},
        "last_played": str(now["last_played"]) if matches.dated else None,
        "history": history_of(path, path["date"].to_numpy()),
        "ranks": ranks_of(history, name),
        "upsets": _upsets_of(name, surprises),
    }


def why_moved(rater: Any, played: Any, name: str) -> dict[str, Any]:
    """Why a rating moved over the last matches, in words and as a table that adds up."""
    if not answers(rater, "explain_last"):
        return {"words": f"{type(rater).__name__} cannot say why ratings moved.", "table": None}
    told = explain_last(rater, name, played, last=EXPLAINED)
    return {"words": told.summary(), "lines": told.lines()[1:][::-1], "table": told.table().to_dict()}


def history_of(own: pl.DataFrame, stops: NDArray) -> dict[str, list]:
    """Dates, ratings and uncertainties of one name, broken where it did not play for a year."""
    date, rating, doubt = broken_line(own, stops)
    return {
        "date": np.datetime_as_string(date.astype("datetime64[D]")).tolist(),
        "rating": [plain(float(one), 2) for one in rating],
        "uncertainty": [plain(float(one), 2) for one in doubt],
        "matches": own["matches"].to_list(),
    }


def _today(rater: Rater) -> pl.DataFrame:
    """Ratings with the uncertainty of today, which is the day of the last match."""
    return cast(Any, rater).ratings_on() if hasattr(rater, "ratings_on") else rater.ratings_


def ranks_of(history: pl.DataFrame, name: str, active_days: int = ACTIVE_DAYS) -> dict[str, list]:
    """Place of a side by rating at every date of a history, among those who had played within a year of it.

    >>> from datetime import date
    >>> day, later = date(2024, 1, 1), date(2024, 2, 1)
    >>> rows = {"date": [day, day, later], "name": ["A", "B", "B"], "rating": [10.0, 9.0, 11.0],
    ...         "last_played": [day, day, later]}
    >>> ranks_of(pl.DataFrame(rows), "A")
    {'date': ['2024-01-01', '2024-02-01'], 'place': [1, 2], 'of': [2, 2]}
    """
    dates = history["date"].unique().sort()
    names = history["name"].unique(maintain_order=True)
    row = dates.search_sorted(history["date"]).to_numpy()
    code = {one: k for k, one in enumerate(names.to_list())}
    column = np.array([code[one] for one in history["name"].to_list()])
    rating = np.full((dates.len(), names.len()), np.nan)
    played = np.full(rating.shape, np.datetime64("NaT"), "datetime64[D]")
    rating[row, column] = history["rating"].to_numpy()
    played[row, column] = history["last_played"].to_numpy().astype("datetime64[D]")
    day = dates.to_numpy().astype("datetime64[D]")
    for k in range(1, len(day)):
        missing = np.isnan(rating[k])
        rating[k, missing], played[k, missing] = rating[k - 1, missing], played[k - 1, missing]
    active = (day[:, None] - played).astype("timedelta64[D]").astype(float) <= active_days
    active &= ~np.isnan(rating)
    own = rating[:, code[name]] if name in code else np.full(len(day), np.nan)
    place = 1 + ((rating > own[:, None]) & active).sum(axis=1)
    here = active[:, code[name]] if name in code else np.zeros(len(day), bool)
    return {
        "date": np.datetime_as_string(day).tolist(),
        "place": [int(one) if there else None for one, there in zip(place, here)],
        "of": active.sum(axis=1).tolist(),
    }


def _upsets_of(name: str, surprises: pl.DataFrame) -> list[dict[str, Any]]:
    own = surprises.filter((pl.col("home") == name) | (pl.col("away") == name)).head(UPSETS_LISTED)
    return [
        {key: str(value) if key == "date" else plain(value) for key, value in row.items()}
        for row in own.iter_rows(named=True)
    ]


def fixtures_of(rater: Rater, fixtures: Matches | None, name: str) -> list[dict[str, Any]]:
    """Matches of a side that are to come, with their forecasts."""
    if fixtures is None or name not in fixtures.teams:
        return []
    code = fixtures.teams.index(name)
    coming = fixtures[np.isnan(fixtures.result) & ((fixtures.home == code) | (fixtures.away == code))][:UPSETS_LISTED]
    if not len(coming):
        return []
    chances = copy.deepcopy(rater).predict(coming).probabilities
    table = coming.to_polars()
    return [
        {"date": str(row["date"]), "home": row["home"], "away": row["away"], "neutral": bool(row["neutral"]),
         "win": plain(float(p[0])), "draw": plain(float(p[1])), "loss": plain(float(p[2]))}
        for row, p in zip(table.iter_rows(named=True), chances)
    ]  # fmt: skip
