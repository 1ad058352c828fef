"""What the Gaussian filter knows: strengths, their covariance, and who has played when."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.raters.conditions import Slots
from kinelo.raters.kalman.kernels import FIRST, LEVEL, Known
from kinelo.raters.roster import Roster
from kinelo.raters.wandering import TODAY

MOST_SIDES = 5000
BY_SIDE = ("eta", "eta_v", "delta", "delta_v", "last", "games")


class FilterState:
    """Names, and mean and covariance of venue advantages and strengths (or only variances) in arrays that grow."""

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
        self.home_variance = home_variance
        self.slots, self.values = Slots(conditions), values
        self.roster = Roster()
        self.known = Known(
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
        self.known.x[LEVEL] = level

    def __len__(self) -> int:
        return len(self.roster)

    def admit(
        self, matches: Matches
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
        """Places of both sides, newcomers in order of their first match; slots of conditions; the newcomers' names."""
        codes = np.column_stack([matches.home, matches.away]).ravel()
        first = np.full(len(matches.teams), codes.size)
        first[codes[::-1]] = np.arange(codes.size)[::-1]  # the earliest is written last
        before = len(self)
        places = np.full(len(matches.teams), -1)
        for code in np.argsort(first, kind="stable")[: np.count_nonzero(first < codes.size)]:
            places[code] = self.roster.place(matches.teams[code])
        slots = self.slots.codes(matches)
        self._grow()
        return places[matches.home], places[matches.away], slots, tuple(self.roster.names[before:])

    def find(self, matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
        """Places of both sides (-1: never met), slots of conditions, and the names never met; nobody is added."""
        places = self.roster.find(matches.teams).astype(np.int64)
        home, away = places[matches.home], places[matches.away]
        strangers = np.unique(np.concatenate([matches.home[home < 0], matches.away[away < 0]]))
        slots = self.slots.codes(matches, admit=False)
        return home, away, slots, tuple(matches.teams[code] for code in strangers)

    def _grow(self) -> None:
        size, room = len(self), self.known.last.size
        fresh = self.slots.variances(self.values)[self.known.slot_v.size :]
        if fresh.size:
            wide = {name: np.pad(getattr(self.known, name), ((0, 0), (0, fresh.size))) for name in ("delta", "delta_v")}
            wide["delta_v"][:, self.known.slot_v.size :] = fresh
            self.known = self.known._replace(**wide, slot_v=np.append(self.known.slot_v, fresh))
        if size <= room:
            return
        if self.full and size > MOST_SIDES:
            raise too_many(size)
        more = max(size, room + room // 2, 16) - room
        longer = {name: _lengthened(getattr(self.known, name), more) for name in ("x", *BY_SIDE)}
        longer["eta_v"][room:] = self.home_variance
        longer["delta_v"][room:] = self.known.slot_v
        longer |= {"C": np.pad(self.known.C, (0, more))} if self.full else {"v": np.pad(self.known.v, (0, more))}
        self.known = self.known._replace(**longer)

    def covariance(self) -> NDArray[np.float64]:
        """Covariance of all strengths, symmetric."""
        rows = slice(FIRST, FIRST + len(self))
        if not self.full:
            return np.diag(self.known.v[rows])
        lower = np.tril(self.known.C[rows, rows])
        return lower + np.tril(lower, -1).T

    def relative(
        self, days: int, belief: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Strengths and variances relative to the average of those who played within ``days`` of the last match.

        ``belief`` takes the place of what the filter believes of the strengths.
        """
        size = len(self)
        active = (self.known.last[:size] >= self.known.clock[TODAY] - days) & (self.known.games[:size] > 0)
        share = active / max(active.sum(), 1)
        strength, covariance = belief or (self.known.x[FIRST : FIRST + size], self.covariance())
        spread = covariance @ share
        return strength - share @ strength, np.maximum(np.diagonal(covariance) - 2 * spread + share @ spread, 0.0)

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        rows = FIRST + size
        kept = {name: getattr(self.known, name)[:size] for name in BY_SIDE}
        kept |= {"x": self.known.x[:rows], "C": self.known.C[:rows, :rows], "v": self.known.v[:rows]}
        kept |= {"slot_v": self.known.slot_v, "slots": self.slots.to_array()}
        names = np.array(self.roster.names, dtype=str) if size else np.empty(0, "U1")
        return {"names": names, **kept, "clock": self.known.clock}

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.roster = Roster()
        self.roster.places(tuple(arrays["names"].tolist()))
        self.slots.from_array(arrays["slots"])
        self.full = arrays["C"].size > 0
        self.known = Known(**{name: np.ascontiguousarray(arrays[name]).copy() for name in Known._fields})


def too_many(sides: int) -> InputError:
    """What to say where a full covariance would not fit."""
    return InputError(
        f"{sides} sides are too many for a full covariance (at most {MOST_SIDES}); use covariance='diagonal'"
    )


def _lengthened(values: NDArray, extra: int) -> NDArray:
    return np.concatenate([values, np.zeros((extra, *values.shape[1:]), values.dtype)])
