"""Slope at the centre of the exact map over (ν, σ); the rule of thumb beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.outcome import Tanh
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Phase:
    """Evidence of Figure 10: slopes of shape (σ, ν), the levels to draw, and (ν, σ) of simulated runs."""

    nu: Array
    sigma: Array
    slope: Array
    rule: Array
    levels: tuple[float, ...]
    runs: tuple[tuple[float, float], ...]


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> Phase:
    """Compute the map for every ν and σ."""
    nu, sigma = _geometric(figure.parameters["nu"]), _geometric(figure.parameters["sigma"])
    low, high = figure.parameters["theta"]
    slope = [
        [
            stationary(RatingSystem(Tanh(float(n))), Continuum(theta=(low, high), sigma=float(s))).centre_slope
            for n in nu
        ]
        for s in sigma
    ]
    return Phase(
        nu=nu,
        sigma=sigma,
        slope=np.array(slope),
        rule=1 / np.sqrt(1 + np.pi * np.multiply.outer(sigma, nu) ** 2),
        levels=tuple(figure.parameters["levels"]),
        runs=tuple((float(n), float(s)) for n, s in figure.parameters["runs"]),
    )


def _geometric(interval: Mapping[str, Any]) -> Array:
    return np.geomspace(interval["from"], interval["to"], interval["points"])


TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)


def draw(data: Phase) -> Figure:
    """Shades and levels of the slope, the limit of (B′), and the runs of other figures."""
    from matplotlib.lines import Line2D

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
        handles, labels = axes.get_legend_handles_labels()
        handles += [Line2D([], [], color=style.BLACK, linewidth=0.7, linestyle=line) for line in ("-", ":")]
        labels += ["slope of the map", "1/√(1 + πν²σ²)"]
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        return figure
