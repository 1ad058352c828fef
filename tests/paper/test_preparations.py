"""Every preparation of a figure on a league of a second: its numbers, and the claims it serves."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import kinelo as kn
from kinelo.paper.catalogue import check_claims, figure_names, preparation
from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.figures.marginals import blurred_outside, similar_ratings, towards_strength_in_the_middle
from kinelo.paper.reproduce import finished_run, has_run
from kinelo.paper.summary import homogeneous, line_through, simulated
from kinelo.studies import parse_study

SMALL = {
    "outliers": {"sigma": [0.5, 1.5]},
    "spread": {"lineups": 40, "averaged_leagues": 3},
    "step_size": {"gamma": [0.2]},
    "step_scan": {"gamma": [0.05, 0.15]},
    "energy": {"records": 61},
    "phase_diagram": {"nu": {"from": 0.1, "to": 1.0, "points": 2}, "sigma": {"from": 0.5, "to": 2.0, "points": 2}},
}


def smaller(study, name: str):
    content = study.model_dump(mode="json", exclude_none=True)
    if "teams" in content.get("league", {}):
        content["league"]["teams"] = 12
    if "simulate" in content:
        content["simulate"] |= {"steps": 200, "record_every": 20, "realisations": 3}
    if "population" in content:
        for axis, count in (("theta", 12), ("r", 28), ("sigma", 3)):
            if isinstance(content["population"][axis], list):
                content["population"][axis][2] = count
    if "solve" in content:
        content["solve"] |= {"until": min(6.0, content["solve"]["until"]), "samples": 15}
    return parse_study(content, name)


def small(figure: FigureStudy) -> FigureStudy:
    enough = 3 if figure.draw == "step_size" else None  # nobody asks for its runs by name
    studies = {name: smaller(study, name) for name, study in [*figure.studies.items()][:enough]}
    parameters = {**figure.parameters, **SMALL.get(figure.draw, {})}
    return FigureStudy(figure.number, figure.title, "", figure.draw, studies, parameters, figure.source)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Name of a figure → (the figure, its evidence)."""
    place, found = tmp_path_factory.mktemp("runs"), {}
    for figure in map(small, read_figures(scale="quick")):
        runs = {
            name: finished_run(study, place / f"{figure.number}-{k}")
            for k, (name, study) in enumerate(figure.studies.items())
            if has_run(study)
        }
        found[figure.draw] = figure, preparation(figure.draw, figure.source)(figure, runs)
    return found


def test_every_preparation_serves_a_figure(prepared):
    assert set(prepared) == set(figure_names())


def test_every_claim_finds_its_numbers(prepared):
    claims, left_out = check_claims({name: evidence for name, (_, evidence) in prepared.items()})
    assert left_out == 0 and len(claims) > 20
    assert [claim.statement for claim in claims if claim.verdict == "not measured"] == []


def test_the_distance_decays_like_twice_the_gap(prepared):
    """In the end at the rate that relaxation gives; the line beside it falls at that rate throughout."""
    evidence = prepared["energy"][1]
    for closure in ("exact", "taylor"):
        teams = kn.theory.Continuum(theta=(4.0, 10.0), sigma=1.0)
        gap = kn.relaxation(kn.RatingSystem(kn.Tanh(0.5)), teams, closure=closure).gap
        for start in ("from r = θ", "from one rating", "uniform", "smooth around r = θ"):
            run = evidence.runs[f"{start}, {closure}"]
            rates = -np.diff(np.log(run.asymptote)) / np.diff(run.time)
            np.testing.assert_allclose(rates, 2 * gap, rtol=1e-6)
            last = -np.diff(np.log(run.distance[-10:])) / np.diff(run.time[-10:])
            np.testing.assert_allclose(last, 2 * gap, rtol=0.01)


def plain_paths(theta, rating, mass, until, steps):
    """E and the variance of r at the end: every team against every other, four stages a step, Taylor, ν = ½, σ = 1."""
    gap = np.tanh((theta[:, None] - theta) / 2)
    drift = (gap - 0.5 * gap * (1 - gap**2)) @ mass  # b + σ²b″, for b = tanh(z/2)

    def speed(r):
        return drift - np.tanh((r[:, None] - r) / 2) @ mass

    h, r = until / steps, rating.copy()
    for _ in range(steps):
        k1 = speed(r)
        k2 = speed(r + h / 2 * k1)
        k3 = speed(r + h / 2 * k2)
        r = r + h / 6 * (k1 + 2 * k2 + 2 * k3 + speed(r + h * k3))
    return ((r - theta) ** 2) @ mass, (r**2) @ mass - (r @ mass) ** 2


def test_energy_and_second_moment_are_those_of_teams_that_move_without_cells(prepared):
    """A midpoint rule of 300 teams on a line and of 24 × 24 on a square; both err by the square of their width."""
    runs = prepared["energy"][1].runs
    theta = 4 + 6 * (np.arange(300) + 0.5) / 300
    energy, variance = plain_paths(theta, theta, np.full(300, 1 / 300), 60.0, 120)
    line, square = runs["from r = θ, taylor"], runs["uniform, taylor"]
    assert (line.energy[-1], line.variance[-1]) == pytest.approx((energy, variance), abs=3e-5)
    assert line.energy[-1] == pytest.approx(0.2107, abs=5e-5)  # what the report prints
    few = 4 + 6 * (np.arange(24) + 0.5) / 24
    theta, rating = (axis.ravel() for axis in np.meshgrid(few, few))
    energy, variance = plain_paths(theta, rating, np.full(576, 1 / 576), 3.0, 12)
    at = int(np.searchsorted(square.time, 3.0))
    assert square.time[at] == 3.0
    assert (square.energy[at], square.variance[at]) == pytest.approx((energy, variance), abs=0.01)


def test_the_scheme_tends_to_the_energy_without_cells(prepared):
    """Cells of 0.2 and 0.1: what the scheme is off by about halves, and is some per cent."""
    free = prepared["energy"][1].runs["uniform, taylor"]
    off = []
    for count in (30, 60):
        cells = {"kind": "uniform", "sigma": 1.0, "theta": [4.0, 10.0, 30], "r": [4.0, 10.0, count]}
        content = {
            "title": "", "gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}, "population": cells,
            "solve": {"until": 20.0, "closure": "taylor", "scheme": "upwind", "samples": 2},
        }  # fmt: skip
        study = parse_study(content, "a study")
        run = kn.solve(study.system, study.teams, until=20.0, closure="taylor", scheme="upwind", samples=2)
        off.append(float(run.energy.values[-1]) - float(np.interp(20.0, free.time, free.energy)))
    assert 0.002 < abs(off[1]) < 0.7 * abs(off[0]) < 0.1


def test_printed_rates_are_those_of_a_small_step(prepared):
    """dE/dt and dm₂/dt by the difference of a step of 10⁻⁴, from teams on a grid."""
    rates = prepared["energy"][1].rates
    theta = 4 + 6 * (np.arange(400) + 0.5) / 400
    mass, line = np.full(400, 1 / 400), 7 + 0.9 * (theta - 7)
    energy, variance = plain_paths(theta, line, mass, 1e-4, 1)
    before = ((line - theta) ** 2) @ mass, (line**2) @ mass - (line @ mass) ** 2
    found = (energy - before[0]) / 1e-4, (variance - before[1]) / 1e-4
    assert (rates["line"].energy, rates["line"].moment) == pytest.approx(found, abs=1e-3)
    assert rates["line"].printed_energy == pytest.approx(-2.90, abs=0.005)
    assert rates["uniform"].energy == pytest.approx(rates["uniform"].printed_energy, rel=1e-9)
    assert rates["uniform"].energy == pytest.approx(-3.118, abs=5e-4)


def test_the_bias_of_a_map_is_a_mean_over_teams(prepared):
    """Against 600 teams spaced evenly; a mean over the nodes of a quadrature rule counts the ends too often."""
    run = prepared["homogeneous_micro"][1].runs["σ = 1"]
    teams = kn.Normal(4 + 6 * (np.arange(600) + 0.5) / 600, 1.0)
    over_teams = np.sqrt(np.mean(kn.stationary(kn.RatingSystem(kn.Tanh(0.5)), teams).bias ** 2))
    assert run.limit_bias == pytest.approx(over_teams, rel=2e-3) and run.limit_bias == pytest.approx(0.4126, abs=5e-5)
    over_nodes = np.sqrt(np.mean((run.map_limit - run.map_theta) ** 2))
    assert over_nodes > 1.15 * run.limit_bias


def test_the_early_slope_follows_the_gap(prepared):
    figure, evidence = prepared["scale"]
    assert evidence.early
    for name, run in evidence.early.items():
        study = figure.studies[name]
        gap = kn.relaxation(study.system, study.strengths).gap
        end = evidence.final[name.removeprefix("early, ")].computed_slope
        expected = [end * (1 - np.exp(-study.gamma * gap * t)) for t in run.time]
        np.testing.assert_allclose(run.predicted, expected, rtol=1e-9, atol=1e-12)


def test_the_slope_error_is_that_of_a_mean_over_realisations():
    """Nine realisations whose ratings are lines of known slopes."""
    theta, slopes = np.array([4.0, 7.0, 10.0]), np.array([0.5, 0.6, 0.7, 0.5, 0.8, 0.9, 0.4, 0.5, 0.6])
    rating = 7 + slopes[:, None, None] * (theta - 7) * np.ones((9, 4, 1))
    rating[:, :2] = 7.0  # on its way; what has settled is the second half
    run = xr.Dataset(
        {"rating": (("realisation", "time", "team"), rating), "theta": ("team", theta), "sigma": ("team", theta)},
        coords={"time": np.arange(4.0), "team": ["a", "b", "c"]},
    )
    found = simulated(run)
    spread = np.sqrt(sum((s - slopes.mean()) ** 2 for s in slopes) / 8)
    assert found.slope == pytest.approx(slopes.mean(), abs=1e-12)
    assert found.slope_error == pytest.approx(spread / 3, rel=1e-9)


def test_the_limit_of_the_map_knows_no_step_and_a_larger_step_stretches_the_map():
    theta = np.array([4.0, 7.0, 10.0])
    run = xr.Dataset(
        {"rating": (("realisation", "time", "team"), theta + np.zeros((2, 4, 1))), "theta": ("team", theta),
         "sigma": ("team", np.ones(3))},
        coords={"time": np.arange(4.0), "team": ["a", "b", "c"]},
    )  # fmt: skip
    league = {"kind": "homogeneous", "teams": 3, "sigma": 1.0}
    content = {"title": "", "outcome": {"kind": "tanh", "nu": 0.5}, "league": league}
    small, large = (homogeneous(parse_study(content | {"gamma": gamma}, "a study"), run) for gamma in (0.05, 0.3))
    np.testing.assert_allclose(small.map_limit, large.map_limit, atol=1e-9)
    assert small.limit_slope == pytest.approx(large.limit_slope, abs=1e-9)
    assert np.ptp(large.map_rating) > 1.01 * np.ptp(small.map_rating) > 1.011 * np.ptp(small.map_limit)
    assert large.computed_slope > 1.01 * small.computed_slope > 1.011 * small.limit_slope


def test_marginals_without_cells_are_those_of_many_teams(prepared):
    """Teams at midpoints of (θ, σ, r), moved by short steps to the same time."""
    found = prepared["marginals"][1]["[4, 10]"]
    theta, sigma, rating = (
        axis.ravel()
        for axis in np.meshgrid(
            4 + 6 * (np.arange(12) + 0.5) / 12, (np.arange(4) + 0.5) / 4, 4 + 6 * (np.arange(12) + 0.5) / 12,
            indexing="ij",
        )
    )  # fmt: skip
    gap = np.tanh(theta[:, None] - theta)
    drift = (gap - gap * (1 - gap**2) * (sigma[:, None] ** 2 + sigma**2)).mean(axis=1)
    steps = 20
    for _ in range(steps):  # midpoint rule in time
        half = rating + found.time / steps / 2 * (drift - np.tanh(rating[:, None] - rating).mean(axis=1))
        rating = rating + found.time / steps * (drift - np.tanh(half[:, None] - half).mean(axis=1))
    cube, strengths = rating.reshape(12, 4, 12), theta.reshape(12, 4, 12)[:, 0, 0]
    mean, sd = cube.mean(axis=(1, 2)), cube.std(axis=(1, 2))
    assert np.interp(strengths, found.strengths, found.mean_given_theta) == pytest.approx(mean, abs=0.02)
    assert np.interp(strengths, found.strengths, found.sd_given_theta) == pytest.approx(sd, abs=0.02)
    slopes = [np.polyfit(strengths, cube[:, k].mean(axis=1), 1)[0] for k in range(4)]
    middles = (np.arange(4) + 0.5) / 4
    assert np.interp(middles, found.spreads, found.slope_by_sigma) == pytest.approx(slopes, abs=0.005)
    moments = [((cube[:, k] - 7) ** 2).mean() for k in range(4)]
    assert np.interp(middles, found.spreads, found.moment_by_sigma) == pytest.approx(moments, rel=0.03)


def test_the_density_grows_as_neighbours_draw_together(prepared):
    """Two teams that begin 10⁻⁴ apart: their distance at the end, for the points where the density grows most."""
    from kinelo.paper.kinetic import cloud_of, follow, nodes, watched

    ones = (np.ones(1), np.ones(1))
    teams = cloud_of(nodes((4.0, 10.0), 16), ones, nodes((4.0, 10.0), 16))
    beside = [replace(teams, rating=teams.rating + shift) for shift in (-5e-5, 5e-5)]
    paths = follow(kn.Tanh(1.0), watched(teams, *beside), [0.0, 3.0], "taylor", density=True)
    low, high = np.split(paths.rating[-1, teams.mass.size :], 2)
    assert np.exp(paths.log_growth[-1]) == pytest.approx(1e-4 / (high - low), rel=1e-3)


def test_the_map_of_the_marginals_is_where_small_steps_lead(prepared):
    """Teams on a grid of (θ, σ), moved by a plain iteration of the drift until it vanishes."""
    found = prepared["marginals"][1]["[4, 10]"]
    theta, sigma = (axis.ravel() for axis in np.meshgrid(4 + 6 * (np.arange(36) + 0.5) / 36, (np.arange(9) + 0.5) / 9))
    gap, spread = theta[:, None] - theta, sigma[:, None] ** 2 + sigma**2
    expected = (np.tanh(gap) + 0.5 * spread * (-2 * np.tanh(gap) * (1 - np.tanh(gap) ** 2))).mean(axis=1)
    rating = theta.copy()
    for _ in range(400):
        rating += 2.0 * (expected - np.tanh(rating[:, None] - rating).mean(axis=1))
    by_theta, inside = rating.reshape(9, 36).mean(axis=0), (found.strengths > 4.1) & (found.strengths < 9.9)
    at = found.strengths[inside]
    assert found.map_given_theta[inside] == pytest.approx(np.interp(at, theta[:36], by_theta), abs=0.01)
    assert np.abs(found.map_given_theta - found.strengths).max() > 0.2


def test_teams_count_as_equal_from_the_sigma_at_which_the_slope_is_a_tenth(prepared):
    """Beyond νσ ≫ 1 the slope is 1/(√π νσ): a tenth at σ = 11.28 for ν = ½, a little less for a finite league."""
    beyond = prepared["homogeneous_micro"][1].beyond
    assert beyond.equal_from == pytest.approx(11.24, abs=0.005)
    assert beyond.equal_from == pytest.approx(20 / np.sqrt(np.pi), rel=0.01)


@pytest.fixture(scope="module")
def by_another_quadrature():
    """Uniform teams on [4, 10] × [0, 1] × [4, 10] (θ, σ, r) at t = 5, ν = 1, Taylor, and where they rest.

    The mean expectation over the teams is a function of r alone, here a spline; four stages a step carry teams and
    those that only watch. Mean and standard deviation of r given θ at 600 midpoints, the map, and it at the largest σ.
    """
    from scipy.interpolate import CubicSpline

    def gauss(low, high, count):
        x, weight = np.polynomial.legendre.leggauss(count)
        return (low + high) / 2 + (high - low) / 2 * x, weight / 2

    (t, tw), (s, sw), (r, rw) = gauss(4, 10, 18), gauss(0, 1, 5), gauss(4, 10, 18)
    label, spread = (axis.ravel() for axis in np.meshgrid(t, s, indexing="ij"))
    label_mass = np.multiply.outer(tw, sw).ravel()
    midpoints = 4 + 6 * (np.arange(600) + 0.5) / 600

    def result(theta, sigma):
        b = np.tanh(theta[:, None] - label)
        return (b - b * (1 - b**2) * (sigma[:, None] ** 2 + spread**2)) @ label_mass

    seen = [axis.ravel() for axis in np.meshgrid(midpoints, s, indexing="ij")]
    results = np.repeat(np.append(result(label, spread), result(*seen)), r.size)
    mass, grid = np.multiply.outer(label_mass, rw).ravel(), np.linspace(3.9, 10.1, 150)

    def speed(rating):
        expected = CubicSpline(grid, np.tanh(grid[:, None] - rating[: mass.size]) @ mass)
        return results - expected(rating)

    rating, h = np.tile(r, results.size // r.size), 5 / 24
    for _ in range(24):
        k1 = speed(rating)
        k2 = speed(rating + h / 2 * k1)
        k3 = speed(rating + h / 2 * k2)
        rating = rating + h / 6 * (k1 + 2 * k2 + 2 * k3 + speed(rating + h * k3))
    cube, weight = rating[mass.size :].reshape(600, -1), np.multiply.outer(sw, rw).ravel()
    mean = cube @ weight
    rest, drift = label.copy(), result(label, spread)
    for _ in range(300):
        rest += 1.5 * (drift - np.tanh(rest[:, None] - rest) @ label_mass)

    def resting(sigma):
        at, drift = midpoints.copy(), result(midpoints, np.full(600, sigma))
        for _ in range(300):
            at += 1.5 * (drift - np.tanh(at[:, None] - rest) @ label_mass)
        return at

    sd = np.sqrt(cube**2 @ weight - mean**2)
    return midpoints, mean, sd, sum(w * resting(one) for w, one in zip(sw, s)), resting(1.0)


def test_means_over_strengths_weigh_their_nodes_as_teams(prepared, by_another_quadrature):
    """What statements on Figure 3 print, to every digit, against 600 midpoints; equal weights on nodes that have both
    ends among them would say .606, .267, .157, .234, .202 and .676."""
    theta, mean, sd, rest, widest = by_another_quadrature
    inside = np.abs(theta - 7) < 1

    def typical(rating):
        return np.sqrt(np.mean((rating - theta)[inside] ** 2))

    middle, blurred, similar = (
        one.claim({"marginals": prepared["marginals"][1]}).finding
        for one in (towards_strength_in_the_middle, blurred_outside, similar_ratings)
    )
    expected = f"{1 / np.sqrt(3):.3f} at first, {typical(mean):.3f} at t = 5, {typical(rest):.3f} on the computed map"
    assert middle.measured.startswith(expected)
    assert blurred.measured == f"at t = 5: {sd[inside].mean():.3f} inside, {sd[~inside].mean():.3f} outside"
    assert blurred.more.startswith(f"Over all θ {sd.mean():.3f};")
    assert f"({np.polyfit(theta, widest, 1)[0]:.3f} on the computed map" in similar.measured


def test_the_slope_without_cells_weighs_teams_not_cells(prepared):
    """By 40 × 40 teams at midpoints that a plain path carries; the run has 12 cells."""
    run = prepared["homogeneous_macro"][1].runs["σ = 1"]
    few = 4 + 6 * (np.arange(40) + 0.5) / 40
    theta, rating = (axis.ravel() for axis in np.meshgrid(few, few, indexing="ij"))
    gap = np.tanh((theta[::40, None] - few) / 2)
    drift = np.repeat((gap - 0.5 * gap * (1 - gap**2)).mean(axis=1), 40)
    grid = np.linspace(3.9, 10.1, 150)
    for _ in range(120):  # midpoint rule in time
        slope = drift - np.interp(rating, grid, np.tanh((grid[:, None] - rating) / 2).mean(axis=1))
        half = rating + run.time / 240 * slope
        rating = rating + run.time / 120 * (
            drift - np.interp(half, grid, np.tanh((grid[:, None] - half) / 2).mean(axis=1))
        )
    assert run.free_slope == pytest.approx(np.polyfit(few, rating.reshape(40, 40).mean(axis=1), 1)[0], abs=3e-4)


def test_the_integral_of_the_proof_is_positive_on_uniform_data(prepared):
    """−∬ z σ²b″(z) over a square: the density of z = r − r′ is (6 − |z|)/36."""
    from scipy.integrate import quad

    def integrand(z):
        b = np.tanh(z / 2)
        return z * 0.5 * b * (1 - b**2) * (6 - z) / 36 * 2

    rates = prepared["energy"][1].rates
    assert rates["uniform"].curvature == pytest.approx(quad(integrand, 0, 6)[0], abs=1e-9)
    assert rates["uniform"].curvature == pytest.approx(0.181, abs=5e-4)
    scaled = quad(lambda z: 0.9 * z * 0.5 * np.tanh(0.45 * z) / np.cosh(0.45 * z) ** 2 * (6 - z) / 18, 0, 6)[0]
    assert rates["line"].curvature == pytest.approx(scaled, abs=1e-9)


def test_smooth_data_of_the_energy_figure_spread_by_their_width_around_the_diagonal():
    """``r = θ + w x`` with normal x: the variance of ratings about θ is w², and that of ratings that of θ and w²."""
    from kinelo.paper.figures.energy import SMOOTH, UNIFORM, _clouds

    for width in (0.5, 2.0):
        clouds = _clouds({"theta": (4.0, 10.0), "sigma": 1.0, "width": width})
        apart = clouds[SMOOTH].rating - clouds[SMOOTH].theta
        assert clouds[SMOOTH].mean(apart) == pytest.approx(0.0, abs=1e-9)
        assert clouds[SMOOTH].mean(apart**2) == pytest.approx(width**2, rel=1e-9)
    uniform = clouds[UNIFORM]
    assert uniform.mean((uniform.rating - 7) ** 2) == pytest.approx(3.0, rel=1e-9)
    assert uniform.mean((uniform.rating - 7) * (uniform.theta - 7)) == pytest.approx(0.0, abs=1e-9)


def test_masses_weigh_a_line_as_points_do_that_stand_there_more_often():
    theta, rating, times = np.array([4.0, 5.0, 9.0]), np.array([5.0, 7.5, 8.0]), np.array([3, 1, 2])
    repeated = line_through(theta.repeat(times), rating.repeat(times))
    assert line_through(theta, rating, times / 6) == pytest.approx(repeated)
    assert line_through(theta, rating) != pytest.approx(repeated, rel=0.01)
