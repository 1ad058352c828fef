"""Wide sheets, as regattas and championships keep them: a row for each entrant and a column for each race.

Cells hold places, points or times, codes such as DNF, and nothing where an entrant was not there; discards stand in
brackets, and totals at the end. The sheet becomes a long table before it is read like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.matches.columns import LOSER_COLUMNS, MATCH_COLUMNS, find_columns, listed, plain_name
from kinelo.matches.contest_columns import CONTEST_COLUMNS, FURTHER_HEADERS, find_contest_columns
from kinelo.matches.contest_values import Cells, read_cells
from kinelo.matches.contests import FINISHED
from kinelo.matches.dates import read_dates
from kinelo.matches.loading import Opened
from kinelo.matches.names import as_text
from kinelo.matches.words import UNKNOWN

RACE = re.compile(
    r"(?:r|race|heat|rd|rnd|round|q|f|g|day|stage|event|ev|week|wk|lauf|wettfahrt|wf|manche|prova|regata|corrida|gp|game"
    r"|contest|no|nr|tag|etapa|etape)?[.\s_#-]*\d{1,3}\.?(?:\s*\(.*\))?"
)
TOTALS = (
    "total", "totals", "totalpoints", "net", "nett", "netpoints", "nettpoints", "netpts", "netto", "gross", "sum",
    "points", "pts", "score", "discard", "discards", "carriedforward", "average", "avg", "mean", "gap", "wins", "races",
    "summe", "gesamt", "punkte", "pontos", "puntos", "punti", "punten", "best", "behind", "diff",
)  # fmt: skip
LEAST_RACES = 2
LEAST_NAMED = 3
"""Columns that must hold races where no header is a number."""

MOSTLY = 0.8
KINDS = ("place", "time", "points")


def from_wide_sheet(opened: Opened, given: Mapping[str, Any] | None, played: bool = True) -> Opened | None:
    """The long table of a wide sheet, with notes; None where the table is not one."""
    table = opened.table
    if {*(given or {})} - {"entrant", "weight", "season", "group"} or not played or table.height < 2:
        return None
    columns = find_contest_columns(table.columns, {k: v for k, v in (given or {}).items() if isinstance(v, str)})
    sides = find_columns(table.columns, {**MATCH_COLUMNS, "opponent": ("opponent", "opp")}, None)
    if "entrant" not in columns or {"contest", "date"} & columns.keys() or {"home", "away", "opponent"} & sides.keys():
        return None
    if find_columns(table.columns, LOSER_COLUMNS, None):
        return None
    kind, races = _races(table, columns)
    if not races:
        return None
    return _long(opened, kind, races, columns)


def _races(table: pl.DataFrame, found: Mapping[str, str]) -> tuple[str, list[str]]:
    """Columns that hold races, and what stands in them: places, times or points."""
    numbered, named = [], []
    known = {found[key] for key in found if key in ("entrant", "season", "weight", "group")}
    header_words = {word for words in CONTEST_COLUMNS.values() for word in words} | {*TOTALS, *FURTHER_HEADERS}
    days = read_dates(pl.Series(table.columns, dtype=pl.String)).days
    for column, day in zip(table.columns, days):
        if column in known or isinstance(table[column].dtype, pl.List | pl.Struct):
            continue
        if RACE.fullmatch(column.strip().lower()) or not np.isnat(day):
            numbered.append(column)
        elif plain_name(column) not in header_words:
            named.append(column)
    for candidates, least in ((numbered, LEAST_RACES), (named, LEAST_NAMED)):
        for kind in KINDS:
            races = [c for c in candidates if _holds(table[c], kind, table.height)]
            if len(races) >= least and len(races) >= MOSTLY * len(candidates):
                return kind, races
        if numbered:
            break
    return "", []


def _holds(column: pl.Series, kind: str, entrants: int) -> bool:
    """Whether a column holds places, times or points of one race."""
    cells = _cells(column, kind)
    value = cells.value[(cells.ended == FINISHED) & np.isfinite(cells.value)]
    understood = (cells.ended != UNKNOWN) | cells.blank
    if value.size < 2 or understood.mean() < MOSTLY:
        return False
    if kind == "place":
        whole = np.all(value >= 1.0) and value.max() <= 1.5 * entrants + 2
        return bool(whole and value.min() == 1.0 and np.unique(value).size >= MOSTLY * value.size)
    if kind == "time":
        return column.dtype == pl.String and bool(column.str.contains(r"\d[:hm']\d").mean() or 0)
    return bool(value.max() >= 3.0 and np.unique(value).size > 2)


def _cells(column: pl.Series, kind: str) -> Cells:
    return read_cells(_without_signs(column), "score" if kind == "points" else kind)


def _without_signs(column: pl.Series) -> pl.Series:
    """Cells as text without what marks a discard: ``-17``, ``17*``, ``~17~``."""
    text = as_text(column).str.strip_chars()
    return text.str.replace(r"^[-−~]+\s*(\d.*?)\s*[-~]*$", "$1").str.replace(r"^(\d+(?:\.\d+)?)\s*\*$", "$1")


def _long(opened: Opened, kind: str, races: list[str], found: Mapping[str, str]) -> Opened:
    table = opened.table
    left_out = [
        column for column in table.columns
        if column not in races and (
            plain_name(column) in TOTALS
            or column in (found.get(key) for key in ("place", "score", "time", "distance", "title", "status"))
            or RACE.fullmatch(column.strip().lower())
        )
    ]  # fmt: skip
    columns = [column for column in table.columns if column not in (*races, *left_out)]
    parts, rows = [], []
    brackets = 0
    for race in races:
        text = as_text(table[race]).str.strip_chars()
        there = (text != "").fill_null(False)
        brackets += int((text.str.contains(r"^[(\[].*[)\]]$|^[-−~]\d|^\d+\*$") & there).sum() or 0)
        part = table.select(columns).with_columns(pl.lit(race).alias("race"), _without_signs(text).alias(kind))
        parts.append(part.filter(there))
        rows.append(np.flatnonzero(there.to_numpy()))
    long = pl.concat(parts)
    if not np.isnat(read_dates(pl.Series(races)).days).any():
        long = long.with_columns(pl.col("race").alias("date"))
    return Opened(
        long, (*opened.notes, *_notes(opened, kind, races, left_out, brackets, rows)), rows=np.concatenate(rows)
    )


def _notes(
    opened: Opened, kind: str, races: list[str], left_out: list[str], brackets: int, rows: list[NDArray[np.int64]]
) -> list[str]:
    cells = len(races) * opened.table.height
    holds = {"place": "places", "time": "times", "points": "points, of which the most is best"}[kind]
    notes = [
        f"the sheet has a row for each entrant and a column for each of {len(races)} races ({listed(races)}) that "
        f"holds {holds}"
    ]
    if empty := cells - sum(map(len, rows)):
        notes.append(f"{empty:,} cells of the sheet are empty: those entrants were not in those races")
    if brackets:
        notes.append(f"{brackets:,} results are marked as discards: they were reached, and count like the others")
    if left_out:
        notes.append(f"totals and the like were left out: {listed(left_out)}")
    if opened.broken:
        notes.append(f"{len(opened.broken):,} lines could not be read")
    return notes
