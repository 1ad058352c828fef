"""Forecasts on real matches: ours as they come, other libraries' ratings calibrated by an ordered logit."""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from forecast_peers import PEERS, Peer

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
SECTION = "Forecasts: log-loss, one step ahead"
SLOW = {"trueskill", "openskill Thurstone–Mosteller"}
"""Peers that take a fifth of a millisecond per match and more; left out where there are tens of thousands."""


def data(name: str) -> Path:
    root = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (root / name).exists():
        pytest.skip(f"no match data at {root}: set KINELO_DATA to the folder that holds it")
    return root / name


def peers(matches: kn.Matches) -> dict[str, Peer]:
    installed = {name: make for name, (module, make) in PEERS.items() if find_spec(module)}
    return {name: Peer(make) for name, make in installed.items() if len(matches) < 50_000 or name not in SLOW}


def report(table, league: str, test: kn.Backtest, ours: str, target: float | None = None) -> None:
    """One row per rater; ours has to be below the target, or below the best of the others."""
    section = table(SECTION)
    scores = {row["rater"]: row for row in test.scores.iter_rows(named=True)}
    others = [row["log_loss"] for name, row in scores.items() if name in PEERS]
    goal = target if target is not None else min(others, default=float("inf"))
    gaps = {row["rater"]: row for row in test.differences(ours, metric="log_loss").iter_rows(named=True)}
    for name, row in scores.items():
        known = "" if row["line-up"] == "not used" else f", line-up known {row['line-up']}"
        said = f"{row['log_loss']:.4f} (Brier {row['brier']:.4f}, RPS {row['rps']:.4f}, {row['seconds']:.0f} s)"
        if name == ours:
            wanted = f"below {goal:.3f}" if target is not None else f"below every peer ({goal:.4f})"
            section.row(f"{league}: {name}{known}", said, wanted, row["log_loss"] < goal)
        else:
            gap = gaps[name]
            behind = f"{gap['difference']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f}) to {ours}"
            section.row(f"{league}: {name}{known}", f"{said}; {behind}")
    assert scores[ours]["log_loss"] < goal


def test_internationals(table):
    matches = kn.read_matches(data("intl_football") / "matches.csv").since("1990-01-01")
    ours = {"KalmanElo": kn.KalmanElo(), "TeamElo": kn.TeamElo(), "Glicko": kn.Glicko(), "Glicko2": kn.Glicko2()}
    test = kn.backtest(matches, ours | peers(matches), train_until="2005-01-01")
    assert len(test.matches) == 20_592
    report(table, "internationals", test, "KalmanElo", 0.868)


def test_basketball(table):
    folder = data("nba")
    columns = {"home": "home_id", "away": "away_id"}
    matches = kn.read_matches(folder / "matches.csv", lineups=folder / "lineups.parquet", columns=columns)
    ours = {
        "PlayerElo": kn.PlayerElo(),
        "PlayerElo, minutes": kn.PlayerElo(known="minutes"),
        "PlayerElo, line-up unknown": kn.PlayerElo(known="none"),
        "KalmanElo": kn.KalmanElo(),
        "TeamElo": kn.TeamElo(),
    }
    halfway = matches.date[len(matches) // 2]
    report(table, "nba", kn.backtest(matches, ours | peers(matches), train_until=halfway), "PlayerElo")


def test_baseball(table):
    folder = data("mlb_retrosheet")
    matches = kn.read_matches(folder / "matches_1990on.csv", lineups=folder / "lineups_1990on.parquet")
    ours = {"PlayerElo": kn.PlayerElo(), "KalmanElo": kn.KalmanElo(), "TeamElo": kn.TeamElo()}
    halfway = matches.date[len(matches) // 2]
    report(table, "mlb", kn.backtest(matches, ours | peers(matches), train_until=halfway), "PlayerElo")


@pytest.mark.parametrize("n", [100_000, 1_000_000])
def test_long_tables_are_fitted_in_seconds(table, n):
    rng = np.random.default_rng(3)
    sides = 300
    strength = rng.normal(0, 1, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    margin = np.round(strength[home] - strength[away] + 0.3 + rng.normal(0, 1.5, n)).astype(int)
    frame = pl.DataFrame(
        {
            "date": np.datetime64("2000-01-01") + np.arange(n) * 5_000 // n,
            "home": home,
            "away": away,
            "home_score": np.maximum(margin, 0),
            "away_score": np.maximum(-margin, 0),
        }
    )
    matches = kn.read_matches(frame)
    for rater in (kn.TeamElo(), kn.KalmanElo(covariance="diagonal")):
        rater.fit(matches[:500])
        start = time.process_time()
        rater.fit(matches)
        seconds = time.process_time() - start
        assert rater.estimates_ is not None
        what = f"all {len(rater.estimates_.values)} parameters of {type(rater).__name__} from {n:,} matches"
        table("Forecasts: estimation").row(what, f"{seconds:.1f} s of processor time", "at most 5 s", seconds <= 5)
