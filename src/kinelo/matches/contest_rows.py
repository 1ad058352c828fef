"""What each row of a long table of contests says, how it ended, and what is wrong with it, if anything.

An ending is a number of which less is better, or a word for not finishing, and which one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import plain_name
from kinelo.matches.contest_columns import POINTS
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED
from kinelo.matches.dates import DateOrder
from kinelo.matches.fields import read_numbers
from kinelo.matches.names import as_text

Best = Literal["lowest", "highest"]

STATUS_WORDS = {
    NOT_STARTED: (
        r"^(dns|d\.n\.s\.?|dnc|dnq|dnpq|wd|w/d|scr|scratched|withdr(ew|awn)?|absent|107 ?% rule)$"
        r"|did not (start|qualify|pre-?qualify)|not started|non[- ]starter|nicht (gestartet|angetreten)"
    ),
    DISQUALIFIED: r"^(dsq|dq|dqf|exc?|ocs|bfd|ufd|dne|dgm)$|disqu|excluded|desclassificad|descalificad|squalificat",
    UNFINISHED: (
        r"^(dnf|d\.n\.f\.?|ret\.?|r|nc|ab|aband\.?|retired|otl|hd|un|np|ko|raf)$"
        r"|did not finish|not classified|abandon|ausgeschieden|aufgegeben"
    ),
}
"""What tables say of who did not reach the end, the surest first."""

DONE = r"^(finished|classified|ok|f|fin|done|complete[d]?|\+ ?\d+ laps?|)$"
NUMBER = r"^(?:=|t|t=)?\s*(\d+(?:[.,]\d+)?)\s*(?:st|nd|rd|th|\.|=|º|°|ª|er|e|de)?$"
CLOCK = r"^(?:(\d+)[:h])?(\d+)[:m'](\d+(?:[.,]\d+)?)\s*(?:s|\")?$"
UNKNOWN = -1


def read_values(column: pl.Series, kind: str) -> NDArray[np.float64]:
    """Numbers of a column of places, scores or times, NaN where there is none; times may be written as 1:32:03.5.

    >>> read_values(pl.Series(["1st", "=2", "T2", "4.", "DNF"]), "place").tolist()
    [1.0, 2.0, 2.0, 4.0, nan]
    >>> read_values(pl.Series(["59.5", "1:02.25", "1:00:00"]), "time").tolist()
    [59.5, 62.25, 3600.0]
    """
    if kind == "time" and (column.dtype == pl.Duration or column.dtype == pl.Time):
        return column.cast(pl.Int64).cast(pl.Float64).fill_null(np.nan).to_numpy()
    values = np.array(read_numbers(column))
    if column.dtype != pl.String or not np.isnan(values).any():
        return values
    text = column.str.strip_chars().str.to_lowercase()
    if kind == "place":
        found = read_numbers(text.str.extract(NUMBER, 1))
    elif kind == "time":
        parts = text.str.extract_groups(CLOCK).struct
        hours, minutes, seconds = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
        found = np.where(np.isnan(hours), 0.0, hours) * 3600.0 + minutes * 60.0 + seconds
    else:
        return values
    return np.where(np.isnan(values), found, values)


def read_endings(column: pl.Series) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """What the words of a column say of each row (-1 for nothing known), and whether it says anything at all.

    >>> ended, says = read_endings(pl.Series(["Finished", "DNF", "Disqualified", "Engine", None]))
    >>> ended.tolist(), says.tolist()
    ([0, 1, 2, -1, -1], [True, True, True, True, False])
    """
    text = as_text(column).str.strip_chars().str.to_lowercase().fill_null("")
    ended = np.full(len(text), UNKNOWN, np.int8)
    ended[(text.str.contains(DONE) & (text != "")).to_numpy()] = FINISHED
    for ending, pattern in reversed(STATUS_WORDS.items()):
        ended[text.str.contains(pattern).to_numpy()] = ending
    return ended, (text != "").to_numpy()


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
        return 1.0, f"the shortest {column!r} is best; best='highest' (--best highest) if the longest is"
    if plain_name(column) in POINTS:
        return -1.0, f"the most of {column!r} is best"
    raise InputError(
        f"Nothing tells whether a high or a low {column!r} is better: say best='highest' or best='lowest' "
        "(--best on the command line)."
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
    advantages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    dates: DateOrder | None = None


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
    distance: NDArray[np.float64] | None = None
    identifiers: tuple[str, ...] = ()
    titles: tuple[str, ...] | None = None

    @property
    def good(self) -> NDArray[np.bool_]:
        """Rows nothing is wrong with so far."""
        return self.fault == 0

    def blame(self, wrong: NDArray[np.bool_], reason: str) -> int:
        """Mark rows as unusable, and say how many; the first reason found for a row is the one that is reported."""
        new = wrong & self.good
        self.fault[new] = CONTEST_REASONS.index(reason)
        return int(new.sum())
