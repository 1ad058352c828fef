"""What a stored simulation says: mean ratings, the line through them, how they settle, beside what theory computes; and
what the drawings of it share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.validation import Array
from kinelo.pictures import style
from kinelo.studies.study import Study
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def line_through(theta: Array, rating: Array, mass: Array | None = None) -> tuple[float, float]:
    """Slope and value at the mean θ of the least-squares line; ``mass`` weighs the points, equal ones unless given.

    >>> line_through(np.array([4.0, 7.0, 10.0]), np.array([5.0, 7.0, 9.0]))
    (0.6666666666666666, 7.0)
    """
    lever = (theta - np.average(theta, weights=mass)) * (1.0 if mass is None else mass)
    return float(lever @ rating / (lever @ theta)), float(np.average(rating, weights=mass))


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What a stored simulation says about the teams of a league.

    ``rating`` is what the paper plots: the mean over realisations at the end. ``settled`` also averages over the
    records of the second half; its standard errors, and ``slope`` of R on θ with its own, come from it, realisation by
    realisation.
    ``noise`` is the mean variance of a rating in time, ``mean_drift`` the largest change of the mean rating.
    """

    theta: Array
    sigma: Array
    rating: Array
    rating_sd: Array
    settled: Array
    settled_error: Array
    slope: float
    slope_error: float
    noise: float
    matches_per_team: float
    realisations: int
    mean_drift: float


@dataclass(frozen=True, kw_only=True)
class Homogeneous(Simulated):
    """Simulated teams of one common spread, with the computed map: at this γ, and its limit for γ → 0.

    ``limit_bias`` is the root mean square of R − θ on that limit, over the teams.
    """

    nu: float
    common_sigma: float
    gamma: float
    map_theta: Array
    map_rating: Array
    map_limit: Array
    computed_slope: float
    limit_slope: float
    limit_end: float
    limit_bias: float


def simulated(run: xr.Dataset, *, line: slice = slice(None)) -> Simulated:
    """Summarise a stored simulation; ``line`` are the teams that the slope is of, all unless given."""
    theta = run.theta.values
    late = run.rating.isel(time=slice(run.sizes["time"] // 2, None)).transpose("realisation", "time", "team").values
    each = np.array([line_through(theta[line], rating[line])[0] for rating in late.mean(axis=1)])
    last = run.rating.isel(time=-1).values
    return Simulated(
        theta=theta,
        sigma=run.sigma.values,
        rating=last.mean(axis=0),
        rating_sd=last.std(axis=0, ddof=1) if len(last) > 1 else np.zeros(theta.size),
        settled=late.mean(axis=(0, 1)),
        settled_error=_standard_error(late.mean(axis=1)),
        slope=float(each.mean()),
        slope_error=float(_standard_error(each)),
        noise=float(late.var(axis=(0, 1)).mean()),
        matches_per_team=float(run.time.values[-1]),
        realisations=int(run.sizes["realisation"]),
        mean_drift=float(np.abs(run.rating.mean("team") - run.rating.isel(time=0).mean("team")).max()),
    )


def _standard_error(values: Array) -> Array:
    """Of the mean over the first axis."""
    return (
        np.std(values, axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(values.shape[1:], np.nan)
    )


ON_DIAGONAL = 0.02
"""How near to 1 the slope of ratings that converge to the strengths must be: the ends of the axis then miss R = θ by
1 % of its length, less than a point drawn on it."""


def converges(*slopes: float) -> bool:
    """Whether lines of these slopes count as R = θ.

    >>> converges(0.99, 1.019), converges(0.99, 0.979)
    (True, False)
    """
    return all(abs(slope - 1) < ON_DIAGONAL for slope in slopes)


def with_error(run: Simulated) -> str:
    """The simulated slope and its standard error."""
    return f"{run.slope:.4f} ± {run.slope_error:.4f}"


def homogeneous(study: Study, run: xr.Dataset) -> Homogeneous:
    """Summarise a simulation of homogeneous teams, with their computed map."""
    league, system = homogeneous_league(study), study.system
    teams = Continuum(theta=league.theta, sigma=league.sigma)
    noisy, limit = stationary(system, teams, noise="gaussian"), stationary(system, teams)
    order = np.argsort(limit.theta)
    return Homogeneous(
        **vars(simulated(run)),
        nu=scale_of(study),
        common_sigma=league.sigma,
        gamma=study.system.step,
        map_theta=limit.theta[order],
        map_rating=noisy.rating[order],
        map_limit=limit.rating[order],
        computed_slope=noisy.slope,
        limit_slope=limit.slope,
        limit_end=float(limit.rating_of(league.theta[1])),
        limit_bias=float(np.sqrt(limit.mean_square_bias)),
    )


def homogeneous_league(study: Study) -> Any:
    """The league of a study that must be homogeneous."""
    if getattr(study.league, "kind", None) != "homogeneous":
        raise InputError('This figure needs leagues of kind = "homogeneous".')
    return study.league


def scale_of(study: Study) -> float:
    """The scale ν of a study's outcome function."""
    return float(study.system.outcome.nu)


STRENGTH_LABEL, RATING_LABEL, SPREAD_LABEL = (
    "mean strength θ (points)",
    "rating R (points)",
    "standard deviation σ (points)",
)


def ratings_with_map(axes: Axes, run: Homogeneous) -> None:
    """Points (θ, R), the computed map, and the line R = θ."""
    ends = np.array([run.map_theta[0], run.map_theta[-1]])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(run.theta, run.rating, s=4, color=style.SKY, linewidth=0, label="simulated", zorder=2)
    axes.plot(run.map_theta, run.map_rating, color=style.EXACT, linewidth=1.2, label="computed", zorder=3)
    axes.set_xticks([4, 6, 8, 10])


def name_pair(axes: Axes, x: np.ndarray, y: np.ndarray, place: tuple[float, float] = (4, -26)) -> None:
    """Write the names of the last two teams, Germany and Brazil, beside their points."""
    for k, name in ((-2, "Germany"), (-1, "Brazil")):
        axes.scatter(x[k], y[k], s=22, facecolor="none", edgecolor=style.BLACK, linewidth=0.8, zorder=4)
        axes.annotate(
            name, (x[k], y[k]), xytext=place, textcoords="offset points", ha="center", fontsize=7, zorder=5,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.BLACK, "shrinkB": 3},
        )  # fmt: skip
