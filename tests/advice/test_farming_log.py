"""Who gained by choosing opponents: a side that meets those who are rated too high, and one that meets anybody."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.kernels import Calendar
from kinelo.advice.farming_log import _log, farming_log, farming_table, gained_by_choice
from kinelo.errors import InputError

NU = np.log(10) / 800


def test_gains_are_those_of_a_loop_over_everybody_it_could_have_met():
    rows = {
        "date": ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04", "2021-01-05"],
        "home": ["A", "B", "C", "A", "A"],
        "away": ["B", "C", "A", "D", "B"], "result": [1.0, 0.0, 1.0, 0.5, 0.0],
    }  # fmt: skip
    matches = kn.read_matches(rows)
    g = np.random.default_rng(1)
    before, strength = g.normal(0, 100, (5, 2)), g.normal(0, 100, (5, 2, 1))
    found, chance = gained_by_choice(Calendar.of(matches), before, strength, NU)

    rating, known, last, slow, spread = {}, {}, {}, *(dict.fromkeys(matches.teams, 0.0) for _ in range(2))
    for n in range(5):
        pair = [matches.teams[code[n]] for code in (matches.home, matches.away)]
        for side, name in enumerate(pair):
            rating[name], known[name], last[name] = before[n, side], strength[n, side, 0], matches.day[n]

        def gain(one, other):
            true, said = (1 / (1 + 10 ** (-(x[one] - x[other]) / 400)) for x in (known, rating))
            return 2 * (true - said)

        there = [name for name in last if last[name] >= matches.day[n] - 183]
        for one, other in (pair, pair[::-1]):
            could = [name for name in there if name != one]
            if len(could) > 1:
                slow[one] += gain(one, other) - np.mean([gain(one, name) for name in could])
                spread[one] += np.var([gain(one, name) for name in could])
    assert found[:, 0] == pytest.approx([slow[name] for name in matches.teams], abs=1e-9)
    assert chance == pytest.approx([spread[name] for name in matches.teams], abs=1e-12)
    assert slow["C"] != 0 < spread["C"]


@pytest.mark.parametrize("farms", [True, False])
def test_who_meets_those_that_are_rated_too_high_is_found_and_who_meets_anybody_is_not(farms):
    g = np.random.default_rng(7)
    sides, games, k = 30, 3000, 40.0
    strength, rating, rows = g.normal(0, 120, sides), np.zeros(sides), []
    for n in range(games):
        i = 0 if n % 8 == 0 else int(g.integers(1, sides))
        others = np.delete(np.arange(sides), i)
        # The first side knows strengths, and meets whoever is rated furthest above its own.
        j = int(others[np.argmax((rating - strength)[others])]) if farms and i == 0 else int(g.choice(others))
        won = float(g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400)))
        step = k * (won - 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400)))
        rating[i] += step
        rating[j] -= step
        rows.append((str(np.datetime64("2018-01-01") + n // 4), n, f"p{i}", f"p{j}", won, 1))
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    found = farming_log(kn.read_matches(columns), kn.TeamElo.classic(k=k))
    sure = found.table.filter(found.table["low"] > 0)
    if not farms:
        # Of thirty who chose nothing, one in forty seems to gain: five or more in 1 of 1,000 leagues.
        assert sure.height <= 4
        return
    first, second = found.table.rows(named=True)[:2]
    # Others gain by meeting the first, who is soon rated above its strength, but far less.
    assert first["name"] == "p0" and first["low"] > 0 and second["gained"] < 0.25 * first["gained"]
    assert found.verdict.split(": ")[1].startswith("p0 +") and " of 30 gained by opponents" in found.verdict
    assert farming_table(found).rows[0]["name"] == "p0"


def test_farming_is_looked_for_under_one_k():
    with pytest.raises(InputError, match="under plain Elo with one K"):
        farming_log(kn.read_matches(kn.sample_league(seed=1).results), kn.Glicko())


def test_errors_hold_luck_in_strengths_and_luck_of_the_draw():
    """Sides of 40 and 41 matches: variances of both kinds are added, each side its own, and a third plays too few."""
    days = [str(np.datetime64("2020-01-01") + n) for n in range(41)]
    rows = [*((day, "A", "B", 1.0) for day in days[:40]), (days[40], "B", "C", 0.0)]
    matches = kn.read_matches(dict(zip(("date", "home", "away", "result"), map(list, zip(*rows)))))
    code = {name: n for n, name in enumerate(matches.teams)}
    gained, chance = np.zeros((3, 4)), np.zeros(3)
    gained[code["A"]], chance[code["A"]] = [10.0, 12.0, 8.0, 13.0], 9.0
    gained[code["B"]], chance[code["B"]] = [-2.0, 1.0, 2.0, 6.0], 0.0
    table = _log(matches, gained, chance, 20.0).table
    errors = dict(zip(table["name"], table["error"]))
    assert errors == pytest.approx({"A": math.sqrt(7.0 + 9.0), "B": math.sqrt(7.0)})
    one = next(row for row in table.rows(named=True) if row["name"] == "A")
    assert (one["low"], one["high"]) == pytest.approx((10 - 1.96 * 4, 10 + 1.96 * 4), abs=1e-3)
