"""Milestones of a book: when all ratings were computed anew, and those of everyone before and after, kept for good.

:func:`try_season` says beforehand what closing a season with a soft reset would do, by a replay of the later half.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.book.refitting import KEPT, decided
from kinelo.book.seasons import Season, checked, closed_seasons, in_parts, losses_of, moves_shown, softened
from kinelo.errors import InputError
from kinelo.presentation import counted
from kinelo.raters.adapter import carry_on
from kinelo.raters.questions import rater_shown
from kinelo.raters.rater import Rater
from kinelo.raters.soft_reset import SoftReset

if TYPE_CHECKING:
    import polars as pl

    from kinelo.book.book import RatingBook

RIGHT_AGAIN = 0.99
"""Rank correlation with the ratings that were not drawn in, from which ranks count as right."""
FEWEST = 40
"""Matches that a trial needs on either side."""


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


@dataclass(frozen=True)
class SeasonTrial:
    """What a reset would do: ``falls`` (name, rating now and after, of the best and the last of the first kind), and
    what it did in a replay of the later half of the book's matches, against the same ratings without it.

    ``played`` is how many matches everyone had played in the mean (of those who did) by the end of each part of the
    replay, ``ranks`` the rank correlation between both ratings by then, ``extra`` by how much the reset raised the mean
    log-loss of forecasts in that part; ``right_after`` the matches from which ranks were right for good (within a
    correlation of .99), none where they were not by the end. ``moves`` is in points.
    """

    reset: float
    moves: float
    falls: tuple[tuple[str, float, float], ...]
    played: tuple[float, ...]
    ranks: tuple[float, ...]
    extra: tuple[float, ...]
    right_after: float | None
    loss: float
    noun: str

    def lines(self) -> list[str]:
        """What it would do, in sentences."""
        top = [f"{name} {then - now:+.0f} ({now:.0f} → {then:.0f})" for name, now, then in self.falls]
        early = max(1, len(self.extra) // 5)
        first, later = np.mean(self.extra[:early]), np.mean(self.extra[-early:])
        worst = int(np.argmin(self.ranks))
        when = (
            "It was never below .99, so ranks stayed right."
            if self.right_after == 0.0
            else f"Ranks were right again (.99) after {_each(self.right_after)}."
            if self.right_after is not None
            else f"Ranks were not right again (.99) by {_each(self.played[-1])}, when the replay ended."
        )
        return [
            f"With a reset of {self.reset:g} and moves of {self.moves:.0f} points: {'; '.join(top)}.",
            f"The order stays the same on the first day. In a replay of the later half of the {self.noun} it agreed "
            f"worst after {_each(self.played[worst])} (rank correlation {self.ranks[worst]:.3f} with the "
            f"ratings that were not reset). {when}",
            f"Forecasts: log-loss {first:+.4f} over the first {_each(self.played[early - 1])}, {later:+.4f} "
            f"at the end; without a reset it was {self.loss:.4f}.",
        ]


def try_season(book: RatingBook, reset: float, moves: float | None = None) -> SeasonTrial:
    """What it would do to close a season now with a reset; nothing is changed."""
    from scipy.stats import rankdata

    part, moves_given = checked(reset, moves)
    rater, matches = book.rater, book.matches()
    if not isinstance(rater_shown(rater), Rater):
        raise InputError(f"A reset is tried with Kinelo's raters, and {type(rater).__name__} is none of them.")
    moves = moves_shown(book._ratings) if moves_given is None else moves_given
    rater._resets_done = len(rater._soft_resets)
    twin = softened(rater, SoftReset(0, part, moves))
    after = dict(zip(twin.ratings_["name"], twin.ratings_["rating"]))
    now = list(zip(rater.ratings_["name"], rater.ratings_["rating"]))
    falls = tuple((name, rating, after[name]) for name, rating in [*now[:3], *now[3:][-1:]])
    half = int(np.searchsorted(matches.day, matches.day[len(matches) // 2]))
    if min(half, len(matches) - half) < FEWEST:
        raise InputError(f"A trial needs at least {2 * FEWEST} {book.noun} on several days, not {len(matches)}.")
    plain = copy.deepcopy(book._ratings.blank)
    carry_on(plain, matches[:half])
    drawn = softened(plain, SoftReset(0, part, moves))
    played, ranks, extra, losses = [], [], [], []
    begun = dict(zip(plain.ratings_["name"], plain.ratings_["matches"]))
    for one in in_parts(matches[half:]):
        (loss,), (other,) = (losses_of(rated, [one]) for rated in (plain, drawn))
        losses.append(loss)
        extra.append(other - loss)
        ours, theirs = (dict(zip(rated.ratings_["name"], rated.ratings_["rating"])) for rated in (plain, drawn))
        counts = dict(zip(plain.ratings_["name"], plain.ratings_["matches"]))
        there = [name for name in ours if counts[name] > begun.get(name, 0)]
        played.append(float(np.mean([counts[name] - begun.get(name, 0) for name in there])))
        both = [[ratings[name] for name in there] for ratings in (ours, theirs)]
        one_rating = any(len(set(ratings)) < 2 for ratings in both)  # no order that could be another
        ranks.append(1.0 if one_rating else float(np.corrcoef(rankdata(both[0]), rankdata(both[1]))[0, 1]))
    wrong = [k for k, value in enumerate(ranks) if value < RIGHT_AGAIN]
    right = 0.0 if not wrong else played[wrong[-1] + 1] if wrong[-1] + 1 < len(played) else None
    return SeasonTrial(part, moves, falls, tuple(played), tuple(ranks), tuple(extra), right, float(np.mean(losses)),
                       book.noun)  # fmt: skip


def _each(played: float) -> str:
    """So many matches in the mean, in whole numbers."""
    return counted(round(played), "match", "matches") + " each"
