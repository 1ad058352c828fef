"""One column per σ: the late density in (θ, r) with both stationary maps, and the same seen from the exact map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinelo.paper.panels import RATING, STRENGTH
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kinelo.paper.figures.homogeneous_macro.evidence import Macro, MacroRun

CLOSE = 0.6
"""Half the height of the lower panels, in points."""


def draw(data: Macro) -> Figure:
    """Above the whole map, below what is left when the exact map is taken away."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 4.4)
        rows = figure.subplots(2, len(data.runs), sharex=True, sharey="row", squeeze=False, height_ratios=[3, 2])
        for above, below, (name, run) in zip(*rows, data.runs.items()):
            _map(above, run)
            above.set_title(f"{name}: slope {run.slope:.3f}")
            _close(below, run)
            below.set(xlabel=STRENGTH, xticks=[4, 6, 8, 10])
        rows[0, 0].set_ylabel(RATING)
        rows[1, 0].set_ylabel("r − exact map (points)")
        figure.legend(*rows[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure


def _map(axes: Axes, run: MacroRun) -> None:
    sd = np.sqrt(np.maximum(run.theta_r @ run.r**2 / run.theta_r.sum(axis=1) - run.mean_given_theta**2, 0))
    ends = np.array([run.theta[0], run.theta[-1]])
    low, high = run.mean_given_theta - sd - run.cell, run.mean_given_theta + sd + run.cell
    axes.fill_between(run.theta, low, high, color=style.GREY, alpha=0.35, linewidth=0, label="density")
    axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=0.9, label="R = θ")
    axes.plot(run.theta, run.exact_map, color=style.EXACT, linewidth=0.9, label="exact stationary map")
    axes.plot(run.theta, run.taylor_map, color=style.TAYLOR, linewidth=1.1, linestyle="--", label="Taylor map")


def _close(axes: Axes, run: MacroRun) -> None:
    offset = np.linspace(-CLOSE, CLOSE, 241)
    near = [np.interp(rest + offset, run.r, row, left=0, right=0) for rest, row in zip(run.exact_map, run.theta_r)]
    axes.pcolormesh(
        run.theta,
        offset,
        np.transpose(near),
        cmap="Greys",
        vmin=0,
        vmax=0.6 * float(run.theta_r.max()),
        rasterized=True,
    )
    axes.axhline(0, color=style.EXACT, linewidth=0.9)
    axes.plot(run.theta, run.taylor_map - run.exact_map, color=style.TAYLOR, linewidth=1.1, linestyle="--")
    axes.set_ylim(-CLOSE, CLOSE)
