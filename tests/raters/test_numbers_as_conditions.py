"""Numbers among conditions are recognised and said, categories are not; and which handicap is fair."""

import warnings

import numpy as np
import pytest

import kinelo as kn


def games(levels, seed=1, n=240):
    rng = np.random.default_rng(seed)
    sides = [rng.choice(4, 2, replace=False) for _ in range(n)]
    strength = np.array([1.2, 0.3, -0.2, -1.3])
    column = rng.choice(len(levels), n)
    shift = np.array([float(level) if str(level).lstrip("-").replace(".", "").isdigit() else 0.0 for level in levels])
    shift = np.where(np.abs(shift) > 100, 0.0, shift)
    gap = np.array([strength[a] - strength[b] for a, b in sides]) + 0.4 * shift[column]
    return {
        "home": [f"S{a}" for a, _ in sides], "away": [f"S{b}" for _, b in sides],
        "result": (rng.random(n) < 1 / (1 + np.exp(-gap))).astype(float), "neutral": [True] * n,
        "extra": [levels[k] for k in column],
    }  # fmt: skip


NUMBERS = [-2, -1, 0, 1, 2, 3, 4.5]


def said(levels, kind=kn.TeamElo):
    given = {p.name: p.default for p in kind._declared_parameters}
    rater = kind(**given, conditions=["extra"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rater.fit(kn.read_matches(games(levels), conditions=["extra"]))
    return [str(one.message) for one in caught if "holds numbers" in str(one.message)]


@pytest.mark.parametrize("kind", [kn.TeamElo, kn.KalmanElo])
def test_numbers_are_recognised(kind):
    (message,) = said(NUMBERS, kind)
    assert "'extra' holds numbers (7 of them, -2 to 4.5)" in message and "covariates=['extra']" in message


@pytest.mark.parametrize(
    "levels", [["clay", "grass", "hard"], [1, 2, 3], list(range(2015, 2024)), ["1a", "2", "3", "4", "5", "6", "7"]]
)
def test_categories_are_left_alone(levels):
    assert said(levels) == []


def test_the_fair_value_is_where_points_are_even():
    rater = kn.BradleyTerry(covariates=["extra"]).fit(kn.read_matches(games(NUMBERS), conditions=["extra"]))
    values = {}
    for home, away in (("S0", "S3"), ("S3", "S0"), ("S1", "S2")):
        fair = values[home, away] = kn.fair_value(rater, home, away, "extra", neutral=True)
        said = rater.predict_one(home, away, neutral=True, conditions={"extra": fair})
        assert said.points[0] == pytest.approx(0.5, abs=1e-9)
        more = rater.predict_one(home, away, neutral=True, conditions={"extra": fair + 1})
        assert more.points[0] > 0.5 == (rater.effects_["effect"][0] > 0) * 0.5
    assert values["S0", "S3"] == pytest.approx(-values["S3", "S0"]) and values["S0", "S3"] < values["S1", "S2"] < 0
    # The truth: 2.5 apart in log-odds, .4 a unit; within three standard errors of a fit on 240 games.
    assert values["S0", "S3"] == pytest.approx(-2.5 / 0.4, abs=2.5)
    for wrong, words in (({"covariate": "stones"}, "no covariate of"), ({"given": {"rest": 1.0}}, "nothing else that")):
        with pytest.raises(kn.InputError, match=words):
            kn.fair_value(rater, "S0", "S1", **{"covariate": "extra"} | wrong)
