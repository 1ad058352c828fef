"""Processor seconds of fits and audits by matches and sides, on leagues drawn here; others where they do the same.

``make bench AREA=sizes`` takes a few minutes. A size is left out where a tenth of its matches took more
than a tenth of ``LONGEST``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import kinelo as kn

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(3600)]
SECTION = "Fits and audits: processor seconds by size"
NOTE = (
    "Processor time of one call, after one that compiles. Leagues are drawn with Poisson goals over ten years; sides "
    "of PlayerElo field 5 of 8 players. A fit estimates all parameters of the rater. evalica and choix find the "
    "strengths of Bradley and Terry for the same results; evalica counts a draw as half a win, choix leaves draws out, "
    "and neither has a home advantage. –: would take more than ten seconds, or there are fewer matches than sides."
)
MATCHES, SIDES, AUDITED = (2_000, 20_000, 200_000), (20, 200, 2_000), (2_000, 8_000, 20_000)
LONGEST = 10.0
RATERS = (kn.TeamElo, kn.Glicko, kn.Glicko2, kn.KalmanElo, kn.PlayerElo, kn.BradleyTerry)


def results(n: int, sides: int) -> dict[str, Any]:
    """A table of matches: date, home, away and goals."""
    rng = np.random.default_rng(1)
    strength, home = rng.normal(0.0, 0.7, sides), rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    goals = rng.poisson(1.4 * np.exp(0.3 * np.outer([1, -1], strength[home] - strength[away])))
    names = np.array([f"side {k}" for k in range(sides)])
    return {
        "date": np.datetime64("2010-01-01") + np.arange(n) * 3_650 // n,
        "home": names[home].tolist(),
        "away": names[away].tolist(),
        "home_score": goals[0],
        "away_score": goals[1],
        "match_id": np.arange(n),
    }


def with_lineups(table: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    chosen = rng.permuted(np.tile(np.arange(8), (2 * len(table["home"]), 1)), axis=1)[:, :5]
    fielded = [[f"{side} {k}" for k in row] for side, row in zip([*table["home"], *table["away"]], chosen)]
    n = len(table["home"])
    return table | {"home_lineup": fielded[:n], "away_lineup": fielded[n:]}


@cache
def league(n: int, sides: int, lineups: bool = False) -> kn.matches.Matches:
    table = results(n, sides)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kn.read_matches(with_lineups(table) if lineups else table)


def seconds(task: Callable[[], object]) -> float:
    begin = time.process_time()
    task()
    return time.process_time() - begin


def row(section, what: str, sizes: tuple[int, ...], sides: int, task: Callable[[int, int], object]) -> None:
    """Add a line: ``task(matches, sides)`` at growing numbers of matches, as long as it stays short."""
    task(sizes[0] // 10, min(sides, 20))
    found: list[str] = []
    expected = 0.0
    for n in sizes:
        took = seconds(lambda n=n: task(n, sides)) if n >= sides and expected <= LONGEST else None
        expected = 0.0 if n < sides else np.inf if took is None else took * sizes[1] / sizes[0]
        found.append("–" if took is None else f"{took:.2g} s")
    section.row(f"{what}, {sides:,} sides: {', '.join(f'{n:,}' for n in sizes)} matches", " / ".join(found))


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("rater", RATERS, ids=lambda one: one.__name__)
def test_fits(table, rater, sides):
    section = table(SECTION)
    section.note = NOTE
    players = rater is kn.PlayerElo
    for n in MATCHES:  # reading is no part of a fit
        league(n, sides, players)
    row(section, f"{rater.__name__}, fit", MATCHES, sides, lambda n, k: rater().fit(league(n, k, players)))


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("peer", ["evalica", "choix"])
def test_peers(table, peer, sides):
    if find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed")
    ready, estimate = {"evalica": (for_evalica, by_evalica), "choix": (for_choix, by_choix)}[peer]
    for n in MATCHES:  # neither are lists of their own
        ready(n, sides)
    row(table(SECTION), f"{peer}, Bradley–Terry", MATCHES, sides, estimate)


@cache
def for_evalica(n: int, sides: int) -> tuple[list[str], list[str], list[Any]]:
    import evalica

    matches = league(n, sides)
    kinds = [evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X]
    home, away = ([matches.teams[k] for k in side] for side in (matches.home, matches.away))
    return home, away, [kinds[round(2 * result)] for result in matches.result]


def by_evalica(n: int, sides: int) -> None:
    import evalica

    evalica.bradley_terry(*for_evalica(n, sides))


@cache
def for_choix(n: int, sides: int) -> list[list[int]]:
    matches = league(n, sides)
    won, decided = matches.result == 1.0, matches.result != 0.5
    pairs = np.column_stack([np.where(won, matches.home, matches.away), np.where(won, matches.away, matches.home)])
    return pairs[decided].tolist()


def by_choix(n: int, sides: int) -> None:
    import choix

    choix.ilsr_pairwise(sides, for_choix(n, sides), alpha=0.01)


@pytest.mark.parametrize("sides", SIDES[:2])
def test_audits(table, sides):
    row(table(SECTION), "kn.audit", AUDITED, sides, lambda n, k: kn.audit(league(n, k)))


def test_reading(table):
    """Reading is paid once per file."""
    tables = {n: results(n, 200) for n in MATCHES}
    found = [seconds(lambda n=n: kn.read_matches(tables[n])) for n in (MATCHES[0], *MATCHES)][1:]
    what = f"kn.read_matches, 200 sides: {', '.join(f'{n:,}' for n in MATCHES)} matches"
    table(SECTION).row(what, " / ".join(f"{one:.2g} s" for one in found))
