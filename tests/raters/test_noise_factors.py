"""Noise by circumstances: factors are found, count in forecasts and updates, are kept, and 1 where luck is the same."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.scores import log_loss

LUCK = {"league": 1.0, "friendly": 2.5, "cup": 0.7}


def season(seed=3, n=2400, sides=14, luck=LUCK, lineups=False):
    """Sides at rest; a match shows their difference over the luck of its kind. Two kinds never matter for the noise."""
    rng = np.random.default_rng(seed)
    strength, home = rng.normal(0, 1.0, sides), rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    kind = rng.choice(list(LUCK), n, p=[0.5, 0.3, 0.2])
    gap = (strength[home] - strength[away]) / np.array([luck[one] for one in kind])
    table = {"date": np.datetime64("2015-01-01") + np.arange(n), "home": [f"s{k}" for k in home]}
    table |= {"away": [f"s{k}" for k in away], "result": (gap + rng.normal(0, 1, n) > 0).astype(float), "kind": kind}
    table |= {"day": rng.choice(["Sat", "Sun"], n), "neutral": [True] * n}
    if lineups:
        table |= {
            f"{side}_lineup": [[f"{k} a", f"{k} b"] for k in who] for side, who in (("home", home), ("away", away))
        }
    return kn.read_matches(table, conditions=["kind", "day"], ordered=True)


@pytest.fixture(scope="module")
def fitted():
    matches = season()
    rater = kn.KalmanElo(noise_by=["kind"], covariance="diagonal", walk=0.02, regression=0.0).fit(matches[:1800])
    plain = kn.KalmanElo(covariance="diagonal", walk=0.02, regression=0.0).fit(matches[:1800])
    return matches, rater, plain


def test_factors_are_found_and_forecasts_gain(fitted):
    """Ratios of factors lie within four standard errors of the truth."""
    matches, rater, plain = fitted
    table = {row["level"]: row for row in rater.noise_factors_.to_dicts()}
    assert table["friendly"]["low"] > 1.1 > 0.95 > table["cup"]["factor"] and table["league"]["matches"] > 800
    for level in ("friendly", "cup"):
        found = math.log(table[level]["factor"] / table["league"]["factor"])
        errors = [math.log(table[one]["high"] / table[one]["factor"]) / 1.2816 for one in (level, "league")]
        assert abs(found - math.log(LUCK[level])) < 4 * math.hypot(*errors)
    later = matches[1800:]
    losses = [
        log_loss(copy.deepcopy(one).one_step_ahead(later).probabilities, later.result).mean() for one in (rater, plain)
    ]
    assert losses[0] < losses[1] - 0.005


def test_where_luck_does_not_differ_factors_are_near_one():
    """Both columns of a league whose noise is the same everywhere: 80 % intervals hold 1 four times in five or so."""
    matches = season(seed=9, n=1500, luck=dict.fromkeys(LUCK, 1.0))
    rater = kn.KalmanElo(noise_by=["kind", "day"], covariance="diagonal", walk=0.02, regression=0.0).fit(matches)
    table = rater.noise_factors_
    assert table.height == 5 and table["factor"].is_between(0.8, 1.25).all()
    assert sum((row["low"] < 1 < row["high"]) for row in table.to_dicts()) >= 3


def test_a_factor_divides_differences_and_the_information_of_a_match(fitted):
    """Against a rater without circumstances: a match of level f counts like one of weight 1/f², and shows gap / f."""
    matches, rater, _ = fitted
    one = copy.deepcopy(rater)
    factor = {row["level"]: row["factor"] for row in one.noise_factors_.to_dicts()}
    twin = copy.deepcopy(rater)
    twin.noise_by = ()
    f = np.array([factor[level] for level in np.array(matches.conditions["kind"].names())])[1800:1900]
    later = matches[1800:1900]
    mean, variance, _ = twin._expect(later)
    np.testing.assert_allclose(one.predict(later).probabilities, twin._chances(mean / f, variance / f**2), atol=1e-12)
    for k in range(len(later)):
        one._use(later[k : k + 1])
        seen = later[k : k + 1]
        twin._run(replace(seen, weight=seen.weight / f[k] ** 2), twin._signal(seen))
    names = [f"s{k}" for k in range(14)]
    strengths = [dict(r.ratings_.select("name", "rating").rows()) for r in (one, twin)]
    assert [strengths[0][name] for name in names] == pytest.approx([strengths[1][name] for name in names], abs=1e-9)


def test_raters_of_players_and_books_know_circumstances_too():
    from kinelo.raters.adapter import conditions_of

    matches = season(n=900, lineups=True)
    rater = kn.PlayerElo(noise_by=["kind"], conditions=["kind"], covariance="diagonal").fit(matches)
    factor = dict(rater.noise_factors_.select("level", "factor").rows())
    assert factor["friendly"] > 1.1 * factor["league"]
    assert conditions_of(rater) == ("kind",)


def test_factors_are_kept_and_every_door_reads_them(fitted):
    matches, rater, _ = fitted
    again = kn.KalmanElo(noise_by=["kind"], covariance="diagonal", walk=0.02, regression=0.0)
    again.from_arrays(rater.to_arrays())
    assert again.noise_factors_.equals(rater.noise_factors_)
    match = matches[1800:1801]
    said = rater.predict(match).probabilities
    level = str(match.conditions["kind"].names()[0])
    sides = match.teams[match.home[0]], match.teams[match.away[0]]
    one = again.predict_one(*sides, date=str(match.date[0]), neutral=True, conditions={"kind": level})
    np.testing.assert_allclose(one.probabilities, said, atol=1e-14)
    ahead = copy.deepcopy(rater).one_step_ahead(match).probabilities
    np.testing.assert_allclose(ahead, said, atol=1e-14)
    unread = kn.read_matches({"home": ["s1"], "away": ["s2"], "result": [1.0], "date": ["2024-01-01"]})
    with pytest.raises(InputError, match="noise_by was not read"):
        rater.predict(unread)
    with pytest.raises(InputError, match="must be a list of columns"):
        kn.KalmanElo(noise_by="kind").fit(matches)
