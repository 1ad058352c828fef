"""Where the header of a table stands: sheets and files of people often begin with a title, a date, an empty line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinelo.matches.columns import (
    LINEUP_COLUMNS,
    LOSER_COLUMNS,
    MATCH_COLUMNS,
    MOST_LISTED,
    ORDER_COLUMNS,
    plain_name,
)
from kinelo.matches.contest_columns import CONTEST_COLUMNS

ROWS_ABOVE = 30
"""Rows above a header at most."""

KNOWN = frozenset(
    word
    for columns in (MATCH_COLUMNS, CONTEST_COLUMNS, ORDER_COLUMNS, LINEUP_COLUMNS, LOSER_COLUMNS)
    for words in columns.values()
    for word in words
    if len(word) > 1
)
NUMBER_OR_DATE = re.compile(r"[\d.,:/%+\-−– ]*\d[\d.,:/%+\-−– ]*(?:[Tt ]\d.*)?")


def header_row(rows: Sequence[Sequence[str | None]]) -> int:
    """Number of the row that names the columns: the first, or one below rows that say less.

    >>> header_row([["Results 2024", None, None], [None] * 3, ["Date", "Home", "Away"], ["2024-05-01", "A", "B"]])
    2
    >>> header_row([["x", "y", "z"], ["date", "home", "away"]])
    0
    """
    filled = [sum(bool((cell or "").strip()) for cell in row) for row in rows[: ROWS_ABOVE + 1]]
    for k, row in enumerate(rows[: ROWS_ABOVE + 1]):
        cells = [cell.strip() for cell in row if cell and cell.strip()]
        known = {plain_name(cell) for cell in cells} & KNOWN
        if len(known) >= 2 and not any(NUMBER_OR_DATE.fullmatch(cell) for cell in cells[:2]):
            return k if all(2 * above <= filled[k] for above in filled[:k]) else 0
    return 0


def note_of_title(rows: Sequence[Sequence[str | None]]) -> str:
    """What to say of rows above the header."""
    words = [cell.strip() for row in rows for cell in row if cell and cell.strip()]
    number = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
    said = f", which {'says' if len(rows) == 1 else 'say'} {', '.join(map(repr, words[:MOST_LISTED][:3]))}"
    return f"{number} above the header{said if words else ''}, were left out".replace("say '", "say: '")
