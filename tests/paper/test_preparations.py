"""Every preparation of a figure, on a league of a second: its numbers, its drawing, and the claims it serves."""

import numpy as np
import pytest
import xarray as xr

import kinelo as kn
from kinelo.paper.claims import check_claims
from kinelo.paper.drawings import DRAWINGS
from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.preparation import PREPARATIONS, preparation
from kinelo.paper.reproduce import carry_out, has_run
from kinelo.paper.summary import simulated
from kinelo.studies import parse_study

SMALL = {
    "outliers": {"sigma": [0.5, 1.5]},
    "spread": {"lineups": 40, "averaged_leagues": 3},
    "step_size": {"gamma": [0.05, 0.2]},
    "phase_diagram": {"nu": {"from": 0.1, "to": 1.0, "points": 2}, "sigma": {"from": 0.5, "to": 2.0, "points": 2}},
}


def smaller(study, name: str):
    content = study.model_dump(mode="json", exclude_none=True)
    if "teams" in content.get("league", {}):
        content["league"]["teams"] = 12
    if "simulate" in content:
        content["simulate"] |= {"steps": 200, "record_every": 20, "realisations": 3}
    if "population" in content:
        for axis, count in (("theta", 12), ("r", 24), ("sigma", 3)):
            if isinstance(content["population"][axis], list):
                content["population"][axis][2] = count
    if "solve" in content:
        content["solve"] |= {"until": 12.0, "samples": 30}
    return parse_study(content, name)


def small(figure: FigureStudy) -> FigureStudy:
    studies = {name: smaller(study, name) for name, study in figure.studies.items()}
    parameters = {**figure.parameters, **SMALL.get(figure.draw, {})}
    return FigureStudy(figure.number, figure.title, "", figure.draw, studies, parameters, figure.source)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Figure number → (figure, its runs, its evidence)."""
    place, found = tmp_path_factory.mktemp("runs"), {}
    for figure in map(small, read_figures(scale="quick")):
        runs = {
            name: carry_out(study, place / f"{figure.number}-{k}", lambda done: None, 1)
            for k, (name, study) in enumerate(figure.studies.items())
            if has_run(study)
        }
        found[figure.number] = figure, runs, preparation(figure)(figure, runs)
    return found


def test_every_preparation_serves_a_figure(prepared):
    assert {figure.draw for figure, _, _ in prepared.values()} == set(PREPARATIONS) == set(DRAWINGS)


def test_every_claim_finds_its_numbers(prepared):
    claims, left_out = check_claims({number: evidence for number, (_, _, evidence) in prepared.items()})
    assert left_out == 0 and len(claims) > 20


@pytest.mark.parametrize("number", range(1, 12))
def test_every_figure_can_be_drawn(prepared, number):
    figure, _, evidence = prepared[number]
    assert DRAWINGS[figure.draw](evidence).axes


def test_the_distance_decays_like_twice_the_gap(prepared):
    figure, _, evidence = prepared[9]
    for name, run in evidence.items():
        study = figure.studies[name]
        teams = kn.Continuum(theta=(4.0, 10.0), sigma=float(run.common_sigma))
        gap = kn.relaxation(study.system, teams, closure=study.solve.closure).gap
        late = run.asymptote.values
        rates = -np.diff(np.log(late)) / np.diff(run.time.values)
        np.testing.assert_allclose(rates, 2 * gap, rtol=1e-6)


def test_the_early_slope_follows_the_gap(prepared):
    figure, _, evidence = prepared[6]
    early = {name: run for name, run in evidence.items() if "predicted" in run}
    assert early
    for name, run in early.items():
        study = figure.studies[name]
        gap = kn.relaxation(study.system, study.strengths).gap
        expected = [run.final_slope * (1 - np.exp(-study.gamma * gap * t)) for t in run.time.values]
        np.testing.assert_allclose(run.predicted.values, expected, rtol=1e-9, atol=1e-12)


def test_the_slope_error_is_that_of_a_mean_over_realisations():
    """Nine realisations whose ratings are lines of known slopes."""
    theta, slopes = np.array([4.0, 7.0, 10.0]), np.array([0.5, 0.6, 0.7, 0.5, 0.8, 0.9, 0.4, 0.5, 0.6])
    rating = 7 + slopes[:, None, None] * (theta - 7) * np.ones((9, 4, 1))
    run = xr.Dataset(
        {"rating": (("realisation", "time", "team"), rating), "theta": ("team", theta), "sigma": ("team", theta)},
        coords={"time": np.arange(4.0), "team": ["a", "b", "c"]},
    )
    found = simulated(run)
    spread = np.sqrt(sum((s - slopes.mean()) ** 2 for s in slopes) / 8)
    assert found.slope == pytest.approx(slopes.mean(), abs=1e-12)
    assert found.slope_error == pytest.approx(spread / 3, rel=1e-9)


def test_the_slope_given_sigma_is_that_of_its_own_teams(prepared):
    figure, _, _ = prepared[3]
    theta, r, sigma = np.array([4.0, 6.0, 8.0]), np.linspace(3.5, 8.5, 11), np.array([0.25, 0.75])
    density = np.zeros((3, 2, 11))
    for k, slope in enumerate((1.0, 0.5)):
        for i, t in enumerate(theta):
            density[i, k, round((6 + slope * (t - 6) - 3.5) / 0.5)] = 1.0
    series = {name: ("time", np.array([1.0, 1.0])) for name in ("mass", "mean_rating")}
    run = xr.Dataset(
        {"density": (("theta", "sigma", "r"), density), **series},
        coords={"theta": theta, "sigma": sigma, "r": r, "time": [0.0, 1.0]},
    )
    found = preparation(figure)(figure, {"any": run})["any"]
    np.testing.assert_allclose(found.slope_by_sigma.values, [1.0, 0.5], atol=1e-12)
