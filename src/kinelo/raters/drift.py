"""Inflation: whether the average of those who play today has left the rating that newcomers start from.

Where sides enter at one level and leave at another, points are carried in or out of the pool, and a rating of one year
no longer means what it meant in another.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kinelo.errors import KineloWarning

if TYPE_CHECKING:
    import polars as pl

ACTIVE_DAYS = 730
FEWEST_SIDES = 8


@dataclass(frozen=True)
class Drift:
    """Mean rating of the ``active`` sides (played within two years of the last match) beside the newcomers' start."""

    active: int
    mean: float
    start: float
    spread: float

    @property
    def shift(self) -> float:
        """How far the average active side stands above the newcomers' start."""
        return self.mean - self.start

    @property
    def serious(self) -> bool:
        """More than a quarter of the spread between sides, and more than three standard errors."""
        if self.active < FEWEST_SIDES:
            return False
        return abs(self.shift) > max(0.25 * self.spread, 3.0 * self.spread / self.active**0.5)

    def warn(self) -> None:
        """Warn if the drift is serious."""
        if self.serious:
            kind = "inflation" if self.shift > 0 else "deflation"
            warnings.warn(
                f"Rating {kind}: the {self.active} active sides average {self.mean:.4g}, newcomers start at "
                f"{self.start:.4g}; compare ratings of different years by rank, not by value.",
                KineloWarning,
                stacklevel=4,
            )


def measure_drift(ratings: pl.DataFrame, start: float) -> Drift:
    """Drift of a table of ratings (``rating``, ``last_played``) against the newcomers' ``start``."""
    import polars as pl

    if ratings.height == 0:
        return Drift(0, start, start, 0.0)
    idle = pl.col("last_played").max() - pl.col("last_played")
    active = ratings.filter(idle.dt.total_days().fill_null(0) <= ACTIVE_DAYS)  # without dates, everyone
    rating = active["rating"].to_numpy()
    return Drift(active.height, float(rating.mean()), start, float(rating.std()))
