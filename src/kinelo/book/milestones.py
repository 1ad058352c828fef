"""Milestones of a book: when all ratings were computed anew, and those of everyone before and after, kept for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kinelo.book.refitting import KEPT, decided
from kinelo.book.seasons import Season, closed_seasons
from kinelo.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from kinelo.book.book import RatingBook


def milestones(book: RatingBook) -> list[dict[str, Any]]:
    """Every milestone of a book, the first one first: number, what, name, date, matches and details.

    >>> import tempfile, kinelo as kn
    >>> milestones(kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.Glicko()))
    []
    """
    return decided(book._database)


def seasons(book: RatingBook) -> list[Season]:
    """The seasons of a book that were closed, the first one first.

    >>> import tempfile, kinelo as kn
    >>> seasons(kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.Glicko()))
    []
    """
    return closed_seasons(book._database)


def ratings_at(book: RatingBook, number: int) -> pl.DataFrame:
    """The ratings of everyone at a milestone, before it and after, the best of each kind first."""
    import polars as pl

    database = book._database
    known = database.has("milestone") and database.one("SELECT 1 FROM milestone WHERE number = ?", (number,))
    if not known:
        raise InputError(f"{database.name} has no milestone {number!r:.20}.")
    rows = database.rows(
        f"SELECT {', '.join(KEPT)} FROM milestone_rating WHERE number = ? ORDER BY kind, place", (number,)
    )
    kinds = [pl.String, pl.String, pl.Int64, pl.Float64, pl.Float64, pl.Int64, pl.Float64, pl.Float64, pl.String]
    return pl.DataFrame(rows, schema=dict(zip(KEPT, kinds)), orient="row")


def season_table(book: RatingBook, name: str) -> pl.DataFrame:
    """Everyone who played in a season: place, rating, deviation, matches so far, the rating with which the next season
    began, and the reward.
    """
    for season in seasons(book):
        if season.name == name:
            return ratings_at(book, season.number)
    raise InputError(f"{book._database.name} has no season {name!r:.60} that was closed.")
