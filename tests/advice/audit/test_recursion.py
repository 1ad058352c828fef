"""The recursion of expected ratings, its strengths, and the backtest beside it, against slow or drawn twins."""

import math
from functools import cache

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.backtest import KBacktest, backtest, k_grid, lowest
from kinelo.advice.audit.estimate import estimate_league, filter_league, has_late_newcomers, smooth_league
from kinelo.advice.audit.kernels import Calendar, Parameters, System
from kinelo.advice.audit.recursion import Recursion, replay

NU = math.log(10) / 800


def calendar(sides=10, matches=400, seed=1, home=30.0, kappa=0.8, late=0):
    """A league of still strengths on [−200, 200]; ``late`` sides enter in the second half only."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(-200, 200, sides)
    rows = []
    for k in range(matches):
        i, j = rng.choice(sides - (late if k < matches // 2 else 0), 2, replace=False)
        up = math.exp(NU * (2 + kappa) / 2 * (theta[i] - theta[j] + home))
        u = rng.random() * (up + 1 / up + kappa)
        rows.append((i, j, 1.0 if u < up else 0.0 if u < up + kappa else -1.0))
    i, j, S = (np.array(column) for column in zip(*rows))
    neutral, weight = np.zeros(matches, bool), np.ones(matches)
    return Calendar(
        i.astype(np.int32),
        j.astype(np.int32),
        S,
        neutral,
        weight,
        np.arange(matches) * 2.0,
        sides,
        np.arange(1, matches + 1),
    )


PARAMETERS = Parameters(4.0, 20.0, 0.1, 150.0, -40.0, 5.0, 0.8)
QUICK = Parameters(40.0, 100.0, 5.0, 150.0, -40.0, 5.0, 0.8)


def system(league, h=20.0, kappa=0.8):
    return System(NU, NU * (2 + kappa) / 2, kappa, np.full(league.size, h), np.zeros(league.sides))


def test_smoothing_is_that_of_a_plain_loop_per_side():
    league = calendar(late=2)
    filtered = filter_league(league, PARAMETERS)
    found = smooth_league(league, filtered)
    for team in range(league.sides):
        own = [(k, s) for k in range(league.size) for s in (0, 1) if (league.home, league.away)[s][k] == team]
        ahead = None
        for k, s in reversed(own):
            phi, before, v_before, m, v = filtered.path[k, s]
            A = 0.0
            if ahead is not None:
                next_phi, next_before, next_v, next_m, next_smooth = ahead
                J = next_phi * v / next_v
                m, v = m + J * (next_m - next_before), v + J**2 * (next_smooth - next_v)
                A = J * next_smooth / v
            assert (found.mean[k, s], found.variance[k, s]) == pytest.approx((m, v))
            assert found.regression[k, s] == pytest.approx(A)
            ahead = phi, before, v_before, m, v
    assert np.all(found.variance <= filtered.path[:, :, 4] + 1e-9)


def test_drawn_strengths_have_the_smoothed_moments():
    league = calendar(matches=120)
    smooth = smooth_league(league, filter_league(league, PARAMETERS))
    drawn = [replay(league, PARAMETERS, np.random.default_rng(n)) for n in range(400)]
    strength = np.stack([one.strength for one in drawn])
    off = (strength.mean(axis=0) - smooth.mean) / np.sqrt(smooth.variance / 400)
    # 240 standard normal numbers, strongly correlated within a side: 4.5 is passed with probability 1e-3 at most.
    assert np.abs(off).max() < 4.5
    assert np.mean(strength.var(axis=0) / smooth.variance) == pytest.approx(1.0, abs=0.05)
    home = np.stack([one.home for one in drawn])
    assert np.abs(home.mean(axis=0) - smooth.home).max() < 4.5 * home.std(axis=0).max() / 20


@pytest.mark.parametrize(("k", "parameters"), [(12.0, PARAMETERS), (60.0, PARAMETERS), (60.0, QUICK)])
def test_expected_losses_ratings_and_errors_are_those_of_leagues_played_again(k, parameters):
    league, again = calendar(), 600
    recursion = Recursion(league, parameters, system(league), league.size // 2)
    out = recursion.follow(k)
    drawn = [replay(league, parameters, np.random.default_rng(n)) for n in range(again)]
    S, strength = np.stack([one.result for one in drawn]), np.stack([one.strength for one in drawn])
    R, nu_D, kappa = np.zeros((again, league.sides)), NU * 1.4, 0.8
    loss, gap, error = (np.empty((again, league.size)) for _ in range(3))
    for n, (i, j) in enumerate(zip(league.home, league.away)):
        r = R[:, i] - R[:, j] + 20.0
        up, down = np.exp(nu_D * r), np.exp(-nu_D * r)
        shares = np.where(S[:, n] > 0, up, np.where(S[:, n] < 0, down, kappa))
        loss[:, n], gap[:, n] = -np.log(shares / (up + down + kappa)), r
        error[:, n] = (R[:, i] - R[:, j] - strength[:, n, 0] + strength[:, n, 1]) ** 2 / 2
        move = k / 2 * (S[:, n] - np.tanh(NU * r))
        R[:, i] += move
        R[:, j] -= move
    # Means over matches of one league scatter by s over leagues: four standard errors, false alarm 1e-4 each, and the
    # theory's own error, which the normal closure makes at large K.
    for mine, theirs, own in ((out.loss, loss, 0.001), (out.error, error, 0.03 * out.error.mean())):
        means = theirs.mean(axis=1)
        assert mine.mean() == pytest.approx(means.mean(), abs=4 * means.std() / math.sqrt(again) + own)
    late = slice(300, None)
    assert np.mean(out.variance[late]) == pytest.approx(np.mean(gap.var(axis=0)[late]), rel=0.1)
    assert np.abs(out.gap - gap.mean(axis=0)).mean() < 4.0


def test_the_calibration_slope_is_that_of_leagues_played_again():
    league = calendar(matches=600)
    recursion = Recursion(league, PARAMETERS, system(league), 300)
    predicted = recursion.at(60.0)
    drawn = [replay(league, PARAMETERS, np.random.default_rng(n)) for n in range(300)]
    R = np.zeros((300, league.sides))
    rs, Ss = [], []
    for n, (i, j) in enumerate(zip(league.home, league.away)):
        S = np.array([one.result[n] for one in drawn])
        r = R[:, i] - R[:, j] + 20.0
        if n >= 300:
            rs.append(r)
            Ss.append(S)
        move = 30.0 * (S - np.tanh(NU * r))
        R[:, i] += move
        R[:, j] -= move
    r, S = np.concatenate(rs), np.concatenate(Ss)

    def score(t):
        up = np.exp(1.4 * NU * t * r)
        return np.sum(r * (S - (up - 1 / up) / (up + 1 / up + 0.8)))

    low, high = predicted.slope - 0.03, predicted.slope + 0.03
    assert score(low) > 0 > score(high)  # the measured slope, ± .004, lies between
    assert predicted.slope < 0.9


def test_luck_among_equals_meets_the_closed_form():
    league = calendar(matches=4000, kappa=0.0, home=0.0)
    still = Parameters(1e-3, 1e-3, 1e-3, 1.0, 0.0, 1e-3, 0.0)
    found = Recursion(league, still, system(league, 0.0, 0.0), 2000).at(8.0)
    # E = γq/2μ with q = 1 and μ = ν, each next order in γν; about the mean of ten sides: (N − 1)/N.
    assert found.error == pytest.approx(4.0 / (2 * NU), rel=0.05)


def test_a_level_of_newcomers_counts_once_the_average_side_has_played_twice():
    # Match 2 is the third: by then four appearances, so a newcomer is late when two sides have been seen.
    def debuts(pairs):
        home, away = (np.array(side, np.int32) for side in zip(*pairs))
        blank = np.zeros(home.size)
        return Calendar(home, away, blank, blank > 0, blank + 1, blank, 5, np.arange(1, blank.size + 1))

    assert has_late_newcomers(debuts([(0, 1), (0, 1), (0, 2)]))
    assert not has_late_newcomers(debuts([(0, 1), (2, 3), (0, 4)]))
    league = debuts([(0, 1), (0, 1), (0, 2)])
    path = filter_league(league, PARAMETERS).path
    assert path[2, 1, 1] == pytest.approx(-40.0, abs=1e-9)
    assert path[0, 1, 1] == 0.0


@cache
def drawn_league(seed=0, players=20, matches=4000):
    """Players on [−300, 300], Elo's own expected score, half of the matches of equals drawn."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(-300, 300, players)
    i = rng.integers(0, players, matches)
    j = (i + rng.integers(1, players, matches)) % players
    E = 1 / (1 + 10 ** (-(theta[i] - theta[j]) / 400))
    draw, u = 2 * E * (1 - E), rng.random(matches)
    result = np.where(u < E - draw / 2, 1.0, np.where(u < E + draw / 2, 0.5, 0.0))
    names = np.array([f"P{n:02d}" for n in range(players)])
    days = np.datetime64("2000-01-01") + np.arange(matches) // 20
    return kn.read_matches(
        {"date": days, "home": names[i], "away": names[j], "result": result, "neutral": [True] * matches}
    )


@cache
def audited_draws():
    return kn.audit(drawn_league(), kn.TeamElo.classic(k=60))


@pytest.mark.usefixtures("few_replays")
def test_with_many_draws_points_and_k_are_those_of_plain_elo():
    found = audited_draws()
    # The spread is 182, and the best K 12.6. Between leagues they scatter by 5.5 and .6.
    assert found.spread == pytest.approx(182.0, abs=14.0)
    assert found.curve.best.k == pytest.approx(12.6, abs=1.8)
    assert found.measured.best == pytest.approx(12.6, abs=1.8)
    assert found.slope[0] == pytest.approx(found.now.slope, abs=3 * found.slope[1])


def test_points_of_another_scale_are_points_times_a_number():
    league = calendar()
    chess, tenth = estimate_league(league), estimate_league(league, NU * 10)
    assert tenth.log_likelihood == pytest.approx(chess.log_likelihood, abs=0.05)
    for name in ("walk_per_match", "newcomer_spread"):
        assert getattr(tenth.parameters, name) == pytest.approx(getattr(chess.parameters, name) / 10, rel=0.1)


def test_the_lowest_k_is_the_vertex_of_a_parabola_in_its_logarithm():
    ks = k_grid(20.0, 300.0)
    curves = np.stack([(np.log(ks) - math.log(at)) ** 2 for at in (7.7, 20.0, 41.0)], axis=1)
    assert lowest(ks, curves) == pytest.approx([7.7, 20.0, 41.0])
    assert ks.max() == 300.0 and ks.min() < 5.0


def made_backtest(better, noise, seed=0):
    """Blocks in which the loss is a parabola about a K, with noise that grows with the distance from it."""
    ks, rng = k_grid(20.0, 20.0), np.random.default_rng(seed)
    x = np.log(ks / better)[:, None]
    slopes = rng.normal(0, noise, 48)
    return KBacktest(ks, 100 * (x**2 + slopes * x), np.full(48, 100.0))


def test_differences_have_the_sign_of_what_is_lost_and_intervals_cover_it():
    found = made_backtest(20.0, 0.05)
    worse = found.difference(40.0, 20.0)
    assert worse.mean == pytest.approx(math.log(2) ** 2, abs=3 * 0.05 * math.log(2) / math.sqrt(24))
    # Slopes of 24 blocks scatter by .05; over 40 leagues a mean width is known to a fortieth.
    others = [made_backtest(20.0, 0.05, seed).difference(40.0, 20.0) for seed in range(40)]
    error = 0.05 * math.log(2) / math.sqrt(24)
    assert np.mean([one.high - one.low for one in others]) == pytest.approx(2 * 1.96 * error, rel=0.08)
    assert np.mean([one.standard_error for one in others]) == pytest.approx(error, rel=0.08)
    back = found.difference(20.0, 40.0)
    assert (back.mean, back.low) == pytest.approx((-worse.mean, -worse.high), rel=0.02)
    own = np.repeat(found.blocks[np.argmin(np.abs(found.k - 40)), :] / 100, 100)
    assert found.against(own, 20.0).mean == pytest.approx(worse.mean, rel=0.1)


@pytest.mark.long
def test_bootstrap_intervals_of_the_best_k_cover_it_neither_too_seldom_nor_always():
    inside, widths = 0, []
    for seed in range(200):
        low, high = made_backtest(20.0, 0.8, seed).interval
        inside += low <= 20.0 <= high
        widths.append(math.log(high / low))
    # 200 trials at .95: 178 to 199 with probability .999.
    assert 178 <= inside <= 199
    # The vertex moves by half the mean slope, whose standard error over 24 blocks is .8/√24.
    assert np.mean(widths) == pytest.approx(2 * 1.96 * 0.8 / math.sqrt(24) / 2, rel=0.15)


@pytest.mark.parametrize(("best", "least"), [(3.0, 0.0), (30.0, 0.0), (150.0, 0.0), (3.0, 8.0)])
def test_k_are_tried_until_the_best_lies_within(best, least):
    """From 20 to 45 a ladder is put on at the end that is lower; each K keeps its own losses, whatever is put on."""

    def losses(ks):
        return (np.log(ks / best)[:, None] ** 2) * np.linspace(0.5, 1.5, 960)

    found = backtest(losses, np.array([20.0, 30.0, 45.0]), 0, least=least)
    assert (np.diff(found.k) > 0).all() and {20.0, 30.0, 45.0} <= {*found.k} and found.k.min() >= least
    place = int(np.argmin(found.log_loss))
    assert found.blocks.sum(axis=1) == pytest.approx(losses(found.k).sum(axis=1))
    if best > least:
        assert 0 < place < found.k.size - 1
        assert found.best == pytest.approx(best, rel=0.1)
    else:  # the best that is allowed
        assert place == 0 and found.k[0] < 10.0
