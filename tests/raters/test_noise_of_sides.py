"""TeamElo where the noise depends on circumstances: the law of a match, what is found, and every way to it."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from test_noise_factors import LUCK, season

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.scores import log_loss
from kinelo.raters.adapter import blank_of

STILL: dict[str, Any] = {"regression": 0.0, "newcomer_boost": 2.0, "settling_matches": 15.0, "spread": 0.0}


@pytest.fixture(scope="module")
def fitted():
    matches = season()
    return matches, *(kn.TeamElo(noise_by=by, **STILL).fit(matches[:1800]) for by in (["kind"], []))


def test_team_ratings_find_factors_and_forecasts_gain(fitted):
    matches, rater, plain = fitted
    table = {row["level"]: row for row in rater.noise_factors_.to_dicts()}
    for level in ("friendly", "cup"):
        found = math.log(table[level]["factor"] / table["league"]["factor"])
        errors = [math.log(table[one]["high"] / table[one]["factor"]) / 1.2816 for one in (level, "league")]
        assert abs(found - math.log(LUCK[level])) < 4 * math.hypot(*errors)
    later = matches[1800:]
    losses = [
        log_loss(copy.deepcopy(r).one_step_ahead(later).probabilities, later.result).mean() for r in (rater, plain)
    ]
    assert losses[0] < losses[1] - 0.005


def test_a_factor_divides_differences_and_steps(fitted):
    """A plain loop over later matches: expected at z / f, and moved by γ / f."""
    matches, rater, _ = fitted
    one, later = copy.deepcopy(rater), matches[1800:1900]
    one.sharpness_walk = 0.0
    kept = one.to_arrays()
    one.reset(dict(one.parameters_))
    one.from_arrays(kept)
    one._numbers = one._numbers._replace(sharpness_walk=0.0)
    factor = dict(rater.noise_factors_.select("level", "factor").rows())
    ratings, games = (dict(rater.ratings_.select("name", c).rows()) for c in ("rating", "matches"))
    p, bold, nu = rater.parameters_, rater.boldness_, math.log(10) / 800
    said = one.one_step_ahead(later).probabilities
    for k, level in enumerate(later.conditions["kind"].names()):
        f, i, j = factor[str(level)], later.teams[later.home[k]], later.teams[later.away[k]]
        z = ratings[i] - ratings[j]
        assert said[k, 0] == pytest.approx(1 / (1 + math.exp(-2 * nu * bold * z / f)), abs=1e-9)
        surprise = later.signed[k] - math.tanh(nu * z / f)
        for name, sign in ((i, 1), (j, -1)):
            step = p["step"] * (1 + p["newcomer_boost"] * p["settling_matches"] / (p["settling_matches"] + games[name]))
            ratings[name] += sign * step * surprise / f
            games[name] += 1
    found = dict(one.ratings_.select("name", "rating").rows())
    assert [found[name] for name in ratings] == pytest.approx(list(ratings.values()), abs=1e-7)


def test_every_door_of_team_ratings_knows_the_noise(fitted, tmp_path):
    matches, rater, _ = fitted
    later, names = matches[1800:1830], matches.teams
    whole, single = copy.deepcopy(rater), copy.deepcopy(rater)
    ahead = whole.one_step_ahead(later).probabilities
    for k, level in enumerate(later.conditions["kind"].names()):
        known = {"date": str(later.date[k]), "neutral": True, "conditions": {"kind": str(level)}}
        sides = names[later.home[k]], names[later.away[k]]
        np.testing.assert_allclose(single.predict_one(*sides, **known).probabilities[0], ahead[k], atol=1e-12)
        assert single.predict(later[k : k + 1]).probabilities[0] == pytest.approx(ahead[k], abs=1e-12)
        single.update_one(*sides, float(later.result[k]), **known)
    assert single.ratings_.equals(whole.ratings_)
    even = [rater.match_quality("s1", "s2", neutral=True, conditions={"kind": kind}) for kind in ("cup", "friendly")]
    assert even[0] < even[1]
    book = kn.RatingBook(tmp_path / "book.db", copy.deepcopy(rater))
    book.add(later)
    again: Any = kn.RatingBook(tmp_path / "book.db").rater
    assert again.noise_factors_.equals(rater.noise_factors_)
    assert again.ratings_.equals(blank_of(rater).update(later).ratings_)
    cup = kn.knockout(rater, ["s1", "s2", "s3", "s4"], date="2024-01-01", realisations=20)
    assert cup.reached[:, -1].sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="no room"):
        kn.TeamElo(noise_by=["kind"], system=kn.RatingSystem(kn.Tanh(nu=0.003), gamma=10.0)).fit(matches)
