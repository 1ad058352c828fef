"""What the paper says about the marginals of the kinetic equation."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import EQUAL, Finding, check, judged, judged_twice, needed
from kinelo.paper.figures.marginals.evidence import MarginalRun, Marginals

NEEDS = ("marginals",)
WIDE, NARROW = "[0, 10]", "[4, 10]"
INSIDE = (6.0, 8.0)
CONVERGED = 0.25
"""Mean ratings this near to θ, in points, have converged to it as far as one sees."""


@check(
    310, "Section 3, analysis, and Appendix", needs=NEEDS,
    quote="the total mass is conserved … the mean value w.r.t. the rating is preserved in time",
    statement="the kinetic equation conserves mass and mean rating",
)  # fmt: skip
def mass_and_mean(evidence: Marginals) -> Finding:
    """Mass and mean rating are conserved."""
    runs = list(evidence.runs.values())
    mass, mean = max(run.mass_error for run in runs), max(run.mean_error for run in runs)
    return Finding(
        f"largest change over {len(runs)} runs: mass {mass:.1e}, mean rating {mean:.1e}",
        judged(max(mass, mean) < 1e-10),
        "Exact for the scheme, not only in the limit of fine cells.",
        figures=(3,),
    )


@check(
    340, "Section 3, Figure 3, left", needs=NEEDS,
    quote="ratings converge towards the mean strength for θ ∈ [6, 8]",
    statement="at t = 5 the mean rating of teams with θ in [6, 8] is their mean strength",
)  # fmt: skip
def converge_in_the_middle(evidence: Marginals) -> Finding:
    """Mean rating given θ against θ, in and outside of [6, 8]."""
    wide, narrow = needed(evidence.runs, WIDE), needed(evidence.runs, NARROW)
    off = {
        name: _largest(run, np.abs(run.mean_given_theta - run.theta)) for name, run in ((WIDE, wide), (NARROW, narrow))
    }
    return Finding(
        f"largest distance of the mean rating from θ, in and outside of [6, 8], at t = {narrow.time:g}: "
        + "; ".join(f"{inside:.3f} and {outside:.3f} on {name}" for name, (inside, outside) in off.items()),
        judged_twice(off[WIDE][0] < CONVERGED, off[NARROW][0] < CONVERGED),
        "Around the middle of the domain the map crosses R = θ, whatever σ, so that ratings there are near strengths; "
        "towards 6 and 8 they already leave it, on a map of slope below 1. The middle of [0, 10] is 5.",
        on=f"the domain and what near means (here within {CONVERGED:g})",
        figures=(3,),
    )


@check(
    341, "Section 3, Figure 3, left", needs=NEEDS,
    quote="but are blurred for smaller and larger means",
    statement="at t = 5 ratings given θ scatter more outside of [6, 8]",
)  # fmt: skip
def blurred_outside(evidence: Marginals) -> Finding:
    """Standard deviation of r given θ, in and outside of [6, 8]."""
    wide, narrow = (_means(needed(evidence.runs, name)) for name in (WIDE, NARROW))
    return Finding(
        f"mean standard deviation of r given θ, in and outside of [6, 8]: {narrow[0]:.3f} and {narrow[1]:.3f} on "
        f"{NARROW}; "
        f"{wide[0]:.3f} and {wide[1]:.3f} on {WIDE}",
        judged_twice(wide[0] < 0.8 * wide[1], narrow[0] < 0.8 * narrow[1]),
        "[6, 8] is the middle of [4, 10], not of the stated [0, 10], whose middle is 5.",
        on="the domain: read as [4, 10]",
        figures=(3,),
    )


@check(
    345, "Section 3, Figure 3, right", needs=NEEDS,
    quote="The larger the uncertainty σ, the less accurate the ratings",
    statement="the slope of ratings on strengths falls with σ",
)  # fmt: skip
def less_accurate_with_spread(evidence: Marginals) -> Finding:
    """The larger σ, the flatter the ratings."""
    run = needed(evidence.runs, NARROW)
    slope = run.slope_by_sigma
    return Finding(
        f"slope of r on θ at t = {run.time:g} on {NARROW}: {slope[0]:.4f} for the smallest σ, {slope[-1]:.4f} for the "
        "largest",
        judged(bool((np.diff(slope) <= 1e-9).all())),
        "Teams of large σ are pulled further towards the mean, at every σ on the grid.",
        figures=(3,),
    )


@check(
    346, "Section 3, Figure 3, right", needs=NEEDS,
    quote="as all teams get a similar rating (around 7)",
    statement=f"at the largest σ the ratings of all teams are alike (slope below {EQUAL:g})",
)  # fmt: skip
def similar_ratings(evidence: Marginals) -> Finding:
    """Alike would mean a slope near zero."""
    slopes = {name: float(needed(evidence.runs, name).slope_by_sigma[-1]) for name in (WIDE, NARROW)}
    sigma = float(needed(evidence.runs, NARROW).sigma[-1])
    return Finding(
        ", ".join(f"slope {slope:.4f} on {name}" for name, slope in slopes.items()) + f", at σ = {sigma:g}",
        judged(max(slopes.values()) < EQUAL),
        "More alike than teams of small σ, but a team stronger by a point is still rated higher by about half of one.",
        figures=(3,),
    )


@check(
    347, "Section 3, Figure 3, right", needs=NEEDS,
    quote="a similar rating (around 7)",
    statement="ratings lie around 7; the domain printed above the figure is Ω = [0, 10] × [0, 10] × [0, 1]",
)  # fmt: skip
def around_seven(evidence: Marginals) -> Finding:
    """All teams get a similar rating, around 7."""
    means = {name: needed(evidence.runs, name).mean_rating for name in (WIDE, NARROW)}
    return Finding(
        ", ".join(f"mean rating {value:.6f} on {name}" for name, value in means.items()),
        judged_twice(abs(means[WIDE] - 7) < 0.1, abs(means[NARROW] - 7) < 0.1),
        "The mean rating is conserved: uniform data on [0, 10] keep 5; 7 belongs to [4, 10]. Both are run here.",
        on="the domain: not on the printed one, but on [4, 10]",
        figures=(3,),
    )


def _inside(run: MarginalRun) -> np.ndarray:
    return (run.theta >= INSIDE[0]) & (run.theta <= INSIDE[1])


def _largest(run: MarginalRun, values: np.ndarray) -> tuple[float, float]:
    inside = _inside(run)
    return float(values[inside].max()), float(values[~inside].max())


def _means(run: MarginalRun) -> tuple[float, float]:
    inside = _inside(run)
    return float(run.sd_given_theta[inside].mean()), float(run.sd_given_theta[~inside].mean())


CHECKS = (
    mass_and_mean, converge_in_the_middle, blurred_outside, less_accurate_with_spread, similar_ratings, around_seven,
)  # fmt: skip
