"""A stream of matches through TeamElo: matches per second and memory, against what the raters are to reach.

``KINELO_RIVER`` sets the number of matches (10⁷ by default), of a tenth as many players.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kinelo as kn

SECTION = "Rivers of matches: TeamElo in pieces"
GOAL = {"whole numbers": 5e6, "text": 2e6}


def write_river(folder: Path, matches: int, players: int, text: bool, piece: int = 1_000_000) -> None:
    rng = np.random.default_rng(1)
    for k, begin in enumerate(range(0, matches, piece)):
        n = min(piece, matches - begin)
        home = rng.integers(0, players, n, dtype=np.int64)
        away = (home + rng.integers(1, players, n)) % players
        day = np.datetime64("2000-01-01") + (begin + np.arange(n)) * 9000 // matches
        table = pl.DataFrame({"date": day, "home": home, "away": away, "result": rng.choice([0.0, 0.5, 1.0], n)})
        if text:
            table = table.with_columns(pl.format("player {}", pl.col(name)).alias(name) for name in ("home", "away"))
        table.write_parquet(folder / f"{k:04d}.parquet")


@pytest.mark.parametrize("names", list(GOAL))
def test_a_river_through_team_elo(table, tmp_path, names):
    matches = int(float(os.environ.get("KINELO_RIVER", "1e7")))
    write_river(tmp_path, matches, matches // 10, names == "text")
    rater = kn.TeamElo.classic()
    rater.update(kn.read_matches(pl.read_parquet(tmp_path / "0000.parquet")[:10]))  # compile
    rater._reset()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    rater.update(kn.matches.scan_matches(str(tmp_path / "*.parquet")))
    rate = matches / (time.perf_counter() - began)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
    told = f"{rate / 1e6:.2f} million/s, {grown:.0f} MiB more at the peak"
    goal = f"{GOAL[names] / 1e6:.0f} million/s"
    table(SECTION).row(f"{matches:,} matches, names in {names}", told, goal, rate >= GOAL[names])
