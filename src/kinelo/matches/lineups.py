"""Who played: the line-ups of both sides of every match, as one compressed table.

The players of match ``k`` stand at ``player[offsets[2k]:offsets[2k + 1]]`` for the home side and at
``player[offsets[2k + 1]:offsets[2k + 2]]`` for the away side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.presentation import counted


@dataclass(frozen=True, repr=False)
class Lineups:
    """Line-ups of ``n`` matches; an empty stretch means the line-up of that side is not known.

    Attributes
    ----------
    offsets
        ``2 n + 1`` bounds of the stretches.
    player
        Codes into ``players``.
    minutes
        Time on the pitch, NaN where unknown.
    starter
        1 started, 0 came in later, -1 unknown.
    role
        Codes into ``roles`` (positions as the file names them), -1 unknown.

    >>> pair = Lineups(np.array([0, 2, 3]), np.array([0, 1, 2], np.int32), ("Ann", "Bea", "Cid"))
    >>> pair.names(0, side=0), pair.names(0, side=1)
    (('Ann', 'Bea'), ('Cid',))
    """

    offsets: NDArray[np.int64]
    player: NDArray[np.int32]
    players: tuple[str, ...]
    minutes: NDArray[np.float64] = field(default=None)  # type: ignore[assignment]
    starter: NDArray[np.int8] = field(default=None)  # type: ignore[assignment]
    role: NDArray[np.int16] = field(default=None)  # type: ignore[assignment]
    roles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        size = self.player.size
        unknown = {
            "minutes": np.full(size, np.nan),
            "starter": np.full(size, -1, np.int8),
            "role": np.full(size, -1, np.int16),
        }
        for name, values in unknown.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        both = int(self.known().sum())
        matches = counted(len(self), "match", "matches")
        return f"Lineups: {matches}, {both:,} with both line-ups, {counted(len(self.players), 'player', 'players')}"

    def __len__(self) -> int:
        return (self.offsets.size - 1) // 2

    def names(self, match: int, side: int) -> tuple[str, ...]:
        """Names of the players of one side (0 home, 1 away) of one match."""
        k = 2 * match + side
        return tuple(self.players[code] for code in self.player[self.offsets[k] : self.offsets[k + 1]])

    def known(self) -> NDArray[np.bool_]:
        """For each match, whether the line-ups of both sides are known."""
        filled = np.diff(self.offsets) > 0
        return filled[0::2] & filled[1::2]

    def __getitem__(self, index: slice | NDArray[Any]) -> Lineups:
        """Line-ups of some of the matches; codes and names stay as they are."""
        if isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            bounds = self.offsets[2 * first : 2 * max(last, first) + 1]
            entries: slice | NDArray[Any] = slice(bounds[0], bounds[-1])
            offsets = bounds - bounds[0]
        else:
            chosen = np.arange(len(self))[index]
            sides = (2 * chosen[:, None] + np.arange(2)).ravel()
            length = np.diff(self.offsets)[sides]
            offsets = np.concatenate([[0], np.cumsum(length)])
            entries = np.repeat(self.offsets[sides] - offsets[:-1], length) + np.arange(offsets[-1])
        return Lineups(
            offsets,
            self.player[entries],
            self.players,
            self.minutes[entries],
            self.starter[entries],
            self.role[entries],
            self.roles,
        )
