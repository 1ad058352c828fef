"""A leaderboard that a cautious reader can trust.

Shown are those who are active and have played enough, or everyone where nobody has, which is said. They are sorted by
``rating − caution · uncertainty``: what the rating is at least, rather than what it may be. Rating and uncertainty are
those of the day of the last match where the rater can tell (``ratings_on``): who rests fades, and is marked. Players
whom matches do not tell apart from those they play with are shown without a place. Sides that hardly any match ties to
the rest are no better known for having beaten one another, so they stand in pools of their own, each with its own
places (see :mod:`kinelo.matches.pools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinelo.errors import InputError, warn
from kinelo.forecasts.parameters import check_number
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.dated import check_played
from kinelo.matches.kinds import CONTESTS, kind_of
from kinelo.matches.matches import Matches
from kinelo.presentation import counted
from kinelo.raters.qualifying import ACTIVE_DAYS, CAUTION, CONTEST_CAUTION, LEAST_MATCHES

if TYPE_CHECKING:
    import polars as pl

WEEK = 7
"""Days that contests without dates are taken to be apart, as their rater does."""
LONG_REST = 120
"""Days without a match after which somebody is marked."""

MAIN = "main"
ALIKE = "not ranked: not separable from teammates"


def leaderboard(
    rated: Any,
    matches: Matches | Contests | None = None,
    *,
    active_days: float | None = ACTIVE_DAYS,
    least_matches: int = LEAST_MATCHES,
    caution: float | None = None,
) -> pl.DataFrame:
    """Place, name, rating and what else a rater knows of everyone worth ranking, the surest first.

    Parameters
    ----------
    rated
        A rater that has rated matches, a rating book, or anything with a table ``ratings_`` of names and ratings.
    matches
        Matches whose graph tells the pools, or contests; by default those the rater was fitted on, or those of the
        book.
    active_days
        Only those who played within so many days of the last match; None shows everyone.
    least_matches
        Only those who played at least so many matches. Where that leaves nobody, everyone is shown, with a warning.
    caution
        Standard deviations taken off a rating before sorting; 0 sorts by the rating itself. By default 2, and 0 of
        contests.

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
    ranking = {"active_days": active_days, "least_matches": least_matches, "caution": caution}
    board, said = board_and_words(rated, matches, **ranking)
    if said:
        warn(said)
    return board


def board_and_words(
    rated: Any,
    matches: Matches | Contests | None = None,
    *,
    active_days: float | None = ACTIVE_DAYS,
    least_matches: int = LEAST_MATCHES,
    caution: float | None = None,
) -> tuple[pl.DataFrame, str]:
    """The leaderboard, and what to say where everyone stands on it because nobody qualifies; for all that show one.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1], "driver": ["Ann", "Bob"], "place": [1, 2]})
    >>> board_and_words(kn.RankElo().update(races), races)[1]
    'Nobody has taken part in 10 contests yet, so everyone is shown.'
    """
    import polars as pl

    if caution is not None:
        caution = check_number("leaderboard", "caution", caution, 0.0)
    least_matches = check_number("leaderboard", "least_matches", least_matches, 0)
    if active_days is not None:
        active_days = check_number("leaderboard", "active_days", active_days, 0.0)
    table, played = _ratings(rated), matches
    if matches is not None:
        check_played(matches)
    elif callable(getattr(rated, "matches", None)):
        played = rated.matches() if len(rated) else None
    else:
        played = getattr(rated, "_fitted", None)
    if kind_of(played) is CONTESTS or "kind" in table.columns:
        taken_off = CONTEST_CAUTION if caution is None else caution
        table = table if "kind" in table.columns else table.insert_column(0, pl.Series("kind", [""] * table.height))
        weeks = kind_of(played) is CONTESTS and not cast("Any", played).dated and "last_played" in table.columns
        table = _with_weeks(table, played) if weeks else table
        # Every entry names one of each kind, so that the last contest of a kind is the last of all.
        parts = [_worth_ranking(own, active_days, least_matches, "contests") for own in table.partition_by("kind")]
        unknown = [pl.lit(None, pl.Date).alias("last_played")] if weeks else []  # days that were made up
        boards = [_by_places(own.with_columns(unknown), taken_off) for own, _ in parts]
        if not boards:
            return _by_places(table, taken_off), ""
        return pl.concat(boards), " ".join(dict.fromkeys(words for _, words in parts if words))
    matches = cast("Matches | None", played)
    # The pool of every side, or of the side that a player played for last.
    if matches is None or not len(matches):
        table = table.with_columns(pool=pl.lit(MAIN))
    else:
        pools = matches.pools(half_life=4.0 * active_days if active_days else None).select("name", "pool")
        by = "team" if "team" in table.columns else "name"
        table = table.join(pools.rename({"name": by}), on=by, how="left", maintain_order="left")
        table = table.with_columns(pl.col("pool").fill_null(MAIN))
    shown, words = _worth_ranking(_with_separable(table, matches), active_days, least_matches)
    # What is noted of each.
    nothing = rests = pl.lit("")
    if "last_played" in shown.columns:
        days = pl.format("has not played for {} days", pl.col("idle_days"))
        rests = pl.when(pl.col("idle_days") > LONG_REST).then(days).otherwise(nothing)
    alike = pl.when("separable").then(nothing).otherwise(pl.lit(ALIKE))
    both = pl.when((rests != "") & (alike != "")).then(pl.lit("; ")).otherwise(nothing)
    shown = shown.with_columns(note=pl.concat_str([alike, both, rests]))
    return _ranked(shown, CAUTION if caution is None else caution), words


def _with_weeks(table: pl.DataFrame, played: Any) -> pl.DataFrame:
    """A table of contests that have no dates with days of last contests, as if they were a week apart."""
    import polars as pl

    last: dict[tuple[str, str], int] = {}
    for kind, slots in {**played.slots, "": Slots(played.entrant[:, None], played.entrants)}.items():
        for column in slots.codes.T:
            there = column >= 0
            final = np.full(len(slots.names), -1)
            np.maximum.at(final, column[there], played.contest[there])
            for name, contest in zip(slots.names, final.tolist()):
                last[kind, name] = max(contest, last.get((kind, name), -1))
    days = [WEEK * last.get(key, 0) for key in table.select("kind", "name").rows()]
    return table.with_columns(last_played=pl.Series(np.array(days, "datetime64[D]")))


def boards_by_kind(board: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """A leaderboard as one for each kind that is rated, in their order; one of sides has no kinds."""
    if "kind" not in board.columns:
        return {"": board}
    return {str(kind): own.drop("kind") for (kind,), own in board.partition_by("kind", as_dict=True).items()}


def _by_places(table: pl.DataFrame, caution: float) -> pl.DataFrame:
    """Entrants of one kind with places, sorted, and with ``surely`` where that sorts them."""
    import polars as pl

    if caution:
        table = table.with_columns(surely=_surely(table, caution))
    table = table.sort("surely" if caution else "rating", descending=True, maintain_order=True)
    return table.insert_column(1, pl.Series("place", np.arange(1, table.height + 1)))


def _worth_ranking(
    table: pl.DataFrame, active_days: float | None, least_matches: int, noun: str = "matches"
) -> tuple[pl.DataFrame, str]:
    """Those who are active and have played enough, or everyone and why; of matches, with ``idle_days``."""
    import polars as pl

    active = enough = pl.lit(True)
    if "last_played" in table.columns:
        idle = (pl.col("last_played").max() - pl.col("last_played")).dt.total_days()
        if noun == "matches":
            table = table.with_columns(idle_days=idle)
        if active_days is not None:
            active = idle.fill_null(0) <= active_days
    if "matches" in table.columns:
        enough = pl.col("matches") >= least_matches
    shown = table.filter(active & enough)
    if shown.height or not table.height:
        return shown, ""
    often = f"played {counted(least_matches, 'match', 'matches')}"
    if noun == "contests":
        often = f"taken part in {counted(least_matches, 'contest', 'contests')}"
    if table.filter(enough).height:
        return table, f"Nobody who has {often} is active, so everyone is shown."
    return table, f"Nobody has {often} yet, so everyone is shown."


def _surely(table: pl.DataFrame, caution: float) -> pl.Expr:
    """What ratings surely are; the ratings themselves where the rater does not say how unsure they are."""
    import polars as pl

    doubt = pl.col("uncertainty").fill_nan(0.0) if "uncertainty" in table.columns else pl.lit(0.0)
    return pl.col("rating") - caution * doubt


def _ranked(table: pl.DataFrame, caution: float) -> pl.DataFrame:
    """The table with places within pools, sorted, and its columns in the order in which they are shown."""
    import polars as pl

    table = table.with_columns(surely=_surely(table, caution))
    table = table.with_columns(main=pl.col("pool") == MAIN, most=pl.col("name").count().over("pool"))
    order = ["main", "most", "pool", "separable", "surely"]
    table = table.sort(order, descending=[True, True, False, True, True], maintain_order=True).drop("main", "most")
    place = pl.when("separable").then(pl.int_range(1, pl.len() + 1).over("pool")).alias("place")
    first = ["name", "rating", "uncertainty", "surely"]
    shown = [name for name in first if name in table.columns]
    return table.select(place, *shown, pl.all().exclude(*first, "pool", "note", "separable"), "pool", "note")


def _with_separable(table: pl.DataFrame, matches: Matches | None) -> pl.DataFrame:
    """The table with ``separable``: not those who played in the very same matches, for as long, on the same side.

    A player is known by the sum of random numbers, one for each side of a match, times what he played of it.
    """
    import polars as pl

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


def ratings_today(rater: Any) -> Any:
    """The table of ratings as they are on the day of the last match, where a rater can tell: who rests fades."""
    today = getattr(rater, "ratings_on", None)
    return today() if callable(today) else getattr(rater, "ratings_", None)


def _ratings(rated: Any) -> pl.DataFrame:
    import polars as pl

    rater = getattr(rated, "rater", rated)  # a book has a rater
    table = ratings_today(rater)
    if not isinstance(table, pl.DataFrame) or not {"name", "rating"} <= set(table.columns):
        raise InputError(
            f"{type(rater).__name__} has no leaderboard; a rater shows one by a table ratings_ with name and rating."
        )
    return table
