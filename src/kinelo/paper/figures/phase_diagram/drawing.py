"""Slope at the centre of the map over (ν, σ), with νσ = 1/√2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.phase_diagram.evidence import Phase

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)


def draw(data: Phase) -> Figure:
    """Shades and levels of the slope, the limit of (B′), and the runs of other figures."""
    nu, sigma, levels = data.nu, data.sigma, data.levels
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.45, 3.5)
        axes = figure.subplots()
        image = axes.pcolormesh(nu, sigma, data.slope, cmap=style.DENSITY, vmin=0, vmax=1, shading="gouraud")
        inks = ["white" if level < 0.45 else style.BLACK for level in levels]
        lines = axes.contour(nu, sigma, data.slope, levels=levels, colors=inks, linewidths=0.7)
        axes.contour(nu, sigma, data.rule, levels=levels, colors=inks, linewidths=0.6, linestyles="dotted")
        axes.clabel(lines, fmt="%g", fontsize=6)
        limit = np.geomspace(nu[0], nu[-1], 200)
        axes.plot(limit, 1 / (math.sqrt(2) * limit), color=style.RED, linewidth=1.8, label="νσ = 1/√2, limit of (B′)")
        inside = [(n, s) for n, s in data.runs if nu[0] <= n <= nu[-1] and sigma[0] <= s <= sigma[-1]]
        axes.plot(
            *zip(*inside), "X", color=style.BLACK, markeredgecolor="white", markersize=7,
            label="simulated in Figures 4, 6",
        )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlim=(nu[0], nu[-1]), ylim=(sigma[0], sigma[-1]))
        axes.set_xticks(shown := [x for x in TICKS if nu[0] <= x <= nu[-1]], labels=[f"{x:g}" for x in shown])
        axes.set_yticks(shown := [x for x in TICKS if sigma[0] <= x <= sigma[-1]], labels=[f"{x:g}" for x in shown])
        axes.minorticks_off()
        axes.set(xlabel="scale ν of the outcome function (per point)", ylabel="common spread σ (points)")
        figure.colorbar(image, ax=axes, label="slope of the map at its centre")
        figure.legend(loc="outside upper center", ncols=2)
        return figure
