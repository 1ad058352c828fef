"""Rows that could not be used: where they stand in the file, and why.

Reading never stops at a dirty row and never drops one in silence. Row 1 is the first row below the header.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinelo.runtime.atomic import replace_file

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Rejects:
    """Rejected rows of one reading: ``row`` (from 1), ``reason``, and the ``table`` they stood in.

    >>> rejects = Rejects.of("matches", [3, 7], ["missing score", "missing score"])
    >>> len(rejects), rejects.counts()
    (2, {'missing score': 2})
    """

    row: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    reason: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))
    table: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    @classmethod
    def of(cls, table: str, row: object, reason: object) -> Rejects:
        """Rejected rows of one table."""
        rows = np.asarray(row, np.int64)
        return cls(rows, np.asarray(reason, object), np.full(rows.size, table, object))

    def __len__(self) -> int:
        return self.row.size

    def __add__(self, other: Rejects) -> Rejects:
        return Rejects(
            np.concatenate([self.row, other.row]),
            np.concatenate([self.reason, other.reason]),
            np.concatenate([self.table, other.table]),
        )

    def counts(self) -> dict[str, int]:
        """How many rows were rejected for each reason, the most frequent first."""
        reasons, number = np.unique(self.reason.astype(str), return_counts=True)
        order = np.argsort(-number, kind="stable")
        return {str(reasons[k]): int(number[k]) for k in order}

    def to_polars(self) -> pl.DataFrame:
        """The rejected rows as a table."""
        import polars as pl

        return pl.DataFrame(
            {"table": self.table.astype(str), "row": self.row, "reason": self.reason.astype(str)},
            schema={"table": pl.String, "row": pl.Int64, "reason": pl.String},
        )

    def write(self, path: str | Path) -> None:
        """Write the rejected rows to a CSV file."""
        replace_file(Path(path), self.to_polars().write_csv().encode())
