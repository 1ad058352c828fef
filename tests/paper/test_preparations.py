"""Every preparation of a figure on a league of a second: its numbers, and the claims it serves."""

import numpy as np
import pytest
import xarray as xr

import kinelo as kn
from kinelo.paper.catalogue import check_claims, figure_names, preparation
from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.runs import finished_run, has_run
from kinelo.paper.summary import homogeneous, simulated
from kinelo.studies import parse_study

SMALL = {
    "outliers": {"sigma": [0.5, 1.5]},
    "spread": {"lineups": 40, "averaged_leagues": 3},
    "step_size": {"gamma": [0.2]},
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
        content["solve"] |= {"until": 6.0, "samples": 15}
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
    figure, evidence = prepared["energy"]
    assert evidence
    for name, run in evidence.items():
        study = figure.studies[name]
        teams = kn.Continuum(theta=(4.0, 10.0), sigma=1.0)
        gap = kn.relaxation(study.system, teams, closure=study.solve.closure).gap
        rates = -np.diff(np.log(run.asymptote)) / np.diff(run.time)
        np.testing.assert_allclose(rates, 2 * gap, rtol=1e-6)


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


def test_the_slope_given_sigma_is_that_of_its_own_teams():
    """Ratings on lines of slope 1 for σ = 0.25 and ½ for σ = 0.75, each on the centres of cells."""
    theta, r, sigma = np.array([4.0, 6.0, 8.0]), np.linspace(3.5, 8.5, 11), np.array([0.25, 0.75])
    density = np.zeros((3, 2, 11))
    for k, slope in enumerate((1.0, 0.5)):
        for i, t in enumerate(theta):
            density[i, k, round((6 + slope * (t - 6) - 3.5) / 0.5)] = 1.0
    kept = {
        "density": (("time", "theta", "sigma", "r"), density[None]),
        "density_theta_r": (("time", "theta", "r"), density.sum(axis=1)[None]),
        "density_sigma_r": (("time", "sigma", "r"), density.sum(axis=0)[None]),
        "mass": ("series_time", np.ones(2)),
        "mean_rating": ("series_time", np.full(2, 6.0)),
    }
    run = xr.Dataset(kept, coords={"theta": theta, "sigma": sigma, "r": r, "time": [1.0]})
    figure = small(read_figures(wanted=[3])[0])
    found = preparation("marginals", figure.source)(figure, dict.fromkeys(figure.studies, run))["[4, 10]"]
    np.testing.assert_allclose(found.slope_by_sigma, [1.0, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.mean_given_theta, [4.5, 6.0, 7.5], atol=1e-12)


def test_the_map_of_the_marginals_is_where_small_steps_lead(prepared):
    """Teams on a grid of (θ, σ), moved by a plain iteration of the drift until it vanishes."""
    found = prepared["marginals"][1]["[4, 10]"]
    theta, sigma = (axis.ravel() for axis in np.meshgrid(4 + 6 * (np.arange(36) + 0.5) / 36, (np.arange(9) + 0.5) / 9))
    gap, spread = theta[:, None] - theta, sigma[:, None] ** 2 + sigma**2
    expected = (np.tanh(gap) + 0.5 * spread * (-2 * np.tanh(gap) * (1 - np.tanh(gap) ** 2))).mean(axis=1)
    rating = theta.copy()
    for _ in range(400):
        rating += 2.0 * (expected - np.tanh(rating[:, None] - rating).mean(axis=1))
    by_theta = rating.reshape(9, 36).mean(axis=0)
    assert found.map_given_theta == pytest.approx(np.interp(found.theta, theta[:36], by_theta), abs=0.01)
    assert np.abs(found.map_given_theta - found.theta).max() > 0.2


def test_teams_count_as_equal_from_the_sigma_at_which_the_slope_is_a_tenth(prepared):
    """Beyond νσ ≫ 1 the slope is 1/(√π νσ): a tenth at σ = 11.28 for ν = ½, a little less for a finite league."""
    beyond = prepared["homogeneous_micro"][1].beyond
    assert beyond.equal_from == pytest.approx(11.24, abs=0.005)
    assert beyond.equal_from == pytest.approx(20 / np.sqrt(np.pi), rel=0.01)
