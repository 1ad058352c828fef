"""Reading matches: CSV, Parquet or a frame in memory, whatever its columns are called and however dirty it is.

A row that cannot be used is set aside with its number and the reason; the rest is sorted by date, stably.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import check_mapping
from kinelo.matches.lineup_reading import attach_lineups, attach_listed_lineups
from kinelo.matches.matches import Matches
from kinelo.matches.outcomes import Scale, check_scale
from kinelo.matches.rejects import Rejects
from kinelo.matches.rows import REASONS, Options, Rows, interpret

Value = TypeVar("Value", bound=np.generic)


def read_matches(
    source: Any,
    lineups: Any = None,
    columns: Mapping[str, str] | None = None,
    *,
    played: bool = True,
    results: Scale | None = None,
    conditions: Sequence[str] = (),
) -> Matches:
    """Read matches, and line-ups if given, from a CSV or Parquet file or a frame.

    Parameters
    ----------
    source
        Path of a CSV or Parquet file, a pandas, polars or pyarrow table, or a dictionary of columns.
    lineups
        The same for line-ups in long form: match, side (or team), player, and perhaps starter, minutes and role.
        Line-ups may also stand in the matches themselves, as lists in the columns ``home_lineup`` and ``away_lineup``.
    columns
        Which column means what, where the names are not common ones, for example ``{"home": "club_1"}``. Keys:
        date, home, away, home_score, away_score, result, margin, neutral, weight, match_id, home_lineup, away_lineup;
        lineup_match, side, team, player, minutes, starter, played, role.
    played
        False keeps matches without a result (fixtures to forecast); their result is NaN.
    results
        Scale of a column of numbers: ``"points"`` for 0, ½, 1, ``"signed"`` for −1, 0, 1. Left open, a negative number
        means the signed scale; 0 and 1 alone are points.
    conditions
        Columns to keep as :attr:`Matches.conditions`, such as ``["surface"]``.

    Returns
    -------
    Matches
        Sorted by date; ``rejected`` lists the rows that could not be used and why, ``notes`` how the file was read.

    >>> table = {"date": ["2024-02-01", "2024-01-01", "?"], "home": ["A", "B", "A"], "away": ["B", "A", "B"],
    ...          "home_score": [2, 1, 0], "away_score": [1, 1, 0]}
    >>> matches = read_matches(table)
    >>> matches.result, matches.rejected.counts(), matches.notes
    (array([0.5, 1. ]), {'unreadable date': 1}, ('the file was not in date order: it was sorted by date',))
    """
    check_mapping(columns)
    check_scale(results)
    table = load_table(source)
    if table.height == 0:
        raise InputError(f"{_name_of(source)} contains no matches; at least one row below the header is needed")
    rows = interpret(table, Options(columns, played, results, conditions), _name_of(source))
    matches = _accept(rows, _name_of(source))
    if lineups is not None:
        return attach_lineups(matches, rows, load_table(lineups), columns)
    if "home_lineup" in rows.found and "away_lineup" in rows.found:
        return attach_listed_lineups(matches, rows)
    return matches


def _accept(rows: Rows, name: str) -> Matches:
    bad = np.flatnonzero(rows.fault)
    rejected = Rejects.of("matches", bad + 1, np.array(REASONS, object)[rows.fault[bad]])
    if bad.size == rows.fault.size:
        counts = ", ".join(f"{reason}: {number}" for reason, number in rejected.counts().items())
        raise InputError(f"no match of {name} can be used, all {bad.size} rows were rejected ({counts})")
    # A clean file in order is passed on without copying its columns.
    index: NDArray | slice = np.flatnonzero(rows.fault == 0) if bad.size else slice(None)
    date = rows.date[index]
    if np.any(date[1:] < date[:-1]):
        order = np.argsort(date, kind="stable")
        index = order if isinstance(index, slice) else index[order]
        rows.notes.append("the file was not in date order: it was sorted by date")
    return Matches(
        _owned(rows.date, index),
        _owned(rows.home, index),
        _owned(rows.away, index),
        rows.teams,
        _owned(rows.result, index),
        _owned(rows.margin, index),
        _owned(rows.neutral, index),
        _owned(rows.weight, index),
        np.arange(1, rows.fault.size + 1)[index],
        None if rows.identifiers is None else rows.identifiers[index],
        rejected=rejected,
        notes=tuple(rows.notes),
        conditions={name: condition[index] for name, condition in rows.conditions.items()},
    )


def _owned(column: NDArray[Value], index: slice | NDArray) -> NDArray[Value]:
    """Chosen rows as a writable array: compiled loops are made for those, and polars lends its own read-only."""
    chosen = column[index]
    return chosen if chosen.flags.writeable else chosen.copy()


def load_table(source: Any) -> pl.DataFrame:
    """A polars frame from a path, a dictionary of columns or any frame that narwhals knows."""
    if isinstance(source, str | Path):
        return _load_file(Path(source))
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping):
        return pl.DataFrame(dict(source), strict=False)
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise InputError(
            "matches come from a CSV or Parquet file or a pandas, polars or pyarrow table, "
            f"not from {type(source).__name__}"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_polars()


def _load_file(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pl.read_parquet(path)
        with path.open("rb") as file:
            first = file.readline(1_000_000)
        if first.startswith((b"PK", b"PAR1", b"\x1f\x8b")) or b"\0" in first:
            raise InputError(f"{path} is neither a CSV file nor one of Parquet that ends in .parquet")
        header = first.decode("utf-8-sig", errors="replace")
        if not header.strip():
            raise InputError(f"{path} is empty; a header line and at least one row are needed")
        separator = max(",;\t|", key=header.count)
        # Text throughout, so that one bad number spoils its row and not the column.
        return pl.read_csv(
            path, separator=separator, infer_schema=False, encoding="utf8-lossy", truncate_ragged_lines=True
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path} could not be read as a table: {str(error).splitlines()[0]}") from None


def _name_of(source: Any) -> str:
    return str(source) if isinstance(source, str | Path) else "the table"
