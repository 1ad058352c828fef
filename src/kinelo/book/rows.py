"""Matches as lines of a rating book's journal, and back: one JSON object per match, line-ups as lists.

Where matches of one day do not stand in the order of the rows of their table, ``order`` tells the one they stand in.
Conditions that the rater uses stand in columns of their own, whose names begin so that none is taken for another.
A removal is a line of its own, ``{"removed": [identifiers]}``, before the matches that take the place of those removed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.conditions import Condition
from kinelo.matches.dated import LATEST
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names

MATCH_SCHEMA = {
    "match_id": pl.String,
    "date": pl.Date,
    "home": pl.String,
    "away": pl.String,
    "result": pl.Float64,
    "margin": pl.Float64,
    "neutral": pl.Boolean,
    "weight": pl.Float64,
    "source": pl.String,
    "row": pl.Int64,
}
LARGEST_STORED = 1e300
ORDER = "order"
CONDITION_PREFIX = "condition "
REMOVED = b'{"removed"'
LISTS = {"player": pl.String, "minutes": pl.Float64, "starter": pl.Int8, "role": pl.String}
LIST_SCHEMA = {f"{side}_{name}": pl.List(kind) for side in ("home", "away") for name, kind in LISTS.items()}


def matches_to_frame(matches: Matches, ids: pl.Series, conditions: tuple[str, ...] = ()) -> pl.DataFrame:
    """Matches as a table of the journal's columns, under the identifiers a book gives them."""
    table = matches.to_polars().select(name for name in MATCH_SCHEMA if name not in ("source", "row"))
    table = table.with_columns(
        pl.col("margin").fill_nan(None), match_id=ids, source=pl.lit(matches.source_digest), row=pl.Series(matches.row)
    )
    if (order := _order_of(matches)) is not None:
        table = table.with_columns(order)
    table = table.with_columns(matches.conditions[name].names().alias(CONDITION_PREFIX + name) for name in conditions)
    return table if matches.lineups is None else table.hstack(_lineup_columns(matches.lineups))


def _order_of(matches: Matches) -> pl.Series | None:
    """Place of each match in its table where matches of one day do not stand in the order of their rows."""
    whole = matches if matches.source is None else matches.source
    if not np.any((whole.date[1:] == whole.date[:-1]) & (whole.row[1:] < whole.row[:-1])):
        return None
    place = np.empty(int(whole.row.max()) + 1, np.int64)
    place[whole.row] = np.arange(1, len(whole) + 1)
    return pl.Series(ORDER, place[matches.row])


def _lineup_columns(lineups: Lineups) -> list[pl.Series]:
    values = {
        "player": pl.Series(lineups.players, dtype=pl.String).gather(lineups.player),
        "minutes": pl.Series(lineups.minutes).fill_nan(None),
        "starter": pl.Series(lineups.starter),
        "role": pl.Series([*lineups.roles, None], dtype=pl.String).gather(
            np.where(lineups.role < 0, len(lineups.roles), lineups.role)
        ),
    }
    sides = np.repeat(np.arange(lineups.offsets.size - 1), np.diff(lineups.offsets))
    long = pl.DataFrame({"side": sides, **values})
    grouped = long.group_by("side", maintain_order=True).agg(pl.all())
    every = pl.DataFrame({"side": np.arange(lineups.offsets.size - 1)})
    full = every.join(grouped, on="side", how="left", maintain_order="left")
    columns = []
    for place, side in enumerate(("home", "away")):
        half = full.gather_every(2, place)
        columns += [half[name].rename(f"{side}_{name}") for name in LISTS]
    return columns


def frame_to_lines(table: pl.DataFrame) -> bytes:
    """A table of matches as newline-delimited JSON."""
    return table.write_ndjson().encode()


def lines_to_frame(payload: bytes) -> pl.DataFrame:
    """The table that :func:`frame_to_lines` wrote."""
    first = json.loads(payload[: payload.find(b"\n")])
    schema = (
        MATCH_SCHEMA | ({ORDER: pl.Int64} if ORDER in first else {}) | dict.fromkeys(conditions_among(first), pl.String)
    )
    table = pl.read_ndjson(io.BytesIO(payload), schema=schema | (LIST_SCHEMA if "home_player" in first else {}))
    sound = pl.all_horizontal(
        *(pl.col(name).is_not_null() for name in MATCH_SCHEMA if name != "margin"),
        pl.col("result").is_between(0.0, 1.0),
        pl.col("weight").is_between(0.0, LARGEST_STORED),
        pl.col("date") < LATEST.item(),
        pl.col("margin").fill_null(0.0).is_between(-LARGEST_STORED, LARGEST_STORED),
    )
    if not table.select(sound.all()).item():
        raise InputError("A line holds what no match is.")
    return table


def conditions_among(columns: Iterable[str]) -> list[str]:
    """Those of a journal's columns that hold conditions."""
    return [name for name in columns if name.startswith(CONDITION_PREFIX)]


def removal_to_lines(ids: list[str]) -> bytes:
    """Identifiers taken out of a book, as the journal keeps them."""
    return json.dumps({"removed": ids}).encode() + b"\n"


def parted_removal(payload: bytes) -> tuple[list[str], bytes]:
    """Identifiers that a record takes out of the book, and the lines of matches it adds.

    >>> parted_removal(removal_to_lines(["a"]) + b'{"match_id": "b"}'), parted_removal(b'{"match_id": "b"}')[0]
    ((['a'], b'{"match_id": "b"}'), [])
    """
    if not payload.startswith(REMOVED):
        return [], payload
    first, _, lines = payload.partition(b"\n")
    removed = json.loads(first)["removed"]
    if not isinstance(removed, list):
        raise TypeError("what is removed is no list")
    return removed, lines


def frame_to_matches(table: pl.DataFrame) -> Matches:
    """Matches of a journal's table, in its order."""
    (home, away), teams = encode_names(table["home"], table["away"])
    return Matches(
        table["date"].to_numpy().astype("datetime64[D]"),
        home,
        away,
        teams,
        table["result"].to_numpy(writable=True),
        table["margin"].fill_null(np.nan).to_numpy(writable=True),
        table["neutral"].to_numpy().copy(),
        table["weight"].to_numpy(writable=True),
        np.arange(1, table.height + 1),
        table["match_id"],
        _lineups_of(table) if "home_player" in table.columns else None,
        conditions={
            name.removeprefix(CONDITION_PREFIX): _condition_of(table[name]) for name in conditions_among(table.columns)
        },
    )


def _condition_of(column: pl.Series) -> Condition:
    (codes,), levels = encode_names(column)
    return Condition(codes, levels)


def _lineups_of(table: pl.DataFrame) -> Lineups:
    both = []
    for side in ("home", "away"):
        both.append(table.select(pl.col(f"{side}_{name}").alias(name) for name in LISTS))
    joined = pl.concat([half.with_row_index("match").with_columns(side=place) for place, half in enumerate(both)])
    joined = joined.sort("match", "side", maintain_order=True)
    length = joined["player"].list.len().fill_null(0).to_numpy()
    long = joined.filter(pl.col("player").list.len() > 0).explode(list(LISTS))
    (player,), players = encode_names(long["player"])
    (role,), roles = encode_names(long["role"])
    return Lineups(
        np.concatenate([[0], np.cumsum(length, dtype=np.int64)]),
        player,
        players,
        long["minutes"].fill_null(np.nan).to_numpy(writable=True),
        _small(long["starter"]),
        role.astype(np.int16),
        roles,
    )


def _small(column: pl.Series) -> NDArray[np.int8]:
    return column.fill_null(-1).to_numpy(writable=True).astype(np.int8)
