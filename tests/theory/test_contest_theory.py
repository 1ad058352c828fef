"""Noise of contests of many sides: reference values, closed forms, and a slow twin that draws performances."""

import numpy as np
import pytest
from scipy.stats import t as student

import kinelo as kn
from kinelo.advice.check import check_tracking
from kinelo.theory.closure import LeagueClosure, State
from kinelo.theory.contests import ContestNoise, performance_laws
from kinelo.theory.covariance import motion_of
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.teams import teams_of

T = kn.Tanh(0.5)
FORTY = kn.Normal(np.linspace(4, 10, 40), 1.0)


def field(k, gamma=0.25, outcome=T):
    return kn.RatingSystem(outcome, gamma=gamma, schedule=kn.model.Field(k))


def slope(league, rating):
    return np.polyfit(league.theta, rating, 1)[0]


REFERENCE = {2: (0.843316, 0.303464), 3: (0.810287, 0.174659), 5: (0.79471, 0.116149), 10: (0.786317, 0.085225)}


@pytest.mark.parametrize(("k", "wanted"), REFERENCE.items())
def test_slope_and_noise_are_the_reference(k, wanted):
    found = LeagueClosure(field(k), teams_of(FORTY), whole=False).solve(0.25, FORTY.theta)
    assert (slope(FORTY, found.state.rating), found.variance.mean()) == pytest.approx(wanted, abs=6e-7)


@pytest.mark.parametrize(("k", "gamma"), [(2, 0.61609), (3, 0.98048), (5, 1.39198), (10, 1.81490)])
def test_the_step_without_bias_is_the_reference(k, gamma):
    independent = LeagueClosure(field(k), teams_of(FORTY), whole=False).solve(gamma, FORTY.theta)
    assert slope(FORTY, independent.state.rating) == pytest.approx(1, abs=3e-6)
    # Kept whole, the covariance of forty teams moves γ* by less than 1 %.
    found = kn.unbiased_gamma(field(k), FORTY)
    assert found == pytest.approx(gamma, rel=0.01) and found.noise == pytest.approx(0.99, abs=0.01)
    state = kn.stationary(field(k, found), FORTY, noise="gaussian")
    assert state.slope == pytest.approx(1, abs=1e-7) and "large batches" not in [one.reason for one in state.caveats]


def test_results_against_two_opponents_are_the_reference():
    f, G = performance_laws(T, FORTY)
    assert f.sum(axis=1) == pytest.approx(1, abs=1e-12)
    others = G.sum(axis=0) - G
    alike = (f * (others**2 - (G**2).sum(axis=0) + G**2)).sum(axis=1) / (39 * 38)
    assert (alike[0], alike[20]) == pytest.approx((0.604793, 0.170654), abs=6e-7)
    assert f @ G.T == pytest.approx(kn.expected_result(T, FORTY), abs=1e-12)


LOTTERY = kn.model.LineupLottery([[0.3 * team + k**1.5 for k in range(4)] for team in range(5)], m=2)
LAWS = [
    kn.Fixed([4.0, 5.0, 7.0]),
    LOTTERY,
    kn.model.Empirical([[1.0, 2.0, 4.0], [0.0, 3.0, 3.5]]),
    kn.model.Scaled(student(5), [4.0, 6.0, 9.0], 1.0),
]


@pytest.mark.parametrize("outcome", [T, kn.model.Probit(0.4), kn.Tanh.elo()], ids=repr)
@pytest.mark.parametrize("league", LAWS, ids=lambda law: type(law).__name__)
def test_two_of_a_field_finish_as_in_a_match(outcome, league):
    f, G = performance_laws(outcome, league)
    assert f @ G.T == pytest.approx(kn.expected_result(outcome, league), abs=1e-9)


@pytest.mark.parametrize("outcome", [T, kn.model.Probit(0.3)], ids=repr)
@pytest.mark.parametrize("k", [2, 3, 4, 8, 20])
def test_among_equals_a_contest_is_worth_less_than_three_duels(k, outcome):
    for league in (kn.Fixed([7.0] * 20), kn.Normal([7.0] * 20, 2.0), kn.theory.Continuum(theta=7.0, sigma=1.0)):
        assert kn.theory.contest_worth(field(k, outcome=outcome), league) == pytest.approx(3 * (k - 1) / (k + 1))


def test_worth_of_the_weak_the_middling_and_the_strong():
    worth = kn.theory.contest_worth(field(5), FORTY)
    assert worth[[0, 20, -1]] == pytest.approx([2.34, 2.27, 2.78], abs=0.005)
    # A team far above all others learns k − 1 results, one far below them 2(k − 1)/k.
    low, high = (kn.theory.contest_worth(field(5), kn.Fixed([end, *[0.0] * 30]))[0] for end in (-12.0, 12.0))
    assert low == pytest.approx(2 * 4 / 5, abs=0.02) and high == pytest.approx(4, abs=0.05)
    leagues = kn.Normal(np.linspace(4, 10, 400), 1.0), kn.theory.Continuum((4, 10), 1.0)
    many, all_of_them = (kn.theory.contest_worth(field(5), league)[[0, -1]] for league in leagues)
    assert many == pytest.approx(all_of_them, rel=0.01)


@pytest.mark.parametrize(("k", "teams"), [(3, 3), (4, 6), (5, 6)])
def test_changes_of_a_contest_vary_together_as_drawn(k, teams):
    """The covariance of one contest's changes against 200,000 drawn ones: each entry within five standard errors."""
    league, rating = kn.Normal(np.linspace(5, 8, teams), 0.7), np.linspace(6.0, 7.5, teams)
    spread = np.linspace(0.2, 0.6, teams)
    solver = LeagueClosure(field(k), teams_of(league), whole=True)
    state = State(rating, np.zeros((teams, teams)), np.diag(spread**2))
    shaking = solver.look(solver.steps(1.0), state).pairs.shaking
    wanted = (np.diag(shaking.sum(axis=1)) - shaking) * k / teams
    rng, draws = np.random.default_rng(3), 200_000
    here = rng.random((draws, teams)).argsort(axis=1)[:, :k]
    x = league.theta[here] + 0.7 * rng.standard_normal(here.shape) + rng.gumbel(size=here.shape)
    R = rating[here] + spread[here] * rng.standard_normal(here.shape)
    e = np.sign(x[:, :, None] - x[:, None, :]) - np.tanh(0.5 * (R[:, :, None] - R[:, None, :]))
    gain = np.zeros((draws, teams))
    np.put_along_axis(gain, here, e.sum(axis=2) / (k - 1), axis=1)
    product = gain[:, :, None] * gain[:, None, :]
    error = product.std(axis=0) / np.sqrt(draws)
    z = (product.mean(axis=0) - wanted) / error
    assert np.abs(z).max() < 5
    assert (error < 0.02 * np.abs(wanted).max()).all() and np.abs(wanted.sum(axis=1)).max() < 1e-12


@pytest.mark.parametrize(("k", "teams", "outcome"), [(6, 6, T), (4, 12, kn.model.Probit(0.4))])
def test_leagues_that_are_played_agree(k, teams, outcome):
    league = kn.Normal(np.linspace(5, 9, teams), 1.0)
    state = kn.stationary(field(k, 0.15, outcome), league, noise="gaussian", check=True)
    assert state.check.agrees and state.kind == "joint"
    assert all(one.standard_error < 0.02 * one.played for one in state.check.quantities)


def test_settled_map_and_relaxation_are_those_of_duels():
    duels = kn.RatingSystem(T, gamma=0.25)
    assert (kn.stationary(field(8), FORTY).rating == kn.stationary(duels, FORTY).rating).all()
    assert kn.relaxation(field(8), FORTY).matches_per_team() == kn.relaxation(duels, FORTY).matches_per_team()
    continuum = kn.theory.Continuum((4, 10), 1.0)
    state = kn.stationary(field(5), continuum, noise="gaussian")
    large = kn.stationary(field(5), kn.Normal(np.linspace(4, 10, 310), 1.0), noise="gaussian")
    found, wanted = (state.slope, state.teams.mean(state.variance)), (large.slope, large.variance.mean())
    assert found == pytest.approx(wanted, rel=0.01)


def test_a_diagnosis_says_what_a_contest_is_worth():
    verdict = kn.diagnose(field(5, 0.1), FORTY, check=False)
    found = kn.theory.contest_worth(field(5), FORTY)
    assert (verdict.worth.size, verdict.worth.least, verdict.worth.most) == (5, found.min(), found.max())
    assert "A contest: of 5 tells as much as 2.24 to 2.78 matches of two" in str(verdict)
    assert f"{verdict.matches_until_converged:,.0f} contests per team" in str(verdict)
    assert verdict.unbiased_gamma == float(kn.unbiased_gamma(field(5), FORTY))
    duels = kn.diagnose(kn.RatingSystem(T, gamma=0.1), FORTY, check=False)
    assert duels.worth is None and "contest" not in str(duels) and verdict.rating_noise < 0.7 * duels.rating_noise


def test_the_best_step_of_contests_is_larger():
    league = kn.Normal(np.linspace(0, 20, 12), 3.0)
    duels, contests = (kn.best_gamma(system, league) for system in (kn.RatingSystem(T), field(5)))
    assert contests.gamma > 1.4 * duels.gamma and contests.error < duels.error


TWELVE = kn.Normal(np.linspace(0, 3, 12) ** 1.15, 0.5)


@pytest.mark.parametrize("k", [3, 5])
def test_results_that_go_with_form_shake_ratings_as_drawn_ones_do(k):
    """Slow twin: strengths and ratings drawn from the closure's law, contests by order; 4 standard errors and 1 %."""
    form, system = kn.model.Form(0.03, 0.8), field(k, gamma=0.3)
    closure = LeagueClosure(system, teams_of(TWELVE), motion=motion_of(form), whole=False)
    found = closure.solve(0.3, TWELVE.theta)
    random, count = np.random.default_rng(k), 120_000
    own = np.array([[[form.spread**2, c], [c, u]] for c, u in zip(found.state.C, found.state.U)])
    pulls = np.zeros((count, 12))
    both = np.stack([random.multivariate_normal([0, 0], one, count) for one in own], axis=1)
    strength = TWELVE.theta + both[:, :, 0] + 0.5 * random.standard_normal((count, 12))
    rating = found.state.rating + both[:, :, 1]
    who = random.permuted(np.tile(np.arange(12), (count, 1)), axis=1)[:, :k]
    x = np.take_along_axis(strength, who, 1) + random.gumbel(size=(count, k)) / (2 * 0.5)
    r = np.take_along_axis(rating, who, 1)
    surprise = np.sign(x[:, :, None] - x[:, None, :]) - np.tanh(0.5 * (r[:, :, None] - r[:, None, :]))
    np.put_along_axis(pulls, who, surprise.sum(axis=2) / (k - 1), 1)
    played = np.zeros((count, 12))
    np.put_along_axis(played, who, 1.0, 1)
    square = (pulls**2).sum(axis=0) / played.sum(axis=0)
    doubt = np.sqrt((pulls**4).sum(axis=0)) / played.sum(axis=0)
    shaking = found.pairs.shaking.sum(axis=1)
    assert (np.abs(shaking - square) < 4 * doubt + 0.01 * square).all()
    # Without what ratings know of form it would be more.
    still = ContestNoise(system, teams_of(TWELVE), closure._contests._expected, closure.motion, None, False)
    means = PairMeans(T, closure._triangle.gap(found.state.rating), closure._triangle.total(found.state.U) ** 0.5)
    alone = still.shaking(np.zeros((12, 12)), means, closure._triangle, found.state.U, found.state.C)
    known = closure._contests.shaking(np.zeros((12, 12)), means, closure._triangle, found.state.U, found.state.C)
    assert (alone.sum(axis=1) > 1.02 * known.sum(axis=1)).all()


@pytest.mark.parametrize(
    ("k", "dynamics", "gamma"),
    [
        (3, kn.model.Form(0.03, 0.8), 0.3),
        (5, kn.model.Walk(0.03), 0.1),
        (5, kn.model.Learning(0.6, 0.25, 0.5, on="result"), 0.3),
        pytest.param(3, kn.model.Learning(0.5, 0.1, 0.5), 0.3, marks=pytest.mark.long),
    ],
    ids=repr,
)
def test_contests_among_strengths_that_move_are_followed_as_played(k, dynamics, gamma):
    """The error within 4 standard errors (a false alarm in 10,000) or 2 %, slopes 3 %; two sides are far from it."""
    found = kn.tracking(field(k, gamma), TWELVE, dynamics)
    error, *slopes = check_tracking(found, TWELVE, matches=800_000).quantities
    assert error.agrees and all(one.agrees or one.played == pytest.approx(one.theory, rel=0.03) for one in slopes)
    duels = kn.tracking(kn.RatingSystem(T, gamma=gamma), TWELVE, dynamics)
    assert duels.E > 1.2 * found.E
    if getattr(dynamics, "on", "") != "result":  # which takes seconds
        assert pytest.approx(duels.E, rel=1e-9) == kn.tracking(field(2, gamma), TWELVE, dynamics).E


def test_a_league_too_small_for_a_contest_is_refused_by_every_function():
    three, five = kn.Fixed([1.0, 2.0, 3.0]), field(5)
    asks = [(ask, ()) for ask in (kn.stationary, kn.unbiased_gamma, kn.theory.contest_worth, kn.diagnose)]
    asks += [(ask, (kn.model.Form(0.02, 0.5),)) for ask in (kn.tracking, kn.best_gamma, kn.diagnose)]
    for ask, more in asks:
        with pytest.raises(kn.InputError, match="needs at least 5 teams, not 3"):
            ask(five, three, *more)
