"""Figures 4, 6 and 7: teams of one common spread, for several σ, ν and step sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.limit import stationary
from kinelo.equilibrium.relaxation import relaxation
from kinelo.equilibrium.unbiased import unbiased_gamma
from kinelo.model.system import RatingSystem
from kinelo.paper.figure import FigureStudy
from kinelo.paper.leagues import Evidence
from kinelo.paper.summary import simulated, slope_over_time, with_continuum
from kinelo.studies.sections import HomogeneousSection
from kinelo.studies.study import Study

EARLY = "early, "
NODES = 24
"""Enough of them for a slope to nine digits at ν = 0.5; the default of 80 costs ten times as much with noise."""


def homogeneous_league(study: Study) -> HomogeneousSection:
    """The league of a study that must be homogeneous."""
    league = study.league
    assert isinstance(league, HomogeneousSection), "this figure needs homogeneous leagues"
    return league


def homogeneous_micro(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Simulated ratings for each run, with the computed map."""
    found = {}
    for name, study in figure.studies.items():
        league = homogeneous_league(study)
        summary = with_continuum(simulated(runs[name]), study.system, league.theta, league.sigma)
        found[name] = summary.assign_attrs(nu=study.system.outcome.nu, common_sigma=league.sigma, gamma=study.gamma)
    return found


def scale(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """As for several σ, and for the early runs the slope over time with the one that relaxation predicts."""
    early = {name: study for name, study in figure.studies.items() if name.startswith(EARLY)}
    found = homogeneous_micro(figure, runs)
    for name, study in early.items():
        time, slope = slope_over_time(runs[name])
        settling = relaxation(study.system, study.strengths)
        end = found[name].attrs["computed_slope"]
        found[name] = xr.Dataset(
            {
                "slope": ("time", slope),
                "predicted": ("time", end * -np.expm1(-study.gamma * settling.gap * time)),
            },
            coords={"time": time},
            attrs={
                "nu": study.system.outcome.nu,
                "final_slope": end,
                "gap": settling.gap,
                "matches_to_one_percent": settling.matches_per_team(0.01),
                "matches_to_ten_percent": settling.matches_per_team(0.1),
                "measured_to_ten_percent": _time_to_ninety_percent(time, slope, end),
            },
        )
    return found


def _time_to_ninety_percent(time: np.ndarray, slope: np.ndarray, end: float) -> float:
    """When the slope first reaches nine tenths of its final value, between two records."""
    reached = np.flatnonzero(slope >= 0.9 * end)
    if not reached.size:
        return float("inf")
    k = max(int(reached[0]), 1)
    part = (0.9 * end - slope[k - 1]) / (slope[k] - slope[k - 1])
    return float(time[k - 1] + part * (time[k] - time[k - 1]))


def step_size(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Simulated and computed slope against γ for each σ, and the γ at which it is one."""
    points = []
    for name, study in figure.studies.items():
        summary = simulated(runs[name])
        points.append((homogeneous_league(study).sigma, study.gamma, summary.slope, summary.slope_error))
    names = ("sigma", "gamma", "slope", "slope_error")
    some = next(iter(figure.studies.values()))
    gammas, sigmas = np.array(figure.parameters["gamma"]), sorted({point[0] for point in points})
    lines = np.array([[_computed_slope(some, sigma, gamma) for gamma in gammas] for sigma in sigmas])
    unbiased = [_unbiased(some, sigma) for sigma in sigmas]
    return {
        "simulated": xr.Dataset({n: ("run", np.array(v)) for n, v in zip(names, zip(*points))}),
        "computed": xr.Dataset(
            {"slope": (("sigma", "gamma"), lines), "unbiased": ("sigma", unbiased)},
            coords={"sigma": sigmas, "gamma": gammas},
        ),
    }


def _computed_slope(study: Study, sigma: float, gamma: float) -> float:
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=NODES)
    return stationary(RatingSystem(study.system.outcome, gamma=gamma), teams, noise="gaussian").slope


def _unbiased(study: Study, sigma: float) -> float:
    if sigma == 0:
        return 0.0
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=NODES)
    return unbiased_gamma(study.system.outcome, teams)
