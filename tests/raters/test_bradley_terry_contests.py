"""Strengths from all contests at once: against the likelihood written down place by place, and a plain maximiser."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.bradley_terry.orders import OrderLikelihood

POINTS = 400 / math.log(10)
RACES = [  # groups of names in order of places, who did not finish, and how much the race counts
    ([["A"], ["B"], ["C"], ["D"]], [], 1.0),
    ([["B"], ["A", "E"], ["C"]], ["D"], 2.0),
    ([["E"], ["C"], ["A"]], ["B", "D"], 1.0),
    ([["C"], ["D", "B"]], [], 1.0),
    ([["A"], ["D"]], ["E"], 3.0),
    ([["D"], ["C"], ["B"], ["E"], ["A"]], [], 1.0),
]


def table_of(races):
    table = {"race": [], "date": [], "driver": [], "place": [], "weight": []}
    for c, (groups, out, weight) in enumerate(races):
        place, rows = 1, []
        for group in groups:
            rows += [(name, str(place)) for name in group]
            place += len(group)
        rows += [(name, "DNF") for name in out]
        for name, where in rows:
            for key, value in zip(table, (c, str(np.datetime64("2020-01-01") + c), name, where, weight)):
                table[key].append(value)
    return table


def read(races):
    return kn.read_contests(table_of(races))


def race_level(x, groups, out, retirement):
    """Logarithm of the chance of one order, place by place: with those who are out behind all, and without them."""
    level = 0.0
    for others, share in ((out, retirement), ([], 1.0 - retirement)):
        left = [name for group in groups for name in group] + list(others)
        for group in groups:
            level += share * sum(x[name] - math.log(sum(math.exp(x[other]) for other in left)) for name in group)
            left = [name for name in left if name not in group]
    return level


def loss(values, names, retirement, ridge, races=RACES):
    x = dict(zip(names, values))
    total = sum(weight * race_level(x, groups, out, retirement) for groups, out, weight in races)
    return 0.5 * ridge * float(np.square(values).sum()) - total


@pytest.mark.parametrize("retirement", [0.0, 0.25, 1.0])
def test_the_estimate_is_that_of_a_plain_maximiser_with_ties_retirements_and_weights(retirement):
    rater = kn.BradleyTerry(ridge=0.07, retirement=retirement).fit(read(RACES))
    names = rater._state.name_index.names
    found = minimize(loss, np.zeros(5), (names, retirement, 0.07), method="BFGS", options={"gtol": 1e-8}).x
    wanted = dict(zip(names, 1500 + POINTS * (found - found.mean())))
    for name, rating, games in rater.ratings_.select("name", "rating", "matches").iter_rows():
        assert rating == pytest.approx(wanted[name], abs=0.01)
        assert games == sum(any(name in group for group in [*groups, out]) for groups, out, _ in RACES)
    assert rater.parameters_["retirement"] == retirement
    # Errors: curvature and squared scores of races, by differences of what is written down above.
    h, eye = 1e-4, np.eye(5)
    hessian = np.array([[
        (loss(found + h * (a + b), names, retirement, 0.07) - loss(found + h * (a - b), names, retirement, 0.07)
         - loss(found - h * (a - b), names, retirement, 0.07) + loss(found - h * (a + b), names, retirement, 0.07))
        / (4 * h * h) for b in eye] for a in eye])  # fmt: skip
    squared = 0.07 * eye
    for groups, out, weight in RACES:
        score = np.array([
            (race_level(dict(zip(names, found + h * a)), groups, out, retirement)
             - race_level(dict(zip(names, found - h * a)), groups, out, retirement)) / (2 * h) for a in eye
        ])  # fmt: skip
        squared += weight * np.outer(score, score)
    inverse = np.linalg.inv(hessian)
    centred = eye - 0.2
    covariance = centred @ inverse @ squared @ inverse @ centred
    errors = dict(zip(names, POINTS * np.sqrt(np.diagonal(covariance))))
    for name, error in rater.ratings_.select("name", "uncertainty").iter_rows():
        assert error == pytest.approx(errors[name], rel=1e-3)


def test_steps_are_those_of_the_whole_matrix_and_leave_the_held_alone():
    rater = kn.BradleyTerry(ridge=0.02, retirement=0.3, anchor={"A": 1450.0, "C": 1580.0}).fit(read(RACES))
    likelihood = rater._likelihood()
    assert isinstance(likelihood, OrderLikelihood)
    theta = rater._theta + 0.2 * np.sin(np.arange(5.0))
    _, gradient, weights = likelihood.slopes(theta)
    matrix, h = likelihood.curvature(theta), 1e-5
    for k, row in enumerate(matrix):
        up, down = (likelihood.slopes(theta + s * h * np.eye(5)[k]) for s in (1, -1))
        assert (up[0] - down[0]) / (2 * h) == pytest.approx(gradient[k], abs=1e-6)
        assert row == pytest.approx((up[1] - down[1]) / (2 * h), abs=1e-6)
    free = likelihood.free
    step = likelihood.newton_step(weights, free, gradient, 1e-20)
    assert step[~free].tolist() == [0.0, 0.0]
    assert step[free] == pytest.approx(np.linalg.solve(matrix[np.ix_(free, free)], gradient[free]), rel=1e-8)
    shown = dict(rater.ratings_.select("name", "rating").iter_rows())
    assert (shown["A"], shown["C"]) == pytest.approx((1450.0, 1580.0))


def test_contests_of_two_are_comparisons():
    table = {"home": list("ABCABD"), "away": list("BCDDCA"), "result": [1, 0, 1, 1, 0, 1], "neutral": [True] * 6}
    matches = kn.read_matches(table)
    one = kn.BradleyTerry(ridge=0.1, ties=0.0).fit(matches)
    other = kn.BradleyTerry(ridge=0.1).fit(kn.matches.Contests.from_matches(matches))
    assert other.ratings_["name"].to_list() == one.ratings_["name"].to_list()
    for column in ("rating", "uncertainty"):
        assert other.ratings_[column].to_list() == pytest.approx(one.ratings_[column].to_list(), rel=1e-6)
    pair = one.predict_one("A", "C", neutral=True).probabilities[0]
    assert other.predict_one("A", "C").probabilities[0] == pytest.approx(pair)
    assert other.predict_one(["A", "C"]).win == pytest.approx([pair[0], pair[2]], abs=1e-6)


def test_the_chance_of_a_place_is_that_of_plackett_and_luce():
    rater = kn.BradleyTerry(ridge=0.05).fit(read(RACES))
    strength = dict(rater.ratings_.select("name", "rating").iter_rows())
    said = rater.predict_one(["A", "C", "E", "somebody new"])
    weight = np.exp(np.array([strength["A"], strength["C"], strength["E"], 1500.0]) / POINTS)
    assert said.win == pytest.approx(weight / weight.sum(), abs=1e-5) and said.unknown == ("somebody new",)
    second = sum(weight[0] * weight[k] / (weight.sum() - weight[k]) for k in (1, 2, 3)) / weight.sum()
    assert said.places(0)[0, 1] == pytest.approx(second, abs=1e-4)


def chain(near, seed, entrants=100, contests=500, size=10):
    """Contests of ten among the nearest some of one entrant, by strength; strengths by name."""
    g = np.random.default_rng(seed)
    strength = np.sort(g.normal(0.0, 200.0, entrants))
    races = []
    for _ in range(contests):
        among = np.argsort(np.abs(strength - strength[g.integers(entrants)]))[:near]
        field = g.choice(among, size, replace=False)
        field = field[np.argsort(-strength[field] / POINTS - g.gumbel(size=size))]
        races.append(([[f"P{k:03d}"] for k in field], [], 1.0))
    return read(races), {f"P{k:03d}": value for k, value in enumerate(strength)}


@pytest.mark.parametrize(("near", "seed"), [(18, 1), (18, 2), (12, 1)])
def test_a_chain_of_neighbours_keeps_its_length(near, seed):
    """Where fields are as alike as .92 and .96, RankElo's slope is .2 and .01."""
    races, strength = chain(near, seed)
    rater = kn.BradleyTerry().fit(races)
    table = rater.intervals(0.95)
    true = np.array([strength[name] for name in table["name"]])
    true += 1500 - true.mean()
    slope, correlation = np.polyfit(true, table["rating"], 1)[0], np.corrcoef(true, table["rating"])[0, 1]
    assert rater.ridge_ == 0.01
    assert 0.8 < slope < 1.2 and correlation > 0.97
    held = np.mean((table["low"].to_numpy() <= true) & (true <= table["high"].to_numpy()))
    assert held >= 0.85  # errors of neighbours are alike: the share varies more than that of independent ones


def test_where_fields_are_drawn_from_all_the_prior_is_found_by_contests_left_out():
    """Forty entrants with three contests each: they are believed to lie within a few hundred points."""
    table = kn.matches.sample_contests(contests=24, entrants=40, size=5, seed=4)
    rater = kn.BradleyTerry().fit(kn.read_contests(table))
    assert rater.ridge_ > 0.05
    assert kn.BradleyTerry().fit(kn.read_contests(kn.matches.sample_contests(400, 12, 6, seed=4))).ridge_ <= 0.1


def test_retirements_count_where_they_tell_and_not_where_they_are_luck():
    g, races = np.random.default_rng(3), []
    strength = np.linspace(-2, 2, 14)
    for c in range(300):
        field = g.choice(14, 7, replace=False)
        order = field[np.argsort(-strength[field] - g.gumbel(size=7))].tolist()
        out = order[5:] if c % 2 else []
        races.append(([[f"P{k}"] for k in order if k not in out], [f"P{k}" for k in out], 1.0))
    assert kn.BradleyTerry().fit(read(races)).parameters_["retirement"] >= 0.1
    lucky = []
    for _ in range(300):  # two of any place do not finish
        field = g.choice(14, 7, replace=False)
        order = field[np.argsort(-strength[field] - g.gumbel(size=7))].tolist()
        out = g.choice(order, 2, replace=False).tolist()
        lucky.append(([[f"P{k}"] for k in order if k not in out], [f"P{k}" for k in out], 1.0))
    assert kn.BradleyTerry().fit(read(lucky)).parameters_["retirement"] <= 0.1


def test_pools_that_never_meet_are_said_and_shown():
    apart = [([["A"], ["B"], ["C"]], [], 1.0), ([["X"], ["Y"]], [], 1.0), ([["B"], ["A"]], ["C"], 1.0)]
    with pytest.warns(KineloWarning, match="form 2 pools .* outside the largest are 'X', 'Y'"):
        rater = kn.BradleyTerry(ridge=0.2).fit(read(apart))
    pools = dict(rater.intervals().select("name", "pool").iter_rows())
    assert pools == {"A": 1, "B": 1, "C": 1, "X": 2, "Y": 2}
    with pytest.raises(InputError, match="ridge=0 cannot place"):
        kn.BradleyTerry(ridge=0.0).fit(read(apart))


def test_in_pieces_stored_and_one_by_one_it_is_the_same_rater():
    races = read(RACES)
    whole = kn.BradleyTerry(ridge=0.05).fit(races)
    pieces = kn.BradleyTerry(ridge=0.05).update(races[:2]).update(races[2:])
    kept = kn.BradleyTerry(ridge=0.05)
    kept.from_arrays(whole.to_arrays())
    by_name = kn.BradleyTerry(ridge=0.05).update(races[:3])
    by_name.update_one(["C", "D", "B"], ranks=[1, 2, 2], date="2020-01-04")
    assert pieces.ratings_.equals(whole.ratings_) and kept.parameters_ == whole.parameters_
    assert kept.ratings_["rating"].to_list() == pytest.approx(whole.ratings_["rating"].to_list(), rel=1e-9)
    four = kn.BradleyTerry(ridge=0.05).update(races[:4]).ratings_
    assert by_name.ratings_["rating"].to_list() == pytest.approx(four["rating"].to_list(), rel=1e-9)
    # What is stored goes on alike.
    assert kept.update(read([*RACES[:5], RACES[0]])[5:]).ratings_["matches"].sum() == sum(races.sizes) + 4


def test_a_walk_forecasts_from_what_was_before_and_scores_as_a_backtest():
    races, _ = chain(30, 5, entrants=20, contests=60)
    rater = kn.BradleyTerry(ridge=0.1, refit_days=10.0)
    test = kn.backtest(races, {"batch": rater, "rank": kn.RankElo()}, train_until=races.date[30])
    said, early = test.forecasts["batch"], kn.BradleyTerry(ridge=0.1).fit(races[:30])
    assert len(said) == 30 and said.law == "gumbel"
    assert said.mean[: races.sizes[:10].sum()] == pytest.approx(early.predict(races[30:40]).mean)
    late = kn.BradleyTerry(ridge=0.1).fit(races[:40])
    assert said.mean[races.sizes[30:40].sum() : races.sizes[30:41].sum()] == pytest.approx(
        late.predict(races[40:41]).mean, abs=1e-6
    )


def test_draws_of_the_bootstrap_are_about_as_wide_as_the_sandwich():
    races = kn.read_contests(kn.matches.sample_contests(contests=300, entrants=10, size=5, seed=2))
    rater = kn.BradleyTerry().fit(races)
    one, other = (rater.intervals(method=method).sort("name") for method in ("sandwich", "bootstrap"))
    ratio = (other["high"] - other["low"]) / (one["high"] - one["low"])
    assert ratio.mean() == pytest.approx(1.0, abs=0.06) and ratio.min() > 0.8 and ratio.max() < 1.25
    assert other["rank"].to_list() == one["rank"].to_list()


def test_either_matches_or_contests_and_nothing_that_contests_do_not_have():
    matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [1, 0]})
    races = read(RACES)
    rater = kn.BradleyTerry().fit(races)
    before = rater.ratings_
    with pytest.raises(InputError, match="has compared contests, and what it is handed now are matches"):
        rater.update(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1], "date": ["2024-01-01"]}))
    assert rater.ratings_.equals(before)
    with pytest.raises(InputError, match="has compared matches, and what it is handed now are contests"):
        kn.BradleyTerry().fit(matches).update(races)
    assert rater.fit(matches).ratings_.height == 3 and "retirement" not in rater.parameters_
    for given in ({"covariates": ["x"]}, {"ties": 0.5}, {"home_advantage": 30.0}):
        with pytest.raises(InputError, match=f"BradleyTerry.{next(iter(given))}=….* says something of matches"):
            kn.BradleyTerry(**given).fit(races)
    with pytest.raises(InputError, match="at most 1"):
        kn.BradleyTerry(retirement=1.5)


def test_stored_orders_that_are_none_are_refused():
    arrays = kn.BradleyTerry(ridge=0.05).fit(read(RACES)).to_arrays()
    spoiled = {
        "first": np.array([0, 4, 3, 13, 16, 19, 24]), "entrant": np.full_like(arrays["entrant"], 9),
        "tied": arrays["tied"] + 1, "counts": -arrays["counts"], "retirement": np.array([2.0]),
    }  # fmt: skip
    for name, values in spoiled.items():
        with pytest.raises(InputError):
            kn.BradleyTerry(ridge=0.05).from_arrays(arrays | {name: values})
