"""Tables of another shape: one row per team, a column for each race, cells that stand for a block of rows.

Each becomes the table that is read like any other: one row for a match, or one for an entrant of a contest. Wide sheets
are kept by regattas and championships: cells hold places, points or times, codes such as DNF, and nothing where an
entrant was not there; discards stand in brackets, and totals at the end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import (
    CONTEST_COLUMNS,
    FURTHER_HEADERS,
    LOSER_COLUMNS,
    MATCH_COLUMNS,
    find_columns,
    find_contest_columns,
    listed,
    plain_name,
)
from kinelo.matches.contest_outcomes import read_cells
from kinelo.matches.contests import FINISHED
from kinelo.matches.dates import read_dates
from kinelo.matches.loading import Opened
from kinelo.matches.names import as_text, encode_names, read_words
from kinelo.matches.words import UNKNOWN
from kinelo.presentation import counted

TEAM_COLUMNS: dict[str, tuple[str, ...]] = {
    "team": ("team", "teamname", "teamid", "club", "side", "player"),
    "score": ("score", "goals", "points", "pts", "runs", "goalsfor", "gf", "teamscore"),
    "result": ("result", "outcome", "won", "wl"),
    "rank": ("rank", "place", "position", "finish", "finishposition", "placement", "rang", "platz", "posicao", "posto"),
    "venue": ("venue", "homeaway", "ha", "location", "ishome", "where", "homeoraway"),
    "match_id": MATCH_COLUMNS["match_id"],
}
AT_HOME = {
    1: ("h", "home", "1", "true", "yes", "heim", "casa", "local", "domicile", "thuis"),
    0: ("a", "away", "0", "false", "no", "@", "auswärts", "gast", "fora", "visitante", "extérieur", "trasferta", "uit"),
    2: ("n", "neutral", "neutro", "neutre", "neutraal"),
}
UNPAIRED = "not two rows of one match"


def joined_rows(opened: Opened, columns: Mapping[str, str] | None) -> Opened | None:
    """One row per match from a table of one row per team, or None where the table is not of that kind.

    A joined match stands at the first of its rows; the second row is left blank and marked as used.
    """
    table = opened.table
    given = {name: column for name, column in (columns or {}).items() if name in ("match_id",)}
    sides = find_columns(table.columns, {side: MATCH_COLUMNS[side] for side in ("home", "away")}, None)
    column_of = find_columns(table.columns, TEAM_COLUMNS, given or None)
    if {"home", "away"} & (sides.keys() | (columns or {}).keys()) or not {"team", "match_id"} <= column_of.keys():
        return None
    if not {"score", "result", "rank"} & column_of.keys():
        return None
    (match,), _ = encode_names(table[column_of["match_id"]])
    number = np.bincount(match[match >= 0])
    if np.mean(number > 2) > 0.5:
        measure = next(name for name in ("rank", "score", "result") if name in column_of)
        mapping = {"contest": column_of["match_id"], "place" if measure == "rank" else "score": column_of[measure]}
        best = "" if measure == "rank" else ", best='highest'"
        entrant = find_contest_columns(table.columns, mapping).get("entrant")
        groups = [name for name in table.columns if plain_name(name) in ("team", "side", "squad") and name != entrant]
        team = f", team={groups[0]!r}" if groups else ""
        raise InputError(
            f"The table has up to {number.max():,} rows under one {column_of['match_id']!r}, and a match has two "
            f"sides. As contests of many it is read with columns={mapping}{best}{team}."
        )
    if not np.any(number == 2) or not {"score", "result"} & column_of.keys():
        return None
    n = table.height
    paired = np.append(number == 2, False)[match]
    order = np.argsort(match, kind="stable")
    pairs = order[paired[order]].reshape(-1, 2)
    venue = np.full(n, -1, np.int8)
    if "venue" in column_of:
        venue = read_words(table[column_of["venue"]], AT_HOME)
    first, second = venue[pairs].T
    turned = ((first == 0) & (second != 0)) | ((second == 1) & (first != 1))
    home, away = np.where(turned, pairs[:, 1], pairs[:, 0]), np.where(turned, pairs[:, 0], pairs[:, 1])
    neutral = ~((venue[home] == 1) | (venue[away] == 0))
    place = pairs.min(axis=1)
    used = np.setdiff1d(pairs, place)
    cells = {"home": (column_of["team"], home), "away": (column_of["team"], away)}
    if "score" in column_of:
        cells |= {"home_score": (column_of["score"], home), "away_score": (column_of["score"], away)}
    else:
        cells["result"] = (column_of["result"], home)
    series = []
    for name, (column, rows) in cells.items():
        source = np.full(n, n)
        source[place] = rows
        series.append(
            pl.concat([table[column], pl.Series([None], dtype=table[column].dtype)]).gather(source).alias(name)
        )
    flags = np.zeros(n, bool)
    flags[place] = neutral
    rest = table.drop({column_of[name] for name in ("team", "score", "result", "venue") if name in column_of})
    rest = rest.drop([name for name in (*cells, "neutral") if name in rest.columns])
    broken = {int(row): UNPAIRED for row in np.flatnonzero(~paired)} | dict(opened.broken)
    notes = (
        *opened.notes,
        f"the table has one row per team: {counted(len(pairs), 'match was', 'matches were')} joined by "
        f"{column_of['match_id']!r}",
    )
    used_up = frozenset(int(row) for row in used)
    return Opened(rest.with_columns(*series, pl.Series("neutral", flags)), notes, broken, used_up)


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
MEASURES = ("place", "time", "points")
SIDES = {
    **{side: MATCH_COLUMNS[side] for side in ("home", "away")},
    "opponent": ("opponent", "opp", "opponentname", "gegner"),
}


def from_wide_sheet(opened: Opened, given: Mapping[str, Any] | None, played: bool = True) -> Opened | None:
    """The long table of a wide sheet, with notes; None where the table is not one."""
    table = opened.table
    if {*(given or {})} - {"entrant", "weight", "season", "group"} or not played or table.height < 2:
        return None
    headers = find_contest_columns(table.columns, {k: v for k, v in (given or {}).items() if isinstance(v, str)})
    if "entrant" not in headers or {"contest", "date"} & headers.keys():
        return None
    if find_columns(table.columns, SIDES, None) or find_columns(table.columns, LOSER_COLUMNS, None):
        return None
    measure, races = _race_columns(table, headers)
    if not races:
        return None
    others = [headers.get(key) for key in ("place", "score", "time", "distance", "title", "status")]
    left_out = [
        column for column in table.columns
        if column not in races
        and (plain_name(column) in TOTALS or column in others or RACE.fullmatch(column.strip().lower()))
    ]  # fmt: skip
    columns = [column for column in table.columns if column not in (*races, *left_out)]
    parts, rows, discards = [], [], 0
    for race in races:
        text = as_text(table[race]).str.strip_chars()
        there = (text != "").fill_null(False)
        discards += int((text.str.contains(r"^[(\[].*[)\]]$|^[-−~]\d|^\d+\*$") & there).sum() or 0)
        part = table.select(columns).with_columns(pl.lit(race).alias("race"), _without_signs(text).alias(measure))
        parts.append(part.filter(there))
        rows.append(np.flatnonzero(there.to_numpy()))
    long = pl.concat(parts)
    if not np.isnat(read_dates(pl.Series(races)).days).any():
        long = long.with_columns(pl.col("race").alias("date"))
    holds = {"place": "places", "time": "times", "points": "points, of which the most is best"}[measure]
    notes = [
        f"the sheet has a row for each entrant and a column for each of {counted(len(races), 'race', 'races')} "
        f"({listed(races)}) that holds {holds}"
    ]
    if empty := len(races) * table.height - long.height:
        absent = "that entrant was not in that race" if empty == 1 else "those entrants were not in those races"
        notes.append(f"{counted(empty, 'cell of the sheet is', 'cells of the sheet are')} empty: {absent}")
    if discards:
        notes.append(
            f"{counted(discards, 'result is marked as a discard', 'results are marked as discards')}: "
            f"{'it was reached, and counts' if discards == 1 else 'they were reached, and count'} like the others"
        )
    if left_out:
        notes.append(f"totals and the like were left out: {listed(left_out)}")
    if opened.broken:
        notes.append(f"{counted(len(opened.broken), 'line', 'lines')} could not be read")
    return Opened(long, (*opened.notes, *notes), rows=np.concatenate(rows))


def _race_columns(table: pl.DataFrame, found: Mapping[str, str]) -> tuple[str, list[str]]:
    """What stands in columns that hold races (places, times or points), and which these are."""
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
        for measure in MEASURES:
            races = [c for c in candidates if _holds(table[c], measure, table.height)]
            if len(races) >= least and len(races) >= MOSTLY * len(candidates):
                return measure, races
        if numbered:
            break
    return "", []


def _holds(column: pl.Series, measure: str, entrants: int) -> bool:
    """Whether a column holds places, times or points of one race."""
    cells = read_cells(_without_signs(column), "score" if measure == "points" else measure)
    value = cells.value[(cells.ended == FINISHED) & np.isfinite(cells.value)]
    understood = (cells.ended != UNKNOWN) | cells.blank
    if value.size < 2 or understood.mean() < MOSTLY:
        return False
    if measure == "place":
        whole = np.all(value >= 1.0) and value.max() <= 1.5 * entrants + 2
        return bool(whole and value.min() == 1.0 and np.unique(value).size >= MOSTLY * value.size)
    if measure == "time":
        return column.dtype == pl.String and bool(column.str.contains(r"\d[:hm']\d").mean() or 0)
    return bool(value.max() >= 3.0 and np.unique(value).size > 2)


def _without_signs(column: pl.Series) -> pl.Series:
    """Cells as text without what marks a discard: ``-17``, ``17*``, ``~17~``."""
    text = as_text(column).str.strip_chars()
    return text.str.replace(r"^[-−~]+\s*(\d.*?)\s*[-~]*$", "$1").str.replace(r"^(\d+(?:\.\d+)?)\s*\*$", "$1")


def are_contests(table: pl.DataFrame, given: Mapping[str, str | Sequence[str]] | None = None) -> bool:
    """Whether a table (or its first rows) holds contests, one row per entrant, and not matches of two sides.

    Places tell. Scores and times may be those of the two sides of a match: there must be more than two rows of most
    contests.

    >>> are_contests(pl.DataFrame({"race": [1, 1], "driver": ["A", "B"], "position": [1, 2]}))
    True
    >>> are_contests(pl.DataFrame({"game": [1, 1], "player": ["A", "B"], "points": [1, 2]}))
    False
    """
    if given and set(given) - set(CONTEST_COLUMNS):
        return False
    if given and set(given) - set(MATCH_COLUMNS):
        return True
    columns = table.columns
    given = {name: column for name, column in (given or {}).items() if isinstance(column, str)}
    if find_columns(columns, SIDES, None):
        return False
    headers = find_contest_columns(columns, given)
    if "entrant" not in headers or not {"contest", "date"} & headers.keys():
        return from_wide_sheet(Opened(table), given) is not None
    if "place" in headers or "contest" not in headers or not {"score", "time"} & headers.keys():
        return "place" in headers
    keys = [headers[name] for name in ("contest", "season", "date") if name in headers]
    of_winners = find_columns(columns, LOSER_COLUMNS, None)
    return not of_winners and table.height > 0 and bool((table.group_by(keys).len()["len"] > 2).mean() > 0.5)  # type: ignore[operator]
