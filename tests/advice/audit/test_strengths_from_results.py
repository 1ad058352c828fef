"""Strengths from results alone against leagues whose truth is known, and each fast way against a slow one."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm

import kinelo as kn
from kinelo.advice.audit import hindsight as module
from kinelo.advice.audit.alike import StrengthsToday, lanczos, opponents_found, share_of, spread_of
from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import conjugate_gradients, factorised, strengths_in_hindsight
from kinelo.advice.audit.inflation import mean_strength, rating_inflation
from kinelo.advice.audit.inputs import compare_ratings
from kinelo.advice.audit.kernels import CHESS_NU, Calendar, Parameters, System, expect_ratings
from kinelo.advice.audit.words import inflation_words

SIDES, GAMES, SPREAD, K = 120, 4200, 199.0, 20.0


@cache
def ladder(nearest, seed, walk=0.0):
    """Matches between sides and the nearest of so many drawn by chance, and all strengths at the end, by name."""
    g = np.random.default_rng([nearest, seed])
    strength, rows = g.normal(0, SPREAD, SIDES), []
    for n in range(GAMES):
        i = g.integers(SIDES)
        others = g.integers(SIDES - 1, size=nearest)
        others += others >= i
        j = others[np.argmin(np.abs(strength[others] - strength[i]))]
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        day = np.datetime64("2015-01-01") + int(n / GAMES * 3 * 365.25)
        rows.append((str(day), n, f"p{i}", f"p{j}", float(won), 1))
        strength[[i, j]] += walk * g.normal(size=2)
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    return matches, strength[[int(name[1:]) for name in matches.teams]]


def found_in(matches):
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar).parameters
    strengths = strengths_in_hindsight(
        calendar, parameters, smooth_league(calendar, filter_league(calendar, parameters))
    )
    system = System(CHESS_NU, CHESS_NU, 0.0, np.zeros(calendar.size), np.zeros(calendar.sides))
    return opponents_found(calendar, parameters, strengths, system, np.full((calendar.size, 2), K / 2), 2.0)


@pytest.mark.parametrize(("nearest", "walk"), [(3, 0.0), (8, 0.0), (8, 3.0)])
def test_where_like_meets_like_results_alone_tell_the_spread_and_what_ratings_show(nearest, walk):
    matches, truth = ladder(nearest, 1, walk)
    found = found_in(matches)
    truth = truth - truth.mean()
    # Five standard errors of a league this size at the nearest of eight are 15 %.
    assert found.spread.value == pytest.approx(truth.std(ddof=1), rel=0.15)
    table = dict(kn.TeamElo.classic(k=K).fit(matches).ratings_.select("name", "rating").iter_rows())
    rating = np.array([table[name] for name in matches.teams])
    assert found.share_shown.value == pytest.approx(truth @ rating / (truth @ truth), abs=0.05)
    assert found.alike and found.hidden
    # Nobody is said to be rated too high, or too low, by more than is true: of 120 sides 5 lie beyond by chance.
    beyond = np.abs(found.today.strength - truth) > 2 * np.sqrt(found.today.variance)
    assert beyond.sum() <= 12
    extremes = compare_ratings(matches.teams, kn.TeamElo.classic(k=K).fit(matches).ratings_, *found.today[:3]).extremes
    own = dict(zip(matches.teams, truth))
    assert all(abs(one.strength - own[one.side]) < 3.5 * one.error for one in extremes)


def test_luck_is_taken_out_of_the_spread_and_of_what_ratings_show():
    """Half as much luck as strength, which moves ratings too: left in, the spread is 12 % too large, the share .08.

    Of 60,000 sides both are within 1.5 % of the truth but for once in a thousand times.
    """
    g = np.random.default_rng(12)
    truth, luck, moved = g.normal(0, 200.0, 60_000), g.normal(0, 100.0, (60_000, 24)), g.normal(0, 30.0, (60_000, 24))
    moved += 1.0 * luck  # what luck does to ratings, beside what it does to strengths
    active = np.arange(60_000) % 6 > 0
    today = StrengthsToday(truth + luck[:, 0], np.full(60_000, 1e4), active, luck[:, 1:])
    weight, spread = spread_of(today, np.full(60_000, 30.0))
    assert spread.value == pytest.approx(200.0, rel=0.015)
    rated = 0.6 * truth + moved[:, 0]
    shifts = [np.array([n]) for n in range(1, 24)]
    share = share_of(today, weight, lambda shift=None: rated if shift is None else rated + moved[:, shift[0]], shifts)
    assert share.value == pytest.approx(0.6, rel=0.015)


def test_the_nearest_of_twenty_hide_the_spread_and_its_interval_says_so():
    """What is not in the results is not in the number: at rest 25 % are luck, and moving hides up to a half.

    Of eight 95 % intervals all but one hold the truth, or all (94 % by chance); those of luck alone do not.
    """
    held, by_luck_alone, off = [], [], []
    for walk, seed in [(walk, seed) for walk in (0.0, 5.0) for seed in (1, 2, 3, 4)]:
        matches, truth = ladder(20, seed, walk)
        found, true = found_in(matches), truth.std(ddof=1)
        low, high = found.spread_range
        held.append(low < true < high)
        by_luck_alone.append(true < found.spread.high)
        off.append(found.spread.value / true)
        # Not so wide that it says nothing, nor surer than the results are.
        assert 0.1 < found.spread.error / true < 0.3 and high < 4 * true
    assert sum(held) >= 7 and sum(by_luck_alone[:4]) == 4 and sum(by_luck_alone[4:]) <= 2
    assert np.mean(off[:4]) == pytest.approx(1.0, abs=0.25) and np.mean(off[4:]) < 0.75


def test_opponents_drawn_by_chance_are_not_alike():
    matches, truth = ladder(1, 2)
    found = found_in(matches)
    assert abs(found.correlation.value) < 0.05 and not found.alike
    assert found.spread.value == pytest.approx(truth.std(ddof=1), rel=0.1)


def test_draws_of_luck_have_the_covariance_of_the_estimate_and_both_solvers_agree(monkeypatch):
    matches = ladder(3, 1, 0.0)[0][:900]
    calendar, parameters = Calendar.of(matches), Parameters(9.0, 20.0, 0.01, 200.0, 0.0, 0.0, 0.0)
    flat = smooth_league(calendar, filter_league(calendar, parameters))
    direct = strengths_in_hindsight(calendar, parameters, flat, growing=[])
    likelihood = module._Likelihood(calendar, parameters, np.zeros(calendar.size), direct.blocks)
    factor = (direct.walk_per_match / parameters.walk_per_match) ** 2
    # Every term of the density, one by one.
    Q, x, pull = np.diag(likelihood.prior), direct.strength, -likelihood.prior * direct.strength
    for n, (i, j) in enumerate(direct.blocks.block):
        p = 1 / (1 + 10 ** ((x[j] - x[i]) / 400))
        apart = np.zeros(x.size)
        apart[[i, j]] = 1, -1
        Q = Q + (math.log(10) / 400) ** 2 * p * (1 - p) * np.outer(apart, apart)
        pull = pull + math.log(10) / 400 * ((matches.result[n]) - p) * apart
    for i, j, v in zip(direct.blocks.later, direct.blocks.earlier, factor * direct.blocks.walk):
        apart = np.zeros(x.size)
        apart[[i, j]] = 1, -1
        Q, pull = Q + np.outer(apart, apart) / v, pull - (x[i] - x[j]) / v * apart
    assert likelihood.precision(x, factor).toarray() == pytest.approx(Q, rel=1e-9, abs=1e-15)
    assert 0.5 * pull @ np.linalg.solve(Q, pull) < 2e-3
    centred = direct.luck - direct.luck.mean(axis=0)
    C = np.linalg.inv(Q)
    P = np.eye(x.size) - 1 / x.size
    # 48 draws of some hundred blocks tell a mean variance to a few percent.
    assert (centred**2).sum(axis=0).mean() == pytest.approx(np.trace(P @ C @ P), rel=0.25)
    right = np.column_stack([pull + 1, np.cos(np.arange(x.size))])
    sparse_Q = sparse.csr_array(Q)
    exact = factorised(sparse_Q)(right)
    assert exact == pytest.approx(np.linalg.solve(Q, right), rel=1e-6, abs=1e-3)
    chains = likelihood.chains(sparse_Q, factor)
    by_gradients = conjugate_gradients(sparse_Q, right, chains, 10_000)
    assert by_gradients is not None and np.abs(by_gradients - exact).max() < 1e-3 * np.abs(exact).max()
    assert conjugate_gradients(sparse_Q, right, chains, 3) is None
    # The chains are the blocks of each side, with the walk between them.
    sides = direct.blocks.side
    T = np.where(sides[:, None] == sides, Q, 0.0)
    assert T @ chains(right) == pytest.approx(right, abs=1e-9)
    # A factor of Q is taken where gradients are slow, and leads to the same walk and strengths.
    for steps in (0, 10_000):
        monkeypatch.setattr(module, "CG_STEPS", steps)
        other = strengths_in_hindsight(calendar, parameters, flat, growing=[])
        assert other.walk_per_match == pytest.approx(direct.walk_per_match, rel=0.02)
        assert other.strength == pytest.approx(direct.strength, abs=2.0)
        assert np.corrcoef(other.luck.ravel(), direct.luck.ravel())[0, 1] > 0.99


def test_blocks_are_stretches_of_one_side_and_none_walks_further_than_luck_hides():
    matches = ladder(3, 1, 0.0)[0][:900]
    calendar, parameters = Calendar.of(matches), Parameters(9.0, 20.0, 0.01, 200.0, 0.0, 0.0, 0.0)
    blocks = module.blocks_of(calendar, parameters)
    sides = np.column_stack([calendar.home, calendar.away])
    assert np.array_equal(blocks.side[blocks.block], sides)
    for number in range(blocks.side.size):
        matches_in = int((blocks.block == number).sum())
        # 9 points a match, against 347/√n of luck, a third of it: √n · 9 √n < 116 and the one that ends it.
        assert matches_in <= 1 + 116 / 9 + 1
    for side in np.unique(sides):
        own = blocks.block[sides == side]
        assert np.all(np.diff(own) >= 0)
    assert blocks.walk.size + np.unique(sides).size == blocks.side.size and np.all(blocks.walk > 0)


def test_rates_of_a_graph_are_those_of_the_whole_matrix():
    g = np.random.default_rng(5)
    rows = [(i, j) for i in range(40) for j in range(i) if g.random() < 0.15]
    A = np.zeros((40, 40))
    for i, j in rows:
        pull = g.random()
        A[[i, j], [i, j]] += pull
        A[[i, j], [j, i]] -= pull
    x = g.normal(size=40)
    x -= x.mean()
    rates, shares = lanczos(sparse.csr_array(A), x)
    for time in (0.3, 2.0, 9.0):
        assert shares @ np.exp(-rates * time) == pytest.approx(x @ expm(-A * time) @ x / (x @ x), rel=1e-6)
    short = lanczos(sparse.csr_array(A), x, steps=12)
    assert short[1] @ np.exp(-short[0] * 2.0) == pytest.approx(x @ expm(-2 * A) @ x / (x @ x), rel=0.01)


def test_expected_ratings_move_as_plain_elo_does_when_every_match_ends_as_expected():
    matches = ladder(3, 1, 0.0)[0][:200]
    calendar, score = Calendar.of(matches), np.linspace(-0.8, 0.9, 200)
    home = np.linspace(0.0, 60.0, 200)
    rated = np.zeros(calendar.sides)
    steps = np.column_stack([np.full(200, 10.0), np.full(200, 7.0)])
    expect_ratings(calendar, System(CHESS_NU, CHESS_NU, 0.0, home, rated), steps, score, rated)
    slow = [0.0] * calendar.sides
    for n, (i, j) in enumerate(zip(calendar.home, calendar.away)):
        expected = 1 / (1 + 10 ** (-(slow[i] - slow[j] + home[n]) / 400))
        surprise = (score[n] + 1) / 2 - expected
        slow[i] += 20.0 * surprise
        slow[j] -= 14.0 * surprise
    assert rated == pytest.approx(np.array(slow), abs=1e-9)


def test_a_mean_of_strengths_counts_who_is_known_well():
    g = np.random.default_rng(8)
    doubt = np.where(np.arange(400) % 2, 10.0, 900.0) ** 2
    means, errors = zip(*(mean_strength(-120 + g.normal(0, np.sqrt(60.0**2 + doubt)), doubt) for _ in range(50)))
    # Half of the sides tell 60 + 10 points each: √(3700/200) = 4.3.
    assert np.mean(errors) == pytest.approx(4.28, rel=0.05)
    assert abs(np.mean(means) + 120) < 3 * 4.28 / math.sqrt(50)
    assert np.std(means) == pytest.approx(4.28, rel=0.3)


def test_juniors_who_enter_below_and_grow_stronger_are_seen_and_said():
    g = np.random.default_rng(4)
    strength, born, rows = list(g.normal(0, 150, 90)), [math.nan] * 90, []
    for n in range(7000):
        year = n / 7000 * 6
        if n > 700 and g.random() < 55 / 6300:
            strength.append(g.normal(-300, 80))
            born.append(year)
        i, j = g.choice(len(strength), 2, replace=False)
        now = [strength[one] + (0.0 if math.isnan(born[one]) else 60.0 * (year - born[one])) for one in (i, j)]
        won = g.random() < 1 / (1 + 10 ** ((now[1] - now[0]) / 400))
        rows.append((str(np.datetime64("2012-01-01") + int(year * 365.25)), n, f"p{i}", f"p{j}", float(won), 1))
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    found = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    assert abs(found.gain.mean - 60) < 3 * found.gain.error and found.gain.low > 20
    said = inflation_words(found)
    assert any(one.startswith("newcomers should start at 1") for one in said) and found.start.high < 1450
    assert any("points a year stronger, next to sides that were there before" in one for one in said)
