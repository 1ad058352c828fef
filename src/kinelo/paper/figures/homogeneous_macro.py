"""The density in (θ, r) at the end of each run, the mean rating given θ on the cells and without them, and the maps.

Runs whose name begins with "check" are not drawn: they say how much of what is seen comes from the width of the cells
and from the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.figures.homogeneous_micro import Micro
from kinelo.paper.kinetic import (
    Kinetic,
    cloud_of,
    conservation,
    continuum_of,
    follow,
    given,
    nodes,
    stationary_of,
    uniform_domain,
    watched,
)
from kinelo.paper.summary import ON_DIAGONAL, RATING_LABEL, STRENGTH_LABEL, converges, line_through
from kinelo.pictures import style
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CHECK = "check, "


@dataclass(frozen=True, kw_only=True)
class MacroRun(Kinetic):
    """Homogeneous teams at the end of a run, on cells and without (``free``); a map is NaN where there is none."""

    theta: Array
    r: Array
    theta_r: Array
    mean_given_theta: Array
    free_mean: Array
    exact_map: Array
    taylor_map: Array
    slope: float
    free_slope: float
    energy: float
    free_energy: float
    common_sigma: float
    closure: str
    cell: float
    time: float


@dataclass(frozen=True)
class Macro:
    """Evidence of Figure 5."""

    runs: Mapping[str, MacroRun]
    checks: Mapping[str, MacroRun]


NODES = 24
"""Points along θ and along r of the solution without cells."""


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Macro:
    """Summarise every run."""
    shown, checks = {}, {}
    for name, run in runs.items():
        study = figure.studies[name]
        end, system, closure = run.isel(time=-1), study.system, run.attrs["closure"]
        theta, r, teams = end.theta.values, end.r.values, continuum_of(run)
        mean, _ = given(end.density_theta_r.values, r)
        strengths, spread, ratings = uniform_domain(study, run)
        # The same equation without cells: its teams, and the strengths at which it is looked at.
        sigma, across = (np.array(spread[:1]), np.ones(1)), nodes(ratings, NODES)
        along = nodes(strengths, NODES)
        cloud = cloud_of(along, sigma, across)
        seen = cloud_of((theta, np.ones(theta.size)), sigma, across)
        paths = follow(system.outcome, watched(cloud, seen), [0.0, float(end.time)], closure)
        parts = np.split(paths.rating[-1], [cloud.mass.size])
        at_teams, free = (part.reshape(-1, NODES) @ across[1] for part in parts)
        into = checks if name.startswith(CHECK) else shown
        into[name.removeprefix(CHECK)] = MacroRun(
            **vars(conservation(run)),
            theta=theta,
            r=r,
            theta_r=end.density_theta_r.values,
            mean_given_theta=mean,
            free_mean=free,
            exact_map=_stationary_map(system, teams, "exact", theta),
            taylor_map=_stationary_map(system, teams, "taylor", theta),
            slope=line_through(theta, mean)[0],
            free_slope=line_through(along[0], at_teams, along[1])[0],
            energy=float(run.energy.values[-1]),
            free_energy=float(paths.energy[-1]),
            common_sigma=float(end.sigma.values[0]),
            closure=closure,
            cell=float(r[1] - r[0]),
            time=float(end.time),
        )
    return Macro(shown, checks)


def _stationary_map(system: RatingSystem, teams: Continuum, closure: Closure, theta: Array) -> Array:
    try:
        return stationary_of(system, teams, closure).rating_of(theta)
    except NoStationaryState:
        return np.full(theta.size, np.nan)


def draw(data: Macro) -> Figure:
    """Above the density, below mean ratings and the Taylor map as seen from the exact map."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 4.4)
        rows = figure.subplots(2, len(data.runs), sharex=True, sharey="row", squeeze=False, height_ratios=[3, 2])
        for above, below, (name, run) in zip(*rows, data.runs.items()):
            _density(above, run)
            above.set_title(f"{name}: slope {run.free_slope:.3f}\n(on cells {run.slope:.3f})")
            below.axhline(0, color=style.EXACT, linewidth=0.9, label="exact stationary map")
            free, taylor = run.free_mean - run.exact_map, run.taylor_map - run.exact_map
            below.plot(run.theta, free, color=style.GREY, linewidth=2.4, label="mean of r, without cells")
            below.plot(run.theta, taylor, color=style.TAYLOR, linestyle="--", label="Taylor map")
            below.set(xlabel=STRENGTH_LABEL, xticks=[4, 6, 8, 10])
        rows[0, 0].set_ylabel(RATING_LABEL)
        rows[1, 0].set_ylabel("r − exact map (points)")
        handles, labels = rows[1, 0].get_legend_handles_labels()
        diagonal, words = rows[0, 0].get_legend_handles_labels()
        figure.legend([*diagonal, *handles], [*words, *labels], loc="outside lower center", ncols=4)
        return figure


def _density(axes: Axes, run: MacroRun) -> None:
    from matplotlib.colors import PowerNorm

    ends = np.array([run.theta[0], run.theta[-1]])
    norm = PowerNorm(0.5, vmin=0, vmax=float(run.theta_r.max()))
    axes.pcolormesh(run.theta, run.r, run.theta_r.T, cmap="Greys", norm=norm, rasterized=True)
    axes.plot(ends, ends, color=style.BLUE, linestyle="--", linewidth=0.7, label="R = θ")


CELLS = 2.0
"""Cells by which a slope may fall short on the scheme: it leaves a ridge of about two."""
SEEN = 0.3
"""Points by which two figures may differ and still agree: 5 % of the axis."""


@check(
    420, "§4, Figures 4 and 5", needs=("homogeneous_micro", "homogeneous_macro"),
    quote="We see a great agreement between the two models",
    statement="mean ratings of simulation and kinetic equation differ by less than one sees",
    criterion=f"raw difference below {SEEN:g} points, 5 % of the axis, at every σ; depends if at some",
)  # fmt: skip
def micro_and_macro_agree(micro: Micro, macro: Macro) -> Finding:
    """Great agreement between Figures 4 and 5."""
    names = [name for name in micro.runs if name in macro.runs]
    runs = {name: (micro.runs[name], needed(macro.runs, name)) for name in names}
    raw, left = {}, {}
    for name, (played, solved) in runs.items():
        mean = np.interp(solved.theta, played.theta, played.settled)
        noise = np.interp(solved.theta, played.map_theta, played.map_rating - played.map_limit)
        raw[name] = float(np.abs(mean - solved.mean_given_theta).max())
        left[name] = float(np.abs(mean - noise - solved.free_mean).max())  # without noise and cells
    closure = "Taylor" if macro.runs[names[-1]].closure == "taylor" else "exact"
    return Finding(
        f"largest difference ({closure} closure), raw: "
        + ", ".join(f"{gap:.3f} at {name}" for name, gap in raw.items())
        + f"; without the effects of γ = {micro.runs[names[-1]].gamma:g} and of the cells: "
        + ", ".join(f"{gap:.3f}" for gap in left.values()),
        judged_under(*(gap < SEEN for gap in raw.values())),
        "",
        on="σ, which is not printed: the Taylor closure fails beyond νσ = 1/√2",
        figures=(4, 5),
    )


@check(
    421, "Introduction, and Figure 5 at σ = 0",
    quote="solutions to (2) concentrate on the diagonal",
    statement="for strengths that do not vary, the kinetic equation takes ratings to r = θ",
    criterion=f"1 − slope below {CELLS:g} cells on the scheme, less with narrower cells and with more time; below "
    f"{ON_DIAGONAL:g} without cells",
)  # fmt: skip
def diagonal_without_spread(evidence: Macro) -> Finding:
    """Slope at σ = 0, and what becomes of it with narrower cells, more time and no cells."""
    run = needed(evidence.runs, "σ = 0")
    fine, late = needed(evidence.checks, "narrow cells"), needed(evidence.checks, "twice the time")
    free = converges(run.free_slope) and late.free_slope > run.free_slope
    return Finding(
        f"without cells {run.free_slope:.4f} at t = {run.time:g} and {late.free_slope:.4f} at t = {late.time:g}; on "
        f"the scheme {run.slope:.4f} with cells of {run.cell:g}, {late.slope:.4f} at t = {late.time:g}, "
        f"{fine.slope:.4f} with cells of {fine.cell:g}",
        judged(free and 1 - run.slope < CELLS * run.cell and min(fine.slope, late.slope) > run.slope),
        "",
        figures=(5,),
    )
