"""One scale: a rating point is a point of expected score between equals, for every rater, with draws or without."""

import math
from functools import cache

import numpy as np
import pytest

import kinelo as kn

RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=12),
    "team": kn.TeamElo,
    "glicko": lambda: kn.Glicko(together=False),
    "glicko2": kn.Glicko2,
    "bradley-terry": kn.BradleyTerry,
    "kalman": kn.KalmanElo,
}
"""Every rater of sides that is held to the scale."""


@cache
def league(draws: float, seed: int = 1, games: int = 8000):
    """Forty players on [−300, 300]: expected scores are Elo's, and equals draw with probability ``draws``."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-300, 300, 40)
    home = rng.integers(0, 40, games)
    away = (home + rng.integers(1, 40, games)) % 40
    expected = 1 / (1 + 10 ** (-(strength[home] - strength[away]) / 400))
    draw = draws * 4 * expected * (1 - expected)
    u = rng.random(games)
    result = np.where(u < expected - draw / 2, 1.0, np.where(u < expected + draw / 2, 0.5, 0.0))
    day = np.datetime64("2020-01-01") + np.arange(games) // 10
    names = np.array([f"P{k}" for k in range(40)])
    table = {"date": day, "home": names[home], "away": names[away], "result": result, "neutral": np.ones(games, bool)}
    return kn.read_matches(table, ordered=True), dict(zip(names, strength))


@cache
def fitted(kind: str, draws: float):
    """A rater that nobody may change."""
    return RATERS[kind]().fit(league(draws)[0])


@pytest.mark.parametrize(
    ("kind", "draws"),
    [pytest.param(kind, draws, marks=pytest.mark.long if kind == "kalman" and not draws else ())
     for kind in RATERS for draws in (0.5, 0.0)],
)  # fmt: skip
def test_ratings_lie_as_far_apart_as_strengths(kind, draws):
    """Slope of ratings on true strengths; Davidson's law at ν itself would give 2 at every second match drawn.

    The slope of the batch estimate has a standard error of 1.2 % (400 matches each); updating raters shrink by less
    than a tenth and their noise adds 2 %.
    """
    _, strength = league(draws)
    table = fitted(kind, draws).ratings_
    truth = np.array([strength[name] for name in table["name"]])
    slope = np.polyfit(truth, table["rating"].to_numpy(), 1)[0]
    # A normal curve of results in place of the logistic one takes another 6 % at gaps of up to 600 points.
    assert (0.83 if kind == "kalman" else 0.88) < slope < 1.06, slope


@pytest.mark.parametrize("kind", RATERS)
def test_a_forecast_is_what_the_points_say(kind):
    """Where two settled sides of a league with draws differ by d points, the expected score is near Elo's at d."""
    rater = fitted(kind, 0.5)
    rating = dict(rater.ratings_.select("name", "rating").iter_rows())
    pairs = [("P5", "P20"), ("P12", "P30"), ("P22", "P24")]
    home, away = zip(*pairs)
    table = {"date": ["2022-03-10"] * 3, "home": home, "away": away, "neutral": [True] * 3}
    said = rater.predict(kn.read_matches(table, played=False))
    for (one, other), points, draw in zip(pairs, said.points, said.probabilities[:, 1]):
        expected = 1 / (1 + 10 ** ((rating[other] - rating[one]) / 400))
        assert points == pytest.approx(expected, abs=0.03)
        assert draw == pytest.approx(2 * expected * (1 - expected), abs=0.04)


@pytest.mark.parametrize("scale", [10.0])
def test_the_scale_is_a_unit(scale):
    """The same forecasts and estimates in any unit, for every kind of team rater; ratings in proportion."""
    results = kn.sample_league(teams=10, seasons=2, seed=2).results
    matches = kn.read_matches(results)
    for make in (kn.TeamElo, lambda scale, initial: kn.TeamElo.classic(20 * scale / 400, None, None, scale=scale)):
        usual, other = (make(scale=s, initial=1500.0).fit(matches) for s in (400.0, scale))
        for rater in (usual, other):
            rater._reset(dict(rater.parameters_))
        said = [r.one_step_ahead(matches).probabilities for r in (usual, other)]
        np.testing.assert_allclose(*said, atol=2e-4)
        one, two = (r.ratings_.sort("name")["rating"].to_numpy() - 1500 for r in (usual, other))
        np.testing.assert_allclose(two * 400 / scale, one, atol=0.2)
        assert usual.estimates_.log_likelihood == pytest.approx(other.estimates_.log_likelihood, abs=0.01)


def test_a_drifting_share_of_draws_keeps_the_points():
    """With κ following the draws the expected score between equals keeps the slope ln 10 / 1600 per point."""
    matches, _ = league(0.5, games=1500)
    rater = kn.TeamElo(10.0, 0.0, 1.0, 0.0, 0.3, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, ties_walk=0.3).fit(matches)
    near = {"A": 1500.5, "B": 1499.5}
    fresh = kn.TeamElo(**{**rater.get_params(), "start": near, "ties": float(rater._common[1])})
    assert rater._common[1] > 1.0  # from .3
    said = fresh.predict(kn.read_matches({"home": ["A"], "away": ["B"], "neutral": [True]}, played=False))
    assert said.points[0] - 0.5 == pytest.approx(math.log(10) / 1600, rel=1e-5)


def test_no_rater_keeps_what_is_no_number(tmp_path):
    """Steps that overflow are refused, nothing is ranked, and a book holds nothing of it."""
    table = {"home": ["A", "B"] * 200, "away": ["B", "A"] * 200, "result": [1.0, 0.0, 0.5, 1.0] * 100}
    matches = kn.read_matches(table | {"match_id": np.arange(400)})
    huge = kn.TeamElo(1e49, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, prior_spread=1e40)
    with pytest.raises(kn.InputError, match="leaves the range of numbers"):
        huge.update(matches)
    assert huge.ratings_.height == 0
    with pytest.raises(kn.InputError, match="leaves the range of numbers"):
        [huge.update_one("A", "B", 0.5) for _ in range(400)]
    book = kn.RatingBook(tmp_path / "book", huge)
    with pytest.raises(kn.InputError, match="leaves the range of numbers"):
        book.add(matches)
    assert len(kn.RatingBook(tmp_path / "book")) == 0
    with pytest.raises(kn.InputError, match="hides every difference"):
        kn.TeamElo(spread=1e7).update(matches)
    with pytest.raises(kn.InputError, match="1 of 2 forecasts are no numbers"):
        kn.forecasts.Forecast(np.array([[0.5, 0.0, 0.5], [np.nan, 0.0, 1.0]]))
