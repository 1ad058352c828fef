"""A few small leagues drawn from a seed, asymmetric in everything, for tests that hold one part against another.

Odd numbers of sides that play unequally often, home and neutral grounds, draws, weights, margins, a winter without
matches, days with two matches of a side whose order nobody knows, a side that comes late and one that leaves, names
that two share (a side and a player), line-ups of unequal length of which some are missing, cars that change drivers,
ties and retirements, large and small fields. No two answers are alike by chance: an order that is turned shows.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

import kinelo as kn

SIDES = ("Ajax", "Brügge", "Celtic", "Dukla", "Espanyol", "Fenerbahçe", "Genk")
SURFACES = ("grass", "turf", "clay")
DRIVERS = ("Ann", "Bob", "Cid", "Dee", "Eve", "Flo", "Gus", "Hal", "Ivy")
CARS = ("Red", "Blue", "Green")


class MatchTables(NamedTuple):
    """Results and line-ups as files would hold them."""

    results: pl.DataFrame
    lineups: pl.DataFrame

    def matches(self, *, lineups: bool = False, conditions: tuple[str, ...] = ()) -> kn.matches.Matches:
        """The matches as they are read, with line-ups where those are asked for."""
        return kn.read_matches(self.results, self.lineups if lineups else None, conditions=conditions)

    def fixtures(self, last: int, *, lineups: bool = False, conditions: tuple[str, ...] = ()) -> kn.matches.Matches:
        """The last of them as matches to come: nothing of how they ended is known."""
        coming = self.results.tail(last).drop("home_score", "away_score", "weight")
        return kn.read_matches(coming, self.lineups if lineups else None, conditions=conditions, played=False)


def _dates(rng: np.random.Generator, number: int) -> list[str]:
    """Days in order: gaps of 0 to 9 days, and a winter after two thirds."""
    gaps = rng.choice([0, 1, 2, 4, 9], number, p=[0.25, 0.3, 0.2, 0.15, 0.1])
    gaps[2 * number // 3] = 190
    days = np.datetime64("2023-02-03") + np.cumsum(gaps).astype("timedelta64[D]")
    return np.datetime_as_string(days).tolist()


@cache
def match_league(seed: int = 1, matches: int = 83) -> MatchTables:
    """Matches of seven sides, of which one comes late and one leaves, with scores, grounds, weights and line-ups."""
    rng = np.random.default_rng([45, seed])
    strength = np.sort(rng.normal(0.0, 0.6, len(SIDES)))[rng.permutation(len(SIDES))]
    often = 1.0 / np.arange(2, 2 + len(SIDES))
    rows, lineups = [], []
    for k, day in enumerate(_dates(rng, matches)):
        chance = often.copy()
        chance[-1] *= k > matches // 3  # comes late
        chance[1] *= k < matches // 2  # leaves
        home, away = rng.choice(len(SIDES), 2, replace=False, p=chance / chance.sum())
        neutral = bool(rng.random() < 0.3)
        goals = rng.poisson(np.exp([0.35 + strength[home] / 2 + 0.25 * (not neutral), 0.2 + strength[away] / 2]))
        weight = float(rng.choice([1.0, 1.0, 2.0, 0.5]))
        surface = SURFACES[int(rng.choice(3, p=[0.5, 0.3, 0.2]))]
        rows.append((f"m{k:03}", day, SIDES[home], SIDES[away], *goals.tolist(), neutral, weight, surface))
        for side, code in ((home, "H"), (away, "A")):
            if rng.random() < 0.1:
                continue  # nobody wrote it down
            size = int(rng.integers(3, 6))
            squad = [f"{SIDES[side][:2]}{one}" for one in range(7)] + [SIDES[(side + 1) % len(SIDES)]]
            chosen = rng.choice(squad, size, replace=False).tolist()
            lineups += [
                (f"m{k:03}", code, name, int(rng.integers(20, 91)), int(at < 3)) for at, name in enumerate(chosen)
            ]
    columns = ["match_id", "date", "home", "away", "home_score", "away_score", "neutral", "weight", "surface"]
    results = pl.DataFrame(rows, schema=columns, orient="row")
    sheet = pl.DataFrame(lineups, schema=["match_id", "side", "player", "minutes", "starter"], orient="row")
    return MatchTables(results, sheet)


@cache
def contest_league(seed: int = 1, contests: int = 31) -> pl.DataFrame:
    """Races of two to seven of nine drivers in three cars, with ties, retirements and weights, as a long table."""
    rng = np.random.default_rng([46, seed])
    driver, car = rng.normal(0.0, 0.8, len(DRIVERS)), rng.normal(0.0, 0.5, len(CARS))
    rows = []
    for k, day in enumerate(_dates(rng, contests)):
        free = len(DRIVERS) - (k < contests // 3)  # the last comes late
        field = rng.choice(free, int(rng.integers(2, 8)), replace=False)
        cars = rng.integers(0, len(CARS), field.size)
        shown = driver[field] + car[cars] + rng.normal(0.0, 1.0, field.size)
        place = np.argsort(np.argsort(-shown)) + 1
        if field.size > 3 and rng.random() < 0.3:
            place[place == 3] = 2  # a dead heat for the second place
        out = (rng.random(field.size) < 0.12) & (place > 2)
        weight = float(rng.choice([1.0, 1.0, 0.5]))
        rows += [
            (f"r{k:02}", day, DRIVERS[one], CARS[two], "DNF" if gone else str(at), weight)
            for one, two, at, gone in zip(field.tolist(), cars.tolist(), place.tolist(), out.tolist())
        ]
    return pl.DataFrame(rows, schema=["race", "date", "driver", "car", "place", "weight"], orient="row")
