"""Simulated ratings of the two leagues with the computed ones, at the step size of the run and for γ → 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.panels import RATING_LABEL, STRENGTH_LABEL, name_pair
from kinelo.paper.summary import Simulated, line_through, simulated
from kinelo.pictures import style
from kinelo.results.manifest import content_digest
from kinelo.studies.simulation import simulation_inputs
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class LeagueRun(Simulated):
    """A simulated league with its computed stationary ratings."""

    gamma: float
    computed: Array
    limit: Array
    computed_slope: float
    limit_slope: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> dict[str, LeagueRun]:
    """Summarise every run and compute where it should have ended."""
    found = {}
    limits: dict[str, StationaryState] = {}
    for name, study in figure.studies.items():
        # Without noise the step size does not matter: one limit serves every γ of a league.
        league = content_digest(simulation_inputs(study) | {"gamma": None, "simulate": None})
        if league not in limits:
            limits[league] = stationary(study.system, study.strengths)
        limit = limits[league]
        noisy = stationary(study.system, study.strengths, noise="gaussian", start=limit.rating)
        found[name] = LeagueRun(
            **vars(simulated(runs[name])), gamma=study.system.step, computed=noisy.rating, limit=limit.rating,
            computed_slope=noisy.slope, limit_slope=limit.slope,
        )  # fmt: skip
    return found


def draw(data: Mapping[str, LeagueRun]) -> Figure:
    """Four panels: each league at each step size."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 6.2)
        axes = figure.subplots(2, 2)
        for k, (name, panel) in enumerate(zip(("R1", "R2", "R1, large γ", "R2, large γ"), axes.flat)):
            run = data[name]
            _ratings(panel, run)
            if name.startswith("R2"):
                name_pair(panel, run.theta, run.rating)
            panel.set(xlabel=STRENGTH_LABEL, ylabel=RATING_LABEL)
            panel.set_title(
                f"({'abcd'[k]}) {name[:2]}, γ = {run.gamma:g}: slope {run.slope:.4f}, computed {run.computed_slope:.4f}"
            )
        axes[0, 0].legend(loc="upper left")
        return figure


def _ratings(axes: Axes, run: LeagueRun) -> None:
    ends = np.array([run.theta.min(), run.theta.max()])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(run.theta, run.rating, s=9, color=style.BLUE, alpha=0.75, linewidth=0, label="simulated", zorder=2)
    axes.plot(
        run.theta, run.computed, "x", color=style.RED, markersize=2.6, markeredgewidth=0.6, label="computed", zorder=3
    )


@check(
    205, "Section 2, update rule", statement="a match moves both ratings by opposite amounts",
    criterion="largest change of the mean rating below 1e-8",
)  # fmt: skip
def ratings_conserved(evidence: Mapping[str, LeagueRun]) -> Finding:
    """The mean rating never changes in a simulation."""
    worst = max(run.mean_drift for run in evidence.values())
    matches = max(run.matches_per_team * run.theta.size / 2 for run in evidence.values())
    return Finding(
        f"largest change of the mean rating over {matches:,.0f} matches in a row: {worst:.1e}",
        judged(worst < 1e-8),
        "The sum of the ratings is conserved to rounding.",
        figures=(2,),
    )


@check(
    230, "Section 2, Figure 2a",
    quote="we see clustering around the point (θ, R) = (5, 5)", statement="set-up R1 clusters around (5, 5)",
    criterion="mean of θ and of R within 0.5 of 5, and the standard deviation of R below 0.5",
)  # fmt: skip
def r1_clusters(evidence: Mapping[str, LeagueRun]) -> Finding:
    """R1 clusters around (5, 5)."""
    run = needed(evidence, "R1")
    theta, rating = run.theta, run.settled
    off = max(abs(theta.mean() - 5), abs(rating.mean() - 5), rating.std())
    return Finding(
        f"centre ({theta.mean():.3f}, {rating.mean():.3f}); standard deviations {theta.std():.3f} and "
        f"{rating.std():.3f}",
        judged(bool(off < 0.5)),
        f"The mean of the ratings never changes. Strengths scatter around 5 by {theta.std():.2f} points and ratings by "
        f"{rating.std():.2f}; what counts as a cluster here is half a point.",
        figures=(2,),
    )


@check(
    232, "Section 2, Figure 2a",
    quote="teams with θ < 5 consistently under-perform and conversely θ > 5 over-perform, as they lie above and "
    "below the "
    "line θ = R, respectively",
    statement="in set-up R1 teams with θ < 5 lie above the line R = θ, teams with θ > 5 below it",
    criterion="slope below 1 at the small γ and at the large one; depends if at one of them only",
)  # fmt: skip
def r1_over_and_under(evidence: Mapping[str, LeagueRun]) -> Finding:
    """Teams with θ < 5 lie above the diagonal, those with θ > 5 below: slope below one."""
    small, large = needed(evidence, "R1"), needed(evidence, "R1, large γ")
    return Finding(
        f"slope of R on θ: {small.slope:.4f} at γ = {small.gamma:g}, {large.slope:.4f} at γ = {large.gamma:g}, "
        f"{small.limit_slope:.4f} as γ → 0",
        judged_under(small.slope < 1, large.slope < 1),
        "Varying strength shrinks the map, rating noise stretches it; which one wins depends on γ, which the paper "
        "does not "
        "print.",
        on="γ: it holds for small steps and turns round for large ones",
        figures=(2,),
    )


@check(
    233, "Section 2, Figure 2b",
    quote="we see convergence towards a steady state for the 198 teams",
    statement="the 198 teams of set-up R2 settle, on a straight line",
    criterion="r² above 0.995, and every rating within 0.25 of the computed one",
)  # fmt: skip
def r2_straight_and_steady(evidence: Mapping[str, LeagueRun]) -> Finding:
    """The 198 teams of R2 settle on a straight line."""
    run = needed(evidence, "R2")
    fit = float(np.corrcoef(run.theta[:-2], run.settled[:-2])[0, 1]) ** 2
    off = float(np.abs(run.settled - run.computed).max())
    return Finding(
        f"r² = {fit:.6f}; simulated ratings within {off:.3f} of the computed stationary ones",
        judged(fit > 0.995 and off < 0.25),
        "The line bends by less than one sees, and the simulation ends where the computed state says.",
        figures=(2,),
    )


@check(
    234, "Section 2, Figure 2b",
    quote="this straight line has a steeper slope than θ = R",
    statement="in set-up R2 the slope of R on θ is above 1",
    criterion="slope above 1 as γ → 0 and at the large γ; depends if at one of them only",
)  # fmt: skip
def r2_steeper(evidence: Mapping[str, LeagueRun]) -> Finding:
    """The line of R2 is steeper than R = θ."""
    small, large = needed(evidence, "R2"), needed(evidence, "R2, large γ")
    limit, steep = _slope_of_198(small, small.limit), _slope_of_198(large, large.settled)
    return Finding(
        f"slope {limit:.4f} as γ → 0 (computed), {_slope_of_198(small, small.settled):.4f} at γ = {small.gamma:g}, "
        f"{steep:.4f} at γ = {large.gamma:g} (simulated, 198 teams)",
        judged_under(limit > 1, steep > 1),
        "The map itself is flatter than R = θ; it is rating noise that steepens it, visibly so only at large γ.",
        on=f"γ: not as γ → 0, yes at γ = {large.gamma:g}",
        figures=(2,),
    )


def _slope_of_198(run: LeagueRun, rating: Array) -> float:
    return line_through(run.theta[:-2], rating[:-2])[0]
