"""Ratings before each match: those of the table, had it been read just then."""

import copy

import numpy as np
import pytest

import kinelo as kn


def season(days: int, seed: int, matches_a_day: int = 3) -> dict[str, list]:
    """Six sides, some of which play several times a day; without times their order is not known."""
    g = np.random.default_rng(seed)
    rows = {"date": [], "time": [], "home": [], "away": [], "result": []}
    day = np.datetime64("2020-01-01")
    for _ in range(days):
        day += int(g.integers(1, 90))
        for n in range(matches_a_day):
            home, away = g.choice(6, 2, replace=False)
            for name, value in zip(
                rows, (str(day), f"{n + 10}:00", f"side {home}", f"side {away}", g.choice([0, 0.5, 1]))
            ):
                rows[name].append(value)
    return rows


RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=40, home_advantage=30, ties=0.5),
    "FIDE": lambda: kn.TeamElo.classic(k=kn.model.FideSteps(), start={"side 1": 1700}),
    "TeamElo": lambda: kn.TeamElo(step=20, regression=0.5, ties=0.5, season_gap=20.0),
    "Glicko": lambda: kn.Glicko(),
    "Glicko2": lambda: kn.Glicko2(together=True),
    "BradleyTerry": lambda: kn.BradleyTerry(ties=0.5, refit_days=0, ridge=0.3),
    "KalmanElo": lambda: kn.KalmanElo(regression=0.0, covariance="full"),
    "without covariance": lambda: kn.KalmanElo(regression=0.0, covariance="diagonal"),
    "that return": lambda: kn.KalmanElo(regression=0.7, covariance="full"),
    "begun with a list": lambda: kn.KalmanElo(regression=0.0, start={"side 1": 1700, "side 2": 1200}),
}


@pytest.mark.parametrize("kind", RATERS)
def test_ratings_before_a_match_are_those_of_the_rater_before_it(kind):
    matches = kn.read_matches(season(25, seed=3))
    assert matches.unordered is None
    # It forecasts a day at a time, each estimate from the last one, with its ridge; an update estimates from nothing.
    begin, size, near = (3, 3, 1e-6) if kind == "BradleyTerry" else (1, 1, 1e-9)
    rater = RATERS[kind]().update(matches[:begin])
    by_hand = copy.deepcopy(rater)
    before = rater.one_step_ahead(matches[begin:]).ratings_before
    for k in range(begin, len(matches), size):
        part = matches[k : k + size]
        assert np.allclose(before[k - begin :][:size], by_hand.predict(part).ratings_before, rtol=0, atol=near)
        by_hand.update(part)
    assert np.ptp(before) > 1


@pytest.mark.parametrize("kind", RATERS)
def test_a_forecast_from_the_last_ratings_holds_those_of_the_table(kind):
    matches = kn.read_matches(season(12, seed=4))
    rater = RATERS[kind]().fit(matches)
    table = dict(zip(*(rater.ratings_[name] for name in ("name", "rating"))))
    last = str(matches.date[-1])
    for home, away in (("side 0", "side 1"), ("side 4", "side 2")):
        match = kn.read_matches({"date": [last], "home": [home], "away": [away]}, played=False)
        found = rater.predict(match).ratings_before[0]
        if kind not in ("Glicko2", "that return"):  # tables settle the running period, and show everyone as he played
            assert found == pytest.approx([table[home], table[away]], abs=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in RATERS if kind != "BradleyTerry"])
def test_matches_without_an_order_are_forecast_from_the_start_of_their_day(kind):
    rows = season(25, seed=5, matches_a_day=2)
    del rows["time"]
    matches = kn.read_matches(rows)
    assert matches.unordered is not None and matches.unordered.any() and not matches.unordered.all()
    first = int(np.sum(matches.date == matches.date[0]))
    rater = RATERS[kind]().update(matches[:first])
    by_hand = copy.deepcopy(rater)
    matches = matches[first:]
    said = rater.one_step_ahead(matches)
    for day in np.unique(matches.date):
        today = np.flatnonzero(matches.date == day)
        part = matches[today[0] : today[-1] + 1]
        expected = by_hand.predict(part)
        by_hand.update(part)
        if matches.unordered[today[0]]:
            assert np.allclose(said.ratings_before[today], expected.ratings_before, rtol=0, atol=1e-9)
            assert np.allclose(said.probabilities[today], expected.probabilities, rtol=0, atol=1e-12)
    assert np.allclose(rater.ratings_["rating"], by_hand.ratings_["rating"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("covariance", ["diagonal", pytest.param("full", marks=pytest.mark.long)])
def test_ratings_before_count_from_those_who_are_active(covariance):
    """Sides stop playing, and others begin: whoever has not played for two years is no longer counted."""
    g = np.random.default_rng(8)
    rows = {"date": [], "home": [], "away": [], "result": [], "weight": []}
    for n in range(160):
        first = n // 20
        home, away = first + g.choice(5, 2, replace=False)
        day = np.datetime64("2010-01-01") + 25 * n
        said = str(day), f"side {home}", f"side {away}", g.choice([0, 0.5, 1]), float(g.random() < 0.9)
        for name, value in zip(rows, said):
            rows[name].append(value)
    matches = kn.read_matches(rows)
    before = kn.KalmanElo(regression=0.0, covariance=covariance).one_step_ahead(matches).ratings_before
    rater, left = kn.KalmanElo(regression=0.0, covariance=covariance), 0
    for k in range(len(matches)):
        table = dict(zip(*(rater.ratings_[name] for name in ("name", "rating"))))
        for side, code in enumerate((matches.home[k], matches.away[k])):
            name = matches.teams[code]
            if name in table:
                assert before[k, side] == pytest.approx(table[name], abs=1e-9)
        rater.update(matches[k : k + 1])
        left += sum(day < matches.date[k] - 730 for day in rater.ratings_["last_played"].to_numpy())
    assert left > 100
    assert rater.predict_one("side 7", "side 8").ratings_before is None


def test_ratings_of_a_forecast_belong_to_its_matches():
    with pytest.raises(kn.InputError, match="two ratings for each of 1"):
        kn.forecasts.Forecast(np.array([[0.5, 0.2, 0.3]]), ratings_before=np.zeros((2, 2)))


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("known", ["starters", "minutes", "none"])
def test_ratings_before_a_match_of_players_are_those_of_its_line_ups(covariance, known):
    rows = season(25, seed=3)
    g = np.random.default_rng(6)
    for side in ("home", "away"):
        rows[f"{side}_lineup"] = [[f"{name} {k}" for k in g.choice(6, 3, replace=False)] for name in rows[side]]
    matches = kn.read_matches(rows)
    rater = kn.PlayerElo(covariance=covariance, known=known, regression=0.3).update(matches[:1])
    by_hand = copy.deepcopy(rater)
    before = rater.one_step_ahead(matches[1:]).ratings_before
    for k in range(1, len(matches)):
        one, venue = matches[k : k + 1], by_hand._state.beliefs.x[1]
        said = by_hand.predict(one).ratings_before[0]
        assert np.allclose(before[k - 1], said, rtol=0, atol=1e-9)
        gap = by_hand._points_per_unit * (by_hand._expect(one)[0][0] - venue)
        assert said[0] - said[1] == pytest.approx(gap, abs=1e-9)
        by_hand.update(one)
    assert np.ptp(before) > 1


def test_a_side_of_one_player_without_a_squad_is_rated_as_he_is():
    table = {"date": ["2024-01-01"] * 3, "time": ["10:00", "11:00", "12:00"], "home": list("ABC"), "away": list("BCA")}
    table |= {"result": [1, 0, 1], "home_lineup": [["a"], ["b"], ["c"]], "away_lineup": [["b"], ["c"], ["a"]]}
    rater = kn.PlayerElo(squad_spread=0.0, squad_walk=0.0, known="minutes").update(kn.read_matches(table))
    shown = dict(rater.ratings_.select("name", "rating").iter_rows())
    found = rater.predict_one("A", "B", date="2024-01-01", home_lineup=["a"], away_lineup=["b"]).ratings_before[0]
    assert found == pytest.approx([shown["a"], shown["b"]], abs=1e-9)
