"""The batch estimate against a plain maximiser, and what its intervals and pools must satisfy."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import poisson

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.raters.bradley_terry import rater as bradley_terry
from kinelo.raters.bradley_terry.likelihood import Resampling, rank_intervals, ranks_of_draws, sandwich


def points(kappa):
    """Units of x per rating point: the expected result rises by ln 10 / 800 a point between equals."""
    return math.log(10) / 800 * (1 + kappa / 2)


def votes(n=400, contestants=6, seed=1, kappa=0.7, first=0.2, effect=0.0, neutral=0.3):
    """Comparisons of contestants of known strength (in units of x), some on neutral ground, with a covariate."""
    rng = np.random.default_rng(seed)
    a = np.linspace(-0.8, 0.8, contestants)
    i = rng.integers(0, contestants, n)
    j = (i + rng.integers(1, contestants, n)) % contestants
    elsewhere = rng.random(n) < neutral
    length = np.round(rng.normal(0, 1, n), 1)
    x = a[i] - a[j] + first * ~elsewhere + effect * length
    up = np.exp(x)
    total = up + kappa + 1 / up
    u = rng.random(n)
    result = np.where(u < up / total, 1.0, np.where(u < (up + kappa) / total, 0.5, 0.0))
    table = {
        "home": [f"c{k}" for k in i],
        "away": [f"c{k}" for k in j],
        "result": result,
        "neutral": elsewhere,
        "length": length,
        "weight": rng.choice([1.0, 1.9], n),
    }
    return kn.read_matches(table, conditions=["length"]), a


def plain_estimate(matches, ridge, covariate):
    """Log-likelihood written down match by match, maximised by a general method."""
    names = sorted(set(matches.teams))
    n = len(names)
    at = np.array([names.index(team) for team in matches.teams])
    i, j = at[matches.home], at[matches.away]
    levels = matches.conditions["length"]
    length = np.array([float(levels.levels[c]) for c in levels.codes])

    def loss(p):
        a, first, gamma, t = p[:n], p[n], p[n + 1] if covariate else 0.0, p[-1]
        x = a[i] - a[j] + first * ~matches.neutral + gamma * length
        D = np.exp(x) + math.exp(t) + np.exp(-x)
        S = 2 * matches.result - 1
        log_p = np.where(S == 0, t, S * x) - np.log(D)
        believed = 0.5 * ridge * ((2 * a) ** 2).sum() + first**2 / 8 + (t + math.log(2)) ** 2 / 18
        return believed - (matches.weight * log_p).sum()

    found = minimize(loss, np.zeros(n + 2 + covariate), method="BFGS", options={"gtol": 1e-7, "maxiter": 500})
    a = found.x[:n]
    return dict(zip(names, 1500 + (a - a.mean()) / points(math.exp(found.x[-1])))), found.x


@pytest.mark.parametrize("covariate", [False, True])
def test_estimate_agrees_with_a_general_maximiser(covariate):
    matches, _ = votes(effect=0.4 if covariate else 0.0)
    rater = kn.BradleyTerry(covariates=["length"] if covariate else (), ridge=0.05).fit(matches)
    wanted, p = plain_estimate(matches, 0.05, covariate)
    for name, rating in rater.ratings_.select("name", "rating").iter_rows():
        assert rating == pytest.approx(wanted[name], abs=0.02)
    assert rater.parameters_["home_advantage"] == pytest.approx(p[6] / points(math.exp(p[-1])), abs=0.02)
    assert rater.parameters_["ties"] == pytest.approx(math.exp(p[-1]), rel=1e-4)
    if covariate:
        assert rater.covariates_["length"] == pytest.approx(p[7] / points(math.exp(p[-1])), abs=0.02)


def test_curvature_and_squared_scores_are_derivatives():
    matches, _ = votes(60, effect=0.3)
    rater = kn.BradleyTerry(covariates=["length"], ridge=0.05).fit(matches)
    likelihood = rater._likelihood()
    theta = rater._theta + 0.1 * np.sin(np.arange(likelihood.size))
    value, gradient, _ = likelihood.slopes(theta)
    H, B = likelihood.curvature(theta), likelihood.squared_scores(theta)
    h = 1e-5
    for k in range(likelihood.size):
        up, down = (likelihood.slopes(theta + s * h * np.eye(likelihood.size)[k]) for s in (1, -1))
        assert (up[0] - down[0]) / (2 * h) == pytest.approx(gradient[k], abs=1e-5)
        np.testing.assert_allclose((up[1] - down[1]) / (2 * h), H[k], atol=1e-5)
    np.testing.assert_allclose(likelihood.slopes(theta, curved=False)[1], gradient)
    scores = np.zeros_like(B)
    bare = likelihood.over(likelihood.cells)
    bare.added = np.zeros(bare.size)
    for cell, outcome in zip(*np.nonzero(likelihood.cells.counts)):
        one = np.zeros_like(likelihood.cells.counts)
        one[cell, outcome] = 1.0
        s = bare.over(likelihood.cells._replace(counts=one)).slopes(theta)[1]
        scores += likelihood.cells.counts[cell, outcome] * np.outer(s, s)
    np.testing.assert_allclose(B, scores, atol=1e-9)
    assert value > 0


def dense_maximum(likelihood, theta):
    """Newton's method with the matrix written out, until a step changes nothing."""
    for _ in range(100):
        _, gradient, _ = likelihood.slopes(theta)
        step = likelihood.solve(likelihood.curvature(theta), gradient)
        theta = theta - step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-12:
            return theta
    raise AssertionError("Newton's method does not end")


@pytest.mark.parametrize(
    ("reach", "ridge", "anchor", "unit"),
    [(150, 0.01, {}, 1.0), (2, 1e-5, {}, 1.0), (2, 0.0, {}, 1.0), (5, 0.01, {"c3": 1400.0, "c7": 1650.0}, 1e4)],
    ids=["many opponents", "a chain", "a chain without a prior", "anchors and a covariate in large units"],
)
def test_maximum_is_that_of_newtons_method_with_the_whole_matrix(reach, ridge, anchor, unit):
    """Sides play those within reach of them: with a short one, the ends of a chain are compared over many matches."""
    rng = np.random.default_rng(3)
    n, sides = 4000, 150
    i = rng.integers(0, sides, n)
    j = (i + rng.integers(1, reach, n)) % sides if reach > 2 else np.clip(i + rng.choice([-1, 1], n), 0, sides - 1)
    i, j = i[i != j], j[i != j]
    x = np.sin(i) - np.sin(j) + 0.2
    result = np.select([rng.random(i.size) < 0.3, rng.random(i.size) < 1 / (1 + np.exp(-2 * x))], [0.5, 1.0], 0.0)
    table = {"home": [f"c{k}" for k in i], "away": [f"c{k}" for k in j], "result": result}
    table |= {"size": unit * np.round(rng.normal(0, 1, i.size), 2), "match_id": np.arange(i.size)}
    matches = kn.read_matches(table, conditions=["size"])
    rater = kn.BradleyTerry(ridge=ridge, anchor=anchor, covariates=["size"]).fit(matches)
    likelihood = rater._likelihood()
    wanted = dense_maximum(likelihood, np.where(likelihood.free, 0.0, rater._theta))
    cells, sides = likelihood.cells, likelihood.n
    found, plain = (t[cells.i] - t[cells.j] + cells.c @ t[sides:-1] for t in (rater._theta, wanted))
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-8)
    assert rater._theta[-1] == pytest.approx(wanted[-1], abs=1e-8)


def test_order_of_the_votes_does_not_matter_to_it_and_does_to_elo():
    matches, _ = votes(600, neutral=1.0)
    order = np.random.default_rng(0).permutation(len(matches))
    shuffled = matches[order]
    one, other = (kn.BradleyTerry().fit(m).ratings_.sort("name")["rating"].to_numpy() for m in (matches, shuffled))
    np.testing.assert_allclose(one, other, atol=1e-6)
    one, other = (
        kn.TeamElo.classic(k=32).fit(m).ratings_.sort("name")["rating"].to_numpy() for m in (matches, shuffled)
    )
    assert np.abs(one - other).max() > 10


def test_votes_may_come_in_pieces():
    matches, _ = votes(300)
    whole = kn.BradleyTerry().fit(matches)
    pieces = kn.BradleyTerry().fit(matches[:100]).update(matches[100:])
    again = kn.BradleyTerry()
    again.from_arrays(pieces.to_arrays())
    for rater in (pieces, again):
        np.testing.assert_allclose(rater.ratings_["rating"].to_numpy(), whole.ratings_["rating"].to_numpy(), atol=1e-5)


def test_forecasts_are_those_of_the_model_and_of_the_refits_asked_for():
    matches, _ = votes(300)
    dated = kn.read_matches(
        {
            "date": (np.datetime64("2024-01-01") + np.arange(300) // 3).astype(str).tolist(),
            "home": [matches.teams[k] for k in matches.home],
            "away": [matches.teams[k] for k in matches.away],
            "result": matches.result,
            "match_id": np.arange(300),
        }
    )
    rater = kn.BradleyTerry(refit_days=40.0).fit(dated[:120])
    ahead = rater.one_step_ahead(dated[120:]).probabilities
    np.testing.assert_allclose(ahead.sum(axis=1), 1.0)
    begun = kn.BradleyTerry().fit(dated[:120]).ridge_  # a walk keeps the ridge that it began with
    by_hand = [kn.BradleyTerry(ridge=begun).fit(dated[:stop]).predict(dated[stop : stop + 120]) for stop in (120, 240)]
    np.testing.assert_allclose(ahead, np.concatenate([f.probabilities for f in by_hand]), atol=1e-6)
    test = kn.backtest(dated, kn.BradleyTerry(refit_days=7.0), train_until="2024-02-10")
    assert test.scores["log_loss"][0] < math.log(3)
    stranger = kn.read_matches({"home": ["c5"], "away": ["nobody"]}, played=False)
    assert rater.predict(stranger).unknown == ("nobody",)
    assert rater.predict(stranger).points[0] > 0.5


def test_anchors_set_the_scale():
    matches, _ = votes()
    free = kn.BradleyTerry().fit(matches)
    ratings = dict(free.ratings_.select("name", "rating").iter_rows())
    one = kn.BradleyTerry(anchor={"c2": 1000.0}).fit(matches)
    shifted = dict(one.ratings_.select("name", "rating").iter_rows())
    for name in ratings:
        assert shifted[name] - ratings[name] == pytest.approx(1000.0 - ratings["c2"], abs=1e-6)
    assert one.ratings_.filter(name="c2")["uncertainty"][0] == pytest.approx(0.0, abs=1e-6)
    two = kn.BradleyTerry(anchor={"c0": 1400.0, "c5": 1450.0}).fit(matches)
    held = dict(two.ratings_.select("name", "rating").iter_rows())
    assert (held["c0"], held["c5"]) == pytest.approx((1400.0, 1450.0))
    assert held["c0"] < held["c3"]
    spread = dict(two.ratings_.select("name", "uncertainty").iter_rows())
    assert spread["c0"] == spread["c5"] == 0.0 < spread["c3"]


def test_who_always_won_stays_finite_and_pools_are_named():
    table = {"home": ["A"] * 9 + ["X"] * 5, "away": ["B"] * 4 + ["C"] * 5 + ["Y"] * 5, "result": [1.0] * 14}
    matches = kn.read_matches(table | {"neutral": [True] * 14})
    with pytest.warns(KineloWarning, match="2 pools that no comparison connects.*'X', 'Y'"):
        rater = kn.BradleyTerry().fit(matches)
    ratings = rater.ratings_["rating"].to_numpy()
    assert np.isfinite(ratings).all() and np.ptp(ratings) < 4000
    assert dict(rater.intervals().select("name", "pool").iter_rows()) == {"A": 1, "B": 1, "C": 1, "X": 2, "Y": 2}
    with pytest.raises(InputError, match="ridge above 0"):
        kn.BradleyTerry(ridge=0.0).fit(matches)


def test_intervals_hold_the_truth():
    """30 tables of 500 votes among 6. 95 % intervals hold 171 ± 2.9 of 180; squares of (found − true)/error average
    1 ± .115 with five free strengths a table; either is 3.3 of these off once in a thousand. A bootstrap of 100
    resamples is as wide as the sandwich: a width is sure to 12 %, the mean over 8 tables to 4 %.
    """
    held, ranked, pulls, wider = 0, 0, [], []
    for seed in range(30):
        matches, a = votes(500, seed=seed, neutral=1.0)
        rater = kn.BradleyTerry().fit(matches)
        table = rater.intervals().sort("name")
        low, high, rating = (table[column].to_numpy() for column in ("low", "high", "rating"))
        true = 1500 + (a - a.mean()) / points(0.7)
        held += int(np.sum((low <= true) & (true <= high)))
        error = rater.ratings_.sort("name")["uncertainty"].to_numpy()
        np.testing.assert_allclose([rating - low, high - rating], [1.959964 * error] * 2, rtol=1e-6)
        pulls.append((rating - true) / error)
        true_rank = 6 - np.arange(6)
        ranked += int(
            np.sum((table["rank_low"].to_numpy() <= true_rank) & (true_rank <= table["rank_high"].to_numpy()))
        )
        if seed < 8:
            drawn = rater.intervals(method="bootstrap", resamples=100).sort("name")
            wider.append((drawn["high"] - drawn["low"]).to_numpy() / (high - low))
    assert 161 <= held <= 179
    assert (np.square(pulls).sum() / (30 * 5)) == pytest.approx(1.0, abs=0.38)
    assert np.mean(wider) == pytest.approx(1.0, abs=0.13)
    assert ranked >= 161


def test_a_rank_is_bounded_by_those_who_are_surely_better_and_surely_worse():
    """By loops over pairs, where strengths are correlated and answers all differ: A and B move together, so that 30
    points decide between them and 60 do not between B and C.
    """
    strength = np.array([1530.0, 1500.0, 1440.0, 1300.0])
    covariance = np.array(
        [[900.0, 850.0, 0.0, 0.0], [850.0, 900.0, 0, 0], [0, 0, 400.0, -100.0], [0, 0, -100.0, 400.0]]
    )
    low, high = rank_intervals(strength, covariance, 0.95)
    for k in range(4):
        better, worse = 0, 0
        for j in set(range(4)) - {k}:
            error = math.sqrt(covariance[k, k] + covariance[j, j] - 2 * covariance[j, k])
            better += strength[j] - strength[k] > 1.959964 * error
            worse += strength[k] - strength[j] > 1.959964 * error
        assert (low[k], high[k]) == (1 + better, 4 - worse), k
    assert (low.tolist(), high.tolist()) == ([1, 2, 2, 4], [1, 3, 3, 4])


def test_ranks_of_draws_are_quantiles_of_their_places():
    """100 draws in which A is first in 97, B in 3, C is last in all but one."""
    draws = np.tile([30.0, 20.0, 10.0], (100, 1))
    draws[:3] = [20.0, 30.0, 10.0]
    draws[3] = [30.0, 10.0, 20.0]
    low, high = ranks_of_draws(draws, 0.90)
    assert low.tolist() == [1, 2, 3] and high.tolist() == [1, 2, 3]
    low, high = ranks_of_draws(draws, 0.96)
    assert low.tolist() == [1, 1, 3] and high.tolist() == [2, 2, 3]


def test_weights_widen_the_sandwich_and_turned_rows_say_the_same():
    """All weights 2.5: unchanged, since errors of the sandwich do not depend on the unit of weights. Sides exchanged,
    and what speaks for the first with them: the same ratings and effects. Uneven weights: fewer count.
    """
    matches, _ = votes(400, effect=0.4, neutral=1.0)

    def rated(weight, turned=False):
        levels = matches.conditions["length"]
        length = np.array([float(levels.levels[c]) for c in levels.codes])
        sides = [[matches.teams[k] for k in codes] for codes in (matches.home, matches.away)]
        home, away = sides[::-1] if turned else sides
        table = {"home": home, "away": away, "neutral": [True] * len(length), "weight": weight}
        table |= {"result": 1 - matches.result if turned else matches.result, "length": -length if turned else length}
        rater = kn.BradleyTerry(covariates=["length"], ridge=0.0).fit(kn.read_matches(table, conditions=["length"]))
        return rater.ratings_.sort("name"), rater.effects_

    (plain, effect), (larger, _), (turned, as_well) = (
        rated(w, t) for w, t in (([1.0] * 400, 0), ([2.5] * 400, 0), ([1.0] * 400, 1))
    )
    for column in ("rating", "uncertainty"):
        assert larger[column].to_list() == pytest.approx(plain[column].to_list(), rel=1e-5)
        assert turned[column].to_list() == pytest.approx(plain[column].to_list(), rel=1e-5)
    assert as_well["effect"].to_list() == pytest.approx(effect["effect"].to_list(), rel=1e-4)
    assert as_well["standard_error"].to_list() == pytest.approx(effect["standard_error"].to_list(), rel=1e-4)
    some = np.where(np.arange(400) % 4 == 0, 4.0, 0.25)
    uneven, _ = rated(some)
    # (Σw)²/Σw² = (1.1875)²/4.047 = .348 of the matches count: errors are 1.69 times as large
    assert (uneven["uncertainty"] / plain["uncertainty"]).mean() == pytest.approx(1.69, abs=0.25)


@pytest.mark.parametrize("covariate", [False, True])
def test_rows_of_many_votes_are_so_many_comparisons(covariate):
    """19 contestants whose votes are counted by pair and result, up to 700 a row: all is as of the votes one by one."""
    rng = np.random.default_rng(62)
    strength = rng.permutation(np.linspace(-0.3, 0.3, 19))
    rows = []
    for i, j in zip(*np.triu_indices(19, 1)):
        if (7 * i + 3 * j) % 5 < 2:
            longer = (i + j) % 2 if covariate else 0
            win = 1 / (1 + np.exp(-2 * (strength[i] - strength[j] + 0.05 * longer)))
            numbers = rng.multinomial(rng.integers(20, 700), [0.9 * win, 0.1, 0.9 * (1 - win)])
            rows += [(f"M{i:02}", f"M{j:02}", result, n, longer) for result, n in zip((1.0, 0.5, 0.0), numbers)]
    rows.append(("M18", "M00", 0.0, 0, 1))  # and nobody voted so

    def rated(part, weight):
        home, away, result, number, longer = zip(*part)
        table = {"home": home, "away": away, "result": result, "longer": longer, "neutral": [True] * len(part)}
        table |= {"weight": [weight(n) for n in number]}
        named = ["longer"] if covariate else []
        return kn.BradleyTerry(covariates=named).fit(kn.read_matches(table, conditions=["longer"]))

    counted = rated(rows, lambda n: n)
    single = rated([row for row in rows for _ in range(row[3])], lambda n: 1)
    assert counted.ridge_ == single.ridge_ == 0.01
    for method in ("sandwich",) if covariate else ("sandwich", "bootstrap"):
        one, other = (r.intervals(method=method, resamples=60).sort("name") for r in (counted, single))
        for name in ("rating", "low", "high"):
            assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=0.02)
        assert one["rank_low"].to_list() == other["rank_low"].to_list()
        assert one["rank_high"].to_list() == other["rank_high"].to_list()
        assert (one["high"] - one["low"]).mean() < 40.0
    if covariate:
        assert counted.effects_["standard_error"][0] == pytest.approx(single.effects_["standard_error"][0], rel=1e-4)
    # Weights of which one is no whole number say how much a row counts: a row is one comparison.
    shares = rated(rows, lambda n: n + (n == 0) / 2)
    assert shares.ridge_ > 1.0 and (shares.intervals()["high"] - shares.intervals()["low"]).mean() > 60.0


def test_a_state_says_whether_its_weights_are_whole():
    """In pieces and from arrays it is the same; states of earlier versions say it where all weights are 1."""
    table = {
        "home": [*"ABCABCA"],
        "away": [*"BCABCAB"],
        "result": [1, 1, 0, 0.5, 0, 1, 1],
        "weight": [3, 1, 4, 1, 5, 9, 2],
    }
    votes, half = kn.read_matches(table), kn.read_matches({**table, "weight": [3, 1, 4, 1, 5, 9, 2.5]})
    assert half[:6].weight.tolist() == votes[:6].weight.tolist()
    pieces = kn.BradleyTerry(ridge=0.01).update(votes[:4]).update(votes[4:])
    again = kn.BradleyTerry(ridge=0.01)
    again.from_arrays(pieces.to_arrays())
    whole = kn.BradleyTerry(ridge=0.01).fit(votes).ratings_["uncertainty"].to_list()
    assert pieces.ratings_["uncertainty"].to_list() == pytest.approx(whole, rel=1e-6)
    assert again.ratings_["uncertainty"].to_list() == pytest.approx(whole, rel=1e-6)
    again.update(half[6:])
    wide = kn.BradleyTerry(ridge=0.01).update(votes[:4]).update(votes[4:]).update(half[6:]).ratings_["uncertainty"]
    assert again.ratings_["uncertainty"].to_list() == pytest.approx(wide.to_list(), rel=1e-6)
    assert wide.mean() > 1.3 * np.mean(whole)
    earlier = {name: array for name, array in pieces.to_arrays().items() if name != "whole"}
    again.from_arrays(earlier)
    assert again.ratings_["uncertainty"].mean() > 1.3 * np.mean(whole)
    ones = kn.BradleyTerry(ridge=0.01).fit(kn.read_matches({**table, "weight": [1] * 7}))
    again.from_arrays({name: array for name, array in ones.to_arrays().items() if name != "whole"})
    again.update(votes[6:])
    assert again._state.whole


def test_bootstrap_depends_on_the_seed_alone(monkeypatch):
    matches, _ = votes(200)
    rater = kn.BradleyTerry().fit(matches)
    one = rater.intervals(method="bootstrap", resamples=20, seed=3)
    monkeypatch.setattr("kinelo.raters.bradley_terry.likelihood.usable_processors", lambda: 1)
    assert rater.intervals(method="bootstrap", resamples=20, seed=3).equals(one)
    assert not rater.intervals(method="bootstrap", resamples=20, seed=4).equals(one)


def test_counts_are_drawn_anew_from_the_poisson_law():
    means = np.array([0.3, 1.0, 7.5, 150.0, 5000.0])
    numbers = np.random.default_rng(5).random((400, 4))

    class Given:
        def __init__(self, row):
            self.row = row

        def random(self, n):
            return self.row[:n]

        def poisson(self, mean):
            return np.full(mean.shape, -1.0)

    resample = Resampling(means)
    drawn = np.array([resample(Given(row)) for row in numbers])  # type: ignore[arg-type]
    np.testing.assert_array_equal(drawn[:, :4], poisson.ppf(numbers, means[:4]))
    assert (drawn[:, 4] == -1).all()


def test_bad_input_is_one_sentence():
    matches, _ = votes(50)
    with pytest.raises(InputError, match="'style' was not read"):
        kn.BradleyTerry(covariates=["style"]).fit(matches)
    with pytest.raises(InputError, match="must be a list"):
        kn.BradleyTerry(covariates="length").fit(matches)
    with pytest.raises(InputError, match="method='magic'"):
        kn.BradleyTerry().fit(matches).intervals(method="magic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ridge is a finite number of at least 0"):
        kn.BradleyTerry(ridge=-1.0)
    text = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1], "style": ["bold"]}, conditions=["style"])
    with pytest.raises(InputError, match="must hold numbers"):
        kn.BradleyTerry(covariates=["style"]).fit(text)
    with pytest.raises(InputError, match="Nothing has been compared"):
        kn.BradleyTerry().intervals()


def test_no_matches_are_counted_in_the_same_kind_of_numbers():
    """Compiled loops know one kind, and would be compiled again for whole numbers."""
    matches = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    for some in (matches, matches[:0]):
        assert {getattr(kn.BradleyTerry().update(some)._state, name).dtype.kind for name in ("counts", "events")} == {
            "f"
        }


def test_no_information_is_no_precision():
    """B was met once, away, and lost, which may be the home advantage: that stays as unknown as it was believed to be
    (±2 in x), and B less known than C."""
    table = {"home": list("AAA"), "away": list("BCC"), "result": [1, 1, 1], "neutral": [False, True, True],
             "date": ["2024-01-01", "2024-01-02", "2024-01-03"]}  # fmt: skip
    matches = kn.read_matches(table)
    rater = kn.BradleyTerry(ridge=0.01).fit(matches)
    doubt = dict(rater.ratings_.select("name", "uncertainty").rows())
    points = 800.0 / np.log(10.0)
    assert doubt["C"] < doubt["B"] < points / np.sqrt(4 * 0.01) * np.sqrt(2 / 3)
    assert rater.effects_["standard_error"][0] == pytest.approx(2 * points, rel=0.1)
    history = kn.rating_history(rater, matches)
    assert (history["uncertainty"] > 100).all() and history.height == 6
    assert rater.intervals(method="bootstrap", resamples=5)["rating"].is_finite().all()


def test_where_everything_was_drawn_draws_are_forecast():
    """They were said never to come. Without a belief, or where points are given, draws alone tell nothing."""
    table = kn.read_matches({"home": list("ABCA"), "away": list("BCAB"), "result": [0.5] * 4})
    win, draw, loss = kn.BradleyTerry().fit(table).predict_one("A", "B").probabilities[0]
    assert win == pytest.approx(loss) and 0.85 < draw < 0.95
    for given in ({"ridge": 0.0}, {"anchor": {"A": 1600, "B": 1400}}, {"home_advantage": 50.0}):
        assert kn.BradleyTerry(**given).fit(table).predict_one("A", "B").probabilities[0, 1] == 0.0
    # One that was won among them: the estimate without a belief is near.
    most = kn.read_matches({"home": list("ABCA") * 9, "away": list("BCAB") * 9, "result": [1.0, *[0.5] * 35]})
    assert kn.BradleyTerry().fit(most).predict_one("B", "C").probabilities[0, 1] == pytest.approx(35 / 36, abs=0.02)


@pytest.mark.parametrize("sides", [("AB", "BA"), ("AC", "BA"), ("AA", "BB")])
def test_two_matches_are_not_explained_by_draws_and_the_venue_alone(sides):
    """A home win and a draw: without a belief κ and the advantage grow without end, and nobody is rated."""
    table = {"home": list(sides[0]), "away": list(sides[1]), "result": [1.0, 0.5]}
    rater = kn.BradleyTerry().fit(kn.read_matches(table))
    rating = dict(rater.ratings_.select("name", "rating").rows())
    assert rater.parameters_["ties"] < 10 and -20 < rater.parameters_["home_advantage"] < 400
    assert (100 if sides[0] != "AA" else 40) < rating["A"] - rating["B"] < 800
    chances = rater.predict_one("A", "B").probabilities[0]
    assert chances.min() > 1e-4


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_uncertainty_is_relative_to_the_average_or_to_who_is_held(ridge):
    """What all have in common counts for nobody: covariances with everybody sum to 0, those with the anchor are 0."""
    results = np.random.default_rng(4).choice([1.0, 0.5, 0.0], 60, p=[0.5, 0.2, 0.3])
    games = {"home": list("ABCADB") * 10, "away": list("BCACAD") * 10, "result": results}
    matches = kn.read_matches(games)
    covariance = kn.BradleyTerry(ridge=ridge).fit(matches)._covariance()
    np.testing.assert_allclose(covariance.sum(axis=0), 0.0, atol=1e-7)
    anchored = kn.BradleyTerry(ridge=ridge, anchor={"C": 1480.0}).fit(matches)
    table = dict(anchored.ratings_.select("name", "uncertainty").rows())
    assert table["C"] == 0.0 and min(table[name] for name in "ABD") > 50
    if not ridge:  # a difference of two is as sure whatever they are relative to
        held = anchored._covariance()
        at_once = held[0, 0] + held[3, 3] - 2 * held[0, 3]
        assert at_once == pytest.approx(covariance[0, 0] + covariance[3, 3] - 2 * covariance[0, 3], rel=1e-6)


@pytest.mark.parametrize("anchor", [None, {"B": 1480.0, "D": 1530.0}])
@pytest.mark.parametrize("rounding", [0.0, 20.0])
def test_uncertainties_are_the_sandwich_written_out(anchor, rounding):
    """Of differences of the free ``A⁻¹BA⁻¹``, also where rounding leaves ``B`` a direction of negative squares."""
    results = np.random.default_rng(4).choice([1.0, 0.5, 0.0], 66, p=[0.5, 0.2, 0.3])
    matches = kn.read_matches({"home": list("ABCADBE") * 9 + list("ABC"), "away": list("BCACADA") * 9 + list("EDE"),
                               "result": results})  # fmt: skip
    rater = kn.BradleyTerry(anchor=anchor).fit(matches)
    likelihood, theta = rater._likelihood(), rater._theta
    B = likelihood.squared_scores(theta) - rounding * np.eye(likelihood.size)
    assert (np.linalg.eigvalsh(B).min() < -1.0) == (rounding > 0.0)
    found = sandwich(likelihood, theta, B)
    A, free = likelihood.curvature(theta), np.flatnonzero(likelihood.free)
    prior = np.where(likelihood.added > 1e-4, likelihood.added, 1e-4)
    A, B = A + np.diag(prior - likelihood.added), B + np.diag(prior)
    inverse = np.zeros_like(A)
    inverse[np.ix_(free, free)] = np.linalg.inv(A[np.ix_(free, free)])
    expected, n = inverse @ B @ inverse, len(rater._state)
    if anchor is None:
        apart = np.eye(likelihood.size) - np.pad(np.full((n, n), 1 / n), (0, likelihood.size - n))
        found, expected = apart @ found @ apart.T, apart @ expected @ apart.T
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_uncertainties_are_worked_out_once_for_all_questions_until_something_is_learnt(monkeypatch):
    games = {"home": list("ABCADB") * 10, "away": list("BCACAD") * 10, "result": [1, 0.5, 0, 1, 0, 1] * 10}
    matches, asked = kn.read_matches(games), []
    monkeypatch.setattr(bradley_terry, "sandwich", lambda *given: asked.append(1) or sandwich(*given))
    rater = kn.BradleyTerry().fit(matches[:40])
    first = rater.ratings_
    for _ in range(2):
        kn.next_matches(rater, count=3)
    assert rater.ratings_.equals(first) and len(asked) == 1
    rater.set_params(ridge=5.0)  # what was fitted stays as it is until the next fit
    assert rater.ratings_.equals(first)
    rater.set_params(ridge=None)
    for learn in (rater.update, rater.fit):
        learn(matches[40:])
        unasked = kn.BradleyTerry().fit(matches[:40]).update(matches[40:])
        if learn == rater.fit:
            unasked = kn.BradleyTerry().fit(matches[40:])
        assert rater.ratings_.equals(unasked.ratings_)
    other = kn.BradleyTerry().fit(matches)
    other.ratings_  # noqa: B018
    other.from_arrays(rater.to_arrays())
    assert other.ratings_["uncertainty"].to_list() == pytest.approx(rater.ratings_["uncertainty"].to_list(), rel=1e-9)
    monkeypatch.setattr(bradley_terry, "MOST_KEPT", 4)  # fewer than the unknowns
    rater.fit(matches)
    del asked[:]
    assert rater.ratings_.equals(rater.ratings_) and len(asked) == 2
