"""Columns from Python values and pandas frames, whatever their cells hold; what no column can hold becomes missing."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import distinct_names


def column_of(name: str, values: Any) -> pl.Series:
    """A column of numbers, dates, lists or text; of mixed values as text, not-a-number as missing.

    >>> column_of("side", ["A", 7, None, float("nan"), 2.0]).to_list()
    ['A', '7', None, None, '2']
    """
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(f"The column {name!r} holds {type(values).__name__}, not one value per row.")
    if isinstance(values, pl.Series) and values.dtype != pl.Object:
        return values.alias(name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufM" and values.ndim == 1:
        return pl.Series(name, values)
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
