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
        for k, sigma in enumerate(data.sigma):
            shade = (k + 1) / len(data.sigma)  # the larger σ, the stronger the colour
            for closure, colour, line in (("exact", style.EXACT, "-"), ("taylor", style.TAYLOR, "--")):
                label = f"σ = {sigma:g}, {'exact' if closure == 'exact' else 'Taylor'}"
                look = {"color": colour, "linestyle": line, "alpha": 0.25 + 0.75 * shade}
                left.plot(data.difference, data.win[closure][k], label=label, **look)
                right.plot(data.theta, data.bias[closure][k], **look)
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
