"""What has been compared with what, and how it ended: the sufficient statistics of the batch estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.scores import outcome_shares
from kinelo.matches.matches import Matches
from kinelo.raters.bradley_terry.likelihood import Cells
from kinelo.raters.covariates import covariate_numbers
from kinelo.raters.state import NEVER, MatchIndices, RaterState, StateColumn
from kinelo.raters.stored import stored

Array = NDArray[np.float64]
TABLES = ("counts", "squared", "events")
CELL_ARRAYS = ("i", "j", "c", *TABLES)


def covariate_columns(matches: Matches, names: tuple[str, ...]) -> Array:
    """Venue (1 at home, 0 on neutral ground) and the named covariates of every match."""
    return np.column_stack([1.0 - matches.neutral, covariate_numbers(matches, names)]).astype(np.float64)


class Played(NamedTuple):
    """Matches played and last day of every contestant."""

    games: NDArray[np.int64]
    last: NDArray[np.int64]


class Tally(RaterState):
    """Counts of results per cell (pair, venue and covariates, the earlier name first), and who played how often.

    Weights that are ``whole`` numbers, all of them, count comparisons; else a row is one, which counts by its weight.
    """

    columns: ClassVar[Mapping[str, StateColumn]] = {"games": StateColumn(low=0), "last": StateColumn()}

    def __init__(self, covariates: tuple[str, ...]) -> None:
        super().__init__(Played(np.empty(0, np.int64), np.empty(0, np.int64)), {"last": NEVER})
        self.covariates = covariates
        self.i = np.empty(0, np.int32)
        self.j = np.empty(0, np.int32)
        self.c = np.empty((0, 1 + len(covariates)))
        self.counts = self.squared = self.events = np.empty((0, 3))
        self.whole = True

    @property
    def comparisons(self) -> tuple[Array, Array]:
        """How many comparisons ended so, by squared weight and by number (cells, 3 each)."""
        return (self.counts, self.counts) if self.whole else (self.squared, self.events)

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides; newcomers are given room."""
        self.name_index.places(tuple(matches._appearing))
        places = np.array([self.name_index.index.get(name, -1) for name in matches.teams], np.int32)
        self.grow()
        self.note_days(matches.day)
        return MatchIndices(places[matches.home], places[matches.away])

    def find(self, matches: Matches) -> MatchIndices:
        """The same without adding anyone (-1: never compared), and the names never compared."""
        return self.find_sides(matches, self.name_index)

    def add(self, matches: Matches) -> None:
        """Count further matches."""
        indices = self.admit(matches)
        i, j = indices.home, indices.away
        for side in (i, j):
            self.known.games[:] += np.bincount(side, minlength=self.known.games.size)
            np.maximum.at(self.known.last, side, matches.day)
        shares = outcome_shares(matches.result)
        weight = matches.weight[:, None]
        self.whole = self.whole and bool((weight == np.floor(weight)).all())
        tables = (shares * weight, shares * weight**2, shares * (weight > 0))
        c = covariate_columns(matches, self.covariates)
        swap = i > j
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        c = np.where(swap[:, None], -c, c)
        tables = tuple(np.where(swap[:, None], table[:, ::-1], table) for table in tables)
        self._merge(i, j, c, tables)

    def _merge(self, i: NDArray[Any], j: NDArray[Any], c: Array, tables: tuple[NDArray[Any], ...]) -> None:
        i, j = np.concatenate([self.i, i]), np.concatenate([self.j, j])
        c = np.concatenate([self.c, c])
        tables = tuple(np.concatenate([getattr(self, name), table]) for name, table in zip(TABLES, tables))
        if not self.covariates:  # venues are -1, 0 or 1: a cell is one number
            key = (i.astype(np.int64) * len(self) + j) * 3 + c[:, 0].astype(np.int64) + 1
            key, cell = np.unique(key, return_inverse=True)
            tables = tuple(
                np.column_stack([np.bincount(cell, weights=table[:, k], minlength=key.size) for k in range(3)]).astype(
                    np.float64  # of no matches at all whole numbers are counted
                )
                for table in tables
            )
            i, j = (key // 3 // len(self)).astype(np.int32), (key // 3 % len(self)).astype(np.int32)
            c = (key % 3 - 1).astype(np.float64)[:, None]
        self.i, self.j, self.c = i.astype(np.int32), j.astype(np.int32), c
        self.counts, self.squared, self.events = tables

    def won_at_home(self) -> tuple[float, float]:
        """Decided comparisons at home, and the share of them that the host won."""
        lost, won = (np.where(self.c[:, 0] * sign > 0, self.events[:, 0], 0.0).sum()
                     + np.where(self.c[:, 0] * sign < 0, self.events[:, 2], 0.0).sum() for sign in (-1, 1))  # fmt: skip
        return won + lost, won / max(won + lost, 1.0)

    def cells(self, venue: bool) -> Cells:
        """Cells of the likelihood, with or without an effect of the venue."""
        return Cells(self.i, self.j, np.ascontiguousarray(self.c if venue else self.c[:, 1:]), self.counts)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        return {
            **super().to_arrays(),
            **{name: getattr(self, name) for name in CELL_ARRAYS},
            "whole": np.array(self.whole),
        }

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        cells, names = len(arrays["i"]), len(self)
        self.i, self.j = (stored(arrays, name, "i", (cells,), 0, names) for name in ("i", "j"))
        self.c = stored(arrays, "c", "f", (cells, 1 + len(self.covariates)))
        self.counts, self.squared, self.events = (stored(arrays, name, "f", (cells, 3), 0) for name in TABLES)
        # Earlier versions took every row for one comparison, whatever its weight, and go on as they began.
        self.whole = bool(stored(arrays, "whole", "b", ()) if "whole" in arrays else (self.counts == self.events).all())
