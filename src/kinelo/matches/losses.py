"""How many rows of a file could not be used: said first where they are many, and asked about where they are most.

Rows that were understood and left out on purpose are no losses: matches still to come, who did not start, repeats that
the user wants dropped. Nor are empty rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.rejects import Rejects
from kinelo.matches.table_rows import TableRows

MANY = 0.05
"""Share of rows lost above which it is said before anything else."""

MOST = 0.5
"""Share above which nothing is answered unless the user accepts it."""

NOT_LOST = (
    "did not start", "disqualified", "did not finish", "place given by redress", "duplicate row",
    "match not played yet", "contest not over yet",
)  # fmt: skip
"""Reasons of rows that were understood, and left out on purpose."""

NO_RESULT = ("missing score", "missing result", "missing place")


class NoMatches(InputError):
    """No row of a table can be used, or too few; ``rejected`` says why of each."""

    def __init__(self, words: str, rejected: Rejects) -> None:
        super().__init__(words)
        self.rejected = rejected


def check_losses(rows: TableRows, rejected: Rejects, at: NDArray[np.int64], name: str) -> None:
    """Put a note of many losses before all others; refuse a table most of whose rows are lost, unless accepted.

    ``at`` says where in the table each of the rejected rows stands.
    """
    used = np.flatnonzero(rows.good)
    lost = ~np.isin(rejected.reason.astype(str), NOT_LOST) & ~_to_come(rows, rejected, at, used)
    number, total = int(lost.sum()), int(lost.sum()) + used.size
    if number <= MANY * total:
        return
    reasons, counts = np.unique(rejected.reason[lost].astype(str), return_counts=True)
    reason = str(reasons[np.argmax(counts)])
    first = int(np.flatnonzero(lost & (rejected.reason == reason))[0])
    content = f"{rejected.content[first]!r} in " if rejected.content[first] else ""
    words = (
        f"{number:,} of {total:,} rows ({number / total:.0%}) cannot be used, {int(counts.max()):,} of them for: "
        f"{reason}, such as {content}row {rejected.row[first]:,}"
    ).replace("%)", " %)")
    if number > MOST * total and not rows.options.accept_losses:
        raise NoMatches(
            f"Most of {name} is lost: {words}. Mend the file, or say which column means what with columns={{...}}; "
            "accept_losses=True goes on with the rest.",
            rejected,
        )
    rows.notes.insert(0, words)


def _to_come(rows: TableRows, rejected: Rejects, at: NDArray[np.int64], used: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rejects without a result that lie after all that is used, by date or, without dates, in the file."""
    blank = np.isin(rejected.reason.astype(str), NO_RESULT)
    if not used.size or not blank.any():
        return np.zeros(len(rejected), bool)
    later = at > used[-1]
    return blank & (later if "date" not in rows.found else rows.date[at] >= rows.date[used].max())
