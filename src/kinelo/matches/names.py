"""From names to small integers, at the speed of a hash table, and which names are none.

A short table goes through a dictionary. Of a long one Polars hashes every name twice with different seeds, a compiled
table of those 128 bits hands out codes in order of first appearance, and only the distinct names ever become Python
strings. Where matches come in chunks, codes go on from chunk to chunk: whole numbers are found in a table, plain text
by its hashes, anything else by its letters.
"""

from __future__ import annotations

import re
import unicodedata

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
    codes, names = (_encode_few if sum(map(len, text)) <= FEW_ROWS else _encode_many)(text)
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


def _encode_few(text: list[pl.Series]) -> tuple[list[NDArray[np.int32]], list[str | None]]:
    """Codes and the distinct names as they stand, from a dictionary."""
    index: dict[str | None, int] = {}
    codes = [np.array([index.setdefault(n, len(index)) for n in column.to_list()], np.int32) for column in text]
    return codes, list(index)


def _encode_many(text: list[pl.Series]) -> tuple[list[NDArray[np.int32]], list[str | None]]:
    """The same from a table of hashes, made larger until they fit."""
    slots = SMALLEST_TABLE
    while (tried := _encode(text, slots)) is None:
        slots *= 16
    return tried


def _encode(text: list[pl.Series], slots: int) -> tuple[list[NDArray[np.int32]], list[str | None]] | None:
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


@njit(cache=True, nogil=True)
def _look_up(key, check, slot_key, slot_check, slot_code, codes):
    """Code of each pair of hashes, −1 where the table has none.

    ``key``, ``check`` (uint64) and ``codes`` (int32) are (names); ``slot_…`` are the table, a power of two long.
    """
    mask = slot_code.size - 1
    for k in range(key.size):
        at = np.int64(key[k] & np.uint64(mask))
        while slot_code[at] >= 0 and not (slot_key[at] == key[k] and slot_check[at] == check[k]):
            at = (at + 1) & mask
        codes[k] = slot_code[at]


@njit(cache=True, nogil=True)
def _enter(key, check, codes, slot_key, slot_check, slot_code):
    """Put pairs of hashes that the table lacks into it."""
    mask = slot_code.size - 1
    for k in range(key.size):
        at = np.int64(key[k] & np.uint64(mask))
        while slot_code[at] >= 0:
            at = (at + 1) & mask
        slot_key[at] = key[k]
        slot_check[at] = check[k]
        slot_code[at] = codes[k]


@njit(cache=True, nogil=True)
def hand_out_numbers(numbers, table, codes, fresh, known, new):
    """Code of each number from a table by the numbers themselves; how many are new then, which ``fresh`` receives.

    ``numbers`` (int64) and ``codes`` (int32) are (names), ``table`` (int32) is (largest number + 1).
    """
    for k in range(numbers.size):
        at = numbers[k]
        if table[at] < 0:
            table[at] = known + new
            fresh[new] = at
            new += 1
        codes[k] = table[at]
    return new


class HashedCodes:
    """Codes of names by 128 bits of their hashes, in a table that grows: what rivers of text are looked up in.

    >>> table, names = HashedCodes(), pl.Series(["b", "a", "b"])
    >>> new = names.gather(table.new_rows(names))
    >>> table.enter(new, np.array([0, 1], np.int32))
    >>> new.to_list(), table.codes(names).tolist(), table.new_rows(names).size
    (['b', 'a'], [0, 1, 0], 0)
    """

    def __init__(self) -> None:
        self.known = 0
        self.slots = self._empty(SMALLEST_TABLE)
        self._asked: tuple[pl.Series, tuple[NDArray, NDArray]] | None = None

    @staticmethod
    def _empty(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
        return np.empty(size, np.uint64), np.empty(size, np.uint64), np.full(size, -1, np.int32)

    def _hashes(self, names: pl.Series) -> tuple[NDArray, NDArray]:
        if self._asked is None or self._asked[0] is not names:
            key, check = (names.hash(seed).to_numpy() for seed in SEEDS)
            self._asked = names, (key, check)
        return self._asked[1]

    def codes(self, names: pl.Series) -> NDArray[np.int32]:
        """Codes of names; −1 for one that has not been entered."""
        found = np.empty(len(names), np.int32)
        _look_up(*self._hashes(names), *self.slots, found)
        return found

    def new_rows(self, names: pl.Series) -> NDArray[np.int64]:
        """Rows at which names stand for the first time that have not been entered."""
        rows = np.flatnonzero(self.codes(names) < 0)
        key, check = self._hashes(names)
        pairs = pl.DataFrame({"key": key[rows], "check": check[rows]})
        return rows[pairs.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()] if rows.size else rows

    def enter(self, names: pl.Series, codes: NDArray[np.int32]) -> None:
        """Remember the codes of new names."""
        self.known += len(names)
        key, check = (names.hash(seed).to_numpy() for seed in SEEDS)
        if 2 * self.known > self.slots[2].size:
            size = self.slots[2].size
            while 2 * self.known > size:
                size *= 4
            kept, self.slots = self.slots, self._empty(size)
            met = kept[2] >= 0
            _enter(kept[0][met], kept[1][met], kept[2][met], *self.slots)
        _enter(key, check, codes, *self.slots)


def without_stand_ins(names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether each name is one, and not a word such as ``NA``, ``nan`` or ``-`` that stands for none."""
    return np.array([name.lower() not in NO_NAMES for name in names], bool)


def could_be_names(names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether each name, though it is a word for none, may be what somebody is called."""
    return np.array([name.lower() in HANDLES for name in names], bool)


def spelt_alike(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Names that differ only in case, blanks or accents.

    >>> spelt_alike(("Ajax", "PSV", "AJAX ", "Real  Madrid", "Real Madrid", "Perú", "Peru"))
    [('Ajax', 'AJAX '), ('Real  Madrid', 'Real Madrid'), ('Perú', 'Peru')]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        plain = " ".join(name.casefold().replace(JOINERS[0], "").replace(JOINERS[1], "").split())
        if not plain.isascii():
            plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
        groups.setdefault(plain, []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


class RunningNames:
    """Names met so far, in order of first appearance, and their codes.

    >>> names = RunningNames()
    >>> [side.tolist() for side in names.codes_of_numbers(np.array([7, 7]), np.array([5, 9]), largest=9)]
    [[0, 0], [1, 2]]
    >>> names.codes(["5", "b"]).tolist(), names.teams
    ([1, 3], ('7', '5', '9', 'b'))
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.ways: set[str] = set()
        self.table = np.empty(0, np.int32)
        self.hashes = HashedCodes()
        self._teams: tuple[str, ...] = ()

    @property
    def teams(self) -> tuple[str, ...]:
        """All names so far; the same tuple until there are more."""
        if len(self._teams) < len(self.names):
            self._teams = tuple(self.names)
        return self._teams

    def codes(self, names: list[str]) -> NDArray[np.int32]:
        """Codes of distinct names, new ones added."""
        self.ways.add("names")
        return self._looked_up(names)

    def enter(self, names: list[str], way: str) -> NDArray[np.int32]:
        """Codes of distinct names that are new to this way of looking names up; other ways may know them."""
        self.ways.add(way)
        if len(self.ways) > 1:
            return self._looked_up(names)
        self.names += names
        return np.arange(len(self.names) - len(names), len(self.names), dtype=np.int32)

    def _looked_up(self, names: list[str]) -> NDArray[np.int32]:
        # Files of one kind never need the names by their letters, so that the index is made when another kind comes.
        begin, index = len(self.names), self.index
        index.update(zip(self.names[len(index) :], range(len(index), begin)))
        found = np.array([index.setdefault(name, len(index)) for name in names], np.int32)
        self.names += [name for name, code in zip(names, found.tolist()) if code >= begin]
        return found

    def codes_of_numbers(
        self, home: NDArray[np.int64], away: NDArray[np.int64], largest: int
    ) -> list[NDArray[np.int32]]:
        """Codes of names that are whole numbers up to ``largest``."""
        if largest >= self.table.size:
            grown = np.full(max(largest + 1, 2 * self.table.size), -1, np.int32)
            grown[: self.table.size] = self.table
            self.table = grown
        codes = [np.empty(home.size, np.int32), np.empty(away.size, np.int32)]
        fresh, begin, new = np.empty(home.size + away.size, np.int64), len(self.names), 0
        for numbers, found in zip((home, away), codes):
            new = hand_out_numbers(numbers, self.table, found, fresh, begin, new)
        if new:
            entered = self.enter(pl.Series(fresh[:new]).cast(pl.String).to_list(), "numbers")
            if len(self.ways) > 1:
                self.table[fresh[:new]] = entered
                codes = [self.table[home], self.table[away]]
        return codes

    def codes_of_text(self, both: pl.Series) -> NDArray[np.int32] | None:
        """Codes of names in text without blanks around them; None where a new one is no plain name."""
        fresh = self.hashes.new_rows(both)
        if fresh.size:
            new = both.gather(fresh)
            if not _plain_names(new):
                return None
            self.hashes.enter(new, self.enter(new.to_list(), "text"))
        return self.hashes.codes(both)


def _plain_names(names: pl.Series) -> bool:
    """Whether every name would be read as it stands: no blanks around it, not empty, no word that stands for none."""
    odd = (names.str.strip_chars() != names) | (names == "") | names.str.to_lowercase().is_in(list(NO_NAMES))
    odd |= pl.Series([clean_name(name) != name for name in names.to_list()], dtype=pl.Boolean)
    return not bool(odd.any()) and not bool(names.str.ends_with(".0").any())
