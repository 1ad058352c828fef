"""R − θ of Germany and Brazil against their assumed spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.outliers.evidence import Outliers


def draw(data: Outliers) -> Figure:
    """One panel: a line and points for each of the two, and a band for the others."""
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.35, 3.0)
        axes = figure.subplots()
        line, points = data.computed, data.simulated
        axes.fill_between(
            line.sigma, line.low, line.high, color=style.GREY, alpha=0.3, linewidth=0, label="95 % of the other teams"
        )
        axes.axhline(0, color=style.GREY, linewidth=0.6)
        for name, colour, marker in (("germany", style.BLUE, "o"), ("brazil", style.GREEN, "s")):
            axes.plot(line.sigma, getattr(line, name), color=colour, label=f"{name.title()}, computed")
            axes.plot(
                points.sigma, getattr(points, name), marker, color=colour, markersize=4.5, markerfacecolor="white",
                label=f"{name.title()}, simulated",
            )  # fmt: skip
        axes.set(
            xlabel="standard deviation σ given to the two teams (points)", ylabel="rating − strength, R − θ (points)"
        )
        axes.legend(loc="lower left")
        return figure
