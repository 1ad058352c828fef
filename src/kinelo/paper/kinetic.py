"""What the figures of the kinetic equation share: conservation, conditional means, stationary maps on a grid."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.errors import KineloWarning
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum


@dataclass(frozen=True, kw_only=True)
class Kinetic:
    """A run of the kinetic equation: largest change of mass and of mean rating along it."""

    mass_error: float
    mean_error: float


def conservation(run: xr.Dataset) -> Kinetic:
    """How well a run conserves."""
    return Kinetic(
        mass_error=float(np.abs(run.mass - run.mass[0]).max()),
        mean_error=float(np.abs(run.mean_rating - run.mean_rating[0]).max()),
    )


def given(density: Array, r: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of r in each row of a density over (label, r)."""
    weight = density / density.sum(axis=1, keepdims=True)
    mean = weight @ r
    return mean, np.sqrt(np.maximum(weight @ r**2 - mean**2, 0.0))


def continuum_of(run: xr.Dataset) -> Continuum:
    """The continuum of teams that a run discretises, with one σ or with an interval of them."""
    sigma = run.sigma.values
    return Continuum(
        theta=_edges(run.theta.values),
        sigma=(max(_edges(sigma)[0], 0.0), _edges(sigma)[1]) if sigma.size > 1 else float(sigma[0]),
    )


def _edges(centres: Array) -> tuple[float, float]:
    half = (centres[1] - centres[0]) / 2
    return float(centres[0] - half), float(centres[-1] + half)


def stationary_of(system: RatingSystem, teams: Continuum, closure: Closure) -> StationaryState:
    """The stationary state; the report states where a closure is out of its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return stationary(system, teams, closure)
