"""Pictures of what needs no simulation: exact against Taylor, and shrinkage over (ν, σ)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinelo.pictures import style
from kinelo.pictures.paper_leagues import STRENGTH

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def draw_closures(data: Mapping[str, xr.Dataset]) -> Figure:
    """Win probability over d, and R − θ over θ, by both closures."""
    both = data["closures"]
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.9)
        left, right = figure.subplots(1, 2)
        for colour, sigma in zip(style.SERIES, both.sigma.values):
            for closure, line in (("exact", "-"), ("taylor", "--")):
                chosen = both.sel(closure=closure, sigma=sigma)
                label = f"σ = {sigma:g}, {'exact' if closure == 'exact' else 'Taylor'}"
                left.plot(chosen.difference, chosen.win, color=colour, linestyle=line, label=label)
                right.plot(chosen.theta, chosen.bias, color=colour, linestyle=line, label=label)
        left.axhline(0.5, color=style.GREY, linewidth=0.6)
        left.set(
            xlabel="difference of mean strengths d (points)",
            ylabel="probability that the stronger wins",
            title=f"(a) expected result, ν = {both.attrs['nu']:g}",
        )
        right.axhline(0, color=style.GREY, linewidth=0.6)
        right.set(xlabel=STRENGTH, ylabel="rating − strength, R − θ (points)", title="(b) stationary map")
        left.legend(loc="lower right")
        return figure


def draw_phase_diagram(data: Mapping[str, xr.Dataset]) -> Figure:
    """Slope at the centre of the map over (ν, σ), with νσ = 1/√2."""
    phase = data["phase"]
    nu, sigma, levels = phase.nu.values, phase.sigma.values, phase.attrs["levels"]
    with style.journal_style():
        figure = style.new_figure(style.COLUMN * 1.45, 3.5)
        axes = figure.subplots()
        image = axes.pcolormesh(nu, sigma, phase.slope, cmap=style.DENSITY, vmin=0, vmax=1, shading="gouraud")
        inks = ["white" if level < 0.45 else style.BLACK for level in levels]
        lines = axes.contour(nu, sigma, phase.slope, levels=levels, colors=inks, linewidths=0.7)
        axes.contour(nu, sigma, phase.rule, levels=levels, colors=inks, linewidths=0.6, linestyles="dotted")
        axes.clabel(lines, fmt="%g", fontsize=6)
        limit = np.geomspace(nu[0], nu[-1], 200)
        axes.plot(limit, 1 / (math.sqrt(2) * limit), color=style.RED, linewidth=1.8, label="νσ = 1/√2, limit of (B′)")
        inside = [point for point in phase.attrs["runs"] if nu[0] <= point[0] and sigma[0] <= point[1]]
        axes.plot(
            *zip(*inside),
            "X",
            color=style.BLACK,
            markeredgecolor="white",
            markersize=7,
            label="simulated in Figures 4, 6",
        )
        axes.set(xscale="log", yscale="log", xlim=(nu[0], nu[-1]), ylim=(sigma[0], sigma[-1]))
        axes.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1, 2], labels=["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"])
        axes.set_yticks([0.1, 0.2, 0.5, 1, 2, 4], labels=["0.1", "0.2", "0.5", "1", "2", "4"])
        axes.minorticks_off()
        axes.set(xlabel="scale ν of the outcome function (per point)", ylabel="common spread σ (points)")
        figure.colorbar(image, ax=axes, label="slope of the map at its centre")
        figure.legend(loc="outside upper center", ncols=2)
        return figure
