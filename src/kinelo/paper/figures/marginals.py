"""Marginals at the end of each run; per cell of θ the mean and spread of r, per cell of σ the slope of r on θ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kinelo.model.validation import Array
from kinelo.paper.claim import EQUAL, Finding, check, judged, judged_print, judged_under, needed
from kinelo.paper.figure import FigureStudy
from kinelo.paper.figures.leagues import LeagueRun
from kinelo.paper.kinetic import Kinetic, conservation, continuum_of, given, stationary_of
from kinelo.paper.panels import SPREAD_LABEL, STRENGTH_LABEL
from kinelo.paper.summary import line_through
from kinelo.pictures import style
from kinelo.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class MarginalRun(Kinetic):
    """One domain at the end of its run, and its mean ratings at the start.

    ``map_given_theta`` is the computed map that it tends to, a mean over σ. ``growth`` is the largest density at each
    record over that at the start, ``allowed_growth`` the e^{Lt} that bounds it.
    """

    time: float
    theta: Array
    sigma: Array
    r: Array
    theta_r: Array
    sigma_r: Array
    start_given_theta: Array
    mean_given_theta: Array
    map_given_theta: Array
    sd_given_theta: Array
    slope_by_sigma: Array
    mean_rating: float
    growth: Array
    allowed_growth: Array


def prepare(figure: FigureStudy, runs: Mapping[str, xr.Dataset]) -> dict[str, MarginalRun]:
    """Take the marginals of every run."""
    return {name: _marginals(study, runs[name]) for name, study in figure.studies.items()}


def _marginals(study: Study, run: xr.Dataset) -> MarginalRun:
    end = run.isel(time=-1)
    theta, r = end.theta.values, end.r.values
    mean, sd = given(end.density_theta_r.values, r)
    peak = run.density.max(("theta", "sigma", "r")).values
    slopes = [line_through(theta, given(end.density.isel(sigma=k).values, r)[0])[0] for k in range(end.sizes["sigma"])]
    return MarginalRun(
        **vars(conservation(run)),
        time=float(end.time),
        theta=theta,
        sigma=end.sigma.values,
        r=r,
        theta_r=end.density_theta_r.values,
        sigma_r=end.density_sigma_r.values,
        start_given_theta=given(run.isel(time=0).density_theta_r.values, r)[0],
        mean_given_theta=mean,
        map_given_theta=_map(study, run),
        sd_given_theta=sd,
        slope_by_sigma=np.array(slopes),
        mean_rating=float(run.mean_rating.values[-1]),
        growth=peak / peak[0],
        allowed_growth=np.exp(study.system.outcome.steepest * run.time.values),
    )


def _map(study: Study, run: xr.Dataset) -> Array:
    """The stationary map at the cells of θ, averaged over σ."""
    teams = continuum_of(run)
    closure = study.solve.closure if study.solve is not None else "exact"
    rating = stationary_of(study.system, teams, closure).rating
    nodes, place = np.unique(teams.league.theta, return_inverse=True)
    return np.interp(run.theta.values, nodes, np.bincount(place, teams.mass * rating) / np.bincount(place, teams.mass))


def draw(data: Mapping[str, MarginalRun]) -> Figure:
    """Two panels for every run."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.75 * len(data))
        rows = figure.subplots(len(data), 2, squeeze=False)
        for (name, run), (left, right) in zip(data.items(), rows):
            _density(figure, left, run.theta, run.r, run.theta_r)
            ends = np.array([run.theta[0], run.theta[-1]])
            left.plot(ends, ends, color="white", linestyle="--", linewidth=0.8, label="r = θ")
            left.plot(run.theta, run.mean_given_theta, color=style.RED, linewidth=1.1, label="mean rating given θ")
            left.set(xlabel=STRENGTH_LABEL, ylabel="rating r (points)", title=f"{name}: density in (θ, r)")
            left.legend(loc="upper left", labelcolor="white")
            _density(figure, right, run.sigma, run.r, run.sigma_r)
            right.axhline(run.mean_rating, color="white", linestyle="--", linewidth=0.8, label="mean rating")
            right.set(xlabel=SPREAD_LABEL, ylabel="rating r (points)", title=f"{name}: density in (σ, r)")
            right.legend(loc="upper left", labelcolor="white")
        return figure


def _density(figure: Figure, axes: Axes, x: np.ndarray, r: np.ndarray, density: np.ndarray) -> None:
    ceiling = float(np.quantile(density, 0.995))
    image = axes.pcolormesh(x, r, density.T, cmap=style.DENSITY, vmin=0, vmax=ceiling, rasterized=True)
    figure.colorbar(image, ax=axes, label="density (per point²)", extend="max")


BROAD, NARROW = "[0, 10]", "[4, 10]"
INSIDE = (6.0, 8.0)
CONVERGED = 0.25
"""Mean ratings this near to θ, in points, have converged to it as far as one sees."""


@check(
    310, "Section 3, analysis, and Appendix",
    quote="the total mass is conserved … the mean value w.r.t. the rating is preserved in time",
    statement="the kinetic equation conserves mass and mean rating",
    criterion="largest change of mass and of mean rating below 1e-10",
)  # fmt: skip
def mass_and_mean(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Mass and mean rating are conserved."""
    runs = list(evidence.values())
    mass, mean = max(run.mass_error for run in runs), max(run.mean_error for run in runs)
    return Finding(
        f"largest change over {len(runs)} runs: mass {mass:.1e}, mean rating {mean:.1e}",
        judged(max(mass, mean) < 1e-10),
        "Exact for the scheme, not only in the limit of fine cells.",
        figures=(3,),
    )


@check(
    312, "Section 3, proof of Theorem 1",
    statement="‖f(t)‖∞ ≤ e^{Lt} ‖f⁰‖∞, L the Lipschitz constant of b",
    criterion="the largest density at no record above the bound by more than 1e-9 of it, on both domains",
)  # fmt: skip
def bounded_density(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The largest density against its bound, record by record."""
    runs = {name: needed(evidence, name) for name in (BROAD, NARROW)}
    return Finding(
        "; ".join(
            f"on {name} the largest density grows {run.growth[-1]:.3g}-fold by t = {run.time:g}, where e^{{Lt}} = "
            f"{run.allowed_growth[-1]:.3g}" for name, run in runs.items()
        ),
        judged(all(bool((run.growth <= run.allowed_growth * (1 + 1e-9)).all()) for run in runs.values())),
        "It holds with room to spare: L is the slope of b at 0, which few pairs of teams meet.",
        figures=(3,),
    )  # fmt: skip


@check(
    338, "Section 3, Figure 3, left",
    quote="ratings converge towards the mean strength for θ ∈ [6, 8]",
    statement="up to t = 5 the mean ratings of teams with θ in [6, 8] move towards their mean strength",
    criterion="root mean square distance within [6, 8] smaller than at the start, on both domains; depends if on "
    "one only",
)  # fmt: skip
def towards_strength_in_the_middle(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Mean rating given θ against θ within [6, 8], at the start and at the time of the figure."""
    runs = {name: needed(evidence, name) for name in (BROAD, NARROW)}
    pairs = {
        name: [_typical_inside(run, rating) for rating in (run.start_given_theta, run.mean_given_theta)]
        for name, run in runs.items()
    }
    return Finding(
        "root mean square distance of the mean rating from θ within [6, 8], at the start and at t = "
        f"{runs[NARROW].time:g}: " + "; ".join(f"{a:.3f} and {b:.3f} on {name}" for name, (a, b) in pairs.items()),
        judged_under(*(end < start for start, end in pairs.values())),
        "They move towards it. Whether they get there is the next statement.",
        on="the domain",
        figures=(3,),
    )


@check(
    340, "Section 3, Figure 3, left",
    quote="ratings converge towards the mean strength for θ ∈ [6, 8]",
    statement="at t = 5 the mean rating of teams with θ in [6, 8] is their mean strength",
    criterion=f"largest distance within [6, 8] below {CONVERGED:g} on both domains; depends if on one of them only",
)  # fmt: skip
def converge_in_the_middle(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Mean rating given θ against θ within [6, 8], at the time of the figure and in the limit."""
    runs = {name: needed(evidence, name) for name in (BROAD, NARROW)}
    off = {name: _largest_inside(run, run.mean_given_theta) for name, run in runs.items()}
    limit = {name: _largest_inside(run, run.map_given_theta) for name, run in runs.items()}
    return Finding(
        f"largest distance of the mean rating from θ within [6, 8], at t = {runs[NARROW].time:g} and on the computed "
        "map (t → ∞): " + "; ".join(f"{off[name]:.3f} and {limit[name]:.3f} on {name}" for name in runs),
        judged_under(*(distance < CONVERGED for distance in off.values())),
        "Two causes: at the time of the figure ratings are still on their way, and the map they tend to has a slope "
        "below 1. Around the middle of the domain it crosses R = θ; towards 6 and 8 it has left it. The middle of "
        "[0, 10] is 5.",
        on=f"the domain and what near means (here within {CONVERGED:g})",
        figures=(3,),
    )


@check(
    341, "Section 3, Figure 3, left",
    quote="but are blurred for smaller and larger means",
    statement="at t = 5 ratings given θ scatter more outside of [6, 8]",
    criterion="smaller mean standard deviation inside than outside, on both domains; depends if on one of them only",
)  # fmt: skip
def blurred_outside(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Standard deviation of r given θ, in and outside of [6, 8]."""
    wide, narrow = (_means(needed(evidence, name)) for name in (BROAD, NARROW))
    return Finding(
        f"mean standard deviation of r given θ, in and outside of [6, 8]: {narrow[0]:.3f} and {narrow[1]:.3f} on "
        f"{NARROW}; "
        f"{wide[0]:.3f} and {wide[1]:.3f} on {BROAD}",
        judged_under(wide[0] < wide[1], narrow[0] < narrow[1]),
        "Most clearly on [4, 10], of which [6, 8] is the middle; the middle of the stated [0, 10] is 5.",
        on="the domain",
        figures=(3,),
    )


@check(
    343, "Section 3, Figure 3, left", needs=("marginals", "leagues"),
    quote="We observe a similar over- and under-performance as in the microscopic simulations",
    statement="weak teams lie above r = θ and strong ones below it, in the kinetic equation and in set-up R2 alike",
    criterion="more than 95 % of teams further than 1 from the centre on [4, 10], and slope below 1 in R2 at both γ; "
    "depends if at one γ only",
)  # fmt: skip
def over_and_under_in_both(evidence: Mapping[str, MarginalRun], leagues: Mapping[str, LeagueRun]) -> Finding:
    """Signs of r − θ in the marginal, and the slope of R2."""
    run = needed(evidence, NARROW)
    side = run.theta - run.theta.mean()
    share = float(((run.mean_given_theta - run.theta) * side < 0)[np.abs(side) > 1].mean())
    small, large = needed(leagues, "R2"), needed(leagues, "R2, large γ")
    kinetic = share > 0.95
    return Finding(
        f"kinetic, {NARROW}: {share:.0%} of the cells of θ more than 1 from the centre; R2: slope "
        f"{small.slope:.4f} at γ = "
        f"{small.gamma:g}, {large.slope:.4f} at γ = {large.gamma:g}",
        judged_under(small.slope < 1, large.slope < 1) if kinetic else "does not hold",
        "The kinetic equation is the limit of small steps and has no rating noise: what it shows, simulations show at "
        "small γ. At large γ noise stretches the ratings and turns the picture round.",
        on="γ of the simulations, which the paper does not print",
        figures=(2, 3),
    )


@check(
    344, "Section 3, Figure 3, right",
    quote="The right plot illustrates the decrease of m₂,ᵣ in the direction θ",
    statement="the second moment of r about its mean falls along an axis of the figure: σ, as drawn, or θ, as written",
    criterion="it never rises by more than 1e-9 from one σ to the next, nor from one θ to the next; depends if "
    "along one",
)  # fmt: skip
def second_moment_along_axes(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The spread of r given σ, which the right plot shows, and given θ."""
    run = needed(evidence, NARROW)
    along_sigma = given(run.sigma_r, run.r)[1] ** 2
    along_theta = run.sd_given_theta**2 + (run.mean_given_theta - run.mean_rating) ** 2
    return Finding(
        f"on {NARROW} at t = {run.time:g}: from {along_sigma[0]:.3f} at the smallest σ to {along_sigma[-1]:.3f} at the "
        f"largest; {along_theta[0]:.3f} at the smallest θ, {along_theta.min():.3f} in the middle, "
        f"{along_theta[-1]:.3f} at the "
        "largest",
        judged_under(bool((np.diff(along_sigma) <= 1e-9).all()), bool((np.diff(along_theta) <= 1e-9).all())),
        "The plot has σ on its axis, and along σ ratings draw together. Along θ the second moment falls to the "
        "middle and "
        "rises again.",
        on="the axis that is meant: along σ, which is drawn, yes; along θ, no",
        figures=(3,),
    )


@check(
    345, "Section 3, Figure 3, right",
    quote="The larger the uncertainty σ, the less accurate the ratings",
    statement="the slope of ratings on strengths falls with σ",
    criterion="the slope never rises by more than 1e-9 from one σ to the next",
)  # fmt: skip
def less_accurate_with_spread(evidence: Mapping[str, MarginalRun]) -> Finding:
    """The larger σ, the flatter the ratings."""
    run = needed(evidence, NARROW)
    slope = run.slope_by_sigma
    return Finding(
        f"slope of r on θ at t = {run.time:g} on {NARROW}: {slope[0]:.4f} for the smallest σ, {slope[-1]:.4f} for the "
        "largest",
        judged(bool((np.diff(slope) <= 1e-9).all())),
        "Teams of large σ are pulled further towards the mean, at every σ on the grid.",
        figures=(3,),
    )


@check(
    346, "Section 3, Figure 3, right",
    quote="as all teams get a similar rating (around 7)",
    statement=f"at the largest σ the ratings of all teams are alike (slope below {EQUAL:g})",
    criterion=f"slope below {EQUAL:g} on both domains",
)  # fmt: skip
def similar_ratings(evidence: Mapping[str, MarginalRun]) -> Finding:
    """Alike would mean a slope near zero."""
    slopes = {name: float(needed(evidence, name).slope_by_sigma[-1]) for name in (BROAD, NARROW)}
    sigma = float(needed(evidence, NARROW).sigma[-1])
    return Finding(
        ", ".join(f"slope {slope:.4f} on {name}" for name, slope in slopes.items()) + f", at σ = {sigma:g}",
        judged(max(slopes.values()) < EQUAL),
        "More alike than teams of small σ, but a team stronger by a point is still rated higher by about half of one.",
        figures=(3,),
    )


@check(
    347, "Section 3, Figure 3, right",
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
        "The mean rating is conserved: uniform data on the printed [0, 10] keep 5; 7 belongs to [4, 10]. Both are run "
        "here.",
        figures=(3,),
    )


def _inside(run: MarginalRun) -> np.ndarray:
    return (run.theta >= INSIDE[0]) & (run.theta <= INSIDE[1])


def _largest_inside(run: MarginalRun, rating: np.ndarray) -> float:
    return float(np.abs(rating - run.theta)[_inside(run)].max())


def _typical_inside(run: MarginalRun, rating: np.ndarray) -> float:
    return float(np.sqrt(((rating - run.theta)[_inside(run)] ** 2).mean()))


def _means(run: MarginalRun) -> tuple[float, float]:
    inside = _inside(run)
    return float(run.sd_given_theta[inside].mean()), float(run.sd_given_theta[~inside].mean())
