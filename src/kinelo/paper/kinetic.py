"""What the figures of the kinetic equation share: conservation, conditional means, stationary maps on a grid."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.errors import InputError, KineloWarning
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.studies.study import Study
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
        theta=edges_of(run.theta.values),
        sigma=(max(edges_of(sigma)[0], 0.0), edges_of(sigma)[1]) if sigma.size > 1 else float(sigma[0]),
    )


Interval = tuple[float, float]


def uniform_domain(study: Study, run: xr.Dataset) -> tuple[Interval, Interval, Interval]:
    """The intervals of θ, σ and r of a run that starts from uniform data, all playing all."""
    if getattr(study.population, "kind", None) != "uniform" or not study.system.pairing.constant:
        raise InputError('This figure needs populations of kind = "uniform" and teams that all play all.')
    sigma = run.sigma.values
    spread = edges_of(sigma) if sigma.size > 1 else (float(sigma[0]), float(sigma[0]))
    return edges_of(run.theta.values), (max(spread[0], 0.0), spread[1]), edges_of(run.r.values)


def edges_of(centres: Array) -> tuple[float, float]:
    """The interval whose cells have these centres."""
    half = (centres[1] - centres[0]) / 2
    return float(centres[0] - half), float(centres[-1] + half)


def stationary_of(system: RatingSystem, teams: Continuum, closure: Closure) -> StationaryState:
    """The stationary state; the report states where a closure is out of its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return stationary(system, teams, closure)
