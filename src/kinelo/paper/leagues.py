"""Figures 1, 2 and 11: the two leagues of the paper, where their teams end up, and its two outliers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from kinelo.equilibrium.limit import stationary
from kinelo.equilibrium.state import StationaryState
from kinelo.model.strength import Strength
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import simulated, with_theory
from kinelo.results.manifest import content_digest
from kinelo.studies.simulation import simulation_inputs
from kinelo.studies.study import Study, required

Evidence = dict[str, xr.Dataset]


def spread(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Exact σ of each team, σ over drawn line-ups as the paper has it, and its root mean square over many leagues."""
    found = {}
    for name, study in figure.studies.items():
        league = study.strengths
        many = [_another_league(study, seed).sigma for seed in range(1, figure.parameters["averaged_leagues"] + 1)]
        found[name] = xr.Dataset(
            {
                "theta": ("team", league.theta),
                "sigma": ("team", league.sigma),
                "drawn_sigma": ("team", _drawn_spread(league, figure.parameters)),
                "expected_sigma": ("team", np.sqrt(np.mean(np.square(many), axis=0))),
            },
            coords={"team": np.arange(league.teams)},
            attrs={"inner_95": np.quantile(np.array(many)[:, : league.teams - 2], [0.025, 0.975]).tolist()},
        )
    return found


def _another_league(study: Study, seed: int) -> Strength:
    return required("league", study.league).model_copy(update={"seed": seed}).build()


def _drawn_spread(league: Strength, parameters: Mapping[str, int]) -> np.ndarray:
    generator = np.random.default_rng(parameters["seed"])
    teams = np.repeat(np.arange(league.teams), parameters["lineups"])
    return league.draw(generator, teams).reshape(league.teams, -1).std(axis=1, ddof=1)


def leagues(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Simulated ratings of each league with the computed ones, at the step size of the run and for γ → 0."""
    found = {}
    limits: dict[str, StationaryState] = {}
    for name, study in figure.studies.items():
        # Without noise the step size does not matter: one limit serves every γ of a league.
        league = content_digest(simulation_inputs(study) | {"gamma": None, "simulate": None})
        if league not in limits:
            limits[league] = stationary(study.system, study.strengths)
        limit = limits[league]
        noisy = stationary(study.system, study.strengths, noise="gaussian", start=limit.rating)
        found[name] = with_theory(simulated(runs[name]), noisy, limit).assign_attrs(gamma=study.gamma)
    return found


def outliers(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """R − θ of Germany and Brazil against the spread they are given, simulated and computed."""
    rows = []
    for name, study in figure.studies.items():
        league = required("league", study.league)
        summary = simulated(runs[name])
        rows.append(
            (league.model_dump()["germany_brazil_sigma"], *_stand_out((summary.settled - summary.theta).values))
        )
    some = next(iter(figure.studies.values()))
    lines = []
    for sigma in figure.parameters["sigma"]:
        league = required("league", some.league).model_copy(update={"germany_brazil_sigma": sigma}).build()
        lines.append((sigma, *_stand_out(stationary(some.system, league, noise="gaussian").bias)))
    names = ("sigma", "germany", "brazil", "low", "high")
    return {
        "simulated": xr.Dataset({n: ("run", np.array(v)) for n, v in zip(names, zip(*rows))}),
        "computed": xr.Dataset({n: ("run", np.array(v)) for n, v in zip(names, zip(*lines))}),
    }


def _stand_out(bias: np.ndarray) -> tuple[float, float, float, float]:
    low, high = np.quantile(bias[:-2], [0.025, 0.975])
    return float(bias[-2]), float(bias[-1]), float(low), float(high)
