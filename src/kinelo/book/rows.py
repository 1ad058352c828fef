"""Matches as rows of a book's table ``match``, and back.

Conditions that the rater uses and line-ups are kept as JSON, written one way, so that rows can be compared. Whatever
comes back from a file is checked: it may be damaged, or somebody else's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.dated import EARLIEST, LATEST, Condition
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names
from kinelo.model.validation import LARGEST

SCHEMA = {
    "match_id": pl.String,
    "date": pl.String,
    "home": pl.String,
    "away": pl.String,
    "result": pl.Float64,
    "margin": pl.Float64,
    "neutral": pl.Int64,
    "weight": pl.Float64,
    "conditions": pl.String,
    "lineups": pl.String,
    "rank": pl.Int64,
    "place": pl.Int64,
    "line": pl.Int64,
}
COLUMNS = ", ".join(name if name != "date" else "CAST(date AS TEXT)" for name in SCHEMA)
"""The columns of ``match`` as a question asks for them."""
NEEDED = [name for name in SCHEMA if name not in ("margin", "conditions", "lineups", "line")]
LINEUP = ("player", "minutes", "starter", "role")


def plain_json(value: Any) -> str:
    """JSON as books write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_json(text: Any) -> Any:
    """What was kept as JSON; refused where it is none."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise InputError("A book holds text where JSON belongs.") from None


def matches_to_frame(matches: Matches, ids: pl.Series, conditions: Sequence[str] = ()) -> pl.DataFrame:
    """Matches as a table of a book's columns, under the identifiers the book gives them; ranks come later."""
    table = matches.to_polars().select("date", "home", "away", "result", "margin", "neutral", "weight")
    return table.select(
        match_id=ids,
        date=pl.col("date").cast(pl.String),
        home="home",
        away="away",
        result=pl.col("result").cast(pl.Float64),
        margin=pl.col("margin").fill_nan(None).cast(pl.Float64),
        neutral=pl.col("neutral").cast(pl.Int64),
        weight=pl.col("weight").cast(pl.Float64),
        conditions=_conditions_to_text(matches, conditions),
        lineups=_lineups_to_text(matches.lineups, len(matches)),
        rank=pl.lit(None, pl.Int64),
        place=_places(matches),
        line=pl.Series(matches.row, dtype=pl.Int64),
    )


def _conditions_to_text(matches: Matches, conditions: Sequence[str]) -> pl.Series:
    if not conditions:
        return pl.Series([None] * len(matches), dtype=pl.String)
    columns = [matches.conditions[name].names().to_list() for name in conditions]
    return pl.Series([plain_json(dict(zip(conditions, levels))) for levels in zip(*columns)], dtype=pl.String)


def _places(matches: Matches) -> pl.Series:
    """Place of each match in its table: its row, unless matches of one day do not stand in the order of their rows."""
    whole = matches if matches.source is None else matches.source
    if not np.any((whole.date[1:] == whole.date[:-1]) & (whole.row[1:] < whole.row[:-1])):
        return pl.Series(matches.row, dtype=pl.Int64)
    place = np.empty(int(whole.row.max()) + 1, np.int64)
    place[whole.row] = np.arange(1, len(whole) + 1)
    return pl.Series(place[matches.row])


def _lineups_to_text(lineups: Lineups | None, matches: int) -> pl.Series:
    """Line-ups of each match as JSON, None where nobody is listed."""
    if lineups is None:
        return pl.Series([None] * matches, dtype=pl.String)
    player = [lineups.players[code] for code in lineups.player.tolist()]
    minutes = [None if math.isnan(value) else value for value in lineups.minutes.tolist()]
    starter = lineups.starter.tolist()
    role = [None if code < 0 else lineups.roles[code] for code in lineups.role.tolist()]
    columns, bounds = (player, minutes, starter, role), lineups.offsets.tolist()
    texts = []
    for k in range(matches):
        begin, middle, end = bounds[2 * k : 2 * k + 3]
        sides = [dict(zip(LINEUP, (c[a:b] for c in columns))) for a, b in ((begin, middle), (middle, end))]
        texts.append(plain_json(dict(zip(("home", "away"), sides))) if end > begin else None)
    return pl.Series(texts, dtype=pl.String)


def rows_to_frame(rows: Iterable[tuple]) -> pl.DataFrame:
    """Rows of ``match`` as a table; refused where one holds what no match is."""
    try:
        table = pl.DataFrame(list(rows), schema=SCHEMA, orient="row", strict=True)
        day = pl.col("date").str.to_date("%Y-%m-%d", strict=True)
        sound = pl.all_horizontal(
            *(pl.col(name).is_not_null() for name in NEEDED),
            pl.col("result").is_between(0.0, 1.0),
            pl.col("weight").is_between(0.0, LARGEST),
            pl.col("margin").fill_null(0.0).is_between(-LARGEST, LARGEST),
            pl.col("neutral").is_between(0, 1),
            pl.col("home") != pl.col("away"),
            (day >= EARLIEST.item()) & (day < LATEST.item()),
        )
        if table.select(sound.all()).item():
            return table
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        pass
    raise InputError("A row of the table match holds what no match is.")


def frame_to_matches(table: pl.DataFrame) -> Matches:
    """Matches of a book's table, in its order."""
    (home, away), teams = encode_names(table["home"], table["away"])
    return Matches(
        table["date"].str.to_date("%Y-%m-%d").to_numpy().astype("datetime64[D]"),
        home,
        away,
        teams,
        table["result"].to_numpy(writable=True),
        table["margin"].fill_null(np.nan).to_numpy(writable=True),
        table["neutral"].cast(pl.Boolean).to_numpy().copy(),
        table["weight"].to_numpy(writable=True),
        np.arange(1, table.height + 1),
        table["match_id"],
        None if table["lineups"].null_count() == table.height else _lineups_of(table["lineups"]),
        conditions=_conditions_of(table["conditions"]),
    )


def _conditions_of(texts: pl.Series) -> dict[str, Condition]:
    if texts.null_count() == texts.len():
        return {}
    said = [{} if text is None else read_json(text) for text in texts.to_list()]
    levels = [level for one in said if isinstance(one, dict) for level in one.values()]
    if not all(isinstance(one, dict) for one in said) or not all(isinstance(x, str | None) for x in levels):
        raise InputError("A row of the table match holds conditions that are none.")
    found = {}
    for name in dict.fromkeys(name for one in said for name in one):
        (codes,), known = encode_names(pl.Series([one.get(name) for one in said], dtype=pl.String))
        found[name] = Condition(codes, known)
    return found


def _lineups_of(texts: pl.Series) -> Lineups:
    columns: dict[str, list[Any]] = {name: [] for name in LINEUP}
    lengths = []
    for text in texts.to_list():
        said = {} if text is None else read_json(text)
        for side in ("home", "away"):
            part = said.get(side, {}) if isinstance(said, dict) else None
            if not isinstance(part, dict) or not set(part) <= set(LINEUP):
                raise InputError("A row of the table match holds line-ups that are none.")
            lists = [part.get(name, []) for name in LINEUP]
            if not all(isinstance(one, list) for one in lists) or len({len(one) for one in lists}) > 1:
                raise InputError("A row of the table match holds line-ups that are none.")
            for name, one in zip(LINEUP, lists):
                columns[name] += one
            lengths.append(len(lists[0]))
    try:
        player = pl.Series(columns["player"], dtype=pl.String, strict=True)
        minutes = pl.Series([None if v is None else float(v) for v in columns["minutes"]], dtype=pl.Float64)
        starter = pl.Series(columns["starter"], dtype=pl.Int8, strict=True)
        role_names = pl.Series(columns["role"], dtype=pl.String, strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise InputError("A row of the table match holds line-ups that are none.") from None
    if player.null_count() or not starter.fill_null(-1).is_between(-1, 1).all():
        raise InputError("A row of the table match holds line-ups that are none.")
    (codes,), players = encode_names(player)
    (role,), roles = encode_names(role_names)
    return Lineups(
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        codes,
        players,
        minutes.fill_null(np.nan).to_numpy(writable=True),
        starter.fill_null(-1).to_numpy(writable=True).astype(np.int8),
        role.astype(np.int16),
        roles,
    )
