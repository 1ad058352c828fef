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
from kinelo.theory.continuum import Continuum
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState


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
    """The continuum of teams that a run with one σ discretises."""
    theta = run.theta.values
    edge = (theta[1] - theta[0]) / 2
    return Continuum(theta=(theta[0] - edge, theta[-1] + edge), sigma=float(run.sigma.values[0]))


def stationary_of(system: RatingSystem, teams: Continuum, closure: Closure) -> StationaryState:
    """The stationary state; the report states where a closure is out of its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return stationary(system, teams, closure)
