"""What a stored simulation says: mean ratings, the line through them, how they settle, beside what theory computes."""

from __future__ import annotations

import numpy as np
import xarray as xr

from kinelo.equilibrium.continuum import Continuum
from kinelo.equilibrium.limit import stationary
from kinelo.equilibrium.state import StationaryState
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array


def line_through(theta: Array, rating: Array) -> tuple[float, float]:
    """Slope and value at the mean θ of the least-squares line.

    >>> line_through(np.array([4.0, 7.0, 10.0]), np.array([5.0, 7.0, 9.0]))
    (0.6666666666666666, 7.0)
    """
    centred = theta - theta.mean()
    return float(centred @ rating / (centred @ centred)), float(rating.mean())


def simulated(run: xr.Dataset) -> xr.Dataset:
    """Ratings at the end of a run, and the slope of R on θ over its second half.

    ``rating`` is what the paper plots: the mean over realisations at the end. ``settled`` also averages over the
    records of the second half; ``slope`` and its standard error ``slope_error`` come from it, realisation by
    realisation. ``noise`` is the mean variance of a rating in time.
    """
    theta = run.theta.values
    late = run.rating.isel(time=slice(run.sizes["time"] // 2, None)).transpose("realisation", "time", "team").values
    each = np.array([line_through(theta, rating)[0] for rating in late.mean(axis=1)])
    last = run.rating.isel(time=-1).values
    return xr.Dataset(
        {
            "theta": ("team", theta),
            "sigma": ("team", run.sigma.values),
            "rating": ("team", last.mean(axis=0)),
            "rating_sd": ("team", last.std(axis=0, ddof=1) if len(last) > 1 else np.zeros(theta.size)),
            "settled": ("team", late.mean(axis=(0, 1))),
        },
        coords={"team": run.team.values},
        attrs={
            "slope": float(each.mean()),
            "slope_error": float(each.std(ddof=1) / np.sqrt(each.size)) if each.size > 1 else float("nan"),
            "noise": float(late.var(axis=(0, 1)).mean()),
            "matches_per_team": float(run.time.values[-1]),
            "realisations": int(run.sizes["realisation"]),
            "mean_drift": float(np.abs(run.rating.mean("team") - run.rating.isel(time=0).mean("team")).max()),
        },
    )


def slope_over_time(run: xr.Dataset) -> tuple[Array, Array]:
    """Times, and the slope of the mean ratings on θ at each."""
    mean = run.rating.mean("realisation").transpose("time", "team").values
    return run.time.values, np.array([line_through(run.theta.values, rating)[0] for rating in mean])


def with_theory(summary: xr.Dataset, noisy: StationaryState, limit: StationaryState) -> xr.Dataset:
    """Add the computed stationary ratings of a league, at its step size and for γ → 0."""
    return summary.assign(
        computed=("team", noisy.rating), computed_variance=("team", noisy.variance), limit=("team", limit.rating)
    ).assign_attrs(computed_slope=noisy.slope, limit_slope=limit.slope)


def with_continuum(summary: xr.Dataset, system: RatingSystem, theta: tuple[float, float], sigma: float) -> xr.Dataset:
    """Add the computed map of homogeneous teams: ``map_theta``, ``map_rating`` at this γ, ``map_limit`` for γ → 0."""
    teams = Continuum(theta=theta, sigma=sigma)
    noisy, limit = stationary(system, teams, noise="gaussian"), stationary(system, teams)
    order = np.argsort(limit.theta)
    return summary.assign(
        map_theta=("node", limit.theta[order]),
        map_rating=("node", noisy.rating[order]),
        map_limit=("node", limit.rating[order]),
    ).assign_attrs(
        computed_slope=noisy.slope,
        limit_slope=limit.slope,
        limit_end=float(limit.rating_of(theta[1])),
        computed_noise=float(noisy.teams.mean(noisy.variance)),
    )
