"""R − θ of Germany and Brazil against the spread they are given, simulated and computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import simulated
from kinelo.pictures import style
from kinelo.studies.study import required
from kinelo.theory.limit import stationary, with_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bias:
    """R − θ of the two teams for each spread, and the range that holds 95 % of the others."""

    sigma: Array
    germany: Array
    brazil: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Outliers:
    """Evidence of Figure 11."""

    simulated: Bias
    computed: Bias


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Outliers:
    """Summarise the simulations and compute the line through them."""
    rows = []
    for name, study in figure.studies.items():
        summary = simulated(runs[name])
        sigma = required("league", study.league).model_dump()["germany_brazil_sigma"]
        rows.append((sigma, *stand_out(summary.settled - summary.theta)))
    some = next(iter(figure.studies.values()))
    lines, state = [], None
    for sigma in figure.parameters["sigma"]:
        league = required("league", some.league).model_copy(update={"germany_brazil_sigma": sigma}).build()
        still = stationary(some.system, league, start=None if state is None else state.rating)
        state = with_noise(still, similar=state)
        lines.append((sigma, *stand_out(state.bias)))
    return Outliers(_columns(rows), _columns(lines))


def _columns(rows: Sequence[tuple[float, ...]]) -> Bias:
    return Bias(*(np.array(column) for column in zip(*rows)))


def stand_out(bias: Array) -> tuple[float, float, float, float]:
    """R − θ of the last two teams, and the range that holds 95 % of the others."""
    low, high = np.quantile(bias[:-2], [0.025, 0.975])
    return float(bias[-2]), float(bias[-1]), float(low), float(high)


LABELLED = (1.0, 2.0)
"""Spreads at which the computed values are written beside the lines."""


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
        for name, colour, marker, offset in (
            ("germany", style.BLUE, "o", (-32, -9)), ("brazil", style.GREEN, "s", (6, 5)),
        ):  # fmt: skip
            axes.plot(line.sigma, getattr(line, name), color=colour, label=f"{name.title()}, computed")
            for sigma in LABELLED:
                value = float(np.interp(sigma, line.sigma, getattr(line, name)))
                axes.annotate(
                    f"{value:+.3f}".replace("-", "−"), (sigma, value), xytext=offset, textcoords="offset points",
                    fontsize=6.5, color=colour,
                )  # fmt: skip
            axes.plot(
                points.sigma, getattr(points, name), marker, color=colour, markersize=4.5, markerfacecolor="white",
                label=f"{name.title()}, simulated",
            )  # fmt: skip
        axes.set(
            xlabel="standard deviation σ given to the two teams (points)", ylabel="rating − strength, R − θ (points)"
        )
        axes.legend(loc="lower left")
        return figure
