"""Where everyone stands: the growing arrays of ratings that a rater of sides keeps, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches
from kinelo.raters.state import NEVER, Column, RaterState, Seats

if TYPE_CHECKING:
    import polars as pl


class Ratings(NamedTuple):
    """Rating, variance, matches played and last day of every side."""

    rating: NDArray[np.float64]
    variance: NDArray[np.float64]
    games: NDArray[np.int64]
    last: NDArray[np.int64]


class Standing(RaterState):
    """Rating, variance, matches played and last day of every name met.

    >>> standing = Standing(rating=1500.0, variance=100.0)
    >>> standing.place("A"), standing.known.rating[:1].tolist(), standing.known.games[:1].tolist()
    (0, [1500.0], [0])
    """

    kind: ClassVar[Any] = Ratings
    columns = dict.fromkeys(Ratings._fields, Column())

    def __init__(self, rating: float, variance: float, **more: float) -> None:
        whole = {name: np.empty(0, np.int64) for name in ("games", "last")}
        known = self.kind(**{name: whole.get(name, np.empty(0)) for name in self.kind._fields})
        begun = {"rating": float(rating), "variance": float(variance), **more}
        self.begun = tuple(begun)
        super().__init__(known, begun | {"last": NEVER})

    def place(self, name: str) -> int:
        """Place of one name, made if it is new."""
        at = self.roster.place(name)
        if at >= self.known.rating.size:
            self.grow()
        return at

    def admit(self, matches: Matches) -> Seats:
        """Places of both sides of every match; new names begin at the start."""
        places = self.roster.places(matches.teams)
        self.grow()
        if self.waiting and len(matches):
            self.arrive(int(matches.day[0]))
        if self.roster.in_order(matches.teams):
            return Seats(matches.home, matches.away)
        return Seats(places[matches.home], places[matches.away])

    def find(self, matches: Matches) -> Seats:
        """Places of both sides without adding anyone (-1: never played), and the names among them that never played."""
        return self.find_sides(matches, self.roster, self.known.games)

    def table(self, **columns: NDArray) -> pl.DataFrame:
        """Everyone who has played, the best first; ``columns`` replace or join rating and uncertainty."""
        import polars as pl

        size = len(self)
        shown = {"rating": self.known.rating[:size], "uncertainty": np.sqrt(self.known.variance[:size])} | columns
        played = pl.DataFrame(
            {
                "name": pl.Series(self.roster.names, dtype=pl.String),
                **shown,
                "matches": self.games_shown(),
                "last_played": self.last_played(),
            }
        )
        return played.filter(self.here()).sort("rating", descending=True, maintain_order=True)

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything, as arrays to be kept on disk."""
        return {**super().to_arrays(), "start": np.array([self.fills[name] for name in self.begun])}

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        self.fills |= dict(zip(self.begun, arrays["start"].tolist(), strict=True))
