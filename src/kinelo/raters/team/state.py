"""Where sides stand that also have a strength under every level of a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches
from kinelo.raters.levels import LevelState
from kinelo.raters.rating_table import Standing
from kinelo.raters.state import Column, Seats


class TeamRatings(NamedTuple):
    """Rating, variance, matches played and last day of every side, and its deviations under levels of conditions."""

    rating: NDArray[np.float64]
    variance: NDArray[np.float64]
    games: NDArray[np.int64]
    last: NDArray[np.int64]
    delta: NDArray[np.float64]
    delta_v: NDArray[np.float64]
    slot_v: NDArray[np.float64]


class TeamStanding(LevelState, Standing):
    """The standing of sides, in matches and under conditions."""

    kind = TeamRatings
    columns: ClassVar[Mapping[str, Column]] = {**Standing.columns, **dict.fromkeys(("delta", "delta_v"), Column())}

    def __init__(
        self,
        rating: float,
        variance: float,
        conditions: tuple[str, ...] = (),
        values: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(rating, variance)
        self.known = self.known._replace(delta=np.empty((0, 0)), delta_v=np.empty((0, 0)))
        self.heed(conditions, values or {})

    def admit(self, matches: Matches) -> Seats:
        """Places of both sides of every match, and slots of conditions; new names and levels begin at the start."""
        slots = self.slots.codes(matches)
        return super().admit(matches)._replace(slots=slots)

    def find(self, matches: Matches) -> Seats:
        """The same without adding anyone (-1: never played, or a level never met)."""
        return super().find(matches)._replace(slots=self.slots.codes(matches, admit=False))
