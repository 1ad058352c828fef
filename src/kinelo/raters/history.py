"""How ratings moved: the standing of everyone at a number of dates along the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import whole
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.rater import Rater


def rating_history(rater: Rater | Any, matches: Matches, points: int = 200, *, hindsight: bool = False) -> pl.DataFrame:
    """Ratings at up to ``points`` dates: date, name, rating, uncertainty, matches, last_played.

    The rater's parameters are taken as they stand; the rater itself is left alone. Whoever has not played since the
    date before is left out, so that a line ends where a side stops playing. Ratings are those of the day, as they were
    seen then; with ``hindsight`` they are what all the matches, before and after, say of that day
    (:class:`KalmanElo`, :class:`PlayerElo`).

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "A"],
    ...                            "result": [1, 1]})
    >>> history = rating_history(kn.TeamElo.classic(), matches)
    >>> history.select("date", "name").rows()[0], history.height
    ((datetime.date(2024, 1, 1), 'A'), 4)
    """
    check_matches(matches)
    if not isinstance(rater, Rater) and not callable(getattr(rater, "fit", None)):
        raise InputError(f"rater must be a rater such as TeamElo, not {type(rater).__name__}.")
    if whole("points", points, 0) < 2 or len(matches) == 0:
        raise InputError(f"A history needs matches and at least 2 points, not {len(matches)} and {points}.")
    looking_back: Any = getattr(rater, "hindsight", None)
    if hindsight and looking_back is None:
        raise InputError(f"{type(rater).__name__} has no hindsight: it keeps no account of how ratings hang together.")
    last_of_day = np.flatnonzero(np.append(matches.date[1:] != matches.date[:-1], True)) + 1
    chosen = np.unique(np.linspace(0, last_of_day.size - 1, min(points, last_of_day.size)).round().astype(int))
    stops = last_of_day[chosen].tolist()
    tables = looking_back(matches, stops) if hindsight else _seen_then(rater, matches, stops)
    frames, done = [], 0
    for stop, ratings in zip(stops, tables, strict=True):
        since = matches.date[done]
        table = ratings.filter(pl.col("last_played") >= pl.lit(since.item()))
        day = pl.Series("date", [matches.date[stop - 1].item()] * table.height, dtype=pl.Date)
        frames.append(table.insert_column(0, day))
        done = stop
    return pl.concat(frames)


def _seen_then(rater: Rater | Any, matches: Matches, stops: list[int]) -> Iterator[pl.DataFrame]:
    """Ratings after so many matches, from those before alone."""
    walker, done = blank_of(rater), 0
    for stop in stops:
        carry_on(walker, matches[done:stop])
        yield walker.ratings_
        done = stop
