"""Leagues to try without a file: football clubs with line-ups, a chess club whose members come and go, and races."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.lab.rate.tables import UploadedTable
from kinelo.matches.sample import sample_contests, sample_league

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
        return _football()
    if name == "chess":
        return {"results": UploadedTable("results", "a made-up chess club", chess_club(), 1)}
    if name == "races":
        return _races()
    raise InputError(f"There is no made-up league {name!r}; there are {', '.join(SAMPLES)}.")


def _football() -> dict[str, UploadedTable]:
    """Clubs that come and go, with line-ups, draws and two kinds of pitch; the last season is still being played."""
    league = sample_league(promoted=2, turf=True)
    results = league.results
    season = results.filter(pl.col("match_id").str.starts_with(results["match_id"][-1][:3]))
    today = season["date"].unique().sort()[-WEEKS_LEFT]
    coming = pl.col("date") >= today
    scores = [pl.when(coming).then(None).otherwise(pl.col(name)).alias(name) for name in ("home_score", "away_score")]
    played = results.filter(~coming)
    lineups = league.lineups.join(played.select("match_id"), on="match_id", how="semi", maintain_order="left")
    return {
        "results": UploadedTable("results", "a made-up league", played.cast(pl.String), 1),
        "lineups": UploadedTable("lineups", "its line-ups", lineups.cast(pl.String), 1),
        "fixtures": UploadedTable("fixtures", "its last season", season.with_columns(scores).cast(pl.String), 1),
    }


def _races() -> dict[str, UploadedTable]:
    """Seasons of races, and the entrants of one that is still to come."""
    table = sample_contests(contests=RACES, entrants=len(DRIVERS), size=16, walk=0.5, cars=len(CARS), seed=5).rename(
        {"contest": "race", "entrant": "driver"}
    )
    named = {f"P{k}": name for k, name in enumerate(DRIVERS)} | {f"C{k}": name for k, name in enumerate(CARS)}
    table = table.with_columns(pl.col("driver", "car").replace_strict(named))
    last = pl.col("race") == RACES
    coming = table.filter(last).with_columns(place=None)
    return {
        "results": UploadedTable("results", "made-up races", table.filter(~last).cast(pl.String), 1),
        "fixtures": UploadedTable("fixtures", "the next race", coming.cast(pl.String), 1),
    }


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
