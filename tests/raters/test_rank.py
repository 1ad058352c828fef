"""RankElo: what a ranking shows, against plain twins; laws of a rater; contests of two; goals on made-up contests."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

import kinelo as kn
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import CONTEST_METRICS, order_log_loss, pairs_right, pooled
from kinelo.raters.rank.law import both_logs, law_of
from kinelo.raters.rank.ranking import ContestField, Ranking, Shown, new_grid, read_ranking

GIVEN = {
    "anchor": 0.0,
    "newcomer_follows": 1.0,
    "experience": 0.0,
    "contest_walk": 0.0,
    "walk": 0.3,
    "prior_spread": 0.9,
    "newcomer": -0.2,
    "regression": 0.1,
    "retirement": 0.0,
    "off": 0.0,
}


def shown_by(mean, variance, place, off=0.0, depth=3.0):
    """What a ranking shows: how far each mean moves, the variance that is left, and log Z."""
    size, law = len(mean), law_of(off, depth)
    one = lambda values: np.array(values, float)[:, None]  # noqa: E731
    field = ContestField(one(mean), one(variance), np.ones((size, 1)), np.array(place, float))
    grid = new_grid(field, law, np.empty((4, 0)))
    shown = Shown(np.zeros((size, 1)), np.zeros((size, 1)), np.full((size, 1), np.nan))
    read_ranking(Ranking(field, law, 1.0, grid), shown)
    pull, precision, log_chance = (part[:, 0] for part in shown)
    return SimpleNamespace(
        shift=variance * pull, variance=variance - np.square(variance) * precision, log_chance=log_chance
    )


def by_quadrature(mean, variance, place, a, off, lower, wide):
    """log Z and its first two derivatives by the mean of one performance, given who is ahead and behind."""
    sd = np.sqrt(variance)

    def cdf(z):
        low = (z + lower) / wide
        return (1 - off) * 0.5 * math.erfc(-z / math.sqrt(2)) + off * 0.5 * math.erfc(-low / math.sqrt(2))

    def density(x, moved):
        z = (x - mean[a] - moved) / sd[a]
        low = (z + lower) / wide
        value = (1 - off) * math.exp(-0.5 * z * z) + off / wide * math.exp(-0.5 * low * low)
        value /= sd[a] * math.sqrt(2 * math.pi)
        for b in range(len(mean)):
            if b != a:
                F = cdf((x - mean[b]) / sd[b])
                value *= F if place[b] > place[a] else 1 - F if place[b] < place[a] else math.sqrt(F * (1 - F))
        return value

    ends = mean[a] - 25 * sd[a], mean[a] + 25 * sd[a]
    h = 0.05
    log_Z = [
        math.log(quad(density, *ends, args=(moved,), limit=600, epsabs=0, epsrel=1e-11, points=[mean[a]])[0])
        for moved in (-2 * h, -h, 0.0, h, 2 * h)
    ]
    slope = (log_Z[0] - 8 * log_Z[1] + 8 * log_Z[3] - log_Z[4]) / (12 * h)
    bend = (-log_Z[0] + 16 * log_Z[1] - 30 * log_Z[2] + 16 * log_Z[3] - log_Z[4]) / (12 * h * h)
    return log_Z[2], variance[a] * slope, variance[a] + variance[a] ** 2 * bend


@pytest.mark.parametrize(("off", "depth", "wide"), [(0.0, 3.0, 2.0), (0.08, 3.0, 2.0), (0.08, 0.9, 2.7)])
@pytest.mark.parametrize("places", [[1, 2], [1, 2, 3, 4, 5, 6], [1, 2.5, 2.5, 4, 5.5, 5.5]])
def test_what_a_ranking_shows_is_the_integral(places, off, depth, wide):
    rng = np.random.default_rng(len(places))
    mean, variance = rng.normal(size=len(places)), 1 + rng.random(len(places))
    shown = shown_by(mean, variance, places, off, depth)
    for a in range(len(places)):
        log_chance, shift, left = by_quadrature(mean, variance, places, a, off, depth, wide)
        assert shown.log_chance[a] == pytest.approx(log_chance, abs=2e-5 if off == 0.0 else 3e-4)
        assert shown.shift[a] == pytest.approx(shift, abs=1e-4 if off == 0.0 else 1e-3)
        assert shown.variance[a] == pytest.approx(left, rel=4e-4 if off == 0.0 else 2e-3)


def test_a_field_narrower_than_its_grid_is_summed_as_well():
    """A thousand entrants: the density of a performance is narrower than the step, and is interpolated."""
    rng = np.random.default_rng(3)
    size = 1000
    mean, variance = rng.normal(size=size), 1 + 0.3 * rng.random(size)
    shown = shown_by(mean, variance, np.arange(1, size + 1))
    for a in (0, 500, 998):
        x = mean[a] + shown.shift[a] + np.linspace(-9, 9, 181) * math.sqrt(shown.variance[a])
        z = (x - mean[:, None]) / np.sqrt(variance)[:, None]
        log = norm.logpdf(x, mean[a], math.sqrt(variance[a])) + log_ndtr(-z[:a]).sum(0) + log_ndtr(z[a + 1 :]).sum(0)
        e = np.exp(log - log.max())
        m = (x * e).sum() / e.sum()
        v = ((x - m) ** 2 * e).sum() / e.sum()
        assert mean[a] + shown.shift[a] == pytest.approx(m, abs=0.02 * math.sqrt(v))
        assert shown.variance[a] == pytest.approx(v, rel=0.02)
        assert shown.log_chance[a] == pytest.approx(log.max() + math.log(e.sum() * (x[1] - x[0])), abs=0.02)


def test_the_table_of_logarithms_is_right_everywhere():
    z = np.concatenate([np.linspace(-30, 12, 3001), np.linspace(12, 30, 99), [-8.0, 8.0, -7.999999, 7.999999]])
    for off, depth, wide, error in ((0.0, 3.0, 2.0, 2e-5), (0.1, 3.0, 2.0, 1e-4), (0.1, 0.6, 2.8, 1e-4)):
        with np.errstate(divide="ignore"):
            usual, other, low = math.log1p(-off), np.log(off), (z + depth) / wide
        law = law_of(off, depth)
        told = np.array([both_logs(one, law) for one in z])
        assert np.abs(told[:, 0] - np.logaddexp(usual + norm.logcdf(z), other + norm.logcdf(low))).max() < error
        assert np.abs(told[:, 1] - np.logaddexp(usual + norm.logsf(z), other + norm.logsf(low))).max() < error


def test_a_contest_of_two_is_the_exact_update_of_a_duel():
    rater = kn.RankElo(**GIVEN).update_one(["A", "B"])
    v, S = 0.81, 1.81
    hazard = norm.pdf(0) / norm.cdf(0)
    shift = v * hazard / math.sqrt(2 * S)
    left = v - v * v * hazard**2 / (2 * S)
    known = rater._state.known
    assert known.x[:2, 0] == pytest.approx([shift, -shift], abs=1e-5)
    assert known.v[:2, 0] == pytest.approx([left, left], abs=5e-5)


def races(seed=1, **more):
    return kn.read_contests(kn.matches.sample_contests(**{"contests": 60, "seed": seed} | more))


def test_newcomers_of_sample_contests_begin_behind():
    """Half a spread weaker than the mean, they come in at .555 of the field (.445 the wrong way round); 1,345 first
    places tell that to .008."""
    table = kn.matches.sample_contests(contests=300, entrants=40, size=12, walk=0.0, newcomers=8.0, seed=2)
    assert table["place"].to_list() == [*range(1, 13)] * 300
    new = np.array([int(name[1:]) >= 40 for name in table["entrant"]])
    first = ~table["entrant"].is_duplicated().to_numpy() | table["entrant"].is_first_distinct().to_numpy()
    place = (table["place"].to_numpy() - 0.5) / 12
    assert (new & first).sum() > 1000 and place[new & first].mean() > 0.54


def test_update_after_fit_ends_where_one_fit_does():
    all_of_them = races()
    whole = kn.RankElo(**GIVEN).fit(all_of_them)
    parts = kn.RankElo(**GIVEN).fit(all_of_them[:25]).update(all_of_them[25:40]).update(all_of_them[40:])
    assert whole.ratings_.equals(parts.ratings_)
    ahead = kn.RankElo(**GIVEN).fit(all_of_them[:25])
    forecast = ahead.one_step_ahead(all_of_them[25:])
    first = kn.RankElo(**GIVEN).fit(all_of_them[:25]).predict(all_of_them[25])
    size = first.mean.size
    assert forecast.mean[:size].tolist() == first.mean.tolist()
    assert ahead.ratings_.equals(whole.ratings_)


def test_the_order_of_kinds_names_and_rows_changes_nothing():
    table = kn.matches.sample_contests(contests=50, cars=8, seed=4)
    told = kn.RankElo(**GIVEN).fit(kn.read_contests(table, slots=["entrant", "car"])).ratings_
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=5)
    again = kn.RankElo(**GIVEN).fit(kn.read_contests(shuffled, slots=["car", "entrant"])).ratings_
    joined = told.join(again, on=["kind", "name"], suffix="_again")
    assert joined.height == told.height
    assert (joined["rating"] - joined["rating_again"]).abs().max() < 1e-9


def test_a_rater_is_kept_as_arrays():
    rater = kn.RankElo().fit(races(cars=0))
    again = kn.RankElo()
    again.from_arrays(rater.to_arrays())
    assert again.ratings_.equals(rater.ratings_) and again.parameters_ == rater.parameters_
    for one in (again, rater):
        one.update_one(["P1", "P2", "P3"])
    assert again.ratings_.equals(rater.ratings_)


def test_one_contest_by_names_is_the_same_as_a_table_of_one():
    table = {"date": ["2024-05-01"] * 4, "race": [1] * 4, "driver": list("ABCD"), "place": ["1", "2", "2", "DNF"]}
    by_table = kn.RankElo(**GIVEN | {"retirement": 0.3}).update(kn.read_contests(table, {"entrant": "driver"}))
    by_names = kn.RankElo(**GIVEN | {"retirement": 0.3})
    by_names.update_one(["A", "B", "C"], ranks=[1, 2, 2], unfinished=["D"], date="2024-05-01")
    assert by_names.ratings_.drop("kind").equals(by_table.ratings_.drop("kind"))
    assert by_names.predict_one(["A", "D"]).win[0] > 0.5


def test_a_retirement_tells_as_much_as_it_is_said_to():
    table = {"race": [1] * 3, "driver": list("ABC"), "place": ["1", "2", "DNF"]}
    last = {"race": [1] * 3, "driver": list("ABC"), "place": ["1", "2", "3"]}
    of = lambda retirement, t: dict(  # noqa: E731
        kn.RankElo(**GIVEN | {"retirement": retirement})
        .update(kn.read_contests(t))
        .ratings_.select("name", "rating")
        .rows()
    )
    nothing, some, all_of_it = (of(r, table)["C"] for r in (0.0, 0.5, 1.0))
    assert nothing > some > all_of_it
    assert all_of_it - of(0.0, table)["A"] == pytest.approx(of(0.0, last)["C"] - of(0.0, table)["A"], abs=30)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_chances_of_places_are_those_of_many_draws(size):
    contests = races(entrants=40, size=size, contests=3)
    forecast = kn.RankElo(**GIVEN).fit(contests[:2]).predict(contests[2])
    chances = forecast.places(0)
    assert chances.sum(axis=0) == pytest.approx(np.ones(size), abs=1e-6)
    assert chances[:, 0] == pytest.approx(forecast.win, abs=1e-6)
    assert chances @ np.arange(1, size + 1) == pytest.approx(forecast.expected_place, abs=1e-5)
    draws = 20_000
    shown = np.random.default_rng(1).normal(size=(draws, size)) * forecast.deviation + forecast.mean
    place = np.argsort(np.argsort(-shown, axis=1), axis=1)
    for k in range(min(size, 5)):
        often = (place == k).mean(axis=0)
        assert np.abs(often - chances[:, k]).max() < 4.5 * math.sqrt(0.25 / draws)
    first, second = (contests.entrants[code] for code in forecast.contests.entrant[:2])
    before = forecast.chance_before(0, first, second)
    assert before == pytest.approx((shown[:, 0] > shown[:, 1]).mean(), abs=4.5 * math.sqrt(0.25 / draws))


def test_forecasts_are_calibrated_where_the_model_holds():
    contests = races(contests=500, walk=0.5, seed=7)
    test = kn.backtest(contests, kn.RankElo(), train_until=contests.date[200])
    table = test.calibration("RankElo")
    wrong = table.filter((pl.col("frequency") < pl.col("low")) | (pl.col("frequency") > pl.col("high")))
    assert wrong.height <= 0.3 * table.height
    assert test.scores["pairs_right"][0] > 0.7


def test_parameters_of_made_up_contests_are_found():
    """Within 3.3 standard errors, which is missed once in a thousand; errors within a factor of 1.6 of .048."""
    rater = kn.RankElo(contest_walk=0.0).fit(races(contests=600, walk=0.8, seed=2))
    found, error = rater.estimates_.values["walk"], rater.estimates_.standard_errors["walk"]
    assert abs(found - 0.8) < 3.3 * error and 0.03 < error < 0.075
    assert kn.RankElo().fit(races(contests=600, seed=2)).parameters_["walk"] < 0.1


@pytest.mark.long
def test_large_fields_are_fitted_as_well_as_small_ones():
    """Losses grow with the field, and the search must not take shorter steps for it."""
    contests = races(contests=12, entrants=500, size=400, walk=2.0, seed=3)
    rater = kn.RankElo(newcomer=0.0, regression=0.0).fit(contests)
    found, error = rater.estimates_.values, rater.estimates_.standard_errors
    for name, true, expected in (("walk", 2.0, 0.13), ("prior_spread", 1.0, 0.06)):
        assert abs(found[name] - true) < 3.3 * error[name] and error[name] == pytest.approx(expected, rel=0.4)


def test_drivers_and_cars_are_told_apart():
    table = kn.matches.sample_contests(contests=400, cars=10, seed=3)
    both = kn.read_contests(table, slots=["entrant", "car"])
    test = kn.backtest(both, {"both": kn.RankElo(), "drivers": OneKind("entrant")}, train_until=both.date[200])
    both_right, drivers_right = (
        dict(test.scores.select("rater", "pairs_right").rows())[k] for k in ("both", "drivers")
    )
    assert both_right > drivers_right + 0.02


class OneKind:
    """RankElo that looks at one kind of slots alone."""

    def __init__(self, kind):
        self.kind, self.rater = kind, kn.RankElo()

    def fit(self, contests):
        self.rater.fit(contests.rating(self.kind))
        return self

    def one_step_ahead(self, contests):
        return self.rater.one_step_ahead(contests.rating(self.kind))


def test_scores_are_those_of_their_definitions():
    contests = kn.read_contests({"race": [1] * 4, "driver": list("ABCD"), "place": ["1", "2", "3", "DNF"]})
    forecast = kn.forecasts.ContestForecast(contests, np.array([0.0, 1.0, -1.0, 2.0]), np.ones(4))
    assert pairs_right(forecast).tolist() == [pytest.approx(2 / 3)]
    chance = norm.cdf(np.array([-1, 1, 2]) / math.sqrt(2))
    assert order_log_loss(forecast)[0] == pytest.approx(-np.log(chance).mean())
    assert CONTEST_METRICS["winner_log_loss"](forecast)[0] == pytest.approx(-math.log(forecast.win[0]))
    assert CONTEST_METRICS["rank_deviation"](forecast)[0] == pytest.approx((1 + 1 + 0) / 3 / 3)
    assert pooled("pairs_right", forecast, pairs_right(forecast)) == pytest.approx(2 / 3)


def test_an_empty_book_of_contests_says_that_it_holds_none(tmp_path):
    with pytest.raises(InputError, match="No contest has been rated yet"):
        kn.RatingBook(tmp_path / "empty.db", kn.RankElo()).predict_one(["Ann", "Bob"])


def test_contests_of_other_kinds_are_refused_in_words():
    rater = kn.RankElo(**GIVEN).fit(races())
    with pytest.raises(InputError, match="read them with the same slots"):
        rater.predict(kn.read_contests(kn.matches.sample_contests(contests=5, cars=4), slots=["entrant", "car"]))
    told = "knows contests of entrant and no matches of two sides; name the two as a contest, in a list with the winner"
    with pytest.raises(InputError, match=told):
        rater.update_one("A", "B", "win")
    with pytest.raises(InputError, match="no matches of two sides"):
        rater.predict_one("A", "B")
    with pytest.raises(InputError, match="speaks of 'wheel'"):
        kn.RankElo(walk={"wheel": 1.0}).fit(races())
    with pytest.raises(InputError, match="has seen no match yet"):
        kn.RankElo().predict(races())
    with pytest.raises(InputError, match="without places"):
        kn.RankElo().fit(kn.read_contests({"race": [1, 1], "driver": ["A", "B"]}, played=False))


def test_a_scan_is_rated_as_the_whole(tmp_path):
    table = kn.matches.sample_contests(contests=40, seed=6)
    table.write_parquet(tmp_path / "c.parquet")
    scan = kn.matches.scan_contests(tmp_path / "c.parquet")
    assert kn.RankElo(**GIVEN).fit(scan).ratings_.equals(kn.RankElo(**GIVEN).fit(kn.read_contests(table)).ratings_)


def test_contests_before_the_last_one_rated_are_refused():
    all_of_them = races()
    rater = kn.RankElo(**GIVEN).update(all_of_them[30:])
    before = rater.ratings_
    with pytest.raises(InputError, match="comes before the last contest rated"):
        rater.update(all_of_them[:30])
    assert rater.ratings_.equals(before)


def test_a_history_ends_at_the_ratings():
    contests = races(cars=0)
    rater = kn.RankElo(**GIVEN).fit(contests)
    history = kn.rating_history(rater, contests, points=5)
    last = history.filter(pl.col("date") == history["date"].max()).select("name", "rating")
    final = rater.ratings_.select("name", "rating")
    assert last.join(final, on=["name", "rating"]).height == last.height > 5


def test_a_copy_is_a_rater_of_its_own():
    rater = kn.RankElo(**GIVEN).fit(races())
    before = rater.ratings_
    copy.deepcopy(rater).update_one(["P1", "P2"])
    assert rater.ratings_.equals(before)


def test_who_took_part_last_has_one_rating_however_it_is_asked_for():
    """Boards show ratings on the day of the last contest, histories those of each one's last: on one level."""
    contests = races(cars=0, entrants=30, size=5)
    rater = kn.RankElo(**GIVEN | {"regression": 1.0}).update(contests)
    last = rater.ratings_["last_played"].max()
    here, there = (
        dict(table.filter(pl.col("last_played") == last).select("name", "rating").iter_rows())
        for table in (rater.ratings_, rater.ratings_on())
    )
    assert len(here) >= 5 and here == pytest.approx(there, abs=1e-9)


def test_a_list_is_a_team_and_ranks_say_who_ties():
    teams = kn.RankElo(**GIVEN).update_one([["a", "b"], ["c", "d", "e"]], date="2024-05-01")
    table = {"race": [1] * 5, "team": ["x", "x", "y", "y", "y"], "player": list("abcde"), "place": [1, 1, 2, 2, 2],
             "date": ["2024-05-01"] * 5}  # fmt: skip
    rows = kn.RankElo(**GIVEN).update(kn.read_contests(table, slots=["player"], team="team"))
    assert dict(teams.ratings_.select("name", "rating").rows()) == pytest.approx(
        dict(rows.ratings_.select("name", "rating").rows())
    )
    by_tuples = kn.RankElo(**GIVEN).update_one([("a", "b"), ("c", "d", "e")], date="2024-05-01")
    assert by_tuples.ratings_.equals(teams.ratings_)
    turned = kn.RankElo(**GIVEN).update_one([["c", "d", "e"], ["a", "b"]], ranks=[7, 3], date="2024-05-01")
    assert turned.ratings_.sort("name").equals(teams.ratings_.sort("name"))
    tied = kn.RankElo(**GIVEN).update_one(["a", "b", "c"], ranks=[2, 1, 2], date="2024-05-01")
    places = {"race": [1] * 3, "driver": list("abc"), "place": [2, 1, 2], "date": ["2024-05-01"] * 3}
    of_file = kn.RankElo(**GIVEN).update(kn.read_contests(places))
    assert (
        tied.ratings_.select("name", "rating")
        .sort("name")
        .equals(of_file.ratings_.select("name", "rating").sort("name"))
    )
    for order, ranks, said in (
        (["a", ["b", "c"]], None, "mixes names and lists"),
        (["a", "b"], [1], "a number for each of the 2 who finished"),
        (["a", "b"], ["x", 2], "a number for each"),
        (["a", "b"], [1, np.nan], "a number for each"),
        (["a", "b"], "12", "a number for each"),
    ):
        with pytest.raises(kn.InputError, match=said):
            kn.RankElo(**GIVEN).update_one(order, ranks=ranks)


def test_a_forecast_of_another_day_changes_nothing():
    """Ratings to begin with hold on the day of the first contest, whatever was asked before it."""
    start = {"A": 1600.0, "B": 1500.0}
    asked, other = (kn.RankElo(**GIVEN, start=start) for _ in range(2))
    asked.predict_one(["A", "B"], date="2034-05-01")
    assert asked.update_one(["B", "A"], date="2024-05-01").ratings_.equals(
        other.update_one(["B", "A"], date="2024-05-01").ratings_
    )
    undated = kn.RankElo(**GIVEN).update_one(["A", "B"])
    before = undated.predict_one(["A", "B"]).win
    undated.predict_one(["A", "B"], date="2034-05-01")
    assert (undated.predict_one(["A", "B"]).win == before).all()
    assert (undated.predict_one(["A", "B"], date="2034-05-01").win == before).all()
