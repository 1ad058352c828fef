"""Win probability over d, and R − θ over θ, by both closures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.paper.panels import STRENGTH
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.closures.evidence import Closures


def draw(data: Closures) -> Figure:
    """Two panels with one legend below them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        for k, (colour, sigma) in enumerate(zip(style.SERIES, data.sigma)):
            for closure, line in (("exact", "-"), ("taylor", "--")):
                label = f"σ = {sigma:g}, {'exact' if closure == 'exact' else 'Taylor'}"
                left.plot(data.difference, data.win[closure][k], color=colour, linestyle=line, label=label)
                right.plot(data.theta, data.bias[closure][k], color=colour, linestyle=line)
        left.axhline(0.5, color=style.GREY, linewidth=0.6)
        left.set(
            xlabel="difference of mean strengths d (points)",
            ylabel="probability that the stronger wins",
            title=f"(a) expected result, ν = {data.nu:g}",
        )
        right.axhline(0, color=style.GREY, linewidth=0.6)
        right.set(xlabel=STRENGTH, ylabel="rating − strength, R − θ (points)", title="(b) stationary map")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(data.sigma))
        return figure
