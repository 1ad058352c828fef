"""Simulated ratings of homogeneous teams for several σ with the computed map, and the map as σ grows further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.figures.leagues import LeagueRun
from kinelo.paper.figures.step_scan import StepScan, below_one, steeper_from
from kinelo.paper.summary import (
    ON_DIAGONAL,
    RATING_LABEL,
    STRENGTH_LABEL,
    Homogeneous,
    converges,
    homogeneous,
    homogeneous_league,
    ratings_with_map,
    with_error,
)
from kinelo.pictures import style
from kinelo.theory.limit import stationary
from kinelo.theory.teams import Continuum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


EQUAL = 0.1
"""Slope of the map at which the σ that makes teams about equal is given."""


@dataclass(frozen=True)
class LargeSpread:
    """The computed map (γ → 0) for σ beyond those simulated: its slope, and the rating of the strongest team.

    ``equal_from`` is the σ at which the slope falls below a tenth, infinite if none of them gets there.
    """

    sigma: Array
    slope: Array
    end: Array
    equal_from: float


@dataclass(frozen=True)
class Micro:
    """Evidence of Figure 4."""

    runs: Mapping[str, Homogeneous]
    beyond: LargeSpread


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> Micro:
    """Summarise every run; compute what happens to the map as σ grows."""
    some = next(iter(figure.studies.values()))
    theta, sigma = homogeneous_league(some).theta, np.array(figure.parameters.get("beyond", [2.0, 8.0, 32.0]))
    states = [stationary(some.system, Continuum(theta=theta, sigma=float(one))) for one in sigma]
    slopes = np.array([one.slope for one in states])
    ends = np.array([float(one.rating_of(theta[1])) for one in states])

    def above(sigma: float) -> float:
        return stationary(some.system, Continuum(theta=theta, sigma=sigma)).slope - EQUAL

    # The σ at which the slope of the map is a tenth, below some σ where it is smaller.
    equal, equal_from = sigma[slopes < EQUAL], float("inf")
    if equal.size:
        from scipy.optimize import root_scalar

        until = float(equal.min())
        equal_from = float(root_scalar(above, bracket=(0.0, until), xtol=1e-4).root) if above(0.0) > 0 else 0.0
    beyond = LargeSpread(sigma, slopes, ends, equal_from)
    return Micro({name: homogeneous(study, runs[name]) for name, study in figure.studies.items()}, beyond)


def draw(data: Micro) -> Figure:
    """All columns on one scale."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.9)
        rows = figure.subplots(2, len(data.runs), sharex=True, sharey="row", squeeze=False, height_ratios=[3, 2])
        for above, below, run in zip(*rows, data.runs.values()):
            ratings_with_map(above, run)
            above.set_title(f"σ = {run.common_sigma:g}\nslope {with_error(run)}")
            # Points (θ, R − computed), and the band in which 95 % of such means lie if the computed map is right.
            error = 1.96 * float(np.sqrt(np.mean(run.rating_sd**2) / run.realisations))
            band = {"color": style.GREY, "alpha": 0.25, "linewidth": 0, "label": "95 % of means"}
            below.fill_between(run.map_theta, -error, error, **band)
            below.axhline(0, color=style.EXACT, linewidth=1.2)
            rest = run.rating - np.interp(run.theta, run.map_theta, run.map_rating)
            below.scatter(run.theta, rest, s=3, color=style.BLUE, linewidth=0, zorder=2)
            below.set_xlabel(STRENGTH_LABEL)
        rows[0, 0].set_ylabel(RATING_LABEL)
        rows[1, 0].set_ylabel("R − computed (points)")
        rows[0, 0].legend(loc="upper left")
        rows[1, 0].legend(loc="upper left")
        return figure


@check(
    401, "§4, first sentence", needs=("leagues", "step_scan"),
    quote="Our microscopic computational results suggest that if all teams have the same player variance, then the "
    "ratings converge to the underlying mean team strength",
    statement="set-up R2, whose 198 teams vary about equally, is rated near its mean strengths",
    criterion=f"slope within {ON_DIAGONAL:g} of 1, simulated and computed as γ → 0",
)  # fmt: skip
def observed_in_r2(leagues: Mapping[str, LeagueRun], scan: StepScan) -> Finding:
    """What the authors saw: R2 lies on the diagonal as far as one sees."""
    run = needed(leagues, "R2")
    points = [point for line in scan.r2.values() for point in line.points[:1]]
    return Finding(
        f"{with_error(run)} at γ = {run.gamma:g}, "
        + "".join(f"{point.slope:.4f} ± {point.slope_error:.4f} at γ = {point.gamma:g}, " for point in points[:1])
        + f"{run.limit_slope:.4f} as γ → 0",
        judged(converges(run.slope, run.limit_slope)),
        "Right there, where νσ is 0.11; not in general, see the next statement.",
        figures=(2, 12),
    )


@check(
    402, "§4, theorem; Conclusion",
    quote="to show convergence of the rating r to the expected value θ",
    statement="for a common σ, (B′) granted, ratings converge to the mean strengths",
    criterion=f"slope of the map within {ON_DIAGONAL:g} of 1 as γ → 0, at ν = 0.5, σ = 1",
)  # fmt: skip
def ratings_converge_to_strength(evidence: Micro) -> Finding:
    """If (B') holds ratings converge to θ."""
    run = needed(evidence.runs, "σ = 1")
    return Finding(
        f"slope {run.limit_slope:.4f} as γ → 0 (simulated at γ = {run.gamma:g}: {with_error(run)}), "
        f"R(10) = {run.limit_end:.4f}, root mean square of R − θ {run.limit_bias:.3f}",
        judged(converges(run.limit_slope)),
        "The map shrinks by about 1/√(1 + πν²σ²), (B′) or not.",
        figures=(4, 10),
    )


@check(
    504, "Conclusion",
    quote="the microscopic simulations showed that a large σ has a strong impact on the ratings",
    statement="the slope of R on θ falls as σ grows, to well below 1",
    criterion="simulated slopes fall with σ, to below 0.75 at σ = 2",
)  # fmt: skip
def strong_impact(evidence: Micro) -> Finding:
    """Slopes of the simulations of Figure 4."""
    runs = sorted(evidence.runs.values(), key=lambda run: run.common_sigma)
    slopes = [run.slope for run in runs]
    return Finding(
        ", ".join(f"{with_error(run)} at σ = {run.common_sigma:g}" for run in runs),
        judged(slopes == sorted(slopes, reverse=True) and slopes[-1] < 0.75),
        "",
        figures=(4,),
    )


@check(
    430, "§4, Figures 4 and 5",
    quote="If the variance σ is large, all teams are rated equally, in particular the ratings converge to 7 for all "
    "values of θ",
    statement="for large σ all teams are rated 7",
    criterion="the strongest team within 0.3 of 7, 5 % of the axis, at σ = 2 and at the largest σ; depends if at one",
)  # fmt: skip
def all_equal_for_large_spread(evidence: Micro) -> Finding:
    """The limit of large σ, and the values the paper shows."""
    run, beyond = needed(evidence.runs, "σ = 2"), evidence.beyond
    threshold = (
        f"slope {EQUAL:g} is reached at σ = {beyond.equal_from:.2f}"
        if beyond.equal_from < np.inf
        else f"the slope stays above {EQUAL:g} in all"
    )
    return Finding(
        f"simulated slope {with_error(run)} at σ = {run.common_sigma:g}; computed, γ → 0: "
        + ", ".join(f"R(10) = {beyond.end[k]:.3f} at σ = {beyond.sigma[k]:g}" for k in (0, -1)),
        judged_under(abs(run.limit_end - 7) < WITHIN, bool(abs(beyond.end[-1] - 7) < WITHIN)),
        "",
        on="how large σ is: true in the limit, not in the figures",
        figures=(4, 5),
        more="The slope tends to 0 like 1/(√π νσ): "
        + ", ".join(f"{s:.3f} at σ = {x:g}" for x, s in zip(beyond.sigma[::2], beyond.slope[::2]))
        + f"; {threshold}.",
    )


WITHIN = 0.3
"""Points within which ratings count as equal: 5 % of the axis of the figures. With θ within 3 of 7 it is slope 0.1."""


@check(
    431, "§4, Figures 4 and 5",
    quote="in expectation weaker teams are over-performing and stronger teams under-performing",
    statement="weaker teams end up rated above their strength, stronger ones below it",
    criterion="true of over 95 % of teams more than 1 from the centre, at every σ > 0",
)  # fmt: skip
def weak_over_strong_under(evidence: Micro) -> Finding:
    """Weak teams lie above R = θ and strong ones below."""
    shares = {}
    for name, run in evidence.runs.items():
        if run.common_sigma > 0:
            bias, side = run.settled - run.theta, np.sign(run.theta - run.theta.mean())
            outer = np.abs(run.theta - run.theta.mean()) > 1
            shares[name] = float((bias * side < 0)[outer].mean())
    return Finding(
        "true of " + ", ".join(f"{share:.0%} at {name}" for name, share in shares.items()),
        judged(min(shares.values()) > 0.95),
        "§2 uses the words the other way round.",
        figures=(4, 7),
    )


@check(
    432, "§4, Figures 4 and 5", needs=("leagues", "step_scan"),
    quote="We see a similar effect already in our first microscopic simulations",
    statement="weaker teams are rated above their strength and stronger ones below it in set-ups R1 and R2 as well",
    criterion="slope below 1 by two standard errors in both; depends if in one",
)  # fmt: skip
def effect_in_first_simulations(leagues: Mapping[str, LeagueRun], scan: StepScan) -> Finding:
    """The slopes of both panels of Figure 2."""
    runs = [needed(leagues, name) for name in ("R1", "R2")]
    shown = [below_one(run) for run in runs]
    return Finding(
        f"slope {with_error(runs[0])} in R1, {with_error(runs[1])} in R2, at γ = {runs[0].gamma:g}",
        judged_under(*shown),
        "",
        on=f"the set-up: true of {'R1' if shown[0] else 'R2'}, not of {'R2' if shown[0] else 'R1'}",
        figures=(2, 12),
        more=f"In R2 for γ under {steeper_from(scan)}.",
    )
