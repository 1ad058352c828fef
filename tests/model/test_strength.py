"""Each law's moments, characteristic function and draws agree; line-ups agree with enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn


def enumerated(rho, weights, m):
    """Slow twin of the line-up lottery: every line-up of one team, with its probability."""
    lineups = list(itertools.combinations(range(len(rho)), m))
    values = np.array([rho[list(chosen)].sum() for chosen in lineups])
    odds = np.array([weights[list(chosen)].prod() for chosen in lineups])
    return values, odds / odds.sum()


def random_league(seed, players=7, m=3, weighted=True):
    generator = np.random.default_rng(seed)
    rho = generator.normal(size=(2, players))
    weights = generator.uniform(0.1, 5, size=(2, players)) if weighted else None
    return kn.model.LineupLottery(rho, m, weights), rho, np.ones_like(rho) if weights is None else weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("players", "m"), [(7, 3), (5, 1), (6, 6), (6, 5)])
def test_lottery_agrees_with_enumeration(weighted, players, m):
    league, rho, weights = random_league(3, players, m, weighted)
    u = np.array([0.0, 0.3, 2.0, 11.0])
    phi = league.characteristic_function(u)
    for team in range(2):
        values, probability = enumerated(rho[team], weights[team], m)
        mean = probability @ values
        assert league.theta[team] == pytest.approx(mean, abs=1e-13)
        assert league.sigma[team] == pytest.approx(np.sqrt(probability @ (values - mean) ** 2), abs=1e-7)
        np.testing.assert_allclose(phi[team], probability @ np.exp(1j * np.outer(values, u)), atol=1e-13)


def test_uniform_lottery_has_the_textbook_variance():
    rho = np.random.default_rng(5).normal(size=(4, 23))
    league = kn.model.LineupLottery(rho, 11)
    np.testing.assert_allclose(league.theta, 11 / 23 * rho.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(league.sigma, np.sqrt(11 * (1 - 11 / 23)) * rho.std(axis=1, ddof=1), atol=1e-12)


def test_large_squads_neither_overflow_nor_lose_digits():
    rho = np.random.default_rng(6).normal(size=(2, 2000))
    league = kn.model.LineupLottery(rho, 900, np.random.default_rng(7).uniform(1e-3, 1e3, (2, 2000)))
    assert np.isfinite(league.sigma).all() and (league.sigma > 0).all()
    uniform = kn.model.LineupLottery(rho, 900)
    np.testing.assert_allclose(uniform.theta, 900 / 2000 * rho.sum(axis=1), rtol=1e-9)


laws = st.sampled_from(
    [
        kn.Fixed([1.0, 2.5, -3.0]),
        kn.Normal([1.0, 2.5, -3.0], [0.0, 1.0, 2.0]),
        kn.model.Empirical([[0.0, 1.0, 4.0], [1.0, 1.0, 1.0], [-2.0, 0.0, 2.0]], [0.2, 0.5, 0.3]),
        kn.model.LineupLottery(
            np.random.default_rng(1).normal(size=(3, 6)), 2, np.random.default_rng(2).uniform(1, 3, (3, 6))
        ),
    ]
)


@given(laws, st.floats(-3, 3))
@settings(max_examples=40)
def test_moments_are_those_of_the_characteristic_function(law, origin):
    h = 1e-3
    phi = law.characteristic_function(np.array([h]), origin)[:, 0]
    log = np.log(phi)
    np.testing.assert_allclose(log.imag / h, law.theta - origin, atol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.maximum(-2 * log.real, 0)) / h, law.sigma, atol=2e-3)
    assert np.abs(law.characteristic_function(np.array([0.0]), origin) - 1).max() < 1e-14


@given(laws)
@settings(max_examples=4)
def test_draws_have_the_laws_mean_and_spread(law):
    """Means within 5 standard errors: a false alarm has probability below 1e-5 for the few checks made."""
    teams = np.repeat(np.arange(law.teams), 20_000)
    drawn = law.draw(np.random.default_rng(11), teams).reshape(law.teams, -1)
    error = law.sigma / np.sqrt(drawn.shape[1])
    assert (np.abs(drawn.mean(axis=1) - law.theta) <= 5 * error + 1e-12).all()
    assert (np.abs(drawn.std(axis=1) - law.sigma) <= 6 * error + 1e-12).all()
    assert (np.abs(drawn - law.theta[:, None]) <= law.reach + 1e-12).all()


def test_set_ups_of_the_paper():
    spreads = np.array([kn.paper.setup_r1(seed=seed).sigma for seed in range(40)])
    rms = np.sqrt((spreads**2).mean(axis=0))
    expected = 0.0031435 * np.arange(200)
    # The mean of 40 sample variances has a relative spread of about 3.5 %; 6 standard deviations are allowed.
    np.testing.assert_allclose(rms[20:], expected[20:], rtol=0.11)
    assert spreads[:, 0].max() == 0
    league = kn.paper.setup_r2(germany_brazil_sigma=0.7)
    ordinary = league.sigma[:-2]
    assert ordinary.mean() == pytest.approx(0.2178, abs=0.012)  # 5 standard errors of the mean of 198 teams
    assert np.mean((ordinary > 0.154) & (ordinary < 0.282)) > 0.88
    np.testing.assert_allclose(league.sigma[-2:], 0.7, atol=1e-12)
    assert league.names[-2:] == ("Germany", "Brazil")
    homogeneous = kn.homogeneous(sigma=2.0)
    assert homogeneous.teams == 500 and homogeneous.theta.mean() == pytest.approx(7)
    drawn = kn.homogeneous(sigma=2.0, seed=3).theta
    assert (np.diff(drawn) >= 0).all() and drawn.min() >= 4 and drawn.max() <= 10


@pytest.mark.parametrize("seed", [1, 8])
def test_set_ups_are_drawn_as_they_are_written(seed):
    """Each number by a loop over teams and players, from the same generator."""
    teams, players, lineup = 5, 7, 3
    even = kn.paper.setup_r1(seed=seed, teams=teams, players=players, lineup=lineup)
    drawn = np.random.default_rng(seed).uniform(-1, 1, (teams, players))
    slow = [[(5 + 5 * i / teams * drawn[i, k]) / lineup for k in range(players)] for i in range(teams)]
    np.testing.assert_allclose(even.rho, slow, rtol=1e-14)
    rising = kn.paper.setup_r2(seed=seed, teams=teams, players=players, lineup=lineup, germany_brazil_sigma=0.7)
    eta = np.random.default_rng(seed).standard_normal((teams, players))
    slow = [[(4 + 6 * i / 2 + eta[i, k]) / lineup for k in range(players)] for i in range(3)]
    np.testing.assert_allclose(rising.rho[:3], slow, rtol=1e-14)
    np.testing.assert_allclose((rising.theta[3:], rising.sigma[3:]), ([10, 9], [0.7, 0.7]), rtol=1e-12)
    for team in (3, 4):  # shifted and scaled: the players keep their order and their relative distances
        assert np.corrcoef(rising.rho[team], eta[team])[0, 1] == pytest.approx(1, abs=1e-12)
    assert rising.names == ("Team 1", "Team 2", "Team 3", "Germany", "Brazil")
    assert (even.m, rising.m) == (lineup, lineup)
    assert kn.homogeneous(sigma=0.7, teams=3, theta=(2.0, 5.0)).theta.tolist() == [2.5, 3.5, 4.5]
    drawn = np.random.default_rng(seed).uniform(2, 5, 4)
    league = kn.homogeneous(sigma=0.7, teams=4, theta=(2.0, 5.0), seed=seed)
    np.testing.assert_array_equal(league.theta, sorted(drawn))
    assert league.sigma.tolist() == [0.7] * 4


def test_set_ups_of_the_paper_are_of_its_size():
    for league in (kn.paper.setup_r1(), kn.paper.setup_r2()):
        assert (league.rho.shape, league.m) == ((200, 23), 11)
    assert np.array_equal(kn.paper.setup_r1().rho, kn.paper.setup_r1(seed=1).rho)
    assert np.array_equal(kn.paper.setup_r2().rho, kn.paper.setup_r2(seed=1).rho)
    assert (
        kn.paper.setup_r2(teams=4, players=2, lineup=1).teams
        == 4
        == kn.paper.setup_r1(teams=4, players=1, lineup=1).teams
    )


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: kn.Fixed([1.0]), "at least 2 teams"),
        (lambda: kn.Fixed([1.0, float("nan")]), r"theta must be finite, but the entry at \[1\] is nan"),
        (lambda: kn.Fixed([[1.0, 2.0]]), "1 dimension"),
        (lambda: kn.Fixed(["a", "b"]), "array of numbers"),
        (lambda: kn.Fixed([1.0, 2.0], names=["a"]), "one name per team"),
        (lambda: kn.Normal([1.0, 2.0], -1.0), "sigma must be 0 or more"),
        (lambda: kn.Normal([1.0, 2.0], [1.0, 2.0, 3.0]), "3 for 2 teams"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0], [1.0, 2.0]], 3), r"m must be at most M.*m = 3, M = 2"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0], [1.0, 2.0]], 0), "m must be a whole number of at least 1"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0]], 1), "at least 2 teams"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0], [1.0, 2.0]], 1, [[1.0, -1.0]]), "weights must be 0 or more"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0], [1.0, 2.0]], 2, [[1.0, 0.0]]), "positive for at least m = 2"),
        (lambda: kn.model.LineupLottery([[1.0, 2.0], [1.0, 2.0]], 1, [1.0, 1.0, 1.0]), "shape of rho, 2 × 2"),
        (lambda: kn.model.Empirical([[1.0, 2.0], [1.0, 2.0]], [0.7, 0.7]), "sum to 1"),
        (lambda: kn.model.Empirical([[1.0, 2.0], [1.0, 2.0]], [1.0, 0.0, 0.0]), "shape of values"),
        (lambda: kn.homogeneous(sigma=1.0, theta=(10, 4)), "low < high"),
        (lambda: kn.paper.setup_r2(lineup=23), "smaller than players"),
    ],
)
def test_bad_leagues_are_refused_in_one_sentence(build, words):
    with pytest.raises(kn.InputError, match=words) as caught:
        build()
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
