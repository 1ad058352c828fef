"""Spread of performances from line-ups, in leagues where it is known."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.in_use import SystemInUse
from kinelo.advice.audit.kernels import Calendar, Parameters
from kinelo.advice.audit.performance import _MatchPairs, _unusual, performance_of, starters
from kinelo.advice.audit.recursion import Recursion

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


@pytest.mark.long
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
def test_line_ups_are_told_of_by_every_door_and_without_enough_of_them_none_says_a_word():
    matches, _ = league(45.0, 50, 1)
    found = kn.audit(matches)
    said = dict(found.rows())["Performances"]
    assert found.performance.low == 0
    assert said == f"{found.performance.matches} matches do not show that line-ups move a side"
    assert found.to_dict()["performance"]["matches"] == found.performance.matches < len(matches)
    assert said in str(found) and said in kn.pages.share_page(found)
    lineups, known = matches.lineups, 59 * 2 * ELEVEN
    entries = {name: getattr(lineups, name)[:known] for name in ("player", "starter", "minutes", "role")}
    few = kn.audit(replace(matches, lineups=replace(lineups, offsets=np.minimum(lineups.offsets, known), **entries)))
    assert few.performance is None and "Performances" not in dict(few.rows())
    assert few.to_dict()["performance"] is None


def test_only_starters_count_where_they_are_known():
    lineups = kn.matches.Lineups(
        np.array([0, 3, 5]), np.arange(5, dtype=np.int32), tuple("abcde"), starter=np.array([1, 0, 1, -1, -1], np.int8)
    )
    players, bounds = starters(lineups)
    assert players.tolist() == [0, 2, 3, 4]
    assert bounds.tolist() == [0, 2, 4]


def test_unusual_line_ups_and_pairs_of_matches_are_those_of_plain_loops():
    """A usual line-up is the mean of those before, then forgets; who is rare in it is left out of it."""
    matches, _ = league(45.0, 9, 3)
    forget = 0.3
    home, away, seen = _unusual(matches, matches.lineups, forget)
    players, bounds = starters(matches.lineups)
    usual = [np.zeros(len(matches.lineups.players)) for _ in matches.teams]
    games, x = np.zeros(len(matches.teams), int), np.zeros((2, len(matches), usual[0].size))
    for n, pair in enumerate(zip(matches.home, matches.away)):
        assert seen[n] == (games[list(pair)].min() >= 5)
        for place, team in enumerate(pair):
            played = np.zeros(usual[0].size)
            played[players[bounds[2 * n + place] : bounds[2 * n + place + 1]]] = 1.0
            x[place, n] = played - usual[team]
            rate = max(forget, 1 / (games[team] + 1))
            usual[team] = (1 - rate) * usual[team] * ((1 - rate) * usual[team] >= 0.001) + rate * played
            games[team] += 1
    assert seen.any() and not seen.all()
    assert home.toarray() == pytest.approx(x[0]) and away.toarray() == pytest.approx(x[1])
    apart, y = x[0] - x[1], np.random.default_rng(1).normal(size=len(matches))
    products = apart @ apart.T
    off = ~np.eye(len(y), dtype=bool)
    wanted = (np.outer(y, y) * products)[off].sum() / (products[off] ** 2).sum()
    assert _MatchPairs((home - away).tocsr()).estimate(y) == pytest.approx(wanted)


@pytest.mark.parametrize(("known", "told"), [(59, False), (60, True)])
def test_sixty_matches_with_line_ups_are_needed(known, told):
    matches, _ = league(45.0, 10, 4)
    parameters = Parameters(1.0, 1.0, 1e-3, 120.0, 0.0, 1e-3, 0.0)
    matches = matches[:known]
    plain = SystemInUse("K = 6", 6.0, kn.TeamElo.classic(6.0)).in_kernels(matches)
    found = performance_of(matches, Recursion(Calendar.of(matches), parameters, plain, 30), 6.0)
    assert (found is not None) == told
    if found is not None:  # of sides with ten line-ups seen there are none yet
        assert found.sides == {} and found.matches == 30
