"""Cells that stand for a block of rows, as merged cells do: a date or a race is written once, above rows left empty."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from kinelo.matches.names import as_text

LEAST_EMPTY = 0.5
"""Share of rows that must lack a value before one value stands for several rows."""


def fill_blocks(table: pl.DataFrame, columns: Iterable[str], notes: list[str]) -> pl.DataFrame:
    """The table with these columns filled downwards where each value begins a block, and a note of each.

    A block is meant where the first row has a value, at least half of the rows have none, and no value stands twice in
    a row: a column that repeats its values has gaps instead.

    >>> noted, table = [], pl.DataFrame({"race": ["Spa", None, "Monza", None], "boat": list("abab")})
    >>> fill_blocks(table, ["race"], noted)["race"].to_list()
    ['Spa', 'Spa', 'Monza', 'Monza']
    >>> fill_blocks(table.with_columns(race=pl.Series(["Spa", "Spa", None, None])), ["race"], noted)["race"].to_list()
    ['Spa', 'Spa', None, None]
    """
    others = [pl.col(column) for column in table.columns if column not in set(columns := list(columns))]
    if not others or table.height < 2:
        return table
    for column in columns:
        text = as_text(table[column]).str.strip_chars()
        empty = (text.is_null() | (text == "")).to_numpy()
        if empty[0] or not empty.any():
            continue
        filled = ~table.select(pl.all_horizontal(other.is_null() for other in others)).to_series().to_numpy()
        values = text.filter(pl.Series(~empty))
        again = bool((values.shift(-1) == values).any())
        if again or (empty & filled).sum() < LEAST_EMPTY * filled.sum():
            continue
        at = np.maximum.accumulate(np.where(empty, 0, np.arange(table.height)))
        series = table[column].gather(np.where(filled, at, np.arange(table.height)))
        table = table.with_columns(series.alias(column))
        notes.append(
            f"{column!r} is written once for a block of rows: {int((empty & filled).sum()):,} empty cells were filled "
            "from above"
        )
    return table
