"""Where everyone stands: the growing arrays of ratings that a rater of sides keeps, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinelo.matches.matches import Matches
from kinelo.raters.roster import Roster

if TYPE_CHECKING:
    import polars as pl

NEVER = np.iinfo(np.int64).min // 2
KEPT = ("rating", "variance", "count", "last")


class Standing:
    """Rating, variance, matches played and last day of every name met, and whatever else a rater keeps of each.

    >>> standing = Standing(rating=1500.0, variance=100.0)
    >>> standing.place("A"), standing.rating[:1].tolist(), standing.count[:1].tolist()
    (0, [1500.0], [0])
    """

    def __init__(self, rating: float, variance: float, **more: float) -> None:
        self.roster = Roster()
        self.start = {"rating": float(rating), "variance": float(variance), **more}
        self.rating = np.empty(0)
        self.variance = np.empty(0)
        self.more = {name: np.empty(0) for name in more}
        self.count = np.empty(0, np.int64)
        self.last = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self.roster)

    def _grow(self) -> None:
        size = len(self.roster)
        extra = max(2 * self.rating.size, size, 16) - self.rating.size
        self.rating = np.concatenate([self.rating, np.full(extra, self.start["rating"])])
        self.variance = np.concatenate([self.variance, np.full(extra, self.start["variance"])])
        for name, values in self.more.items():
            self.more[name] = np.concatenate([values, np.full(extra, self.start[name])])
        self.count = np.concatenate([self.count, np.zeros(extra, np.int64)])
        self.last = np.concatenate([self.last, np.full(extra, NEVER)])

    def place(self, name: str) -> int:
        """Place of one name, made if it is new."""
        at = self.roster.place(name)
        if at >= self.rating.size:
            self._grow()
        return at

    def sides(self, matches: Matches) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Places of both sides of every match; new names begin at the start."""
        places = self.roster.places(matches.teams)
        if len(self.roster) > self.rating.size:
            self._grow()
        if self.roster.in_order(matches.teams):
            return matches.home, matches.away
        return places[matches.home], places[matches.away]

    def known_sides(self, matches: Matches) -> tuple[NDArray[np.int32], NDArray[np.int32], tuple[str, ...]]:
        """Places of both sides without adding anyone (-1: never played), and the names among them that never played."""
        places = self.roster.find(matches.teams)
        places[(places >= 0) & (self.count[np.maximum(places, 0)] == 0 if self.count.size else False)] = -1
        home, away = places[matches.home], places[matches.away]
        strangers = np.unique(np.concatenate([matches.home[home < 0], matches.away[away < 0]]))
        return home, away, tuple(matches.teams[code] for code in strangers)

    def at(self, places: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Ratings, variances and last days at places; the start's at -1."""
        return (
            np.append(self.rating, self.start["rating"])[places],
            np.append(self.variance, self.start["variance"])[places],
            np.append(self.last, NEVER)[places],
        )

    def table(self, **columns: NDArray) -> pl.DataFrame:
        """Everyone who has played, the best first; ``columns`` replace or join rating and uncertainty."""
        import polars as pl

        size = len(self)
        shown = {"rating": self.rating[:size], "uncertainty": np.sqrt(self.variance[:size])} | columns
        played = pl.DataFrame(
            {
                "name": pl.Series(self.roster.names, dtype=pl.String),
                **shown,
                "matches": self.count[:size],
                "last_played": np.maximum(self.last[:size], -(10**6)).astype("datetime64[D]"),
            }
        )
        return played.filter(pl.col("matches") > 0).sort("rating", descending=True, maintain_order=True)

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        names = np.array(self.roster.names, dtype=str) if size else np.empty(0, "U1")
        more = {name: values[:size] for name, values in self.more.items()}
        kept = {name: getattr(self, name)[:size] for name in KEPT}
        return {"names": names, **kept, **more, "start": np.array(list(self.start.values()))}

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.roster = Roster()
        self.roster.places(tuple(arrays["names"].tolist()))
        for name in KEPT:
            setattr(self, name, arrays[name].copy())
        self.more = {name: arrays[name].copy() for name in self.more}
        self.start = dict(zip(self.start, arrays["start"].tolist(), strict=True))
