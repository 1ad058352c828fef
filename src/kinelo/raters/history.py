"""How ratings moved: the ratings of everyone at a number of dates along the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.dated import check_played
from kinelo.matches.matches import Matches
from kinelo.model.validation import whole
from kinelo.raters.adapter import blank_of, carry_on
from kinelo.raters.qualifying import ACTIVE_DAYS
from kinelo.raters.questions import matches_of
from kinelo.raters.rater import Rater


def rating_history(
    rated: Rater | Any,
    matches: Matches | Contests | None = None,
    points: int = 200,
    *,
    hindsight: bool = False,
    side: str | None = None,
) -> pl.DataFrame:
    """Ratings at up to ``points`` dates: date, name, rating, uncertainty, matches, last_played; of contests, also kind.

    Without ``matches`` it follows those of a rating book, or those that a rater was fitted on. The rater's parameters
    are taken as they stand; the rater itself is left alone. Whoever has not played since the date before is left out,
    so that a line ends where a side stops playing. Ratings are those of the day, as they were seen then; with
    ``hindsight`` they are what all the matches, before and after, say of that day (:class:`KalmanElo`,
    :class:`PlayerElo`, :class:`RankElo`).

    With ``side``, the dates are those on which this side played, the first and last match around a long rest among
    them, and the table holds this side alone. Of contests it is the name of anybody (or any car) that is rated.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "A"],
    ...                            "result": [1, 1]})
    >>> history = rating_history(kn.TeamElo.classic(), matches)
    >>> history.select("date", "name").rows()[0], history.height
    ((datetime.date(2024, 1, 1), 'A'), 4)
    """
    rater = getattr(rated, "rater", rated)  # a book has a rater
    if not isinstance(rater, Rater) and not callable(getattr(rater, "fit", None)):
        raise InputError(f"rated must be a rater such as TeamElo, or a rating book, not {type(rater).__name__}.")
    matches = cast("Matches | Contests", matches_of(rated) if matches is None else matches)
    check_played(matches)
    if whole("points", points, 0) < 2 or len(matches) == 0:
        raise InputError(f"A history needs matches and at least 2 points, not {len(matches)} and {points}.")
    if side is not None and not isinstance(side, str):
        raise InputError(f"side must be a name, not {side!r:.60}.")
    looking_back: Any = getattr(rater, "_hindsight" if isinstance(rater, Rater) else "hindsight", None)
    if hindsight and looking_back is None:
        raise InputError(f"{type(rater).__name__} has no hindsight: it keeps no account of how ratings hang together.")
    last_of_day = np.flatnonzero(np.append(matches.date[1:] != matches.date[:-1], True)) + 1
    if side is not None:
        plays = matches.plays(side)
        if not plays.any():
            raise InputError(f"{side!r:.80} played none of these matches; names are written as in the results.")
        last_of_day = last_of_day[np.isin(matches.date[last_of_day - 1], matches.date[plays])]
    chosen = np.linspace(0, last_of_day.size - 1, min(points, last_of_day.size)).round().astype(int)
    if side is not None:
        days = matches.date[last_of_day - 1].astype(np.int64)
        rests = np.flatnonzero(np.diff(days) >= ACTIVE_DAYS)
        chosen = np.concatenate([chosen, rests, rests + 1])
    stops = last_of_day[np.unique(chosen)].tolist()
    tables = looking_back(matches, stops) if hindsight else _tables_then(rater, cast("Matches", matches), stops)
    frames, done = [], 0
    for stop, ratings in zip(stops, tables, strict=True):
        since = matches.date[done]
        table = ratings.filter(pl.col("last_played").fill_null(since.item()) >= since.item())
        if side is not None:
            table = table.filter(pl.col("name") == side)
        day = pl.Series("date", [matches.date[stop - 1].item()] * table.height, dtype=pl.Date)
        frames.append(table.insert_column(0, day))
        done = stop
    return pl.concat(frames)


def _tables_then(rater: Rater | Any, matches: Matches, stops: list[int]) -> Iterator[pl.DataFrame]:
    """Ratings after so many matches, from those before alone."""
    walker, done = blank_of(rater), 0
    for stop in stops:
        carry_on(walker, matches[done:stop])
        yield walker.ratings_
        done = stop


def broken_line(line: pl.DataFrame, stops: NDArray[np.datetime64]) -> tuple[NDArray, NDArray, NDArray]:
    """Dates, ratings and uncertainties of one side, with a row of NaN where it certainly did not play for a year.

    Where a side played one match since its row before, its rest is known. Where it played more, it certainly did not
    between its last match at one row and the stop before the next row.

    Parameters
    ----------
    line
        The rows of one name in a history, by date.
    stops
        Every date of the history, in order.

    >>> import kinelo as kn
    >>> days = ["2020-01-01", "2020-06-01", "2022-06-01", "2022-07-01"]
    >>> table = {"date": days, "home": ["A", "A", "A", "B"], "away": ["B", "B", "B", "A"], "result": [1, 1, 0, 1]}
    >>> history = rating_history(kn.TeamElo.classic(), kn.read_matches(table))
    >>> stops = history["date"].unique().sort().to_numpy()
    >>> np.isnan(broken_line(history.filter(name="A"), stops)[1]).tolist()
    [False, False, True, False, False]
    """
    date, rating, doubt = (line[column].to_numpy() for column in ("date", "rating", "uncertainty"))
    played = line["last_played"].to_numpy() if "last_played" in line.columns else date
    until = stops[np.maximum(np.searchsorted(stops, date[1:]) - 1, 0)]
    if "matches" in line.columns:
        until = np.where(np.diff(line["matches"].to_numpy().astype(np.int64)) == 1, played[1:], until)
    breaks = 1 + np.flatnonzero((until - played[:-1]).astype("timedelta64[D]").astype(int) >= ACTIVE_DAYS)
    return np.insert(date, breaks, date[breaks]), np.insert(rating, breaks, np.nan), np.insert(doubt, breaks, np.nan)
