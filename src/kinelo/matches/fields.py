"""From the text or numbers of one column to values a rater can use; what cannot be understood becomes missing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.names import as_text, encode_names

DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%d/%m/%y",
    "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
YES = (
    "true", "t", "yes", "y", "1", "1.0", "ja", "j", "wahr", "sim", "s", "verdadeiro", "si", "sí", "verdadero", "oui",
    "vrai", "sì", "vero", "waar",
)  # fmt: skip
NO = (
    "false", "f", "no", "n", "0", "0.0", "nein", "falsch", "não", "nao", "falso", "non", "faux", "nee", "onwaar",
)  # fmt: skip
EARLIEST, LATEST = np.datetime64("1700-01-01", "D"), np.datetime64("2200-01-01", "D")


def read_dates(column: pl.Series) -> tuple[NDArray[np.datetime64], str | None]:
    """Days (NaT where unreadable), and the format chosen where the dates are text."""
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        # The day as written in the zone given, as it would stand in a file.
        local = column.dt.replace_time_zone(None) if isinstance(column.dtype, pl.Datetime) else column
        days = local.cast(pl.Date)
        return days.to_numpy().astype("datetime64[D]", copy=False), None
    text = as_text(column).str.strip_chars().str.replace(r"^(\d{4})$", "$1-01-01")
    best, best_count, chosen = np.full(len(text), np.datetime64("NaT"), "datetime64[D]"), 0, None
    for form in DATE_FORMATS:
        # A time of day after the date ("2024-05-01T18:00Z", "01/05/2024 18:00") is cut off.
        day = text.str.split(" ").list.first().str.split("T").list.first() if " " not in form else text
        days = day.str.to_date(form, strict=False).to_numpy().astype("datetime64[D]")
        plausible = (days >= EARLIEST) & (days < LATEST)
        if (count := int(plausible.sum())) > best_count:
            best, best_count, chosen = np.where(plausible, days, np.datetime64("NaT")), count, form
        if count == len(text):
            break
    return best, chosen


def read_numbers(column: pl.Series) -> NDArray[np.float64]:
    """Numbers, NaN where there is none."""
    if isinstance(column.dtype, pl.List | pl.Struct | pl.Array):
        return np.full(len(column), np.nan)
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        column = text.cast(pl.Float64, strict=False)
        if column.null_count() > text.null_count():
            # A comma for the decimal point, as spreadsheets of many countries write it.
            column = column.fill_null(text.str.replace(r"^(-?\d+),(\d+)$", "$1.$2").cast(pl.Float64, strict=False))
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64, strict=False)
    return (column.fill_null(np.nan) if column.null_count() else column).to_numpy()


def read_flags(column: pl.Series) -> NDArray[np.int8]:
    """Yes and no as 1 and 0, -1 where the column says neither."""
    return read_words(column, {1: YES, 0: NO})


def read_words(column: pl.Series, meanings: Mapping[int, tuple[str, ...]]) -> NDArray[np.int8]:
    """The number each entry stands for, whatever its case; -1 for an entry that stands for none.

    >>> read_words(pl.Series(["Home", "away ", "?", None]), {0: ("home",), 1: ("away",)}).tolist()
    [0, 1, -1, -1]
    """
    meaning = {word: number for number, words in meanings.items() for word in words}
    (codes,), entries = encode_names(column)
    return np.array([*(meaning.get(entry.lower(), -1) for entry in entries), -1], np.int8)[codes]
