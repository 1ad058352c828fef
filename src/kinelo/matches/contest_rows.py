"""What each row of a long table of contests says, and what is wrong with it, if anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.contest_columns import FEWEST, POINTS
from kinelo.matches.dates import DateOrder
from kinelo.matches.table_rows import TableRows

Best = Literal["lowest", "highest"]


def direction(kind: str, column: str, best: Best | None) -> tuple[float, str]:
    """1 where less is better, -1 where more is, and how that is known; a column that does not say is asked about.

    >>> direction("score", "Points", None)
    (-1.0, "the most of 'Points' is best")
    """
    if best is not None and (not isinstance(best, str) or best not in ("lowest", "highest")):
        raise InputError(f"best must be 'lowest' or 'highest', not {best!r:.60}.")
    if best is not None:
        return (1.0 if best == "lowest" else -1.0), f"the {best} {column!r} is best, as asked"
    if kind == "place":
        return 1.0, f"the lowest {column!r} is best"
    if kind == "time":
        return 1.0, f"the shortest {column!r} is best; best='highest' if the longest is"
    if plain_name(column) in POINTS:
        return -1.0, f"the most of {column!r} is best"
    if plain_name(column) in FEWEST:
        return 1.0, f"the lowest {column!r} is best"
    raise InputError(
        f"Nothing tells whether a high or a low {column!r} is better: say best='highest' or best='lowest'."
    )


Kept = Literal["behind", "last", "out"]
KEPT = get_args(Kept)

CONTEST_REASONS = (
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
    "contest not over yet",
    "impossible weight",
    "entrant twice in one contest",
    "team-mates with different places",
    "place given by redress",
    "only one entrant in the contest",
    "did not start",
    "disqualified",
    "did not finish",
)


@dataclass(frozen=True)
class ContestOptions:
    """What the user of :func:`kinelo.read_contests` asked for."""

    columns: Mapping[str, Any] | None = None
    slots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    team: str | None = None
    best: Best | None = None
    unfinished: Kept = "behind"
    disqualified: Kept = "out"
    not_started: Kept = "out"
    played: bool = True
    aliases: Mapping[str, str] = field(default_factory=dict)
    advantages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dates: DateOrder | None = None
    endings: Mapping[str, int] = field(default_factory=dict)
    accept_losses: bool = False


@dataclass
class ContestRows(TableRows):
    """The columns of a long table, one value per row of the file, right or wrong.

    ``row`` is the row of the file (from 0) from which each comes: a wide sheet has several in one. ``events`` are the
    contests before those of several days with the same entrants were parted, None where none was.
    """

    reasons: ClassVar[tuple[str, ...]] = CONTEST_REASONS
    noun: ClassVar[str] = "contests"
    side: ClassVar[str] = "entrant"

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
    distance: NDArray[np.float64] | None = None
    identifiers: tuple[str, ...] = ()
    events: NDArray[np.int64] | None = None
    titles: tuple[str, ...] | None = None
    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    kind: str = ""
    order_columns: tuple[str, ...] = ()

    @property
    def outcome(self) -> str | None:
        """The column that says how entrants ended."""
        return self.found.get(self.kind)
