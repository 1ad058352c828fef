"""What does ``kn.watch`` name in real logs, how soon does it see a change of 200 points, and whom if nothing changed?

    python verification/watch_real_logs.py [kalman glicko] [nba baseball internationals clubs]

Every two years a rater is fitted on the five years before, and the two years after are watched. *Real*: as they were
played. *Changed*: four sides, by lot of the twenty with most matches, play 200 points better or worse from the first
day on. Each of their real results stays unless the change turns it: a number drawn uniformly among those that give it
is kept. Looked at every quarter of a year. *No change*: results are drawn from the rater's own chances, every side as
far off as its rating is said to be uncertain. Prints sides watched and named; of those changed how many were named,
and after how many matches; and how often anybody was named where nobody had changed.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinelo as kn
from kinelo.decisions.choosing import GRID, beliefs_of
from kinelo.decisions.wrong_ratings import _doubts
from kinelo.errors import KineloWarning
from kinelo.raters.choice import rater_called

Array = NDArray[np.float64]
LOGS: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "nba": ("nba/matches.csv", {"home": "home_id", "away": "away_id"}, [f"{y}-10-01" for y in range(2006, 2025, 2)]),
    "baseball": ("mlb_retrosheet/matches_1990on.csv", {}, [f"{y}-03-01" for y in range(1996, 2023, 2)]),
    "internationals": ("intl_football/matches.csv", {}, [f"{y}-01-01" for y in range(2000, 2025, 2)]),
    "clubs": ("wyscout/matches.csv", {}, ["2018-01-01"]),
}
CHANGE, CHANGED, DRAWS = 200.0, 4, 4


def chances_at(gap: Array, chances: Array) -> Array:
    """Win, draw and loss at differences in points."""
    grid = GRID * np.arange(len(chances))
    shown = np.column_stack([np.interp(np.abs(gap), grid, chances[:, k]) for k in range(3)])
    return np.where(gap[:, None] < 0.0, shown[:, ::-1], shown)


def with_results(matches: Any, below: Array) -> Any:
    """The same matches with a win where the number drawn is below the first of two bounds (matches, 2), else a draw."""
    u, bounds = below[:, 0], below[:, 1:]
    return replace(matches, result=np.where(u < bounds[:, 0], 1.0, np.where(u < bounds[:, 1], 0.5, 0.0)))


def main(names: list[str]) -> None:
    root = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    for rater_name in [name for name in names if name not in LOGS] or ["kalman", "glicko"]:
        for log in [name for name in names if name in LOGS] or LOGS:
            file, columns, days = LOGS[log]
            matches = kn.read_matches(root / file, columns=columns)
            matches = replace(matches, margin=np.full(len(matches), np.nan))
            watched, named, after, missed, innocent, false, false_logs = 0, 0, [], 0, 0, 0, 0
            for number, day in enumerate(days):
                rng = np.random.default_rng(number)
                year = int(day[:4])
                before, since = (
                    matches.since(f"{year - 5}{day[4:]}").before(day), matches.since(day).before(f"{year + 2}{day[4:]}")
                )  # fmt: skip
                rater = rater_called(rater_name).fit(before)
                real = kn.watch(rater, since)
                watched, named = watched + real.height, named + int(real["named"].sum())
                beliefs, chances = beliefs_of(rater, "watch")
                place = {name: k for k, name in enumerate(beliefs.names)}
                code = np.array([place.get(name, -1) for name in since.teams])
                since = since[(code[since.home] >= 0) & (code[since.away] >= 0)]
                home, away = code[since.home], code[since.away]
                gap = rater._mean_gaps(since) / beliefs.unit
                offset_sd = _doubts(rater, beliefs, since)
                # Changed.
                often = np.bincount(np.concatenate([home, away]), minlength=len(place))
                often[real.filter("named")["name"].replace_strict(place).to_list()] = 0  # whom nothing more can name
                sides = rng.permutation(np.argsort(-often)[: max(20, CHANGED)])[:CHANGED]
                delta = np.zeros(len(place))
                delta[sides] = CHANGE * np.array([1.0, -1.0, 1.0, -1.0])
                own = np.cumsum(chances_at(gap, chances), axis=1)[:, :2]
                at = (1.0 - since.signed).astype(np.int64)
                edges = np.column_stack([np.zeros(len(own)), own, np.ones(len(own))])
                low, high = edges[range(len(at)), at], edges[range(len(at)), at + 1]
                u = low + rng.random(len(at)) * (high - low)
                shifted = np.cumsum(chances_at(gap + delta[home] - delta[away], chances), axis=1)[:, :2]
                spliced = with_results(since, np.column_stack([u, shifted]))
                first: dict[int, int] = {}
                for quarter in range(1, 9):
                    months = int(day[5:7]) - 1 + 3 * quarter
                    seen = spliced.before(f"{year + months // 12}-{months % 12 + 1:02d}-01")
                    if len(seen):
                        found = kn.watch(rater, seen).filter("named").select("name", "matches").rows()
                        for name, count in found:
                            first.setdefault(place[name], count)
                after += [first[k] for k in sides.tolist() if k in first]
                missed += sum(k not in first for k in sides.tolist())
                innocent += sum(k not in sides for k in first) - int(real["named"].sum())
                # No change.
                for _ in range(DRAWS):
                    offset = offset_sd * rng.normal(size=len(place))
                    drawn = np.cumsum(chances_at(gap + offset[home] - offset[away], chances), axis=1)[:, :2]
                    told = int(
                        kn.watch(rater, with_results(since, np.column_stack([rng.random(len(at)), drawn])))[
                            "named"
                        ].sum()
                    )
                    false, false_logs = false + told, false_logs + (told > 0)
            quartiles = np.percentile(after, [25, 50, 75]).round().tolist() if after else []
            print(
                f"{rater_name}, {log}: real {named} named of {watched} in {len(days)} parts; changed by {CHANGE:g}: "
                f"{len(after)} named of {len(after) + missed}, after {quartiles} matches (quartiles), {innocent} "
                f"others more than in the real log; no change: {false} named in {false_logs} of "
                f"{DRAWS * len(days)} logs",
                flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore", KineloWarning)
    main(sys.argv[1:])
