"""Who is best at contests: a leaderboard for each kind of slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.matches.contests import Contests, check_contests

if TYPE_CHECKING:
    import polars as pl


def contest_leaderboard(
    rater: Any,
    contests: Contests,
    *,
    active_days: float | None = 365,
    least_contests: int = 10,
    caution: float = 0.0,
) -> dict[str, pl.DataFrame]:
    """Leaderboards by kind of slot, as ratings are on the day of the last contest.

    Those are shown who took part within ``active_days`` of it, and in ``least_contests`` contests at least; where
    nobody of a kind did, all of the kind are. With ``caution`` they are sorted by ``surely``, their rating less so many
    standard deviations.

    >>> import kinelo as kn
    >>> races = kn.read_contests(kn.matches.sample_contests(contests=40, cars=4, seed=1), slots=["entrant", "car"])
    >>> boards = contest_leaderboard(kn.RankElo().update(races), races)
    >>> list(boards), boards["car"]["place"].to_list()
    (['entrant', 'car'], [1, 2, 3, 4])
    """
    import polars as pl

    check_contests(contests)
    table = rater.ratings_on() if hasattr(rater, "kinds_") else rater.ratings_
    table = table if "kind" in table.columns else table.insert_column(0, pl.Series("kind", [""] * table.height))
    enough = pl.col("matches") >= least_contests
    if active_days is not None and contests.dated:
        day = contests.date[-1] - np.timedelta64(int(min(active_days, 1e6)), "D")
        enough &= pl.col("last_played").cast(pl.Date) >= pl.lit(day.astype(object))
    found = {}
    for kind in table["kind"].unique(maintain_order=True):
        own = table.filter(pl.col("kind") == kind)
        kept = own.filter(enough)
        kept = own if kept.height == 0 else kept
        if caution:
            kept = kept.with_columns(surely=pl.col("rating") - caution * pl.col("uncertainty"))
        kept = kept.sort("surely" if caution else "rating", descending=True, maintain_order=True).drop("kind")
        found[kind] = kept.insert_column(0, pl.Series("place", np.arange(1, kept.height + 1)))
    return found
