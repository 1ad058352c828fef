"""How beliefs are read as forecasts: against plain formulas, and on leagues where draws or boldness change."""

import math

import numpy as np
import pytest
from plain_band import PlainBand
from scipy.stats import norm

import kinelo as kn
from kinelo.raters.band import TIES_WALK
from kinelo.raters.margins import MarginLaw
from kinelo.raters.reading import Reading, fresh_state, read_in_order


def plain_reading(mean, variance, signed, weight, kappa, ties, doubt, step, walk):
    """The same with derivatives by differences and no shortcut."""
    belief, band, bold, v, said = PlainBand(0.0, step), ties, 0.0, 0.05**2, []

    def outcomes(m, V, bold, band):
        k = kappa * math.exp(bold)
        scale = math.sqrt(1 + k**2 * doubt * V)
        win, loss = norm.cdf((k * m - band) / scale), norm.cdf((-k * m - band) / scale)
        return np.array([win, 1 - win - loss if ties > 0 else 0.0, loss])

    for m, V, S, w in zip(mean, variance, signed, weight):
        p = outcomes(m, V, bold, band)
        said.append(p)
        if w <= 0:
            continue
        shares = np.array([max(S, 0), 1 - abs(S), max(-S, 0)])
        by = (outcomes(m, V, bold + 1e-6, band) - outcomes(m, V, bold - 1e-6, band)) / 2e-6
        there = p > 1e-12
        score, information = (np.sum((part * by)[there] / p[there]) for part in (shares, by))
        if ties > 0:
            belief.after(lambda factor: outcomes(m, V, bold, ties * factor), shares, w)  # noqa: B023
            band = ties * math.exp(belief.mean)
        if walk > 0:
            v = v + walk**2
            v = v / (1 + w * v * information)
            bold += v * w * score
    return np.array(said), band, bold


@pytest.mark.parametrize(
    ("step", "walk", "ties"),
    [(0.0, 0.0, 0.0), (0.05, 0.0, 0.4), (0.0, 0.05, 0.4), (0.08, 0.03, 0.4), (0.08, 0.03, 0.0)],
)
def test_reading_agrees_with_plain_formulas(ties, step, walk):
    rng = np.random.default_rng(3)
    n = 200
    mean, variance, weight = rng.normal(0, 1, n), rng.uniform(0, 2, n), rng.choice([0.0, 0.5, 1.0, 2.0], n)
    signed = rng.choice([-1.0, 0.0, 0.5, 1.0], n) if ties else rng.choice([-1.0, 1.0], n)
    r, state, said = Reading(1.3, ties, 1.7, step, walk), fresh_state(), np.empty((n, 3))
    read_in_order(mean, variance, signed, weight, r, state, said)
    expected, band, bold = plain_reading(mean, variance, signed, weight, 1.3, ties, 1.7, step, walk)
    np.testing.assert_allclose(said, expected, atol=1e-7)
    nothing, after = np.zeros(1), np.empty((1, 3))
    read_in_order(mean[:1], variance[:1], nothing, nothing, r, state, after)
    after = after[0]
    k = 1.3 * math.exp(bold)
    scale = math.sqrt(1 + k**2 * 1.7 * variance[0])
    assert after[0] == pytest.approx(norm.cdf((k * mean[0] - band) / scale), abs=1e-7)
    assert after.sum() == pytest.approx(1.0, abs=1e-12)


def probit_league(n, sides, seed, bold=0.0, draws=(0.0, 0.0)):
    """Results ``Φ(x_i − x_j)`` with a draw band from ``draws[0]`` to ``draws[1]``; gaps shrink by ``bold`` after half.

    Beliefs are given, so that nothing but the reading is at stake: ``mean`` is the gap itself.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.7, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    gap = x[home] - x[away]
    true = np.where(np.arange(n) < n // 2, 1.0, 1.0 - bold) * gap
    band = np.linspace(*draws, n)
    u = rng.random(n)
    win, loss = norm.cdf(true - band), norm.cdf(-true - band)
    return gap, np.where(u < win, 1.0, np.where(u > 1 - loss, -1.0, 0.0)), np.column_stack([win, 1 - win - loss, loss])


def loss_of(said, signed):
    return -np.log(said[np.arange(signed.size), (1 - signed).astype(int)])


def read(gap, signed, ties, step, walk):
    said = np.empty((gap.size, 3))
    read_in_order(
        gap, np.zeros_like(gap), signed, np.ones_like(gap), Reading(1.0, ties, 1.0, step, walk), fresh_state(), said
    )
    return said


@pytest.mark.parametrize("bold", [0.0, 0.12, 0.25])
@pytest.mark.parametrize("draws", [0.0, 0.45])
def test_running_sharpness_recovers_boldness_and_costs_little(bold, draws):
    """Seeds are fixed; the gain where gaps shrink by bold is ¼ I bold² or so, the cost elsewhere below .0004."""
    gains = []
    for seed in range(4):
        gap, signed, _ = probit_league(20_000, 200, seed, bold, (draws, draws))
        later = slice(10_000, None)
        still, running = (loss_of(read(gap, signed, draws, 0.0, walk), signed)[later] for walk in (0.0, 1e-3))
        gains.append(np.mean(still - running))
    possible = np.mean([np.mean(excess(seed, bold, draws)) for seed in range(4)])
    assert np.mean(gains) > -0.0004
    assert np.mean(gains) > 0.6 * possible - 0.0004
    assert np.mean(gains) < possible + 0.0004


def excess(seed, bold, draws):
    """What the still reading loses to the truth, of every later match, expected over its result."""
    gap, _, true = probit_league(20_000, 200, seed, bold, (draws, draws))
    said = read(gap, np.zeros_like(gap), draws, 0.0, 0.0)[10_000:]
    true = true[10_000:]
    there = true > 0
    return np.sum(np.where(there, true * np.log(np.where(there, true / np.maximum(said, 1e-300), 1.0)), 0.0), axis=1)


@pytest.mark.parametrize(("first", "last"), [(0.5, 0.1), (0.1, 0.5)])
def test_draw_band_drifts_with_the_draws(first, last):
    """From 38 % draws between equals to 8 % or back: the last quarter is said within four standard errors."""
    gap, signed, _ = probit_league(12_000, 100, 5, 0.0, (first, last))
    said, still = (read(gap, signed, first, walk, 0.0) for walk in (TIES_WALK, 0.0))
    later = slice(9_000, None)
    drawn = np.mean(signed[later] == 0)
    error = math.sqrt(drawn * (1 - drawn) / 3_000)
    assert abs(said[later, 1].mean() - drawn) < 4 * error
    assert np.mean(loss_of(still, signed)[later] - loss_of(said, signed)[later]) > 0.01


@pytest.mark.parametrize("band", [0.03, 0.1, 0.3, 0.67])
def test_a_draw_band_that_stays_costs_next_to_nothing_to_follow(band):
    """Few draw, or half of all do: less than .0002 a match next to the truth, over ten leagues of 4,000."""
    cost = []
    for seed in range(10):
        gap, signed, _ = probit_league(4_000, 100, seed, 0.0, (band, band))
        said, still = (read(gap, signed, band, walk, 0.0) for walk in (TIES_WALK, 0.0))
        cost.append(np.mean(loss_of(said, signed) - loss_of(still, signed)))
    assert -1e-4 < np.mean(cost) < 2e-4


def test_kalman_elo_follows_draws_that_drift():
    """500 matches a year for eight years, draws from 35 % to 8 %: forecast one step ahead on the later half."""
    rng = np.random.default_rng(8)
    n, sides = 4_000, 20
    x = rng.normal(0, 0.5, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    band = np.linspace(0.45, 0.1, n)
    shown = x[home] - x[away] + 0.2 + rng.normal(0, 1, n)
    table = {
        "date": np.datetime64("2010-01-01") + np.arange(n) * 8 * 365 // n,
        "home": [f"S{k}" for k in home],
        "away": [f"S{k}" for k in away],
        "result": np.where(shown > band, 1.0, np.where(shown < -band, 0.0, 0.5)),
    }
    matches = kn.read_matches(table)
    train, test = matches[: n // 2], matches[n // 2 :]
    losses = {}
    for step in (None, 0.0):
        rater = kn.KalmanElo(covariance="diagonal", ties_walk=step).fit(train)
        losses[step] = loss_of(rater.one_step_ahead(test).probabilities, test.signed).mean()
    assert losses[None] < losses[0.0] - 0.003


def scale_league(draws, seed, sides=40, n=8_000):
    """Expected scores exactly Elo's, draws with probability ``draws · 4E(1 − E)``: the league of the scale."""
    rng = np.random.default_rng(seed)
    true = np.linspace(-300, 300, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    E = 1 / (1 + 10 ** (-(true[home] - true[away]) / 400))
    draw = draws * 4 * E * (1 - E)
    u = rng.random(n)
    result = np.where(u < E - draw / 2, 1.0, np.where(u < E + draw / 2, 0.5, 0.0))
    names = np.array([f"P{k:02d}" for k in range(sides)])
    table = {"home": names[home], "away": names[away], "result": result, "neutral": np.ones(n, bool)}
    return kn.read_matches(table | {"date": np.datetime64("2020-01-01") + np.arange(n) // 40}, ordered=True), true


@pytest.mark.parametrize("draws", [pytest.param(0.0, marks=pytest.mark.long), 0.5])
def test_a_point_is_a_point_of_expected_score_whatever_the_draws(draws):
    """The spread of 178 points comes back but for a tenth, with draws as without: what 400 results a side shrink, and
    what Φ in place of the logistic function takes from the slope between equals (6 %).
    """
    matches, true = scale_league(draws, 2)
    rater = kn.KalmanElo(covariance="diagonal").fit(matches)
    found = rater.ratings_.sort("name")["rating"].to_numpy()
    assert np.polyfit(true, found, 1)[0] == pytest.approx(0.92, abs=0.05)
    lined = {side: [[f"{name}{k}" for k in "ab"] for name in matches.to_polars()[side]] for side in ("home", "away")}
    table = matches.to_polars().to_dict(as_series=False)
    table |= {"home_lineup": lined["home"], "away_lineup": lined["away"]}
    rater = kn.PlayerElo(covariance="diagonal").fit(kn.read_matches(table, ordered=True))
    players = rater.team_strengths_.sort("name")
    assert np.polyfit(true, players["strength"].to_numpy(), 1)[0] == pytest.approx(0.92, abs=0.05)


def test_law_of_margins_is_that_of_the_surprises():
    rng = np.random.default_rng(1)
    two_humps = np.where(rng.random(20_000) < 0.5, -1, 1) * rng.normal(1.0, 0.3, 20_000)
    law = MarginLaw.of(two_humps)
    for level in (0.2, 0.5, 0.8, 0.95):
        reach = float(law.surprise(norm.ppf(0.5 + level / 2)))
        assert np.mean(np.abs(two_humps) < reach) == pytest.approx(level, abs=0.012)
    z = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(law.surprise(law.deviate(z)), z, atol=1e-9)
    assert np.all(np.diff(law.surprise(np.linspace(-4, 4, 200))) > 0)
    few = MarginLaw.of(np.array([np.nan, 0.1]))
    np.testing.assert_allclose(few.surprise(z), z, atol=0.1 * 5)


KINDS = {
    "normal": lambda gap, rng: gap * 6 + rng.normal(0, 11, gap.size),
    "no level score": lambda gap, rng: (
        (d := np.rint(gap * 4 + rng.normal(0, 4, gap.size))) + np.where(d == 0, rng.choice([-1, 1], gap.size), 0)
    ),
    "squeezed": lambda gap, rng: (
        np.sign(s := gap + rng.choice([-1, 1], gap.size) * rng.gamma(6, 0.4, gap.size)) * np.abs(s) ** 2
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_margins_lie_in_their_intervals(kind):
    """2,000 matches after the fit: coverage within four standard errors of the level and the grain of whole scores."""
    rng = np.random.default_rng(6)
    n, sides = 4_000, 24
    x = rng.normal(0, 0.6, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    margin = KINDS[kind](x[home] - x[away] + 0.2, rng)
    table = {
        "date": np.datetime64("2020-01-01") + np.arange(n) // 4,
        "home": [f"S{k}" for k in home],
        "away": [f"S{k}" for k in away],
        "margin": margin,
    }
    matches = kn.read_matches(table)
    rater = kn.KalmanElo(covariance="diagonal").fit(matches[:2_000])
    later = matches[2_000:]
    grain = 0.04 if kind == "no level score" else 0.01
    for level in (0.5, 0.8):
        said = rater.predict_margin(later, level)
        held = np.mean((later.margin >= said["low"].to_numpy()) & (later.margin <= said["high"].to_numpy()))
        assert held == pytest.approx(level, abs=4 * math.sqrt(level * (1 - level) / 2_000) + grain)


def test_doubt_has_a_standard_error():
    """However little matches say of it: the prior around 1 is then what is known."""
    matches, _ = scale_league(0.3, 4, sides=8, n=150)
    rater = kn.KalmanElo().fit(matches)
    assert rater.estimates_ is not None
    assert 0.05 < rater.estimates_.standard_errors["doubt"] < 1.5


def league_at_home(seed: int, points: float, n: int = 700, sides: int = 15) -> kn.matches.Matches:
    """Sides at rest whose first-named is ``points`` stronger than its rating says, with draws in every other league."""
    rng = np.random.default_rng(seed)
    strength, home = rng.normal(0, 120, sides), rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    kappa = 0.6 * (seed % 2)
    x = (strength[home] - strength[away] + points) * math.log(10) / 800 * (2 + kappa) / 2
    chances = np.array([np.exp(x), np.full(n, kappa), np.exp(-x)])
    result = 1 - 0.5 * (rng.random(n) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:2]).sum(axis=0)
    table = {"date": np.datetime64("2012-01-01") + np.arange(n), "home": home.astype(str), "away": away.astype(str)}
    return kn.read_matches({**table, "result": result}, ordered=True)


@pytest.mark.parametrize("make", [kn.TeamElo, kn.Glicko])
def test_the_home_advantage_is_shown_as_it_is_today_and_lies_within_its_errors(make):
    """Deviates of 20 leagues are at most normal: their mean square exceeds 1.9 once in 100, and is not next to 0."""
    given = {"step": 10.0, "newcomer_boost": 2.0, "settling_matches": 12.0, "spread": 0.0, "regression": 0.0}
    given = given if make is kn.TeamElo else {"deviation": 200.0, "growth": 5.0}
    for points in (0.0, 70.0):
        deviates = []
        for seed in range(20 if points == 0.0 else 6):
            rater = make(**given).fit(league_at_home(seed, points))
            found = rater.estimates_
            home = rater.learnt_["home_advantage"]
            assert found.values["home_advantage"] == home.value == rater.parameters_["home_advantage"]
            assert found.standard_errors["home_advantage"] == home.error < 60
            deviates.append((home.value - points) / home.error)
        assert 0.1 < np.mean(np.square(deviates)) < 1.9
        assert max(map(abs, deviates)) < 2.6


def test_a_home_advantage_that_is_given_stands_and_its_start_is_never_sought():
    rater = kn.TeamElo(home_advantage=30.0).fit(league_at_home(3, 70.0, n=200))
    assert rater.learnt_["home_advantage"].value == 30.0 and rater.learnt_["home_advantage"].error == 0.0
    assert "home_advantage" not in {p.name for p in kn.TeamElo()._open_parameters() + kn.Glicko2()._open_parameters()}


@pytest.mark.parametrize("make", [kn.TeamElo, kn.Glicko, kn.KalmanElo])
def test_forecasts_grow_bolder_where_results_become_clearer(make):
    """Fitted where luck is large, then met by sides whose strengths tell three times as much."""
    rng = np.random.default_rng(8)
    n, sides, early = 9000, 12, 1500
    strength, home = rng.normal(0, 0.4, sides), rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    gap = (strength[home] - strength[away]) * np.where(np.arange(n) < early, 1.0, 3.0)
    won = rng.random(n) < 1 / (1 + np.exp(-2.0 * gap))
    table = {"date": np.datetime64("2000-01-01") + np.arange(n), "home": home.astype(str), "away": away.astype(str)}
    matches = kn.read_matches({**table, "result": won.astype(float), "neutral": [True] * n}, ordered=True)
    slow = {"step": 0.3, "newcomer_boost": 40.0} if make is kn.TeamElo else {}
    slow = {"deviation": 60.0, "growth": 0.0} if make is kn.Glicko else slow
    slow = {"walk": 0.005, "prior_spread": 0.4} if make is kn.KalmanElo else slow
    loss = {}
    for walk in (0.0, 1e-3):
        rater = make(sharpness_walk=walk, **slow).fit(matches[:early])
        rater.one_step_ahead(matches[early:6000])
        loss[walk] = rater.one_step_ahead(matches[6000:]).probabilities
        loss[walk] = float(-np.log(np.where(won[6000:], loss[walk][:, 0], loss[walk][:, 2])).mean())
    assert loss[1e-3] < loss[0.0] - 0.01
