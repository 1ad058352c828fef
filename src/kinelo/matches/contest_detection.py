"""Whether a table holds contests of many entrants or matches of two sides, by its columns and first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from kinelo.matches.columns import LOSER_COLUMNS, MATCH_COLUMNS, find_columns
from kinelo.matches.contest_columns import CONTEST_COLUMNS, find_contest_columns
from kinelo.matches.loading import Opened
from kinelo.matches.wide_sheet import from_wide_sheet


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
    sides = find_columns(columns, {**MATCH_COLUMNS, "opponent": ("opponent", "opp", "opponentname", "gegner")}, None)
    if {"home", "away"} & sides.keys() or "opponent" in sides:
        return False
    found = find_contest_columns(columns, given)
    if "entrant" not in found or not {"contest", "date"} & found.keys():
        return from_wide_sheet(Opened(table), given) is not None
    return "place" in found or ("contest" in found and bool({"score", "time"} & found.keys()) and _many(table, found))


def _many(table: pl.DataFrame, found: Mapping[str, str]) -> bool:
    """Whether most contests have more than two rows, and nobody is called a winner or loser."""
    keys = [found[name] for name in ("contest", "season", "date") if name in found]
    of_winners = find_columns(table.columns, LOSER_COLUMNS, None)
    return not of_winners and table.height > 0 and bool((table.group_by(keys).len()["len"] > 2).mean() > 0.5)  # type: ignore[operator]
