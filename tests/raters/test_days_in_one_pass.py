"""KalmanElo forecasts days without an order in one pass over the matches, as if each day were a call of its own."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.matches.day_order import parts_of

SURFACES = ["clay", "grass"]


def season(days, seed):
    """Two or three matches a day of a few sides, newcomers among the later ones; on some days nobody plays twice."""
    g = np.random.default_rng(seed)
    rows = []
    for day in range(days):
        sides = 4 + day // 8
        for _ in range(2 + day % 2):
            home, away = g.choice(sides, 2, replace=False)
            rows.append((np.datetime64("2021-01-01") + 9 * day, f"side {home}", f"side {away}", *g.poisson(1.4, 2)))
    date, home, away, ours, theirs = map(list, zip(*rows))
    table = {"date": date, "home": home, "away": away, "home_score": ours, "away_score": theirs}
    more = {"neutral": g.random(len(rows)) < 0.3, "surface": g.choice(SURFACES, len(rows)).tolist()}
    return kn.read_matches(table | more, conditions=["surface"])


def day_by_day(rater, matches):
    """Chances of the matches, a call for the matches of every day and what lies between such days."""
    said = []
    for part, as_whole in parts_of(matches):
        if as_whole:
            said.append(rater.predict(part).probabilities)
            rater.update(part)
        else:
            said.append(rater.one_step_ahead(part).probabilities)
    return np.concatenate(said)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("conditions", [[], ["surface"]])
@pytest.mark.parametrize("begun", [0, 20])
def test_days_in_one_pass_are_days_one_by_one(covariance, conditions, begun):
    matches = season(40, seed=3)
    assert matches.unordered is not None and matches.unordered.any() and not matches.unordered.all()
    rater = kn.KalmanElo(covariance=covariance, conditions=conditions, sharpness_walk=0.02, regression=0.3)
    rater.update(matches[:begun])
    by_hand, other, coming = copy.deepcopy(rater), copy.deepcopy(rater), matches[begun:]
    said = rater.one_step_ahead(coming)
    assert np.allclose(said.probabilities, day_by_day(by_hand, coming), rtol=0, atol=1e-13)
    in_order = other.one_step_ahead(replace(coming, unordered=None))
    assert np.abs(said.probabilities - in_order.probabilities).max() > 1e-3
    assert (rater._sharpness, rater._band) == pytest.approx((by_hand._sharpness, by_hand._band), abs=1e-13)
    assert rater.ratings_.equals(by_hand.ratings_)
