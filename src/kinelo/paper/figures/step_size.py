"""Simulated and computed slope against γ for each σ, and the γ at which it is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import homogeneous_league, simulated
from kinelo.pictures import style
from kinelo.studies.study import Study
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum
from kinelo.theory.unbiased import unbiased_gamma

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STEP_SIZE_NODES = 24
"""Enough of them for a slope to nine digits at ν = 0.5; the default of 80 costs ten times as much with noise."""


@dataclass(frozen=True)
class StepPoints:
    """Simulated slopes with their standard errors, one per run."""

    sigma: Array
    gamma: Array
    slope: Array
    slope_error: Array


@dataclass(frozen=True)
class Lines:
    """Computed slopes over (σ, γ), and the unbiased γ* of each σ."""

    sigma: Array
    gamma: Array
    slope: Array
    unbiased: Array


@dataclass(frozen=True)
class StepSize:
    """Evidence of Figure 7."""

    simulated: StepPoints
    computed: Lines


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> StepSize:
    """Summarise the simulations, and compute the lines."""
    points = []
    for name, study in figure.studies.items():
        summary = simulated(runs[name])
        points.append((homogeneous_league(study).sigma, study.system.step, summary.slope, summary.slope_error))
    some = next(iter(figure.studies.values()))
    gammas, sigmas = np.array(figure.parameters["gamma"]), sorted({point[0] for point in points})
    lines = np.array([[_slope(some, sigma, gamma) for gamma in gammas] for sigma in sigmas])
    return StepSize(
        StepPoints(*(np.array(column) for column in zip(*points))),
        Lines(np.array(sigmas), gammas, lines, np.array([_unbiased(some, sigma) for sigma in sigmas])),
    )


def _slope(study: Study, sigma: float, gamma: float) -> float:
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=STEP_SIZE_NODES)
    return stationary(RatingSystem(study.system.outcome, gamma=float(gamma)), teams, noise="gaussian").slope


def _unbiased(study: Study, sigma: float) -> float:
    if sigma == 0:
        return 0.0
    teams = Continuum(theta=homogeneous_league(study).theta, sigma=sigma, nodes=STEP_SIZE_NODES)
    return unbiased_gamma(study.system.outcome, teams)


def draw(data: StepSize) -> Figure:
    """A line and its points for each σ."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.2)
        axes = figure.subplots()
        points, lines = data.simulated, data.computed
        axes.axhline(1, color=style.GREY, linestyle="--", linewidth=0.9)
        for colour, sigma, slope, star in zip(style.SERIES, lines.sigma, lines.slope, lines.unbiased):
            own = points.sigma == sigma
            axes.plot(lines.gamma, slope, color=colour, label=f"σ = {sigma:g}, computed")
            axes.errorbar(
                points.gamma[own], points.slope[own], 2 * points.slope_error[own], fmt="o", color=colour, markersize=4,
                markerfacecolor="white", capsize=2, label=f"σ = {sigma:g}, simulated",
            )  # fmt: skip
            if 0 < star <= lines.gamma.max():
                axes.plot(star, 1, "*", color=colour, markersize=9, markeredgecolor="white", zorder=5)
                axes.annotate(f"γ* = {star:.3f}", (star, 1), xytext=(5, -11), textcoords="offset points", color=colour)
        axes.set(xlabel="step size γ (points per match)", ylabel="slope of R on θ", xlim=(0, None))
        axes.legend(loc="upper left", ncols=1)
        return figure
