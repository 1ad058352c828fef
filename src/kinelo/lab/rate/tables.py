"""Uploaded tables: their columns, what each may be, names to show; and leagues to try without a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import (
    LINEUP_COLUMNS,
    LOSER_COLUMNS,
    MATCH_COLUMNS,
    ORDER_COLUMNS,
    find_columns,
    find_contest_columns,
    rating_columns,
)
from kinelo.matches.loading import damage_in_words, open_table
from kinelo.matches.names import as_text
from kinelo.matches.sample import sample_contests, sample_league
from kinelo.matches.shapes import are_contests

FIELDS: dict[str, dict[str, str]] = {
    "results": {
        "date": "Date",
        "home": "First or home side",
        "away": "Second or away side",
        "home_score": "Score of the first side",
        "away_score": "Score of the second side",
        "result": "Result, if there are no scores",
        "neutral": "Neutral venue",
        "weight": "Weight of the match",
        "match_id": "Match id (needed with line-ups)",
        "home_lineup": "Line-up of the first side",
        "away_lineup": "Line-up of the second side",
        "margin": "Difference of scores",
        "home_games": "Games or sets won by the first side",
        "away_games": "Games or sets won by the second side",
        "home_place": "Place of the first side",
        "away_place": "Place of the second side",
        "time": "Time of day",
        "round": "Round",
        "order": "Order within a day",
        "season": "Season",
        "group": "Added to names, where two sides have one",
        "retired": "Given up",
    },
    "lineups": {
        "lineup_match": "Match id",
        "side": "Side (home or away)",
        "team": "Team",
        "player": "Player",
        "minutes": "Minutes played",
        "starter": "Started",
        "player_name": "Name to show, if players are numbers",
    },
    "names": {"name_key": "Player or side, as in the other files", "name_shown": "Name to show"},
    "aliases": {},
    "fixtures": {},
    "start": {},
    "groups": {},
    "ratings": {},
}
"""What the columns of each kind of table may be; those without any are read as the library does."""
CONTEST_FIELDS: dict[str, str] = {
    "date": "Date",
    "contest": "Contest",
    "entrant": "Entrant",
    "place": "Place",
    "score": "Score or points, if there are no places",
    "time": "Time, if there are no places",
    "status": "How it ended, such as finished or retired",
    "team": "Team, where rows are its players",
    "season": "Season",
    "distance": "How far each came, such as laps",
    "title": "Name of the contest, to show",
    "weight": "Weight of the contest",
    "group": "Added to names, where two have one",
}
"""What the columns of results may be where each row is an entrant of a contest."""
RARE_FIELDS = (
    "margin", "home_games", "away_games", "home_place", "away_place", "time", "round", "order", "season", "group",
    "retired", "neutral", "weight", "home_lineup", "away_lineup", "team", "distance", "title",
)  # fmt: skip
"""Fields that few files have; the page keeps them together."""
REQUIRED = ("lineup_match", "player", "name_key", "name_shown")
SHOWN_NAMES = ("playername", "name", "fullname", "shortname", "displayname", "label", "teamname")
NAME_COLUMNS = {
    "name_key": ("playerid", "id", "player", "key", "teamid", "team", "code", "number"),
    "name_shown": SHOWN_NAMES,
}
KNOWN = {
    "results": MATCH_COLUMNS | ORDER_COLUMNS,
    "lineups": LINEUP_COLUMNS | {"player_name": SHOWN_NAMES},
    "names": NAME_COLUMNS,
    "fixtures": MATCH_COLUMNS,
}
OWN_FIELDS = ("player_name", "name_key", "name_shown")
"""Fields that the lab reads itself."""
PREVIEW_ROWS = 6
_HEADER_LINES, _NOTES = "kinelo header lines", "kinelo notes"


@dataclass(frozen=True)
class UploadedTable:
    """One uploaded table. A row's line in the file is its number plus ``header_lines``."""

    kind: str
    name: str
    frame: pl.DataFrame
    header_lines: int
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> str:
        """What each row of results seems to be: one of "matches" or, for an entrant of a contest, "contests"."""
        return "contests" if self.kind == "results" and are_contests(self.frame) else "matches"

    @property
    def guesses(self) -> dict[str, str]:
        """Which column each field would be read from if nobody said otherwise."""
        return self.guesses_of(self.rows)

    def guesses_of(self, rows: str) -> dict[str, str]:
        """Which column each field would be read from, where rows are "matches" or (entrants of) "contests"."""
        if rows == "contests" and self.kind == "results":
            return find_contest_columns(self.frame.columns, None)
        column_of = find_columns(self.frame.columns, KNOWN.get(self.kind, {}), None)
        if self.kind == "results" and not {"home", "away"} & column_of.keys():
            winners = find_columns(self.frame.columns, LOSER_COLUMNS, None)
            column_of = {
                field: column for field, column in column_of.items() if column not in winners.values()
            } | winners
        if column_of.get("player_name") == column_of.get("player"):
            column_of.pop("player_name", None)
        return {field: column for field, column in column_of.items() if field in FIELDS[self.kind]}

    def write(self, path: Path) -> None:
        """Write the table, with the number of its header lines and what was noticed as the last columns."""
        lines, notes = pl.lit(self.header_lines).alias(_HEADER_LINES), pl.lit(json.dumps(self.notes)).alias(_NOTES)
        self.frame.with_columns(lines, notes).write_parquet(path)

    @classmethod
    def read(cls, kind: str, name: str, path: Path) -> UploadedTable:
        """The table that :meth:`write` wrote."""
        frame = pl.read_parquet(path)
        notes = tuple(json.loads(frame[_NOTES][0]))
        return cls(kind, name, frame.drop(_HEADER_LINES, _NOTES), int(frame[_HEADER_LINES][0]), notes)

    def described(self) -> dict[str, Any]:
        """Columns, guesses and the first rows; of results, the fields for either meaning of a row."""
        head = self.frame.head(PREVIEW_ROWS)
        return {
            "name": self.name,
            "rows": self.frame.height,
            "columns": self.frame.columns,
            "fields": self._fields(self.rows),
            "preview": [["" if cell is None else str(cell) for cell in row] for row in head.iter_rows()],
        } | (
            {
                "each_row": self.rows,
                "states_ratings": self._states_ratings,
                "fields_of": {rows: self._fields(rows) for rows in ("matches", "contests")},
            }
            if self.kind == "results"
            else {}
        )

    @property
    def _states_ratings(self) -> bool:
        sides = self.guesses
        return {"home", "away"} <= sides.keys() and rating_columns(self.frame.columns, sides) is not None

    def _fields(self, rows: str) -> list[dict[str, Any]]:
        guesses = self.guesses_of(rows)
        return [
            {
                "name": field,
                "label": label,
                "required": field in REQUIRED,
                "rare": field in RARE_FIELDS and field not in guesses,
                "guess": guesses.get(field),
            }
            for field, label in fields_of(self.kind, rows).items()
        ]


def fields_of(kind: str, rows: str) -> dict[str, str]:
    """Fields of a table with their labels; of results, where each row is a match or an entrant of a contest."""
    return CONTEST_FIELDS if (kind, rows) == ("results", "contests") else FIELDS[kind]


def read_table(kind: str, path: Path, name: str, rows: int, columns: int) -> UploadedTable:
    """Read an upload, as Parquet if it begins like one and else as text, refusing what is too large."""
    if kind not in FIELDS:
        raise InputError(f"A table holds {', '.join(FIELDS)}, not {kind!r}.")
    with path.open("rb") as file:
        parquet = file.read(4) == b"PAR1"
    target = path.with_suffix(".parquet" if parquet else ".csv")
    path.rename(target)
    try:
        if parquet:
            with damage_in_words(name, "Parquet"):
                number = int(pl.scan_parquet(target).select(pl.len()).collect().item())
                _check_size(name, number, len(pl.read_parquet_schema(target)), rows, columns)
        opened = open_table(target)
        frame = opened.table
    except InputError as error:
        raise InputError(str(error).replace(str(target), name)) from None
    finally:
        target.unlink(missing_ok=True)
    _check_size(name, frame.height, frame.width, rows, columns)
    if frame.height == 0:
        raise InputError(f"{name} holds no rows below its header.")
    if frame.width < 2:
        raise InputError(f"{name} could not be read as a table: only one column was found.")
    return UploadedTable(kind, name, frame, 0 if parquet else max(opened.header_lines, 1), opened.notes)


def _check_size(name: str, rows: int, columns: int, most_rows: int, most_columns: int) -> None:
    if rows > most_rows:
        raise InputError(f"{name} holds {rows:,} rows; at most {most_rows:,} are accepted here.")
    if columns > most_columns:
        raise InputError(f"{name} has {columns:,} columns; at most {most_columns:,} are accepted here.")


def forget_columns(table: UploadedTable, chosen: Mapping[str, str], rows: str = "matches") -> pl.DataFrame:
    """The table without columns that would be guessed for a field the visitor left empty."""
    guessed = {column for field, column in table.guesses_of(rows).items() if field not in chosen}
    return table.frame.drop(guessed - set(chosen.values()))


def labels_from(pairs: Iterable[tuple[str | None, str | None]], wanted: set[str]) -> dict[str, str]:
    """What to show of everyone wanted who has a name; those who share one are shown with their own key beside it.

    >>> labels_from([("p1", "Ann Lee"), ("p2", "Bo"), ("p3", "Bo"), ("p9", "Nobody")], {"p1", "p2", "p3"})
    {'p1': 'Ann Lee', 'p2': 'Bo (p2)', 'p3': 'Bo (p3)'}
    """
    labels: dict[str, str] = {}
    for key, name in pairs:
        if key in wanted and name and name.strip():
            labels[key] = name.strip()  # the last of several: a name of today
    shared = Counter(labels.values())
    return {key: name if shared[name] == 1 else f"{name} ({key})" for key, name in labels.items()}


def pairs_of(frame: pl.DataFrame, key: str, name: str) -> list[tuple[str | None, str | None]]:
    """Two columns of a table, as text, each pair once."""
    for column in (key, name):
        if column not in frame.columns:
            raise InputError(f"There is no column {column!r:.80} to take names from.")
    table = pl.DataFrame({"key": as_text(frame[key]), "name": as_text(frame[name])}).unique(maintain_order=True)
    return list(table.iter_rows())


def all_labels(tables: Mapping[str, pl.DataFrame], columns: Mapping[str, str], wanted: set[str]) -> dict[str, str]:
    """Names from the line-ups' own column and from the file of names, which counts more."""
    pairs: list[tuple[str | None, str | None]] = []
    if "lineups" in tables and {"player", "player_name"} <= columns.keys():
        pairs += pairs_of(tables["lineups"], columns["player"], columns["player_name"])
    if "names" in tables and {"name_key", "name_shown"} <= columns.keys():
        pairs += pairs_of(tables["names"], columns["name_key"], columns["name_shown"])
    return labels_from(pairs, wanted)


SAMPLES = {
    "football": "Football clubs, with line-ups, newcomers, pitches and fixtures",
    "chess": "A chess club, with newcomers and many draws",
    "races": "Races of drivers in cars, one still to come",
}
WEEKS_LEFT = 10
"""Weeks of football that are still to be played."""
FOUNDERS, NEWCOMERS, SAMPLE_WEEKS, BOARDS = 24, 24, 150, 8
SAMPLE_SPREAD, NEWCOMER_LEVEL, SAMPLE_WALK = 200.0, -150.0, 8.0
"""Elo points: strengths of the founders, the level at which newcomers join, and how far a strength moves in a week."""
RACES = 121
DRIVERS = (
    "Abel", "Bose", "Cruz", "Dahl", "Ekman", "Falk", "Grau", "Hale", "Ito", "Jansen", "Kovac", "Lund", "Mora", "Nagy",
    "Ohm", "Popov", "Quist", "Rossi", "Sato", "Tanaka", "Urban", "Vidal", "Weiss", "Young",
)  # fmt: skip
CARS = ("Argon", "Boron", "Cobalt", "Helium", "Iridium", "Neon", "Radon", "Xenon")
DRAW_SHARE = 0.35
"""Share of draws between equals."""


def sample_tables(name: str) -> dict[str, UploadedTable]:
    """The tables of a made-up league."""
    if name == "football":
        # Clubs that come and go, with line-ups, draws and two kinds of pitch; the last season is still being played.
        league = sample_league(promoted=2, turf=True)
        results = league.results
        season = results.filter(pl.col("match_id").str.starts_with(results["match_id"][-1][:3]))
        today = season["date"].unique().sort()[-WEEKS_LEFT]
        coming = pl.col("date") >= today
        scores = [
            pl.when(coming).then(None).otherwise(pl.col(name)).alias(name) for name in ("home_score", "away_score")
        ]
        played = results.filter(~coming)
        lineups = league.lineups.join(played.select("match_id"), on="match_id", how="semi", maintain_order="left")
        return {
            "results": UploadedTable("results", "a made-up league", played.cast(pl.String), 1),
            "lineups": UploadedTable("lineups", "its line-ups", lineups.cast(pl.String), 1),
            "fixtures": UploadedTable("fixtures", "its last season", season.with_columns(scores).cast(pl.String), 1),
        }
    if name == "chess":
        return {"results": UploadedTable("results", "a made-up chess club", chess_club(), 1)}
    if name == "races":
        # Seasons of races, and the entrants of one that is still to come.
        table = sample_contests(
            contests=RACES, entrants=len(DRIVERS), size=16, walk=0.5, cars=len(CARS), seed=5
        ).rename({"contest": "race", "entrant": "driver"})
        named = {f"P{k}": name for k, name in enumerate(DRIVERS)} | {f"C{k}": name for k, name in enumerate(CARS)}
        table = table.with_columns(pl.col("driver", "car").replace_strict(named))
        last = pl.col("race") == RACES
        coming = table.filter(last).with_columns(place=None)
        return {
            "results": UploadedTable("results", "made-up races", table.filter(~last).cast(pl.String), 1),
            "fixtures": UploadedTable("fixtures", "the next race", coming.cast(pl.String), 1),
        }
    raise InputError(f"There is no made-up league {name!r}; there are {', '.join(SAMPLES)}.")


def chess_club(seed: int = 1) -> pl.DataFrame:
    """Games of a club: strengths walk, half of the members join later and weaker, and those who left do not return.

    >>> chess_club().columns, chess_club().height
    (['date', 'white', 'black', 'result'], 1200)
    """
    rng = np.random.default_rng(seed)
    members = FOUNDERS + NEWCOMERS
    strength = rng.normal(0.0, SAMPLE_SPREAD, members)
    strength[FOUNDERS:] += NEWCOMER_LEVEL
    joins = np.concatenate([np.zeros(FOUNDERS), np.sort(rng.integers(10, SAMPLE_WEEKS - 30, NEWCOMERS))])
    leaves = np.where(rng.random(members) < 0.3, joins + rng.integers(30, SAMPLE_WEEKS, members), SAMPLE_WEEKS)
    names = [f"Member {k + 1:02d}" for k in range(members)]
    rows: list[tuple[str, str, str, str]] = []
    for week in range(SAMPLE_WEEKS):
        strength += rng.normal(0.0, SAMPLE_WALK, members)
        here = rng.permutation(np.flatnonzero((joins <= week) & (week < leaves)))[: 2 * BOARDS]
        day = str(date(2022, 1, 7) + timedelta(weeks=week))
        for white, black in here[: len(here) // 2 * 2].reshape(-1, 2):
            share = 1 / (1 + 10 ** (-(strength[white] - strength[black] + 30) / 400))
            draw = DRAW_SHARE * 4 * share * (1 - share)
            chance = rng.random()
            result = "1" if chance < share - draw / 2 else "0.5" if chance < share + draw / 2 else "0"
            rows.append((day, names[white], names[black], result))
    return pl.DataFrame(rows, schema=["date", "white", "black", "result"], orient="row")
