"""R − θ of Germany and Brazil against the spread they are given, simulated and computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import simulated
from kinelo.studies.study import required
from kinelo.theory.limit import stationary, with_noise


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
