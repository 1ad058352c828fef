"""Figures 3, 5 and 9: the kinetic equation. Marginals, homogeneous teams, and what E and the moments do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import xarray as xr

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.limit import stationary
from kinelo.equilibrium.relaxation import relaxation
from kinelo.equilibrium.state import StationaryState
from kinelo.errors import KineloWarning, NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.leagues import Evidence
from kinelo.paper.summary import line_through


def conservation(run: xr.Dataset) -> dict[str, float]:
    """Largest change of mass and of mean rating along a run."""
    return {
        "mass_error": float(np.abs(run.mass - run.mass[0]).max()),
        "mean_error": float(np.abs(run.mean_rating - run.mean_rating[0]).max()),
    }


def marginals(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """Marginals at the end of each run; per cell of θ the mean and spread of r, per cell of σ the slope of r on θ."""
    found = {}
    for name, run in runs.items():
        theta, r = run.theta.values, run.r.values
        theta_r = summed(run.density, "sigma")
        mean, sd = _given(theta_r.values, r)
        by_sigma = [_slope(theta, run.density.isel(sigma=k).values, r) for k in range(run.sizes["sigma"])]
        found[name] = xr.Dataset(
            {
                "theta_r": theta_r,
                "sigma_r": summed(run.density, "theta"),
                "mean_rating": ("theta", mean),
                "sd_rating": ("theta", sd),
                "slope_by_sigma": ("sigma", by_sigma),
            },
            attrs={
                "mean_rating": float(run.mean_rating.values[-1]),
                "time": float(run.time.values[-1]),
                **conservation(run),
            },
        )
    return found


def summed(density: xr.DataArray, axis: str) -> xr.DataArray:
    """Integrate a density over one axis; a single σ is a point and has no width."""
    centres = density[axis].values
    width = float(centres[1] - centres[0]) if centres.size > 1 else 1.0
    return density.sum(axis) * width


def _given(density: Array, r: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of r in each row of a density over (label, r)."""
    weight = density / density.sum(axis=1, keepdims=True)
    mean = weight @ r
    return mean, np.sqrt(np.maximum(weight @ r**2 - mean**2, 0.0))


def _slope(theta: Array, density: Array, r: Array) -> float:
    return line_through(theta, _given(density, r)[0])[0]


def homogeneous_macro(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """The density in (θ, r) at the end of each run, with the stationary maps of both closures."""
    found = {}
    for name, run in runs.items():
        theta, theta_r = run.theta.values, summed(run.density, "sigma")
        mean, _ = _given(theta_r.values, run.r.values)
        edge = (theta[1] - theta[0]) / 2
        teams = Continuum(theta=(theta[0] - edge, theta[-1] + edge), sigma=float(run.sigma.values[0]))
        system = figure.studies[name].system
        found[name] = xr.Dataset(
            {
                "theta_r": theta_r,
                "mean_rating": ("theta", mean),
                "exact_map": ("theta", _map(system, teams, "exact", theta)),
                "taylor_map": ("theta", _map(system, teams, "taylor", theta)),
            },
            attrs={
                "slope": line_through(theta, mean)[0],
                "common_sigma": float(run.sigma.values[0]),
                "closure": run.attrs["closure"],
                "cell": float(run.r.values[1] - run.r.values[0]),
                "time": float(run.time.values[-1]),
                **conservation(run),
            },
        )
    return found


def _map(system: RatingSystem, teams: Continuum, closure: Closure, theta: Array) -> Array:
    try:
        return _state(system, teams, closure).rating_of(theta)
    except NoStationaryState:
        return np.full(theta.size, np.nan)


def _state(system: RatingSystem, teams: Continuum, closure: Closure) -> StationaryState:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return stationary(system, teams, closure)


def energy(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Evidence:
    """E, the distance to R* and the centred second moment over time, with the values theory gives for late times."""
    found = {}
    for name, run in runs.items():
        study = figure.studies[name]
        theta = run.theta.values
        edge = (theta[1] - theta[0]) / 2
        teams = Continuum(theta=(theta[0] - edge, theta[-1] + edge), sigma=float(run.sigma.values[0]))
        state = _state(study.system, teams, run.attrs["closure"])
        gap = relaxation(study.system, teams, closure=run.attrs["closure"]).gap
        time, distance = run.time.values, run.stationary_distance.values
        late = int(np.argmax(distance < 0.05 * distance[0])) if distance[0] > 0 else 0
        found[name] = xr.Dataset(
            {
                "energy": ("time", run.energy.values),
                "distance": ("time", distance),
                "variance": ("time", run.second_moment.values - run.mean_rating.values**2),
                "asymptote": ("time", distance[late] * np.exp(-2 * gap * (time - time[late]))),
            },
            coords={"time": time},
            attrs={
                "predicted_energy": state.mean_square_bias,
                "predicted_variance": float(state.teams.mean((state.rating - state.teams.mean(state.rating)) ** 2)),
                "gap": gap,
                "nu": study.system.outcome.nu,
                "common_sigma": float(run.sigma.values[0]),
                **conservation(run),
            },
        )
    return found
