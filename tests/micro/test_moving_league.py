"""Moving leagues match by match: against the slow twin, to the bit, by their laws, and against theory."""

import math

import numpy as np
import pytest
from slow_moving import SlowLeague

import kinelo as kn
from kinelo.theory.moving.following import Moments

HALF = kn.Tanh(0.5)
THETA = np.array([0.0, 0.5, 1.0, 2.0, 2.5])
START = np.array([1.0, 1.5, 1.0, 0.5, 2.0])


def last(system, strengths, matches, dynamics=None, **options):
    [state] = kn.micro.simulation_states(
        system, strengths, stops=[matches], matches_per_step=1, seed=4, dynamics=dynamics, **options
    )
    return state


@pytest.mark.parametrize("on", ["expected", "result"])
def test_learning_against_its_twin(on):
    outcome, dynamics = kn.model.Davidson(0.6, 1.0), kn.model.Learning(0.5, 0.2, 0.3, on=on)
    fast = last(kn.RatingSystem(outcome, gamma=0.1), kn.Normal(THETA, 0.7), 300, dynamics, start=START)
    slow = SlowLeague(outcome, THETA, 0.7, START, 4)
    slow.learn(300, 0.1, dynamics)
    assert fast.rating[0] == pytest.approx(slow.r, abs=1e-9)
    assert fast.record["strength"][0] == pytest.approx(slow.rho, abs=1e-9)


@pytest.mark.parametrize("leaving", [None, "random", "weakest", "strongest"])
def test_form_and_turnover_against_their_twin(leaving):
    form = kn.model.Form(0.05, 0.8)
    turnover = None if leaving is None else kn.model.Turnover(0.02, [0.5, 1.5, 2.5], 1.2, leaving)
    dynamics = form if turnover is None else (form, turnover)
    fast = last(kn.RatingSystem(HALF, gamma=0.1), kn.Fixed(THETA), 400, dynamics, start=START)
    slow = SlowLeague(HALF, THETA, None, START, 4)
    slow.form(400, 0.1, 0.05, 0.64, turnover)
    assert fast.rating[0] == pytest.approx(slow.r, abs=1e-9)
    assert fast.memory["strength"][0] == pytest.approx(slow.rho, abs=1e-8)


def test_glicko_against_its_twin():
    rule = kn.model.DeviationSteps(0.2, 1.5, 2.0)
    fast = last(kn.RatingSystem(HALF, gamma=rule), kn.Normal(THETA, 0.5), 300, start=START)
    slow = SlowLeague(HALF, THETA, 0.5, START, 4)
    v = slow.glicko(300, 0.2, 1.5, 2.0)
    assert fast.rating[0] == pytest.approx(slow.r, abs=1e-9)
    assert fast.memory["variance"][0] == pytest.approx(v, abs=1e-9)


def test_glickos_own_example():
    """1500/200 beats 1400/30 and loses to 1550/100 and 1700/300 in one period: 1464.1065/151.3989."""
    system = kn.RatingSystem(
        kn.Tanh.elo(), gamma=kn.model.DeviationSteps(1e-9, 300.0, 350.0), schedule=kn.model.Rounds()
    )
    league = kn.Fixed([1500.0, 1400.0, 1550.0, 1700.0])
    wanted = np.array([200.0, 30.0, 100.0, 300.0]) ** 2
    seen = set()
    for seed in range(40):
        [first] = kn.micro.simulation_states(system, league, stops=[0], seed=seed, start=league.theta)
        first.memory["variance"][0] = wanted
        [after] = kn.micro.simulation_states(system, league, stops=[6], matches_per_step=1, seed=seed, start=first)
        seen.add((round(float(after.rating[0, 0]), 4), round(float(after.record["deviation"][0, 0]), 4)))
    assert (1464.1065, 151.3989) in seen
    assert len({deviation for _, deviation in seen}) == 1


@pytest.mark.parametrize(
    ("gamma", "dynamics"),
    [
        (0.1, kn.model.Learning(0.5, 0.1, 0.3)),
        (0.1, (kn.model.Form(0.01, 1.0), kn.model.Turnover(0.01, [1.0, 2.0], 0.5))),
        (0.1, kn.model.Walk(0.05)),
        (kn.model.DeviationSteps(0.1, 1.0), kn.model.Walk(0.05)),
    ],
)
def test_resumed_and_stopped_anywhere_to_the_bit(gamma, dynamics):
    system, league = kn.RatingSystem(HALF, gamma=gamma), kn.Normal(THETA, 0.5)
    options = {"matches_per_step": 7, "realisations": 3, "seed": 9, "dynamics": dynamics}
    first, end = kn.micro.simulation_states(system, league, stops=[10, 30], **options)
    [straight] = kn.micro.simulation_states(system, league, stops=[30], threads=1, **options)
    [resumed] = kn.micro.simulation_states(system, league, stops=[30], start=first, threads=2, **options)
    for other in (straight, resumed):
        assert (other.rating == end.rating).all()
        for name, values in end.record.items():
            assert (other.record[name] == values).all()


@pytest.mark.parametrize("schedule", [kn.model.Rounds(), kn.model.Period(4)])
def test_strengths_that_learn_move_when_a_round_or_period_is_rated(schedule):
    """Nothing moves within it; at its end every pair taught what it would have taught alone, whatever its place."""
    theta, learning = np.array([0.0, 0.5, 1.5, 2.0]), kn.model.Learning(0.5, 0.2)
    system = kn.RatingSystem(HALF, gamma=0.1, schedule=schedule)
    options = {"matches_per_step": 1, "seed": 3, "dynamics": learning}
    whole = schedule.period(4)
    before, after = kn.micro.simulation_states(system, kn.Fixed(theta), stops=[whole - 1, whole], **options)
    assert (before.record["strength"][0] == theta).all()
    played = np.ones((4, 4)) - np.eye(4)
    if isinstance(schedule, kn.model.Period):
        log = kn.micro.simulate_matches(system, kn.Fixed(theta), matches=whole, seed=3, dynamics=learning)
        played[:] = 0
        np.add.at(played, (np.r_[log.home, log.away], np.r_[log.away, log.home]), 1)
    lessons = 0.5 - 0.3 * np.tanh(0.5 * np.subtract.outer(theta, theta))
    assert after.record["strength"][0] == pytest.approx(theta + 0.1 * (played * lessons).sum(axis=1), abs=1e-12)


def test_zero_sum_ratings_fall_behind_common_learning():
    """Ratings keep their sum; without diffusion mean strength grows by exactly γα per match of a team."""
    state = last(kn.RatingSystem(HALF, gamma=0.1), kn.Fixed(THETA), 500, kn.model.Learning(0.4, 0.1), start=START)
    assert state.rating.sum() == pytest.approx(START.sum(), abs=1e-10)
    assert state.record["strength"].mean() - THETA.mean() == pytest.approx(0.1 * 0.4 * 2 * 500 / 5, abs=1e-10)


def covariances(run, skip):
    rho, r = run.strength.values[:, skip:], run.rating.values[:, skip:]
    rho, r = (one - one.mean(axis=-1, keepdims=True) for one in (rho, r))
    pairs = (rho * rho, rho * r, r * r)
    each = np.stack([one.sum(axis=-1) / (rho.shape[-1] - 1) for one in pairs])
    by_run = each.mean(axis=-1)
    return by_run.mean(axis=-1), by_run.std(axis=-1, ddof=1) / math.sqrt(by_run.shape[-1])


@pytest.mark.parametrize(
    ("outcome", "sigma", "dynamics", "gamma", "steps"),
    [
        pytest.param(
            kn.model.Probit(0.5), 0.6, kn.model.Learning(0.6, 0.1, 0.5, on="result"), 0.08, 300, marks=pytest.mark.long
        ),
        (kn.model.Davidson(0.6, 1.0), 0.4, kn.model.Form(0.02, 0.8), 0.12, 150),
    ],
)
def test_simulation_agrees_with_tracking(outcome, sigma, dynamics, gamma, steps):
    """V, C and U over 12 runs of 150 teams, at parameters of no table; 4.5 standard errors and 1 % of closure."""
    league, system = kn.Normal(np.zeros(150), sigma), kn.RatingSystem(outcome, gamma=gamma)
    run = kn.simulate(
        system, league, steps=steps, matches_per_step=1500, realisations=12, seed=2, record_every=3, dynamics=dynamics
    )
    mean, error = covariances(run, 20)
    theory = kn.tracking(system, league, dynamics)
    expected = np.array([theory.V, theory.C, theory.U])
    assert (np.abs(mean - expected) < 4.5 * error + 0.01 * expected).all()


def test_simulated_glicko_agrees_with_its_closure():
    """Slope, mean v and mean Var r of 60 teams; the closure is good to about 1 %."""
    league, growth = kn.Normal(np.linspace(4, 10, 60), 1.0), 0.1
    system = kn.RatingSystem(HALF, gamma=kn.model.DeviationSteps(growth, 1.0, 1e6))
    run = kn.simulate(
        system, league, steps=300, matches_per_step=300, realisations=6, seed=5, record_every=2, start=league.theta
    )
    rating = run.rating.values[:, 25:]
    theory = kn.theory.settled_deviations(HALF, league, growth, noise="gaussian")
    slope = np.polyfit(league.theta, rating.mean(axis=(0, 1)), 1)[0]
    assert slope == pytest.approx(theory.slope, rel=0.015)
    assert (run.deviation.values[:, 25:] ** 2).mean() == pytest.approx((theory.deviation**2).mean(), rel=0.01)


def test_rounds_track_as_computed():
    """N = 10, what a round keeps φ = .98, γ = .05: E before a round .085986 by the closure."""
    form, league = kn.model.Form(-math.log(0.98) / 9, math.sqrt(0.3)), kn.Fixed(np.zeros(10))
    system = kn.RatingSystem(HALF, gamma=0.05, schedule=kn.model.Rounds())
    run = kn.simulate(
        system, league, steps=1500, matches_per_step=45, realisations=40, seed=8, record_every=1, dynamics=form
    )
    (V, C, U), _ = covariances(run, 100)
    theory = kn.tracking(system, league, form).moments
    assert Moments(V, C, U).error == pytest.approx(theory.error, rel=0.02)


def test_open_league_drifts_to_the_rating_of_newcomers():
    """Random departures: mean rating is start + (m₀ − start)e^{−rate·T}; error probability 1e-4."""
    turnover, league = kn.model.Turnover(0.02, 0.0, start=2.0), kn.Fixed(np.zeros(40))
    run = kn.simulate(
        kn.RatingSystem(HALF, gamma=0.1), league, steps=1, matches_per_step=1000, realisations=60, seed=3,
        dynamics=turnover,
    )  # fmt: skip
    means = run.rating.values[:, -1].mean(axis=-1)
    expected = 2.0 - 2.0 * math.exp(-0.02 * float(run.time[-1]))
    assert abs(means.mean() - expected) < 4 * means.std() / math.sqrt(60)
    assert int(run.age.values[:, -1].min()) < int(run.age.values[:, -1].max())


def test_fast_form_is_performance_noise():
    """ω → ∞ at fixed V has the law of normal performances with σ² = V."""
    theta = np.linspace(0, 3, 12)
    fast = kn.simulate(
        kn.RatingSystem(HALF, gamma=0.2), kn.Fixed(theta), steps=400, matches_per_step=60, realisations=40, seed=1,
        record_every=4, dynamics=kn.model.Form(1e6, 1.0),
    )  # fmt: skip
    noisy = kn.stationary(kn.RatingSystem(HALF, gamma=0.2), kn.Normal(theta, 1.0), noise="gaussian")
    mean = fast.rating.values[:, 30:].mean(axis=(0, 1))
    assert mean == pytest.approx(noisy.rating, abs=0.04)


@pytest.mark.parametrize(
    ("gamma", "outcome", "dynamics", "words"),
    [
        (kn.model.DeviationSteps(0.1, 1.0), HALF, kn.model.Learning(0.5), "one gamma for all"),
        (kn.model.DeviationSteps(0.1, 1.0), kn.model.Probit(0.5), None, "whose outcome is Tanh"),
        (0.1, HALF, (kn.model.Walk(0.1), kn.model.Form(0.1, 1.0)), "one that moves strengths with a Turnover"),
        (0.1, HALF, "learning", "dynamics must be"),
    ],
)
def test_what_has_no_meaning_is_said(gamma, outcome, dynamics, words):
    with pytest.raises(kn.InputError, match=words):
        kn.simulate(kn.RatingSystem(outcome, gamma=gamma), kn.Fixed(THETA), steps=1, seed=1, dynamics=dynamics)


def test_deviation_steps_check_their_numbers():
    with pytest.raises(kn.InputError, match="growth must be greater than 0"):
        kn.model.DeviationSteps(0.0, 1.0)
    with pytest.raises(kn.InputError, match="largest must be at least start"):
        kn.model.DeviationSteps(0.1, 2.0, 1.0)


GAMMAS = {
    "number": 5.0,
    "each": tuple(np.linspace(2.0, 8.0, 6)),
    "falling": kn.model.FallingSteps(5.0, 2.0, 30),
    "fide": kn.model.FideSteps(under_18=[1]),
    "deviation": kn.model.DeviationSteps(growth=10.0, start=150.0),
}
DYNAMICS = {
    "none": None,
    "learning": kn.model.Learning(alpha=0.5, diffusion=1.0),
    "form": kn.model.Form(rate=0.01, spread=60.0),
    "walk": kn.model.Walk(5.0),
    "turnover": kn.model.Turnover(rate=0.02, theta=1500.0, start=1500.0),
    "form and turnover": (
        kn.model.Form(rate=0.01, spread=60.0),
        kn.model.Turnover(rate=0.02, theta=1500.0, start=1500.0),
    ),
}


@pytest.mark.parametrize("schedule", [None, kn.model.Rounds(), kn.model.Period(2)])
@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("outcome", [kn.Tanh.elo(), kn.model.Davidson(1.25 * kn.Tanh.elo().nu, 0.5)])
def test_every_combination_runs_or_is_refused_in_a_sentence(outcome, gamma, dynamics, schedule):
    """Learning is scaled by the one γ of the league; Glicko's match is that of tanh. All else combines."""
    league = kn.Normal(np.linspace(2000, 2500, 6), 80.0)

    def run():
        system = kn.RatingSystem(outcome, gamma=GAMMAS[gamma], schedule=schedule)
        return kn.simulate(system, league, steps=4, seed=1, dynamics=DYNAMICS[dynamics])

    refused = None
    if gamma == "deviation" and not isinstance(outcome, kn.Tanh):
        refused = "whose outcome is Tanh"
    if dynamics == "learning" and gamma != "number":
        refused = "one gamma for all teams"
    if refused:
        with pytest.raises(kn.InputError, match=refused):
            run()
        return
    played = run()
    assert np.isfinite(played.rating).all() and abs(played.rating[0, -1] - played.rating[0, 0]).max() > 0
    assert ("strength" in played) == (dynamics != "none" or gamma == "deviation")
    assert ("deviation" in played) == (gamma == "deviation")


def test_glicko_takes_no_outcome_that_only_looks_like_tanh():
    class Steeper(kn.Tanh):
        def scalar_b(self):
            return lambda z: math.tanh(2 * self.nu * z)

    with pytest.raises(kn.InputError, match="whose outcome is Tanh"):
        kn.simulate(kn.RatingSystem(Steeper(0.5), gamma=GAMMAS["deviation"]), kn.Fixed([0.0, 1.0]), steps=1, seed=1)
