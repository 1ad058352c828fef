"""RankElo: bad days, what losses are worth, ratings to begin with, conditions, and states of earlier versions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.rank.estimation import ContestSearch

POINTS_PER_UNIT = 800 / (math.sqrt(math.pi) * math.log(10))

GIVEN = {
    "anchor": 0.0,
    "experience": 0.0,
    "contest_walk": 0.0,
    "newcomer_follows": 1.0,
    "walk": 0.3,
    "prior_spread": 0.9,
    "newcomer": 0.0,
    "regression": 0.0,
    "retirement": 0.0,
    "off": 0.0,
}


def rating_of(rater, name):
    return dict(rater.ratings_.select("name", "rating").rows())[name]


# Bad days


def bad_days(part, contests=300, size=10, seed=1, depth=3.0, wide=2.0):
    """Weekly contests of which a part of the performances is lower than usual, and wider spread."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(size=30)
    rows = {"date": [], "race": [], "driver": [], "place": []}
    for race in range(contests):
        chosen = rng.permutation(30)[:size]
        off = rng.random(size) < part
        shown = strength[chosen] + rng.normal(size=size) * np.where(off, wide, 1.0) - depth * off
        rows["date"] += [np.datetime64("2020-01-06") + 7 * race] * size
        rows["race"] += [race] * size
        rows["driver"] += [f"D{k}" for k in chosen[np.argsort(-shown)]]
        rows["place"] += list(range(1, size + 1))
    return kn.read_contests(rows)


def test_the_part_of_bad_days_is_found():
    some = kn.RankElo(depth=3.0).fit(bad_days(0.12)).estimates_
    assert abs(some.values["off"] - 0.12) < 3.3 * some.standard_errors["off"] < 0.12
    assert kn.RankElo().fit(bad_days(0.0)).parameters_["off"] < 0.03


def test_good_and_bad_days_alike_are_told_from_bad_ones():
    """From off days found at both ends of the range: estimates are 0.0 and 3.0."""
    known = {"walk": 0.1, "newcomer": 0.0, "regression": 0.0, "anchor": 0.0, "experience": 0.0, "contest_walk": 0.0}
    known["newcomer_follows"] = 1.0
    alike, bad = (
        kn.RankElo(**known).fit(bad_days(0.15, depth=depth, wide=wide)).parameters_["depth"]
        for depth, wide in ((0.0, 3.0), (3.0, 2.0))
    )
    assert alike < 1.5 < 2.2 < bad


def test_a_bad_day_says_less_the_more_of_them_there_are():
    def lost(off):
        known = {"A": 2000, "B": 1500, "C": 1500, "D": 1500}
        rater = kn.RankElo(**GIVEN | {"off": off}, start=known)
        return rating_of(rater.update_one(["B", "C", "D", "A"]), "A") - 2000

    assert lost(0.0) < lost(0.05) < lost(0.2) < 0


@pytest.mark.parametrize(("part", "depth", "wide"), [(0.2, 3.0, 2.0), (0.5, 0.6, 2.8)])
def test_forecasts_know_of_bad_days(part, depth, wide):
    """Chances of places and of pairs are those of draws from the law, and those of a pair what a plain sum says."""
    contests = bad_days(0.2, contests=3, size=5)
    forecast = kn.RankElo(**GIVEN | {"off": part, "depth": depth}).fit(contests[:2]).predict(contests[2])
    mean, deviation = np.array([0.1, 0.5, -1.0, 1.3, 0.7]), np.array([1.1, 1.3, 1.2, 1.6, 1.4])
    forecast = replace(forecast, mean=mean, deviation=deviation)
    draws = 40_000
    rng = np.random.default_rng(1)
    off = rng.random((draws, 5)) < part
    z = rng.normal(size=(draws, 5)) * np.where(off, wide, 1.0) - depth * off
    shown = forecast.mean + forecast.deviation * z
    place = np.argsort(np.argsort(-shown, axis=1), axis=1)
    often = np.array([(place == k).mean(axis=0) for k in range(5)]).T
    error = np.sqrt(0.25 / draws)
    assert np.abs(often - forecast.places(0)).max() < 4.5 * error
    assert np.abs(often[:, 0] - forecast.win).max() < 4.5 * error
    chance = forecast.pair_chance(np.array([0, 1]), np.array([1, 4]))
    assert chance == pytest.approx([(shown[:, 0] > shown[:, 1]).mean(), (shown[:, 1] > shown[:, 4]).mean()], abs=0.012)
    (m, n), (s, t), summed = forecast.mean[:2], forecast.deviation[:2], 0.0
    for mine, theirs in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = (part if mine else 1.0 - part) * (part if theirs else 1.0 - part)
        spread = math.hypot(s * (wide if mine else 1.0), t * (wide if theirs else 1.0))
        summed += share * norm.cdf((m - depth * s * mine - n + depth * t * theirs) / spread)
    assert chance[0] == pytest.approx(summed, abs=1e-12)
    middle = (forecast.middle - forecast.mean) / forecast.deviation
    assert np.abs((z < middle).mean(axis=0) - 0.5).max() < 4.5 * error


# What losses are worth


@pytest.mark.parametrize(("size", "contests"), [(10, 500), (30, 200)])
def test_losses_are_as_informative_as_their_slopes_say(size, contests):
    """Of a likelihood the curvature is the sum of squared slopes; of means over entrants, or of sums, it is not."""
    table = kn.read_contests(kn.matches.sample_contests(contests=contests, size=size, walk=0.8, seed=5))

    def losses(walk):
        rater = kn.RankElo(**GIVEN | {"walk": walk, "prior_spread": 1.0})
        rater._take_kinds(table)
        return ContestSearch(rater, table)._losses(table, contests // 4)

    walks = 0.8 * np.exp(np.linspace(-0.5, 0.5, 5))
    at = [losses(walk) for walk in walks]
    curvature = 2.0 * np.polyfit(np.log(walks), [one.sum() for one in at], 2)[0]
    slope = (at[3] - at[1]) / np.log(walks[3] / walks[1])
    assert 1 / 1.7 < ((slope - slope.mean()) ** 2).sum() / curvature < 1.7


# Ratings to begin with


def test_ratings_to_begin_with_are_those_that_are_shown_and_used():
    start = {"name": ["Ann", "Bob"], "rating": [1700, 1400], "deviation": [50, 80], "matches": [20, 30]}
    rater = kn.RankElo(**GIVEN, start=start)
    spread = np.sqrt(2 + (50**2 + 80**2) / POINTS_PER_UNIT**2)
    chance = norm.cdf(300 / POINTS_PER_UNIT / spread)
    assert rater.predict_one(["Ann", "Bob"]).win[0] == pytest.approx(chance, abs=1e-6)
    table = {"date": ["2024-01-01"] * 3, "race": [1] * 3, "driver": ["Bob", "Ann", "Cid"], "place": [1, 2, 3]}
    rater.update(kn.read_contests(table))
    after = {row["name"]: row for row in rater.ratings_.to_dicts()}
    assert 1400 < after["Bob"]["rating"] < 1480 and 1640 < after["Ann"]["rating"] < 1700
    assert (after["Bob"]["matches"], after["Ann"]["matches"], after["Cid"]["matches"]) == (31, 21, 1)


def test_ratings_to_begin_with_name_their_kind():
    table = {"race": [1] * 2, "driver": ["Ann", "Bob"], "car": ["Red", "Blue"], "place": [1, 2]}
    races = kn.read_contests(table, slots=["driver", "car"])
    rater = kn.RankElo(**GIVEN, start={"Ann": 1600, "car: Red": 1700}).fit(races)
    assert 1700 < rating_of(rater, "Red") < 1800 and 1600 < rating_of(rater, "Ann") < 1700
    assert dict(rater.ratings_.select("name", "matches").rows()) == {"Ann": 1, "Bob": 1, "Red": 1, "Blue": 1}
    with pytest.warns(KineloWarning, match="'car: Rod'"):
        kn.RankElo(**GIVEN, start={"Ann": 1600, "car: Rod": 1700}).fit(races)


def test_a_book_begins_with_the_ratings_it_is_given(tmp_path):
    races = kn.read_contests(kn.matches.sample_contests(contests=20, seed=2))
    rater = kn.RankElo(**GIVEN, start={"P1": 1800, "P2": 1300})
    book = kn.RatingBook(tmp_path / "book", rater)
    book.add(races)
    again = kn.RatingBook(tmp_path / "book").rater
    direct = kn.RankElo(**GIVEN, start={"P1": 1800, "P2": 1300}).update(races)
    assert again.ratings_.equals(direct.ratings_)
    without = kn.RankElo(**GIVEN).update(races)
    assert rating_of(direct, "P1") - rating_of(direct, "P2") > rating_of(without, "P1") - rating_of(without, "P2")


def test_contests_before_the_ratings_to_begin_with_are_refused():
    start = {"name": ["P1"], "rating": [1600], "last_played": ["2030-01-01"]}
    with pytest.raises(InputError, match="comes before the last contest rated"):
        kn.RankElo(**GIVEN, start=start).update(kn.read_contests(kn.matches.sample_contests(contests=3)))


# Conditions


def wet_and_dry(contests=300, seed=3, spread=1.0):
    """Drivers of whom each has a deviation of the strength in the wet."""
    rng = np.random.default_rng(seed)
    strength, wet = rng.normal(size=12), spread * rng.normal(size=12)
    rows = {"race": [], "driver": [], "weather": [], "place": []}
    for race in range(contests):
        drivers, rain = rng.permutation(12)[:8], bool(rng.random() < 0.4)
        order = np.argsort(-(strength[drivers] + rain * wet[drivers] + rng.normal(size=8)))
        rows["race"] += [race] * 8
        rows["driver"] += [f"D{k}" for k in drivers[order]]
        rows["weather"] += ["wet" if rain else "dry"] * 8
        rows["place"] += list(range(1, 9))
    return rows, wet


def test_strengths_under_conditions_are_learnt():
    rows, wet = wet_and_dry()
    races = kn.read_contests(rows, advantages=["weather"])
    rater = kn.RankElo(conditions=["weather"], walk=0.01, regression=0.0, newcomer=0.0, off=0.0).fit(races)
    points = dict(rater.advantages_.select("name", "points").rows())
    found = np.array([points[f"D{k} · wet"] - points[f"D{k} · dry"] for k in range(12)]) / POINTS_PER_UNIT
    assert np.corrcoef(found, wet)[0, 1] > 0.85
    assert np.sqrt(2) * rater.parameters_["prior_spread of weather"] == pytest.approx(wet.std(), rel=0.6)
    plain = kn.RankElo(walk=0.01, regression=0.0, newcomer=0.0, off=0.0).fit(races)
    assert rater.estimates_.log_likelihood > plain.estimates_.log_likelihood + 5
    best, worst = f"D{wet.argmax()}", f"D{wet.argmin()}"
    said = {w: rater.predict_one([(best, w), (worst, w)]).mean for w in ("wet", "dry")}
    assert said["wet"][0] - said["wet"][1] > said["dry"][0] - said["dry"][1] + 0.5


def test_conditions_without_effect_are_found_to_have_none():
    rows, _ = wet_and_dry(spread=0.0)
    races = kn.read_contests(rows, advantages=["weather"])
    rater = kn.RankElo(conditions=["weather"], walk=0.01, regression=0.0, newcomer=0.0, off=0.0).fit(races)
    assert rater.parameters_["prior_spread of weather"] < 0.2


def test_conditions_that_contests_do_not_say_are_refused():
    rows, _ = wet_and_dry(3)
    with pytest.raises(InputError, match=r"read them with advantages=\['wind'\]"):
        kn.RankElo(**GIVEN, conditions=["wind"]).fit(kn.read_contests(rows, advantages=["weather"]))
    with pytest.raises(InputError, match="must be a list of columns"):
        kn.RankElo(**GIVEN, conditions="weather").fit(kn.read_contests(rows, advantages=["weather"]))


# States of earlier versions


def test_a_state_whose_kinds_are_not_its_own_is_refused():
    arrays = kn.RankElo(**GIVEN).fit(kn.read_contests(kn.matches.sample_contests(contests=10, seed=2))).to_arrays()
    for name, forged in (("advantages", ["lane"]), ("kinds", ["car"]), ("names", ["P1"])):
        with pytest.raises(InputError, match="of a stored state"):
            kn.RankElo().from_arrays(arrays | {name: np.array(forged)})


# Large fields


def test_places_in_large_fields_show_as_much_as_the_performances():
    """Pairs right in later rounds, beside a filter that sees the performances: the gap of both is at most chance."""
    rng = np.random.default_rng(1)
    pool, size, rounds, spread, drift = 800, 400, 30, 1.5, 0.175
    strength, mean, variance = rng.normal(0, spread, pool), np.zeros(pool), np.full(pool, spread**2)
    rows, seen = {"date": [], "race": [], "driver": [], "place": []}, []
    for race in range(rounds):
        strength, variance = strength + drift * rng.normal(size=pool), variance + drift**2
        chosen = rng.permutation(pool)[:size]
        shown = strength[chosen] + rng.normal(size=size)
        order = np.argsort(-shown)
        seen.append(pairs_in_order(mean[chosen[order]]))
        gain = variance[chosen] / (variance[chosen] + 1)
        mean[chosen] += gain * (shown - mean[chosen])
        variance[chosen] *= 1 - gain
        rows["date"] += [np.datetime64("2020-01-06") + 7 * race] * size
        rows["race"] += [race] * size
        rows["driver"] += [f"D{k}" for k in chosen[order]]
        rows["place"] += list(range(1, size + 1))
    rater = kn.RankElo(**GIVEN | {"walk": drift * np.sqrt(365.25 / 7), "prior_spread": spread})
    said = rater.one_step_ahead(kn.read_contests(rows))
    found = [pairs_in_order(said.mean[race * size : (race + 1) * size]) for race in range(rounds)]
    gap = np.array(found[10:]) - np.array(seen[10:])
    assert abs(gap.mean()) < 0.002 and np.mean(found[10:]) > 0.75


def pairs_in_order(mean):
    """Share of pairs whose better place has the higher mean, of means in order of places."""
    one, other = np.triu_indices(mean.size, 1)
    return np.mean(mean[one] > mean[other])
