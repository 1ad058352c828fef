"""Pictures of the paper's two leagues: their spreads, where their teams end up, and the two outliers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRENGTH, RATING, SPREAD = "mean strength θ (points)", "rating R (points)", "standard deviation σ (points)"


def draw_spread(data: Mapping[str, xr.Dataset]) -> Figure:
    """Standard deviation of each team: R1 over its number, R2 over θ."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.7)
        left, right = figure.subplots(1, 2)
        r1, r2 = data["R1"], data["R2"]
        number = np.arange(1, r1.sizes["team"] + 1)
        left.plot(number, r1.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        left.plot(number, r1.sigma, color=style.BLUE, linewidth=0.8, label="exact")
        left.plot(
            number, r1.expected_sigma, color=style.RED, linestyle="--", label="root mean square over many leagues"
        )
        left.set(xlabel="number of the team", ylabel=SPREAD, title="(a) set-up R1", ylim=(0, None))
        left.legend(loc="upper left")
        right.plot(r2.theta, r2.drawn_sigma, ".", color=style.SKY, markersize=3, label="over drawn line-ups")
        right.plot(r2.theta, r2.sigma, "+", color=style.BLUE, markersize=3, markeredgewidth=0.5, label="exact")
        _name_pair(right, r2.theta.values, r2.sigma.values)
        right.set(xlabel=STRENGTH, ylabel=SPREAD, title="(b) set-up R2", ylim=(0, None))
        right.legend(loc="center left")
        return figure


def draw_leagues(data: Mapping[str, xr.Dataset]) -> Figure:
    """Final ratings of R1 and R2 over θ at a small and a large step size, with the computed ratings."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 6.2)
        axes = figure.subplots(2, 2)
        for k, (name, panel) in enumerate(zip(("R1", "R2", "R1, large γ", "R2, large γ"), axes.flat)):
            run = data[name]
            _ratings(panel, run)
            if name.startswith("R2"):
                _name_pair(panel, run.theta.values, run.rating.values)
            panel.set(xlabel=STRENGTH, ylabel=RATING)
            panel.set_title(
                f"({'abcd'[k]}) {name[:2]}, γ = {run.attrs['gamma']:g}: slope {run.attrs['slope']:.4f}, "
                f"computed {run.attrs['computed_slope']:.4f}"
            )
        axes[0, 0].legend(loc="upper left")
        return figure


def _ratings(axes: Axes, run: xr.Dataset) -> None:
    theta = run.theta.values
    ends = np.array([theta.min(), theta.max()])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(theta, run.rating, s=9, color=style.BLUE, alpha=0.75, linewidth=0, label="simulated", zorder=2)
    axes.plot(
        theta, run.computed, "x", color=style.RED, markersize=2.6, markeredgewidth=0.6, label="computed", zorder=3
    )


def _name_pair(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Write the names of the last two teams, Germany and Brazil, below their points."""
    for k, name in ((-2, "Germany"), (-1, "Brazil")):
        axes.scatter(x[k], y[k], s=22, facecolor="none", edgecolor=style.BLACK, linewidth=0.8, zorder=4)
        axes.annotate(
            name, (x[k], y[k]), xytext=(4, -26), textcoords="offset points", ha="center", fontsize=7, zorder=5,
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": style.BLACK, "shrinkB": 3},
        )  # fmt: skip


def draw_outliers(data: Mapping[str, xr.Dataset]) -> Figure:
    """R − θ of Germany and Brazil against their assumed spread."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.0)
        axes = figure.subplots()
        line, points = data["computed"], data["simulated"]
        axes.fill_between(
            line.sigma, line.low, line.high, color=style.GREY, alpha=0.3, linewidth=0, label="95 % of the other teams"
        )
        axes.axhline(0, color=style.GREY, linewidth=0.6)
        for name, colour, marker in (("germany", style.BLUE, "o"), ("brazil", style.GREEN, "s")):
            axes.plot(line.sigma, line[name], color=colour, label=f"{name.title()}, computed")
            axes.plot(
                points.sigma, points[name], marker, color=colour, markersize=4.5, markerfacecolor="white",
                label=f"{name.title()}, simulated",
            )  # fmt: skip
        axes.set(
            xlabel="standard deviation σ given to the two teams (points)", ylabel="rating − strength, R − θ (points)"
        )
        axes.legend(loc="lower left")
        return figure
