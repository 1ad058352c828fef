"""Final ratings of R1 and R2 over θ at a small and a large step size, with the computed ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.paper.panels import RATING, STRENGTH, name_pair
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.paper.figures.leagues.evidence import LeagueRun, Leagues


def draw(data: Leagues) -> Figure:
    """Four panels: each league at each step size."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 6.2)
        axes = figure.subplots(2, 2)
        for k, (name, panel) in enumerate(zip(("R1", "R2", "R1, large γ", "R2, large γ"), axes.flat)):
            run = data.runs[name]
            _ratings(panel, run)
            if name.startswith("R2"):
                name_pair(panel, run.theta, run.rating)
            panel.set(xlabel=STRENGTH, ylabel=RATING)
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
