"""Forecasts of matches: win, draw and loss probabilities that sum to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Forecast:
    """Forecasts of ``n`` matches.

    Attributes
    ----------
    probabilities
        ``n`` rows of home win, draw, away win; each sums to one.
    expected
        Expected result in [-1, 1], seen from the home side.
    unknown
        Names that had never played and were given the prior.
    """

    probabilities: NDArray[np.float64]
    expected: NDArray[np.float64]
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, win: NDArray, draw: NDArray, loss: NDArray, unknown: tuple[str, ...] = ()) -> Forecast:
        """A forecast from the three probabilities."""
        return cls(np.column_stack([win, draw, loss]), win - loss, unknown)

    def __len__(self) -> int:
        return self.expected.size

    def to_polars(self) -> pl.DataFrame:
        """The forecasts as a table."""
        import polars as pl

        win, draw, loss = self.probabilities.T
        return pl.DataFrame({"home_win": win, "draw": draw, "away_win": loss, "expected": self.expected})
