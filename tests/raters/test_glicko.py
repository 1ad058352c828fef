"""Glicko and Glicko-2: published values, a slow twin, and forecasts that sum to one."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.glicko.rater import Q


def given_standing(rater, **standing):
    """A rater in which everyone starts from a stated rating and deviation."""
    rater._reset()
    for name, (rating, deviation) in standing.items():
        place = rater._state.place(name)
        rater._state.known.rating[place] = Q * (rating - 1500)
        rater._state.known.variance[place] = (Q * deviation) ** 2
    return rater


THREE_GAMES = {"home": ["me"] * 3, "away": ["a", "b", "c"], "result": [1, 0, 0]}
STANDING = {"me": (1500, 200), "a": (1400, 30), "b": (1550, 100), "c": (1700, 300)}


def test_glickmans_example_of_glicko():
    rater = given_standing(kn.Glicko(350.0, 35.0, 0.0, 0.0, together=True), **STANDING)
    me = rater.update(kn.read_matches(THREE_GAMES)).ratings_.filter(name="me")
    assert me["rating"].item() == pytest.approx(1464.1065, abs=5e-5)
    assert me["uncertainty"].item() == pytest.approx(151.3989, abs=5e-5)


def test_glickmans_example_of_glicko_2():
    rater = given_standing(kn.Glicko2(350.0, 0.06, 0.0, 0.0, tau=0.5, together=True), **STANDING)
    me = rater.update(kn.read_matches(THREE_GAMES)).ratings_.filter(name="me")
    assert me["rating"].item() == pytest.approx(1464.05067, abs=5e-6)
    assert me["uncertainty"].item() == pytest.approx(151.51652, abs=5e-6)
    assert me["volatility"].item() == pytest.approx(0.0599960, abs=5e-7)


def season(seed=1, n=120, teams=6) -> kn.matches.Matches:
    rng = np.random.default_rng(seed)
    home = rng.integers(0, teams, n)
    away = (home + rng.integers(1, teams, n)) % teams
    table = {
        "date": np.datetime64("2020-01-01") + np.sort(rng.integers(0, 400, n)),
        "home": [f"t{k}" for k in home],
        "away": [f"t{k}" for k in away],
        "result": rng.choice([0, 0.5, 1], n),
        "id": np.arange(n),
    }
    return kn.read_matches(table)


def slow_glicko(matches: kn.matches.Matches, c: float, period: float, home_advantage: float):
    """Glicko-1 match by match, in rating points, as THEORY states it."""
    r, rd, last = {}, {}, {}
    for k in range(len(matches)):
        sides = [matches.teams[matches.home[k]], matches.teams[matches.away[k]]]
        for t in sides:
            r.setdefault(t, 1500.0), rd.setdefault(t, 350.0)
            rest = (int(matches.day[k]) - last.get(t, int(matches.day[k]))) / period
            rd[t] = min(math.sqrt(rd[t] ** 2 + c**2 * rest), 350.0)
            last[t] = int(matches.day[k])
        new = {}
        for me, other, sign in ((*sides, 1), (*sides[::-1], -1)):
            g = 1 / math.sqrt(1 + 3 * Q**2 * rd[other] ** 2 / math.pi**2)
            gap = r[me] - r[other] + sign * home_advantage
            E = 1 / (1 + 10 ** (-g * gap / 400))
            d2 = 1 / (Q**2 * g**2 * E * (1 - E))
            precision = 1 / rd[me] ** 2 + 1 / d2
            s = (1 + sign * matches.signed[k]) / 2
            new[me] = r[me] + Q / precision * g * (s - E), math.sqrt(1 / precision)
        for t, (rating, deviation) in new.items():
            r[t], rd[t] = rating, deviation
    return r, rd


def test_agrees_with_the_slow_twin():
    matches = season()
    rater = kn.Glicko(350.0, 35.0, 40.0, 0.5).update(matches)
    r, _ = slow_glicko(matches, 35.0, 30.0, 40.0)
    for name, rating in rater.ratings_.select("name", "rating").rows():
        assert rating == pytest.approx(r[name], rel=1e-11)


@pytest.mark.parametrize("kind", [kn.Glicko, kn.Glicko2])
@pytest.mark.parametrize("together", [False, True])
def test_piecewise_equals_batch_to_the_last_bit(kind, together):
    matches = season()
    batch = kind(300.0, None, 20.0, 0.5, together=together).update(matches).ratings_
    rater = kind(300.0, None, 20.0, 0.5, together=together)
    for k in range(0, len(matches), 3):
        rater.update(matches[k : k + 3])
        assert rater.ratings_.height > 0
    assert rater.ratings_.equals(batch)


@pytest.mark.parametrize("kind", [kn.Glicko, kn.Glicko2])
def test_uncertainty_shrinks_by_playing_and_grows_by_resting(kind):
    table = {"date": ["2020-01-01"] * 9 + ["2024-01-01"], "home": ["A"] * 9 + ["C"], "away": ["B"] * 9 + ["D"]}
    matches = kn.read_matches(table | {"result": [1, 0] * 5, "id": range(10)})
    rater = kind(home_advantage=0.0, ties=0.0).update(matches[:9])
    played = rater.ratings_.filter(name="A")["uncertainty"].item()
    rater.update(matches[9:])
    rested = rater.ratings_.filter(name="A")["uncertainty"].item()
    assert played < 200
    assert played < rested <= 350


@pytest.mark.parametrize("kind", [kn.Glicko, kn.Glicko2])
def test_forecasts_sum_to_one_and_follow_ratings(kind):
    rater = kind(ties=0.6, home_advantage=0.0).update(season())
    order = rater.ratings_["name"].to_list()
    fixture = {"home": [order[0], order[-1], "nobody"], "away": [order[-1], order[0], order[0]]}
    forecast = rater.predict(kn.read_matches(fixture, played=False))
    assert forecast.probabilities.sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-14)
    assert forecast.probabilities[0] == pytest.approx(forecast.probabilities[1][::-1])
    assert forecast.points[0] > 0.5 > forecast.points[1]
    assert forecast.unknown == ("nobody",)


def test_fit_finds_the_home_advantage():
    """2,000 results by E = 1/(1 + 10^(−d/400)) with 60 points for the host, of which three quarters are scored.

    A result between sides near one another tells 1/4 · (ln 10/400)² of it, so that its standard error is about
    2 · 400/ln 10/√1500 = 9 points; the estimate lies within four of them (a false alarm has probability 6e-5).
    """
    rng = np.random.default_rng(5)
    strength = rng.normal(0.0, 60.0, 12)
    home = rng.integers(0, 12, 2000)
    away = (home + rng.integers(1, 12, 2000)) % 12
    won = rng.random(2000) < 1.0 / (1.0 + 10.0 ** (-(strength[home] - strength[away] + 60.0) / 400.0))
    table = {"date": np.datetime64("2000-01-01") + np.arange(2000) // 2, "result": won.astype(float)}
    table |= {"home": [f"side {k}" for k in home], "away": [f"side {k}" for k in away]}
    matches = kn.read_matches(table, ordered=True)
    error = 2.0 * 400.0 / math.log(10.0) / math.sqrt(1500.0)
    for rater in (kn.Glicko(home_step=0.0), kn.Glicko2(home_step=0.0)):  # an advantage that stays
        rater.fit(matches)
        assert abs(rater.parameters_["home_advantage"] - 60.0) < 4.0 * error
        rater._reset(rater.parameters_)
        assert np.all(np.isfinite(rater.one_step_ahead(matches).probabilities))
