"""Sentences of an audit about luck by a column, about line-ups, and about a table of ratings in use: are they true?

`audit_sentences.py` counts them with the others. Luck: contests of eleven kinds, whose orders are drawn anew with a
factor of the noise of performances for every level of a column (two to eight levels; in two of five leagues all are 1).
Line-ups: sides field a part of a squad, whose players are worth something or (in two of five) nothing; players are
chosen by lot, rested for weak opponents, away for months, or move from side to side. Tables: ratings of an Elo of
another K, of Glicko and of all matches together, and lists drawn about true strengths, stretched or shrunken, with
deviations that are honest or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
from scipy.optimize import brentq

import contest_kinds
import kinelo as kn
from calendars import DIVISIONS, RANDOM, STRENGTH, Kind, play
from kinelo.matches.contests import Slots
from kinelo.matches.lineups import Lineups

Judged = list[tuple[str, bool]]
CONTESTS = {
    "one series": (contest_kinds.Kind(size=16, newcomers=0.1), 140),
    "a club": (contest_kinds.Kind(size=12, newcomers=0.1, once=0.1, keenness=0.4, walk=0.4, spread=0.8), 120),
    "nobody moves": (contest_kinds.Kind(size=14, newcomers=0.08, once=0.1, walk=0.0, entry=0.0), 120),
    "a large field": (contest_kinds.Kind(size=40, newcomers=0.1), 100),
    "they learn": (contest_kinds.Kind(size=18, newcomers=0.12, learns=1.0, entry=-1.0, away=0.5), 140),
    "cohorts differ": (contest_kinds.Kind(size=18, newcomers=0.15, once=0.3, cohort=0.6), 140),
    "fields unlike": (contest_kinds.Kind(size=18, newcomers=0.1, unlike=1.0), 140),
    "two a year": (contest_kinds.Kind(size=30, newcomers=0.1, per_year=2.0, keenness=0.5), 60),
    "alike": (contest_kinds.Kind(size=12, newcomers=0.1, spread=0.3, entry=0.0), 140),
    "long": (contest_kinds.Kind(size=16, newcomers=0.08), 400),
    "short": (contest_kinds.Kind(size=20, newcomers=0.1), 50),
}


def luck(name: str, seed: int) -> Judged:
    """Contests with a column by which luck differs, or does not."""
    g = np.random.default_rng([seed, list(CONTESTS).index(name), 1])
    kind, number = CONTESTS[name]
    made = contest_kinds.make(kind, number, 9000 + seed)
    contests, size = made.contests, made.contests.sizes
    levels = int(g.integers(2, 9))
    differ = float(g.choice([0.0, 0.0, 0.1, 0.25, 0.5]))
    factor = np.exp(differ * g.normal(size=levels))
    level = g.choice(levels, len(contests), p=g.dirichlet(np.full(levels, 3.0)))
    shown = made.strength + factor[level][contests.contest] * g.normal(size=made.strength.size)
    entrant = contests.entrant[np.lexsort((-shown, contests.contest))]
    codes, names = level[contests.contest][:, None].astype(np.int32), tuple(f"L{k}" for k in range(levels))
    slots = {"entrant": Slots(entrant[:, None], contests.entrants), "track": Slots(codes, names, advantage=True)}
    races = replace(contests, entrant=entrant, slots=slots)
    found = kn.audit(races, kn.TeamElo.classic(k=60))
    entries = np.bincount(level, size, minlength=levels)
    log = np.log(factor) - entries @ np.log(factor) / entries.sum()
    return luck_judged(found, dict(zip(names, log)))


def luck_judged(found: kn.advice.ContestAudit, log: dict[str, float]) -> Judged:
    """What is said of levels, whose logarithms of factors are these."""
    said: Judged = []
    for part in dict(found.rows())["Luck by track"].split("; "):
        for way, sign in (("more", 1), ("less", -1)):
            head = f"{way} than usual at "
            for level in part.removeprefix(head).split(", ") if part.startswith(head) else ():
                said.append(("Contests: luck at a level is more or less than usual", sign * log[level] > 1e-9))
    return said


WAYS = ("by lot", "for weak opponents", "for months", "transfers")
"""How players are chosen."""


def lineups(way: str, seed: int) -> Judged:
    """A league of squads, whose players are worth something or nothing."""
    g = np.random.default_rng([seed, WAYS.index(way), 2])
    sides, squad, field = int(g.integers(8, 25)), int(g.integers(8, 24)), 0
    field = int(np.clip(squad * g.uniform(0.4, 0.8), 3, 15))
    matches, worth = int(g.integers(300, 2500)), float(g.choice([0.0, 0.0, 15.0, 30.0, 60.0]))
    home, draws, walk = float(g.choice([0.0, 50.0])), float(g.choice([0.0, 0.25])), float(g.choice([0.0, 3.0]))
    base, of_player = g.normal(0, 120.0, sides), worth * g.normal(size=(sides, squad))
    number = np.arange(sides * squad).reshape(sides, squad)
    keen = g.normal(size=(sides, squad)) * g.choice([0.0, 1.0])
    away_for = np.zeros((sides, squad))
    rows, player, offsets, apart, usually = [], [], [0], [], []
    for m in range(matches):
        pair = g.choice(sides, 2, replace=False)
        strength, of_base = [], []
        for side, other in (pair, pair[::-1]):
            chance = keen[side].copy()
            if way == "for weak opponents" and base[other] < base[side] - 60.0:
                chance = chance - 1.0 * (keen[side] > 0.3)
            if way == "for months":
                away_for[side] = np.where(g.random(squad) < 0.02, 25.0, away_for[side] - 1.0)
                chance = chance - 50.0 * (away_for[side] > 0)
            if way == "transfers" and g.random() < 0.03:
                k, there = g.integers(squad), g.integers(squad)
                for table in (of_player, number, keen):
                    table[side, k], table[other, there] = table[other, there], table[side, k]
            p = np.exp(chance)
            # What is usual at the time: the mean worth over line-ups that might have been.
            drawn = np.argsort(-np.log(p) - g.gumbel(size=(40, squad)), axis=1)[:, :field]
            usual, fielded = of_player[side][drawn[1:]].sum(axis=1).mean(), drawn[0]
            apart.append(of_player[side][fielded].sum() - usual)
            of_base.append(base[side] + usual)
            strength.append(base[side] + of_player[side][fielded].sum())
            player += number[side][fielded].tolist()
            offsets.append(len(player))
        base[pair] += walk * g.normal(size=2)
        p = 1 / (1 + 10 ** (-(strength[0] - strength[1] + home) / 400))
        usually.append((of_base[0] - of_base[1] + home, p))
        tie, u = draws * 4 * p * (1 - p), g.random()
        rows.append((m, pair[0], pair[1], 1.0 if u < p - tie / 2 else 0.5 if u < p + tie / 2 else 0.0))
    days = np.datetime64("2015-01-01") + np.arange(matches) * 1200 // matches
    table = {
        "date": days.astype(str).tolist(), "home": [f"T{r[1]}" for r in rows], "away": [f"T{r[2]}" for r in rows],
        "result": [r[3] for r in rows], "neutral": [int(home == 0)] * matches,
    }  # fmt: skip
    played = kn.read_matches(table)
    names = tuple(f"p{k}" for k in range(sides * squad))
    played = replace(played, lineups=Lineups(np.array(offsets), np.array(player, np.int32), names))
    found = kn.audit(played, kn.TeamElo.classic(k=24, home_advantage=None))
    real = float(np.sqrt(np.mean(np.square(apart)))) * flattened(*np.array(usually).T)
    if found.performance.low <= 0:
        return []
    return [("Line-ups move a side by … points or more", real >= found.performance.low)]


def flattened(gap: np.ndarray, chance: np.ndarray) -> float:
    """The part of a gap between sides as they usually are that results show, on average over line-ups."""
    return float(brentq(lambda c: gap @ (chance - 1 / (1 + 10 ** (-c * gap / 400))), 0.01, 3.0))


LEAGUES = {
    "small": Kind(RANDOM, 1, 40, 100, 120.0, walk=4.0, form=0.0003),
    "short": Kind(RANDOM, 1, 60, 30, 200.0),
    "draws": Kind(RANDOM, 1, 60, 120, 150.0, draws=0.5, walk=4.0),
    "fast walk": Kind(RANDOM, 1, 60, 120, 120.0, walk=12.0, form=0.005),
    "newcomers": Kind(RANDOM, 1, 120, 80, 150.0, newcomers=0.5, level=-150.0, walk=3.0),
    "by strength": Kind(STRENGTH, 4, 100, 100, 200.0, home=30.0, walk=2.0, form=0.0001),
    "divisions": Kind(DIVISIONS, 1, 120, 100, 220.0, draws=0.3, home=60.0, walk=2.0, form=0.0001),
}
LISTS = ("elo", "glicko", "kalman", "list")


def tables(name: str, seed: int) -> Judged:
    """A league with a table of ratings in use."""
    g = np.random.default_rng([seed, list(LEAGUES).index(name), 3])
    league = play(LEAGUES[name], 77000 + seed)
    matches, teams, way = league.matches, league.matches.teams, LISTS[seed % len(LISTS)]
    if way == "elo":
        table = kn.TeamElo.classic(k=float(g.choice([8, 20, 40, 80]))).fit(matches).ratings_.select("name", "rating")
    elif way == "glicko":
        table = kn.Glicko().fit(matches).ratings_
    elif way == "kalman":
        table = kn.KalmanElo().fit(matches).ratings_
    else:
        off, stretch, honest = g.choice([20.0, 60.0, 120.0]), g.choice([0.6, 1.0, 1.3]), g.choice([0.5, 1.0, 2.0])
        drawn = 1500 + stretch * league.strength + off * g.normal(size=len(teams))
        deviation = honest * math.hypot(off, (stretch - 1) * league.kind.spread)
        table = pl.DataFrame({"name": list(teams), "rating": drawn, "deviation": np.full(len(teams), deviation)})
    found = kn.audit(matches, kn.TeamElo.classic(k=24, home_advantage=None), ratings=table)
    here = found.opponents.today.active
    names = np.array(teams)[here].tolist()
    rating = (
        pl.DataFrame({"name": names}).join(table, on="name", how="left", maintain_order="left")["rating"].to_numpy()
    )
    strength = league.strength[here]
    off = rating - rating.mean() - strength + strength.mean()
    return table_judged(found, dict(zip(names, off)))


def table_judged(found: kn.advice.Audit, off: dict[str, float]) -> Judged:
    """What is said of a table that is so far off."""
    said: Judged = []
    for line in dict(found.rows())["The table in use"].splitlines()[1:]:
        name, words = line.split(",")[0], line.rsplit(": ", 1)[1]
        if words.startswith("too"):
            said.append(
                ("The table in use rates its best or last too high or low", (off[name] > 0) == (words == "too high"))
            )
    return said


KINDS: dict[str, Callable[[int], Judged]] = {
    **{f"luck, {name}": partial(luck, name) for name in CONTESTS},
    **{f"line-ups, {way}": partial(lineups, way) for way in WAYS},
    **{f"a table, {name}": partial(tables, name) for name in LEAGUES},
}
"""By name, what plays a league by its seed and judges what is said of it."""
