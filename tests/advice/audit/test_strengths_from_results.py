"""Strengths from results alone against leagues whose truth is known, and each fast way against a slow one."""

import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import kinelo as kn
from kinelo.advice.audit import hindsight as module
from kinelo.advice.audit.alike import _pull, _strengths_today, luck_test, opponents_found, weights_of
from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import conjugate_gradients, factorised, strengths_in_hindsight
from kinelo.advice.audit.inflation import mean_strength, rating_inflation
from kinelo.advice.audit.inputs import compare_ratings
from kinelo.advice.audit.kernels import CHESS_NU, YEAR, Calendar, Parameters, System, expect_ratings
from kinelo.advice.audit.words import inflation_words

SIDES, GAMES, SPREAD, K = 120, 4200, 199.0, 20.0


@cache
def ladder(nearest, seed, walk=0.0, by_rating=False, draws=0.0):
    """Matches between sides and the nearest of so many drawn by chance, in strength or in rating, and all strengths at
    the end, by name."""
    g = np.random.default_rng([nearest, seed])
    strength, rating, rows, pairs = g.normal(0, SPREAD, SIDES), np.zeros(SIDES), [], []
    for n in range(GAMES):
        i = g.integers(SIDES)
        others = g.integers(SIDES - 1, size=nearest)
        others += others >= i
        near = rating if by_rating else strength
        j = others[np.argmin(np.abs(near[others] - near[i]))]
        p = 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        u, drawn = g.random(), draws * 4 * p * (1 - p)
        won = 1.0 if u < p - drawn / 2 else 0.5 if u < p + drawn / 2 else 0.0
        day = np.datetime64("2015-01-01") + int(n / GAMES * 3 * 365.25)
        rows.append((str(day), n, f"p{i}", f"p{j}", won, 1))
        pairs.append((strength[i], strength[j]))
        move = K * (won - 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400)))
        rating[i], rating[j] = rating[i] + move, rating[j] - move
        strength[[i, j]] += walk * g.normal(size=2)
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    return matches, strength[[int(name[1:]) for name in matches.teams]], np.array(pairs)


def hindsight_of(matches):
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    return calendar, parameters, strengths_in_hindsight(calendar, parameters, filtered)


def found_in(matches):
    calendar, parameters, strengths = hindsight_of(matches)
    system = System(CHESS_NU, CHESS_NU, 0.0, np.zeros(calendar.size), np.zeros(calendar.sides))
    return opponents_found(calendar, parameters, strengths, system, np.full((calendar.size, 2), K / 2), 2.0)


def rated(matches, k):
    table = dict(kn.TeamElo.classic(k=k).fit(matches).ratings_.select("name", "rating").iter_rows())
    return np.array([table[name] for name in matches.teams])


def holds(one, truth):
    return one.low <= truth <= one.high


@pytest.mark.parametrize(
    ("nearest", "walk", "seed"), [(3, 0.0, 1), pytest.param(8, 0.0, 1, marks=pytest.mark.long), (8, 3.0, 1)]
)
def test_where_like_meets_like_results_alone_tell_the_spread_and_what_ratings_show(nearest, walk, seed):
    """A calendar that ignores results is taken to follow them once in some fifteen times, and both answers are one."""
    matches, truth, _ = ladder(nearest, seed, walk)
    found = found_in(matches)
    truth = truth - truth.mean()
    assert not found.follows_results
    # Five standard errors of a league this size at the nearest of eight are 15 %.
    assert found.spread.value == pytest.approx(truth.std(ddof=1), rel=0.15) and holds(found.spread, truth.std(ddof=1))
    rating = rated(matches, K)
    assert found.share_shown.value == pytest.approx(truth @ rating / (truth @ truth), abs=0.05)
    assert found.alike and found.hidden
    # Nobody is said to be rated too high, or too low, by more than is true: of 120 sides 5 lie beyond by chance.
    beyond = np.abs(found.today.strength - truth) > 2 * np.sqrt(found.today.variance)
    assert beyond.sum() <= 12
    extremes = compare_ratings(matches.teams, kn.TeamElo.classic(k=K).fit(matches).ratings_, *found.today).extremes
    own = dict(zip(matches.teams, truth))
    assert all(abs(one.strength - own[one.side]) < 3.5 * one.error for one in extremes)


@pytest.mark.parametrize(("nearest", "draws", "seed"), [pytest.param(8, 0.0, 1, marks=pytest.mark.long), (4, 0.5, 2)])
def test_where_the_calendar_follows_ratings_luck_shows_it_and_both_answers_are_one_interval(nearest, draws, seed):
    """Results alone, as if luck had not chosen opponents, run 15 to 40 % high there; each of the six intervals fails
    once in twenty times or less."""
    matches, truth, pairs = ladder(nearest, seed, by_rating=True, draws=draws)
    found = found_in(matches)
    assert found.luck > 5 and found.follows_results
    assert holds(found.spread, truth.std(ddof=1))
    assert holds(found.correlation, np.corrcoef(pairs.ravel(), pairs[:, ::-1].ravel())[0, 1])
    assert holds(found.share_shown, np.polyfit(truth, rated(matches, K), 1)[0])
    assert found.spread.high < 2.2 * found.spread.low


def test_opponents_drawn_by_chance_are_not_alike_and_follow_no_results():
    matches, truth, _ = ladder(1, 2)
    found = found_in(matches)
    assert abs(found.correlation.value) < 0.05 and not found.alike and not found.follows_results
    assert found.spread.value == pytest.approx(truth.std(ddof=1), rel=0.1)
    assert -1 <= found.correlation.low < found.correlation.high <= 1


def test_the_two_solvers_find_the_same_opponents(monkeypatch):
    """A factor and conjugate gradients: the same seasons, to a few percent of the answers."""
    matches = ladder(4, 3, by_rating=True)[0]
    calendar, parameters, _ = hindsight_of(matches)
    # Strengths at rest, and a walk that both ways take as it is.
    parameters = parameters._replace(walk_per_match=0.5, walk_per_year=1.0)
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    system = System(CHESS_NU, CHESS_NU, 0.0, np.zeros(calendar.size), np.zeros(calendar.sides))
    monkeypatch.setattr(module, "walk_factor", lambda likelihood, x, generator: (1.0, x))
    monkeypatch.setattr("kinelo.advice.audit.alike.walk_factor", lambda likelihood, x, generator: (1.0, x))
    answers = []
    for most in (0, 10_000):
        monkeypatch.setattr(module, "CG_STEPS", most)
        strengths = strengths_in_hindsight(calendar, parameters, filtered)
        assert strengths.likelihood.direct == (most == 0)
        steps = np.full((calendar.size, 2), K / 2)
        answers.append(opponents_found(calendar, parameters, strengths, system, steps, 2.0))
    direct, gradients = answers
    for name in ("spread", "correlation", "share_shown"):
        assert getattr(gradients, name) == pytest.approx(getattr(direct, name), rel=0.03, abs=0.01)
    assert gradients.luck == pytest.approx(direct.luck, rel=0.05) and direct.follows_results


def test_firths_pull_is_the_slope_of_half_the_logarithm_of_the_information():
    matches = ladder(3, 1)[0][:300]
    found = hindsight_of(matches)[2]
    likelihood, x = found.likelihood, found.strength + np.linspace(-30, 30, found.strength.size)
    Q = likelihood.precision(x, found.factor).toarray()
    C, rows = np.linalg.inv(Q), likelihood.matches.toarray()
    unknown = np.einsum("ij,jk,ik->i", rows, C, rows)
    pull = likelihood.matches.T @ _pull(likelihood, likelihood.matches @ x + likelihood.home, unknown)
    for block in (0, 7, found.strength.size - 1):
        ends = []
        for step in (-0.5, 0.5):
            moved = x.copy()
            moved[block] += step
            ends.append(0.5 * np.linalg.slogdet(likelihood.precision(moved, found.factor).toarray())[1])
        assert pull[block] == pytest.approx(ends[1] - ends[0], rel=1e-3, abs=1e-9)


def test_luck_so_far_is_held_against_how_strong_the_next_opponent_is(monkeypatch):
    home, away = np.array([0, 1, 0, 2]), np.array([1, 2, 2, 1])
    strength = np.array([10.0, 40.0, 41.0, 70.0, 11.0, 71.0, 72.0, 42.0])
    surprise = np.array([0.5, -0.25, 1.0, 0.75])
    monkeypatch.setattr("kinelo.advice.audit.alike.LUCK_FADES", np.array([1.0, 0.5]))
    who, both = np.column_stack([home, away]).ravel(), np.column_stack([surprise, -surprise]).ravel()
    out = luck_test(np.arange(0, 8, 2), who, strength, both)
    usual = [(40 + 71) / 2, (10 + 70 + 72) / 3, (41 + 11 + 42) / 3]
    for fade, total in zip((1.0, 0.5), out):
        # Match 2: side 1 has -0.5. Match 3: side 0 has 0.5, side 2 has 0.25. Match 4: side 2 and side 1.
        slow = -0.5 * (70 - usual[1]) + 0.5 * (71 - usual[0]) + 0.25 * (11 - usual[2])
        slow += (fade * 0.25 - 1.0) * (42 - usual[2]) + (fade * -0.5 - 0.25) * (72 - usual[1])
        assert total == pytest.approx(slow)


def test_who_hardly_played_hardly_counts_and_who_is_not_known_counts_not_at_all():
    g = np.random.default_rng(2)
    strength, played = g.normal(0, 200, 50), np.full(50, 40.0)
    played[:3], doubt = (2.0, 5.0, 3.0), np.full(50, 30.0**2)
    doubt[0] = 900.0**2
    weight = weights_of(strength, doubt, played)
    assert weight[0] == 0 and weight[1] == pytest.approx(weight[10] * 5 / 20) and weight.sum() == pytest.approx(1.0)


def test_draws_of_luck_have_the_covariance_of_the_estimate_and_both_solvers_agree(monkeypatch):
    matches = ladder(3, 1, 0.0)[0][:900]
    calendar, parameters = Calendar.of(matches), Parameters(9.0, 20.0, 0.01, 200.0, 0.0, 0.0, 0.0)
    flat = smooth_league(calendar, filter_league(calendar, parameters))
    direct = strengths_in_hindsight(calendar, parameters, flat, growing=[])
    likelihood = module.Likelihood(calendar, parameters, np.zeros(calendar.size), direct.blocks)
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
    assert any("weaker than the 1500 at which they start. Let them start at 1" in one for one in said)
    assert found.start.high < 1450


@pytest.mark.parametrize(("years", "active"), [(0.5, [0, 1]), (1.75, [0, 1, 3]), (2.25, [0, 1, 2, 3])])
def test_strengths_today_count_years_from_the_last_match_of_all(years, active):
    """2 played 2 years before the end, 3 one and a half, 0 and 1 on the last day; 4 and 5 met nobody else."""
    end = 3.0 * YEAR
    home, away = np.array([4, 2, 3, 0]), np.array([5, 0, 1, 1])
    day = np.array([0.9 * YEAR, 1.0 * YEAR, 1.5 * YEAR, end])
    calendar = Calendar(home, away, np.zeros(4), np.zeros(4, bool), np.ones(4), day, 6, np.arange(4))
    strength = np.array([[50.0, -50.0], [30.0, 9.0], [70.0, 8.0], [10.0, -20.0]])
    found = SimpleNamespace(of_matches=lambda: (strength, np.zeros((4, 2, 3))), walk_per_year=20.0)
    today, last = _strengths_today(calendar, found, years)
    own = np.array([10.0, -20.0, 30.0, 70.0, 50.0, -50.0])  # as each stood in its last match
    assert np.flatnonzero(today.active).tolist() == active and last.tolist() == [6, 7, 2, 4, 0, 1]
    assert today.strength == pytest.approx(own - own[active].mean())
    assert today.variance == pytest.approx(400.0 * np.array([0.0, 0.0, 2.0, 1.5, 2.1, 2.1]))
