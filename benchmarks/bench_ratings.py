"""Rating speed: against evalica and riix on the same frames, ten million matches, one match, and the import."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date

import numpy as np
import polars as pl
import pytest

import kinelo as kn

MATCHES, PLAYERS = 200_000, 1_000
SECTION = "Ratings: speed"


def made_up(matches: int, players: int, days: int = 5_000) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    names = pl.Series([f"player_{k:04d}" for k in range(players)])
    home = rng.integers(0, players, matches)
    away = (home + rng.integers(1, players, matches)) % players
    first = date(2010, 1, 1).toordinal() - date(1970, 1, 1).toordinal()
    day = pl.Series(first + np.sort(rng.integers(0, days, matches)), dtype=pl.Int32).cast(pl.Date)
    result = rng.choice([1.0, 0.5, 0.0], matches, p=[0.45, 0.2, 0.35])
    frame = pl.DataFrame({"date": day, "home": names.gather(home), "away": names.gather(away), "result": result})
    # Two rows alike in every column would be set aside as a duplicate, and the raters would not rate the same matches.
    return frame.unique(maintain_order=True)


def fastest(work: Callable[[], object], repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def rate(frame: object) -> dict[str, float]:
    table = kn.TeamElo.classic(k=32).update(kn.read_matches(frame)).ratings_
    return dict(zip(table["name"], table["rating"]))


def test_against_evalica(table):
    evalica = pytest.importorskip("evalica", reason="install the bench extra to compare with evalica")
    frame = made_up(MATCHES, PLAYERS).drop("date")
    pandas_frame = frame.to_pandas()
    code = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    winners = [code[value] for value in frame["result"]]

    def from_lists() -> dict[str, float]:
        home, away = frame["home"].to_list(), frame["away"].to_list()
        return evalica.elo(home, away, winners, initial=1500.0, k=32.0).scores.to_dict()

    def from_pandas() -> dict[str, float]:
        return evalica.elo(pandas_frame["home"], pandas_frame["away"], winners, initial=1500.0, k=32.0).scores.to_dict()

    theirs_scores, ours_scores = from_lists(), rate(frame)
    assert max(abs(theirs_scores[name] - value) for name, value in ours_scores.items()) < 1e-8
    ours = fastest(lambda: rate(frame), 15)
    theirs = min(fastest(from_lists, 3), fastest(from_pandas, 2))
    ratio = theirs / ours
    table(SECTION).row(
        f"{MATCHES:,} matches, {PLAYERS:,} players, frame of names to ratings: times evalica",
        f"{ratio:.1f} ({ours * 1e3:.1f} ms against {theirs * 1e3:.0f} ms, {MATCHES / ours / 1e6:.1f} million/s)",
        "at least 8",
        ratio >= 8,
    )


def test_against_riix(table):
    pytest.importorskip("riix", reason="install the bench extra to compare with riix")
    from riix.models.elo import Elo
    from riix.utils.data_utils import MatchupDataset

    frame = made_up(MATCHES, PLAYERS)

    def theirs_run() -> object:
        data = MatchupDataset(frame, ["home", "away"], "result", datetime_col="date", rating_period="1D", verbose=False)
        model = Elo(data.competitors, k=32.0)
        model.fit_dataset(data)
        return model

    ours = fastest(lambda: rate(frame), 15)
    theirs = fastest(theirs_run, 2)
    ratio = theirs / ours
    table(SECTION).row(
        "the same with dates: times riix",
        f"{ratio:.1f} ({ours * 1e3:.1f} ms against {theirs * 1e3:.0f} ms)",
        "at least 30",
        ratio >= 30,
    )


def test_ten_million_from_parquet(table, tmp_path):
    path = tmp_path / "matches.parquet"
    made_up(10_000_000, 10_000).write_parquet(path)
    rate(made_up(1_000, 10))
    start = time.perf_counter()
    ratings = rate(path)
    seconds = time.perf_counter() - start
    assert len(ratings) == 10_000
    table(SECTION).row("10⁷ matches of 10⁴ sides, Parquet to ratings", f"{seconds:.1f} s", "under 30 s", seconds < 30)


def test_one_match(table):
    matches = kn.read_matches(made_up(20_000, PLAYERS))
    rater = kn.TeamElo.classic().update(matches[:10_000])
    single = [matches[k] for k in range(10_000, 15_000)]

    def by_table() -> None:
        for match in single:
            rater.update(match)

    def by_name() -> None:
        for _ in range(5_000):
            rater.update_one("player_0001", "player_0002", 1.0)

    for what, work in (("update(matches[k])", by_table), ("update_one(home, away, result)", by_name)):
        each = fastest(work, 5) / 5_000
        table(SECTION).row(f"one match, {what}", f"{each * 1e6:.1f} µs", "under 20 µs", each < 20e-6)


def test_import(table):
    code = "import time; t = time.perf_counter(); import kinelo; print(time.perf_counter() - t)"
    seconds = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    table(SECTION).row("import kinelo", f"{seconds * 1e3:.0f} ms", "under 150 ms", seconds < 0.15)
