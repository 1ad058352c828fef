"""How much larger the K of a newcomer should be, by theory, by simulation, and on the later half of a league."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.outlook import Newcomer

Q = math.log(10) / 400


def chess(spread, moved, opponents):
    """A newcomer on the chess scale whose opponents are normal about where it starts."""
    gaps = math.hypot(spread, opponents) * np.linspace(-8, 8, 4001) / 1.0
    weight = np.exp(-0.5 * np.linspace(-8, 8, 4001) ** 2)
    p = 1 / (1 + np.exp(-Q * gaps))
    w = float(weight @ (p * (1 - p)) / weight.sum())
    return Newcomer(spread, moved, Q * w, w)


def played(rule, spread, moved, opponents, newcomers=6000, matches=60):
    """Root mean square error after each match of newcomers that play established opponents, under K by match."""
    g = np.random.default_rng(5)
    strength, rating, errors = g.normal(0.0, spread, newcomers), np.zeros(newcomers), []
    for k in rule(np.arange(matches)):
        other = g.normal(0.0, opponents, newcomers)
        won = g.random(newcomers) < 1 / (1 + 10 ** ((other - strength) / 400))
        rating += k * (won - 1 / (1 + 10 ** ((other - rating) / 400)))
        errors.append(math.sqrt(np.mean((rating - strength) ** 2)))
        strength += g.normal(0.0, moved, newcomers)
    return np.array(errors)


def test_right_steps_are_those_of_the_reference():
    newcomer = chess(200.0, 6.0, 200.0)
    steps = newcomer.right_steps(60)
    assert steps[[0, 2, 4, 9, 19, 39, 59]].round().tolist() == [188, 138, 109, 72, 43, 26, 20]
    errors = np.sqrt(newcomer.errors(steps))[[0, 4, 9, 19, 59]]
    assert errors == pytest.approx([181, 138, 112, 89, 61], rel=0.04)
    one_k = np.sqrt(newcomer.errors(np.full(60, 20.0)))[[0, 4, 9, 19, 59]]
    assert one_k == pytest.approx([196, 182, 167, 141, 85], rel=0.09)


def test_no_falling_rule_of_a_grid_beats_the_right_steps_by_more_than_chance():
    newcomer = chess(200.0, 6.0, 200.0)
    rule = newcomer.falling(60)
    assert 2 * rule.gamma == 20.0 and rule.boost == 8.4
    right = played(lambda n: newcomer.right_steps(n.size), 200.0, 6.0, 200.0)
    printed = played(lambda n: 20 * (1 + rule.boost * rule.matches / (rule.matches + n)), 200.0, 6.0, 200.0)
    grid = [
        played(lambda n, first=first, half=half: 20 + (first - 20) * half / (half + n), 200.0, 6.0, 200.0)
        for first in (60, 100, 140, 190, 260)
        for half in (1, 3, 6, 12, 24)
    ]
    best = np.min([one.mean() for one in grid])
    # Errors of 6,000 newcomers over 60 matches have a mean that is known to about 0.5 %, and the same luck is in all.
    assert right.mean() < 1.01 * best and printed.mean() < 1.015 * best
    assert played(lambda n: np.full(n.size, 20.0), 200.0, 6.0, 200.0).mean() > 1.3 * best


def league(entry_spread, seed, sides=60, matches=6000):
    """A league whose sides are replaced one after another by newcomers that differ by so much."""
    g, rows = np.random.default_rng(seed), []
    strength, name, count = g.normal(0.0, entry_spread, sides), np.arange(sides), sides
    for n in range(matches):
        if n % 20 == 19:
            gone = g.integers(sides)
            strength[gone], name[gone], count = g.normal(0.0, entry_spread), count, count + 1
        i, j = g.choice(sides, 2, replace=False)
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        rows.append((str(np.datetime64("2010-01-01") + n // 3), f"p{name[i]}", f"p{name[j]}", float(won), 1))
        strength[[i, j]] += g.normal(0.0, 3.0, 2)
    return kn.read_matches(dict(zip(("date", "home", "away", "result", "neutral"), map(list, zip(*rows)))))


@pytest.mark.usefixtures("few_replays")
def test_a_larger_first_k_is_advised_where_it_helps_and_is_what_rate_and_design_take():
    matches = league(220.0, seed=2)
    found = kn.audit(matches, kn.TeamElo.classic(k=16))
    first, one_k = found.outlook.first, found.outlook.k
    assert first.first > 5 * first.k and first.gain.low > 0.002
    line = dict(found.rows())["Newcomers"]
    assert f"--k {first.k:.3g} --k-first {first.first:.0f} --k-halfway {first.halfway:g}" in line and "lowers" in line
    # What is printed is what was measured: plain Elo by that rule against the K advised, on the later half.
    rule = eval(line.split("k=")[1].split(") lowers")[0], {"FallingSteps": kn.model.FallingSteps})
    losses = []
    for k in (rule, one_k):
        chances = kn.TeamElo.classic(k=k, ties=0.0).one_step_ahead(matches).probabilities
        losses.append(-np.log(np.where(matches.result == 1, chances[:, 0], chances[:, 2]))[found.since :])
    assert np.mean(losses[1] - losses[0]) == pytest.approx(first.gain.mean, rel=0.02)
    assert kn.RatingSystem(found.system.outcome, gamma=rule).gamma.boost == pytest.approx(first.rule.boost, rel=1e-3)


@pytest.mark.usefixtures("few_replays")
def test_where_newcomers_hardly_differ_no_larger_k_is_advised_as_a_help():
    found = kn.audit(league(15.0, seed=4), kn.TeamElo.classic(k=16))
    first = found.outlook.first
    assert first is None or first.gain.low <= 0.002
    assert first is None or first.gain.low > 0 or "is not shown to help" in dict(found.rows())["Newcomers"]
