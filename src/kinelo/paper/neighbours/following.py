"""The error of following form over γ with its parts, simulated errors, and that of Glicko."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.paper.neighbours.learning import simulated_error
from kinelo.pictures import style
from kinelo.theory.moving.best import best_gamma, error_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FILTER = "Glicko"


@dataclass(frozen=True)
class FollowingEvidence:
    """Error and parts over γ, the best γ, simulated errors with standard errors, and Glicko's."""

    gamma: Array
    parts: Array
    best: float
    least: float
    run_gamma: Array
    run_error: Array
    run_uncertainty: Array
    glicko: float
    glicko_uncertainty: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> FollowingEvidence:
    """Compute the curve, and measure the runs."""
    studies = {name: study for name, study in figure.studies.items() if name != FILTER}
    first = next(iter(studies.values()))
    outcome, league, form = first.system.outcome, first.strengths, first.motion
    measured = np.array([(study.system.step, *simulated_error(runs[name])) for name, study in studies.items()])
    curve, gamma = error_curve(outcome, league, form), np.linspace(0.02, 1.1 * measured[:, 0].max(), 30)
    rows = np.array([(one.noise, one.lag, one.bias) for one in map(curve, gamma)])
    best = best_gamma(outcome, league, form)
    glicko, doubt = simulated_error(runs[FILTER])
    return FollowingEvidence(
        gamma, rows, best.gamma, best.error, measured[:, 0], measured[:, 1], measured[:, 2], glicko, doubt
    )


def draw(data: FollowingEvidence) -> Figure:
    """One panel."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.2)
        axes = figure.subplots()
        axes.plot(data.gamma, data.parts.sum(axis=1), color=style.SERIES[0], label="error, computed")
        for values, line, name in zip(data.parts.T, ("-.", ":"), ("noise", "lag")):
            axes.plot(data.gamma, values, color=style.GREY, linestyle=line, label=name)
        axes.errorbar(
            data.run_gamma, data.run_error, 2 * data.run_uncertainty, fmt="o", color=style.SERIES[0], markersize=4,
            markerfacecolor="white", capsize=2, label="error, simulated",
        )  # fmt: skip
        axes.axhline(data.glicko, color=style.SERIES[1], linestyle="--", linewidth=0.9, label="Glicko, simulated")
        axes.plot(data.best, data.least, "*", color=style.SERIES[0], markersize=9, markeredgecolor="white", zorder=5)
        axes.annotate(f"γ* = {data.best:.3f}", (data.best, data.least), xytext=(4, -12), textcoords="offset points")
        axes.set(xlabel="step size γ", ylabel="mean square error E(r − θ)²", xlim=(0, None), ylim=(0, None))
        axes.legend(fontsize="small")
        return figure


@check(
    7, "common belief",
    statement="a filter (Glicko) follows form better than the best constant K, at equal playing rates",
    criterion="error of Glicko below that of the best constant step by more than 3 standard errors",
)  # fmt: skip
def filter_beats_constant(evidence: FollowingEvidence) -> Finding:
    """Glicko against the best constant step, both simulated."""
    k = int(evidence.run_error.argmin())
    elo, doubt = float(evidence.run_error[k]), math.hypot(evidence.run_uncertainty[k], evidence.glicko_uncertainty)
    return Finding(
        f"error {elo:.4f} at γ = {evidence.run_gamma[k]:g} (least computed {evidence.least:.4f} at "
        f"{evidence.best:.3f}), Glicko {evidence.glicko:.4f}; the difference has a standard error of {doubt:.4f}",
        judged(evidence.glicko < elo - 3 * doubt),
        "A deviation pays where playing rates or newcomers differ; among teams that play equally often the best step "
        "is the same for all.",
        figures=(4,),
    )
