"""Tables with one row per team: the two rows with one match identifier become one row of home and away."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import MATCH_COLUMNS, find_columns
from kinelo.matches.fields import read_words
from kinelo.matches.loading import Opened
from kinelo.matches.names import encode_names

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
    own = find_columns(table.columns, MATCH_COLUMNS, None)
    column_of = find_columns(table.columns, TEAM_COLUMNS, given or None)
    if {"home", "away"} & (own.keys() | (columns or {}).keys()) or not {"team", "match_id"} <= column_of.keys():
        return None
    if not {"score", "result", "rank"} & column_of.keys():
        return None
    (match,), _ = encode_names(table[column_of["match_id"]])
    number = np.bincount(match[match >= 0])
    if np.mean(number > 2) > 0.5:
        raise InputError(
            f"The table ranks up to {number.max():,} sides under one {column_of['match_id']!r}; "
            "only matches of two sides are read. kinelo.read_contests reads contests of many."
        )
    if not np.any(number == 2) or not {"score", "result"} & column_of.keys():
        return None
    return _joined(opened, column_of, match, number)


def _joined(opened: Opened, found: dict[str, str], match: np.ndarray, number: np.ndarray) -> Opened:
    table, n = opened.table, opened.table.height
    paired = np.append(number == 2, False)[match]
    order = np.argsort(match, kind="stable")
    pairs = order[paired[order]].reshape(-1, 2)
    venue = np.full(n, -1, np.int8)
    if "venue" in found:
        venue = read_words(table[found["venue"]], AT_HOME)
    first, second = venue[pairs].T
    turned = ((first == 0) & (second != 0)) | ((second == 1) & (first != 1))
    home, away = np.where(turned, pairs[:, 1], pairs[:, 0]), np.where(turned, pairs[:, 0], pairs[:, 1])
    neutral = ~((venue[home] == 1) | (venue[away] == 0))
    place = pairs.min(axis=1)
    used = np.setdiff1d(pairs, place)
    columns = {"home": (found["team"], home), "away": (found["team"], away)}
    if "score" in found:
        columns |= {"home_score": (found["score"], home), "away_score": (found["score"], away)}
    else:
        columns["result"] = (found["result"], home)
    series = []
    for name, (column, rows) in columns.items():
        source = np.full(n, n)
        source[place] = rows
        series.append(
            pl.concat([table[column], pl.Series([None], dtype=table[column].dtype)]).gather(source).alias(name)
        )
    flags = np.zeros(n, bool)
    flags[place] = neutral
    rest = table.drop({found[name] for name in ("team", "score", "result", "venue") if name in found})
    rest = rest.drop([name for name in (*columns, "neutral") if name in rest.columns])
    broken = {int(row): UNPAIRED for row in np.flatnonzero(~paired)} | dict(opened.broken)
    notes = (
        *opened.notes,
        f"the table has one row per team: {len(pairs):,} matches were joined by {found['match_id']!r}",
    )
    used_up = frozenset(int(row) for row in used)
    return Opened(rest.with_columns(*series, pl.Series("neutral", flags)), notes, broken, used_up)
