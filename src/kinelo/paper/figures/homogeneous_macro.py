"""The density in (θ, r) at the end of each run, with the stationary maps of both closures.

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
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, given, stationary_of
from kinelo.paper.panels import RATING_LABEL, STRENGTH_LABEL
from kinelo.paper.summary import Homogeneous, line_through
from kinelo.pictures import style
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


CHECK = "check, "


@dataclass(frozen=True, kw_only=True)
class MacroRun(Kinetic):
    """Homogeneous teams at the end of a run; a map is NaN where there is none."""

    theta: Array
    r: Array
    theta_r: Array
    mean_given_theta: Array
    exact_map: Array
    taylor_map: Array
    slope: float
    common_sigma: float
    closure: str
    cell: float
    time: float


@dataclass(frozen=True)
class Macro:
    """Evidence of Figure 5."""

    runs: Mapping[str, MacroRun]
    checks: Mapping[str, MacroRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Macro:
    """Summarise every run."""
    found = {name: _summary(figure.studies[name].system, run) for name, run in runs.items()}
    return Macro(
        {name: run for name, run in found.items() if not name.startswith(CHECK)},
        {name.removeprefix(CHECK): run for name, run in found.items() if name.startswith(CHECK)},
    )


def _summary(system: RatingSystem, run: xr.Dataset) -> MacroRun:
    end = run.isel(time=-1)
    theta, r, teams = end.theta.values, end.r.values, continuum_of(run)
    mean, _ = given(end.density_theta_r.values, r)
    return MacroRun(
        **vars(conservation(run)),
        theta=theta,
        r=r,
        theta_r=end.density_theta_r.values,
        mean_given_theta=mean,
        exact_map=_stationary_map(system, teams, "exact", theta),
        taylor_map=_stationary_map(system, teams, "taylor", theta),
        slope=line_through(theta, mean)[0],
        common_sigma=float(end.sigma.values[0]),
        closure=run.attrs["closure"],
        cell=float(r[1] - r[0]),
        time=float(end.time),
    )


def _stationary_map(system: RatingSystem, teams: Continuum, closure: Closure, theta: Array) -> Array:
    try:
        return stationary_of(system, teams, closure).rating_of(theta)
    except NoStationaryState:
        return np.full(theta.size, np.nan)


CLOSE = 0.6
"""Half the height of the lower panels, in points."""


def draw(data: Macro) -> Figure:
    """Above the whole map, below what is left when the exact map is taken away."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 4.4)
        rows = figure.subplots(2, len(data.runs), sharex=True, sharey="row", squeeze=False, height_ratios=[3, 2])
        for above, below, (name, run) in zip(*rows, data.runs.items()):
            _whole_map(above, run)
            above.set_title(f"{name}: slope {run.slope:.3f}")
            _close(below, run)
            below.set(xlabel=STRENGTH_LABEL, xticks=[4, 6, 8, 10])
        rows[0, 0].set_ylabel(RATING_LABEL)
        rows[1, 0].set_ylabel("r − exact map (points)")
        figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure


def _whole_map(axes: Axes, run: MacroRun) -> None:
    sd = np.sqrt(np.maximum(run.theta_r @ run.r**2 / run.theta_r.sum(axis=1) - run.mean_given_theta**2, 0))
    ends = np.array([run.theta[0], run.theta[-1]])
    low, high = run.mean_given_theta - sd - run.cell, run.mean_given_theta + sd + run.cell
    axes.fill_between(run.theta, low, high, color=style.GREY, alpha=0.35, linewidth=0, label="density")
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ")
    axes.plot(run.theta, run.exact_map, color=style.EXACT, linewidth=0.9, label="exact stationary map")
    axes.plot(run.theta, run.taylor_map, color=style.TAYLOR, linewidth=1.1, linestyle="--", label="Taylor map")


def _close(axes: Axes, run: MacroRun) -> None:
    offset = np.linspace(-CLOSE, CLOSE, 241)
    near = [np.interp(rest + offset, run.r, row, left=0, right=0) for rest, row in zip(run.exact_map, run.theta_r)]
    axes.pcolormesh(
        run.theta,
        offset,
        np.transpose(near),
        cmap="Greys",
        vmin=0,
        vmax=0.6 * float(run.theta_r.max()),
        rasterized=True,
    )
    axes.axhline(0, color=style.EXACT, linewidth=0.9)
    axes.plot(run.theta, run.taylor_map - run.exact_map, color=style.TAYLOR, linewidth=1.1, linestyle="--")
    axes.set_ylim(-CLOSE, CLOSE)


CELLS = 2.0
"""Cells by which mean ratings may differ: an upwind scheme leaves a ridge of about two."""


@check(
    420, "Section 4, Figures 4 and 5", needs=("homogeneous_micro", "homogeneous_macro"),
    quote="We see a great agreement between the two models",
    statement=f"mean ratings of simulation and kinetic equation differ by less than {CELLS:g} cells of r",
    criterion=f"less than {CELLS:g} cells at every σ; depends if at some of them only",
)  # fmt: skip
def micro_and_macro_agree(micro: Micro, macro: Macro) -> Finding:
    """Great agreement between Figures 4 and 5."""
    names = [name for name in micro.runs if name in macro.runs]
    gaps = {name: _gap(micro.runs[name], needed(macro.runs, name)) for name in names}
    cell = needed(macro.runs, names[-1]).cell
    ok = [gap < CELLS * macro.runs[name].cell for name, gap in gaps.items()]
    closure = "Taylor" if macro.runs[names[-1]].closure == "taylor" else "exact"
    return Finding(
        f"largest difference of mean ratings ({closure} closure, rating noise removed, cells of {cell:g}): "
        + ", ".join(f"{gap:.3f} at {name}" for name, gap in gaps.items()),
        judged_under(*ok),
        f"Within {CELLS:g} cells while νσ is small; for larger σ the Taylor closure of the kinetic equation is out of "
        "its range.",
        on="σ, which the paper does not print for these figures: the closure fails for large νσ",
        figures=(4, 5),
    )


def _gap(micro: Homogeneous, macro: MacroRun) -> float:
    noise = np.interp(macro.theta, micro.map_theta, micro.map_rating - micro.map_limit)
    return float(np.abs(np.interp(macro.theta, micro.theta, micro.settled) - noise - macro.mean_given_theta).max())


@check(
    421, "Introduction, and Figure 5 at σ = 0",
    quote="solutions to (2) concentrate on the diagonal",
    statement="for strengths that do not vary, the kinetic equation takes ratings to r = θ, up to the cells",
    criterion=f"1 − slope below {CELLS:g} cells, and nearer to 1 both with narrower cells and with more time",
)  # fmt: skip
def diagonal_without_spread(evidence: Macro) -> Finding:
    """Slope at σ = 0, and what becomes of it with narrower cells and more time."""
    run = needed(evidence.runs, "σ = 0")
    fine, late = needed(evidence.checks, "narrow cells"), needed(evidence.checks, "twice the time")
    return Finding(
        f"slope {run.slope:.4f} at t = {run.time:g} with cells of {run.cell:g}; {late.slope:.4f} at t = {late.time:g}; "
        f"{fine.slope:.4f} with cells of {fine.cell:g}",
        judged(1 - run.slope < CELLS * run.cell and min(fine.slope, late.slope) > run.slope),
        "What is missing from slope 1 is the scheme's: it lets ratings cross the last cell before their rest only "
        "slowly. Narrower cells and more time both shorten it.",
        figures=(5,),
    )
