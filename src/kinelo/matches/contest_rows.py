"""What each row of a long table of contests says, and what is wrong with it, if anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.contest_outcomes import Best

Kept = Literal["behind", "out"]

REASONS = (
    "",
    "stray quote in the line",
    "more fields than columns",
    "unreadable line",
    "missing entrant",
    "a name that stands for none",
    "missing slot",
    "missing contest",
    "unreadable date",
    "missing place",
    "unreadable place",
    "impossible weight",
    "entrant twice in one contest",
    "team-mates with different places",
    "only one entrant in the contest",
    "did not start",
    "disqualified",
    "did not finish",
)


@dataclass(frozen=True)
class ContestOptions:
    """What the user of :func:`kinelo.read_contests` asked for."""

    columns: Mapping[str, str] | None = None
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    team: str | None = None
    best: Best | None = None
    unfinished: Kept = "behind"
    disqualified: Kept = "out"
    not_started: Kept = "out"
    played: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass
class ContestRows:
    """The columns of a long table, one value per row of the file, right or wrong."""

    table: pl.DataFrame
    found: dict[str, str]
    options: ContestOptions
    entrant: NDArray[np.int32]
    entrants: tuple[str, ...]
    slots: dict[str, tuple[NDArray[np.int32], tuple[str, ...]]]
    fault: NDArray[np.int8]
    notes: list[str]
    date: NDArray[np.datetime64]
    contest: NDArray[np.int64]
    value: NDArray[np.float64]
    ended: NDArray[np.int8]
    weight: NDArray[np.float64]
    identifiers: tuple[str, ...] = ()

    @property
    def good(self) -> NDArray[np.bool_]:
        """Rows nothing is wrong with so far."""
        return self.fault == 0

    def blame(self, wrong: NDArray[np.bool_], reason: str) -> int:
        """Mark rows as unusable, and say how many; the first reason found for a row is the one that is reported."""
        new = wrong & self.good
        self.fault[new] = REASONS.index(reason)
        return int(new.sum())
