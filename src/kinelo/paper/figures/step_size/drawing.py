"""Slope of R on θ against γ, with the unbiased γ*."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.step_size.evidence import StepSize


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
