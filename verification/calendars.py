"""Leagues whose calendars are made in twelve ways, and whose truth is known; compiled.

Who meets whom follows strength, rating, points (Swiss rounds), promotion between divisions, regions or nothing; sides
may walk, return to their form, enter late, grow, and leave when they are weak.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

import kinelo as kn

STRENGTH, RATING, RANDOM, DIVISIONS, SWISS, REGION, MIXED = range(7)
NU = math.log(10.0) / 400.0
FIRST = np.datetime64("2014-01-01")


class Kind(NamedTuple):
    """How a league is played; points, and shares of sides or matches."""

    pairing: int = RANDOM
    nearest: int = 4
    sides: int = 80
    each: int = 50
    spread: float = 200.0
    k: float = 24.0
    draws: float = 0.0
    home: float = 0.0
    walk: float = 0.0
    form: float = 0.0
    """Share of a lead that is lost from match to match; the walk keeps the spread then."""
    newcomers: float = 0.0
    """Share of the sides that enter after the first tenth of the matches."""
    level: float = 0.0
    """Where newcomers enter, next to the mean."""
    growth: float = 0.0
    """Points a year that newcomers grow."""
    leave: float = 0.0
    """Share of the sides that leave, the weakest of three that are drawn."""
    seeded: float = 0.2
    """Divisions are seeded by strength with this error, in spreads; 99 draws them by lot."""
    years: float = 4.0


class League(NamedTuple):
    """Matches, strengths of both sides in each (n × 2) and of all at the end, who is still there, and who entered."""

    matches: kn.matches.Matches
    played: np.ndarray
    strength: np.ndarray
    present: np.ndarray
    newcomer: np.ndarray
    kind: Kind


@njit(cache=True)
def _play(kind, random, games, strength, group, enters, growth_per_match, ratings_k, cross, rounds, event):
    n, nu = strength.size, math.log(10.0) / 400.0
    rating, home, away = np.zeros(n), np.empty(games, np.int64), np.empty(games, np.int64)
    result, truth = np.empty(games), np.empty((games, 2))
    here, left = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    division, points, count, season = group.copy(), np.zeros(n), np.zeros(n), max(games // 8, 1)
    top = division.max() + 1
    queue, waiting, at, turn = np.zeros((n, 2), np.int64), 0, 0, rounds
    members, score, met = np.zeros(1, np.int64), np.zeros(n), np.zeros((n, n), np.bool_)
    leaving = int(kind.leave * n)
    gone = 0
    for g in range(games):
        for i in range(n):
            if not here[i] and not left[i] and enters[i] <= g:
                here[i] = True
        if gone < leaving and g > games // 10 and random.random() < leaving / (0.8 * games):
            worst = -1
            for _ in range(3):
                i = random.integers(0, n)
                if here[i] and (worst < 0 or strength[i] < strength[worst]):
                    worst = i
            if worst >= 0:
                here[worst], left[worst] = False, True
                gone += 1
        there = np.flatnonzero(here)
        i = j = -1
        if kind.pairing == 4:
            while i < 0:
                if at >= waiting:
                    if turn >= rounds:
                        members = random.permutation(there)[:event]
                        score[:] = 0.0
                        met[:] = False
                        turn = 0
                    order = members[np.argsort(-(score[members] + 1e-3 * random.random(members.size)))]
                    used, waiting, at = np.zeros(n, np.bool_), 0, 0
                    turn += 1
                    for a in range(order.size):
                        if used[order[a]]:
                            continue
                        other = -1
                        for b in range(a + 1, order.size):
                            if not used[order[b]]:
                                if other < 0:
                                    other = order[b]
                                if not met[order[a], order[b]]:
                                    other = order[b]
                                    break
                        if other >= 0:
                            used[order[a]] = used[other] = True
                            met[order[a], other] = met[other, order[a]] = True
                            queue[waiting, 0], queue[waiting, 1] = order[a], other
                            waiting += 1
                i, j = queue[at]
                at += 1
        else:
            i = there[random.integers(0, there.size)]
            way = kind.pairing
            if way == 6:
                way = 0 if random.random() < 0.5 else 1
            if way <= 1:
                nearest = 1e18
                while j < 0:
                    for _ in range(kind.nearest):
                        other = there[random.integers(0, there.size)]
                        if other != i:
                            apart = abs(strength[other] - strength[i]) if way == 0 else abs(rating[other] - rating[i])
                            if apart < nearest:
                                nearest, j = apart, other
            else:
                inside = way != 2 and random.random() > cross
                for attempt in range(2000):
                    j = there[random.integers(0, there.size)]
                    if j != i and (not inside or division[j] == division[i] or attempt > 1000):
                        break
        if random.random() < 0.5:
            i, j = j, i
        for side in (i, j):
            strength[side] = (1 - kind.form) * strength[side] + kind.walk * random.normal()
        for side in there:
            if enters[side] > 0:
                strength[side] += growth_per_match
        p = 1 / (1 + math.exp(-nu * (strength[i] + kind.home - strength[j])))
        drawn, u = kind.draws * 4 * p * (1 - p), random.random()
        y = 1.0 if u < p - drawn / 2 else (0.5 if u < p + drawn / 2 else 0.0)
        home[g], away[g], result[g] = i, j, y
        truth[g, 0], truth[g, 1] = strength[i], strength[j]
        move = ratings_k * (y - 1 / (1 + math.exp(-nu * (rating[i] + kind.home - rating[j]))))
        rating[i] += move
        rating[j] -= move
        score[i] += y
        score[j] += 1 - y
        points[i] += y - 0.5
        points[j] += 0.5 - y
        count[i] += 1
        count[j] += 1
        if kind.pairing == 3 and (g + 1) % season == 0:
            moved = division.copy()
            for d in range(top - 1):
                low, high = np.flatnonzero(division == d), np.flatnonzero(division == d + 1)
                swap = max(1, low.size // 6)
                for one in low[np.argsort(-(points[low] / np.maximum(count[low], 1.0)))[:swap]]:
                    moved[one] += 1
                for one in high[np.argsort(points[high] / np.maximum(count[high], 1.0))[:swap]]:
                    moved[one] -= 1
            division = moved
            points[:] = 0.0
            count[:] = 0.0
    return home, away, result, truth, rating, here


def play(kind: Kind, seed: int, divisions: int = 6, regions: int = 8) -> League:
    """Play a league of this kind once."""
    g = np.random.default_rng(seed)
    n, games = kind.sides, kind.sides * kind.each // 2
    group = np.zeros(n, np.int64)
    strength = g.normal(0, kind.spread, n)
    if kind.pairing == REGION:
        group = g.integers(regions, size=n)
        strength = g.normal(0, 0.8 * kind.spread, regions)[group] + g.normal(0, 0.6 * kind.spread, n)
    if kind.pairing == DIVISIONS:
        by_lot = kind.seeded >= 50
        key = g.normal(size=n) if by_lot else strength + kind.seeded * kind.spread * g.normal(size=n)
        group[np.argsort(key)] = np.arange(n) * divisions // n
    late = np.zeros(n)
    newcomers = g.random(n) < kind.newcomers
    late[newcomers] = g.uniform(0.1, 0.9, newcomers.sum()) * games
    strength = strength - strength.mean() + np.where(newcomers, kind.level, 0.0)
    home, away, result, truth, _, here = _play(
        kind, g, games, strength, group, late, kind.growth * kind.years / games, kind.k,
        0.03 if kind.pairing == DIVISIONS else 0.07, 7, min(32, n // 2 * 2),
    )  # fmt: skip
    days = FIRST + (np.arange(games) / games * kind.years * 365.25).astype(int)
    table = {
        "date": days.astype(str).tolist(), "round": list(range(games)), "home": [f"p{i}" for i in home],
        "away": [f"p{i}" for i in away], "result": result.tolist(), "neutral": [int(kind.home == 0)] * games,
    }  # fmt: skip
    matches = kn.read_matches(table)
    places = np.array([int(name[1:]) for name in matches.teams])
    return League(matches, truth, strength[places], here[places], newcomers[places], kind)
