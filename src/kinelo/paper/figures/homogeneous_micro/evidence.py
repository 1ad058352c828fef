"""Simulated ratings of homogeneous teams for several σ with the computed map, and the map as σ grows further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import Homogeneous, homogeneous, homogeneous_league
from kinelo.theory.continuum import Continuum
from kinelo.theory.limit import stationary


@dataclass(frozen=True)
class LargeSpread:
    """The computed map (γ → 0) for σ beyond those simulated: its slope, and the rating of the strongest team."""

    sigma: Array
    slope: Array
    end: Array


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
    beyond = LargeSpread(
        sigma, np.array([one.slope for one in states]), np.array([float(one.rating_of(theta[1])) for one in states])
    )
    return Micro({name: homogeneous(study, runs[name]) for name, study in figure.studies.items()}, beyond)
