"""Matches of two sides are contests of two: forecasts no worse than TeamElo's, home advantage, draws; advantages."""

import copy

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.raters.rank.reading import chances_of_points, likeliest_ties

GIVEN = {"walk": 0.3, "prior_spread": 0.9, "newcomer": -0.2, "regression": 0.1, "off": 0.0}


def league(seed, teams=16, seasons=6):
    return kn.read_matches(kn.sample_league(teams=teams, seasons=seasons, seed=seed).results)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_forecasts_of_matches_are_no_worse_than_those_of_team_elo(seed):
    matches = league(seed)
    raters = {"rank": kn.RankElo(), "team": kn.TeamElo(margin_weight=0.0)}
    test = kn.backtest(matches, raters, train_until=matches.date[len(matches) // 2])
    row = test.differences("team", resamples=300).row(0, named=True)
    assert row["difference"] < row["standard_error"]
    assert test.scores["log_loss"].max() < 1.09


def test_chances_have_the_points_and_the_draws_of_davidsons_law():
    points = np.array([0.02, 0.3, 0.5, 0.77, 0.99])
    chances = chances_of_points(points, 0.8)
    assert chances.sum(axis=1) == pytest.approx(np.ones(5))
    assert chances[:, 0] + chances[:, 1] / 2 == pytest.approx(points)
    assert chances[:, 1] / np.sqrt(chances[:, 0] * chances[:, 2]) == pytest.approx(np.full(5, 0.8))
    assert chances_of_points(points, 0.0)[:, 0] == pytest.approx(points)


def test_draws_say_how_many_there_are():
    rng = np.random.default_rng(3)
    points = rng.uniform(0.2, 0.8, 20_000)
    chances = chances_of_points(points, 0.7)
    result = 1 - 0.5 * (rng.random(points.size)[:, None] > np.cumsum(chances[:, :2], axis=1)).sum(axis=1)
    assert likeliest_ties(points, result) == pytest.approx(0.7, abs=4 * 0.7 * np.sqrt(1.3 / 5_000))
    assert likeliest_ties(points, np.where(result > 0.4, 1.0, 0.0)) == 0.0


def test_being_at_home_is_worth_what_it_is():
    """Normal performances with 0.5 more at home: the advantage is found within its own uncertainty."""
    rng = np.random.default_rng(5)
    strength = rng.normal(size=20)
    pairs = np.array([rng.permutation(20)[:2] for _ in range(3000)])
    neutral = rng.random(3000) < 0.3
    gap = strength[pairs[:, 0]] - strength[pairs[:, 1]] + 0.5 * ~neutral
    won = gap + np.sqrt(2) * rng.normal(size=3000) > 0
    names = np.array([f"T{k}" for k in range(20)])
    table = {"home": names[pairs[:, 0]], "away": names[pairs[:, 1]], "result": won.astype(float), "neutral": neutral}
    rater = kn.RankElo(walk={"side": 0.01, "venue": 0.002}, regression=0.0, newcomer=0.0).fit(kn.read_matches(table))
    [(kind, name, points, error, number)] = rater.advantages_.rows()
    unit = 800 / np.log(10) / np.sqrt(np.pi)
    assert (kind, name, number) == ("venue", "home", int((~neutral).sum()))
    assert abs(points - 0.5 * unit) < 3 * error and error < 0.1 * unit
    assert rater.ratings_["kind"].unique().to_list() == ["side"]
    at_home = rater.predict_one([("T1", "home"), "T2"]).win[0]
    nobody = rater.predict_one(["T1", "T2"]).win[0]
    assert at_home > nobody + 0.05
    matches = kn.read_matches({"home": ["T1"], "away": ["T2"], "result": [None]}, played=False)
    assert rater.predict(matches).points[0] == pytest.approx(at_home, abs=1e-6)


def test_a_table_that_names_winners_first_gives_nobody_an_advantage():
    rng = np.random.default_rng(2)
    pairs = [rng.permutation(8)[:2] for _ in range(60)]
    table = {"home": [f"T{a}" for a, _ in pairs], "away": [f"T{b}" for _, b in pairs], "result": [1.0] * 60}
    with pytest.warns(kn.errors.KineloWarning, match="tell the result"):
        rater = kn.RankElo(**GIVEN).fit(kn.read_matches(table))
    assert rater.advantages_.height == 0


def test_matches_without_an_order_within_a_day_are_forecast_together():
    days = ["2024-05-01"] * 3 + ["2024-05-02"]
    table = {"date": days, "home": ["A", "A", "B", "A"], "away": ["B", "C", "C", "B"], "result": [1, 1, 0, 1]}
    matches = kn.read_matches(table)
    assert matches.unordered is not None and matches.unordered.any()
    said = kn.RankElo(**GIVEN, ties=0.0).one_step_ahead(matches)
    assert said.probabilities[0] == pytest.approx(said.probabilities[1])
    assert said.probabilities[3, 0] > said.probabilities[0, 0]


def lanes(contests=300, seed=4):
    """Runners in four lanes, of which the inner one is 0.8 better than the outer one."""
    rng = np.random.default_rng(seed)
    strength, worth = rng.normal(size=12), np.array([0.4, 0.1, -0.1, -0.4])
    rows = {"race": [], "runner": [], "lane": [], "place": []}
    for race in range(contests):
        runners, lane = rng.permutation(12)[:4], rng.permutation(4)
        order = np.argsort(-(strength[runners] + worth[lane] + rng.normal(size=4)))
        rows["race"] += [race] * 4
        rows["runner"] += [f"R{k}" for k in runners[order]]
        rows["lane"] += [f"L{k}" for k in lane[order]]
        rows["place"] += [1, 2, 3, 4]
    return rows, worth


def test_advantages_of_contests_are_learnt():
    rows, worth = lanes()
    races = kn.read_contests(rows, {"entrant": "runner"}, advantages=["lane"])
    assert races.kinds == ("runner", "lane") and races.advantages == ("lane",)
    rater = kn.RankElo().fit(races)
    table = rater.advantages_.sort("name")
    unit = 800 / np.log(10) / np.sqrt(np.pi)
    found = table["points"].to_numpy() / unit
    assert found - found.mean() == pytest.approx(worth, abs=3.5 * table["uncertainty"].max() / unit)
    assert rater.parameters_["prior_spread of lane"] < 1.5
    plain = kn.RankElo().fit(kn.read_contests(rows, {"entrant": "runner"}))
    assert rater.estimates_.log_likelihood > plain.estimates_.log_likelihood + 5
    inner, outer = rater.predict_one([("R1", "L0"), ("R2", "L3")]).win[0], rater.predict_one(["R1", "R2"]).win[0]
    assert inner > outer


def test_a_book_keeps_advantages(tmp_path):
    rows, _ = lanes(40)
    races = kn.read_contests(rows, {"entrant": "runner"}, advantages=["lane"])
    rater = kn.RankElo(walk=0.2, prior_spread=0.8, newcomer=0.0, regression=0.0, retirement=0.0, off=0.0)
    book = kn.RatingBook(tmp_path / "book", rater)
    book.add(races)
    again = kn.RatingBook(tmp_path / "book").rater
    assert again.advantages_.equals(rater.update(races).advantages_)


def test_advantages_that_make_no_sense_are_refused():
    rows, _ = lanes(3)
    with pytest.raises(InputError, match="one or the other"):
        kn.read_contests(rows, {"entrant": "runner"}, slots=["runner", "lane"], advantages=["lane"])
    with pytest.raises(InputError, match="advantages= names 'wind'"):
        kn.read_contests(rows, {"entrant": "runner"}, advantages=["wind"])
    races = kn.read_contests(rows, {"entrant": "runner"}, advantages=["lane"])
    with pytest.raises(InputError, match="same slots= and advantages="):
        kn.RankElo(**GIVEN).fit(races).predict(kn.read_contests(rows, {"entrant": "runner"}))


def test_an_empty_cell_is_no_advantage_and_the_rest_stays_as_it_was():
    rows, _ = lanes(30)
    empty = rows | {"lane": [None] * len(rows["lane"])}
    of = lambda **more: kn.RankElo(**GIVEN).update(kn.read_contests(empty, {"entrant": "runner"}, **more))  # noqa: E731
    with_them, without = of(advantages=["lane"]).ratings_, of().ratings_
    assert with_them.equals(without)


def test_a_match_is_said_to_a_rater_of_contests_as_to_every_other():
    matches = kn.read_matches(kn.sample_league(teams=7, seasons=2, seed=4).results)
    rater = kn.RankElo(walk=0.3, prior_spread=0.8, newcomer=0.0, regression=0.1, ties=0.6).update(matches[:60])
    home, away = (matches.teams[side[60]] for side in (matches.home, matches.away))
    table = rater.predict(matches[60:61]).probabilities
    day = str(matches.date[60])
    assert np.array_equal(rater.predict_one(home, away, date=day).probabilities, table)
    assert np.array_equal(rater.predict_one(home=home, away=away, date=day).probabilities, table)
    assert not np.array_equal(rater.predict_one(away, home, date=day).probabilities, table)
    assert not np.array_equal(rater.predict_one(home, away, date=day, neutral=True).probabilities, table)
    points = float(matches.result[60])
    one = copy.deepcopy(rater).update_one(home, away, points, date=day)
    assert one.ratings_.equals(copy.deepcopy(rater).update(matches[60:61]).ratings_)
    assert kn.preview(rater, home, away, date=day).outcomes == ("win", "draw", "loss")
    with pytest.raises(kn.InputError, match="comes before the last match rated"):
        rater.update_one(home, away, 1, date="1990-01-01")


def test_one_step_ahead_learns_the_order_of_sides_as_an_update_does():
    names = [f"T{k}" for k in range(6)]
    table = {
        "home": [names[k % 5] for k in range(40)],
        "away": [names[5] if k % 2 else names[(k + 1) % 5] for k in range(40)],
    }
    matches = kn.read_matches(table | {"result": [1] * 40})
    given = {"walk": 0.3, "prior_spread": 0.8, "newcomer": 0.0, "regression": 0.1, "ties": 0.0}
    given |= {"retirement": 0.0, "off": 0.0, "anchor": 0.0, "experience": 0.0}
    given |= {"contest_walk": 0.0, "newcomer_follows": 1.0}
    with pytest.warns(kn.KineloWarning, match="seems to tell the result"):
        updated = kn.RankElo(**given).update(matches)
    ahead = kn.RankElo(**given)
    with pytest.warns(kn.KineloWarning, match="seems to tell the result"):
        ahead.one_step_ahead(matches)
    assert not updated._order.home
    assert ahead.ratings_.equals(updated.ratings_)


def test_a_forecast_does_not_know_who_will_win():
    """Entries stand in the order of places; off days are those of the side, not of the place."""
    said = []
    for result in (1, 0, 0.5):
        rows = {"home": list("ABA"), "away": list("BAC"), "result": [1, 0.5, result]}
        rater = kn.RankElo(off=0.2, depth=2.0, prior_spread=2.0, walk=0.1, newcomer=0.0, regression=0.0)
        said.append(rater.one_step_ahead(kn.read_matches(rows)).probabilities[2])
    for other in said[1:]:
        assert other == pytest.approx(said[0], abs=1e-12)
    assert abs(said[0][0] - said[0][2]) > 0.01
