"""Workbooks (.xlsx): the header wherever it stands in a sheet, and all sheets that hold the same columns."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from kinelo.errors import InputError, in_one_line
from kinelo.matches.columns import RATING_WORDS, distinct_names, listed, plain_name
from kinelo.matches.contest_columns import CONTEST_COLUMNS
from kinelo.matches.header import ROWS_ABOVE, header_row, note_of_title
from kinelo.matches.names import as_text
from kinelo.runtime.extras import require

if TYPE_CHECKING:
    import fastexcel

UNNAMED = re.compile(r"__UNNAMED__\d+")
FIRST_DAY, LAST_CLOCK = datetime(1899, 12, 31), datetime(1900, 2, 28)
CLOCK = r"^((?:1899-12-3[01]|1900-0[12]-\d\d) \d\d:\d\d:\d\d(?:\.\d+)?)$"
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
    table = table.with_columns(_with_clocks(column) for column in table.iter_columns())
    unnamed = [c for c in table.columns if UNNAMED.fullmatch(c) and table[c].null_count() == table.height]
    table = table.drop(unnamed)
    if not table.height:
        return None
    names, notes = distinct_names([_without_count(column, table.columns) for column in table.columns])
    table.columns = [f"{given}" for given in names]
    return Sheet(name, table, notes, rows[:above])


def _with_clocks(column: pl.Series) -> pl.Series:
    """A column in which times, that a workbook counts in days from its first day on, are lengths of time."""
    if isinstance(column.dtype, pl.Datetime) and bool((column < LAST_CLOCK).all()):
        return column - FIRST_DAY
    if column.dtype == pl.String and bool((clock := column.str.contains(CLOCK).fill_null(False)).any()):
        return column.zip_with(
            ~clock, as_text(column.str.extract(CLOCK).str.to_datetime(time_unit="ms", strict=False) - FIRST_DAY)
        )
    return column


def _without_count(column: str, columns: list[str]) -> str:
    """The name of a column without the number that the reader puts behind a name that stands twice."""
    plain = re.sub(r"_\d+$", "", column)
    return plain if plain != column and plain in columns else column


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
    tables = [_like(sheet.table, [s.table for s in same], first.table.columns) for sheet in same]
    column = _column_of_sheets(first.table.columns, [sheet.name for sheet in same])
    return (
        pl.concat([table.with_columns(pl.lit(s.name).alias(column)) for table, s in zip(tables, same)]),
        tuple(notes),
        len(first.title),
    )


def _like(table: pl.DataFrame, tables: list[pl.DataFrame], columns: list[str]) -> pl.DataFrame:
    """The table with columns in this order, as text where sheets differ in what they hold."""
    kinds: dict[str, set[Any]] = {c: {t.schema[c] for t in tables if t.schema[c] != pl.Null} for c in columns}
    series = []
    for column in columns:
        if len(kinds[column]) > 1:
            series.append(as_text(table[column]).alias(column))
        else:
            series.append(table[column].cast(next(iter(kinds[column]), pl.String)))
    return pl.DataFrame(series)


def _column_of_sheets(columns: list[str], names: list[str]) -> str:
    """What the column is called that says from which sheet a row comes."""
    told = {plain_name(column) for column in columns} & {*CONTEST_COLUMNS["season"], *CONTEST_COLUMNS["date"]}
    wanted = "season" if not told and all(YEAR.search(name) for name in names) else "sheet"
    while wanted in columns:
        wanted += " of the workbook"
    return wanted
