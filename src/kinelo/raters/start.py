"""Ratings that sides begin with: a table of names and ratings, perhaps with deviations, matches played and days.

Whoever is not in the table enters as a newcomer. A rating without a deviation is as uncertain as a newcomer's; without
a number of matches its side counts as settled; without a day it holds on the day of the first match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.raters.spelling import MOST_NAMED, nearest_names
from kinelo.raters.state import NEVER

if TYPE_CHECKING:
    import polars as pl

MOST_SHEETS = 30
SETTLED = 10**6
"""Matches that a side of unknown experience is taken to have played."""

COLUMNS = {
    "name": ("name", "team", "side", "player", "member"),
    "rating": ("rating", "elo", "strength"),
    "deviation": ("deviation", "uncertainty", "rd"),
    "volatility": ("volatility",),
    "matches": ("matches", "games", "played"),
    "date": ("last_played", "date"),
}


class Start(NamedTuple):
    """What is known of everyone before the first match: NaN, SETTLED or NEVER where it is not said."""

    names: tuple[str, ...]
    rating: NDArray[np.float64]
    deviation: NDArray[np.float64]
    volatility: NDArray[np.float64]
    matches: NDArray[np.int64]
    day: NDArray[np.int64]

    def plain(self) -> dict[str, list[Any]]:
        """The table as lists, from which :func:`read_start` reads the same."""
        columns: dict[str, list[Any]] = {"name": list(self.names), "rating": self.rating.tolist()}
        for name, values in (("deviation", self.deviation), ("volatility", self.volatility)):
            if np.isfinite(values).any():
                columns[name] = [float(v) if np.isfinite(v) else None for v in values]
        if np.any(self.matches != SETTLED):
            columns["matches"] = self.matches.tolist()
        if np.any(self.day != NEVER):
            columns["date"] = [str(np.datetime64(int(day), "D")) if day != NEVER else None for day in self.day]
        return columns


def read_start(source: Any) -> Start:
    """Read ratings to begin with: names and numbers, a table with columns name and rating, or the path of one.

    A workbook may have them on any sheet. Of matches that state ratings of both sides, the first of each side counts.

    >>> start = read_start({"A": 1620, "B": 1480})
    >>> start.names, start.rating.tolist()
    (('A', 'B'), [1620.0, 1480.0])
    """
    from kinelo.matches.names import clean_name

    if isinstance(source, Mapping) and not any(isinstance(v, list | tuple | np.ndarray) for v in source.values()):
        source = {"name": list(map(str, source)), "rating": list(source.values())}
    if not (isinstance(source, Mapping | str | Path) or hasattr(source, "columns")):
        raise InputError(f"start must be a table of names and ratings, or a mapping, not {type(source).__name__}.")
    table = _ratings_in(source)
    names = tuple(clean_name(str(name)) for name in table["name"])
    if len(set(names)) < len(names) or not all(names):
        twice = next((name for name in names if names.count(name) > 1), "")
        raise InputError(f"start names {twice!r} twice" if twice else "start holds a row without a name")
    rating, deviation, volatility, matches = (_numbers(table, c) for c in list(COLUMNS)[1:5])
    wrong = np.flatnonzero(~np.isfinite(rating) | (np.abs(rating) > 1e12) | (deviation <= 0) | (volatility <= 0))
    wrong = np.union1d(wrong, np.flatnonzero(matches < 0))
    if wrong.size:
        raise InputError(f"start says of {names[wrong[0]]!r} what no rating can be; deviations are above 0.")
    games = np.where(np.isnan(matches), SETTLED, np.maximum(np.nan_to_num(matches), 1)).astype(np.int64)
    return Start(names, rating, deviation, volatility, games, _days(table))


def read_k(source: Any) -> dict[str, float]:
    """Names with a K of their own: a mapping, or a table (also a path) with the columns name and k.

    >>> read_k({"Anna": 40, "Ben": 10})
    {'Anna': 40.0, 'Ben': 10.0}
    """
    from kinelo.matches.loading import load_table
    from kinelo.matches.names import clean_name

    if isinstance(source, Mapping) and not any(isinstance(v, list | tuple | np.ndarray) for v in source.values()):
        source = {"name": list(map(str, source)), "k": list(source.values())}
    if not (isinstance(source, Mapping | str | Path) or hasattr(source, "columns")):
        raise InputError(f"k_of must be a table of names and K, or a mapping, not {type(source).__name__}.")
    table = load_table(source)
    columns = {str(name).strip().lower(): name for name in table.columns}
    if not {"name", "k"} <= set(columns):
        raise InputError(f"k_of needs the columns name and k; it has {', '.join(map(str, table.columns))}.")
    names = [clean_name(str(name)) for name in table[columns["name"]]]
    values = _numbers(table.rename({columns["k"]: "k"}), "k")
    wrong = next((name for name, k in zip(names, values) if not (0.0 <= k < 1e12)), None)
    if wrong is not None or len(set(names)) < len(names) or not all(names):
        raise InputError(
            f"k_of gives {wrong!r} no K that can be used; K is a number of at least 0."
            if wrong is not None
            else "k_of names somebody twice, or not at all."
        )
    return dict(zip(names, values.tolist(), strict=True))


def _ratings_in(source: Any) -> pl.DataFrame:
    """The table of names and ratings in a source: itself, a sheet of it, or what its matches state."""
    import polars as pl

    from kinelo.matches.loading import load_table, open_table

    table = load_table(source)
    try:
        return _named(table)
    except InputError as missing:
        for sheet in range(1, MOST_SHEETS):
            with suppress(InputError):
                return _named(open_table(source, sheet).table)
        stated = stated_ratings(source, table.columns)
        if not stated:
            raise missing
        return pl.DataFrame({"name": list(stated), "rating": list(stated.values())})


def stated_ratings(source: Any, present: Sequence[str]) -> dict[str, float]:
    """The first rating of each side that matches state, by name; none where no two columns do."""
    from kinelo.matches.columns import LOSER_COLUMNS, MATCH_COLUMNS, find_columns, rating_columns
    from kinelo.matches.reading import read_matches

    sides = find_columns(present, LOSER_COLUMNS, None)
    sides |= find_columns(present, {side: MATCH_COLUMNS[side] for side in ("home", "away")}, None)
    columns = rating_columns(present, sides) if {"home", "away"} <= sides.keys() else None
    if columns is None:
        return {}
    matches, stated = read_matches(source, conditions=columns), {}
    cells = [[_number(level) for level in matches.conditions[column].levels] for column in columns]
    for n in range(len(matches)):
        for side, column, values in zip((matches.home, matches.away), columns, cells):
            code = int(matches.conditions[column].codes[n])
            if code >= 0 and values[code] is not None:
                stated.setdefault(matches.teams[side[n]], values[code])
    return stated


def _number(text: str) -> float | None:
    """A rating as a cell states it; none where it is no number, or 0 as some write for unrated."""
    with suppress(ValueError):
        return float(text) or None
    return None


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """The table with the columns it has under their plain names."""
    lower = {str(column).strip().lower(): column for column in table.columns}
    headers = {}
    for name, aliases in COLUMNS.items():
        hits = [lower[alias] for alias in aliases if alias in lower]
        if hits:
            headers[hits[0]] = name
    missing = [name for name in ("name", "rating") if name not in headers.values()]
    if missing:
        raise InputError(f"start has no column {missing[0]!r}; it has {', '.join(map(str, table.columns))}.")
    return table.select(list(headers)).rename(headers)


def _numbers(table: pl.DataFrame, column: str) -> NDArray[np.float64]:
    from kinelo.matches.names import read_numbers

    if column not in table.columns:
        return np.full(table.height, np.nan)
    notes: list[str] = []
    numbers = read_numbers(table[column], notes)
    for note in notes:
        warn(note)
    return numbers


def _days(table: pl.DataFrame) -> NDArray[np.int64]:
    import polars as pl

    if "date" not in table.columns:
        return np.full(table.height, NEVER)
    days = table["date"]
    try:
        days = days.cast(pl.String).str.head(10).str.to_date("%Y-%m-%d") if days.dtype != pl.Date else days
    except pl.exceptions.PolarsError:
        raise InputError("start holds dates that are not written as year-month-day.") from None
    return days.cast(pl.Int32).cast(pl.Int64).fill_null(NEVER).to_numpy()


def warn_of_unmet(start: Start, met: set[str]) -> None:
    """Warn of names in the table that no match names, with those they may stand for."""
    strange = [name for name in start.names if name not in met]
    if not strange:
        return
    fresh = sorted(met.difference(start.names))
    named = []
    for name in strange[:MOST_NAMED]:
        near = nearest_names(name, fresh, 1)
        named.append(f"{name!r} (perhaps {near[0]!r})" if near else repr(name))
    rest = f" and {len(strange) - MOST_NAMED} more" if len(strange) > MOST_NAMED else ""
    warn(f"start names {len(strange)} that no match names: {', '.join(named)}{rest}.")
