"""A league that never was, with every trait of those that are: the truth, game by game, from a seed.

Sides have a level that walks from week to week and squads of players; home advantage fades over the years; one surface
suits a side more than another; some play every week and others now and then, some leave, some come, one changes its
name, and four play only among themselves. Goals are Poisson.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

MAIN = (
    "Ashford", "Ängelholm", "Łódź", "São João", "القاهرة", 'Smith, "The Hammer"', "O'Neill", "1860", "Mumbai",
    "Île & Co", "Dunmore", "Elswick", "Farrow", "Granton", "Late Comers", "Upstarts",
)  # fmt: skip
ISLAND = ("Reef", "Lagoon", "Atoll", "Skerry")
SIDES = (*MAIN, *ISLAND)
OLD_NAME, NEW_NAME, RENAMED = "Bombay XI", "Mumbai", 90
COME, LEAVE = {"Late Comers": 90, "Upstarts": 110}, {"Granton": 100, "Farrow": 120}
WEEKS, FIRST = 320, date(2020, 8, 1)
SQUAD, FIELDED, GOALS = 9, 5, 1.4
SURFACES = ("grass", "clay")


@dataclass(frozen=True)
class Game:
    """One match as it was; ``players`` holds (name, minutes, starter) of home and away."""

    id: str
    date: date
    home: str
    away: str
    score: tuple[int, int]
    neutral: bool
    surface: str
    shootout: tuple[int, int] | None
    players: tuple[list[tuple[str, float, bool]], list[tuple[str, float, bool]]]
    probabilities: tuple[float, float, float]

    @property
    def result(self) -> float:
        """1 won, ½ drawn, 0 lost; a shoot-out decides a cup, not a match."""
        return 0.5 * (1 + np.sign(self.score[0] - self.score[1]))

    def name(self, side: str) -> str:
        """What the side was called on the day."""
        return OLD_NAME if side == NEW_NAME and self.date < FIRST + timedelta(weeks=RENAMED) else side


def play(seed: int = 1) -> list[Game]:
    """All games, in order of date."""
    rng = np.random.default_rng(seed)
    n = len(SIDES)
    level, skill = rng.normal(0, 0.4, n), rng.normal(0, 1.2, (n, SQUAD))
    suits, rate = rng.normal(0, 0.2, (n, len(SURFACES))), rng.uniform(0.4, 1.0, n)
    games: list[Game] = []
    for week in range(WEEKS):
        level += rng.normal(0, 0.03, n)
        at_home = 0.5 - 0.4 * week / WEEKS
        for i, j in _pairs(rng, rate, week):
            neutral, surface = rng.random() < 0.1, int(rng.random() < 0.3)
            players, strength = [], []
            for side in (i, j):
                minutes = _minutes(rng)
                starters = minutes >= 45
                players.append(
                    [(f"{SIDES[side]} {k}", float(minutes[k]), bool(starters[k])) for k in np.flatnonzero(minutes > 0)]
                )
                strength.append(level[side] + suits[side, surface] + minutes @ skill[side] / minutes.sum())
            edge = strength[0] - strength[1] + (0.0 if neutral else at_home)
            mean = GOALS * np.exp([edge / 2, -edge / 2])
            score = tuple(int(goals) for goals in rng.poisson(mean))
            shootout = (4, 2) if score[0] == score[1] and rng.random() < 0.2 else None
            day = FIRST + timedelta(weeks=week, days=int(rng.integers(3)))
            games.append(
                Game(
                    f"G{len(games) + 1:04d}",
                    day,
                    SIDES[i],
                    SIDES[j],
                    score,
                    bool(neutral),
                    SURFACES[surface],
                    shootout,
                    tuple(players),
                    _odds(*mean),
                )
            )
    return sorted(games, key=lambda game: game.date)


def _pairs(rng: np.random.Generator, rate: np.ndarray, week: int) -> list[tuple[int, int]]:
    """Who meets whom this week: the two pools apart, whoever is there and feels like it, in any order."""
    pairs = []
    for pool in (range(len(MAIN)), range(len(MAIN), len(SIDES)) if week % 3 == 0 else ()):
        there = [k for k in pool if COME.get(SIDES[k], 0) <= week < LEAVE.get(SIDES[k], WEEKS)]
        free = [k for k in rng.permutation(there) if rng.random() < rate[k]] if there else []
        pairs += [(int(i), int(j)) for i, j in zip(free[::2], free[1::2])]
    return pairs


def _minutes(rng: np.random.Generator) -> np.ndarray:
    """Minutes of a squad: five start, one of them is replaced."""
    minutes, order = np.zeros(SQUAD), rng.permutation(SQUAD)
    minutes[order[:FIELDED]] = 90.0
    off = rng.integers(46, 85) + 0.5
    minutes[order[0]], minutes[order[FIELDED]] = off, min(90 - off, 44.0)
    return minutes


def _odds(home: float, away: float) -> tuple[float, float, float]:
    """Chances of win, draw and loss when both sides' goals are Poisson."""
    goals = np.arange(25)
    factorial = np.cumprod(np.maximum(goals, 1.0))
    chance = [np.exp(-mean) * mean**goals / factorial for mean in (home, away)]
    table = np.outer(*chance)
    draw = float(np.trace(table))
    win = float(np.tril(table, -1).sum())
    return win, draw, 1.0 - win - draw
