"""Do odds of seasons hold? Groups of internationals and seasons of nba, said before the first match, against the end.

    python verification/season_calibration.py [groups nba] [kalman team glicko bradley-terry]

A rater (KalmanElo) is fitted on the years before (internationals 1990–2004, nba until summer 2013) and carried on
match by match; before the first match of every group or season ``kn.season`` plays its fixtures 2,000 times. Groups
are found in the results: sides of one competition that all met each other once (final tournaments) or twice
(qualifiers). Prints how often what was said to have a chance in a given range happened, and shares of final points
within intervals, where the rank of a whole number of points among the simulated ones is drawn at random within its
step.
"""

from __future__ import annotations

import itertools
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kinelo as kn
from kinelo.errors import KineloWarning
from kinelo.raters.choice import rater_called

SIMULATIONS = 2_000
LEVELS = (0.5, 0.8, 0.95)
EDGES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
FINALS = ("FIFA World Cup", "UEFA Euro", "Copa América", "African Cup of Nations", "AFC Asian Cup", "Gold Cup")
QUALIFIERS = tuple(f"{name} qualification" for name in ("FIFA World Cup", "UEFA Euro", "African Cup of Nations"))
BREAK = 300
"""Days without a match after which a competition begins anew."""


def root() -> Path:
    return Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))


def beginning(group: pl.DataFrame) -> tuple[str, str]:
    """First day and match of a group, by which groups are put in order."""
    return str(group["date"].min()), str(group["match_id"].min())


def complete_groups(rows: pl.DataFrame, legs: int) -> list[pl.DataFrame]:
    """Matches of those groups of three and more in which all met ``legs`` times and nobody else."""
    sides: dict[str, set[str]] = {}
    counts: dict[frozenset[str], int] = {}
    for home, away in rows.select("home_team", "away_team").iter_rows():
        sides.setdefault(home, {home}).add(away)
        sides.setdefault(away, {away}).add(home)
        pair = frozenset((home, away))
        counts[pair] = counts.get(pair, 0) + 1
    found = []
    for members in {frozenset(met) for met in sides.values()}:
        pairs = [frozenset((a, b)) for a in members for b in members if a < b]
        closed = len(members) >= 3 and all(sides[m] == members for m in members)
        if closed and all(counts.get(pair) == legs for pair in pairs):
            found.append(rows.filter(pl.col("home_team").is_in(list(members))))
    return sorted(found, key=beginning)


def groups() -> Iterator[pl.DataFrame]:
    """Group stages since 2005: the cut before knockouts is where most matches belong to complete groups."""
    table = pl.read_csv(root() / "intl_football" / "matches.csv", infer_schema_length=None, try_parse_dates=True)
    table = table.filter(pl.col("date") >= pl.date(2005, 1, 1)).sort("date")
    for names, legs in ((FINALS, 1), (QUALIFIERS, 2)):
        for name in names:
            rows = table.filter(pl.col("tournament") == name)
            cycle = (rows["date"].diff().dt.total_days().fill_null(0) > BREAK).cum_sum()
            for part in rows.with_columns(cycle=cycle).partition_by("cycle"):
                cuts = [part.filter(pl.col("date") <= day) for day in part["date"].unique().sort()]
                yield from max(
                    (complete_groups(cut, legs) for cut in cuts), key=lambda found: sum(map(len, found)), default=[]
                )


class Ledger:
    """What was said and what happened."""

    def __init__(self) -> None:
        self.said: dict[str, list[float]] = {}
        self.happened: dict[str, list[float]] = {}
        self.ranks: list[float] = []
        self.random = np.random.default_rng(0)

    def enter(self, season: kn.forecasts.Season, end: kn.forecasts.Season) -> None:
        place = [season.names.index(name) for name in end.names]
        for group in season.rules.places:
            self.said.setdefault(group, []).extend(season.chance(group)[place])
            self.happened.setdefault(group, []).extend(end.chance(group))
        points, ended = season.points[:, place], end.points[0]
        step = self.random.random(ended.size)
        self.ranks.extend((points < ended).mean(axis=0) + step * (points == ended).mean(axis=0))

    def show(self, title: str) -> None:
        for group, said in self.said.items():
            p, o = np.array(said), np.array(self.happened[group])
            error = np.sqrt((p * (1 - p)).sum()) / p.size
            print(f"\n{title}, {group}: {p.size} sides, Brier {np.mean((p - o) ** 2):.4f}", end="")
            print(f" (if all are alike {o.mean() * (1 - o.mean()):.4f}; mean said {p.mean():.3f} ± {error:.3f})")
            print("| said | sides | mean said | happened | ± |\n|---|---|---|---|---|")
            for low, high in itertools.pairwise(EDGES):
                here = (p >= low) & ((p < high) | (high == 1.0))
                if here.any():
                    spread = np.sqrt((p[here] * (1 - p[here])).sum()) / here.sum()
                    print(
                        f"| {low:.2f}–{high:.2f} | {here.sum()} | {p[here].mean():.3f} | {o[here].mean():.3f} | ",
                        end="",
                    )
                    print(f"{spread:.3f} |")
        ranks = np.array(self.ranks)
        held = [np.mean(np.abs(ranks - 0.5) < level / 2) for level in LEVELS]
        print(f"{title}, points within 50, 80, 95 %: " + ", ".join(f"{share:.3f}" for share in held), flush=True)


def played(rater: Any, fixtures: kn.matches.Matches, rules: kn.forecasts.Rules, ledger: Ledger) -> None:
    """Say the odds of fixtures before them, and enter how they ended."""
    blank = kn.read_matches(
        {
            "date": fixtures.date.astype(str).tolist(),
            "home": [fixtures.teams[k] for k in fixtures.home],
            "away": [fixtures.teams[k] for k in fixtures.away],
            "neutral": fixtures.neutral,
        },
        played=False,
    )
    ledger.enter(
        kn.season(rater, blank, rules=rules, realisations=SIMULATIONS),
        kn.season(rater, fixtures, rules=rules, realisations=1),
    )


def internationals(name: str) -> None:
    matches = kn.read_matches(root() / "intl_football" / "matches.csv").since("1990-01-01")
    identifiers = matches.match_id
    rater = rater_called(name).fit(matches.before("2005-01-01"))
    rules = kn.forecasts.Rules(places={"first": (1, 1), "first two": (1, 2), "last": (-1, -1)})
    finals, qualifiers, done = Ledger(), Ledger(), int(np.searchsorted(matches.date, np.datetime64("2005-01-01")))
    for group in sorted(groups(), key=beginning):
        fixtures = matches[np.flatnonzero(np.isin(identifiers, group["match_id"].to_numpy()))]
        first = int(np.searchsorted(matches.date, fixtures.date[0]))
        rater.update(matches[done:first])
        done = max(done, first)
        played(rater, fixtures, rules, finals if group["tournament"][0] in FINALS else qualifiers)
    finals.show(f"{name}, groups of final tournaments")
    qualifiers.show(f"{name}, groups of qualifiers")


def nba(name: str) -> None:
    path = root() / "nba" / "matches.csv"
    matches = kn.read_matches(path, columns={"home": "home_id", "away": "away_id"})
    table = pl.read_csv(path)[matches.row - 1]
    season, regular = table["season"].to_numpy(), table["season_type"].to_numpy() == 2
    rater = rater_called(name).fit(matches[np.flatnonzero(season < 2014)])
    rules = kn.forecasts.Rules(
        win=1.0, tie_breaks=(), places={"best record": (1, 1), "first eight": (1, 8), "last five": (-5, -1)}
    )
    ledger = Ledger()
    for year in range(2014, int(season.max()) + 1):
        played(rater, matches[np.flatnonzero((season == year) & regular)], rules, ledger)
        rater.update(matches[np.flatnonzero(season == year)])
    ledger.show(f"{name}, nba")


if __name__ == "__main__":
    warnings.simplefilter("ignore", KineloWarning)
    sets = {"groups": internationals, "nba": nba}
    asked = [word for word in sys.argv[1:] if word in sets] or list(sets)
    for rater_name in [word for word in sys.argv[1:] if word not in sets] or ["kalman"]:
        for chosen in asked:
            sets[chosen](rater_name)
