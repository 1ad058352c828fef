"""Strengths of the past given everything: ours beside TrueSkill Through Time and Whole-History Rating, truth known.

Leagues are drawn as TrueSkill Through Time supposes: performances ``N(strength, 1)``, strengths that wander, the better
performance wins, no draws. The two libraries are given the true spread and walk; ours are fitted, on results alone. The
error is that of strengths at the last match before 24 dates, as a part of their true spread, each rater centred at
every date and given the one factor on its unit that suits it best, because units differ. Means over four leagues with
their standard errors; processor time with the fit.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinelo as kn

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
SECTION = "Hindsight: simulated leagues whose truth is known"
YEARS, SPREAD, WALK = 6, 0.8, 0.35
DAYS = YEARS * 365
LEAGUES = 4
BEGIN = np.datetime64("2001-01-01")
Curves = dict[str, dict[int, float]]


class League(NamedTuple):
    matches: kn.matches.Matches
    lineups: list[tuple[list[str], list[str]]]
    won: np.ndarray
    day: np.ndarray
    truth: np.ndarray


def league(people: int, side: int, n: int, seed: int) -> League:
    rng = np.random.default_rng(seed)
    truth = SPREAD * rng.standard_normal(people) + np.zeros((DAYS, 1))
    truth[1:] += np.cumsum(rng.normal(0, WALK / 365**0.5, (DAYS - 1, people)), axis=0)
    day = np.sort(rng.integers(0, DAYS, n))
    drawn = np.array([rng.choice(people, 2 * side, replace=False) for _ in range(n)])
    sign = np.repeat([1.0, -1.0], side)
    gap = (truth[day[:, None], drawn] * sign).sum(axis=1) + rng.normal(0, (2 * side) ** 0.5, n)
    lineups = [([f"{p:03d}" for p in row[:side]], [f"{p:03d}" for p in row[side:]]) for row in drawn]
    table: dict[str, Any] = {
        "date": (BEGIN + day).astype(str).tolist(),
        "home": [a[0] if side == 1 else "A" for a, _ in lineups],
        "away": [b[0] if side == 1 else "B" for _, b in lineups],
        "result": (gap > 0).astype(int),
        "neutral": [True] * n,
    }
    if side > 1:
        table |= {"home_lineup": [a for a, _ in lineups], "away_lineup": [b for _, b in lineups]}
    return League(kn.read_matches(table), lineups, gap > 0, day, truth)


def error(found: League, moments: list[tuple[str, int, int]], values: list[float]) -> float:
    """Root mean square error as a part of the true spread; moments are name, day of the match, and date."""
    true = np.array([found.truth[day, int(name)] for name, day, _ in moments])
    told, when = np.array(values, float), np.array([date for _, _, date in moments])
    for date in np.unique(when):
        true[when == date] -= true[when == date].mean()
        told[when == date] -= told[when == date].mean()
    told *= (true @ told) / (told @ told)
    return float(np.sqrt(np.mean((true - told) ** 2) / np.mean(true**2)))


def through_time(found: League) -> Curves:
    import trueskillthroughtime as ttt

    history = ttt.History(
        [list(pair) for pair in found.lineups], [[1, 0] if won else [0, 1] for won in found.won],
        found.day.tolist(), sigma=SPREAD, beta=1.0, gamma=WALK / 365**0.5,
    )  # fmt: skip
    history.convergence(epsilon=1e-3, iterations=30, verbose=False)
    return {name: {t: g.mu for t, g in curve} for name, curve in history.learning_curves().items()}


def whole_history(found: League) -> Curves:
    import whr

    unit = 400 / np.log(10) * 1.702 / 2**0.5  # of a strength, where the better of two normal performances wins
    base = whr.WHR({"w2": (WALK * unit) ** 2 / 365})
    for (a, b), won, day in zip(found.lineups, found.won, found.day.tolist()):
        base.create_game(a[0], b[0], "B" if won else "W", day, 0)
    base.auto_iterate()
    return {name: {row[0]: row[1] for row in base.ratings_for_player(name)} for name in base.players}


def measured(found: League, side: int) -> dict[str, tuple[float, float]]:
    """Error and processor time by rater."""
    kind = kn.KalmanElo if side == 1 else kn.PlayerElo
    began = time.process_time()
    rater = kind().fit(found.matches)
    fitted = time.process_time() - began
    told, moments = {}, []
    for hindsight in (False, True):
        began = time.process_time()
        history = kn.rating_history(rater, found.matches, points=24, hindsight=hindsight)
        spent = fitted + time.process_time() - began
        history = history.filter(history["date"] > history["date"].min())
        days = ((history[column].to_numpy() - BEGIN).astype(int).tolist() for column in ("last_played", "date"))
        moments = list(zip(history["name"].to_list(), *days))
        manner = "as we know now" if hindsight else "as seen then"
        told[f"{kind.__name__}, {manner}"] = error(found, moments, history["rating"].to_list()), spent
    for name, module, run in LIBRARIES:
        if find_spec(module) is not None and (side == 1 or run is not whole_history):
            began = time.process_time()
            curves = run(found)
            spent = time.process_time() - began
            told[name] = error(found, moments, [curves[name][day] for name, day, _ in moments]), spent
    return told


LIBRARIES = (
    ("TrueSkill Through Time", "trueskillthroughtime", through_time),
    ("whole-history-rating", "whr", whole_history),
)


@pytest.mark.parametrize(("people", "side", "n"), [(16, 1, 2_000), (40, 3, 3_000)])
def test_hindsight(table, people, side, n):
    section = table(SECTION)
    section.note = (__doc__ or "").split("\n\n", 1)[1].replace("\n", " ").strip()
    what = f"{people} {'sides' if side == 1 else f'players, {side} a side'}, {n:,} matches over {YEARS} years"
    measured(league(people, side, 300, seed=0), side)  # compiles
    runs = [measured(league(people, side, n, seed), side) for seed in range(1, LEAGUES + 1)]
    for name in runs[0]:
        errors, seconds = np.array([run[name] for run in runs]).T
        worth = f"error {errors.mean():.3f} ± {errors.std(ddof=1) / LEAGUES**0.5:.3f}, {seconds.mean():.2f} s"
        section.row(f"{what}: {name}", worth)
    then, now = (np.mean([list(run.values())[k][0] for run in runs]) for k in (0, 1))
    assert now < then
