"""Marginals at the end of each run; per cell of θ the mean and spread of r, per cell of σ the slope of r on θ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, given, stationary_of
from kinelo.paper.summary import line_through
from kinelo.studies.study import Study


@dataclass(frozen=True, kw_only=True)
class MarginalRun(Kinetic):
    """One domain at the end of its run; ``map_given_theta`` is the computed map that it tends to, a mean over σ."""

    time: float
    theta: Array
    sigma: Array
    r: Array
    theta_r: Array
    sigma_r: Array
    mean_given_theta: Array
    map_given_theta: Array
    sd_given_theta: Array
    slope_by_sigma: Array
    mean_rating: float


@dataclass(frozen=True)
class Marginals:
    """Evidence of Figure 3: runs by their domain."""

    runs: Mapping[str, MarginalRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Marginals:
    """Take the marginals of every run."""
    return Marginals({name: _marginals(study, runs[name]) for name, study in figure.studies.items()})


def _marginals(study: Study, run: xr.Dataset) -> MarginalRun:
    end = run.isel(time=-1)
    theta, r = end.theta.values, end.r.values
    mean, sd = given(end.density_theta_r.values, r)
    slopes = [line_through(theta, given(end.density.isel(sigma=k).values, r)[0])[0] for k in range(end.sizes["sigma"])]
    return MarginalRun(
        **vars(conservation(run)),
        time=float(end.time),
        theta=theta,
        sigma=end.sigma.values,
        r=r,
        theta_r=end.density_theta_r.values,
        sigma_r=end.density_sigma_r.values,
        mean_given_theta=mean,
        map_given_theta=_map(study, run),
        sd_given_theta=sd,
        slope_by_sigma=np.array(slopes),
        mean_rating=float(run.mean_rating.values[-1]),
    )


def _map(study: Study, run: xr.Dataset) -> Array:
    """The stationary map at the cells of θ, averaged over σ."""
    teams = continuum_of(run)
    closure = study.solve.closure if study.solve is not None else "exact"
    rating = stationary_of(study.system, teams, closure).rating
    nodes, place = np.unique(teams.league.theta, return_inverse=True)
    return np.interp(run.theta.values, nodes, np.bincount(place, teams.mass * rating) / np.bincount(place, teams.mass))
