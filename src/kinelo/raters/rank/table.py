"""Ratings of everyone who took part in contests, as a table, in points; and a leaderboard for each kind of slot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.matches.contests import Contests, check_contests
from kinelo.model.outcome import CHESS_NU
from kinelo.raters.random_walk import fade_all
from kinelo.raters.state import NEVER, REFERENCE_DAYS

if TYPE_CHECKING:
    import polars as pl

if TYPE_CHECKING:
    import polars as pl

POINTS_PER_UNIT = 1.0 / (math.sqrt(math.pi) * CHESS_NU)
"""Rating points per unit of strength: between equals the expected result rises by 1/√π a unit, ln 10/800 a point."""


def slot_table(rater: Any, day: int | None) -> pl.DataFrame:
    """Every slot that took part, advantages too, on a day or as of its last contest; the best of each kind first."""
    import polars as pl

    state = rater._begun()
    size, known = len(state), state.known
    kind = known.kind[:size].astype(np.int64)
    x, v, last = known.x[:size, 0].copy(), known.v[:size, 0].copy(), known.last[:size]
    for number, name in enumerate(rater.kinds_):
        own = kind == number
        then = known.clock[1] if day is None else day
        f, added = fade_all(then - last[own], rater._of_kind("regression", name), rater._of_kind("walk", name) ** 2)
        faded = f * x[own]
        if day is not None:
            x[own], v[own] = faded, f * f * v[own] + added
        if name in rater.advantage_kinds_ or rater.start is not None:
            continue
        active = ((last >= known.clock[1] - REFERENCE_DAYS) & (known.games[:size] > 0))[own]
        x[own] -= faded[active].mean() if active.any() else 0.0  # one level for both, on the day
    shown = state.dated & (last != NEVER)
    table = pl.DataFrame(
        {
            "kind": pl.Series([kind for kind, _ in state.names], dtype=pl.String),
            "name": pl.Series([name for _, name in state.names], dtype=pl.String),
            "rating": rater.initial + POINTS_PER_UNIT * x,
            "uncertainty": POINTS_PER_UNIT * np.sqrt(v),
            "matches": known.games[:size] - np.array([state.unseen.get(place, 0) for place in range(size)], np.int64),
            "last_played": np.where(shown, last.astype("datetime64[D]"), np.datetime64("NaT")),
        }
    )
    order = [rater.kinds_.index(one) for one in table["kind"]]
    table = table.with_columns(pl.Series("_kind", order, dtype=pl.Int64)).filter(pl.Series(known.games[:size] > 0))
    ranked = table.sort("_kind", "rating", descending=[False, True], maintain_order=True)
    return ranked.drop("_kind")


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
