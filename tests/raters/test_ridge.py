"""The ridge of BradleyTerry: found by forecasts of comparisons left out, on sparse pools, full tables and ladders."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.forecasts.scores import log_loss
from kinelo.raters.bradley_terry import likelihood as ridges


def pool(seed, games, sides, spread, candidates=1):
    """Results of sides at rest, opponents the nearest of some drawn at random; the table and strengths in points."""
    rng = np.random.default_rng(seed)
    strength, home = rng.normal(0, spread, sides), rng.integers(0, sides, games)
    drawn = (home[:, None] + rng.integers(1, sides, (games, candidates))) % sides
    away = drawn[np.arange(games), np.abs(strength[drawn] - strength[home][:, None]).argmin(axis=1)]
    won = rng.random(games) < 1 / (1 + 10 ** ((strength[away] - strength[home]) / 400))
    table = {"home": [f"p{k}" for k in home], "away": [f"p{k}" for k in away], "result": won.astype(float)}
    table |= {"neutral": [True] * games, "date": np.datetime64("2020-01-01") + np.arange(games) // 30}
    return table, {f"p{k}": value for k, value in enumerate(strength)}


def read(table, part=slice(None)):
    return kn.read_matches({name: column[part] for name, column in table.items()}, ordered=True)


@pytest.mark.filterwarnings("ignore:The contestants form")
@pytest.mark.parametrize("candidates", [1, 6])
def test_sparse_pools_are_forecast_better_than_by_a_coin(candidates):
    """Three comparisons of each: without a prior an estimate believes all of them (.8 and more, a coin .693)."""
    table, _ = pool(4, 2000, 900, 200.0, candidates)
    train, test = read(table, slice(1500)), read(table, slice(1500, None))
    loss = {}
    for ridge in (0.01, None):
        rater = kn.BradleyTerry(ridge=ridge).fit(train)
        loss[ridge] = float(log_loss(rater.predict(test).probabilities, test.result).mean())
    assert loss[None] < math.log(2) + 0.003 and loss[0.01] > 0.8
    assert rater.ridge_ in ridges.RIDGES and rater.ridge_ > 0.3


def test_where_everyone_is_compared_often_the_least_ridge_stays():
    table, _ = pool(5, 2000, 12, 150.0)
    found, given = kn.BradleyTerry().fit(read(table)), kn.BradleyTerry(ridge=0.01).fit(read(table))
    assert found.ridge_ == 0.01 and found.ratings_.equals(given.ratings_)
    assert kn.BradleyTerry(ridge=0.3).fit(read(table)).ridge_ == 0.3
    few = kn.BradleyTerry().fit(read(table, slice(ridges.LEAST_COMPARISONS - 1)))
    assert few.ridge_ == ridges.RIDGES[ridges.FEW]


@pytest.mark.parametrize(("sides", "games"), [(4, 7), (6, 15), (8, 40)])
def test_few_comparisons_are_forecast_better_than_by_a_coin(sides, games):
    """Where nothing is clear the least ridge made favourites certain: it lost .77, .50 and .21, a coin .16 to .17."""
    excess = {"rated": [], "coin": []}
    for seed in range(20):
        table, truth = pool(seed, games, sides, 175.0)
        rating = dict(kn.BradleyTerry(ties=0.0).fit(read(table)).ratings_.select("name", "rating").rows())
        names = sorted(rating)
        for k, one in enumerate(names):
            for other in names[:k]:
                p, q = (1 / (1 + 10 ** ((of[other] - of[one]) / 400)) for of in (truth, rating))
                for name, said in (("rated", q), ("coin", 0.5)):
                    excess[name].append(p * math.log(p / said) + (1 - p) * math.log((1 - p) / (1 - said)))
    assert np.mean(excess["rated"]) < (1.3 if games < 10 else 0.85) * np.mean(excess["coin"])


def test_no_ridge_is_looked_for_where_none_could_gain_a_hundred_thousandth_a_comparison(monkeypatch):
    """Half a nat for each, of which a prior as wide as strengths lie apart saves its part of what is known."""
    truth, shares = np.array([260.0, 120.0, 10.0, -90.0, -330.0]), np.array([9, 4, 7, 1, 2, 3, 8, 2, 5, 1])
    pairs = [(i, j) for i in range(5) for j in range(i)]
    won = np.array([1 / (1 + 10 ** ((truth[j] - truth[i]) / 400)) for i, j in pairs])

    def votes(number):
        rows = [(f"p{i}", f"p{j}", result, round(number * share * (p if result else 1 - p)))
                for (i, j), share, p in zip(pairs, shares, won, strict=True) for result in (1, 0)]  # fmt: skip
        home, away, result, weight = zip(*rows)
        return {"home": home, "away": away, "result": result, "weight": weight, "neutral": [True] * len(rows)}

    def saved(number):
        told = np.zeros(5)
        for (i, j), share, p in zip(pairs, shares, won, strict=True):
            told[[i, j]] += 4 * number * share * p * (1 - p)
        precision = 1 / np.var(truth * math.log(10) / 800)
        return (precision / (told + precision)).sum() / 2 / (number * shares.sum())

    number = next(n for n in range(1, 10**6) if saved(n) < 1e-5)
    asked = []
    monkeypatch.setattr("kinelo.raters.bradley_terry.rater.first_not_worse", lambda *given: asked.append(given) or 0)
    for factor, looked_for in ((0.9, 1), (1.1, 1), (0.6, 2)):
        kn.BradleyTerry().fit(kn.read_matches(votes(number * factor)))
        assert len(asked) == looked_for, factor
    table = votes(number * 0.6)  # a row of a weight that is no whole number is one comparison
    rows = {name: np.repeat(values, table["weight"]) for name, values in table.items()}
    kn.BradleyTerry().fit(kn.read_matches(rows | {"weight": np.full(sum(table["weight"]), 8.5)}))
    assert len(asked) == 3


def test_intervals_hold_what_they_should_on_ladders_too():
    """80 % intervals of 5 ladders and 5 open leagues, 60 sides each, hold 65 to 90 % of the truths in the mean.

    Sides of one league err together: their mean share has a standard deviation of about .08, that of five of .035.
    """
    for candidates in (1, 8):
        held = []
        for seed in range(5):
            table, truth = pool(seed, 1500, 60, 200.0, candidates)
            board = kn.BradleyTerry().fit(read(table)).intervals(0.8)
            true = np.array([truth[name] for name in board["name"]])
            true += board["rating"].mean() - true.mean()
            held.append(np.mean((board["low"].to_numpy() < true) & (true < board["high"].to_numpy())))
        assert 0.65 < np.mean(held) < 0.9, candidates


def test_the_ridge_depends_on_no_order_and_on_no_division_into_tables():
    table, _ = pool(6, 600, 200, 200.0)
    order = np.random.default_rng(1).permutation(600)
    turned = np.arange(600) % 3 == 0
    home, away = np.array(table["home"])[order], np.array(table["away"])[order]
    result = np.array(table["result"])[order]
    other = {"home": np.where(turned, away, home), "away": np.where(turned, home, away)}
    other |= {"result": np.where(turned, 1 - result, result), "neutral": [True] * 600}
    one, two = kn.BradleyTerry().fit(read(table)), kn.BradleyTerry().fit(read(other))
    assert one.ridge_ == two.ridge_ > 0.01
    ratings = (rater.ratings_.sort("name")["rating"].to_numpy() for rater in (one, two))
    np.testing.assert_allclose(*ratings, atol=1e-6)
    again = kn.BradleyTerry()
    again.from_arrays(one.to_arrays())
    assert again.ridge_ == one.ridge_
    ratings = (rater.ratings_.sort("name")["rating"].to_numpy() for rater in (one, again))
    np.testing.assert_allclose(*ratings, atol=1e-6)
    few, rest = (read({key: values[part] for key, values in table.items()}) for part in (slice(37), slice(37, None)))
    begun = kn.BradleyTerry().update(few)
    assert begun.ridge_ != one.ridge_
    assert begun.update(rest).ridge_ == one.ridge_
    assert begun.ratings_.equals(one.ratings_), "to the last bit"


def test_comparisons_are_dealt_to_folds_one_by_one():
    """Against dealing them out in a plain loop; every comparison is in one fold."""
    rng = np.random.default_rng(2)
    events = rng.integers(0, 4, (7, 3)).astype(float)
    before = (np.cumsum(events) - events.ravel()).reshape(events.shape)
    plain = np.zeros((ridges.FOLDS, 7, 3))
    number = 0
    for cell, result in np.ndindex(7, 3):
        for _ in range(int(events[cell, result])):
            plain[number % ridges.FOLDS, cell, result] += 1
            number += 1
    for fold in range(ridges.FOLDS):
        np.testing.assert_array_equal(ridges._dealt(before, events, fold), plain[fold])
