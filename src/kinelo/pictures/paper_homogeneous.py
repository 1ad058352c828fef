"""Pictures of homogeneous teams, match by match: several σ, several ν, several step sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style
from kinelo.pictures.paper_leagues import RATING, STRENGTH

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_homogeneous_micro(data: Mapping[str, xr.Dataset]) -> Figure:
    """One panel per σ: simulated ratings over θ with the computed map."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.5)
        panels = np.atleast_1d(figure.subplots(1, len(data), sharey=True))
        for axes, (name, run) in zip(panels, data.items()):
            ratings_with_map(axes, run)
            axes.set_title(f"{name}: slope {run.attrs['slope']:.3f}")
            axes.set_xlabel(STRENGTH)
        panels[0].set_ylabel(RATING)
        panels[0].legend(loc="upper left")
        return figure


def ratings_with_map(axes: Axes, run: xr.Dataset) -> None:
    """Points (θ, R), the computed map, and the line R = θ."""
    theta = run.theta.values
    ends = np.array([run.map_theta.values[0], run.map_theta.values[-1]])
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ", zorder=1)
    axes.scatter(theta, run.rating, s=4, color=style.SKY, linewidth=0, label="simulated", zorder=2)
    axes.plot(run.map_theta, run.map_rating, color=style.RED, linewidth=1.2, label="computed", zorder=3)
    axes.set_xticks([4, 6, 8, 10])


def draw_scale(data: Mapping[str, xr.Dataset]) -> Figure:
    """One panel per ν, and the slope over time while the ratings settle."""
    final = {name: run for name, run in data.items() if "slope" not in run.variables}
    early = {name: run for name, run in data.items() if "slope" in run.variables}
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.6)
        panels = figure.subplots(1, len(final) + 1, width_ratios=[1] * len(final) + [1.35])
        low = min(float(run.rating.min()) for run in final.values())
        high = max(float(run.rating.max()) for run in final.values())
        for axes, (name, run) in zip(panels, final.items()):
            ratings_with_map(axes, run)
            axes.set_title(f"{name}: slope {run.attrs['slope']:.3f}")
            axes.set(xlabel=STRENGTH, ylim=(min(low, 4) - 0.2, max(high, 10) + 0.2))
        panels[0].set_ylabel(RATING)
        panels[0].legend(loc="upper left")
        for colour, run in zip(style.SERIES, early.values()):
            settled = run.attrs["matches_to_one_percent"]
            label = f"ν = {run.attrs['nu']:g}: {settled:,.0f}"
            panels[-1].plot(run.time[1:], run.slope[1:], color=colour, linewidth=1.0, label=label)
            panels[-1].plot(run.time[1:], run.predicted[1:], color=style.BLACK, linestyle=":", linewidth=0.9)
        panels[-1].set(
            xscale="log", xlabel="matches per team", ylabel="slope of R on θ", ylim=(0, 1.6), title="settling"
        )
        panels[-1].legend(loc="upper left", title="matches per team to 1 %", title_fontsize=7, alignment="left")
        return figure


def draw_step_size(data: Mapping[str, xr.Dataset]) -> Figure:
    """Slope of R on θ against γ, with the unbiased γ*."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.2)
        axes = figure.subplots()
        points, lines = data["simulated"], data["computed"]
        axes.axhline(1, color=style.GREY, linestyle="--", linewidth=0.9)
        for colour, sigma in zip(style.SERIES, lines.sigma.values):
            line, chosen = lines.sel(sigma=sigma), points.where(points.sigma == sigma, drop=True)
            axes.plot(lines.gamma, line.slope, color=colour, label=f"σ = {sigma:g}, computed")
            axes.errorbar(
                chosen.gamma, chosen.slope, 2 * chosen.slope_error, fmt="o", color=colour, markersize=4,
                markerfacecolor="white", capsize=2, label=f"σ = {sigma:g}, simulated",
            )  # fmt: skip
            star = float(line.unbiased)
            if 0 < star <= float(lines.gamma.max()):
                axes.plot(star, 1, "*", color=colour, markersize=9, markeredgecolor="white", zorder=5)
                axes.annotate(f"γ* = {star:.3f}", (star, 1), xytext=(5, -11), textcoords="offset points", color=colour)
        axes.set(xlabel="step size γ (points per match)", ylabel="slope of R on θ", xlim=(0, None))
        axes.legend(loc="upper left", ncols=1)
        return figure
