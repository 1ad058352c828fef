"""A home advantage that changes from one match to the next."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters import advantage
from kinelo.raters.state import EVIDENCE, HOME_POINTS, HOME_V, LATELY, LATELY_V

PLAIN: dict[str, Any] = {
    "step": 4.0, "newcomer_boost": 0.0, "settling_matches": 1.0, "ties": 1e-6, "spread": 0.0, "margin_weight": 0.0,
    "margin_scale": 1.0, "contraction": 1.0, "regression": 0.0, "home_step": 0.4, "ties_walk": 0.0,
    "sharpness_walk": 0.0,
}  # fmt: skip


def league(n: int, advantage_of: np.ndarray, seed: int, teams: int = 20) -> kn.matches.Matches:
    """Matches without draws of sides 120 points apart, with an advantage of its own in each."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0.0, 120.0, teams)
    home = rng.integers(0, teams, n)
    away = (home + rng.integers(1, teams, n)) % teams
    gap = strength[home] - strength[away] + advantage_of
    won = rng.random(n) < 1.0 / (1.0 + 10.0 ** (-gap / 400.0))
    return kn.read_matches(
        {
            "date": (np.datetime64("2001-01-01") + np.arange(n) // 4).astype(str),
            "home": [f"t{k}" for k in home],
            "away": [f"t{k}" for k in away],
            "result": won.astype(float),
        }
    )


def turned(n: int = 900, at: int = 300, seed: int = 4) -> kn.matches.Matches:
    """Winners are nearly always named first, and from one match on they are not."""
    return league(n, np.where(np.arange(n) < at, 900.0, 25.0), seed)


@pytest.mark.parametrize("make", [kn.TeamElo, kn.Glicko, kn.Glicko2])
def test_an_advantage_that_has_changed_at_once_is_believed(make):
    rater = make().fit(turned())
    assert abs(rater.learnt_["home_advantage"].value - 25.0) < 3.0 * rater.learnt_["home_advantage"].error
    assert rater.learnt_["home_advantage"].error < 30.0


def test_an_advantage_that_stays_is_never_begun_anew():
    # By Ville's inequality 1 of 1,000 beginnings takes over at most; leagues of eight more seeds had none either.
    matches = league(3_000, np.full(3_000, 60.0), 5)
    rater = kn.TeamElo(**PLAIN)
    for begin in range(0, 3_000, 250):
        before = rater.learnt_["home_advantage"].error
        assert rater.update(matches[begin : begin + 250]).learnt_["home_advantage"].error < before
    assert abs(rater.learnt_["home_advantage"].value - 60.0) < 3.0 * rater.learnt_["home_advantage"].error


def test_team_ratings_follow_the_law_to_the_letter():
    """A plain loop, which shares nothing with the kernel but the odds of one in 1,000."""
    matches, nu, gamma, c_h, kappa = turned(260, 120), math.log(10) / 800, 4.0, 0.4, 1e-6
    rater = kn.TeamElo(**PLAIN).update(matches)
    scale, ratings = nu * (2 + kappa) / 2, dict.fromkeys(matches.teams, 1500.0)
    old, new, evidence, taken = [50.0, (800 / 6) ** 2], [50.0, (800 / 6) ** 2], math.log(0.001), 0
    for k in range(len(matches)):
        i, j, S = matches.teams[matches.home[k]], matches.teams[matches.away[k]], matches.signed[k]
        gap = ratings[i] - ratings[j]
        expected = []
        for one in (old, new):
            x = scale * (gap + one[0])
            b = 2 * math.sinh(x) / (2 * math.cosh(x) + kappa)
            slope = scale * (1 - kappa / (2 * math.cosh(x) + kappa) - b * b)
            steady, information = c_h / scale, scale * slope
            one[1] += steady**2 * information / (1 - steady * information)
            one[1] /= 1 + one[1] * information
            one[0] += one[1] * scale * (S - b)
            expected.append((1 + b) / 2)
        s = (1 + S) / 2
        evidence += s * math.log(expected[1] / expected[0])
        evidence += (1 - s) * math.log((1 - expected[1]) / (1 - expected[0]))
        if evidence > 0:
            old, taken = list(new), taken + 1
        if evidence > 0 or evidence <= math.log(0.001):
            new, evidence = [50.0, (800 / 6) ** 2], math.log(0.001)
        surprise = S - (2 * expected[0] - 1)
        ratings[i] += gamma * surprise
        ratings[j] -= gamma * surprise
    assert taken == 1
    kept = rater._common[[HOME_POINTS, HOME_V, LATELY, LATELY_V, EVIDENCE]]
    assert kept == pytest.approx([*old, *new, evidence], rel=1e-7)


@pytest.mark.parametrize("make", [lambda: kn.TeamElo(**PLAIN), kn.Glicko])
def test_one_by_one_and_kept_in_between_is_the_same(make):
    matches = turned(260, 120)
    whole, single, names = make().update(matches), make(), matches.teams
    for k in range(len(matches)):
        if k in (125, 140, 200):  # before, while and after it takes over
            kept, single = single.to_arrays(), make()
            single.from_arrays(kept)
        single.update_one(names[matches.home[k]], names[matches.away[k]], matches.result[k], date=str(matches.date[k]))
    assert np.array_equal(single._common, whole._common)
    assert whole.learnt_["home_advantage"].value < 150.0


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("lately", [0.2, 0.55, 0.97])
def test_evidence_grows_on_average_never(share, lately):
    """Whatever part of the matches ends in between, so that the expected share is right."""
    expected = 0.6
    middle = share * min(expected, 1 - expected)  # chance of half a point
    chances = {1.0: expected - middle / 2, 0.5: middle, 0.0: 1 - expected - middle / 2}
    mean = 0.0
    for points, chance in chances.items():
        c = np.zeros(23)
        c[EVIDENCE] = -3.0
        advantage.weigh(1.0, points, expected, lately, 50.0, 100.0, c)
        mean += chance * math.exp(c[EVIDENCE] + 3.0) if c[EVIDENCE] > math.log(0.001) else 0.0
    assert mean <= 1.0 + 1e-12 and (share > 0.0 or mean == pytest.approx(1.0))
