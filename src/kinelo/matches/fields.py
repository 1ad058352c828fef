"""From the text or numbers of one column to values a rater can use; what cannot be understood becomes missing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.names import encode_names

DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%d/%m/%y",
    "%m/%d/%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
EARLIEST, LATEST = np.datetime64("1700-01-01", "D"), np.datetime64("2200-01-01", "D")

HOME_WORDS = ("h", "home", "w", "win", "won", "home win", "model_a", "player_a", "team_a", "white", "left")
DRAW_WORDS = ("d", "draw", "drawn", "x", "t", "tie", "tied", "1/2-1/2", "½-½", "tie (bothbad)")
AWAY_WORDS = ("a", "away", "l", "loss", "lost", "away win", "model_b", "player_b", "team_b", "black", "right")


def read_dates(column: pl.Series) -> tuple[NDArray[np.datetime64], str | None]:
    """Days (NaT where unreadable), and the format chosen where the dates are text."""
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        days = column if column.dtype == pl.Date else column.cast(pl.Date)
        return days.to_numpy().astype("datetime64[D]", copy=False), None
    text = column.cast(pl.String).str.strip_chars().str.replace(r"^(\d{4})$", "$1-01-01")
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
    if column.dtype == pl.String:
        column = column.str.strip_chars()
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64, strict=False)
    return (column.fill_null(np.nan) if column.null_count() else column).to_numpy()


def read_flags(column: pl.Series) -> NDArray[np.int8]:
    """Yes and no as 1 and 0, -1 where the column says neither."""
    return read_words(column, {1: ("true", "t", "yes", "y", "1", "1.0"), 0: ("false", "f", "no", "n", "0", "0.0")})


def read_words(column: pl.Series, meanings: Mapping[int, tuple[str, ...]]) -> NDArray[np.int8]:
    """The number each entry stands for, whatever its case; -1 for an entry that stands for none.

    >>> read_words(pl.Series(["Home", "away ", "?", None]), {0: ("home",), 1: ("away",)}).tolist()
    [0, 1, -1, -1]
    """
    meaning = {word: number for number, words in meanings.items() for word in words}
    (codes,), entries = encode_names(column)
    return np.array([*(meaning.get(entry.lower(), -1) for entry in entries), -1], np.int8)[codes]


def read_scoreline(column: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both scores from text like ``2-1`` or ``2:1``; None when the column holds something else."""
    if column.dtype != pl.String:
        return None
    parts = column.str.extract_groups(r"^\s*(?<home>\d+)\s*[-:–]\s*(?<away>\d+)\s*$").struct
    home, away = read_numbers(parts.field("home")), read_numbers(parts.field("away"))
    return (home, away) if np.isfinite(home).any() else None


def read_results(column: pl.Series, home: pl.Series, away: pl.Series) -> tuple[NDArray[np.float64], str]:
    """Results in [-1, 1] from words, winners' names or numbers, and a remark on how they were read."""
    numbers = read_numbers(column)
    least = np.fmin.reduce(numbers)
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase() if column.dtype == pl.String else None
    if text is None or (np.isfinite(least) and not text.is_in(["x", "d", "draw"]).any()):
        if not least < 0:
            scaled = 2.0 * numbers
            scaled -= 1.0
            return scaled, "results were read as 0 for an away win, 0.5 for a draw, 1 for a home win"
        return numbers.copy(), "results were read as -1 for an away win, 0 for a draw, 1 for a home win"
    named = np.full(len(text), np.nan)
    for side, value in ((home, 1.0), (away, -1.0)):
        name = side.cast(pl.String).str.strip_chars().str.to_lowercase()
        named[(text == name).fill_null(False).to_numpy()] = value
    worded = np.full(len(text), np.nan)
    for words, value in ((HOME_WORDS, 1.0), (DRAW_WORDS, 0.0), (AWAY_WORDS, -1.0)):
        worded[text.is_in(words).fill_null(False).to_numpy()] = value
    if np.isfinite(least):
        worded[(text == "1").fill_null(False).to_numpy()] = 1.0
        worded[(text == "2").fill_null(False).to_numpy()] = -1.0
    # A side may be called "A" or "Home": names hold where they explain every match that was not drawn.
    if np.all(np.isfinite(named) | (worded == 0) | text.is_null().to_numpy()):
        return np.where(np.isnan(named), worded, named), "results were read from the names of winners"
    return np.where(np.isnan(worded), named, worded), "results were read from words"
