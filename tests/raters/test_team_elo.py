"""TeamElo: against a slow twin, against the model's exact forecasts, and its laws."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_band import PlainBand

import kinelo as kn
from kinelo.raters.sides import measure_drift
from kinelo.raters.team import kernels

NU = math.log(10) / 800


def random_matches(seed=0, n=300, teams=8, days=900, scores=True) -> kn.matches.Matches:
    rng = np.random.default_rng(seed)
    home = rng.integers(0, teams, n)
    away = (home + rng.integers(1, teams, n)) % teams
    table = {
        "date": np.datetime64("2020-01-01") + np.sort(rng.integers(0, days, n)),
        "home": [f"t{k}" for k in home],
        "away": [f"t{k}" for k in away],
        "neutral": rng.random(n) < 0.3,
        "weight": rng.choice([0.5, 1.0, 2.0], n),
        "match_id": np.arange(n),
    }
    if scores:
        table |= {"home_score": rng.poisson(1.5, n), "away_score": rng.poisson(1.2, n)}
    else:
        table |= {"result": rng.choice([0, 0.5, 1], n)}
    return kn.read_matches(table, ordered=True)


def full_rater() -> kn.TeamElo:
    """Every feature at work, with margins in goals."""
    rater = kn.TeamElo(20.0, 3.0, 8.0, None, 0.7, 90.0, 0.6, 1.4, 1.7, 0.8, 1.5, ties_walk=0.2, prior_spread=150.0)
    rater.sharpness_walk = 0.03
    rater._margin_unit, rater._prepared = 1.5, True
    rater._target_square = 0.5
    return rater


def slow_twin(rater: kn.TeamElo, matches: kn.matches.Matches):
    """The update written out in plain Python, one match at a time."""
    p = rater._settled_values()
    v0 = rater.prior_spread**2
    R, v, n, last, seen = {}, {}, {}, {}, []
    home, home_v, kappa, unit = 50.0, (800 / 6) ** 2, p["ties"], rater._margin_unit
    bold, bold_v, band = 0.0, 0.05**2, PlainBand(math.log(kappa), rater.ties_walk)
    nodes, node_weight = np.polynomial.hermite_e.hermegauss(80)
    performances, node_weight = math.sqrt(2) * p["spread"] * nodes, node_weight / node_weight.sum()
    for k in range(len(matches)):
        i, j = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
        day = int(matches.day[k])
        for t in (i, j):
            R.setdefault(t, 1500.0), v.setdefault(t, v0), n.setdefault(t, 0)
            rest = day - last.get(t, day) - rater.season_gap
            if rest > 0:
                f = math.exp(-p["regression"] * rest / 365.25)
                R[t], v[t] = 1500 + f * (R[t] - 1500), v0 + f**2 * (v[t] - v0)
            last[t] = day
        z = R[i] - R[j] + (0 if matches.neutral[k] else home)
        seen.append((math.exp(bold) * z, kappa, bold))
        nu = NU / p["contraction"] * (2 + kappa) / 2
        D = 2 * math.cosh(nu * z) + kappa
        b = 2 * math.sinh(nu * z) / D
        slope = nu * (4 + 2 * kappa * math.cosh(nu * z)) / D**2
        S = matches.signed[k] * (1 - p["margin_weight"])
        S += p["margin_weight"] * math.tanh(matches.margin[k] / (p["margin_scale"] * unit))
        unit += (abs(matches.margin[k]) - unit) / 1000
        low, draws, high = (
            blurred(math.exp(bold + h) * z + performances, kappa, node_weight) for h in (-1e-5, 0.0, 1e-5)
        )
        by_bold = (high - low) / 2e-5
        won = int(2 - 2 * matches.result[k])  # 0 win, 1 draw, 2 loss
        weight = matches.weight[k]
        bold_v += rater.sharpness_walk**2
        bold_v /= 1 + bold_v * weight * float(np.sum(by_bold**2 / draws))
        bold += bold_v * weight * by_bold[won] / draws[won]
        shown = math.exp(seen[-1][2]) * z + performances
        band.after(lambda kappa: blurred(shown, kappa, node_weight), np.arange(3) == won, weight)  # noqa: B023
        kappa = math.exp(band.mean)
        if not matches.neutral[k]:
            information = weight * nu * slope
            steady = p["home_step"] / nu  # the variance at which steps are home_step times a surprise
            home_v += steady**2 * information / (1 - steady * information)
            home_v /= 1 + home_v * information
            home += home_v * weight * nu * (S - b)
        noise = max(rater._target_square - b**2, 0.01)
        g = {}
        for t in (i, j):
            growth = 1 + p["newcomer_boost"] * p["settling_matches"] / (p["settling_matches"] + n[t])
            g[t] = matches.weight[k] * p["step"] * growth
        R[i], R[j] = R[i] + g[i] * (S - b), R[j] - g[j] * (S - b)
        v[i], v[j] = (
            (1 - g[a] * slope) ** 2 * v[a] + g[a] ** 2 * (slope**2 * v[c] + noise) for a, c in ((i, j), (j, i))
        )
        n[i], n[j] = n[i] + 1, n[j] + 1
    return R, v, np.array(seen)


def blurred(z: np.ndarray, kappa: float, weight: np.ndarray) -> np.ndarray:
    """Chances of win, draw and loss, averaged over nodes of the difference."""
    x = NU * (2 + kappa) / 2 * z
    return np.array([np.exp(x), np.full(x.size, kappa), np.exp(-x)]) / (2 * np.cosh(x) + kappa) @ weight


def test_agrees_with_the_slow_twin():
    matches, rater = random_matches(), full_rater()
    R, v, z = slow_twin(rater, matches)
    forecast = rater.one_step_ahead(matches)
    names = rater._state.name_index.names
    assert rater._state.known.rating[: len(names)] == pytest.approx([R[t] for t in names], rel=1e-12)
    assert rater._state.known.variance[: len(names)] == pytest.approx([v[t] for t in names], rel=1e-10)
    exact = np.array([exact_chances(x, 90.0, kappa) for x, kappa, _ in z])
    assert forecast.probabilities == pytest.approx(exact, abs=1e-8)  # the twin differs to find slopes
    assert abs(math.log(rater.learnt_["boldness"].value)) > 0.01 and 5 < rater.learnt_["home_advantage"].error < 60


def exact_chances(z: float, spread: float, kappa: float) -> tuple[float, float, float]:
    """The model room's exact probabilities for two normal performances."""
    league = kn.Normal([z, 0.0], sigma=spread) if spread else kn.Fixed([z, 0.0])
    win, tie, loss = kn.model.outcome_probabilities(kn.model.Davidson(nu=NU * (2 + kappa) / 2, kappa=kappa), league)
    return win[0, 1], tie[0, 1], loss[0, 1]


@settings(max_examples=60, deadline=None)
@given(st.floats(-900, 900), st.floats(0, 400), st.floats(0, 5))
def test_blurred_forecasts_are_exact_and_sum_to_one(z, spread, kappa):
    out = np.empty((1, 3))
    law = NU * (2 + kappa) / 2, kappa, kernels.blur(NU, [spread], kappa)
    kernels.all_chances(np.array([z]), *law, out)
    assert out.sum() == pytest.approx(1.0, abs=1e-14)
    assert out[0] == pytest.approx(exact_chances(z, spread, kappa), abs=2e-9)
    mirrored = np.empty((1, 3))
    kernels.all_chances(np.array([-z]), *law, mirrored)
    assert mirrored[0, ::-1] == pytest.approx(out[0], abs=1e-13)


def test_closed_form_of_the_expected_result():
    """If d = 2 ν V then E tanh = 1 − e^{−ν d}."""
    spread = 150.0
    d = 2 * NU * 2 * spread**2
    out = np.empty((1, 3))
    kernels.all_chances(np.array([d]), NU, 0.0, kernels.blur(NU, [spread]), out)
    assert out[0, 0] - out[0, 2] == pytest.approx(1 - math.exp(-NU * d), abs=1e-10)


def test_classic_is_chess_elo():
    rater = kn.TeamElo.classic(k=32).update(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    rater.update(kn.read_matches({"home": ["B"], "away": ["A"], "result": [1]}))
    expected = 1516 - 32 * (1 / (1 + 10 ** ((1484 - 1516) / 400)))
    assert rater.ratings_.filter(name="A")["rating"].item() == pytest.approx(expected, rel=1e-14)


def test_ratings_sum_to_the_same_whenever_steps_are_equal():
    rater = kn.TeamElo.classic(k=40, ties=0.6, home_advantage=50).update(random_matches())
    table = rater.ratings_
    assert table["rating"].sum() == pytest.approx(1500 * table.height, rel=1e-13)


def test_piecewise_equals_batch_to_the_last_bit_whatever_the_codes():
    matches = random_matches()
    batch = full_rater().update(matches).ratings_
    piecewise = full_rater()
    for first in range(0, len(matches), 7):
        part = matches.to_polars()[first : first + 7]
        margin = part["margin"]
        shuffled = part.with_columns(home_score=margin.clip(0), away_score=(-margin).clip(0)).drop("result", "margin")
        piecewise.update(kn.read_matches(shuffled, ordered=True))
    assert piecewise.ratings_.equals(batch)
    single = full_rater()
    for k in range(len(matches)):
        m = matches[k]
        names = m.teams[m.home[0]], m.teams[m.away[0]]
        single.update_one(
            *names,
            m.result[0],
            date=m.date[0],
            margin=m.margin[0],
            neutral=bool(m.neutral[0]),
            weight=m.weight[0],
        )
    assert single.ratings_.sort("name").equals(batch.sort("name"))


def test_one_step_ahead_is_predict_then_update():
    matches = random_matches(n=60)
    ahead = full_rater().one_step_ahead(matches)
    rater = full_rater()
    rater._reset()
    for k in range(len(matches)):
        assert rater.predict(matches[k]).probabilities[0] == pytest.approx(ahead.probabilities[k], abs=1e-12)
        rater.update(matches[k])


def test_unknown_sides_get_the_prior_and_are_named():
    rater = kn.TeamElo.classic(ties=0.5, home_advantage=30).update(random_matches())
    fixtures = kn.read_matches(
        {"home": ["new", "t1"], "away": ["newer", "new"], "neutral": [True, False]}, played=False
    )
    forecast = rater.predict(fixtures)
    assert set(forecast.unknown) == {"new", "newer"}
    assert forecast.probabilities[0] == pytest.approx([0.4, 0.2, 0.4])
    assert "new" not in rater.ratings_["name"]


def test_a_rater_without_matches_refuses_and_predicts_from_the_prior_after_a_reset():
    assert kn.TeamElo().ratings_.height == 0
    fixture = kn.read_matches({"home": ["A"], "away": ["B"]}, played=False)
    rater = kn.TeamElo.classic()
    with pytest.raises(kn.InputError, match="has seen no match yet; call fit or update"):
        rater.predict(fixture)
    rater._reset()
    assert rater.predict(fixture).probabilities[0].tolist() == [0.5, 0.0, 0.5]


def test_a_match_without_result_changes_nothing():
    rater = kn.TeamElo.classic().update(random_matches(n=20))
    before = rater.ratings_
    mixed = kn.read_matches({"home": ["t0", "t1"], "away": ["t1", "t2"], "result": [1, None]}, played=False)
    with pytest.raises(kn.InputError, match="without a result"):
        rater.update(mixed)
    assert rater.ratings_.equals(before)
    with pytest.raises(kn.InputError, match="cannot be fitted"):
        kn.TeamElo().fit(mixed)
    with pytest.raises(kn.InputError, match="no matches to fit"):
        kn.TeamElo().fit(mixed[:0])


@pytest.mark.parametrize(
    ("home", "away", "result", "more", "said"),
    [
        ("A", "A", 1, {}, "against itself"),
        ("A", "B", 1.5, {}, "The result 1.5 is not"),
        ("A", "B", -1, {}, "The result -1 is not"),
        ("A", "B", math.nan, {}, "The result nan is not"),
        ("A", "B", "victory", {}, "The result 'victory' is not"),
        ("A", " ", 1, {}, "not the name of a side"),
        ("A", "B", 1, {"weight": math.nan}, "weight is a finite number of at least 0"),
        ("A", "B", 1, {"weight": -1.0}, "weight is a finite number of at least 0"),
        ("A", "B", 1, {"margin": math.inf}, "margin is a finite number"),
        ("A", "B", 1, {"weight": 1e300}, "weight is a finite number of at least 0 and at most 1e"),
    ],
)
def test_update_one_refuses_nonsense(home, away, result, more, said):
    rater = kn.TeamElo.classic()
    with pytest.raises(kn.InputError, match=said):
        rater.update_one(home, away, result, **more)
    assert rater.ratings_.height == 0


def test_update_one_takes_points_or_words():
    """A draw is a draw: 0.5 moves equal sides nowhere, and a loss is the mirror of a win."""
    ends = {}
    for result in (1, 0.5, 0, "win", "draw", "loss"):
        ends[result] = kn.TeamElo.classic(k=20).update_one("A", "B", result).ratings_.sort("name")["rating"].to_list()
    assert ends[1] == ends["win"] == [1510.0, 1490.0]
    assert ends[0.5] == ends["draw"] == [1500.0, 1500.0]
    assert ends[0] == ends["loss"] == [1490.0, 1510.0]


def test_uncertainty_is_the_spread_that_chance_makes():
    """Equal sides and coin flips: the variance of ratings settles at γ / 2ν (small γ), and it is what is reported.

    400 sides; the standard error of their standard deviation is 1/√800 = 3.5 % of it. Four of them: error
    probability 6e-5 for a right implementation with another seed.
    """
    rng = np.random.default_rng(12)
    teams, n = 400, 80_000
    home = rng.integers(0, teams, n)
    away = (home + rng.integers(1, teams, n)) % teams
    names = np.array([f"t{k}" for k in range(teams)])
    matches = kn.read_matches({"home": names[home], "away": names[away], "result": rng.integers(0, 2, n)})
    table = kn.TeamElo.classic(k=20).update(matches).ratings_
    theory = math.sqrt(10 / (2 * NU))
    assert table["uncertainty"].to_numpy() == pytest.approx(theory, rel=0.04)
    assert table["rating"].to_numpy().std() == pytest.approx(theory, rel=4 / math.sqrt(2 * teams))


def test_rest_draws_to_the_mean_and_makes_uncertain():
    rater = kn.TeamElo(20.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.7, prior_spread=150.0)
    wins = {"date": ["2020-01-01"] * 30, "home": ["A"] * 30, "away": ["B"] * 30, "result": [1] * 30, "id": range(30)}
    rater.update(kn.read_matches(wins))
    fresh = rater.ratings_.filter(name="A")
    soon, late = (
        kn.read_matches({"date": [day], "home": ["A"], "away": ["C"]}, played=False)
        for day in ("2020-02-01", "2030-01-01")
    )
    assert rater.predict(soon).points[0] > 0.7
    assert rater.predict(late).points[0] == pytest.approx(0.5, abs=1e-3)
    rater.update(kn.read_matches({"date": ["2023-01-01"], "home": ["C"], "away": ["D"], "result": [1]}))
    rested = rater.ratings_.filter(name="A")
    assert rested["uncertainty"].item() > fresh["uncertainty"].item()
    assert rested["uncertainty"].item() < 150


def test_fit_estimates_what_is_open_and_leaves_the_rest():
    league = kn.sample_league(teams=16, seasons=4, seed=3)
    matches = kn.read_matches(league.results)
    rater = kn.TeamElo(spread=0.0, regression=0.0).fit(matches)
    assert rater.parameters_["spread"] == 0 and "spread" not in rater.estimates_.values
    # The league of equals scores .591 at home: 64 points. What draws and the step leave open widens 10 to about 17.
    found, error = rater.parameters_["home_advantage"], rater.estimates_.standard_errors["home_advantage"]
    assert abs(found - 64) < 3.3 * error and error == pytest.approx(15, rel=0.4)
    joined = rater.ratings_.join(league.strengths, on="name")
    assert np.corrcoef(joined["rating"], joined["strength"])[0, 1] > 0.8
    better = rater.predict(matches)
    assert np.mean(np.sign(better.points - 0.5) == matches.signed) > 0.45


def test_parameters_that_matches_say_nothing_about_are_not_sought():
    table = {"home": list("ABCABC"), "away": list("BCACAB"), "result": [1, 1, 1, 0, 1, 0], "neutral": [True] * 6}
    rater = kn.TeamElo().fit(kn.read_matches(table))
    assert rater._unidentified == {
        "ties": 0.0,
        "home_advantage": 0.0,
        "margin_weight": 0.0,
        "margin_scale": 1.0,
        "contraction": 1.0,
        "home_step": 0.0,
    }
    forecast = rater.predict(kn.read_matches(table))
    assert np.all(forecast.probabilities[:, 1] == 0)


def test_inflation_is_told():
    """Guests that arrive, lose to the residents and never return leave their points in the pool."""
    visits = [(f"{2000 + k // 36}-05-01", f"resident {k % 12}", f"guest {k}", 1) for k in range(216)]
    later = [("2009-05-01", f"resident {k}", f"resident {(k + 5) % 12}", k % 2) for k in range(12)]
    columns = ("date", "home", "away", "result")
    matches = kn.read_matches(dict(zip(columns, zip(*visits, *later))))
    with pytest.warns(kn.KineloWarning, match="Rating inflation: the 12 active sides average 18"):
        rater = kn.TeamElo.classic(k=60).fit(matches)
    drift = measure_drift(rater.ratings_, rater.initial)
    assert drift.active == 12 and drift.shift > 100
    closed = kn.read_matches(dict(zip(columns, zip(*later))))
    assert abs(measure_drift(kn.TeamElo.classic(k=60).fit(closed).ratings_, 1500.0).shift) < 1e-9


def test_newcomers_are_thought_to_lie_apart_as_the_fitted_do_and_usually():
    """The variance of the fitted ratings, counted once per match of a side, and 200² counted five times."""
    rows = {"home": ["A", "B", "A", "C"], "away": ["B", "C", "C", "D"], "result": [1, 0.5, 1, 0]}
    matches = kn.read_matches(rows)
    given = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0)
    assert kn.TeamElo(16.0, *given).fit(matches)._found_spread == 200.0, "nothing is estimated"
    rater = kn.TeamElo(None, *given).fit(matches)
    rating = np.array(kn.TeamElo.classic(k=2.0 * rater.parameters_["step"]).fit(matches).ratings_["rating"])
    expected = (2 * rating.var() + 5 * 200**2) / (2 + 5)  # 8 places in 4 matches for 4 sides
    unmet = rater.predict(kn.read_matches({"home": ["X"], "away": ["Y"]}, played=False))
    assert unmet.unknown == ("X", "Y")
    assert rater._found_spread == pytest.approx(np.sqrt(expected), rel=1e-12)
    after = rater.update(kn.read_matches({"home": ["X"], "away": ["Y"], "result": [0.5]})).ratings_
    newcomer = dict(zip(after["name"], after["uncertainty"]))["X"]
    assert 0.8 * np.sqrt(expected) < newcomer < np.sqrt(expected)


def test_a_search_that_ends_at_a_bound_says_so(monkeypatch):
    """Equal strengths ask for the smallest step there is, and the user hears that it is the end of the range."""
    narrowed = tuple(replace(p, low=10.0) if p.name == "step" else p for p in kn.TeamElo._declared_parameters)
    monkeypatch.setattr(kn.TeamElo, "_declared_parameters", narrowed)
    rng = np.random.default_rng(3)
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in range(2000)])
    table = {"home": pairs[:, 0], "away": pairs[:, 1], "result": rng.choice([0.0, 1.0], 2000), "neutral": [True] * 2000}
    given = {"newcomer_boost": 0.0, "settling_matches": 1.0, "spread": 0.0, "regression": 0.0}
    with pytest.warns(kn.KineloWarning, match="step ended at the end of its range, 10 points.*even less"):
        rater = kn.TeamElo(**given).fit(kn.read_matches(table))
    assert rater.estimates_.at_bounds == ("step",)


def drawn_league(share, n=6000, sides=40, seed=0):
    """Most matches are drawn, whoever meets, and the rest are decided by Elo's law at the home side's 40 points."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0.0, 200.0, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    won = rng.random(n) < 1 / (1 + 10 ** (-(strength[home] - strength[away] + 40) / 400))
    result = np.where(rng.random(n) < share, 0.5, won)
    days = np.datetime64("2020-01-01") + np.arange(n) // 8
    return kn.read_matches({"date": days, "home": home, "away": away, "result": result})


@pytest.mark.parametrize("share", [0.7, 0.8])
def test_draws_may_be_many(share):
    """A larger κ makes forecasts steeper, too: beyond some κ draws of unequal sides become rarer, and it stays there.

    Forecasts are worth no less than the shares of wins, draws and losses (a mean of 3,200 of them is sure to .01).
    """
    matches = drawn_league(share)
    test = matches[1500:]
    said = kn.TeamElo().fit(matches)
    again = kn.TeamElo(**{name: said.parameters_[name] for name in said.estimates_.values if name != "home_advantage"})
    assert said.parameters_["step"] < 10.0 and 2.0 < said._common[kernels.KAPPA] < 20.0
    shares = np.array([np.mean(test.result == r) for r in (1.0, 0.5, 0.0)])
    plain = -(shares * np.log(shares)).sum()
    assert -said.estimates_.log_likelihood / said.estimates_.matches < plain + 0.01
    # The same with numbers that are given, and with those that a rater begins with.
    for rater in (again, kn.TeamElo(), kn.TeamElo(ties=None, spread=200.0)):
        forecast = rater.one_step_ahead(matches)
        assert np.isfinite(forecast.probabilities).all() and rater._common[kernels.KAPPA] < 100.0


def test_classic_leaves_nothing_to_estimate():
    assert kn.TeamElo.classic(k=32)._open_parameters() == ()
