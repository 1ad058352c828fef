"""The law of a rating after many games against one adversary, and its median."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from scipy.stats import ks_2samp

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SOURCE = "Avdeev 2014, abstract"
SAME, OTHER, BETTER = "same skill", "same skill, other start", "better by 1"
LEVEL = 1e-3
"""Chance with which two samples of one law are called different."""


@dataclass(frozen=True)
class OneAdversaryEvidence:
    """Ratings of the first player in the end: equal skill from two starts, and better by 1; skills of the first."""

    same: Array
    other: Array
    better: Array
    skill: float


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> OneAdversaryEvidence:
    """Take the last ratings of the first player."""
    same, other, better = (runs[name].rating.isel(time=-1, team=0).values for name in (SAME, OTHER, BETTER))
    return OneAdversaryEvidence(same, other, better, float(figure.studies[BETTER].strengths.theta[0]))


def median(sample: Array) -> tuple[float, float]:
    """The median and its standard error, from the order statistics one standard deviation of a count around it."""
    ordered = np.sort(sample)
    middle, away = ordered.size / 2, math.sqrt(ordered.size) / 2
    low, high = ordered[int(middle - away)], ordered[int(middle + away)]
    return float(np.median(ordered)), float(max(high - low, 1e-12) / 2)


def draw(data: OneAdversaryEvidence) -> Figure:
    """Two histograms."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.0)
        panels = figure.subplots(1, 2, sharey=True)
        pairs = (("(a) the same skill", data.same, 0.0), ("(b) better by 1", data.better, data.skill))
        for axes, (title, sample, skill) in zip(panels, pairs):
            axes.hist(sample, bins=80, density=True, color=style.SERIES[0], alpha=0.6, linewidth=0)
            axes.axvline(np.median(sample), color=style.SERIES[1], label=f"median {np.median(sample):.3f}")
            axes.axvline(skill, color=style.GREY, linestyle="--", linewidth=0.9, label=f"skill {skill:g}")
            axes.set(xlabel="rating of the first", title=title)
            axes.legend()
        panels[0].set_ylabel("density")
        return figure


@check(
    12, SOURCE, statement="the rating has a stationary distribution, which the start does not change",
    criterion=f"a Kolmogorov–Smirnov test of two starts does not differ at the level {LEVEL:g}",
)  # fmt: skip
def stationary_law(evidence: OneAdversaryEvidence) -> Finding:
    """Two starts compared."""
    distance, chance = np.asarray(ks_2samp(evidence.same, evidence.other)).tolist()
    return Finding(
        f"largest distance of the two distribution functions {distance:.4f} (p = {chance:.2f})",
        judged(bool(chance > LEVEL)),
        "Asked here of one step, below those for which the source needs assumptions.",
        figures=(5,),
    )


@check(
    13, SOURCE, statement="for players of the same skill the median of the rating is the mean of both",
    criterion="median within 3 standard errors of 0, where both ratings add up to 0",
)  # fmt: skip
def median_is_the_middle(evidence: OneAdversaryEvidence) -> Finding:
    """The median of equals, and beside it that of a better player."""
    value, error = median(evidence.same)
    better, better_error = median(evidence.better)
    return Finding(
        f"median {value:+.4f} ± {error:.4f}; of the player who is better by 1: {better:.4f} ± {better_error:.4f}, mean "
        f"{evidence.better.mean():.4f}, skill {evidence.skill:g}",
        judged(abs(value) < 3 * error),
        "The abstract says that the median was found, not its value: the middle follows from symmetry. For unequal "
        "players median and mean lie beyond the skill, because noise stretches.",
        figures=(5,),
    )
