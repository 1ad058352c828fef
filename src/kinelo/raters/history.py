"""How ratings moved: the standing of everyone at a number of dates along the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import whole
from kinelo.raters.guest import blank_of, carry_on
from kinelo.raters.rater import Rater


def rating_history(rater: Rater | Any, matches: Matches, points: int = 200) -> pl.DataFrame:
    """Ratings at up to ``points`` dates: date, name, rating, uncertainty, matches, last_played.

    The rater's parameters are taken as they stand; the rater itself is left alone. Whoever has not played since the
    date before is left out, so that a line ends where a side stops playing.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "A"],
    ...                            "result": [1, 1]})
    >>> history = rating_history(kn.TeamElo.classic(), matches)
    >>> history.select("date", "name").rows()[0], history.height
    ((datetime.date(2024, 1, 1), 'A'), 4)
    """
    check_matches(matches)
    if not isinstance(rater, Rater) and not callable(getattr(rater, "fit", None)):
        raise InputError(f"rater must be a rater such as TeamElo, not {type(rater).__name__}")
    if whole("points", points, 0) < 2 or len(matches) == 0:
        raise InputError(f"a history needs matches and at least 2 points, not {len(matches)} and {points}")
    walker = blank_of(rater)
    last_of_day = np.flatnonzero(np.append(matches.date[1:] != matches.date[:-1], True)) + 1
    chosen = np.unique(np.linspace(0, last_of_day.size - 1, min(points, last_of_day.size)).round().astype(int))
    frames, done = [], 0
    for stop in last_of_day[chosen]:
        carry_on(walker, matches[done:stop])
        since = matches.date[done]
        table = walker.ratings_.filter(pl.col("last_played") >= pl.lit(since.item()))
        day = pl.Series("date", [matches.date[stop - 1].item()] * table.height, dtype=pl.Date)
        frames.append(table.insert_column(0, day))
        done = stop
    return pl.concat(frames)
