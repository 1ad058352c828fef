"""Simulated ratings of homogeneous teams for several σ with the computed map, and the map as σ grows further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import EQUAL
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import Homogeneous, homogeneous, homogeneous_league
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum


@dataclass(frozen=True)
class LargeSpread:
    """The computed map (γ → 0) for σ beyond those simulated: its slope, and the rating of the strongest team.

    ``equal_from`` is the σ at which the slope falls below what counts as equal, infinite if none of them gets there.
    """

    sigma: Array
    slope: Array
    end: Array
    equal_from: float


@dataclass(frozen=True)
class Micro:
    """Evidence of Figure 4."""

    runs: Mapping[str, Homogeneous]
    beyond: LargeSpread


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Micro:
    """Summarise every run; compute what happens to the map as σ grows."""
    some = next(iter(figure.studies.values()))
    theta, sigma = homogeneous_league(some).theta, np.array(figure.parameters.get("beyond", [2.0, 8.0, 32.0]))
    states = [stationary(some.system, Continuum(theta=theta, sigma=float(one))) for one in sigma]
    slopes = np.array([one.slope for one in states])
    ends = np.array([float(one.rating_of(theta[1])) for one in states])
    beyond = LargeSpread(sigma, slopes, ends, _equal_from(some.system, theta, sigma[slopes < EQUAL]))
    return Micro({name: homogeneous(study, runs[name]) for name, study in figure.studies.items()}, beyond)


def _equal_from(system: RatingSystem, theta: tuple[float, float], equal: Array) -> float:
    """The σ at which the slope of the map is what counts as equal, below some σ where it is smaller."""
    if not equal.size:
        return float("inf")
    from scipy.optimize import root_scalar

    def above(sigma: float) -> float:
        return stationary(system, Continuum(theta=theta, sigma=sigma)).slope - EQUAL

    return float(root_scalar(above, bracket=(0.0, float(equal.min())), xtol=1e-4).root) if above(0.0) > 0 else 0.0
