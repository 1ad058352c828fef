"""Strengths that move in the kinetic equation: what is conserved, what is reached, and that a run can be taken up."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.moving.rounds import MeanMap
from kinelo.theory.teams import teams_of

HALF = kn.Tanh(0.5)
SYSTEM = kn.RatingSystem(HALF, gamma=0.1)
LEARNING = kn.model.Learning(0.5, diffusion=0.5)


def mean_strength(run, k):
    law = run.density_theta.values[k]
    return float(run.theta.values @ law / law.sum())


@pytest.mark.parametrize("on", ["expected", "result"])
@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Local()])
def test_learning_conserves_the_mean_strength_of_its_frame(pairing, on):
    """Lopsided teams of several spreads: mass, mean rating and mean strength stay to rounding, for any even w."""
    start = kn.macro.Population.from_function(
        lambda theta, sigma, r: np.exp(-((theta - 0.7) ** 2) - 0.3 * theta - (r - 0.5 * theta * sigma) ** 2),
        theta=(-5, 6, 33), r=(-8, 9, 34), sigma=(0, 1.2, 3),
    )  # fmt: skip
    learning = kn.model.Learning(0.5, 0.2, 0.4, on=on)
    run = kn.solve(kn.RatingSystem(HALF, pairing, 0.1), start, until=1.5, dynamics=learning, save_at=[0.0, 1.5])
    assert mean_strength(run, 1) == pytest.approx(mean_strength(run, 0), abs=1e-13)
    assert float(run.mass[-1]) == pytest.approx(1, abs=1e-13)
    assert float(run.mean_rating[-1]) == pytest.approx(float(run.mean_rating[0]), abs=1e-13)


def test_the_frame_moves_as_fast_as_teams_meet():
    """``d/dt m_ρ = α∬ w f f'``: α where all play, less where only like meet like."""
    start = kn.macro.Population.gaussian(theta=(-4, 4, 24), r=(-6, 6, 36), sigma=0.0, r_sd=1.0)
    frames = []
    for pairing in (kn.model.AllPlayAll(), kn.model.Local()):
        system = kn.RatingSystem(HALF, pairing, 0.1)
        frames.append(list(kn.macro.kinetic_states(system, start, until=1.0, dynamics=LEARNING))[-1].frame)
    assert frames[0] == pytest.approx(0.5, rel=1e-12)
    met = start.rating_mass @ kn.model.Local().w(np.subtract.outer(start.grid.r.centres, start.grid.r.centres))
    assert 0 < frames[1] < 0.5 and frames[1] == pytest.approx(0.5 * met @ start.rating_mass, rel=0.15)


def test_several_spreads_learn_as_the_joint_law_says():
    """Learning from results, σ = 0.2, 0.6 or 1: strengths settle where d Var ρ/dt = σ² + 2 E[ρ c] vanishes."""
    learning = kn.model.Learning(0.6, 0.3, 0.6, on="result")
    start = kn.macro.Population.gaussian(theta=(-8, 8, 96), r=(-9, 9, 18), sigma=(0.0, 1.2, 3), r_sd=1.0)
    run = kn.solve(SYSTEM, start, until=60.0, dynamics=learning, save_at=[60.0])
    law = run.density.values[-1].sum(axis=2)
    law /= law.sum()
    x = run.theta.values
    teams = kn.Normal(np.repeat(x, 3), np.tile([0.2, 0.6, 1.0], x.size))
    s, b = kn.expected_result(HALF, teams), HALF.b(np.subtract.outer(teams.theta, teams.theta))
    mass = law.ravel()
    pull = (0.6 * b - 0.3 * s) @ mass
    assert 2 * mass @ (teams.theta * pull) == pytest.approx(0.36, rel=4e-3)
    # Who varies more wins less surely and is held less apart.
    assert law[:, 2] @ x**2 / law[:, 2].sum() < law[:, 0] @ x**2 / law[:, 0].sum()


def form_moments(cells, until):
    start = kn.macro.Population.concentrated(0.0, theta=(-0.01, 0.01, 3), r=(-4.05, 4.05, cells), sigma=0.0)
    run = kn.solve(SYSTEM, start, until=until, scheme="tvd", dynamics=kn.model.Form(0.01, 1.0), save_at=[until])
    return np.array([float(one[-1]) for one in (run.strength_variance, run.covariance, run.rating_variance)])


def test_form_of_equal_teams_settles_at_the_joint_law():
    """ν = ½, V = 1, ω/γ = 0.1; the error falls with the cells of r."""
    exact = np.array([1.0, 0.733863916, 0.677314312])
    coarse, fine = form_moments(27, 30.0) - exact, form_moments(54, 30.0) - exact
    assert np.abs(fine).max() < 0.01
    assert abs(fine[2]) < abs(coarse[2]) / 2


def test_form_is_about_each_teams_own_mean():
    """Teams of different θ keep their places: slope of the mean ratings, V, C and U near the closure's."""
    form, system = kn.model.Form(0.02, 0.8), kn.RatingSystem(HALF, gamma=0.1)
    start = kn.macro.Population.concentrated(
        lambda theta, sigma: 0.9 * theta, theta=(-2, 2, 8), r=(-5, 5, 50), sigma=0.5
    )
    run = kn.solve(system, start, until=25.0, scheme="tvd", dynamics=form, save_at=[25.0])
    # The kinetic equation is the limit of small steps at a fixed ω/γ.
    slow = kn.tracking(kn.RatingSystem(HALF, gamma=1e-7), kn.theory.Continuum((-2, 2), 0.5), kn.model.Form(2e-8, 0.8))
    found, total, x = slow.teams, slow.moments, run.theta.values
    # Eight cells have 1/64 less variance than the interval.
    V = total.V - 4**2 / 12 / 64
    assert float(run.strength_variance[-1]) == pytest.approx(V, rel=1e-3)
    assert float(run.covariance[-1]) == pytest.approx(total.C * V / total.V, rel=0.01)
    slope = x @ run.rating_given_theta.values[-1] / (x @ x)
    assert slope == pytest.approx(found.between.rating_slope, rel=0.01)
    assert run.density.dims == ("time", "theta", "sigma", "r")


@pytest.mark.parametrize(
    "dynamics",
    [LEARNING, kn.model.Form(0.02, 0.5), kn.model.Walk(0.05), kn.model.Turnover(0.01, [1.0, 2.0], 0.5),
     (kn.model.Form(0.02, 0.5), kn.model.Turnover(0.01, 1.0, 0.5, "weakest"))],
)  # fmt: skip
@pytest.mark.parametrize("schedule", [None, kn.model.Period(4)])
def test_a_run_taken_up_is_equal_to_the_bit(dynamics, schedule):
    system = kn.RatingSystem(HALF, gamma=0.1, schedule=schedule)
    start = kn.macro.Population.gaussian(theta=(-4, 5, 18), r=(-4, 5, 18), sigma=0.0, theta_mean=0.4)
    if schedule is not None and dynamics is LEARNING:
        with pytest.raises(kn.InputError, match="within a period"):
            kn.macro.kinetic_states(system, start, until=1.0, dynamics=dynamics)
        return
    whole = list(kn.macro.kinetic_states(system, start, until=2.0, samples=5, dynamics=dynamics))
    for at in (1, 3):
        rest = list(kn.macro.kinetic_states(system, whole[at], until=2.0, samples=5, dynamics=dynamics))
        assert [one.time for one in rest] == [one.time for one in whole[at + 1 :]]
        assert np.array_equal(rest[-1].population.density, whole[-1].population.density)
        assert (rest[-1].centre, rest[-1].frame) == (whole[-1].centre, whole[-1].frame)


def test_an_open_league_drifts_as_newcomers_start():
    """Random departures: mean rating and mean strength tend to those of newcomers as e^{−ηt}; mass stays."""
    start = kn.macro.Population.gaussian(theta=(-4, 4, 20), r=(-4, 4, 40), sigma=(0, 1, 3))
    open_ = kn.model.Turnover(0.02, [1.0, 2.0], 0.7)
    run = kn.solve(SYSTEM, start, until=2.0, dynamics=open_, save_at=[0.0, 2.0])
    left = np.exp(-0.2 * 2.0)
    assert float(run.mean_rating[-1]) == pytest.approx(0.7 * (1 - left), abs=1e-12)
    assert mean_strength(run, 1) == pytest.approx(1.5 * (1 - left), abs=1e-12)
    assert float(run.mass[-1]) == pytest.approx(1, abs=1e-12)
    assert run.density.values[-1].sum(axis=(0, 2)) == pytest.approx(run.density.values[0].sum(axis=(0, 2)), rel=1e-12)


@pytest.mark.parametrize(("leaving", "sign"), [("weakest", 1), ("strongest", -1)])
def test_who_leaves_first_stands_at_the_end(leaving, sign):
    """Of a uniform league, the part ηt = 0.175 at one end has gone; the rest is untouched."""
    start = kn.macro.Population.uniform(theta=(-2, 2, 40), r=(-3, 3, 12), sigma=0.0)
    run = kn.solve(SYSTEM, start, until=0.875, dynamics=kn.model.Turnover(0.02, 0.05, 0.0, leaving), save_at=[0.875])
    law = run.density_theta.values[-1][::sign]
    assert law[:7] == pytest.approx(0, abs=1e-12)
    rest = np.sort(law[7:])
    assert rest[:-1] == pytest.approx(0.25, rel=1e-12)
    assert rest[-1] == pytest.approx(0.25 + 1.75, rel=1e-12)


def test_open_league_agrees_with_the_simulation():
    """Turnover in the equation against a league of 200 teams at small γ: mean and spread of ratings (4 errors)."""
    open_ = kn.model.Turnover(0.01, [1.5, 2.5], 1.0)
    system, league = kn.RatingSystem(HALF, gamma=0.05), kn.Fixed(np.linspace(-2, 2, 200))
    start = kn.macro.Population.concentrated(0.0, theta=(-2, 3, 50), r=(-4, 5, 90), sigma=0.0)
    density = np.where(start.grid.theta.centres < 2, 1.0, 0.0)[:, None, None] * start.density
    start = kn.macro.Population(density, theta=(-2, 3, 50), r=(-4, 5, 90), sigma=0.0)
    run = kn.solve(system, start, until=4.0, scheme="tvd", dynamics=open_, save_at=[4.0])
    played = kn.simulate(
        system, league, steps=2, matches_per_step=4000, seed=3, realisations=12, dynamics=open_, start=np.zeros(200)
    )
    rating = played.rating.values[:, -1]
    mean, error = rating.mean(), rating.mean(axis=1).std(ddof=1) / np.sqrt(12)
    assert abs(float(run.mean_rating[-1]) - mean) < 4 * error
    spread = rating.var(axis=1)
    # A finite step adds about γ/2ν to the variance of ratings.
    assert abs(float(run.rating_variance[-1]) + 0.05 - spread.mean()) < 4 * spread.std(ddof=1) / np.sqrt(12) + 0.02


def test_a_period_is_one_euler_step():
    """Ratings on a line, moved period by period: those of the mean map, mean and mass to rounding."""
    teams = teams_of(kn.theory.Continuum((4, 10), sigma=1.0, nodes=16))
    s = kn.expected_result(HALF, teams.strengths)

    def speed(rating):
        return (s - HALF.b(rating[:, None] - rating[None, :])) @ teams.mass

    rating = np.linspace(6.5, 7.5, 16)
    assert MeanMap(HALF, teams, 0.3)(rating) == pytest.approx(rating + 0.3 * speed(rating), abs=1e-14)
    system = kn.RatingSystem(HALF, gamma=0.1, schedule=kn.model.Period(8))
    start = kn.macro.Population.concentrated(7.0, theta=(4, 10, 30), r=(2, 12, 400), sigma=1.0)
    run = kn.solve(system, start, until=4.0, save_at=[0.5, 0.8, 4.0])
    # Before a period ends nothing moves.
    assert float(run.rating_given_theta[0, 0]) == pytest.approx(7.0, abs=1e-12)
    x, here = run.theta.values, np.full(30, 7.0)
    target = kn.expected_result(HALF, kn.Normal(x, 1.0)).mean(axis=1)
    for _ in range(5):
        here = here + 0.8 * (target - HALF.b(here[:, None] - here[None, :]).mean(axis=1))
    assert run.rating_given_theta.values[-1] == pytest.approx(here, abs=2e-3)
    assert run.attrs["steps"] == 5
    assert float(run.mean_rating[-1]) == pytest.approx(7.0, abs=1e-12)


def test_what_is_not_solved_is_said():
    teams = kn.macro.Population.uniform(theta=(0, 1, 8), r=(0, 1, 8), sigma=0.0)
    with pytest.raises(kn.InputError, match="diffusion must be 0"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=LEARNING, diffusion=0.1)
    with pytest.raises(kn.InputError, match="dynamics must be"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=(LEARNING, kn.model.Walk(0.1)))
    with pytest.raises(kn.InputError, match="outside of the cells of r"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=kn.model.Turnover(0.1, 0.5, 3.0))
    with pytest.raises(kn.InputError, match="outside of the cells of theta"):
        kn.solve(SYSTEM, teams, until=1.0, dynamics=kn.model.Turnover(0.1, 5.0, 0.5))
    with pytest.raises(kn.InputError, match="number of teams"):
        kn.solve(kn.RatingSystem(HALF, schedule=kn.model.Rounds()), teams, until=1.0)
    with pytest.raises(kn.InputError, match="one step of its own length"):
        kn.solve(kn.RatingSystem(HALF, schedule=kn.model.Period(5)), teams, until=1.0, dt=0.1)
    with pytest.raises(kn.InputError, match="one gamma that all teams share"):
        kn.solve(kn.RatingSystem(HALF, gamma=[0.1, 0.2]), teams, until=1.0)
    with pytest.raises(kn.InputError, match="characteristics"):
        kn.solve(kn.RatingSystem(HALF, gamma=kn.model.DeviationSteps(0.1, 1.0)), teams, until=1.0)


def test_newcomers_bring_form_with_them():
    """Form so slow that nobody's changes: those who were there have none, newcomers that of the stationary law, so
    strengths spread by Var θ of newcomers and s² for the share that has come, 1 − e^{−ηt}, and by Var θ for the rest.
    """
    pool, spread = [1.0, 2.0, 2.6], 0.5
    start = kn.macro.Population.concentrated(1.5, theta=(0.0, 3.6, 36), r=(-1.0, 4.0, 40), sigma=0.0)
    dynamics = (kn.model.Form(1e-7, spread), kn.model.Turnover(0.05, pool, 1.5))
    run = kn.solve(kn.RatingSystem(HALF, gamma=0.1), start, until=12.0, dynamics=dynamics, save_at=[0.0, 12.0])
    first, last = run.strength_variance.values
    assert first == pytest.approx(np.var(np.linspace(0.05, 3.55, 36)), rel=1e-6)
    left = math.exp(-0.05 / 0.1 * 12.0)
    means = np.array([1.8, np.mean(pool)])
    between = left * (1 - left) * (means[1] - means[0]) ** 2
    # The law of a team between two cells of θ is shared by them: up to a quarter of a cell squared.
    expected = left * first + (1 - left) * (np.var(pool) + spread**2) + between
    assert last == pytest.approx(expected, rel=0.02)
