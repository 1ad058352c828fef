"""Plain Elo on contests: the update of its definition, two entrants are a match, and nothing is won or lost in sum."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError


def by_definition(contests, k):
    rating = dict.fromkeys(contests.entrants, 1500.0)
    for c in range(len(contests)):
        part = slice(int(contests.first[c]), int(contests.first[c + 1]))
        names = [contests.entrants[code] for code in contests.entrant[part]]
        place, old = contests.place[part], [rating[name] for name in names]
        for a, name in enumerate(names):
            gained = 0.0
            for b in range(len(names)):
                if b != a:
                    scored = 0.5 + 0.5 * np.sign(place[b] - place[a])
                    gained += scored - 1 / (1 + 10 ** (-(old[a] - old[b]) / 400))
            rating[name] += k / (len(names) - 1) * gained
    return rating


def test_ratings_are_those_of_the_definition_and_sum_to_what_they_were():
    contests = kn.read_contests(kn.matches.sample_contests(contests=40, size=(2, 9), levels=4, seed=3))
    told = dict(kn.TeamElo.classic(k=24).fit(contests).ratings_.select("name", "rating").rows())
    expected = by_definition(contests, 24.0)
    assert told == pytest.approx({name: expected[name] for name in told})
    assert np.mean(list(told.values())) == pytest.approx(1500.0)


def test_contests_of_two_are_matches():
    rng = np.random.default_rng(1)
    names = np.array(list("ABCDEF"))
    pairs = np.array([rng.permutation(6)[:2] for _ in range(80)])
    table = {"home": names[pairs[:, 0]], "away": names[pairs[:, 1]], "result": rng.integers(0, 3, 80) / 2}
    matches = kn.read_matches(table | {"neutral": [True] * 80})
    one = dict(kn.TeamElo.classic(k=20).fit(matches).ratings_.select("name", "rating").rows())
    other = kn.TeamElo.classic(k=20).fit(kn.Contests.from_matches(matches)).ratings_
    assert dict(other.select("name", "rating").rows()) == pytest.approx(one)


def test_forecasts_are_those_of_plackett_and_luce():
    contests = kn.read_contests(kn.matches.sample_contests(contests=10, size=5, entrants=8, seed=2))
    forecast = kn.TeamElo.classic(k=40).fit(contests[:8]).predict(contests[9])
    odds = 10 ** (forecast.mean / 400)
    assert forecast.win == pytest.approx(odds / odds.sum(), abs=1e-6)
    assert forecast.places(0).sum(axis=0) == pytest.approx(np.ones(5), abs=1e-5)
    one, other = (contests.entrants[code] for code in forecast.contests.entrant[:2])
    assert forecast.chance_before(0, one, other) == pytest.approx(odds[0] / (odds[0] + odds[1]))


def test_rules_of_k_are_refused_for_contests():
    contests = kn.read_contests(kn.matches.sample_contests(contests=3, size=5, seed=2))
    with pytest.raises(InputError, match="one K for all"):
        kn.TeamElo.classic(k=kn.FideSteps()).fit(contests)
