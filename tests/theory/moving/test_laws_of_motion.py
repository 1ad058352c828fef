"""Laws that hold at any parameters: identities of Glicko's chain, collapse, growth like t^⅓, limits, other values."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinelo as kn
from kinelo.theory.moving.learning import LearningPull, learning_closure
from kinelo.theory.moving.rounds import MeanMap
from kinelo.theory.teams import teams_of

HALF = kn.Tanh(0.5)


def test_information_balances_what_rest_forgets():
    """``c²E[1/(v v')] = E[I]``, v after a match of the league and v' before the next: exact along a simulated path."""
    growth, teams, count = 0.2, 8, 500
    system = kn.RatingSystem(HALF, gamma=kn.model.DeviationSteps(growth, 0.9, largest=50.0))
    league = kn.Fixed(np.linspace(-2, 2, teams))
    run = kn.simulate(system, league, steps=count, matches_per_step=1, seed=5, record_every=1)
    before, rating = run.deviation.values[0] ** 2, run.rating.values[0]
    rest = growth**2 * 2 / teams
    after = before[1:] - rest
    forgotten = (rest / (after * before[1:])).sum()
    told = 0.0
    for k, (v, r) in enumerate(zip(before[:-1], rating[:-1])):
        i, j = np.argsort(after[k] - v)[:2]
        for one, other in ((i, j), (j, i)):
            g = 1 / math.sqrt(1 + 12 * 0.25 * v[other] / math.pi**2)
            told += (0.5 * g / math.cosh(0.5 * g * (r[one] - r[other]))) ** 2
    assert told == pytest.approx(forgotten + (1 / before[-1] - 1 / before[0]).sum(), rel=1e-9)
    assert told == pytest.approx(forgotten, rel=0.1)


@pytest.mark.parametrize("excess", [0.04, 0.08])
def test_random_rests_spread_the_deviation(excess):
    """One team, matches at random times: Var v/v² = ε/4, E v = v_∞(1 + 3ε/8), mean step v_∞(1 − 5ε/8), to O(ε²)."""
    generator, chains = np.random.default_rng(2), 20_000
    information, settled = 1.0, excess
    v = np.full(chains, settled)
    seen, squares, steps, time = 0.0, 0.0, 0.0, 0.0
    for match in range(300):
        rest = generator.exponential(size=chains)
        late = v + settled**2 * information * rest
        if match >= 200:
            # Means over time: v grows linearly while a team rests.
            seen, time = seen + (rest * (v + late) / 2).sum(), time + rest.sum()
            squares += (rest * (v * v + v * late + late * late) / 3).sum()
        v = late / (1 + late * information)
        if match >= 200:
            steps += v.mean() / 100
    mean = seen / time
    assert mean / settled == pytest.approx(1 + 3 * excess / 8, abs=2 * excess**2)
    assert (squares / time - mean**2) / mean**2 == pytest.approx(excess / 4, rel=0.1 + 2 * excess)
    assert steps / settled == pytest.approx(1 - 5 * excess / 8, abs=2 * excess**2)


@pytest.mark.parametrize("kappa", [0.25, 0.5])
def test_collapsing_league_keeps_a_ratio(kappa):
    """Without diffusion strengths and ratings fall together; sd r/sd ρ → 1/(1 − κ)."""
    pull = LearningPull(HALF, kn.model.Learning(kappa))
    start = np.concatenate([np.linspace(-1, 1, 12), np.linspace(-0.5, 0.9, 12) ** 3])

    def speed(_, state):
        rho, r = np.split(state, 2)
        gaps, spread = np.subtract.outer(rho, rho), np.subtract.outer(r, r)
        return np.concatenate([-pull.force(gaps).mean(axis=1), (HALF.b(gaps) - HALF.b(spread)).mean(axis=1)])

    end = 40 / (1 - kappa)
    rho, r = np.split(solve_ivp(speed, (0, end), start, rtol=1e-10, atol=1e-300, method="LSODA").y[:, -1], 2)
    assert r.std() / rho.std() == pytest.approx(1 / (1 - kappa), rel=2e-3)
    slower = math.exp(-kappa * 0.5 * end)
    assert 0.2 * slower < rho.std() < slower


def test_ratings_of_certain_results_spread_like_the_cube_root_of_time():
    """The stronger always wins: Var r = X²/5 with X = (3π²t/8ν²)^⅓, short of it by a gap that stays bounded."""
    teams = teams_of(kn.Fixed(np.linspace(-4000, 4000, 150)))
    step = MeanMap(HALF, teams, 1.0 / 149)
    rating, at = np.zeros(150), {}
    for time in range(1, 701):
        rating = step(rating)
        at[time] = rating.var()
    for time in (100, 300, 700):
        ahead = (3 * math.pi**2 * time / (8 * 0.25)) ** (2 / 3) / 5
        assert 0.5 < ahead - at[time] < 5
    assert math.log(at[700] / at[100]) / math.log(7) == pytest.approx(2 / 3, abs=0.1)


def test_learning_without_performances_or_wins_is_plain_learning():
    """β = 0: what X is does not matter. σ_p → 0: s is b, from results or not."""
    expected, result = (
        learning_closure(
            HALF, kn.model.Learning(0.5, 0.0, 0.6, on=on), 0.1, teams_of(kn.theory.Continuum(0.0, sigma=0.4))
        ).moments
        for on in ("expected", "result")
    )
    assert pytest.approx((expected.V, expected.C, expected.U), rel=1e-12) == (result.V, result.C, result.U)
    learning = kn.model.Learning(0.5, 0.2, 0.6, on="result")
    many = (teams_of(kn.theory.Continuum(0.0, sigma=sigma)) for sigma in (0.0, 1e-6))
    plain, nearly = (learning_closure(HALF, learning, 0.1, teams).moments for teams in many)
    assert pytest.approx((plain.V, plain.C, plain.U), rel=1e-9) == (nearly.V, nearly.C, nearly.U)


@pytest.mark.parametrize(
    ("outcome", "gamma", "sigma", "learning"),
    [
        (kn.Tanh(0.8), 0.1, 0.5, kn.model.Learning(0.7, 0.2, 0.4)),
        (kn.Tanh(0.4), 0.25, 0.0, kn.model.Learning(0.8, 0.1, 0.6, on="result")),
    ],
)
def test_learning_at_other_values_against_simulation(outcome, gamma, sigma, learning):
    """Parameters of no table: V, C, U and E of 150 teams within 4 errors and 2 %."""
    system = kn.RatingSystem(outcome, gamma=gamma)
    found = kn.tracking(system, kn.Normal(np.zeros(150), sigma), learning)
    run = kn.simulate(
        system, kn.Normal(np.zeros(150), sigma), steps=60, matches_per_step=1500, realisations=8, seed=2,
        record_every=1, dynamics=learning,
    )  # fmt: skip
    x, y = (one.values[:, 20:] for one in (run.strength, run.rating))
    x, y = x - x.mean(axis=2, keepdims=True), y - y.mean(axis=2, keepdims=True)
    for expected, product in ((found.V, x * x), (found.C, x * y), (found.U, y * y), (found.E, (x - y) ** 2)):
        each = product.mean(axis=(1, 2)) * 150 / 149
        assert abs(each.mean() - expected) < 4 * each.std(ddof=1) / math.sqrt(8) + 0.02 * expected
