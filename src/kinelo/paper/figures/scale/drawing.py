"""One panel per ν, and the slope over time while the ratings settle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.paper.panels import RATING, STRENGTH, ratings_with_map
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.scale.evidence import Scale


def draw(data: Scale) -> Figure:
    """The panels of ν on one scale, and time beside them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.6)
        panels = figure.subplots(1, len(data.final) + 1, width_ratios=[1] * len(data.final) + [1.35])
        low = min(float(run.rating.min()) for run in data.final.values())
        high = max(float(run.rating.max()) for run in data.final.values())
        for axes, (name, run) in zip(panels, data.final.items()):
            ratings_with_map(axes, run)
            axes.set_title(f"{name}: slope {run.slope:.3f}")
            axes.set(xlabel=STRENGTH, ylim=(min(low, 4) - 0.2, max(high, 10) + 0.2))
        panels[0].set_ylabel(RATING)
        panels[0].legend(loc="upper left")
        for colour, run in zip(style.SERIES, data.early.values()):
            label = f"ν = {run.nu:g}: {run.matches_to_one_percent:,.0f}"
            panels[-1].plot(run.time[1:], run.slope[1:], color=colour, linewidth=1.0, label=label)
            panels[-1].plot(run.time[1:], run.predicted[1:], color=style.BLACK, linestyle=":", linewidth=0.9)
        panels[-1].set(
            xscale="log", xlabel="matches per team", ylabel="slope of R on θ", ylim=(0, 1.6), title="settling"
        )
        panels[-1].legend(loc="upper left", title="matches per team to 1 %", title_fontsize=7, alignment="left")
        return figure
