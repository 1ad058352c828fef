"""Do intervals hold their level? Ratings and margins on simulated leagues, margins one step ahead on real matches.

    python verification/interval_coverage.py [simulated] [intl nba mlb worldcup wyscout]

Prints shares within 50, 80 and 95 % intervals and the mean square of standardised surprises (1 where all is right).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from scipy.special import ndtri

import kinelo as kn

LEVELS = (0.5, 0.8, 0.95)
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


def simulated(leagues: int = 20) -> None:
    """Margins one step ahead, and ratings at the end, of leagues whose truth is known."""
    margins, ratings = [], []
    for seed in range(leagues):
        rng = np.random.default_rng(seed)
        sides, n, days = 16, 2000, 6 * 365
        truth = np.empty((days, sides))
        truth[0] = rng.normal(0, 0.8, sides)
        for day in range(1, days):
            truth[day] = truth[day - 1] * (1 - 0.1 / 365) + rng.normal(0, 0.35 / 365**0.5, sides)
        day = np.sort(rng.integers(0, days, n))
        home = rng.integers(0, sides, n)
        away = (home + rng.integers(1, sides, n)) % sides
        table = {
            "date": (np.datetime64("2001-01-01") + day).astype(str).tolist(),
            "home": [f"{k:02d}" for k in home],
            "away": [f"{k:02d}" for k in away],
            "margin": truth[day, home] - truth[day, away] + 0.3 + rng.normal(0, 1.1, n),
        }
        matches = kn.read_matches(table)
        rater = kn.KalmanElo(margin_power=1.0, covariance="full").fit(matches[:1000])
        margins.append(rater.surprises(matches[1000:]))
        order = [int(name) for name in rater.ratings_["name"]]
        last = rater.ratings_["last_played"].to_numpy()
        at = (last - np.datetime64("2001-01-01")).astype(int)
        true = (truth[at, order] - truth[-1].mean()) / rater._unit
        found = (rater.ratings_["rating"].to_numpy() - 1500) / rater.points_per_unit_
        ratings.append((found - true) / rater.ratings_["uncertainty"].to_numpy() * rater.points_per_unit_)
    print(row("simulated, margins", np.concatenate(margins)))
    print(row("simulated, ratings", np.concatenate(ratings)), flush=True)


def real(name: str) -> None:
    path, since, columns = SETS[name]
    folder = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    matches = kn.read_matches(folder / path, columns=columns)
    matches = matches if since is None else matches.since(since)
    half = matches.date[len(matches) // 2]
    surprises = kn.KalmanElo().fit(matches.before(half)).surprises(matches.since(half))
    print(row(f"{name}, margins", surprises), flush=True)


if __name__ == "__main__":
    print("| what | intervals | 50 % | 80 % | 95 % | mean square |\n|---|---|---|---|---|---|")
    for chosen in sys.argv[1:] or ["simulated", *SETS]:
        simulated() if chosen == "simulated" else real(chosen)
