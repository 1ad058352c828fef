"""What the Gaussian filter knows: strengths, their covariance, and who has played when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.ratings.filter_kernels import FIRST, TODAY
from kinelo.ratings.matches import Matches
from kinelo.ratings.roster import Roster

MOST_SIDES = 5000


class FilterState:
    """Mean ``x`` and covariance ``C`` of venue advantages and strengths, or only variances ``v`` without covariance."""

    def __init__(self, full: bool, venue_variance: float, home_variance: float) -> None:
        self.full = full
        self.home_variance = home_variance
        self.roster = Roster()
        self.x = np.zeros(FIRST)
        self.C = np.zeros((FIRST, FIRST)) if full else np.empty((0, 0))
        self.v = np.empty(0) if full else np.full(FIRST, venue_variance)
        if full:
            np.fill_diagonal(self.C, venue_variance)
        self.eta, self.eta_v = np.empty(0), np.empty(0)
        self.last, self.count = np.empty(0, np.int64), np.empty(0, np.int64)
        self.clock = np.full(2, -(2**62))

    def __len__(self) -> int:
        return len(self.roster)

    def admit(self, matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
        """Places of both sides, newcomers in order of their first match, and the newcomers' names."""
        codes, first = np.unique(np.column_stack([matches.home, matches.away]).ravel(), return_index=True)
        known = len(self)
        places = np.full(len(matches.teams), -1)
        for code in codes[np.argsort(first)]:
            places[code] = self.roster.place(matches.teams[code])
        self._grow()
        return places[matches.home], places[matches.away], tuple(self.roster.names[known:])

    def find(self, matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
        """Places of both sides (-1: never met), and the names never met; nobody is added."""
        places = self.roster.find(matches.teams).astype(np.int64)
        home, away = places[matches.home], places[matches.away]
        strangers = np.unique(np.concatenate([matches.home[home < 0], matches.away[away < 0]]))
        return home, away, tuple(matches.teams[code] for code in strangers)

    def _grow(self) -> None:
        size, room = len(self), self.last.size
        if size <= room:
            return
        if self.full and size > MOST_SIDES:
            raise InputError(
                f"{size} sides are too many for a full covariance (at most {MOST_SIDES}); use covariance='diagonal'"
            )
        more = max(size, room + room // 2, 16) - room
        self.x = np.concatenate([self.x, np.zeros(more)])
        if self.full:
            self.C = np.pad(self.C, ((0, more), (0, more)))
        else:
            self.v = np.concatenate([self.v, np.zeros(more)])
        self.eta = np.concatenate([self.eta, np.zeros(more)])
        self.eta_v = np.concatenate([self.eta_v, np.full(more, self.home_variance)])
        self.last = np.concatenate([self.last, np.zeros(more, np.int64)])
        self.count = np.concatenate([self.count, np.zeros(more, np.int64)])

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of every strength."""
        diagonal = np.diagonal(self.C) if self.full else self.v
        return diagonal[FIRST : FIRST + len(self)]

    def relative(self, days: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Strengths and variances relative to the average of those who played within ``days`` of the last match."""
        size = len(self)
        active = self.last[:size] >= self.clock[TODAY] - days
        share = active / max(active.sum(), 1)
        strength, covariance = self.x[FIRST : FIRST + size], self.covariance()
        spread = covariance @ share
        return strength - share @ strength, np.maximum(np.diagonal(covariance) - 2 * spread + share @ spread, 0.0)

    def covariance(self) -> NDArray[np.float64]:
        """Covariance of all strengths, symmetric."""
        if not self.full:
            return np.diag(self.variance)
        lower = np.tril(self.C[FIRST : FIRST + len(self), FIRST : FIRST + len(self)])
        return lower + np.tril(lower, -1).T

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        rows = FIRST + size
        return {
            "names": np.array(self.roster.names, dtype=str) if size else np.empty(0, "U1"),
            "x": self.x[:rows],
            "C": self.C[:rows, :rows],
            "v": self.v[:rows],
            "eta": self.eta[:size],
            "eta_v": self.eta_v[:size],
            "last": self.last[:size],
            "count": self.count[:size],
            "clock": self.clock,
        }

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.roster = Roster()
        self.roster.places(tuple(arrays["names"].tolist()))
        for name in ("x", "C", "v", "eta", "eta_v", "last", "count", "clock"):
            setattr(self, name, np.ascontiguousarray(arrays[name]).copy())
