"""How well `RankElo` forecasts sorts of contests that had no part in building it, beside tuned libraries.

    .venv/bin/python verification/other_contests.py [KIND …]

Golf with a cut, marathons with few elite runners and many who come once, contests of which the first places alone are
known, a league of regulars and its guests, luck that differs between entrants. The first third is fitted or tuned on,
the rest scored: pairs of known entrants, the winner's log-loss and rank deviation of others less those of `RankElo`, in
standard errors of three samples. The exit code is 1 where `RankElo` is behind by more than three of them.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kinelo as kn
from contest_kinds import YEAR, _table
from field_levels import seen_before
from kinelo.forecasts.contest_scores import pairs_of, pairs_right, rank_deviation, winner_log_loss
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import FINISHED, Contests
from kinelo.raters.rank.estimation import with_entries

Array = NDArray[np.float64]
SAMPLES = (1, 2, 3)
MOST_ERRORS = 3.0
NAMES = ("pairs %", "winner", "rank deviation %")


class Pool:
    """Entrants whose strengths walk, and who come more or less often."""

    def __init__(self, rng: np.random.Generator, size: int, mean: float, spread: float, walk: float) -> None:
        self.rng, self.walk, self.day = rng, walk, 0.0
        self.strength, self.keen = mean + spread * rng.normal(size=size), np.exp(rng.normal(size=size))

    def move_to(self, day: float) -> None:
        step = self.walk * np.sqrt((day - self.day) / YEAR)
        self.strength, self.day = self.strength + step * self.rng.normal(size=self.strength.size), day

    def draw(self, number: int) -> NDArray[np.int64]:
        return self.rng.choice(self.keen.size, number, replace=False, p=self.keen / self.keen.sum())

    def replace_some(self, share: float, mean: float, spread: float) -> None:
        for k in np.flatnonzero(self.rng.random(self.keen.size) < share):
            self.strength[k] = mean + spread * self.rng.normal()


def places_of(results: Array) -> Array:
    """Places of results, the lowest first; who ties shares the mean."""
    _, which, number = np.unique(results, return_inverse=True, return_counts=True)
    return (np.append(0, np.cumsum(number)[:-1]) + (number + 1) / 2)[which]


class Sheet:
    """Contests as they are made."""

    def __init__(self) -> None:
        self.parts: dict[str, list] = {n: [] for n in ("entrant", "place", "strength", "size", "day", "ended")}

    def add(self, own: NDArray[np.int64], place: Array, strength: Array, day: float, out: object = None) -> None:
        ended = np.zeros(own.size, bool) if out is None else np.asarray(out)
        order = np.lexsort((place, ended))
        row = own[order], place[order], strength[order], own.size, day, ended[order]
        for name, value in zip(self.parts, row):
            self.parts[name].append(value)

    def contests(self) -> Contests:
        return _table(self.parts).contests


def golf(seed: int) -> Contests:
    """Four rounds of 120, after two of which some 65 go on."""
    rng, sheet = np.random.default_rng(seed), Sheet()
    pool = Pool(rng, 400, 0.0, 0.6, 0.4)
    for c in range(210):
        pool.move_to(c * YEAR / 42)
        pool.replace_some(0.15 / 42, -0.3, 0.6)
        own = pool.draw(120)
        strokes = -np.round((0.5 * pool.strength[own][:, None] + rng.normal(size=(120, 4))) * 2.8)
        half = strokes[:, :2].sum(axis=1)
        out = half > np.sort(half)[54]
        place = np.full(120, (~out).sum() + (out.sum() + 1) / 2)
        place[~out] = places_of(strokes.sum(axis=1)[~out])
        sheet.add(own, place, pool.strength[own], pool.day, out)
    return sheet.contests()


def marathon(seed: int) -> Contests:
    """Six a year of 250: 80 elite runners who return, thousands of others, bad days."""
    rng, sheet, elite, others = np.random.default_rng(seed), Sheet(), 80, 9000
    strength = np.append(2.2 + 0.5 * rng.normal(size=elite), -0.5 + 1.1 * rng.normal(size=others))
    pool = Pool(rng, elite + others, 0.0, 1.0, 0.35)
    pool.strength, pool.keen = strength, np.append(np.full(elite, 60.0), np.exp(1.2 * rng.normal(size=others)))
    once = rng.random(elite + others) < 0.4
    once[:elite] = False
    for c in range(90):
        pool.move_to(c * YEAR / 6)
        own = pool.draw(250)
        pool.keen[own[once[own]]] = 0.0
        noise, bad = 0.6 * rng.normal(size=250), rng.random(250) < 0.12
        noise = np.where(bad, noise - 1.0 - 1.5 * rng.exponential(size=250), noise)
        sheet.add(own, places_of(-(pool.strength[own] + noise)), pool.strength[own], pool.day)
    return sheet.contests()


def first_places(seed: int, contests: int, per_year: int, known: int, size: int, names: int, spread: float) -> Contests:
    """Long tails; all behind the first ``known`` share a place."""
    rng, sheet = np.random.default_rng(seed), Sheet()
    pool = Pool(rng, names, 0.0, spread, 0.3)
    for c in range(contests):
        pool.move_to(c * YEAR / per_year)
        own = pool.draw(size)
        place = places_of(-(pool.strength[own] + rng.standard_t(3, size=size) / np.sqrt(3)))
        place = np.where(place <= known, place, known + (size - known + 1) / 2)
        sheet.add(own, place, pool.strength[own], pool.day)
    return sheet.contests()


def guests(seed: int) -> Contests:
    """A league of 24 and guests, most of whom come seldom."""
    rng, sheet = np.random.default_rng(seed), Sheet()
    league, visitors = Pool(rng, 24, 0.0, 0.6, 0.5), Pool(rng, 3000, -0.6, 1.1, 0.3)
    visitors.keen = np.exp(1.5 * rng.normal(size=3000))
    for c in range(240):
        league.move_to(c * YEAR / 40)
        visitors.move_to(c * YEAR / 40)
        here = np.flatnonzero(rng.random(24) < 0.85)
        there = visitors.draw(int(rng.integers(4, 14)))
        own, strength = np.append(here, 24 + there), np.append(league.strength[here], visitors.strength[there])
        sheet.add(own, places_of(-(strength + rng.normal(size=own.size))), strength, league.day)
    return sheet.contests()


def unsteady(seed: int) -> Contests:
    """Thirty of 150 whose luck differs, by a factor of 1.6."""
    rng, sheet = np.random.default_rng(seed), Sheet()
    pool = Pool(rng, 150, 0.0, 1.0, 0.4)
    luck = np.exp(0.5 * rng.normal(size=150))
    for c in range(240):
        pool.move_to(c * YEAR / 30)
        pool.replace_some(0.2 / 30, -0.3, 1.0)
        own = pool.draw(30)
        sheet.add(own, places_of(-(pool.strength[own] + luck[own] * rng.normal(size=30))), pool.strength[own], pool.day)
    return sheet.contests()


KINDS: dict[str, Callable[[int], Contests]] = {
    "golf": golf,
    "marathon": marathon,
    "ten of a hundred": lambda seed: first_places(seed, 240, 120, 10, 100, 1200, 0.5),
    "three of thirty": lambda seed: first_places(seed, 300, 100, 3, 30, 1200, 0.35),
    "three of nine": lambda seed: first_places(seed, 600, 150, 3, 9, 200, 0.7),
    "guests": guests,
    "unsteady": unsteady,
}


def scores(contests: Contests, begin: int, said: ContestForecast) -> tuple[Array, Array]:
    """Scores by contest (contests, 3), NaN where nobody known met somebody known, and how many pairs those made."""
    known = (seen_before(contests)[contests.first[begin] :] > 0) & (said.contests.ended == FINISHED)
    enough = np.add.reduceat(known, said.contests.first[:-1], dtype=np.int64) > 1
    known &= enough[said.contests.contest]
    some = replace(said, contests=with_entries(said.contests, known), mean=said.mean[known],
                   deviation=said.deviation[known])  # fmt: skip
    found, pairs = np.full((len(said), 3), np.nan), np.zeros(len(said))
    found[enough, 0], found[enough, 2] = 100 * pairs_right(some), 100 * rank_deviation(some)
    found[:, 1], pairs[enough] = winner_log_loss(said), pairs_of(some.contests)
    return found, pairs


def main(asked: list[str]) -> int:
    warnings.simplefilter("ignore")
    sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
    known_peers = importlib.import_module("contest_peers").PEERS
    peers = ("elo-mmr-py, as published", "elo-mmr-py, tuned", "decaying mean of places, tuned")
    behind = 0
    for kind in asked or KINDS:
        found: dict[str, list[Array]] = {}
        weights = []
        for seed in SAMPLES:
            contests = KINDS[kind](seed)
            begin = len(contests) // 3
            for name in ("RankElo", *peers):
                rater = kn.RankElo() if name == "RankElo" else known_peers[name]()
                said = rater.fit(contests[:begin]).one_step_ahead(contests[begin:])
                own, pairs = scores(contests, begin, said)
                found.setdefault(name, []).append(own)
                if name == "RankElo":
                    weights.append(pairs)
        pairs, ours = np.concatenate(weights), np.concatenate(found["RankElo"])
        for name, parts in found.items():
            line = []
            for k, what in enumerate(NAMES):
                gap = np.concatenate(parts)[:, k] - ours[:, k]
                weight = np.where(np.isnan(gap), 0.0, pairs if k == 0 else 1.0)
                mean = np.average(np.nan_to_num(gap), weights=weight)
                error = np.sqrt(np.sum((weight * (np.nan_to_num(gap) - mean)) ** 2)) / weight.sum()
                level = np.average(np.nan_to_num(ours[:, k]), weights=weight)
                line.append(f"{what} {level:.2f}" if name == "RankElo" else f"{what} {mean:+.3f} ± {error:.3f}")
                behind += mean * (1.0 if k == 0 else -1.0) > MOST_ERRORS * max(error, 1e-9) and name != "RankElo"
            print(f"{kind}: {name}: " + ", ".join(line), flush=True)
    return int(behind > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
