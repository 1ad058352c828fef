"""The figure on the scale ν: ratings of homogeneous teams for several ν, and how fast their slope on strengths settles.

Of the early runs the slope over time is drawn beside the one that relaxation predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.summary import (
    ON_DIAGONAL,
    RATING_LABEL,
    STRENGTH_LABEL,
    Homogeneous,
    converges,
    homogeneous,
    line_through,
    ratings_with_map,
    scale_of,
    with_error,
)
from kinelo.pictures import style
from kinelo.theory.relaxation import relaxation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EARLY = "early, "


@dataclass(frozen=True)
class EarlyRun:
    """Slope of R on θ while the ratings settle, simulated and predicted; matches per team until near its end."""

    nu: float
    time: Array
    slope: Array
    predicted: Array
    matches_to_ten_percent: float
    measured_to_ten_percent: float


@dataclass(frozen=True)
class ScaleEvidence:
    """Evidence of Figure 6."""

    final: Mapping[str, Homogeneous]
    early: Mapping[str, EarlyRun]


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> ScaleEvidence:
    """Summarise the long runs, and follow the early ones."""
    runs_of = {name: homogeneous(study, runs[name]) for name, study in figure.studies.items()}
    early = {}
    for name, study in figure.studies.items():
        if not name.startswith(EARLY):
            continue
        run, end = runs[name], runs_of[name].computed_slope
        mean = run.rating.mean("realisation").transpose("time", "team").values
        time, slope = run.time.values, np.array([line_through(run.theta.values, rating)[0] for rating in mean])
        settling = relaxation(study.system, study.strengths)
        # When the slope first reaches nine tenths of its final value, between two records.
        reached, measured = np.flatnonzero(slope >= 0.9 * end), float("inf")
        if reached.size:
            k = max(int(reached[0]), 1)
            part = (0.9 * end - slope[k - 1]) / (slope[k] - slope[k - 1])
            measured = float(time[k - 1] + part * (time[k] - time[k - 1]))
        early[name] = EarlyRun(
            nu=scale_of(study),
            time=time,
            slope=slope,
            predicted=end * -np.expm1(-study.system.step * settling.gap * time),
            matches_to_ten_percent=settling.matches_per_team(0.1),
            measured_to_ten_percent=measured,
        )
    return ScaleEvidence({name: run for name, run in runs_of.items() if name not in early}, early)


def draw(data: ScaleEvidence) -> Figure:
    """The panels of ν on one scale, and time beside them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.8)
        panels = figure.subplots(1, len(data.final) + 1, width_ratios=[1] * len(data.final) + [1.35])
        low = min(float(run.rating.min()) for run in data.final.values())
        high = max(float(run.rating.max()) for run in data.final.values())
        for axes, (name, run) in zip(panels, data.final.items()):
            ratings_with_map(axes, run)
            axes.set_title(f"{name}\nslope {with_error(run)}")
            axes.set(xlabel=STRENGTH_LABEL, ylim=(min(low, 4) - 0.2, max(high, 10) + 0.2))
        panels[0].set_ylabel(RATING_LABEL)
        panels[0].legend(loc="upper left")
        for colour, run in zip(style.SERIES, data.early.values()):
            label = f"ν = {run.nu:g}: {run.matches_to_ten_percent:,.0f}, {run.measured_to_ten_percent:,.0f}"
            panels[-1].plot(run.time[1:], run.slope[1:], color=colour, linewidth=1.0, label=label)
            panels[-1].plot(run.time[1:], run.predicted[1:], color=style.BLACK, linestyle=":", linewidth=0.9)
        panels[-1].set(
            xscale="log", xlabel="matches per team", ylabel="slope of R on θ", ylim=(0, 1.8), title="settling"
        )
        panels[-1].legend(
            loc="upper left",
            title="matches per team to 10 %,\ncomputed and simulated",
            title_fontsize=7,
            alignment="left",
        )
        return figure


HORIZONTAL = 0.2
"""A line that rises by less than a fifth, 11°, is almost horizontal."""


@check(
    440, "§4, Figure 6",
    quote="For ν = 1 all expected values θ ∈ [4, 10] converge to 7 and we get an almost horizontal line",
    statement="for ν = 1, σ = 2 the line of the ratings is almost horizontal",
    criterion=f"slope of the map below {HORIZONTAL:g} (11°) as γ → 0",
)  # fmt: skip
def all_to_seven_at_nu_one(evidence: ScaleEvidence) -> Finding:
    """ν = 1, σ = 2: all ratings converge to 7."""
    run = needed(evidence.final, "ν = 1")
    return Finding(
        f"R(10) = {run.limit_end:.4f}, slope {run.limit_slope:.4f}, "
        f"{np.degrees(np.arctan(run.limit_slope)):.0f}° (computed, γ → 0); simulated at γ = {run.gamma:g}: "
        f"{with_error(run)}",
        judged(run.limit_slope < HORIZONTAL),
        "",
        figures=(6,),
    )


@check(
    441, "§4, Figure 6",
    quote="If we choose ν = 0.1 we get the desired diagonal θ = r as time increases, as in the case ν = 0.01",
    statement=f"for ν = 0.1 and ν = 0.01 the slope is 1 (within {ON_DIAGONAL:g})",
    criterion=f"slope of the map within {ON_DIAGONAL:g} of 1 as γ → 0; depends if at one ν",
)  # fmt: skip
def diagonal_for_small_nu(evidence: ScaleEvidence) -> Finding:
    """ν = 0.1 and 0.01 give the diagonal."""
    tenth, hundredth = needed(evidence.final, "ν = 0.1"), needed(evidence.final, "ν = 0.01")
    return Finding(
        f"slope {tenth.limit_slope:.4f} and {hundredth.limit_slope:.4f} as γ → 0; simulated at γ = {tenth.gamma:g} "
        f"{with_error(tenth)} and {with_error(hundredth)}",
        judged_under(converges(tenth.limit_slope), converges(hundredth.limit_slope)),
        "",
        more=f"The price is noise: a variance of about γ/2ν = {hundredth.gamma / 0.02:.2g} at ν = 0.01.",
        on=f"how close is meant: {100 * abs(1 - tenth.limit_slope):.1f} % off at ν = 0.1, "
        f"{100 * abs(1 - hundredth.limit_slope):.1f} % at ν = 0.01",
        figures=(6,),
    )


@check(
    503, "Conclusion",
    quote="a large ν leads to the loss of convergence of r→θ",
    statement="the larger ν, the further ratings end from strengths",
    criterion="|1 − slope| grows with ν as γ → 0, and is above 0.25 at ν = 1, also simulated",
)  # fmt: skip
def large_nu_loses(evidence: ScaleEvidence) -> Finding:
    """Slopes over ν at σ = 2."""
    runs = sorted(evidence.final.values(), key=lambda run: run.nu)
    last = runs[-1]
    off = [abs(1 - run.limit_slope) for run in runs]
    return Finding(
        f"slope at σ = {last.common_sigma:g}, γ → 0: "
        + ", ".join(f"{run.limit_slope:.4f} at ν = {run.nu:g}" for run in runs)
        + f"; simulated at ν = {last.nu:g}: {with_error(last)}",
        judged(off == sorted(off) and off[-1] > 0.25 and abs(1 - last.slope) > 0.25),
        "It is lost by degrees; (B′) is no threshold.",
        figures=(6, 10),
    )


@check(
    442, "§4, Figure 6, bottom right",
    quote="the smaller value of ν corresponds to a slower convergence towards the stationary state",
    statement="a smaller ν takes more matches to settle",
    criterion="matches to settle grow as ν falls, computed and measured",
)  # fmt: skip
def small_nu_is_slow(evidence: ScaleEvidence) -> Finding:
    """Smaller ν converges more slowly."""
    early = sorted(evidence.early.values(), key=lambda run: -run.nu)
    predicted, measured = ([getattr(run, name) for run in early] for name in _TIMES)
    return Finding(
        "matches per team to within 10 %: "
        + "; ".join(f"{m:,.0f} (computed {p:,.0f}) at ν = {run.nu:g}" for run, p, m in zip(early, predicted, measured)),
        judged(predicted == sorted(predicted) and measured == sorted(measured)),
        "",
        figures=(6,),
    )


_TIMES = ("matches_to_ten_percent", "measured_to_ten_percent")
