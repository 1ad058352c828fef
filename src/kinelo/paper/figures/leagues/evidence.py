"""Simulated ratings of the two leagues with the computed ones, at the step size of the run and for γ → 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import Simulated, simulated
from kinelo.results.manifest import content_digest
from kinelo.studies.simulation import simulation_inputs
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState


@dataclass(frozen=True, kw_only=True)
class LeagueRun(Simulated):
    """A simulated league with its computed stationary ratings."""

    gamma: float
    computed: Array
    limit: Array
    computed_slope: float
    limit_slope: float


@dataclass(frozen=True)
class Leagues:
    """Evidence of Figure 2."""

    runs: Mapping[str, LeagueRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Leagues:
    """Summarise every run and compute where it should have ended."""
    found = {}
    limits: dict[str, StationaryState] = {}
    for name, study in figure.studies.items():
        # Without noise the step size does not matter: one limit serves every γ of a league.
        league = content_digest(simulation_inputs(study) | {"gamma": None, "simulate": None})
        if league not in limits:
            limits[league] = stationary(study.system, study.strengths)
        limit = limits[league]
        noisy = stationary(study.system, study.strengths, noise="gaussian", start=limit.rating)
        found[name] = LeagueRun(
            **vars(simulated(runs[name])), gamma=study.system.step, computed=noisy.rating, limit=limit.rating,
            computed_slope=noisy.slope, limit_slope=limit.slope,
        )  # fmt: skip
    return Leagues(found)
