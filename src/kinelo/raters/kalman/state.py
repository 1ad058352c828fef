"""What the Gaussian filter knows: strengths, their covariance, and who has played when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.raters.conditions import LevelState
from kinelo.raters.kalman.kernels import FIRST, LEVEL, KalmanState
from kinelo.raters.random_walk import TODAY
from kinelo.raters.state import Column, MatchIndices

MOST_SIDES = 5000


class FilterState(LevelState):
    """Names, and mean and covariance of venue advantages and strengths (or only variances) in arrays that grow."""

    columns: ClassVar[Mapping[str, Column]] = {
        "last": Column(),
        "games": Column(),
        "eta": Column(),
        "eta_v": Column(),
        "delta": Column(),
        "delta_v": Column(),
        "x": Column(first=FIRST),
        "v": Column(first=FIRST),
        "C": Column(first=FIRST, square=True),
    }

    def __init__(
        self,
        full: bool,
        first_variance: NDArray[np.float64],
        level: float,
        home_variance: float,
        conditions: tuple[str, ...],
        values: Mapping[str, float],
    ) -> None:
        self.full = full
        self.use_conditions(conditions, values)
        known = KalmanState(
            x=np.zeros(FIRST),
            C=np.diag(first_variance) if full else np.empty((0, 0)),
            v=np.empty(0) if full else first_variance.copy(),
            eta=np.empty(0),
            eta_v=np.empty(0),
            delta=np.empty((0, 0)),
            delta_v=np.empty((0, 0)),
            slot_v=np.empty(0),
            last=np.empty(0, np.int64),
            games=np.empty(0, np.int64),
            clock=np.full(2, -(2**62)),
        )
        known.x[LEVEL] = level
        super().__init__(known, {"eta_v": home_variance})

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides, newcomers in order of their first match, and slots of conditions."""
        codes = np.column_stack([matches.home, matches.away]).ravel()
        first = np.full(len(matches.teams), codes.size)
        first[codes[::-1]] = np.arange(codes.size)[::-1]  # the earliest is written last
        before = len(self)
        places = np.full(len(matches.teams), -1)
        for code in np.argsort(first, kind="stable")[: np.count_nonzero(first < codes.size)]:
            places[code] = self.name_index.place(matches.teams[code])
        slots = self.slots.codes(matches)
        self.grow()
        if len(matches):
            self.arrive(int(matches.day[0]))
        return MatchIndices(places[matches.home], places[matches.away], tuple(self.name_index.names[before:]), slots)

    def find(self, matches: Matches) -> MatchIndices:
        """Places of both sides (-1: never met), slots of conditions, and the names never met; nobody is added."""
        home, away, unknown, *_ = self.find_sides(matches, self.name_index)
        return MatchIndices(home, away, unknown, self.slots.codes(matches, admit=False))

    def grow(self) -> None:
        """Make room, unless the covariance of so many sides would not fit."""
        if self.full and len(self) > MOST_SIDES:
            raise too_many(len(self))
        super().grow()

    def covariance(self) -> NDArray[np.float64]:
        """Covariance of all strengths, symmetric."""
        rows = slice(FIRST, FIRST + len(self))
        if not self.full:
            return np.diag(self.known.v[rows])
        lower = np.tril(self.known.C[rows, rows])
        return lower + np.tril(lower, -1).T

    def spread(self) -> NDArray[np.float64]:
        """Covariance of all strengths, or their variances where only those are kept."""
        return self.covariance() if self.full else self.known.v[FIRST : FIRST + len(self)]

    def relative(
        self, days: int | None, belief: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Strengths and variances relative to the average of those who played within ``days`` of the last match.

        ``belief``, means and covariance or variances, takes the place of what the filter believes of the strengths;
        without ``days`` they are absolute.
        """
        size = len(self)
        strength, spread = belief or (self.known.x[FIRST : FIRST + size], self.spread())
        own = spread if spread.ndim == 1 else np.diagonal(spread)
        if days is None:
            return strength, np.maximum(own, 0.0)
        active = (self.known.last[:size] >= self.known.clock[TODAY] - days) & (self.known.games[:size] > 0)
        share = active / max(active.sum(), 1)
        common = spread * share if spread.ndim == 1 else spread @ share
        return strength - share @ strength, np.maximum(own - 2 * common + share @ common, 0.0)

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        self.full = arrays["C"].size > 0


def too_many(sides: int) -> InputError:
    """What to say where a full covariance would not fit."""
    return InputError(
        f"{sides} sides are too many for a full covariance (at most {MOST_SIDES}); use covariance='diagonal'."
    )
