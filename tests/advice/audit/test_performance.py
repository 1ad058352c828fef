"""Spread of performances from line-ups, in leagues where it is known; and what recovering strengths does to bands."""

import math
from functools import cache

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.in_use import SystemInUse
from kinelo.advice.audit.kernels import Calendar, Parameters
from kinelo.advice.audit.performance import performance_of, recovered_bands, starters
from kinelo.advice.audit.recursion import Recursion
from kinelo.errors import InputError

NU = math.log(10) / 800
SIDES, SQUAD, ELEVEN = 12, 12, 5


def league(worth: float, rounds: int, seed: int, level: float = 80.0):
    """Sides field five of twelve at random; a player is worth N(0, worth²). Returns matches and the true σ."""
    rng = np.random.default_rng(seed)
    strength, players = rng.normal(0, level, SIDES), rng.normal(0, worth, (SIDES, SQUAD))
    rows, lineups, apart = [], [], []
    for turn in range(rounds):
        order = rng.permutation(SIDES)
        for home, away in zip(order[::2], order[1::2]):
            number, both = len(rows), []
            for side, team in (("home", home), ("away", away)):
                chosen = rng.choice(SQUAD, ELEVEN, replace=False)
                played = players[team, chosen].sum()
                apart.append(played - ELEVEN * players[team].mean())
                both.append(strength[team] + played)
                lineups += [(number, side, f"{team}-{p}") for p in chosen]
            up = 1 / (1 + math.exp(-2 * NU * (both[0] - both[1])))
            rows.append((number, turn, f"s{home}", f"s{away}", float(rng.random() < up)))
    number, day, home, away, result = zip(*rows)
    table = {
        "match_id": number, "date": np.datetime64("2001-01-01") + np.array(day), "home": home, "away": away,
        "result": result, "neutral": [True] * len(rows),
    }  # fmt: skip
    match, side, player = zip(*lineups)
    return kn.read_matches(table, {"match_id": match, "side": side, "player": player}), float(np.std(apart))


@cache
def estimated(worth: float, seed: int, rounds: int = 400):
    matches, true = league(worth, rounds, seed)
    parameters = Parameters(1.0, 1.0, 1e-3, 120.0, 0.0, 1e-3, 0.0)
    plain = SystemInUse("K = 6", 6.0, kn.TeamElo.classic(6.0)).in_kernels(matches)
    recursion = Recursion(Calendar.of(matches), parameters, plain, len(matches) // 2)
    return performance_of(matches, recursion, 6.0), true, matches


@pytest.mark.usefixtures("few_replays")
def test_the_spread_of_performances_is_found_from_line_ups():
    found, true, matches = estimated(45.0, 1)
    assert any("line-ups show the part" in note for note in kn.audit(matches[:300]).notes)
    assert found.low < true < found.high
    assert found.p_value < 0.01
    assert np.mean(list(found.sides.values())) == pytest.approx(found.spread, rel=0.05)


def test_intervals_of_the_spread_are_neither_too_narrow_nor_too_wide():
    z = []
    for seed in range(12):
        found, true, _ = estimated(45.0, seed, 150)
        if found.low > 0:
            z.append((found.spread**2 - true**2) / ((found.high**2 - found.low**2) / 3.92))
    # A mean of n squares of standard normal numbers: outside of these once in a thousand for n = 8 and more.
    assert len(z) >= 8 and 0.1 < np.mean(np.square(z)) < 3.3


def test_line_ups_that_do_not_matter_are_not_believed():
    found, true, _ = estimated(0.0, 2)
    assert true == 0.0
    assert found.low == 0.0
    # Var τ² = 2/Σ(x_k·x_l)² over pairs of matches: each shares a side with 800 others, and two line-ups of one side
    # have (x·y)² = 12 v² (1 + 1/11) on average, v = 5·7/12². A result shows ν² of a player's worth in its variance.
    v = ELEVEN * (SQUAD - ELEVEN) / SQUAD**2
    pairs = 2400 * 800 * SQUAD * v**2 * (1 + 1 / (SQUAD - 1))
    error = SQUAD * v * math.sqrt(2 / pairs) / NU**2
    # Two hundred draws tell the end of an interval to a tenth, and results of unequal sides show a tenth less.
    assert found.high**2 - found.spread**2 == pytest.approx(1.96 * error, rel=0.25)
    assert found.p_value > 0.01


@pytest.mark.usefixtures("few_replays")
def test_without_line_ups_it_is_said_what_does_not_show():
    matches = kn.read_matches(kn.sample_league(seed=1).results)
    found = kn.audit(matches[:200])
    with pytest.raises(InputError, match=r"Only line-ups show .*: 0 matches have both, and it takes 60"):
        found.performance  # noqa: B018
    with pytest.raises(InputError, match="Only line-ups show"):
        found.recovered()
    assert found.recovered(0.0).slope_after == pytest.approx(found.slope, rel=1e-3)


def test_only_starters_count_where_they_are_known():
    lineups = kn.matches.Lineups(
        np.array([0, 3, 5]), np.arange(5, dtype=np.int32), tuple("abcde"), starter=np.array([1, 0, 1, -1, -1], np.int8)
    )
    players, bounds = starters(lineups)
    assert players.tolist() == [0, 2, 3, 4]
    assert bounds.tolist() == [0, 2, 4]


def test_recovering_strengths_mends_the_slope_that_varying_performances_bend():
    rng = np.random.default_rng(5)
    theta, sigma = np.linspace(-350, 350, 16), 250.0
    home = rng.integers(0, 16, 30_000)
    away = (home + rng.integers(1, 16, home.size)) % 16
    gap = theta[home] - theta[away] + math.sqrt(2) * sigma * rng.standard_normal(home.size)
    won = rng.random(home.size) < 1 / (1 + np.exp(-2 * NU * gap))
    names = np.array([f"s{n}" for n in range(16)])
    matches = kn.read_matches(
        {"home": names[home], "away": names[away], "result": won.astype(float), "neutral": [True] * home.size}
    )
    plain = SystemInUse("K = 8", 8.0, kn.TeamElo.classic(8.0, 0.0))
    before = plain.ratings_before(matches, 8.0)
    found = recovered_bands(matches, 15_000, plain, before, sigma)
    # Logistic against its normal blur: the shapes differ by less than these matches can show; the map must be right.
    assert found.slope_after[0] == pytest.approx(1.0, abs=4 * found.slope_after[1])
    assert found.log_loss_after == pytest.approx(found.log_loss_before, abs=0.001)
    assert all(abs(one.underrated) < 4 * one.error for one in found.after)
    wrong = recovered_bands(matches, 15_000, plain, before, 0.0)
    assert wrong.slope_after == pytest.approx(wrong.slope_before, rel=1e-6)
