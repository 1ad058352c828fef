"""The Gaussian filter against a plain NumPy filter, and what its forecasts must satisfy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.matches.matches import SideOrder
from kinelo.raters.what_if import with_points

YEAR = 365.25
HOME, NEUTRAL, LEVEL, FIRST = range(4)
"""Rows of the plain filter after the two venues: the level of newcomers, then the sides."""

VALUES = {
    "walk": 0.3,
    "prior_spread": 1.3,
    "noise": 1.1,
    "home_spread": 0.2,
    "venue_walk": 0.05,
    "newcomer": -0.7,
    "opponent_prior": 0.3,
    "regression": 0.1,
    "margin_power": 0.8,
    "sharpness": 1.4,
    "ties": 0.3,
    "doubt": 1.6,
}
GIVEN = {name: value for name, value in VALUES.items() if name != "opponent_prior"}
"""All but one, so that nothing is taken from the first matches, as from those of a fit."""


def league(matches=120, teams=7, seed=1, first_day="1968-03-01", draws=True):
    rng = np.random.default_rng(seed)
    names = np.array([f"T{k}" for k in range(teams)])
    pairs = np.array([rng.choice(min(teams, 3 + k // 10), 2, replace=False) for k in range(matches)])
    margin = rng.integers(-3, 4, matches)
    if not draws:
        margin[margin == 0] = 1
    day = np.datetime64(first_day) + np.cumsum(rng.integers(0, 20, matches))
    table = {
        "date": day.astype(str).tolist(),
        "home": names[pairs[:, 0]].tolist(),
        "away": names[pairs[:, 1]].tolist(),
        "home_score": np.maximum(margin, 0).tolist(),
        "away_score": np.maximum(-margin, 0).tolist(),
        "neutral": rng.random(matches) < 0.3,
        "weight": rng.choice([0.5, 1.0, 2.0], matches).tolist(),
    }
    return kn.read_matches(table, ordered=True)


def plain_filter(matches, v, unit, full=True):
    """Textbook Kalman filter on dense matrices; rows: two venues, the newcomers' level, teams by first appearance."""
    order = list(dict.fromkeys(np.column_stack([matches.home, matches.away]).ravel().tolist()))
    row = {code: FIRST + k for k, code in enumerate(order)}
    n = FIRST + len(order)
    x, C = np.zeros(n), np.zeros((n, n))
    x[LEVEL] = v["newcomer"]
    C[0, 0] = C[1, 1] = C[LEVEL, LEVEL] = v["noise"] ** 2
    eta, eta_v = np.zeros(n), np.full(n, v["home_spread"] ** 2)
    last, start, today = {}, matches.day[0], matches.day[0]
    means, variances = [], []
    for g in range(len(matches)):
        day = matches.day[g]
        C[0, 0] += v["venue_walk"] ** 2 * (day - today) / YEAR
        C[1, 1] += v["venue_walk"] ** 2 * (day - today) / YEAR
        C[LEVEL, LEVEL] += v["walk"] ** 2 * (day - today) / YEAR
        today = day
        i, j = row[matches.home[g]], row[matches.away[g]]
        for r in (i, j):
            if r in last:
                years, rho = (day - last[r]) / YEAR, v["regression"]
                F = np.eye(n)
                F[r, r] = math.exp(-rho * years)
                x, C = F @ x, F @ C @ F.T
                C[r, r] += v["walk"] ** 2 * (1 - F[r, r] ** 2) / (2 * rho)
        load = {}
        for r, other in ((i, j), (j, i)):
            if r not in last:
                lean = v["opponent_prior"] if other in last else 0.0
                load[r] = (1 - lean) * (1 - math.exp(-(day - start) / YEAR))
                F = np.eye(n)
                F[r, r], F[r, LEVEL], F[r, other] = 0, load[r], lean
                x, C = F @ x, F @ C @ F.T
                C[r, r] += v["prior_spread"] ** 2
                if not full:
                    C = np.diag(np.diag(C))
        last[i] = last[j] = day
        h = np.zeros(n)
        h[i], h[j], h[1 if matches.neutral[g] else 0] = 1, -1, 1
        own = 0.0 if matches.neutral[g] else 1.0
        mean, variance = h @ x + own * eta[i], h @ C @ h + own * eta_v[i]
        means.append(mean)
        variances.append(variance)
        m = matches.margin[g]
        surprise = np.sign(m) * abs(m / unit) ** v["margin_power"] - mean
        unit += (abs(m) - unit) / 1000
        S = variance + v["noise"] ** 2 / matches.weight[g]
        K = C @ h
        if not full:
            K[LEVEL] = C[LEVEL, LEVEL] * (load.get(i, 0.0) - load.get(j, 0.0))
        x = x + K * surprise / S
        C = C - np.outer(K, K) / S
        if not full:
            C = np.diag(np.diag(C))
        if own:
            gain = eta_v[i] / S
            eta[i] += gain * surprise
            eta_v[i] -= gain * eta_v[i]
    return np.array(means), np.array(variances), x, C, [matches.teams[c] for c in order]


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_filter_agrees_with_dense_matrices(covariance):
    matches = league()
    rater = kn.KalmanElo(**GIVEN, covariance=covariance, sharpness_walk=0.0)
    rater._margin_unit = 1.7
    rater._order = SideOrder(home=True, neutral=True)
    p = rater.one_step_ahead(matches).probabilities
    mean, variance, x, C, names = plain_filter(matches, VALUES, 1.7, covariance == "full")
    scale = np.sqrt(1 + VALUES["sharpness"] ** 2 * 1.6 * variance)
    np.testing.assert_allclose(p[:, 0], norm.cdf((1.4 * mean - 0.3) / scale), atol=1e-10)
    np.testing.assert_allclose(p[:, 2], norm.cdf((-1.4 * mean - 0.3) / scale), atol=1e-10)
    assert rater._state.name_index.names == names
    np.testing.assert_allclose(rater._state.strengths(), x[FIRST:], atol=1e-10)
    np.testing.assert_allclose(rater._state.beliefs.x[:FIRST], x[[LEVEL, HOME, NEUTRAL]], atol=1e-10)
    np.testing.assert_allclose(rater._state.covariance(), C[FIRST:, FIRST:], atol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_prediction_of_the_next_match_is_its_one_step_forecast(covariance):
    matches = league(seed=2)
    rater = kn.KalmanElo(**GIVEN, covariance=covariance).update(matches[:80])
    before = {name: values.copy() for name, values in rater.to_arrays().items()}
    foreseen = rater.predict(matches[80:81]).probabilities
    for name, values in rater.to_arrays().items():
        np.testing.assert_array_equal(values, before[name])
    np.testing.assert_allclose(rater.one_step_ahead(matches[80:81]).probabilities, foreseen, atol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("sides", [("T0", "new"), ("new", "T0"), ("new", "newer")])
def test_prediction_of_a_newcomers_match_is_its_one_step_forecast(covariance, sides):
    rater = kn.KalmanElo(**GIVEN, covariance=covariance).update(league(seed=2))
    table = {"date": ["1975-06-01"], "home": [sides[0]], "away": [sides[1]]}
    foreseen = rater.predict(kn.read_matches(table, played=False)).probabilities
    ahead = rater.one_step_ahead(kn.read_matches(table | {"result": [1]})).probabilities
    np.testing.assert_allclose(ahead, foreseen, atol=1e-12)


def test_day_by_day_equals_one_batch_to_the_last_bit():
    matches = league(seed=3)
    batch = kn.KalmanElo(**GIVEN).update(matches)
    daily = kn.KalmanElo(**GIVEN)
    for k in range(0, len(matches), 7):
        again = kn.KalmanElo(**GIVEN)
        if k:
            again.from_arrays(daily.to_arrays())
        daily = again.update(matches[k : k + 7])
    assert daily.ratings_.equals(batch.ratings_) and daily.learnt_ == batch.learnt_
    np.testing.assert_array_equal(daily._state.covariance(), batch._state.covariance())
    coming = league(seed=9)
    np.testing.assert_array_equal(daily.predict(coming).probabilities, batch.predict(coming).probabilities)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.01, 2), st.floats(0.05, 5), st.floats(0.01, 1.5), st.floats(0.1, 5), st.integers(0, 1000))
def test_forecasts_are_probabilities(walk, prior, ties, sharpness, seed):
    matches = league(30, 5, seed)
    forecast = kn.KalmanElo(walk=walk, prior_spread=prior, ties=ties, sharpness=sharpness).one_step_ahead(matches)
    p = forecast.probabilities
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(forecast.points, p[:, 0] + p[:, 1] / 2)


def test_results_tell_about_those_who_did_not_play():
    table = {"home": ["A", "B"], "away": ["B", "C"], "result": [0.5, 1], "neutral": [True, True]}
    rater = kn.KalmanElo(**GIVEN).update(kn.read_matches(table))
    ratings = dict(rater.ratings_.select("name", "rating").iter_rows())
    assert ratings["A"] > 1500 > ratings["C"]
    assert rater.correlation("A", "B") > 0.1
    assert kn.KalmanElo(**GIVEN, covariance="diagonal").update(kn.read_matches(table)).correlation("A", "B") == 0


def test_names_never_met_get_the_prior_and_are_listed():
    rater = kn.KalmanElo(**GIVEN).update(league())
    fixture = kn.read_matches(
        {"home": ["T1", "new"], "away": ["newer", "newer"], "neutral": [True, True]}, played=False
    )
    forecast = rater.predict(fixture)
    assert set(forecast.unknown) == {"new", "newer"}
    assert forecast.probabilities[0, 0] > forecast.probabilities[1, 0]


def test_scaling_every_spread_with_the_noise_keeps_the_means():
    """What lets the noise be found without a search."""
    matches = league(seed=6)
    doubled = {name: 2 * VALUES[name] for name in ("walk", "prior_spread", "noise", "home_spread", "venue_walk")}
    one, two = kn.KalmanElo(**GIVEN).update(matches), kn.KalmanElo(**GIVEN | doubled).update(matches)
    np.testing.assert_allclose(two._state.beliefs.x, one._state.beliefs.x, atol=1e-12)
    np.testing.assert_allclose(two._state.beliefs.C, 4 * one._state.beliefs.C, atol=1e-12)


def wandering_league(seed, sides=20, matches=3000, noise=1.2, walk=0.3):
    """Margins are differences of wandering strengths in noise, to be seen as they are (power 1)."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 8 * 365, matches))
    truth = rng.normal(0, 1, sides) + np.zeros((8 * 365, 1))
    truth[1:] += np.cumsum(rng.normal(0, walk / math.sqrt(YEAR), (8 * 365 - 1, sides)), axis=0)
    home = rng.integers(0, sides, matches)
    away = (home + rng.integers(1, sides, matches)) % sides
    margin = truth[day, home] - truth[day, away] + 0.3 + rng.normal(0, noise, matches)
    table = {
        "date": (np.datetime64("2001-01-01") + day).astype(str).tolist(),
        "home": [f"{k:02d}" for k in home],
        "away": [f"{k:02d}" for k in away],
        "margin": margin,
    }
    return kn.read_matches(table), truth


def test_noise_and_intervals_hold_on_a_league_whose_truth_is_known():
    """2,000 later matches of one league. Mean squares spread by .10 around .92 between 24 such leagues, because scoring
    widens as strengths part and noise is estimated: bounds are at three of that. Those of 20 ratings ran from .4 to 2.5
    in these.
    """
    matches, truth = wandering_league(1)
    rater = kn.KalmanElo(margin_power=1.0, covariance="full").fit(matches[:1000])
    unit = np.abs(matches.margin[:1000]).mean()
    assert rater.parameters_["noise"] == pytest.approx(1.2 / unit, rel=0.1)
    z = kn.raters.surprises(rater, matches[1000:])
    rater.update(matches[1000:])
    assert np.mean(z**2) == pytest.approx(0.92, abs=0.3)
    for level in (0.5, 0.8, 0.95):
        assert np.mean(np.abs(z) < norm.ppf(0.5 + level / 2)) == pytest.approx(level, abs=0.06)
    strength, variance = rater._state.relative(730)
    order = [int(name) for name in rater._state.name_index.names]
    true = truth[-1, order] / rater._unit
    error = (strength - (true - true.mean())) / np.sqrt(variance)
    assert 0.3 < np.mean(error**2) < 2.7


def test_how_fast_strengths_move_is_found():
    """Six leagues of 1,000 matches, with .3 a year. One is sure to .11: the mean is off by .145 once in a thousand."""
    found = []
    for seed in range(1, 7):
        matches, _ = wandering_league(seed)
        rater = kn.KalmanElo(margin_power=1.0, covariance="diagonal", regression=0.0).fit(matches[:1000])
        found.append(rater.parameters_["walk"] * np.abs(matches.margin[:1000]).mean())
    assert np.mean(found) == pytest.approx(0.3, abs=0.145)


def test_margins_are_forecast_in_the_units_of_the_file():
    matches, _ = wandering_league(2)
    rater = kn.KalmanElo(margin_power=1.0, covariance="diagonal").fit(matches[:2000])
    fixtures = kn.read_matches({"home": ["00"], "away": ["01"], "date": ["2006-05-10"]}, played=False)
    table = rater.predict_margin(fixtures, 0.8)
    low, middle, high = table.row(0)
    assert high - middle == pytest.approx(middle - low)
    # Noise of 1.2, known to 2.2 %, and two strengths known to .22 each: 1.24 in all.
    assert high - low == pytest.approx(2 * 1.2816 * 1.24, rel=0.07)
    with pytest.raises(InputError, match="level"):
        rater.predict_margin(fixtures, 1.5)


def test_given_spreads_and_an_open_noise_agree_with_the_search():
    matches, _ = wandering_league(3, matches=1200)
    free = kn.KalmanElo(margin_power=1.0, covariance="diagonal").fit(matches)
    held = {name: free.parameters_[name] for name in ("walk", "prior_spread", "home_spread", "venue_walk")}
    rest = {n: free.parameters_[n] for n in ("newcomer", "opponent_prior", "regression", "sharpness", "ties", "doubt")}
    again = kn.KalmanElo(margin_power=1.0, covariance="diagonal", **held, **rest).fit(matches)
    assert again.parameters_["noise"] == pytest.approx(free.parameters_["noise"], rel=0.01)


@pytest.mark.parametrize(("seed", "sides", "count", "best"), [(4, 40, 300, "full"), (5, 60, 400, "diagonal")])
def test_covariance_is_kept_where_it_forecasts_better(seed, sides, count, best):
    matches, _ = wandering_league(seed, sides=sides, matches=count)
    fits = {kind: kn.KalmanElo(covariance=kind).fit(matches) for kind in ("full", "diagonal", "auto")}
    likelihood = {kind: fit.estimates_.log_likelihood for kind, fit in fits.items()}
    assert likelihood[best] > min(likelihood.values()) + 1.5
    assert fits["auto"].covariance_ == best
    # A search that begins elsewhere ends within what a search neglects.
    assert likelihood["auto"] == pytest.approx(likelihood[best], abs=0.2)


def test_too_many_sides_are_told_before_the_search(monkeypatch):
    matches, _ = wandering_league(5, sides=12, matches=200)
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_TOGETHER", 10)
    searched = []
    monkeypatch.setattr(kn.KalmanElo, "_search", lambda *_: searched.append(True))
    with pytest.raises(InputError, match="too many for a full covariance"):
        kn.KalmanElo(covariance="full").fit(matches)
    assert not searched
    monkeypatch.undo()
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_TOGETHER", 10)
    with pytest.warns(KineloWarning, match="12 sides in 200 matches are too many"):
        assert kn.KalmanElo().fit(matches).covariance_ == "diagonal"


@pytest.mark.parametrize(("limit", "fits"), [("MOST_TOGETHER", False), ("MOST_PASS", True)])
def test_a_covariance_is_suggested_only_where_it_fits(monkeypatch, limit, fits):
    matches, _ = wandering_league(5, sides=12, matches=200)
    monkeypatch.setattr(f"kinelo.raters.gaussian.{limit}", 10)
    with pytest.warns(KineloWarning, match="covariance='diagonal' is used") as heard:
        assert kn.KalmanElo()._covariance_to_try(matches) == "diagonal"
    assert ("covariance='full'" in str(heard[0].message)) == fits
    if fits:
        kn.KalmanElo(covariance="full").update(matches)  # as the message says


def test_leagues_without_draws_are_forecast_without_draws():
    rater = kn.KalmanElo().fit(league(200, 6, seed=4, draws=False))
    assert rater.parameters_["ties"] == 0
    later = league(20, 6, seed=5, draws=False)
    p = rater.one_step_ahead(replace(later, date=later.date + np.timedelta64(4000, "D"))).probabilities
    assert (p[:, 1] == 0).all()
    np.testing.assert_allclose(p[:, 0] + p[:, 2], 1.0)


def test_strengths_of_a_simulated_league_are_found():
    """20 teams, 3,000 matches: the ratings correlate above .97 with the truth (about .99 is expected)."""
    rng = np.random.default_rng(7)
    truth = rng.normal(0, 1, 20)
    pairs = np.array([rng.choice(20, 2, replace=False) for _ in range(3000)])
    margin = np.round(2 * (truth[pairs[:, 0]] - truth[pairs[:, 1]] + 0.3 + rng.normal(0, 1.2, 3000))).astype(int)
    table = {
        "date": (np.datetime64("2001-01-01") + np.arange(3000) // 3).astype(str).tolist(),
        "home": [f"{k:02d}" for k in pairs[:, 0]],
        "away": [f"{k:02d}" for k in pairs[:, 1]],
        "home_score": np.maximum(margin, 0).tolist(),
        "away_score": np.maximum(-margin, 0).tolist(),
    }
    rater = kn.KalmanElo().fit(kn.read_matches(table))
    ratings = rater.ratings_.sort("name")
    assert np.corrcoef(ratings["rating"].to_numpy(), truth)[0, 1] > 0.97
    assert rater.learnt_["home_advantage"].value > 30


def test_bad_input_is_one_sentence():
    matches = league(20)
    with pytest.raises(InputError, match="covariance='lower'"):
        kn.KalmanElo(covariance="lower").update(matches)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has not played"):
        kn.KalmanElo().update(matches).correlation("T0", "nobody")
    fixtures = kn.read_matches({"home": ["A"], "away": ["B"]}, played=False)
    with pytest.raises(InputError, match="without a result"):
        kn.KalmanElo().update(fixtures)


def test_margins_lie_as_far_as_strengths_are_doubted():
    """Squared widths of two intervals differ by the variances of the strengths: what else is not known is the same."""
    start = {"name": list("ABCD"), "rating": [1500.0] * 4, "deviation": [30.0, 40.0, 200.0, 260.0]}
    rater = kn.KalmanElo(start=start, doubt=1.0, noise=1.2, margin_power=1.0)
    fixtures = kn.read_matches({"home": ["A", "C"], "away": ["B", "D"], "neutral": [True, True]}, played=False)
    table = rater.predict_margin(fixtures, 0.8)
    width = (table["high"] - table["low"]).to_numpy() / (2 * norm.ppf(0.9))
    apart = (200.0**2 + 260.0**2 - 30.0**2 - 40.0**2) / rater._points_per_unit**2
    assert width[1] ** 2 - width[0] ** 2 == pytest.approx(apart, rel=1e-9)


def test_the_home_advantage_is_in_rating_points():
    """A visitor who is better by so many points, and what the ground adds, makes the match even."""
    rng = np.random.default_rng(8)
    pairs = [rng.choice(list("ABCDE"), 2, replace=False) for _ in range(200)]
    margin = rng.normal(0.8, 2.0, 200).round().tolist()
    days = np.datetime64("2021-01-01") + 2 * np.arange(200)
    table = {"date": days, "home": [a for a, _ in pairs], "away": [b for _, b in pairs], "margin": margin}
    rater = kn.KalmanElo(covariance="diagonal").fit(kn.read_matches(table))
    table = rater.ratings_on(str(days[-1]))
    (ours, ground), (theirs, _) = (table.filter(name=name).select("rating", "home").row(0) for name in "AB")
    assert rater.learnt_["home_advantage"].value > 30.0 and abs(ground) > 1.0
    even = with_points(rater, {"B": ours + rater.learnt_["home_advantage"].value + ground - theirs})
    assert even.predict_one("A", "B", date=str(days[-1])).points[0] == pytest.approx(0.5, abs=2e-3)
