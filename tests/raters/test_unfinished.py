"""Who may not finish: the chance of it, and places of who does beside those who do not."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.places import ContestForecast
from kinelo.raters.rank.reading import follow_unfinished
from kinelo.raters.rank.state import ALL_FINISH

GIVEN = {
    "walk": 0.3, "prior_spread": 0.9, "newcomer": -0.2, "regression": 0.1, "off": 0.0, "anchor": 0.0,
    "experience": 0.0, "contest_walk": 0.0, "newcomer_follows": 1.0, "retirement": 0.2,
}  # fmt: skip
FAILING = np.array([0.35, 0.1, 0.0, 0.6])


def series(contests, failing, seed=3, names="D", first="2024-01-01"):
    """Races of eight of whom the stronger do not finish more or less often, by a logit (a, b) in strength."""
    rng, rows = np.random.default_rng(seed), {"date": [], "race": [], "driver": [], "place": []}
    for race in range(contests):
        strength = np.linspace(-1.5, 1.5, 8)
        failed = rng.random(8) < 1.0 / (1.0 + np.exp(-failing[0] - failing[1] * strength))
        order = np.argsort(-(strength + rng.standard_normal(8) - 100.0 * failed))
        rows["date"] += [str(np.datetime64(first) + 7 * race)] * 8
        rows["race"] += [f"{names} {race}"] * 8
        rows["driver"] += [f"{names}{k}" for k in order]
        rows["place"] += ["DNF" if failed[k] else str(at + 1) for at, k in enumerate(order)]
    return kn.read_contests(rows)


@pytest.mark.parametrize("lead", [0.9, 14.0])
@pytest.mark.parametrize("law", [{"off": 0.2}, {"law": "gumbel"}])
def test_places_are_those_of_every_set_of_finishers(law, lead):
    race = kn.read_contests({"race": [1] * 4, "driver": list("ABCD"), "place": [1, 2, 3, 4]})
    mean, deviation = np.array([lead, 0.2, 0.0, -0.7]), np.array([1.0, 1.3, 0.8, 1.1])
    said = ContestForecast(race, mean, deviation, **law, unfinished=FAILING)
    expected = np.zeros((4, 4))
    for number in range(5):
        for some in map(list, combinations(range(4), number)):
            others = [k for k in range(4) if k not in some]
            chance = np.prod(1.0 - FAILING[some]) * np.prod(FAILING[others])
            if number == 1:
                expected[some[0], 0] += chance
            elif number:
                table = {"race": [1] * number, "driver": some, "place": range(1, number + 1)}
                alone = ContestForecast(kn.read_contests(table), mean[some], deviation[some], **law)
                expected[some, :number] += chance * alone.places(0)
            if others:
                expected[others, number:] += chance / len(others)
    assert said.places(0) == pytest.approx(expected, abs=2e-6)
    assert said.win == pytest.approx(expected[:, 0], abs=2e-6)
    assert said.top(0, 2) == pytest.approx(expected[:, :2].sum(axis=1), abs=2e-6)
    assert said.expected_place == pytest.approx(expected @ [1, 2, 3, 4], abs=2e-6)
    both = ContestForecast(race, mean, deviation, **law).chance_before(0, "A", "B")
    assert said.chance_before(0, "A", "B") == pytest.approx(0.65 * (0.1 + 0.9 * both) + 0.5 * 0.35 * 0.1)


def test_every_place_goes_to_somebody_where_many_may_not_finish():
    race = kn.read_contests({"race": [1] * 9, "driver": list("ABCDEFGHI"), "place": range(1, 10)})
    failing = np.array([0.9, 0.5, 0.5, 0.7, 0.5, 0.8, 0.5, 0.05, 0.0])
    said = ContestForecast(race, np.linspace(1, -1, 9), np.ones(9), unfinished=failing)
    assert said.places(0).sum(axis=0) == pytest.approx(np.ones(9), abs=1e-6)


def test_weights_and_every_ending_count():
    """Half of the weight is half of an observation, and whoever was taken out did not finish."""
    race = series(9, (-0.5, 0.4))[:1]
    mean = np.linspace(-1, 1, 8)
    after = {weight: follow_unfinished(replace(race, weight=np.array([weight])), mean, ALL_FINISH, True)[1]
             for weight in (0.0, 0.5, 1.0)}  # fmt: skip
    assert after[0.0][0].tolist() == [-3.0, 0.0]
    assert -3.0 < after[0.5][0, 0] < after[1.0][0, 0] - 0.1
    assert after[0.5][1, 0] > after[1.0][1, 0] + 0.05
    other = replace(race, ended=np.where(race.ended > 0, 2, 0).astype(np.int8))
    assert np.array_equal(follow_unfinished(other, mean, ALL_FINISH, True)[1], after[1.0])


def test_what_is_forecast_teaches_nothing():
    races = series(12, (-1.0, 0.8))
    rater = kn.RankElo(**GIVEN).update(races[:6])
    three, last = rater.predict(races[6:9]).unfinished, rater.predict(races[8:9]).unfinished
    assert np.array_equal(three[16:], last)
    parts = [rater.predict(races[6:8]), rater.predict(races[8:9])]
    assert np.array_equal(ContestForecast.joined(parts, races[6:9]).unfinished, three)
    assert not np.array_equal(rater.one_step_ahead(races[6:9]).unfinished[16:], last)


def test_chances_are_followed_as_the_likeliest_line():
    """The likeliest line, given what was believed of it before, is found here by a search."""
    races = series(12, (-1.0, 0.8))
    forecast = kn.RankElo(**GIVEN).one_step_ahead(races)
    x, covariance, begun = np.array([-3.0, 0.0]), np.diag([4.0, 1.0]), False
    for race in range(len(races)):
        own = slice(races.first[race], races.first[race + 1])
        z = forecast.mean[own] - forecast.mean[own].mean()
        z = z / np.sqrt((z**2).mean()) if z.any() else z
        failed = races.ended[own] > 0
        said = 1.0 / (1.0 + np.exp(-x[0] - x[1] * z)) if begun else np.zeros(8)
        assert forecast.unfinished[own] == pytest.approx(said, abs=1e-4), race
        if begun or failed.any():
            begun = True
            covariance = covariance + np.diag([0.02, 0.005])
            prior = x.copy()

            def loss(at, prior=prior, covariance=covariance, z=z, failed=failed):
                logit = at[0] + at[1] * z
                gap = at - prior
                return np.logaddexp(0, np.where(failed, -logit, logit)).sum() / 3 + gap @ np.linalg.solve(
                    covariance, gap
                ) / 2  # fmt: skip

            x = minimize(loss, x, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).x
            q = 1.0 / (1.0 + np.exp(-x[0] - x[1] * z))
            line = np.column_stack([np.ones(8), z])
            covariance = np.linalg.inv(np.linalg.inv(covariance) + (line.T * (q * (1 - q))) @ line / 3)
    assert begun


def test_favourites_who_retire_win_as_often_as_said():
    """Of 240 later races, within three standard deviations: one honest forecast in 400 fails."""
    races = series(480, (-0.8, 0.7))
    forecast = kn.RankElo(**GIVEN | {"retirement": 0.0}).update(races[:240]).one_step_ahead(races[240:])
    strength = np.array([int(races.entrants[code][1:]) for code in forecast.contests.entrant])
    true = 1.0 / (1.0 + np.exp(0.8 - 0.7 * np.linspace(-1.5, 1.5, 8)[strength]))
    assert abs(forecast.unfinished - true).mean() < 0.08
    seen = (forecast.contests.place[strength == 7] == 1).sum()
    plain = ContestForecast(forecast.contests, forecast.mean, forecast.deviation)
    expected, too_many = (one.win[strength == 7] for one in (forecast, plain))
    assert abs(expected.sum() - seen) < 3 * np.sqrt((expected * (1 - expected)).sum())
    assert too_many.sum() - seen > 3 * np.sqrt((too_many * (1 - too_many)).sum())


def test_nothing_changes_where_everybody_finishes():
    races = series(20, (-40.0, 0.0))
    rater = kn.RankElo(**GIVEN).update(races[:10])
    said = rater.one_step_ahead(races[10:])
    assert not said.unfinished.any() and "unfinished" not in rater.to_arrays()
    assert np.array_equal(said.win, ContestForecast(said.contests, said.mean, said.deviation).win)
    assert rater._plain(["D1", "D2"], None, None, ahead=True) is not None


def test_chances_go_on_from_states_and_single_contests():
    races = series(12, (-1.0, 0.8))
    whole, single = kn.RankElo(**GIVEN).update(races), kn.RankElo(**GIVEN).update(races[:5])
    again = kn.RankElo(**GIVEN)
    again.from_arrays(single.to_arrays())
    for race in range(5, 12):
        own = slice(races.first[race], races.first[race + 1])
        names = [races.entrants[code] for code in races.entrant[own]]
        done = [name for name, ended in zip(names, races.ended[own]) if not ended]
        day = str(races.date[race])
        field = [f"D{k}" for k in range(8)]
        assert again.predict_one(field, date=day).win == pytest.approx(single.predict_one(field, date=day).win)
        again.update_one(done, unfinished=[name for name in names if name not in done], date=day)
        single.update(races[race : race + 1])
    field = ["D7", "D1", "D4"]
    for rater in (single, again):
        assert rater.predict_one(field).unfinished == pytest.approx(whole.predict_one(field).unfinished, rel=1e-9)
    before = whole.predict_one(field).unfinished
    assert 0.05 < before[1] < before[0] < 0.9
    whole.update_one(field)  # all of them finish
    assert (whole.predict_one(field).unfinished < before).all()


def test_a_book_keeps_them_whatever_comes_late(tmp_path):
    races = series(14, (-1.0, 0.8))
    whole = kn.RankElo(**GIVEN).update(races).predict_one(["D7", "D1", "D4"]).win
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    for some in (races[:2], races[6:9], races[2:6], *(races[k : k + 1] for k in range(9, 14))):
        book.add(some)
    for kept in (book, kn.RatingBook(tmp_path / "b")):
        assert kept.predict_one(["D7", "D1", "D4"]).win == pytest.approx(whole, rel=1e-9)
    book.update_one(["D7", "D1", "D4"], date="2024-05-01", match_id="more")
    more = kn.RankElo(**GIVEN).update(races).update_one(["D7", "D1", "D4"], date="2024-05-01")
    expected = more.predict_one(["D7", "D1", "D4"]).unfinished
    assert book.predict_one(["D7", "D1", "D4"]).unfinished == pytest.approx(expected, rel=1e-9)
    book.remove("more")
    assert book.predict_one(["D7", "D1", "D4"]).win == pytest.approx(whole, rel=1e-9)


def test_late_races_of_others_count_in_their_place(tmp_path):
    races, others = series(10, (-1.0, 0.8)), series(8, (0.2, -0.5), seed=9, names="E", first="2024-01-04")
    rater = kn.RankElo(**GIVEN)
    for race in range(10):
        for some in (races, others):
            rater.update(some[race : race + 1])
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    book.add(races)
    for race in range(8):
        book.add(others[race : race + 1])
    for field in (["D7", "D1"], ["E2", "E5"]):
        expected = rater.predict_one(field, date="2024-04-01").unfinished
        assert book.predict_one(field, date="2024-04-01").unfinished == pytest.approx(expected, rel=1e-9)


def test_who_is_taken_out_of_a_book_is_forgotten(tmp_path):
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    book.add(series(3, (-40.0, 0.0)))
    book.update_one(["D1", "D2"], unfinished=["D3"], date="2024-03-01", match_id="one")
    assert book.predict_one(["D1", "D2"]).unfinished.all()
    book.remove("one")
    book.update_one(["D1", "D2", "D3"], date="2024-03-02", match_id="two")
    last = book.predict_one(["D1", "D2"])
    assert last.unfinished is None or not last.unfinished.any()


@pytest.mark.parametrize("forged", [[[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]]])
def test_a_state_that_knows_nonsense_of_them_is_refused(forged):
    arrays = kn.RankElo(**GIVEN).update(series(4, (-1.0, 0.8))).to_arrays()
    with pytest.raises(InputError, match="who do not finish is out of range"):
        kn.RankElo().from_arrays(arrays | {"unfinished": np.array(forged)})
    with pytest.raises(InputError, match="another shape"):
        kn.RankElo().from_arrays(arrays | {"unfinished": np.zeros((2, 2))})
