"""Tables for a spreadsheet: text that a spreadsheet would run as a formula is marked as text.

A name such as ``=HYPERLINK(…)`` comes from a stranger's file. A leading apostrophe makes it plain text; numbers, also
negative ones, stay as they are. Whatever reads names takes the apostrophe off again (:mod:`kinelo.matches.names`).
"""

from __future__ import annotations

import polars as pl

from kinelo.matches.names import FORMULA


def harmless(table: pl.DataFrame) -> pl.DataFrame:
    """The table with formulas in its columns of text turned into text.

    >>> harmless(pl.DataFrame({"name": ["=1+1", "-3", "A-B"], "change": [-1.5, 0.0, 2.0]})).rows()
    [("'=1+1", -1.5), ('-3', 0.0), ('A-B', 2.0)]
    """
    text = pl.col(pl.String)
    risky = text.str.contains(f"^{FORMULA}") & text.cast(pl.Float64, strict=False).is_null()
    return table.with_columns(pl.when(risky).then(pl.lit("'") + text).otherwise(text).name.keep())
