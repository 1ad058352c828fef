"""A table of ratings, held against what matches say of strengths today."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.kernels import Array
from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.raters.name_index import nearest_names

if TYPE_CHECKING:
    import polars as pl

LISTED = 5


@dataclass(frozen=True)
class Misrated:
    """A side, its rating in use and what the matches say of its strength, about the mean of the active sides.

    ``off`` is rating less strength, ``error`` the standard error of the strength.
    """

    side: str
    rating: float
    strength: float
    off: float
    error: float


@dataclass(frozen=True)
class RatingsInUse:
    """Ratings held against strengths, about their means over the sides compared.

    Attributes
    ----------
    sides
        How many were compared.
    slope
        Slope of ratings on strengths: below 1 the scale is shrunken.
    error
        Standard deviation of ratings about strengths, in points.
    deviation_ratio
        Mean square of (rating − strength)/deviation: 1 where stated deviations are honest; None without any.
    extremes
        The sides rated highest and lowest.
    """

    sides: int
    slope: float
    error: float
    deviation_ratio: float | None
    extremes: tuple[Misrated, ...]


def table_of(ratings: Any, matches: Matches) -> pl.DataFrame:
    """The table of ratings in use as a frame: name, rating, perhaps deviation."""
    import polars as pl

    try:
        if isinstance(ratings, str | Path):
            table = pl.read_csv(ratings)
        elif isinstance(ratings, pl.DataFrame):
            table = ratings
        else:
            table = pl.DataFrame(ratings)
    except (OSError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"ratings must be a table with the columns name and rating, which cannot be read: {error}"
        ) from error
    table = table.rename({"team": "name"}) if "team" in table.columns and "name" not in table.columns else table
    missing = [name for name in ("name", "rating") if name not in table.columns]
    if missing:
        raise InputError(f"ratings has no column {missing[0]}; it has {', '.join(table.columns) or 'none'}.")
    table = table.with_columns(pl.col("name").cast(pl.String), pl.col("rating").cast(pl.Float64, strict=False))
    bad = table.filter(~pl.col("rating").is_finite().fill_null(False))
    if bad.height:
        raise InputError(f"ratings has no usable rating for {bad['name'][0]!r}.")
    if table["name"].n_unique() < table.height:
        raise InputError("ratings names a side twice.")
    strange = [name for name in table["name"] if name not in set(matches.teams)]
    if len(strange) > table.height / 2 or table.height - len(strange) < 2:
        near = nearest_names(strange[0], sorted(matches.teams)) if strange else []
        meant = f"; is {strange[0]!r} {near[0]!r}" + "?" if near else ""
        raise InputError(
            f"These ratings do not belong to these sides: {len(strange):,} of {table.height:,} names never "
            f"played{meant}" + ("" if near else ".")
        )
    return table


def compare_ratings(
    teams: tuple[str, ...], table: pl.DataFrame, strength: Array, doubt: Array, active: np.ndarray
) -> RatingsInUse:
    """Hold ratings of active sides against their strengths of today."""
    index = {name: i for i, name in enumerate(teams)}
    rows = [
        (index[row["name"]], row)
        for row in table.iter_rows(named=True)
        if row["name"] in index and active[index[row["name"]]]
    ]
    if len(rows) < 2:
        raise InputError("Fewer than two sides of these ratings have played within two years of the last match.")
    places = np.array([place for place, _ in rows])
    rating = np.array([row["rating"] for _, row in rows])
    rating = rating - rating.mean()
    own, error = strength[places] - strength[places].mean(), np.sqrt(doubt[places])

    slope = float(own @ rating) / max(float(own @ own), 1e-12)
    off = rating - own
    ratio = None
    if "deviation" in table.columns:
        stated = np.array([float(row["deviation"]) if row["deviation"] is not None else math.nan for _, row in rows])
        ratio = float(np.nanmean((off**2 + error**2) / stated**2))
    order = np.argsort(-rating, kind="stable")
    chosen = [*order[:LISTED], *order[max(LISTED, order.size - LISTED) :]]
    extremes = tuple(Misrated(teams[places[i]], *(float(x[i]) for x in (rating, own, off, error))) for i in chosen)
    error_of_all = math.sqrt(float(np.mean(off**2) + np.mean(error**2)))
    return RatingsInUse(len(rows), slope, error_of_all, ratio, extremes)
