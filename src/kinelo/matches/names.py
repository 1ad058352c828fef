"""What the cells of a column say: text, names as small integers, numbers, yes and no.

Names of a short table go through a dictionary. Of a long one Polars hashes every name twice with different seeds, a
compiled table of those 128 bits hands out codes in order of first appearance, and only the distinct names ever become
Python strings. What cannot be understood becomes missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

SEEDS = (11, 23)
SMALLEST_TABLE = 1 << 13
FEW_ROWS = 1000
"""Names up to which a dictionary is faster than hashes."""

INTEGER = re.compile(r"-?\d+(\.0+)?$|$")
NO_NAMES = frozenset({"na", "n/a", "nan", "nat", "none", "null", "nil", "-", "--", "–", "?", "<na>", "#n/a", "unknown",
                      "bye", "freilos", "spielfrei"})  # fmt: skip
HANDLES = frozenset({"na", "nan", "none", "null", "nil"})
"""Words for none that people call themselves, too."""

INVISIBLE = "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
JOINERS = "\u200c\u200d"
MARKS = re.compile(f"[{INVISIBLE}]")
BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
FORMULA = r"[=+\-@\t\r\n＝＋－＠]"
"""What text begins with that a spreadsheet would run; Kinelo writes an apostrophe before it."""

TERMINAL_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
"""Sequences that command a terminal."""

CONTROLS = {code: " " if chr(code).isspace() else None for code in (*range(32), *range(127, 160))}
GUARDED = re.compile(f"'{FORMULA}")
UNDECIDED = frozenset({"tbd", "tba"})
"""Words for a side that is not known yet; beside a result they are names, as TBA is that of Tampa Bay."""


@njit(cache=True, nogil=True)
def _hand_out(key, check, codes, first, slot_key, slot_check, slot_code, known):
    """Give each pair of hashes its code from a table with open addressing; return how many are known then.

    ``first`` receives the row at which a code appears first. Gives up with -1 when the table is half
    full. ``key``, ``check`` (uint64), ``codes`` (int32) and ``first`` (int64) are (names).
    """
    mask = slot_code.size - 1
    for k in range(key.size):
        at = np.int64(key[k] & np.uint64(mask))
        while slot_code[at] >= 0 and not (slot_key[at] == key[k] and slot_check[at] == check[k]):
            at = (at + 1) & mask
        if slot_code[at] < 0:
            if 2 * known >= slot_code.size:
                return -1
            slot_key[at] = key[k]
            slot_check[at] = check[k]
            slot_code[at] = known
            first[known] = k
            known += 1
        codes[k] = slot_code[at]
    return known


def as_text(column: pl.Series) -> pl.Series:
    """A column as text: whole numbers without a fraction, lengths of time as a clock, not-a-number as missing.

    >>> as_text(pl.Series([1.0, None, 2.5, float("nan")])).to_list()
    ['1', None, '2.5', None]
    >>> as_text(pl.Series([93_784_005], dtype=pl.Duration("ms"))).to_list()
    ['26:03:04.005']
    """
    if column.dtype == pl.String:
        return column
    if column.dtype == pl.Duration:
        sign, ms = (
            pl.when(column < pl.duration()).then(pl.lit("-")).otherwise(pl.lit("")),
            column.dt.total_milliseconds().abs(),
        )
        parts = [ms // 3_600_000, ms // 60_000 % 60, ms // 1000 % 60, ms % 1000]
        text = [part.cast(pl.String).str.zfill(width) for part, width in zip(parts, (1, 2, 2, 3))]
        behind = pl.when(parts[3] > 0).then("." + text[3]).otherwise(pl.lit(""))
        return pl.select((sign + text[0] + ":" + text[1] + ":" + text[2] + behind).alias(column.name)).to_series()
    if column.dtype.is_float():
        number = column.fill_nan(None)
        whole = (number == number.floor()) & (number.abs() < 2.0**53)
        return pl.select(
            pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))
        ).to_series()
    if isinstance(column.dtype, pl.List | pl.Struct | pl.Array):
        return pl.Series(column.name, [None] * len(column), dtype=pl.String)
    return column.cast(pl.String)


def clean_name(name: str) -> str:
    """A name without blanks around it, without marks that nobody sees, with one way to write each letter and blank.

    Joiners stay where a script needs them. An apostrophe that guards a spreadsheet against a formula is taken off.

    >>> [clean_name(name) for name in ("\\u200eA\\u200bjax ", "Real\\u00a0Madrid", "'@home", "'s-Gravenhage")]
    ['Ajax', 'Real Madrid', '@home', "'s-Gravenhage"]
    """
    if name.isalnum() and name.isascii():
        return name
    if not name.isascii():
        name = BLANKS.sub(" ", MARKS.sub("", unicodedata.normalize("NFC", name)))
        if all(letter < "\u0370" for letter in name if letter.isalpha()):
            name = name.replace(JOINERS[0], "").replace(JOINERS[1], "")
    if not name.isprintable():
        name = TERMINAL_SEQUENCES.sub("", name).translate(CONTROLS)
    name = name.strip()
    return name[1:] if name[:1] == "'" and GUARDED.match(name) else name


def encode_names(
    *columns: pl.Series, mended: list[str] | None = None
) -> tuple[list[NDArray[np.int32]], tuple[str, ...]]:
    """Shared integer codes of the names in several columns, in order of first appearance; -1 where missing or blank.

    Blanks around a name and marks that nobody sees do not count (:func:`clean_name`), and whole numbers are written
    without a fraction, whatever their column's type. ``mended`` receives names that lost more than blanks around them.

    >>> codes, names = encode_names(pl.Series(["b", "a "]), pl.Series(["a", None]))
    >>> [code.tolist() for code in codes], names
    ([[0, 1], [1, -1]], ('b', 'a'))
    """
    text = [as_text(column) for column in columns]
    if sum(map(len, text)) <= FEW_ROWS:
        distinct: dict[str | None, int] = {}
        codes = [
            np.array([distinct.setdefault(n, len(distinct)) for n in column.to_list()], np.int32) for column in text
        ]
        names = list(distinct)
    else:
        slots = SMALLEST_TABLE
        while (encoded := _encode_by_hashes(text, slots)) is None:
            slots *= 16
        codes, names = encoded
    # A column with a gap that went through a float writes team 1 as "1.0", and its neighbour as "1".
    numbers = any((name or "").endswith(".0") for name in names) and all(
        INTEGER.match((n or "0").strip()) for n in names
    )
    index: dict[str, int] = {}
    final = np.full(len(names), -1, np.int32)
    for code, name in enumerate(names):
        stripped = clean_name(name or "")
        if mended is not None and stripped != (name or "").strip():
            mended.append(stripped)
        if numbers:
            stripped = stripped.partition(".")[0]
        if stripped:
            final[code] = index.setdefault(stripped, len(index))
    if len(index) < len(names):
        codes = [np.take(final, column) for column in codes]
    return codes, tuple(index)


def _encode_by_hashes(text: list[pl.Series], slots: int) -> tuple[list[NDArray[np.int32]], list[str | None]] | None:
    """Codes and the distinct names as they stand, or None when a table of this size is too small for them."""
    first = np.empty(slots, np.int64)
    table = np.empty(slots, np.uint64), np.empty(slots, np.uint64), np.full(slots, -1, np.int32)
    codes: list[NDArray[np.int32]] = []
    names: list[str | None] = []
    for column in text:
        # Each hash is used where polars put it: copies of columns this long cost more than the table.
        key, check = (column.hash(seed).to_numpy() for seed in SEEDS)
        codes.append(np.empty(len(column), np.int32))
        known = _hand_out(key, check, codes[-1], first, *table, len(names))
        if known < 0:
            return None
        names += column.gather(first[len(names) : known]).to_list()
    return codes, names


def without_stand_ins(names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether each name is one, and not a word such as ``NA``, ``nan`` or ``-`` that stands for none."""
    return np.array([name.lower() not in NO_NAMES for name in names], bool)


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
            words = text.unique(maintain_order=True).drop_nulls().to_list()
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
        try:
            meanings[word] = float(text if "_" not in text else "")
        except ValueError:
            continue
    doubtful = next((w for w in words if BY_COMMAS.fullmatch(plain[w])), None)
    if notes is not None and doubtful is not None and doubtful in meanings and not decimal and not grouped:
        small = plain[doubtful].replace(",", ".")
        notes.append(
            f"{doubtful!r} in {name!r} was read as {meanings[doubtful]:.0f}, with a comma between thousands; write "
            f"{small} if it is less"
        )
    return meanings


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
