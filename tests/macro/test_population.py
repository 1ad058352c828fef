"""Populations: what the constructors make, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.errors import InputError
from kinelo.macro import Population, kinetic_states

CELLS = {"theta": (4, 10, 12), "r": (3, 11, 16)}


def test_uniform_moments():
    teams = Population.uniform(**CELLS, sigma=(0.0, 1.0, 5))
    assert teams.mass == pytest.approx(1, abs=1e-14)
    assert teams.mean_rating == pytest.approx(7, abs=1e-12)
    # Midpoint sums miss Δ²/12 in each variable.
    assert teams.rating_variance == pytest.approx(64 / 12 - 0.25 / 12)
    assert teams.energy == pytest.approx(64 / 12 + 36 / 12 - 0.25 / 12 - 0.25 / 12)
    np.testing.assert_allclose(teams.mean_rating_given_theta(), 7)


def test_marginals_integrate_to_one():
    teams = Population.from_function(lambda t, s, r: t * (1 + s) / r, **CELLS, sigma=(0.0, 1.0, 5))
    widths = {"theta": 0.5, "sigma": 0.2, "r": 0.5}
    for axes in (("theta",), ("sigma", "r"), ("theta", "sigma", "r"), ()):
        assert teams.marginal(*axes).sum() * np.prod([widths[a] for a in axes]) == pytest.approx(1)
    np.testing.assert_allclose(teams.marginal("theta", "r").sum(axis=0) * 0.5, teams.marginal("r"))


def test_gaussian_cell_averages_are_exact():
    teams = Population.gaussian(theta=(-8, 8, 8), r=(-6, 6, 60), sigma=1.0, theta_sd=1.0, r_mean=0.5, r_sd=0.7)
    assert teams.mean_rating == pytest.approx(0.5, abs=1e-9)
    assert teams.rating_variance == pytest.approx(0.49 + 0.2**2 / 12, abs=1e-6)
    middle = teams.marginal("theta")[3:5] * 2
    np.testing.assert_allclose(middle, 0.4772498680518208, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), teams=st.integers(2, 30), realisations=st.integers(1, 4))
def test_samples_keep_their_means(seed, teams, realisations):
    rng = np.random.default_rng(seed)
    league = kn.Normal(rng.uniform(4, 10, teams), rng.uniform(0.2, 1.0, teams))
    ratings = rng.normal(7, 1, (realisations, teams))
    population = Population.from_sample(ratings, league)
    assert population.mean_rating == pytest.approx(ratings.mean(), abs=1e-10)
    grid = population.grid
    assert population.label_mass.sum(axis=1) @ grid.theta.centres == pytest.approx(league.theta.mean(), abs=1e-10)
    assert population.density.min() >= 0 and population.mass == pytest.approx(1)


def test_concentrated_ratings():
    teams = Population.concentrated(lambda theta, sigma: 2 + theta / 2 + sigma, **CELLS, sigma=(0.0, 1.0, 3))
    grid = teams.grid
    density = teams.density.reshape(grid.labels, -1)
    np.testing.assert_allclose(
        density @ grid.r.centres / density.sum(axis=1), 2 + grid.label_theta / 2 + grid.label_sigma
    )
    assert ((density > 0).sum(axis=1) <= 2).all()


def test_a_population_cannot_be_changed():
    teams = Population.uniform(**CELLS, sigma=1.0)
    with pytest.raises(ValueError, match="read-only"):
        teams.density[0, 0, 0] = 1.0


def density_with(value):
    density = np.ones((12, 16))
    density[3, 5] = value
    return density


BAD = [
    (lambda: Population.uniform(theta=(10, 4, 9), r=(0, 1, 9), sigma=1.0), r"low < high, not \(10, 4, 9\)"),
    (lambda: Population.uniform(theta=(4, 4, 9), r=(0, 1, 9), sigma=1.0), "theta must be .* low < high"),
    (lambda: Population.uniform(theta=(4, 10, 9), r=(0, 1, 2), sigma=1.0), r"r\[2\], .* at least 3"),
    (lambda: Population.uniform(theta=(4, 10, 9), r=(0, 1, 9), sigma=-1.0), "sigma must be 0 or more"),
    (lambda: Population.uniform(theta=(4, 10, 9), r=(0, 1, 9), sigma=(-1, 1, 5)), "sigma must be 0 or more"),
    (lambda: Population.uniform(theta=(4, 10, 9), r=(0, 1, 9), sigma=(0, 1, 1)), "at least 3"),
    (lambda: Population.uniform(theta=(4, 10), r=(0, 1, 9), sigma=1.0), r"theta must be \(low, high, cells\)"),
    (lambda: Population.uniform(theta=(4, float("nan"), 9), r=(0, 1, 9), sigma=1.0), "finite number"),
    (lambda: Population(density_with(-0.5), **CELLS, sigma=1.0), r"0 or more, but in cell \[3, 0, 5\] it is -0.5"),
    (lambda: Population(density_with(np.nan), **CELLS, sigma=1.0), r"finite, but the entry at \[3, 5\] is nan"),
    (lambda: Population(np.zeros((12, 16)), **CELLS, sigma=1.0), "positive total mass"),
    (lambda: Population(np.ones((12, 15)), **CELLS, sigma=1.0), "one entry per cell, 12 × 1 × 16"),
    (lambda: Population.from_function(lambda t, s, r: r - 5, **CELLS, sigma=1.0), "density must be 0 or more"),
    (lambda: Population.from_function(lambda t, s, r: "x", **CELLS, sigma=1.0), "function must return an array"),
    (lambda: Population.concentrated(20.0, **CELLS, sigma=1.0), "rating = 20 lies outside"),
    (lambda: Population.gaussian(**CELLS, sigma=1.0, r_mean=900.0, r_sd=1.0), "r_mean = 900 lies too far outside"),
    (lambda: Population.from_sample([1.0, 2.0, 3.0], kn.Fixed([1.0, 2.0])), "one per team: 3 for 2"),
    (lambda: Population.from_sample([1.0, 2.0], kn.Fixed([1.0, 2.0]), r=(5, 6, 9)), "r = 1 lies outside"),
    (lambda: Population.uniform(**CELLS, sigma=1.0).marginal("rating"), "axes of a marginal"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_populations_are_refused_in_words(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_grid_too_large_is_refused_before_it_is_allocated():
    with pytest.raises(InputError, match=r"A population on 100000 × 1 × 100000000 cells .* GiB of memory are free"):
        Population.uniform(theta=(0, 1, 100_000), r=(0, 1, 100_000_000), sigma=1.0)


def test_too_many_saved_times_are_refused_before_they_are_computed(monkeypatch):
    teams = Population.uniform(theta=(4, 10, 100), r=(4, 10, 100), sigma=1.0)
    monkeypatch.setattr("kinelo.runtime.limits.available_memory", lambda: 8 * 10**4 * 500)
    with pytest.raises(InputError, match=r"Keeping the density at 1,000 times .* save fewer times"):
        kn.solve(kn.RatingSystem(kn.Tanh(0.5)), teams, until=1.0, save_at=np.linspace(0, 1, 1000))


SOLVE_BAD = [
    ({"until": 0.0}, "until must lie in the future"),
    ({"until": -1.0}, "until must lie in the future"),
    ({"until": float("inf")}, "until must be a finite number"),
    ({"save_at": [-0.5, 1.0]}, "save_at must lie between 0 and until = 1, but -0.5 does not"),
    ({"save_at": [2.0]}, "save_at must lie between 0 and until"),
    ({"save_at": []}, "save_at must list at least one time"),
    ({"scheme": "weno"}, 'scheme must be "upwind" or "tvd"'),
    ({"closure": "cubic"}, 'closure must be "exact" or "taylor"'),
    ({"dt": -0.1}, "dt must be greater than 0"),
    ({"dt": "fast"}, 'dt must be "cfl" or a number'),
    ({"dt": 50.0, "until": 100.0}, "above the stability limit"),
    ({"diffusion": -1.0}, "diffusion must be 0 or more"),
    ({"stop": "never"}, 'stop must be "until" or "steady"'),
    ({"threads": 0}, "threads must be a whole number"),
    ({"samples": 0}, "samples must be a whole number"),
    ({"stop": "steady", "steady_below": 0.0}, "steady_below must be greater than 0"),
]


@pytest.mark.parametrize(("arguments", "message"), SOLVE_BAD)
def test_bad_arguments_are_refused_in_words(arguments, message):
    teams = Population.uniform(theta=(4, 10, 6), r=(4, 10, 6), sigma=1.0)
    with pytest.raises(InputError, match=message):
        kn.solve(kn.RatingSystem(kn.Tanh(0.5)), teams, **({"until": 1.0} | arguments))


def test_wrong_objects_are_refused_in_words():
    teams = Population.uniform(theta=(4, 10, 6), r=(4, 10, 6), sigma=1.0)
    with pytest.raises(InputError, match="system must be a RatingSystem"):
        kn.solve(kn.Tanh(0.5), teams, until=1.0)
    with pytest.raises(InputError, match="population must be a Population"):
        kn.solve(kn.RatingSystem(kn.Tanh(0.5)), [1.0, 2.0], until=1.0)


def test_a_run_cannot_be_continued_into_its_past():
    teams = Population.uniform(theta=(4, 10, 6), r=(4, 10, 6), sigma=1.0)
    system = kn.RatingSystem(kn.Tanh(0.5))
    *_, last = kinetic_states(system, teams, until=2.0)
    with pytest.raises(InputError, match="until must lie in the future: 1 is not after 2"):
        kinetic_states(system, last, until=1.0)


def test_a_ridge_is_normal_around_its_rating():
    """Mean and variance of r given θ, up to a cell: its width squared over twelve."""
    cells = {"theta": (4, 10, 6), "r": (0, 14, 700), "sigma": 1.0}
    ridge = Population.ridge(lambda theta, sigma: 0.5 * theta + 3, 0.3, **cells)
    theta = np.linspace(4.5, 9.5, 6)
    np.testing.assert_allclose(ridge.mean_rating_given_theta(), 0.5 * theta + 3, atol=1e-9)
    between = 0.25 * np.var(theta)
    assert ridge.rating_variance == pytest.approx(0.3**2 + 0.02**2 / 12 + between, rel=1e-6)
    for width in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="width"):
            Population.ridge(7.0, width, **cells)
