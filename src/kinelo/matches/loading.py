"""Tables from wherever people keep them: text in any common encoding, workbooks, Parquet, JSON, frames, dictionaries.

A damaged line of text spoils itself alone: it is blanked before the rest is read, so that rows keep their numbers. Of a
workbook, all sheets that hold the columns of the first are read together.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import narwhals as nw
import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.errors import InputError, in_one_line
from kinelo.matches.columns import (
    CONTEST_COLUMNS,
    MOST_LISTED,
    RATING_WORDS,
    ROWS_ABOVE,
    distinct_names,
    header_row,
    listed,
    note_of_title,
    plain_name,
)
from kinelo.matches.names import as_text
from kinelo.matches.tournament_report import is_report, names_by_rank, read_report
from kinelo.runtime.extras import require
from kinelo.runtime.reading import check_file

if TYPE_CHECKING:
    import fastexcel

LONGEST_REASON = 160
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
HEAD = 1 << 16
"""Bytes of a file by which its columns are known."""
ACCEPTED = (
    "a CSV, Parquet, JSON-lines or .xlsx file, a pandas, polars or pyarrow table, a dictionary of columns or a list of "
    "rows"
)


@dataclass(frozen=True)
class Opened:
    """A table, what was noticed on opening it, and rows that could not be read (from 0, with the reason).

    Rows that are ``used_up`` tell of a match that stands in another row. ``header_lines`` is the number of lines of the
    file above the first row. ``rows`` says from which row of the file (from 0) each comes, where it is another.
    """

    table: pl.DataFrame
    notes: tuple[str, ...] = ()
    broken: Mapping[int, str] = field(default_factory=dict)
    used_up: frozenset[int] = frozenset()
    header_lines: int = 0
    rows: NDArray[np.int64] | None = None


def load_table(source: Any) -> pl.DataFrame:
    """A polars frame from a path, a dictionary of columns, a list of rows or any frame that narwhals knows."""
    return open_table(source).table


def head_of(path: Path) -> pl.DataFrame:
    """The first rows of a file; of separated text, however long, only the beginning is read."""
    with damage_in_words(path), path.open("rb") as file:
        head = file.read(HEAD)
        if head.startswith(b"\x1f\x8b"):
            with gzip.open(path) as text:
                head = text.read(HEAD)
    lines = head[: head.rfind(b"\n") + 1]
    whole = len(head) < HEAD or not lines.strip() or b"\0" in head or head.lstrip()[:1] in (b"{", b"[")
    return load_table(path) if whole else _open_text(path, lines).table


def tournament_players(path: str | Path) -> pl.DataFrame:
    """The players of a tournament report (TRF): a list that :class:`kinelo.FideElo` can begin with.

    Returns
    -------
    polars.DataFrame
        ``name``, ``rating`` (null of those without one), ``born``, ``title``, ``federation``, ``fide_id``.

    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp(), "open.trf")
    >>> _ = file.write_text(f"012 Open\\n001    1      {'Adler, Ida':<33} 2421 GER\\n")
    >>> tournament_players(file).select("name", "rating", "federation").rows()
    [('Adler, Ida', 2421, 'GER')]
    """
    if not isinstance(path, str | Path):
        raise InputError(f"tournament_players takes the path of a tournament report, not {type(path).__name__}.")
    path = Path(path)
    check_file(path)
    raw, _ = decode(path.read_bytes(), str(path))
    if not is_report(raw):
        raise InputError(f"{path} is not a tournament report (TRF): no line of it begins with 001 and a player.")
    report = read_report(raw, str(path))
    names, players = names_by_rank(report.players), report.players.values()
    years = [player.born[:4] for player in players]
    columns: dict[str, Any] = {
        "name": pl.Series([names[rank] for rank in report.players], dtype=pl.String),
        "rating": pl.Series([player.rating for player in players], dtype=pl.Int64),
        "born": pl.Series([int(y) if y.isdigit() and int(y) > 0 else None for y in years], dtype=pl.Int64),
    }
    for key in ("title", "federation", "fide_id"):
        columns[key] = pl.Series([getattr(player, key) for player in players], dtype=pl.String)
    return pl.DataFrame(columns)


def open_table(source: Any, sheet: str | int | None = None) -> Opened:
    """Open a table of any kind, and say how; of a workbook perhaps one ``sheet``, by name or number from 1."""
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, str | int)):
        raise InputError(f"sheet must be the name or number of a sheet, not {sheet!r:.60}.")
    if isinstance(source, str | Path):
        path = Path(source)
        check_file(path)
        with damage_in_words(path):
            with path.open("rb") as file:
                begins = file.read(4)
            if sheet is not None and begins[:2] not in (b"PK", b"\xd0\xcf"):
                raise InputError(f"sheet={sheet!r:.40} chooses a sheet of a workbook (.xlsx), which {path} is not.")
            if begins == b"PAR1" or path.suffix.lower() in (".parquet", ".pq"):
                with damage_in_words(path, "Parquet"):
                    return Opened(_plain(pl.read_parquet(path)))
            raw = path.read_bytes()
            if begins.startswith(b"\x1f\x8b"):
                raw = gzip.decompress(raw)
            if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
                # A workbook, by its ending or by what an archive holds.
                if path.suffix.lower() in SPREADSHEETS or (raw.startswith(b"PK") and b"xl/workbook" in raw):
                    table, notes, above = read_workbook(path, raw, sheet)
                    return Opened(_plain(table), notes, header_lines=1 + above)
                raise InputError(f"{path} is neither a CSV file nor one of Parquet or JSON lines; save it as CSV.")
            return _open_text(path, raw)
    if sheet is not None:
        raise InputError(f"sheet={sheet!r:.40} chooses a sheet of a workbook (.xlsx), which this is not.")
    try:
        with damage_in_words("the table"):
            if isinstance(source, pl.DataFrame):
                return Opened(_plain(source))
            if isinstance(source, Mapping):
                return Opened(_plain(_from_columns(source)))
            if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray):
                return Opened(_from_rows(source))
            if type(source).__module__.partition(".")[0] == "pandas" and type(source).__name__ == "DataFrame":
                columns, notes = pandas_columns(source)
                return Opened(_from_columns(columns), notes)
            try:
                frame: Any = nw.from_native(cast(Any, source))
            except TypeError:
                raise InputError(f"Matches come from {ACCEPTED}, not from {type(source).__name__}.") from None
            frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
            return Opened(_plain(frame.to_polars()))
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"The table could not be read: {str(error).strip().splitlines()[0][:200]}") from None


def _plain(table: pl.DataFrame) -> pl.DataFrame:
    """The table with columns of Python objects written as text, and categories as the words they stand for."""
    odd = [
        column_of(name, table[name].to_list()) if dtype == pl.Object else table[name].cast(pl.String)
        for name, dtype in table.schema.items()
        if dtype in (pl.Object, pl.Categorical, pl.Enum, pl.Binary)
    ]
    return table.with_columns(odd) if odd else table


def _from_columns(columns: Mapping[Any, Any]) -> pl.DataFrame:
    series = [column_of(str(name), values) for name, values in columns.items()]
    lengths = {column.name: len(column) for column in series}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name!r}: {length:,}" for name, length in list(lengths.items())[:MOST_LISTED])
        raise InputError(f"The columns of the table differ in length ({sizes}{', …' * (len(lengths) > MOST_LISTED)}).")
    if len(lengths) < len(series):
        raise InputError(f"The table has two columns of one name among {listed(lengths)}.")
    return pl.DataFrame(series)


def _from_rows(rows: Sequence[Any]) -> pl.DataFrame:
    wrong = next((k for k, row in enumerate(rows) if not isinstance(row, Mapping)), None)
    if wrong is not None:
        raise InputError(
            f"A list of matches holds one dictionary per row, but row {wrong + 1} is of type "
            f"{type(rows[wrong]).__name__}."
        )
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return pl.DataFrame([column_of(name, [row.get(name) for row in rows]) for name in names])


def _open_text(path: Path, raw: bytes) -> Opened:
    raw, notes = decode(raw, str(path))
    if not raw[:1000].strip() and not raw.strip():
        raise InputError(f"{path} is empty; a header line and at least one row are needed.")
    if raw[:1000].lstrip()[:1] == b"[":  # one list of objects
        try:
            return Opened(_from_rows(json.loads(raw)), notes)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"{path} is not a list of JSON objects: {error}") from None
    if raw[:1000].lstrip()[:1] == b"{":  # one object per line
        try:
            return Opened(_plain(pl.read_ndjson(io.BytesIO(raw), infer_schema_length=None)), notes)
        except pl.exceptions.PolarsError:
            rows, broken = [], {}
            for k, line in enumerate(line for line in raw.splitlines() if line.strip()):
                try:
                    rows.append(dict(json.loads(line)))
                except (ValueError, TypeError, RecursionError):
                    rows.append({})
                    broken[k] = "unreadable line"
            return Opened(_from_rows(rows), notes, broken)
    if is_report(raw):
        report = read_report(raw, str(path))
        return Opened(report.games, (*notes, *report.notes))
    table, broken, further, lines = read_csv(raw)
    return Opened(table, (*notes, *further), broken, header_lines=lines)


@contextmanager
def damage_in_words(name: object, form: str = "a table") -> Iterator[None]:
    """Turn what a reader says of a file into one sentence about the file called ``name``.

    Readers compiled from Rust end in a panic where bytes contradict one another, and Python sees a ``PanicException``.
    It is no ``Exception``, so that it would pass every handler on its way out. Interrupts and a lack of memory do pass.

    >>> with damage_in_words("league.parquet", "Parquet"):
    ...     raise pl.exceptions.PanicException("range end index 9 out of range")
    Traceback (most recent call last):
    kinelo.errors.InputError: league.parquet is damaged: it could not be read as Parquet.
    """
    try:
        yield
    except pl.exceptions.PanicException:
        raise InputError(f"{name} is damaged: it could not be read as {form}.") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"
        raise InputError(f"{name} could not be read as {form}: {reason or type(error).__name__}") from None


def column_of(name: str, values: Any) -> pl.Series:
    """A column of numbers, dates, lists or text; of mixed values as text, not-a-number as missing.

    >>> column_of("side", ["A", 7, None, float("nan"), 2.0]).to_list()
    ['A', '7', None, None, '2']
    """
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(f"The column {name!r} holds {type(values).__name__}, not one value per row.")
    if isinstance(values, pl.Series) and values.dtype != pl.Object:
        return values.alias(name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufMm" and values.ndim == 1:
        return pl.Series(name, values.astype("timedelta64[us]") if values.dtype.kind == "m" else values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "U" and values.ndim == 1:
        values = values.tolist()
    cells = list(values)
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {str}:
        try:
            "".join(cell for cell in cells if cell is not None).encode()
            return pl.Series(name, cells, dtype=pl.String)
        except UnicodeEncodeError:  # half of a letter
            return pl.Series(name, [_text(cell) for cell in cells], dtype=pl.String)
    if types <= {int, float, bool} or (len(types) == 1 and types <= {datetime.date, datetime.datetime}):
        try:
            return pl.Series(name, cells, strict=False)
        except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
            pass
    if types <= {list, tuple}:
        lists = [None if cell is None else [_text(item) for item in cell] for cell in cells]
        return pl.Series(name, lists, dtype=pl.List(pl.String))
    return pl.Series(name, [_text(cell) for cell in cells], dtype=pl.String)


def _text(cell: Any) -> str | None:
    """One cell as text; None for what is missing or cannot be written as text."""
    if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, float | np.floating):
        number = float(cell)
        return str(int(number)) if math.isfinite(number) and number == int(number) else str(number)
    if isinstance(cell, datetime.date | datetime.datetime):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        return as_text(pl.Series([cell], dtype=pl.Duration))[0]
    text = str(cell)
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


def pandas_columns(frame: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Columns of a pandas frame that column_of takes, and what was noticed."""
    names, notes = distinct_names([str(name) for name in frame.columns])
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        dtype = str(series.dtype)
        if dtype.startswith("period"):
            series = series.dt.to_timestamp()
        if dtype.startswith("datetime64[") and "," in dtype:
            # The day as written in the zone given, as in text.
            series = series.dt.tz_localize(None)
        if series.dtype.kind in "biufM":
            values = series.to_numpy()
            columns[name] = values.astype("datetime64[us]") if values.dtype.kind == "M" else values
            continue
        cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in series.tolist()]
        missing = [type(c).__name__ in ("NAType", "NaTType") or (isinstance(c, float) and math.isnan(c)) for c in cells]
        lists = (cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells)
        columns[name] = [None if gone else cell for gone, cell in zip(missing, lists)]
    return columns, notes


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
    rows, errors = [], {}
    for line in raw.split(b"\n", ROWS_ABOVE + 1)[: ROWS_ABOVE + 1]:
        text = line.decode("utf-8", errors="replace").strip("\r")
        try:
            rows.append(next(csv.reader([text], delimiter=max(SEPARATORS, key=text.count)), []))
        except csv.Error as error:
            errors[len(rows)] = error
            rows.append([text])
    above = rows[: header_row(rows)]
    names = rows[len(above)]
    if len(above) in errors:
        raise InputError(f"The header line of the table could not be read: {errors[len(above)]}")
    raw = raw.split(b"\n", len(above))[-1]
    first = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    separator = max(SEPARATORS, key=first.decode("utf-8", errors="replace").count)
    distinct, notes = distinct_names(names)
    if distinct != names:
        renamed = io.StringIO()
        csv.writer(renamed, delimiter=separator, lineterminator="").writerow(distinct)
        raw = renamed.getvalue().encode() + raw[len(first) :]
    raw, broken = _set_aside(raw, separator, len(names))
    # Text throughout, so that one bad number spoils its row and not the column.
    table = pl.read_csv(io.BytesIO(raw), separator=separator, infer_schema=False, truncate_ragged_lines=True)
    return table, broken, (*notes, note_of_title(above)) if above else notes, lines + len(above)


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
    if odd.any():
        # Quoted fields that run over several lines may explain the odd quotes.
        try:
            reader = csv.reader(io.StringIO(raw.decode(), newline=""), delimiter=separator, strict=True)
            odd &= not all(len(row) in (0, columns) for row in reader)
        except csv.Error:
            pass
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


UNNAMED = re.compile(r"__UNNAMED__\d+")
FIRST_DAY, LAST_CLOCK = datetime.datetime(1899, 12, 31), datetime.datetime(1900, 2, 28)
AS_CLOCK = r"^((?:1899-12-3[01]|1900-0[12]-\d\d) \d\d:\d\d:\d\d(?:\.\d+)?)$"
"""How a time reads that stands among words."""

YEAR = re.compile(r"\b(1[789]\d\d|2[01]\d\d)\b")


class Sheet(NamedTuple):
    """A sheet of a workbook below its header, and what was noticed."""

    name: str
    table: pl.DataFrame
    notes: tuple[str, ...]
    title: list[tuple[str | None, ...]]


def read_workbook(path: Path, raw: bytes, sheet: str | int | None) -> tuple[pl.DataFrame, tuple[str, ...], int]:
    """The table of a workbook, what was noticed, and the rows above its header.

    Sheets that have the columns of the first are read together; their names stand in a column ``sheet``, or ``season``
    where they are years and nothing else tells when a row took place.
    """
    try:
        require("fastexcel")
    except InputError as missing:
        raise InputError(f"{path} is a spreadsheet. {str(missing).rstrip('.')}, or save it as CSV.") from None
    import fastexcel

    try:
        reader = fastexcel.read_excel(raw)
        names = _chosen(reader.sheet_names, sheet, path)
        sheets = [found for name in names if (found := _read_sheet(reader, name)) is not None]
    except InputError:
        raise
    except BaseException as error:  # the reader has errors of its own, and panics where bytes contradict each other
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise InputError(f"{path} could not be read as a spreadsheet: {in_one_line(error)[:160]}") from None
    if not sheets:
        raise InputError(f"{path} is empty; a header line and at least one row are needed.")
    return _together(sheets)


def _chosen(names: list[str], sheet: str | int | None, path: Path) -> list[str]:
    """Names of the sheets to read."""
    if sheet is None:
        return names
    if sheet in names:
        return [str(sheet)]
    number = int(sheet) if str(sheet).isdigit() else 0
    if 1 <= number <= len(names):
        return [names[number - 1]]
    raise InputError(f"{path} has no sheet {sheet!r:.60}; its sheets are {listed(names)}.")


def _read_sheet(reader: fastexcel.ExcelReader, name: str) -> Sheet | None:
    """A sheet from its header on; None where it holds no rows."""
    import fastexcel

    head = reader.load_sheet(name, header_row=None, n_rows=ROWS_ABOVE + 1, dtypes="string").to_polars()
    rows = head.rows()
    above = header_row(rows)
    try:
        table: pl.DataFrame = reader.load_sheet(name, header_row=above, schema_sample_rows=None).to_polars()
    except fastexcel.UnsupportedColumnTypeCombinationError:  # words among lengths of time
        table = reader.load_sheet(name, header_row=above, schema_sample_rows=None, dtypes="string").to_polars()
    for column in table.get_columns():
        # Times, that a workbook counts in days from its first day on, are lengths of time.
        if isinstance(column.dtype, pl.Datetime) and bool((column < LAST_CLOCK).all()):
            table = table.with_columns(column - FIRST_DAY)
        elif column.dtype == pl.String and bool((clock := column.str.contains(AS_CLOCK).fill_null(False)).any()):
            times = column.str.extract(AS_CLOCK).str.to_datetime(time_unit="ms", strict=False) - FIRST_DAY
            table = table.with_columns(column.zip_with(~clock, as_text(times)))
    unnamed = [c for c in table.columns if UNNAMED.fullmatch(c) and table[c].null_count() == table.height]
    table = table.drop(unnamed)
    if not table.height:
        return None
    # The reader puts a number behind a name that stands twice.
    plain = {column: re.sub(r"_\d+$", "", column) for column in table.columns}
    names, notes = distinct_names([plain[c] if plain[c] in table.columns else c for c in table.columns])
    table.columns = [f"{given}" for given in names]
    return Sheet(name, table, notes, rows[:above])


def _together(sheets: list[Sheet]) -> tuple[pl.DataFrame, tuple[str, ...], int]:
    """Sheets with the columns of the first as one table."""
    first = sheets[0]
    same = [sheet for sheet in sheets if set(sheet.table.columns) == set(first.table.columns)]
    others = [sheet.name for sheet in sheets if sheet not in same]
    notes = list(dict.fromkeys(note for sheet in same for note in sheet.notes))
    if titled := [sheet for sheet in same if sheet.title]:
        notes.append(note_of_title(titled[0].title) + (f", as in {len(titled)} sheets" if len(titled) > 1 else ""))
    left = f"; {listed(others)} {'has' if len(others) == 1 else 'have'} other columns and" if others else ""
    left += f" {'was' if len(others) == 1 else 'were'} left out (sheet= chooses one)" if others else ""
    rated = [one.name for one in sheets if one not in same and {*map(plain_name, one.table.columns)} & {*RATING_WORDS}]
    left += f"; {listed(rated)} holds ratings, which start= takes from this very file" if rated else ""
    if len(same) == 1:
        if others:
            notes.append(f"the workbook has {len(sheets)} sheets: {first.name!r} was read{left}")
        return first.table, tuple(notes), len(first.title)
    notes.append(
        f"{len(same)} sheets have the same columns and were read together ({listed(s.name for s in same)}){left}: rows "
        "are counted from sheet to sheet"
    )
    columns = first.table.columns
    dated = {plain_name(column) for column in columns} & {*CONTEST_COLUMNS["season"], *CONTEST_COLUMNS["date"]}
    label = "season" if not dated and all(YEAR.search(sheet.name) for sheet in same) else "sheet"
    while label in columns:
        label += " of the workbook"
    parts = []
    for sheet in same:
        series = []
        for column in columns:  # as text where sheets differ in what they hold
            dtypes = {other.table.schema[column] for other in same} - {pl.Null()}
            cells = sheet.table[column]
            series.append(
                as_text(cells).alias(column) if len(dtypes) > 1 else cells.cast(next(iter(dtypes), pl.String()))
            )
        parts.append(pl.DataFrame(series).with_columns(pl.lit(sheet.name).alias(label)))
    return pl.concat(parts), tuple(notes), len(first.title)
