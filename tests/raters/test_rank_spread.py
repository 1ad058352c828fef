"""Strengths that return to the mean: no collapse of the spread from chance, and one that is there is found."""

import math

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.raters.rank.estimation import ContestSearch

GIVEN = {"newcomer": 0.0, "retirement": 0.0, "off": 0.0, "anchor": 0.0, "experience": 0.0, "contest_walk": 0.0}
GIVEN["newcomer_follows"] = 1.0


def part_kept(rater, years):
    """Part of the variance of strengths that is left after so many years."""
    p = rater.parameters_
    f2, rho = math.exp(-2 * p["regression"] * years), p["regression"]
    gained = p["walk"] ** 2 * (years if rho == 0.0 else (1 - f2) / (2 * rho))
    return f2 + gained / p["prior_spread"] ** 2


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_chance_does_not_take_the_spread_from_those_who_keep_it(seed):
    """Of these teams, whose players never change, two hundred contests seem to show a return of 1.3 standard errors."""
    table = kn.matches.sample_contests(contests=200, entrants=60, size=8, team=3, seed=seed)
    contests = kn.read_contests(table, slots={"player": ["player_1", "player_2", "player_3"]})
    years = float(contests.day[-1] - contests.day[0]) / 365.25
    rater = kn.RankElo().fit(contests)
    assert 0.7 < part_kept(rater, years) < 1.3  # 0.62 and 0.65 without a belief


def test_a_spread_that_shrinks_is_found():
    rng = np.random.default_rng(5)
    rho, races, size = 0.6, 240, 10
    strength, rows = 1.5 * rng.normal(size=30), []
    for race in range(races):
        strength *= math.exp(-rho * 7 / 365.25)
        chosen = rng.permutation(30)[:size]
        order = chosen[np.argsort(-(strength[chosen] + rng.normal(size=size)))]
        day = np.datetime64("2020-01-06") + 7 * race
        rows += [{"date": day.item(), "race": race, "driver": f"D{k}", "place": j + 1} for j, k in enumerate(order)]
    rater = kn.RankElo(**GIVEN).fit(kn.read_contests(pl.DataFrame(rows)))
    found, error = rater.parameters_["regression"], rater.estimates_.standard_errors["regression"]
    assert found == pytest.approx(rho, abs=2.5 * error) and error < 0.2
    assert part_kept(rater, 4.0) < 0.3


def test_beliefs_are_about_a_collapse_and_what_experience_brings():
    contests = kn.read_contests(kn.matches.sample_contests(contests=5, seed=1))
    rater = kn.RankElo()
    rater._take_kinds(contests)
    search = ContestSearch(rater, contests)
    search.years = 4.0
    still = {"walk": 0.01, "prior_spread": 1.0, "regression": 0.0}
    kept = math.exp(-2 * 0.1 * 4.0) + 0.01**2 * (1 - math.exp(-2 * 0.1 * 4.0)) / 0.2
    assert search._beliefs(still).tolist() == [0.0, 0.0]
    assert search._beliefs(still | {"walk": 1.0}).tolist() == [0.0, 0.0]
    assert search._beliefs(still | {"regression": 0.1, "experience": -0.3}) == pytest.approx(
        [math.sqrt(math.log1p((math.log(kept) / 0.3) ** 2)), -math.sqrt(math.log1p((0.3 / 0.1) ** 2))]
    )
    assert search._beliefs(still | {"regression": 0.1, "walk": 0.5})[0] == 0.0  # as much as returns is gained
