"""Where the kinetic equation leads: stationary maps, reference values, diffusion, and what a run returns."""

import numpy as np
import pytest

import kinelo as kn

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5))


@pytest.mark.parametrize(
    ("closure", "scheme"),
    [("taylor", "upwind"), ("exact", "tvd"),
     *(pytest.param(*other, marks=pytest.mark.long) for other in (("taylor", "tvd"), ("exact", "upwind")))],
)  # fmt: skip
def test_long_time_mean_ratings_lie_on_the_stationary_map(scheme, closure):
    teams = kn.macro.Population.uniform(theta=(4, 10, 60), r=(4, 10, 60), sigma=1.0)
    run = kn.solve(SYSTEM, teams, until=150.0, scheme=scheme, closure=closure)
    stationary = kn.stationary(SYSTEM, kn.theory.Continuum(theta=(4, 10), sigma=1.0), closure=closure)
    error = np.abs(run.rating_given_theta[-1] - stationary.rating_of(run.theta))
    assert error.max() < teams.grid.r.width
    assert np.abs(run.mean_rating - 7).max() < 1e-12
    assert run.stationary_distance[-1] < teams.grid.r.width**2 / 4
    assert (np.diff(run.stationary_distance[:40]) < 0).all()


def test_three_dimensional_population_settles_on_its_map():
    teams = kn.macro.Population.uniform(theta=(4, 10, 24), r=(4, 10, 90), sigma=(0.0, 2.0, 4))
    run = kn.solve(SYSTEM, teams, until=120.0)
    stationary = kn.stationary(SYSTEM, kn.Normal(teams.grid.label_theta, teams.grid.label_sigma))
    density = run.density[-1].values.reshape(teams.grid.labels, -1)
    mean = density @ teams.grid.r.centres / density.sum(axis=1)
    # A finite league of 96 teams does not meet itself, which moves its map by about 1 %.
    assert np.abs(mean - stationary.rating).max() < teams.grid.r.width + 0.03
    assert run.stationary_distance[-1] < teams.grid.r.width**2 / 4


@pytest.mark.parametrize(("closure", "expected"), [("taylor", 0.2108), ("exact", 0.1702)])
def test_energy_rises_from_the_diagonal(closure, expected):
    """r = θ is not stationary for σ > 0: E rises from 0, while the distance to the stationary map falls."""
    teams = kn.macro.Population.concentrated(lambda theta, sigma: theta, theta=(4, 10, 60), r=(4, 10, 180), sigma=1.0)
    run = kn.solve(SYSTEM, teams, until=100.0, closure=closure)
    assert abs(run.energy[0]) < 1e-12
    # Near rest the last part of a cell is crossed slowly: E lags by about 2 ⟨|r − θ|⟩ times a fraction of Δr = 0.033.
    assert run.energy[-1] == pytest.approx(expected, abs=0.007)
    assert (np.diff(run.energy[:30]) > 0).all()
    assert run.stationary_distance[-1] < 0.01 * run.stationary_distance[0]


def test_second_moment_rises_from_equal_ratings():
    """From r ≡ 7 the variance of ratings rises: 1.586 at t = 60 on 120 cells, and 1.6207 without a grid.

    Without a grid every θ is one point, moved by ``dr/dt = G(θ) − ∫ b(r − r')``.
    """
    from kinelo.model.expectation import expected_result

    league = kn.homogeneous(sigma=1.0, teams=120)
    pull = expected_result(SYSTEM.outcome, league, "taylor").mean(axis=1)
    r = np.full(120, 7.0)
    for _ in range(1200):
        half = r + 0.025 * (pull - SYSTEM.outcome.b(r[:, None] - r).mean(axis=1))
        r = r + 0.05 * (pull - SYSTEM.outcome.b(half[:, None] - half).mean(axis=1))
    errors = []
    for cells in (61, 121):
        teams = kn.macro.Population.concentrated(7.0, theta=(4, 10, 120), r=(4, 10, cells), sigma=1.0)
        run = kn.solve(SYSTEM, teams, until=60.0, closure="taylor")
        variance = run.second_moment - run.mean_rating**2
        assert abs(variance[0]) < 1e-12 and (np.diff(variance) > 0).all()
        errors.append(r.var() - float(variance[-1]))
    assert r.var() == pytest.approx(1.6207, abs=2e-3)
    assert r.var() - errors[-1] == pytest.approx(1.586, abs=2e-3)
    assert 0 < errors[1] < 0.7 * errors[0]


@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Window(c=30.0)], ids=["separate", "mixed"])
def test_diffusion_lets_the_variance_of_strengths_grow(pairing):
    """Var θ = Var₀ + σ² t on a range wide enough that its ends are not felt; mass and both means stay."""
    teams = kn.macro.Population.gaussian(theta=(-12, 12, 96), theta_sd=1.0, r=(-8, 8, 40), r_sd=1.0, sigma=0.5)
    run = kn.solve(kn.RatingSystem(kn.Tanh(0.5), pairing), teams, until=3.0, diffusion=0.8, save_at=[0, 1, 2, 3])
    theta = run.theta.values
    mass = run.density_theta.values * teams.grid.theta.width
    mean, variance = mass @ theta, mass @ theta**2
    np.testing.assert_allclose(mass.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(mean, mean[0], atol=1e-10)
    np.testing.assert_allclose(variance - variance[0], 0.8**2 * run.time.values, atol=1e-9)
    assert run.density.min() >= 0
    assert np.abs(run.mean_rating - run.mean_rating[0]).max() < 1e-12
    assert np.isnan(run.stationary_distance).all()
    assert run.attrs["stationary_note"] == "strengths wander, so there is no stationary map"


def test_diffusion_moves_only_teams_that_meet():
    """With a window, d[f](r) is the mass within reach: teams alone at their rating do not wander."""
    teams = kn.macro.Population.from_function(
        lambda theta, sigma, r: np.exp(-(theta**2)) * ((np.abs(r + 4) < 0.5) * 3.0 + (np.abs(r - 4) < 0.5)),
        theta=(-8, 8, 64), r=(-6, 6, 48), sigma=0.0,
    )  # fmt: skip
    system = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(c=1.5))
    run = kn.solve(system, teams, until=0.2, diffusion=1.0)
    theta, width = run.theta.values, teams.grid.theta.width
    for place, rate in ((-4, 0.75), (4, 0.25)):
        near = run.density_theta_r.sel(r=slice(place - 1.5, place + 1.5)).sum("r").values * width
        near = near / near.sum(axis=1, keepdims=True)
        variance = near @ theta**2 - (near @ theta) ** 2
        assert variance[-1] - variance[0] == pytest.approx(rate * 0.2, rel=0.02)


def test_a_steady_run_ends_early_and_keeps_its_last_density():
    teams = kn.macro.Population.uniform(theta=(4, 10, 30), r=(4, 10, 30), sigma=1.0)
    run = kn.solve(SYSTEM, teams, until=1000.0, stop="steady", steady_below=1e-3, samples=1000)
    assert run.attrs["ended"] == "steady"
    end = float(run.time[-1])
    assert run.series_time[-1] == end
    # What is left decays by e^(-λ t) with λ near .04 to .05 at first: halving the threshold costs ln 2 / λ each time.
    sooner = float(kn.solve(SYSTEM, teams, until=1000.0, stop="steady", steady_below=2e-3, samples=1000).time[-1])
    assert end - sooner == pytest.approx(14, abs=3) and end == pytest.approx(44, abs=5)
    longer = kn.solve(SYSTEM, teams, until=3 * end)
    # λ₂ ≈ 0.14: moving by less than 1e-3 a unit of time leaves about 1e-3/0.14 to go, beside the slow leak of mass
    # between the two cells around a stationary rating.
    assert np.abs(longer.rating_given_theta[-1] - run.rating_given_theta[-1]).mean() < teams.grid.r.width / 5


def test_what_a_run_returns():
    teams = kn.macro.Population.uniform(theta=(4, 10, 12), r=(4, 10, 15), sigma=(0.1, 0.5, 3))
    run = kn.solve(SYSTEM, teams, until=2.0, save_at=[0.5, 2.0, 0.5, 1.0])
    assert run.time.values.tolist() == [0.5, 1.0, 2.0]
    assert run.density.dims == ("time", "theta", "sigma", "r") and run.density.shape == (3, 12, 3, 15)
    volume, area = teams.grid.volume, teams.grid.label_area
    np.testing.assert_allclose(run.density_r, run.density.sum(("theta", "sigma")) * area, atol=1e-14)
    np.testing.assert_allclose(run.density.sum(("theta", "sigma", "r")) * volume, 1)
    assert run.series_time[0] == 0 and run.series_time[-1] == 2 and run.attrs["ended"] == "until"
    first, last = run.isel(time=0), run.isel(time=-1)
    energy = ((last.r - last.theta) ** 2 * last.density).sum() * volume
    np.testing.assert_allclose(run.energy[-1], energy, atol=1e-12)
    np.testing.assert_allclose(run.second_moment[-1], (last.r**2 * last.density).sum() * volume, rtol=1e-12)
    assert "density" in first


def test_series_do_not_shorten_steps():
    teams = kn.macro.Population.uniform(theta=(4, 10, 12), r=(4, 10, 60), sigma=1.0)
    few, many = (kn.solve(SYSTEM, teams, until=5.0, samples=n) for n in (1, 500))
    assert few.attrs["steps"] == many.attrs["steps"]
    assert few.sizes["series_time"] == 2 and many.sizes["series_time"] == many.attrs["steps"] + 1


def test_no_stationary_map_is_said_not_searched():
    wide = kn.macro.Population.gaussian(theta=(4, 10, 10), r=(-1, 15, 20), sigma=0.5, r_sd=1.0)
    local = kn.solve(kn.RatingSystem(kn.Tanh(0.5), kn.model.Local()), wide, until=0.1)
    assert np.isnan(local.stationary_distance).all() and "need not be unique" in local.attrs["stationary_note"]
    # Two groups of teams one point apart: with νσ = 3 the Taylor closure lets the weaker win five times over.
    split = kn.macro.Population.from_function(
        lambda theta, sigma, r: (theta < 2) * np.exp(-((r - 5) ** 2)), theta=(0, 3, 3), r=(-10, 20, 90), sigma=3.0
    )
    with pytest.warns(kn.KineloWarning, match=r"νσ = 3, but it is increasing only for νσ < 0\.7071"):
        runaway = kn.solve(kn.RatingSystem(kn.Tanh(1.0)), split, until=0.1, closure="taylor")
    assert np.isnan(runaway.stationary_distance).all()
    assert "ratings grow without end" in runaway.attrs["stationary_note"]
    assert np.isfinite(kn.solve(kn.RatingSystem(kn.Tanh(1.0)), split, until=0.1).stationary_distance).all()


def test_a_range_of_ratings_too_narrow_is_reported():
    teams = kn.macro.Population.uniform(theta=(0, 10, 20), r=(4, 6, 20), sigma=0.0)
    with pytest.warns(kn.KineloWarning, match="range of r is too narrow"):
        kn.solve(SYSTEM, teams, until=5.0)


@pytest.mark.parametrize(
    "league",
    [
        kn.Fixed([1.0, 2.0, 4.0, 4.5]),
        kn.Normal([4.0, 5.5, 6.0, 7.5, 8.0], 0.8),
        kn.theory.Continuum((4.0, 9.0), 1.0),
    ],
)
def test_a_league_is_solved_as_it_is_simulated_and_settles_where_theory_says(league):
    """From the mean of θ, to the ratings of ``stationary`` within a cell of r and half of one of θ."""
    run = kn.solve(SYSTEM, league, until=600.0, scheme="tvd", stop="steady")
    theta = league.league.theta if isinstance(league, kn.theory.Continuum) else league.theta
    weight = league.mass if isinstance(league, kn.theory.Continuum) else np.full(theta.size, 1 / theta.size)
    middle = float(weight @ theta)
    # Mass of all but two cells of r is 0 at the start: everybody stands at the mean strength.
    first = run.density_r[0].values
    assert float(run.mean_rating[0]) == pytest.approx(middle) and (first > 0).sum() <= 2
    state, cell = kn.stationary(SYSTEM, league), float(run.r[1] - run.r[0])
    given = run.rating_given_theta[-1].dropna("theta")
    order = np.argsort(theta)
    expected = np.interp(given.theta, theta[order], state.rating[order])
    assert float(np.abs(given - expected).max()) < 1.5 * cell and float(given.max() - given.min()) > 20 * cell


def test_leagues_that_are_not_normal_are_taken_as_normal_and_that_is_said():
    lottery = kn.model.Empirical([[1.0, 3.0], [2.0, 2.6], [4.0, 7.0]], [0.5, 0.5])
    with pytest.warns(kn.errors.KineloWarning, match="performances of Empirical as normal"):
        run = kn.solve(SYSTEM, lottery, until=0.2)
    normal = kn.solve(SYSTEM, kn.Normal(lottery.theta, lottery.sigma), until=0.2)
    np.testing.assert_array_equal(run.density, normal.density)
    equal = kn.solve(SYSTEM, kn.theory.Continuum(3.0, (0.5, 1.5)), until=0.2)
    assert float(equal.mean_rating[-1]) == pytest.approx(3.0) and equal.density.sizes["sigma"] == 20
    unequal = kn.solve(SYSTEM, kn.theory.Continuum((0.0, 3.0), (0.5, 1.5)), until=0.2)
    assert unequal.sigma.values == pytest.approx(np.linspace(0.525, 1.475, 20))
    assert np.ptp(unequal.density[0].sum(dim="r").values) == pytest.approx(0.0, abs=1e-9)
    for wrong in ("x", None, [1.0, 2.0], kn.Tanh(0.5)):
        with pytest.raises(kn.InputError, match="a league such as Normal or LineupLottery, or a Continuum, not"):
            kn.solve(SYSTEM, wrong, until=1.0)
