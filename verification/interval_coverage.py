"""Do intervals hold their level? Ratings and margins of simulated leagues, margins and results of real matches.

    python verification/interval_coverage.py [ratings] [players] [margins] [intl nba mlb worldcup wyscout]

Prints shares within 50, 80 and 95 % intervals and the mean square of standardised surprises (1 where all is right).
Of a result the place in the distribution that was forecast is taken, drawn at random within the result itself: where
forecasts are right it is uniform, and its normal quantile is a surprise like any other.
"""

from __future__ import annotations

import copy
import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtri

import kinelo as kn

LEVELS = (0.5, 0.8, 0.95)
WALKS = {"slow": 0.15, "usual": 0.35, "fast": 0.7}
SIZES = {(12, 700): 15, (20, 2000): 8, (40, 5000): 3}
NOISE = 1.1
FIRST = np.datetime64("2001-01-01")
SETS = {
    "intl": ("intl_football/matches.csv", "1990-01-01", {}),
    "nba": ("nba/matches.csv", None, {"home": "home_id", "away": "away_id"}),
    "mlb": ("mlb_retrosheet/matches_1990on.csv", None, {}),
    "worldcup": ("worldcup/matches.csv", None, {}),
    "wyscout": ("wyscout/matches.csv", None, {}),
}


def row(name: str, surprises: np.ndarray) -> str:
    shares = [np.mean(np.abs(surprises) < ndtri(0.5 + level / 2)) for level in LEVELS]
    return (
        f"| {name} | {surprises.size:,} | "
        + " | ".join(f"{s:.3f}" for s in shares)
        + f" | {np.mean(surprises**2):.3f} |"
    )


def strengths(rng: np.random.Generator, days: int, sides: int, walk: float) -> np.ndarray:
    """Strengths day by day: ``dx = −.1 x dt + walk dW``, first with a spread of .8."""
    truth = rng.normal(0, walk / 365**0.5, (days, sides))
    truth[0] = rng.normal(0, 0.8, sides)
    for day in range(1, days):
        truth[day] += truth[day - 1] * (1 - 0.1 / 365)
    return truth


def league(seed: int, sides: int, n: int, walk: float, scores: bool = True) -> tuple[kn.matches.Matches, np.ndarray]:
    """Matches of six years between sides whose strengths wander, and the strengths."""
    rng = np.random.default_rng([seed, sides, n])
    truth = strengths(rng, 6 * 365, sides, walk)
    day = np.sort(rng.integers(0, len(truth), n))
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    margin = truth[day, home] - truth[day, away] + 0.3 + rng.normal(0, NOISE, n)
    table = {
        "date": (FIRST + day).astype(str).tolist(),
        "home": [f"{k:02d}" for k in home],
        "away": [f"{k:02d}" for k in away],
        **({"margin": margin} if scores else {"result": (margin > 0).astype(float)}),
    }
    return kn.read_matches(table), truth


def errors(rater: kn.KalmanElo | kn.PlayerElo, truth: np.ndarray) -> np.ndarray:
    """Errors of ratings in units of their uncertainty, on each one's last day.

    A rating is ``κ x`` of a strength ``x`` that is seen in the unit of margins; where results alone are known it is
    held against the true strength in units of the noise.
    """
    table = rater.ratings_
    order = [int(name) for name in table["name"]]
    at = (table["last_played"].to_numpy() - FIRST).astype(int)
    seen = not np.isnan(rater._unit)
    points = rater._points_per_unit / (1.0 if seen else rater.parameters_["sharpness"])
    true = (truth[at, order] - truth[-1].mean()) / (rater._unit if seen else NOISE)
    rating = table["rating"].to_numpy() - 1500
    if isinstance(rater, kn.PlayerElo):  # only differences can be seen in matches
        rating, true = rating - rating.mean(), true - true.mean()
    return (rating / points - true) / (table["uncertainty"].to_numpy() / points)


def ratings() -> None:
    """Ratings after the last match, fitted on all of them: with margins by size, by results alone by walk."""
    for scores in (True, False):
        found: dict[str, list[np.ndarray]] = {}
        for (sides, n), leagues in SIZES.items():
            for speed, walk in WALKS.items():
                for seed in range(leagues):
                    matches, truth = league(seed, sides, n, walk, scores)
                    rater = kn.KalmanElo(margin_power=1.0 if scores else None, covariance="full").fit(matches)
                    kind = f"margins, {sides} sides, {n:,} matches" if scores else f"results alone, {speed} walk"
                    found.setdefault(kind, []).append(errors(rater, truth))
        for kind, parts in found.items():
            print(row(f"ratings, {kind}", np.concatenate(parts)), flush=True)


def margins(leagues: int = 20) -> None:
    """Margins one step ahead, and ratings at the end, where the first half of the matches was fitted."""
    ahead, ratings = [], []
    for seed in range(leagues):
        matches, truth = league(seed, 16, 2000, 0.35)
        rater = kn.KalmanElo(margin_power=1.0, covariance="full").fit(matches[:1000])
        ahead.append(rater.surprises(matches[1000:]))
        ratings.append(errors(rater, truth))
    print(row("ratings, margins, 16 sides, 1,000 of 2,000 matches fitted", np.concatenate(ratings)))
    print(row("margins of the other 1,000", np.concatenate(ahead)), flush=True)


def players(leagues: int = 10, teams: int = 8, squad: int = 8, n: int = 1500) -> None:
    """Ratings of players of whom five of eight play, a side being as strong as their mean."""
    found = []
    for seed in range(leagues):
        rng = np.random.default_rng([seed, teams, squad])
        truth = strengths(rng, 6 * 365, teams * squad, 0.35)
        day = np.sort(rng.integers(0, len(truth), n))
        home = rng.integers(0, teams, n)
        away = (home + rng.integers(1, teams, n)) % teams
        five = [[team * squad + rng.permutation(squad)[:5] for team in pair] for pair in zip(home, away)]
        margin = [truth[d, i].mean() - truth[d, j].mean() + rng.normal(0, 0.5) for d, (i, j) in zip(day, five)]
        table = pl.DataFrame(
            {
                "date": (FIRST + day).astype(str).tolist(),
                "home": [f"team {k}" for k in home],
                "away": [f"team {k}" for k in away],
                "margin": np.array(margin) + 0.1,
                "home_lineup": [[str(k) for k in pair[0]] for pair in five],
                "away_lineup": [[str(k) for k in pair[1]] for pair in five],
            }
        )
        rater = kn.PlayerElo(margin_power=1.0, known="minutes").fit(kn.read_matches(table))
        found.append(errors(rater, truth))
    print(row("ratings, margins, 64 players, 1,500 matches", np.concatenate(found)), flush=True)


def real(name: str) -> None:
    """Margins and results of the second half of a set, fitted on the first."""
    path, since, columns = SETS[name]
    folder = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    matches = kn.read_matches(folder / path, columns=columns)
    matches = matches if since is None else matches.since(since)
    half = matches.date[len(matches) // 2]
    later = matches.since(half)
    rater = kn.KalmanElo().fit(matches.before(half))
    print(row(f"{name}, margins", copy.deepcopy(rater).surprises(later)))
    print(row(f"{name}, results", places(rater.one_step_ahead(later).probabilities, later.result)), flush=True)


def places(said: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Surprises of results: normal quantiles of their places among away win, draw and home win."""
    rng = np.random.default_rng(14)
    below = np.cumsum(said[:, ::-1], axis=1)
    happened = np.round(2 * result).astype(int)
    upper = np.take_along_axis(below, happened[:, None], axis=1)[:, 0]
    width = np.take_along_axis(said[:, ::-1], happened[:, None], axis=1)[:, 0]
    return ndtri(np.clip(upper - rng.random(upper.size) * width, 1e-12, 1 - 1e-12))


if __name__ == "__main__":
    print("| what | intervals | 50 % | 80 % | 95 % | mean square |\n|---|---|---|---|---|---|")
    own = {"ratings": ratings, "players": players, "margins": margins}
    for chosen in sys.argv[1:] or [*own, *SETS]:
        own[chosen]() if chosen in own else real(chosen)
