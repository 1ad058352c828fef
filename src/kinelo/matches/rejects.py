"""Rows that could not be used: where they stand in the file, and why.

Reading never stops at a dirty row and never drops one in silence. Row 1 is the first row below the header.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.runtime.atomic import write_file
from kinelo.runtime.frames import to_pandas

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


LONGEST_CONTENT = 60
"""Characters of what stood in a rejected row that are shown."""

MOST_EXAMPLES = 3


@dataclass(frozen=True)
class Rejects:
    """Rejected rows of one reading: ``row`` (from 1), ``reason``, the ``table`` they stood in, and what stood there.

    >>> rejects = Rejects.of("matches", [3, 7], ["missing score", "missing score"])
    >>> len(rejects), rejects.counts()
    (2, {'missing score': 2})
    """

    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    reason: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    table: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    content: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    @classmethod
    def of(cls, table: str, row: object, reason: object, content: object = None) -> Rejects:
        """Rejected rows of one table, with what stands where the reason lies."""
        rows = np.asarray(row, np.int64)
        said = np.full(rows.size, "", object) if content is None else np.asarray(content, object)
        return cls(rows, np.asarray(reason, object), np.full(rows.size, table, object), said)

    def __len__(self) -> int:
        return self.row.size

    def __add__(self, other: Rejects) -> Rejects:
        return Rejects(
            np.concatenate([self.row, other.row]),
            np.concatenate([self.reason, other.reason]),
            np.concatenate([self.table, other.table]),
            np.concatenate([self.content, other.content]),
        )

    def unless_used(self, elsewhere: Rejects) -> Rejects:
        """These without the line-ups that another reading of the same file could use, since it did not reject them.

        >>> here, there = (Rejects.of("lineups", rows, ["unreadable side"] * 2) for rows in ([3, 7], [3, 9]))
        >>> here.unless_used(there).row.tolist()
        [3]
        """
        lineup = self.table == "lineups"
        kept = ~lineup | np.isin(self.row, elsewhere.row[elsewhere.table == "lineups"])
        return Rejects(self.row[kept], self.reason[kept], self.table[kept], self.content[kept])

    def counts(self) -> dict[str, int]:
        """How many rows were rejected for each reason, the most frequent first."""
        reasons, number = np.unique(self.reason.astype(str), return_counts=True)
        order = np.argsort(-number, kind="stable")
        return {str(reasons[k]): int(number[k]) for k in order}

    def in_words(self) -> str:
        """The reasons and how often each holds, with some of what could not be read.

        >>> Rejects.of("matches", [3, 7], ["unreadable date", "missing score"], ["31 Juno", ""]).in_words()
        "missing score: 1, unreadable date: 1 ('31 Juno')"
        """
        return ", ".join(f"{reason}: {number:,}{self._shown(reason)}" for reason, number in self.counts().items())

    def _shown(self, reason: str) -> str:
        said = list(dict.fromkeys(text for text in self.content[self.reason == reason].tolist() if text))
        more = ", …" if len(said) > MOST_EXAMPLES else ""
        return f" ({', '.join(map(repr, said[:MOST_EXAMPLES]))}{more})" if said else ""

    def to_pandas(self) -> pd.DataFrame:
        """The rejected rows as a pandas frame; pyarrow is not needed."""
        return to_pandas(self)

    def to_polars(self) -> pl.DataFrame:
        """The rejected rows as a table."""
        import polars as pl

        return pl.DataFrame(
            {
                "table": self.table.astype(str),
                "row": self.row,
                "reason": self.reason.astype(str),
                "content": self.content.astype(str),
            },
            schema={"table": pl.String, "row": pl.Int64, "reason": pl.String, "content": pl.String},
        )

    def write(self, path: str | Path) -> None:
        """Write the rejected rows to a CSV file."""
        try:
            write_file(path, self.to_polars().write_csv().encode())
        except OSError as error:
            raise InputError(f"The file {path} cannot be written: {(error.strerror or 'failed').lower()}.") from error
