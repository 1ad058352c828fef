"""Tables from wherever people keep them: text in any common encoding, Parquet, JSON lines, frames, dictionaries."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import MOST_LISTED, distinct_names, listed
from kinelo.matches.csv_lines import decode, read_csv
from kinelo.matches.names import as_text
from kinelo.matches.tournament_report import is_report, read_report
from kinelo.matches.workbook import read_workbook
from kinelo.runtime.reading import check_file

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


def open_table(source: Any, sheet: str | int | None = None) -> Opened:
    """Open a table of any kind, and say how; of a workbook perhaps one ``sheet``, by name or number from 1."""
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, str | int)):
        raise InputError(f"sheet must be the name or number of a sheet, not {sheet!r:.60}.")
    if isinstance(source, str | Path):
        return _open_file(Path(source), sheet)
    if sheet is not None:
        raise InputError(f"sheet={sheet!r:.40} chooses a sheet of a workbook (.xlsx), which this is not.")
    try:
        with damage_in_words("the table"):
            return _from_memory(source)
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"The table could not be read: {str(error).strip().splitlines()[0][:200]}") from None


def _from_memory(source: Any) -> Opened:
    if isinstance(source, pl.DataFrame):
        return Opened(_plain(source))
    if isinstance(source, Mapping):
        return Opened(_from_columns(source))
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray):
        return Opened(_from_rows(source))
    if (found := pandas_columns(source)) is not None:
        return Opened(_from_columns(found[0]), found[1])
    try:
        frame: Any = nw.from_native(cast(Any, source))
    except TypeError:
        raise InputError(f"Matches come from {ACCEPTED}, not from {type(source).__name__}.") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return Opened(_plain(frame.to_polars()))


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
            f"A list of matches holds one dictionary per row, but row {wrong + 1} is a {type(rows[wrong]).__name__}."
        )
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return pl.DataFrame([column_of(name, [row.get(name) for row in rows]) for name in names])


def _open_file(path: Path, sheet: str | int | None = None) -> Opened:
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
        if _is_spreadsheet(path, raw):
            table, notes, above = read_workbook(path, raw, sheet)
            return Opened(_plain(table), notes, header_lines=1 + above)
        if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise InputError(f"{path} is neither a CSV file nor one of Parquet or JSON lines; save it as CSV.")
        return _open_text(path, raw)


def _is_spreadsheet(path: Path, raw: bytes) -> bool:
    """Whether a file is a workbook, by its ending or by what an archive holds."""
    workbook = raw.startswith(b"PK\x03\x04") and b"xl/workbook" in raw
    return workbook or (path.suffix.lower() in SPREADSHEETS and raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")))


def _open_text(path: Path, raw: bytes) -> Opened:
    raw, notes = decode(raw, str(path))
    if not raw[:1000].strip() and not raw.strip():
        raise InputError(f"{path} is empty; a header line and at least one row are needed.")
    if raw[:1000].lstrip()[:1] in (b"{", b"["):
        return _open_json(path, raw, notes)
    if is_report(raw):
        report = read_report(raw, str(path))
        return Opened(report.games, (*notes, *report.notes))
    table, broken, further, lines = read_csv(raw)
    return Opened(table, (*notes, *further), broken, header_lines=lines)


def _open_json(path: Path, raw: bytes, notes: tuple[str, ...]) -> Opened:
    """One JSON object per line, or one list of objects."""
    if raw.lstrip().startswith(b"["):
        try:
            return Opened(_from_rows(json.loads(raw)), notes)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(f"{path} is not a list of JSON objects: {error}") from None
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


@contextmanager
def damage_in_words(name: object, kind: str = "a table") -> Iterator[None]:
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
        raise InputError(f"{name} is damaged: it could not be read as {kind}.") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"
        raise InputError(f"{name} could not be read as {kind}: {reason or type(error).__name__}") from None


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
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {str}:
        return pl.Series(name, [_text(cell) for cell in cells] if _any_surrogate(cells) else cells, dtype=pl.String)
    if kinds <= {int, float, bool} or (len(kinds) == 1 and kinds <= {datetime.date, datetime.datetime}):
        try:
            return pl.Series(name, cells, strict=False)
        except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
            pass
    if kinds <= {list, tuple}:
        lists = [None if cell is None else [_text(item) for item in cell] for cell in cells]
        return pl.Series(name, lists, dtype=pl.List(pl.String))
    return pl.Series(name, [_text(cell) for cell in cells], dtype=pl.String)


def _any_surrogate(cells: list) -> bool:
    try:
        "".join(cell for cell in cells if cell is not None).encode()
    except UnicodeEncodeError:
        return True
    return False


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


def pandas_columns(frame: Any) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Columns of a pandas frame that column_of takes, and what was noticed; None for anything else."""
    kind = type(frame)
    if kind.__module__.partition(".")[0] != "pandas" or kind.__name__ != "DataFrame":
        return None
    names, notes = distinct_names([str(name) for name in frame.columns])
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        kind = str(series.dtype)
        if kind.startswith("period"):
            series = series.dt.to_timestamp()
        if kind.startswith("datetime64[") and "," in kind:
            # The day as written in the zone given, as in text.
            series = series.dt.tz_localize(None)
        values = series.to_numpy() if series.dtype.kind in "biufM" else series.tolist()
        columns[name] = _unwrapped(values)
    return columns, notes


def _unwrapped(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.astype("datetime64[us]") if values.dtype.kind == "M" else values
    return [None if type(cell).__name__ in ("NAType", "NaTType") or cell is None else _bare(cell) for cell in values]


def _bare(cell: Any) -> Any:
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if isinstance(cell, np.generic):
        return cell.item()
    return cell.tolist() if isinstance(cell, np.ndarray) else cell
