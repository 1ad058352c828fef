"""Text of unknown encoding with separated fields: which encoding, which separator, and which lines are damaged.

A damaged line spoils itself alone: it is blanked before the rest is read, so that rows keep their numbers.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import distinct_names
from kinelo.matches.header import ROWS_ABOVE, header_row, note_of_title

SEPARATORS = ",;\t|"
QUOTED_OR_RETURN = re.compile(rb'("[^"]*")|\r(?!\n)')
Lines = NDArray[np.int64]


def decode(raw: bytes, name: str) -> tuple[bytes, tuple[str, ...]]:
    """The text as UTF-8 without a mark, and a note where it was not UTF-8 before."""
    if raw.startswith(b"\xef\xbb\xbf"):
        raw, encoding = raw[3:], "UTF-8 with a byte-order mark"
    elif raw.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return _recode(raw, "utf-32", "UTF-32", name)
    elif raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _recode(raw, "utf-16", "UTF-16", name)
    elif b"\0" in raw[:1000]:
        if raw[1:4] == b"\0\0\0" or raw[:3] == b"\0\0\0":
            return _recode(raw, "utf-32-le" if raw[0] else "utf-32-be", "UTF-32", name)
        even, odd = raw[0:1000:2].count(0), raw[1:1000:2].count(0)
        if max(even, odd) < 0.3 * len(raw[:1000]) / 2:
            raise InputError(f"{name} is neither a CSV file nor one of Parquet or JSON lines.")
        return _recode(raw, "utf-16-le" if odd > even else "utf-16-be", "UTF-16", name)
    else:
        encoding = ""
    if not raw.isascii():
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            try:
                text = raw.decode("cp1252")
            except UnicodeDecodeError:
                text, encoding = raw.decode("latin-1"), "Latin-1"
            else:
                encoding = "Windows-1252"
            return _one_newline(text.encode()), (f"the file is not UTF-8: it was read as {encoding}",)
    return _one_newline(raw), (f"the file was read as {encoding}",) if encoding else ()


def _recode(raw: bytes, codec: str, encoding: str, name: str) -> tuple[bytes, tuple[str, ...]]:
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        raise InputError(f"{name} begins like {encoding} but is not: {error.reason} at byte {error.start}") from None
    return _one_newline(text.lstrip("\ufeff").encode()), (f"the file was read as {encoding}",)


def _one_newline(raw: bytes) -> bytes:
    """The text with line feeds where carriage returns end its lines, as they do where one stands in the header."""
    if b"\r" not in raw:
        return raw
    if b"\r\r\n" in raw:  # a file written as text twice on Windows
        raw = raw.replace(b"\r\r\n", b"\n")
    if b"\n" not in raw:
        return raw.replace(b"\r", b"\n")
    header = QUOTED_OR_RETURN.sub(_line_end, raw[: raw.index(b"\n") + 1])
    return QUOTED_OR_RETURN.sub(_line_end, raw) if header.count(b"\n") > 1 else raw


def _line_end(found: re.Match[bytes]) -> bytes:
    return found[1] or b"\n"


def read_csv(raw: bytes) -> tuple[pl.DataFrame, dict[int, str], tuple[str, ...], int]:
    """The table, every column as text; the rows (from 0) whose line is damaged, with the reason; what was noticed; and
    how many lines end with the header."""
    lines = 1
    if raw[:4].lower() == b"sep=":
        raw = raw.partition(b"\n")[2]
        lines = 2
    above = _lines_above(raw)
    raw = raw.split(b"\n", len(above))[-1]
    first = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    header = first.decode("utf-8", errors="replace")
    separator = max(SEPARATORS, key=header.count)
    names = _header(header.strip("\r\n"), separator)
    distinct, notes = distinct_names(names)
    if distinct != names:
        renamed = io.StringIO()
        csv.writer(renamed, delimiter=separator, lineterminator="").writerow(distinct)
        raw = renamed.getvalue().encode() + raw[len(first) :]
    raw, broken = _set_aside(raw, separator, len(names))
    # Text throughout, so that one bad number spoils its row and not the column.
    table = pl.read_csv(
        io.BytesIO(raw),
        separator=separator,
        infer_schema=False,
        truncate_ragged_lines=True,
    )
    return table, broken, (*notes, note_of_title(above)) if above else notes, lines + len(above)


def _lines_above(raw: bytes) -> list[list[str]]:
    """Fields of the lines that stand above the header."""
    lines = [line.decode("utf-8", errors="replace") for line in raw.split(b"\n", ROWS_ABOVE + 1)[: ROWS_ABOVE + 1]]
    rows = []
    for line in lines:
        try:
            rows.append(_header(line.strip("\r"), max(SEPARATORS, key=line.count)))
        except InputError:
            rows.append([line])
    return rows[: header_row(rows)]


def _header(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error as error:
        raise InputError(f"The header line of the table could not be read: {error}") from None


def _set_aside(raw: bytes, separator: str, columns: int) -> tuple[bytes, dict[int, str]]:
    """Blank the lines that would spoil others: an odd number of quotes, or more fields than the header has."""
    text = np.frombuffer(raw, np.uint8)
    if not _any_damage(text, ord(separator), columns):
        return raw, {}
    ends = np.flatnonzero(text == ord("\n"))
    if ends.size == 0 or ends[-1] != text.size - 1:
        ends = np.append(ends, text.size)
    fields = _counted(text, ord(separator), ends)
    quotes = _counted(text, ord('"'), ends) if b'"' in raw else np.zeros(ends.size, np.int64)
    odd = quotes % 2 == 1
    many = (fields > columns - 1) & (quotes == 0)
    odd[0] = many[0] = False
    if odd.any() and _reads_well(raw, separator, columns):
        odd[:] = False
    damaged = np.flatnonzero(odd | many)
    if damaged.size == 0:
        return raw, {}
    starts = np.append(0, ends[:-1] + 1)
    pieces, at = [], 0
    for line in damaged:
        pieces += [raw[at : starts[line]], (separator * max(columns - 1, 1)).encode()]
        at = int(ends[line])
    # Lines without anything are skipped by the reader and count as no row.
    empty = np.cumsum((ends - starts == 0) | ((ends - starts == 1) & (text[np.minimum(starts, text.size - 1)] == 13)))
    reasons = {
        int(line - 1 - empty[line]): "stray quote in the line" if odd[line] else "more fields than columns"
        for line in damaged
    }
    return b"".join([*pieces, raw[at:]]), reasons


@njit(cache=True, nogil=True)
def _any_damage(text, separator, columns):
    """Whether some line below the header has an odd number of quotes, or none and more fields than the header.

    ``text`` is an array of bytes (uint8), ``separator`` one of them, ``columns`` (int) the fields of the header.
    """
    fields = quotes = 0
    header = True
    for byte in text:
        if byte == separator:
            fields += 1
        elif byte == 34:
            quotes += 1
        elif byte == 10:
            if not header and (quotes % 2 == 1 or (quotes == 0 and fields > columns - 1)):
                return True
            fields = quotes = 0
            header = False
    return not header and (quotes % 2 == 1 or (quotes == 0 and fields > columns - 1))


def _counted(text: NDArray[np.uint8], byte: int, ends: Lines) -> Lines:
    return np.diff(np.searchsorted(np.flatnonzero(text == byte), ends), prepend=0)


def _reads_well(raw: bytes, separator: str, columns: int) -> bool:
    """Whether quoted fields that run over several lines explain the odd quotes."""
    try:
        reader = csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator, strict=True)
        return all(len(row) in (0, columns) for row in reader)
    except csv.Error:
        return False
