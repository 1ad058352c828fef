"""What a forecast takes from the venue and from the order of sides, for raters with a home advantage."""

import numpy as np
import pytest

import kinelo as kn

RATERS = {
    "team": lambda: kn.TeamElo(home_advantage=80.0),
    "classic": lambda: kn.TeamElo.classic(k=20, home_advantage=80.0),
    "glicko": lambda: kn.Glicko(home_advantage=80.0),
    "glicko2": lambda: kn.Glicko2(home_advantage=80.0),
    "bradley-terry": lambda: kn.BradleyTerry(home_advantage=80.0),
}


def league():
    """Four sides of clearly different strength; at home they win more, and a third of the matches is neutral."""
    rng = np.random.default_rng(4)
    strength = np.array([150.0, 50.0, -50.0, -150.0])
    home = rng.integers(0, 4, 400)
    away = (home + rng.integers(1, 4, 400)) % 4
    neutral = rng.random(400) < 1 / 3
    expected = 1 / (1 + 10 ** (-(strength[home] - strength[away] + 80 * ~neutral) / 400))
    names = np.array(["A", "B", "C", "D"])
    day = np.datetime64("2020-01-01") + np.arange(400)
    result = (rng.random(400) < expected).astype(float)
    return kn.read_matches(
        {"date": day, "home": names[home], "away": names[away], "neutral": neutral, "result": result}
    )


@pytest.fixture(scope="module", params=RATERS)
def rater(request):
    return RATERS[request.param]().fit(league())


def test_ratings_are_listed_the_best_first(rater):
    table = rater.ratings_
    assert table["rating"].to_list() == sorted(table["rating"], reverse=True)
    assert (table["name"][0], table["name"][-1]) == ("A", "D")


def test_the_stronger_side_the_home_side_and_nobody_on_neutral_ground(rater):
    """B - C at home, away and on neutral ground, and the same match named the other way round."""
    table = {"date": ["2021-03-01"] * 4, "home": ["B", "C", "B", "C"], "away": ["C", "B", "C", "B"]}
    said = rater.predict(kn.read_matches(table | {"neutral": [False, False, True, True]}, played=False)).points
    at_home, abroad, neutral = said[0], 1 - said[1], said[2]
    assert neutral == pytest.approx(1 - said[3], abs=1e-6)
    assert abroad + 0.05 < neutral < at_home - 0.05
    assert neutral > 0.5
    # 80 points of advantage between sides that are near one another: about 11 % of the score, either way.
    assert (at_home - abroad) / 2 == pytest.approx(0.11, abs=0.04)
