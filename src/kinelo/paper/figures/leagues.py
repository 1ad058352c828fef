"""Simulated ratings of the two leagues with the computed ones, at the step size of the run and for γ → 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import RATING_LABEL, STRENGTH_LABEL, Simulated, line_through, name_pair, simulated, with_error
from kinelo.pictures import style
from kinelo.studies.study import Study
from kinelo.theory.limit import stationary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class LeagueRun(Simulated):
    """A simulated league with its computed stationary ratings; its slopes are those of its first ``in_line`` teams."""

    gamma: float
    in_line: int
    computed: Array
    computed_slope: float
    limit_slope: float


def teams_in_line(study: Study) -> slice:
    """The teams of a set-up that lie on a line: all of R1, in R2 all but Germany and Brazil."""
    return slice(None, -2) if getattr(study.league, "kind", None) == "r2" else slice(None)


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> dict[str, LeagueRun]:
    """Summarise every run and compute where it should have ended."""
    numbers = {}
    for name, study in figure.studies.items():
        line = teams_in_line(study)
        limit = stationary(study.system, study.strengths)
        noisy = stationary(study.system, study.strengths, noise="gaussian", start=limit.rating)
        theta = noisy.theta[line]
        numbers[name] = LeagueRun(
            **vars(simulated(runs[name], line=line)), gamma=study.system.step, in_line=theta.size,
            computed=noisy.rating, computed_slope=line_through(theta, noisy.rating[line])[0],
            limit_slope=line_through(theta, limit.rating[line])[0],
        )  # fmt: skip
    return numbers


def draw(data: Mapping[str, LeagueRun]) -> Figure:
    """Each league: ratings above, what they are off by below."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 5.2)
        rows = figure.subplots(2, 2, sharex="col", height_ratios=[3, 2])
        for letter, name, above, below in zip("ab", ("R1", "R2"), *rows):
            run = data[name]
            _ratings(above, run)
            below.axhline(0, color=style.GREY, linestyle="--", linewidth=0.9, zorder=1)
            bias, computed = run.rating - run.theta, run.computed - run.theta
            below.scatter(run.theta, bias, s=7, color=style.BLUE, alpha=0.75, linewidth=0, zorder=2)
            below.plot(run.theta, computed, "x", color=style.RED, markersize=2.6, markeredgewidth=0.6, zorder=3)
            above.set(ylabel=RATING_LABEL)
            below.set(xlabel=STRENGTH_LABEL, ylabel="R − θ (points)")
            above.set_title(
                f"({letter}) {name}, γ = {run.gamma:g}, {run.in_line} teams\n"
                f"slope {with_error(run)}, computed {run.computed_slope:.4f}"
            )
            if name == "R2":
                name_pair(above, run.theta, run.rating)
                name_pair(below, run.theta, run.rating - run.theta, (-30, 2))
        rows[0, 0].legend(loc="upper left")
        return figure


def _ratings(axes: Axes, run: LeagueRun) -> None:
    ends = np.array([run.theta.min(), run.theta.max()])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(run.theta, run.rating, s=9, color=style.BLUE, alpha=0.75, linewidth=0, label="simulated", zorder=2)
    axes.plot(
        run.theta, run.computed, "x", color=style.RED, markersize=2.6, markeredgewidth=0.6, label="computed", zorder=3
    )


@check(
    205, "§1, update rule", statement="a match moves both ratings by opposite amounts",
    criterion="the mean rating changes by less than 1e-8",
)  # fmt: skip
def ratings_conserved(evidence: Mapping[str, LeagueRun]) -> Finding:
    """The mean rating never changes in a simulation."""
    worst = max(run.mean_drift for run in evidence.values())
    matches = max(run.matches_per_team * run.theta.size / 2 for run in evidence.values())
    return Finding(
        f"by {worst:.1e} at most, over {matches:,.0f} matches in a row",
        judged(worst < 1e-8),
        "",
        figures=(2,),
    )


@check(
    230, "§2, Figure 2a",
    quote="we see clustering around the point (θ, R) = (5, 5)", statement="set-up R1 clusters around (5, 5)",
    criterion="centre within 0.5 of (5, 5), standard deviation of R below 0.5",
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
        "",
        figures=(2,),
    )


@check(
    233, "§2, Figure 2b",
    quote="we see convergence towards a steady state for the 198 teams",
    statement="the 198 teams of set-up R2 settle, on a straight line",
    criterion="r² above 0.995, and every rating within 0.25 of the computed one",
)  # fmt: skip
def r2_straight_and_steady(evidence: Mapping[str, LeagueRun]) -> Finding:
    """The 198 teams of R2 settle on a straight line."""
    run = needed(evidence, "R2")
    fit = float(np.corrcoef(run.theta[: run.in_line], run.settled[: run.in_line])[0, 1]) ** 2
    off = float(np.abs(run.settled - run.computed).max())
    return Finding(
        f"r² = {fit:.6f}; ratings within {off:.3f} of the computed ones",
        judged(fit > 0.995 and off < 0.25),
        "",
        figures=(2,),
    )
