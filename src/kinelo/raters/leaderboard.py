"""A leaderboard that a cautious reader can trust.

Shown are those who are active and have played enough, sorted by ``rating − caution · uncertainty``: what the rating is
at least, rather than what it may be. Rating and uncertainty are those of the day of the last match where the rater can
tell (``ratings_on``): who rests fades, and is marked. Players whom matches do not tell apart from those they play with
are shown without a place. Sides that hardly any match ties to the rest are no better known for having beaten
one another, so they stand in pools of their own, each with its own places (see :mod:`kinelo.matches.pools`).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.contests import Contests
from kinelo.matches.matches import Matches, check_matches
from kinelo.raters.rank.table import contest_leaderboard

if TYPE_CHECKING:
    import polars as pl

ACTIVE_DAYS = 365
LONG_REST = 120
"""Days without a match after which somebody is marked."""

LEAST_MATCHES = 10
CAUTION = 2.0
MAIN = "main"
ALIKE = "not ranked: not separable from teammates"


def leaderboard(
    rater: Any,
    matches: Matches | Contests | None = None,
    *,
    active_days: float | None = ACTIVE_DAYS,
    least_matches: int = LEAST_MATCHES,
    caution: float = CAUTION,
) -> pl.DataFrame:
    """Place, name, rating and what else a rater knows of everyone worth ranking, the surest first.

    Parameters
    ----------
    rater
        A rater that has rated matches, a rating book, or anything with a table ``ratings_`` of names and ratings.
    matches
        Matches whose graph tells the pools, or contests; by default those the rater was fitted on, or those of the
        book.
    active_days
        Only those who played within so many days of the last match; None shows everyone.
    least_matches
        Only those who played at least so many matches.
    caution
        Standard deviations taken off a rating before sorting; 0 sorts by the rating itself.

    Returns
    -------
    polars.DataFrame
        ``place`` counts within the ``pool``: "main", or "around" the side that plays most in a pool apart. ``surely``
        is the rating less ``caution`` times its uncertainty, ``idle_days`` the days since the last match played, and
        ``note`` says who has rested for long, and who is not ranked because no match separates them from those they
        play with. Of contests, ``kind`` comes first, and places count within it; there are no pools and no notes.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "C", "A"] * 6, "away": ["B", "C", "A", "D"] * 6, "result": [1, 1, 0, 1] * 6}
    >>> rater = kn.TeamElo.classic().fit(kn.read_matches(table))
    >>> kn.leaderboard(rater, least_matches=10).select("place", "name", "pool").rows()
    [(1, 'A', 'main'), (2, 'B', 'main'), (3, 'C', 'main')]
    """
    import polars as pl

    check_number("leaderboard", "caution", caution, 0.0)
    check_number("leaderboard", "least_matches", least_matches, 0)
    if active_days is not None:
        check_number("leaderboard", "active_days", active_days, 0.0)
    table = _ratings(rater)
    played = _graph(rater, matches)
    if isinstance(played, Contests):
        ranked = contest_leaderboard(
            getattr(rater, "rater", rater), played, active_days=active_days, least_contests=least_matches,
            caution=caution,
        )  # fmt: skip
        return pl.concat(board.insert_column(0, pl.Series("kind", [k] * board.height)) for k, board in ranked.items())
    table = _with_separable(_with_pools(table, played, active_days), played)
    return _ranked(_with_notes(_worth_ranking(table, active_days, least_matches)), caution)


def _worth_ranking(table: pl.DataFrame, active_days: float | None, least_matches: int) -> pl.DataFrame:
    """Those who are active and have played enough, with ``idle_days`` where days are known."""
    import polars as pl

    if "last_played" in table.columns:
        table = table.with_columns(idle_days=(pl.col("last_played").max() - pl.col("last_played")).dt.total_days())
        if active_days is not None:
            table = table.filter(pl.col("idle_days").fill_null(0) <= active_days)
    return table.filter(pl.col("matches") >= least_matches) if "matches" in table.columns else table


def _ranked(table: pl.DataFrame, caution: float) -> pl.DataFrame:
    """The table with places within pools, sorted, and its columns in the order in which they are shown."""
    import polars as pl

    doubt = pl.col("uncertainty").fill_nan(0.0) if "uncertainty" in table.columns else pl.lit(0.0)
    table = table.with_columns(surely=pl.col("rating") - caution * doubt)
    table = table.with_columns(main=pl.col("pool") == MAIN, most=pl.col("name").count().over("pool"))
    order = ["main", "most", "pool", "separable", "surely"]
    table = table.sort(order, descending=[True, True, False, True, True], maintain_order=True).drop("main", "most")
    place = pl.when("separable").then(pl.int_range(1, pl.len() + 1).over("pool")).alias("place")
    first = ["name", "rating", "uncertainty", "surely"]
    shown = [name for name in first if name in table.columns]
    return table.select(
        place, *shown, pl.all().exclude(*first, "pool", "note", "separable", "told_apart"), "pool", "note"
    )


def _with_separable(table: pl.DataFrame, matches: Matches | None) -> pl.DataFrame:
    """The table with ``separable``: not those who played in the very same matches, for as long, on the same side.

    A player is known by the sum of random numbers, one for each side of a match, times what he played of it.
    """
    import polars as pl

    if "told_apart" in table.columns and "separable" not in table.columns:
        old = (
            "kinelo.leaderboard: the column told_apart of ratings is now separable; the old name goes with version 0.5."
        )
        warnings.warn(old, DeprecationWarning, stacklevel=3)
        table = table.rename({"told_apart": "separable"})
    if "separable" not in table.columns:
        table = table.with_columns(separable=pl.lit(True))
    lineups = None if matches is None or "team" not in table.columns else matches.lineups
    if lineups is None:
        return table
    side = np.random.default_rng(0).integers(1, 2**40, lineups.offsets.size - 1).astype(np.uint64)
    part = np.where(np.isnan(lineups.minutes), 2.0 - lineups.starter, 3.0 + lineups.minutes * 60.0).astype(np.uint64)
    mark = np.zeros(len(lineups.players), np.uint64)
    np.add.at(mark, lineups.player, np.repeat(side, np.diff(lineups.offsets)) * part)
    marks = pl.DataFrame({"name": pl.Series(lineups.players, dtype=pl.String), "mark": mark})
    marks = marks.select("name", alone=pl.len().over("mark") == 1)
    joined = table.join(marks, on="name", how="left", maintain_order="left")
    return joined.with_columns(separable=pl.col("separable") & pl.col("alone").fill_null(True)).drop("alone")


def _with_notes(table: pl.DataFrame) -> pl.DataFrame:
    """The table with ``note``."""
    import polars as pl

    rests = pl.lit("")
    if "last_played" in table.columns:
        rests = pl.when(pl.col("idle_days") > LONG_REST).then(
            pl.format("has not played for {} days", pl.col("idle_days"))
        ).otherwise(pl.lit(""))  # fmt: skip
    alike = pl.when("separable").then(pl.lit("")).otherwise(pl.lit(ALIKE))
    both = pl.when((rests != "") & (alike != "")).then(pl.lit("; ")).otherwise(pl.lit(""))
    return table.with_columns(note=pl.concat_str([alike, both, rests]))


def _ratings(rater: Any) -> pl.DataFrame:
    import polars as pl

    today = getattr(getattr(rater, "rater", rater), "ratings_on", None)  # a book has a rater
    table = today() if callable(today) else getattr(rater, "ratings_", None)
    if not isinstance(table, pl.DataFrame) or not {"name", "rating"} <= set(table.columns):
        raise InputError(
            f"{type(rater).__name__} has no leaderboard; a rater shows one by a table ratings_ with name and rating."
        )
    return table


def _graph(rater: Any, matches: Matches | Contests | None) -> Matches | Contests | None:
    if matches is not None:
        if not isinstance(matches, Contests):
            check_matches(matches)
        return matches
    own: Any = getattr(rater, "matches", None)
    if callable(own):
        return rater.matches() if len(rater) else None
    return getattr(rater, "fitted_", None)


def _with_pools(table: pl.DataFrame, matches: Matches | None, active_days: float | None) -> pl.DataFrame:
    """The pool of every side, or of the side a player played for last; "main" where no matches tell."""
    import polars as pl

    if matches is None or not len(matches):
        return table.with_columns(pool=pl.lit(MAIN))
    pools = matches.pools(half_life=4.0 * active_days if active_days else None).select("name", "pool")
    by = "team" if "team" in table.columns else "name"
    joined = table.join(pools.rename({"name": by}), on=by, how="left", maintain_order="left")
    return joined.with_columns(pl.col("pool").fill_null(MAIN))
