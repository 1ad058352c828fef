"""R − θ of Germany and Brazil against the spread they are given, simulated and computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged_under
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
        rows.append((sigma, *_stand_out(summary.settled - summary.theta)))
    some = next(iter(figure.studies.values()))
    lines, state = [], None
    for sigma in figure.parameters["sigma"]:
        league = required("league", some.league).model_copy(update={"germany_brazil_sigma": sigma}).build()
        still = stationary(some.system, league, start=None if state is None else state.rating)
        state = with_noise(still, similar=state)
        lines.append((sigma, *_stand_out(state.bias)))
    return Outliers(_columns(rows), _columns(lines))


def _columns(rows: Sequence[tuple[float, ...]]) -> Bias:
    return Bias(*(np.array(column) for column in zip(*rows)))


def _stand_out(bias: Array) -> tuple[float, float, float, float]:
    low, high = np.quantile(bias[:-2], [0.025, 0.975])
    return float(bias[-2]), float(bias[-1]), float(low), float(high)


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


@check(
    235, "Section 2, Figure 2b",
    quote="the German and Brazilian team are clear outliers, both are under-performing relative to their strengths",
    statement="Germany and Brazil end up below their strength, outside of the range of the other teams",
    criterion="R − θ of both below the others' 95 % band at the smallest σ and at the largest; depends if at one only",
)  # fmt: skip
def germany_and_brazil(evidence: Outliers) -> Finding:
    """Germany and Brazil are outliers, rated below their strength."""
    line = evidence.computed
    stands_out = (line.germany < line.low) & (line.brazil < line.low)
    shown = [int(np.argmin(np.abs(line.sigma - sigma))) for sigma in (0.25, 1.0)] + [-1]
    first = line.sigma[stands_out]
    threshold = f"both leave the 95 % band from σ ≈ {first.min():.2g} on" if first.size else "they never leave the band"
    return Finding(
        "; ".join(f"R − θ = {line.germany[k]:+.3f} and {line.brazil[k]:+.3f} at σ = {line.sigma[k]:.3g}" for k in shown)
        + f"; {threshold}",
        judged_under(bool(stands_out[0]), bool(stands_out[-1])),
        "With the spread of the other teams they do not stand out; the paper's spread is not published, so it is a "
        "parameter "
        "here.",
        on="the spread given to the two teams",
        figures=(11,),
    )
