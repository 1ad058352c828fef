"""One step ahead on real matches: our raters as they come, and other libraries', with what lies between them.

    python benchmarks/forecast_table.py SET [NAME …]

Forecasts are kept in a folder outside the repository (KINELO_BENCH_CACHE, else ~/.cache/kinelo-forecasts), so that an
interrupted run continues; what a forecast depends on is part of its key. Weeks are drawn with replacement for the
intervals of differences, because matches of one week share what the raters do not know yet. Times are processor time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import forecast_peers
import kinelo as kn
import margin_peers
from kinelo.errors import KineloWarning
from kinelo.forecasts.scores import METRICS

SAMPLES = 4_000


class League(NamedTuple):
    """A set of matches: its files, columns, first day, the first day that is forecast, and our rater in the lead."""

    files: tuple[str, ...]
    columns: dict[str, str]
    since: str | None
    train_until: str | None
    ours: str
    football: tuple[float, int] | None = None
    """Years that Dixon and Coles look back, and days after which they are fitted again."""
    without: tuple[str, ...] = ()
    """Who is left out, because it would take too long here."""


LEAGUES = {
    "internationals": League(
        ("intl_football/matches.csv",),
        {},
        "1990-01-01",
        "2005-01-01",
        "KalmanElo",
        football=(2.0, 7),
        without=("Dixon–Coles",),
    ),
    "nba": League(
        ("nba/matches.csv", "nba/lineups.parquet"),
        {"home": "home_id", "away": "away_id"},
        None,
        None,
        "PlayerElo",
        without=("trueskill", "Glicko", "Glicko2"),
    ),
    "mlb": League(
        ("mlb_retrosheet/matches_1990on.csv", "mlb_retrosheet/lineups_1990on.parquet"),
        {},
        None,
        None,
        "PlayerElo",
        without=(
            "trueskill",
            "trueskill, starters",
            "openskill",
            "openskill, starters",
            "Glicko",
            "Glicko2",
            "TrueSkill Through Time, starters",
            "PlayerElo, line-up unknown",
        ),
    ),
    "wyscout": League(
        ("wyscout/matches.csv", "wyscout/lineups.csv"),
        {},
        None,
        None,
        "KalmanElo",
        football=(2.0, 7),
        without=("trueskill, starters",),
    ),
    "worldcup": League(("worldcup/matches.csv", "worldcup/lineups.csv"), {}, None, None, "PlayerElo"),
}


class ResultsOnly:
    """A rater that is told how matches ended and not by how much, as most peers are."""

    def __init__(self, rater: Any) -> None:
        self.rater = rater

    def fit(self, matches: kn.matches.Matches) -> ResultsOnly:
        self.rater.fit(without_margins(matches))
        return self

    def one_step_ahead(self, matches: kn.matches.Matches) -> kn.forecasts.Forecast:
        return self.rater.one_step_ahead(without_margins(matches))


def without_margins(matches: kn.matches.Matches) -> kn.matches.Matches:
    return dataclasses.replace(matches, margin=np.full(len(matches), np.nan))


OURS: dict[str, Callable[[], Any]] = {
    "PlayerElo": kn.PlayerElo,
    "PlayerElo, line-up unknown": lambda: kn.PlayerElo(known="none"),
    "KalmanElo": kn.KalmanElo,
    "KalmanElo, results only": lambda: ResultsOnly(kn.KalmanElo()),
    "TeamElo": kn.TeamElo,
    "Mixture": kn.raters.Mixture,
    "Glicko": kn.Glicko,
    "Glicko2": kn.Glicko2,
}


class Told(NamedTuple):
    """Forecasts of one rater, the processor time they took, what they knew of line-ups, and what was tuned."""

    probabilities: np.ndarray
    seconds: float
    lineup: str
    tuned: str


class Table:
    """All that is known of one league."""

    def __init__(self, league: str, root: Path) -> None:
        self.name, self.league = league, LEAGUES[league]
        files = [root / name for name in self.league.files]
        lineups = files[1] if len(files) > 1 else None
        matches = kn.read_matches(files[0], lineups=lineups, columns=self.league.columns)
        matches = matches if self.league.since is None else matches.since(self.league.since)
        until = self.league.train_until or matches.date[len(matches) // 2]
        self.train, self.test = matches.before(until), matches.since(until)
        self.file, self.has_lineups = files[0], lineups is not None
        self.cache = Path(os.environ.get("KINELO_BENCH_CACHE", Path.home() / ".cache" / "kinelo-forecasts"))
        self.told: dict[str, Told] = {}

    def raters(self) -> dict[str, tuple[str, Callable[[], Any]]]:
        """What a forecast depends on, and how to make its forecaster, by name."""
        ours = source_of(*(Path(kn.__file__).parent / name for name in ("raters", "forecasts", "matches", "play")))
        found = {name: (ours, make) for name, make in OURS.items() if self.has_lineups or "Player" not in name}
        frame = "".join(inspect.getsource(part) for part in (forecast_peers.Peer, forecast_peers.Sides))
        frame += inspect.getsource(forecast_peers.Beliefs)
        for name, (module, kind) in forecast_peers.PEERS.items():
            if find_spec(module):
                key = frame + inspect.getsource(kind) + version(module)
                found[name] = key, lambda kind=kind: forecast_peers.Peer(kind)
                if self.has_lineups and name in forecast_peers.WITH_LINEUPS:
                    found[f"{name}, starters"] = key, lambda kind=kind: forecast_peers.Peer(kind, lineups=True)
        for name, make in margin_peers.MARGIN_PEERS.items():
            if self.has_lineups or "starters" not in name:
                found[name] = frame + inspect.getsource(margin_peers), make
        if self.league.football and find_spec("penaltyblog"):
            years, every = self.league.football
            key = inspect.getsource(margin_peers.DixonColes) + version("penaltyblog") + f"{years} {every}"
            found["Dixon–Coles"] = key, self._dixon_coles
        return {name: made for name, made in found.items() if name not in self.league.without}

    def _dixon_coles(self) -> margin_peers.DixonColes:
        assert self.league.football
        years, every = self.league.football
        scores = pl.read_csv(self.file, infer_schema_length=None).select(pl.col("home_score", "away_score"))
        return margin_peers.DixonColes(scores, years=years, every=every)

    def forecast(self, name: str) -> Told:
        """Forecasts of one rater, from the folder where they are kept or anew."""
        depends, make = self.raters()[name]
        key = hashlib.sha256(f"{self.name} {name} {self.test.source_digest} {depends}".encode()).hexdigest()[:24]
        path = self.cache / f"{key}.npz"
        if not path.exists():
            rater, began = make(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KineloWarning)
                rater.fit(self.train)
                p = rater.one_step_ahead(self.test).probabilities
            about = {
                "seconds": time.process_time() - began,
                "lineup": getattr(rater, "_lineup_knowledge", "not used"),
                "tuned": str(getattr(rater, "manner", "")),
            }
            self.cache.mkdir(parents=True, exist_ok=True)
            np.savez(path, p=p, about=json.dumps(about))
        kept = np.load(path)
        self.told[name] = Told(kept["p"], **json.loads(str(kept["about"])))
        return self.told[name]

    def scores(self, name: str, metric: str = "log_loss") -> np.ndarray:
        """Score of every match."""
        return METRICS[metric](self.told[name].probabilities, self.test.result)

    def gap(self, name: str, reference: str) -> tuple[float, float, float]:
        """Mean difference of log-loss, and its 95 % interval over weeks drawn with replacement."""
        return by_weeks(self.scores(name) - self.scores(reference), self.test.date)

    def lines(self) -> list[tuple[str, str]]:
        """Names and figures, the best first; differences to our rater in the lead."""
        ours = self.league.ours
        rows = []
        for name in sorted(self.told, key=lambda name: self.scores(name).mean()):
            told = self.told[name]
            means = [float(self.scores(name, metric).mean()) for metric in ("log_loss", "brier", "rps")]
            said = f"{means[0]:.4f} (Brier {means[1]:.4f}, RPS {means[2]:.4f}, {told.seconds:.0f} s)"
            if name != ours:
                gap, low, high = self.gap(name, ours)
                said += f"; {gap:+.4f} ({low:+.4f} to {high:+.4f}) to {ours}"
            said += self.ahead_of(name) if name in OURS else ""
            rows.append((f"{self.name}: {name}", said))
        return rows

    def ahead_of(self, name: str) -> str:
        """Which peers forecast better than a rater of ours, the best of them with its interval."""
        own = self.scores(name).mean()
        better = [peer for peer in self.told if peer not in OURS and self.scores(peer).mean() < own]
        if not better:
            return "; ahead of every peer"
        best = min(better, key=lambda peer: self.scores(peer).mean())
        gap, low, high = self.gap(best, name)
        return f"; **behind {len(better)} of the peers**, most {best}: {gap:+.4f} ({low:+.4f} to {high:+.4f})"


def source_of(*folders: Path) -> str:
    """Digest of all modules of some folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def by_weeks(gaps: np.ndarray, dates: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """Mean, and its 95 % interval when ISO weeks are drawn with replacement."""
    week = (dates.astype("datetime64[D]").astype(np.int64) + 3) // 7  # 1970-01-01 was a Thursday
    _, place = np.unique(week, return_inverse=True)
    sums, counts = np.bincount(place, weights=gaps), np.bincount(place)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(sums.size, np.full(sums.size, 1 / sums.size), size=SAMPLES)
    low, high = np.quantile((drawn @ sums) / (drawn @ counts), [0.025, 0.975])
    return float(gaps.mean()), float(low), float(high)


def main(league: str, *names: str) -> None:
    root = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    table = Table(league, root)
    for name in names or table.raters():
        told = table.forecast(name)
        loss = table.scores(name).mean()
        print(f"{name}: {loss:.4f}, {told.seconds:.0f} s, {told.lineup} {told.tuned}", flush=True)
    if table.league.ours in table.told:
        print("\n".join(f"| {what} | {said} |" for what, said in table.lines()))


if __name__ == "__main__":
    main(*sys.argv[1:])
