"""From the text or numbers of one column to values a rater can use; what cannot be understood becomes missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.names import encode_names

YES = (
    "true", "t", "yes", "y", "1", "1.0", "ja", "j", "wahr", "sim", "s", "verdadeiro", "si", "sí", "verdadero", "oui",
    "vrai", "sì", "vero", "waar",
)  # fmt: skip
NO = (
    "false", "f", "no", "n", "0", "0.0", "nein", "falsch", "não", "nao", "falso", "non", "faux", "nee", "onwaar",
)  # fmt: skip
GROUPED = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?!\d))")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
BY_COMMAS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
BY_POINTS_ALONE = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+"
PERCENT = re.compile(r"([+-]?\d+(?:[.,]\d+)?) ?%")
BY_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")


def read_numbers(column: pl.Series, notes: list[str] | None = None) -> NDArray[np.float64]:
    """Numbers, NaN where there is none; ``notes`` receives what had to be decided.

    Text may have a comma for the decimal point, or commas, points, blanks or apostrophes between thousands: the column
    decides which.

    >>> noted = []
    >>> read_numbers(pl.Series("elo", ["1,512", "998"]), noted).tolist(), noted
    ([1512.0, 998.0], ["'1,512' in 'elo' was read as 1512, with a comma between thousands; write 1.512 if it is less"])
    >>> read_numbers(pl.Series(["1.512", "0,75"])).tolist()
    [1512.0, 0.75]
    >>> read_numbers(pl.Series(["1.012", "998"])).tolist(), read_numbers(pl.Series(["1.012", "98.5"])).tolist()
    ([1012.0, 998.0], [1.012, 98.5])
    """
    if isinstance(column.dtype, pl.List | pl.Struct | pl.Array):
        return np.full(len(column), np.nan)
    if column.dtype == pl.String and thousands_by_points([column]):
        plain = column.str.strip_chars().str.replace_all(".", "", literal=True)
        note_points(column, notes)
        return plain.cast(pl.Float64, strict=False).to_numpy()
    if column.dtype == pl.String and not holds_numbers(column):
        text = column.str.strip_chars()
        column = text.cast(pl.Float64, strict=False)
        if column.null_count() > text.null_count():
            words = text.unique().drop_nulls().to_list()
            numbers = _by_words(words, text.name, notes)
            column = text.replace_strict(numbers, default=None, return_dtype=pl.Float64)
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64, strict=False)
    return column.to_numpy()


def thousands_by_points(columns: Sequence[pl.Series], *, whole: bool = False) -> bool:
    """Whether points in these columns of text stand between thousands: ``1.012`` beside ``998``.

    Then every number from 1000 on has them, none below has, and some has three digits. Where numbers are known to be
    ``whole``, such as scores, the last is not asked for.
    """
    if any(column.dtype != pl.String for column in columns):
        return False
    text = pl.concat([column.alias("") for column in columns])
    pointed = text.filter(text.str.contains(".", literal=True)).str.strip_chars()
    if not len(pointed) or not bool(pointed.str.contains(f"^(?:{BY_POINTS_ALONE})$").all()):
        return False
    plain = text.str.strip_chars().cast(pl.Float64, strict=False).filter(~text.str.contains(".", literal=True))
    most = plain.abs().max()
    return whole if most is None else 1000 > most >= (0 if whole else 100)  # type: ignore[operator]


def note_points(column: pl.Series, notes: list[str] | None) -> None:
    """Say of a column how its points were read."""
    pointed = column.filter(column.str.contains(".", literal=True).fill_null(False))
    if notes is not None and len(pointed):
        shown = pointed[0].strip()
        notes.append(
            f"{shown!r} in {column.name!r} was read as {shown.replace('.', '')}, with a point between thousands; write "
            f"{shown}0 if it is less"
        )


def holds_numbers(text: pl.Series) -> bool:
    """Whether every entry of a column of text is a plain number, so that nothing else needs to be looked for in it."""
    return text.cast(pl.Float64, strict=False).null_count() == text.null_count()


def _by_words(words: list[str], name: str, notes: list[str] | None) -> dict[str, float]:
    """The number that each of these words is, as far as they are numbers."""
    plain = {word: GROUPED.sub("", word.replace("\N{MINUS SIGN}", "-")) for word in words}
    every = set(plain.values())
    decimal = any(DECIMAL_COMMA.fullmatch(w) and not BY_COMMAS.fullmatch(w) for w in every)
    decimal |= any("," in w and BY_POINTS.fullmatch(w) for w in every)
    grouped = any(BY_COMMAS.fullmatch(w) and ("." in w or w.count(",") > 1) for w in every)
    meanings: dict[str, float] = {}
    for word, text in plain.items():
        if BY_COMMAS.fullmatch(text) and not (decimal and not grouped):
            # Where the column has both kinds of commas, one between three digits may be either.
            text = text if decimal and text.count(",") == 1 and "." not in text else text.replace(",", "")
        elif share := PERCENT.fullmatch(text):
            meanings[word] = float(share[1].replace(",", ".")) / 100.0
            continue
        elif decimal and BY_POINTS.fullmatch(text):
            text = text.replace(".", "").replace(",", ".")
        elif DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        number = _float(text)
        if number is not None:
            meanings[word] = number
    doubtful = next((w for w in words if BY_COMMAS.fullmatch(plain[w])), None)
    if notes is not None and doubtful is not None and doubtful in meanings and not decimal and not grouped:
        small = plain[doubtful].replace(",", ".")
        notes.append(
            f"{doubtful!r} in {name!r} was read as {meanings[doubtful]:.0f}, with a comma between thousands; write "
            f"{small} if it is less"
        )
    return meanings


def _float(text: str) -> float | None:
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


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
