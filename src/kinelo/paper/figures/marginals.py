"""Marginals at the end of each run by the paper's scheme; without cells, mean and spread of r given θ and σ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, MissingEvidence, check, judged, judged_print, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.figures.leagues import LeagueRun
from kinelo.paper.figures.step_scan import StepScan, below_one, steeper_from
from kinelo.paper.kinetic import (
    Interval,
    Kinetic,
    Rule,
    cloud_of,
    conservation,
    continuum_of,
    follow,
    given,
    nodes,
    stationary_of,
    uniform_domain,
    watched,
)
from kinelo.paper.summary import SPREAD_LABEL, STRENGTH_LABEL, line_through, with_error
from kinelo.pictures import style
from kinelo.presentation import significant
from kinelo.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class MarginalRun(Kinetic):
    """One domain at the end of its run: densities by the paper's scheme, what is measured of them without cells.

    ``strengths`` and ``spreads`` are where the cell-free means, second moments and slopes are taken; ``masses`` of
    teams at ``strengths`` weigh every mean over θ, none at both ends. ``map_given_theta`` is the computed map that
    ratings tend to, a mean over σ, and ``limit_slope`` its slope at the largest σ. ``growth`` is the largest density
    at each record over that at the start, ``allowed_growth`` the e^{Lt} that bounds it. ``scheme_sd`` is the mean
    standard deviation of r given θ on the cells.
    """

    time: float
    theta: Array
    sigma: Array
    r: Array
    theta_r: Array
    sigma_r: Array
    scheme_sd: float
    strengths: Array
    masses: Array
    start_given_theta: Array
    mean_given_theta: Array
    map_given_theta: Array
    sd_given_theta: Array
    spreads: Array
    slope_by_sigma: Array
    moment_by_sigma: Array
    limit_slope: float
    mean_rating: float
    growth: Array
    allowed_growth: Array


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> dict[str, MarginalRun]:
    """Take the marginals of every run, and follow its teams without cells."""
    return {name: _marginals(study, runs[name]) for name, study in figure.studies.items()}


def _marginals(study: Study, run: xr.Dataset) -> MarginalRun:
    end, closure = run.isel(time=-1), study.solve.closure if study.solve is not None else "exact"
    domain = uniform_domain(study, run)
    strengths, masses = _strengths(domain[0])
    state = stationary_of(study.system, continuum_of(run), closure)
    along, sigmas, across = nodes(domain[0], NODES), nodes(domain[1], SIGMA_NODES), nodes(domain[2], NODES)
    # Means and second moments given θ, slopes and second moments given σ, growth of the density, without cells.
    spreads = np.linspace(*domain[1], SPREADS)
    teams = cloud_of(along, sigmas, across)
    by_theta = cloud_of((strengths, np.ones(strengths.size)), sigmas, across)
    by_sigma = cloud_of(along, (spreads, np.ones(SPREADS)), across)
    cloud, times = watched(teams, by_theta, by_sigma), run.time.values
    paths = follow(study.system.outcome, cloud, times, closure, density=True)
    at_theta, at_sigma = np.split(paths.rating[-1, teams.mass.size :], [by_theta.mass.size])
    given_theta, given_sigma = at_theta.reshape(strengths.size, -1), at_sigma.reshape(NODES, SPREADS, NODES)
    weight = np.multiply.outer(sigmas[1], across[1]).ravel()
    mean, lever = given_theta @ weight, along[1] * (along[0] - along[1] @ along[0])
    centre = float(across[1] @ across[0])
    return MarginalRun(
        **vars(conservation(run)),
        time=float(end.time),
        theta=end.theta.values,
        sigma=end.sigma.values,
        r=end.r.values,
        theta_r=end.density_theta_r.values,
        sigma_r=end.density_sigma_r.values,
        scheme_sd=float(given(end.density_theta_r.values, end.r.values)[1].mean()),
        start_given_theta=np.full(strengths.size, centre),
        mean_given_theta=mean,
        sd_given_theta=np.sqrt(np.maximum(given_theta**2 @ weight - mean**2, 0.0)),
        spreads=spreads,
        slope_by_sigma=lever @ (given_sigma @ across[1]) / (lever @ along[0]),
        moment_by_sigma=along[1] @ ((given_sigma - centre) ** 2 @ across[1]),
        growth=np.exp(paths.log_growth.max(axis=1)),
        strengths=strengths,
        masses=masses,
        map_given_theta=sigmas[1] @ [state.rating_of(strengths, float(sigma)) for sigma in sigmas[0]],
        limit_slope=line_through(strengths, state.rating_of(strengths, domain[1][1]), masses)[0],
        mean_rating=float(run.mean_rating.values[-1]),
        allowed_growth=np.exp(study.system.outcome.steepest * times),
    )


NODES, SIGMA_NODES, SPREADS = 24, 4, 6
"""Points along θ and r, and along σ; how many σ are looked at."""
INSIDE = (6.0, 8.0)
"""The strengths that the paper tells from smaller and larger ones."""


def _strengths(interval: Interval) -> Rule:
    """Where means given θ are taken, and masses for means over θ: no point on a border, both ends without mass."""
    low, high = interval
    borders = [low, *(border for border in INSIDE if low < border < high), high]
    points, masses = [np.array([low])], [np.zeros(1)]
    for piece in pairwise(borders):
        inner, mass = nodes(piece, NODES)
        points.append(inner)
        masses.append(mass * (piece[1] - piece[0]) / (high - low))
    return np.concatenate([*points, [high]]), np.concatenate([*masses, [0.0]])


def draw(data: Mapping[str, MarginalRun]) -> Figure:
    """Two panels for every run."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.75 * len(data))
        rows = figure.subplots(len(data), 2, squeeze=False)
        for (name, run), (left, right) in zip(data.items(), rows):
            _density(figure, left, run.theta, run.r, run.theta_r)
            ends = np.array([run.theta[0], run.theta[-1]])
            left.plot(ends, ends, color="white", linestyle="--", linewidth=0.8, label="r = θ")
            left.plot(run.strengths, run.mean_given_theta, color=style.RED, linewidth=1.1, label="mean rating given θ")
            left.set(xlabel=STRENGTH_LABEL, ylabel="rating r (points)", title=f"{name}: density in (θ, r)")
            left.legend(loc="upper left", labelcolor="white")
            _density(figure, right, run.sigma, run.r, run.sigma_r)
            right.axhline(run.mean_rating, color="white", linestyle="--", linewidth=0.8, label="mean rating")
            right.set(xlabel=SPREAD_LABEL, ylabel="rating r (points)", title=f"{name}: density in (σ, r)")
            right.legend(loc="upper left", labelcolor="white")
        return figure


def _density(figure: Figure, axes: Axes, x: np.ndarray, r: np.ndarray, density: np.ndarray) -> None:
    """Shades of the square root: a ridge and its foot are both seen, and nothing is cut off."""
    from matplotlib.colors import PowerNorm

    norm = PowerNorm(0.5, vmin=0, vmax=float(density.max()))
    image = axes.pcolormesh(x, r, density.T, cmap=style.DENSITY, norm=norm, rasterized=True)
    figure.colorbar(image, ax=axes, label="density (per point²)")


BROAD, NARROW = "[0, 10]", "[4, 10]"
SIMILAR = 1 / 3
"""Teams are rated alike where their ratings differ by less than a third of what their strengths do."""


@check(
    310, "§3, analysis, and Appendix",
    quote="the total mass is conserved … the mean value w.r.t. the rating is preserved in time",
    statement="the kinetic equation conserves mass and mean rating",
    criterion="both change by less than 1e-10",
)  # fmt: skip
def mass_and_mean(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Mass and mean rating are conserved."""
    runs = list(evidence.values())
    mass, mean = max(run.mass_error for run in runs), max(run.mean_error for run in runs)
    return Finding(
        f"mass by {mass:.1e}, mean rating by {mean:.1e} at most",
        judged(max(mass, mean) < 1e-10),
        "",
        figures=(3,),
    )


@check(
    312, "§3, proof of Theorem 1",
    statement="‖f(t)‖∞ ≤ e^{Lt} ‖f⁰‖∞, L the Lipschitz constant of b",
    criterion="never above the bound (by 1e-9 of it), on both domains",
)  # fmt: skip
def bounded_density(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The largest density against its bound, record by record."""
    runs = {name: needed(evidence, name) for name in (BROAD, NARROW)}
    return Finding(
        "the largest density grows "
        + ", ".join(f"{significant(run.growth[-1])}-fold on {name}" for name, run in runs.items())
        + f" by t = {runs[NARROW].time:g}, where e^{{Lt}} = {runs[NARROW].allowed_growth[-1]:.3g}",
        judged(all(bool((run.growth <= run.allowed_growth * (1 + 1e-9)).all()) for run in runs.values())),
        "",
        figures=(3,),
    )  # fmt: skip


@check(
    338, "§3, Figure 3, left",
    quote="ratings converge towards the mean strength for θ ∈ [6, 8]",
    statement="up to t = 5 the mean ratings of teams with θ in [6, 8] move towards their mean strength",
    criterion="their root mean square distance falls, on [4, 10]",
)  # fmt: skip
def towards_strength_in_the_middle(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Mean rating given θ against θ within [6, 8], at the start, at the time of the figure and in the limit."""
    run = needed(evidence, NARROW)
    start, now, limit = (
        math.sqrt(_mean(run, (rating - run.strengths) ** 2, _inside(run)))
        for rating in (run.start_given_theta, run.mean_given_theta, run.map_given_theta)
    )
    return Finding(
        f"{start:.3f} at first, {now:.3f} at t = {run.time:g}, {limit:.3f} on the computed map (t → ∞)",
        judged(now < start),
        "They stop short of it: the map has a slope below 1.",
        figures=(3,),
    )


@check(
    341, "§3, Figure 3, left",
    quote="but are blurred for smaller and larger means",
    statement="at t = 5 ratings given θ scatter more outside of [6, 8]",
    criterion="mean standard deviation of r given θ smaller inside than outside, on [4, 10]",
)  # fmt: skip
def blurred_outside(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Standard deviation of r given θ, in and outside of [6, 8]."""
    run = needed(evidence, NARROW)
    inside, scatter = _inside(run), run.sd_given_theta
    within, outside = _mean(run, scatter, inside), _mean(run, scatter, ~inside)
    return Finding(
        f"at t = {run.time:g}: {within:.3f} inside, {outside:.3f} outside",
        judged(within < outside),
        "",
        figures=(3,),
        more=f"Over all θ {_mean(run, scatter):.3f}; {run.scheme_sd:.3f} with the cells of the scheme.",
    )


@check(
    343, "§3, Figure 3, left", needs=("marginals", "leagues", "step_scan"),
    quote="We observe a similar over- and under-performance as in the microscopic simulations",
    statement="weak teams lie above r = θ and strong ones below it, in the kinetic equation and in Figure 2b alike",
    criterion="kinetic: over 95 % of teams more than 1 from the centre; slope below 1 by two standard errors in Figure "
    "2b, and in Figure 2a; depends if in one",
)  # fmt: skip
def over_and_under_in_both(
    evidence: Mapping[str, MarginalRun], leagues: Mapping[str, LeagueRun], scan: StepScan
) -> Finding:
    """Signs of r − θ in the marginal, and the slopes of R2, which is named, and of R1."""
    run, named, other = needed(evidence, NARROW), needed(leagues, "R2"), needed(leagues, "R1")
    side = run.strengths - _mean(run, run.strengths)
    share = _mean(run, (run.mean_given_theta - run.strengths) * side < 0, np.abs(side) > 1)
    alike = [share > 0.95 and below_one(one) for one in (named, other)]
    return Finding(
        f"kinetic: {share:.0%} on {NARROW}; at γ = {named.gamma:g}: slope {with_error(named)} in Figure 2b, "
        f"{with_error(other)} in Figure 2a",
        judged_under(*alike),
        "",
        on="the figure: "
        + (
            "2b is named, and alike; 2a is not"
            if alike[0]
            else "2b is named, and not alike; perhaps 2a was meant, which is"
        ),
        figures=(2, 3, 12),
        more=f"Figure 2b is alike only for γ under {steeper_from(scan)}, where it is not steeper, as §2 says it is. "
        "With the axes of Figure 2b swapped, both hold for those smaller γ.",
    )


@check(
    344, "§3, Figure 3, right",
    quote="The right plot illustrates the decrease of m₂,ᵣ in the direction θ",
    statement="the second moment of r about its mean falls along an axis of the figure: σ, as drawn, or θ, as written",
    criterion="it never rises (by 1e-6) along σ, nor along θ; depends if along one",
)  # fmt: skip
def second_moment_along_axes(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The spread of r given σ, which the right plot shows, and given θ."""
    run = needed(evidence, NARROW)
    along_sigma = run.moment_by_sigma
    along_theta = run.sd_given_theta**2 + (run.mean_given_theta - run.mean_rating) ** 2
    return Finding(
        f"{along_sigma[0]:.3f} at σ = {run.spreads[0]:g}, {along_sigma[-1]:.3f} at σ = {run.spreads[-1]:g}; "
        f"{along_theta[0]:.3f} at the smallest θ, {along_theta.min():.3f} in the middle, {along_theta[-1]:.3f} at the "
        f"largest ({NARROW}, t = {run.time:g})",
        judged_under(bool((np.diff(along_sigma) <= 1e-6).all()), bool((np.diff(along_theta) <= 1e-6).all())),
        "",
        on="the axis: along σ, which is drawn, yes; along θ, no",
        figures=(3,),
    )


@check(
    345, "§3, Figure 3, right",
    quote="The larger the uncertainty σ, the less accurate the ratings",
    statement="the slope of ratings on strengths falls with σ",
    criterion="it never rises (by 1e-6) from one σ to the next",
)  # fmt: skip
def less_accurate_with_spread(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The larger σ, the flatter the ratings."""
    run = needed(evidence, NARROW)
    slope = run.slope_by_sigma
    return Finding(
        f"{slope[0]:.4f} at σ = {run.spreads[0]:g}, {slope[-1]:.4f} at σ = {run.spreads[-1]:g} ({NARROW}, "
        f"t = {run.time:g})",
        judged(bool((np.diff(slope) <= 1e-6).all())),
        "",
        figures=(3,),
    )


@check(
    346, "§3, Figure 3, right",
    quote="as all teams get a similar rating (around 7)",
    statement="at the largest σ all teams get a similar rating",
    criterion="slope below 1/3 at t = 5",
)  # fmt: skip
def similar_ratings(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Similar would mean a small slope, at the time of the figure."""
    run = needed(evidence, NARROW)
    return Finding(
        f"{run.slope_by_sigma[-1]:.3f} at σ = {run.spreads[-1]:g}, t = {run.time:g} ({run.limit_slope:.3f} on the "
        f"computed map, t → ∞); {run.slope_by_sigma[0]:.3f} at σ = {run.spreads[0]:g}",
        judged(bool(run.slope_by_sigma[-1] < SIMILAR)),
        "At t = 5 nobody has finished: ratings move further apart later on.",
        figures=(3,),
    )


@check(
    347, "§3, Figure 3, right",
    quote="a similar rating (around 7)",
    statement="ratings lie around 7; the domain printed above the figure is Ω = [0, 10] × [0, 10] × [0, 1]",
    criterion="mean rating within 0.1 of 7 on the printed domain",
)  # fmt: skip
def around_seven(evidence: Mapping[str, MarginalRun]) -> Finding:
    """All teams get a similar rating, around 7."""
    means = {name: needed(evidence, name).mean_rating for name in (BROAD, NARROW)}
    return Finding(
        ", ".join(f"mean rating {value:.6f} on {name}" for name, value in means.items()),
        judged_print(abs(means[BROAD] - 7) < 0.1),
        "The mean rating is conserved; 7 belongs to [4, 10].",
        figures=(3,),
    )


def _inside(run: MarginalRun) -> np.ndarray:
    return (run.strengths > INSIDE[0]) & (run.strengths < INSIDE[1])


def _mean(run: MarginalRun, values: np.ndarray, which: np.ndarray | slice = slice(None)) -> float:
    """Mean over teams: over all θ, or over some of them."""
    if not run.masses[which].any():
        raise MissingEvidence("there are no teams of such strengths")
    return float(np.average(values[which], weights=run.masses[which]))
