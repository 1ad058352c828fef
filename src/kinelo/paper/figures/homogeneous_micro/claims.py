"""What the paper says about homogeneous teams."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import EQUAL, Finding, check, judged, judged_under, needed
from kinelo.paper.figures.homogeneous_micro.evidence import Micro

NEEDS = ("homogeneous_micro",)


@check(
    401, "Section 4, first sentence; theorem; conclusion", needs=NEEDS,
    quote="if all teams have the same player variance, then the ratings converge to the underlying mean team strength",
    statement="for a common σ, (B′) granted, ratings converge to the mean strengths",
    criterion="slope of the computed map within 0.01 of 1 as γ → 0",
)  # fmt: skip
def ratings_converge_to_strength(evidence: Micro) -> Finding:
    """If (B') holds ratings converge to θ."""
    run = needed(evidence.runs, "σ = 1")
    bias = float(np.sqrt(((run.map_limit - run.map_theta) ** 2).mean()))
    return Finding(
        f"ν = {run.nu:g}, σ = {run.common_sigma:g}: R(10) = {run.limit_end:.4f} as γ → 0, slope {run.limit_slope:.4f} "
        f"(simulated at γ = {run.gamma:g}: {run.slope:.4f} ± {2 * run.slope_error:.4f}); root mean square of R − θ "
        f"{bias:.3f}",
        judged(abs(run.limit_slope - 1) < 0.01),
        "A common σ > 0 shrinks the map by about 1/√(1 + πν²σ²), whether or not (B′) holds.",
        figures=(4, 10),
    )


@check(
    430, "Section 4, Figures 4 and 5", needs=NEEDS,
    quote="If the variance σ is large, all teams are rated equally, in particular the ratings converge to 7 for all "
    "values "
    "of θ",
    statement=f"for large σ all teams are rated equally (slope below {EQUAL:g}), at 7",
    criterion=f"slope below {EQUAL:g} at σ = 2 and at the largest σ computed; depends if at one of them only",
)  # fmt: skip
def all_equal_for_large_spread(evidence: Micro) -> Finding:
    """The limit of large σ, and the values the paper shows."""
    run, beyond = needed(evidence.runs, "σ = 2"), evidence.beyond
    threshold = (
        f"the slope falls below {EQUAL:g} at σ = {beyond.equal_from:.2f}"
        if beyond.equal_from < np.inf
        else f"it stays above {EQUAL:g} in all"
    )
    return Finding(
        f"ν = {run.nu:g}: slope {run.slope:.4f} simulated at σ = {run.common_sigma:g}; computed, γ → 0: "
        + ", ".join(
            f"{s:.3f} (R(10) = {e:.3f}) at σ = {x:g}" for x, s, e in zip(beyond.sigma, beyond.slope, beyond.end)
        )
        + f"; {threshold}",
        judged_under(run.limit_slope < EQUAL, bool(beyond.slope[-1] < EQUAL)),
        "The slope tends to 0 like 1/(√π νσ), so the statement is right in the limit. At σ = 2, the largest of the "
        "figures, the order and distance of the teams survive on a smaller scale; the Taylor closure of Figure 5 "
        "flattens them further, but not to 0.",
        on="how large σ is: in the limit, not at the values of the figures",
        figures=(4, 5),
    )


@check(
    431, "Section 4, Figures 4 and 5", needs=NEEDS,
    quote="in expectation weaker teams are over-performing and stronger teams under-performing",
    statement="weaker teams end up rated above their strength, stronger ones below it",
    criterion="more than 95 % of teams further than 1 from the centre at every σ > 0; then it depends on the reading",
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
        "share of teams more than 1 from the centre on the stated side: "
        + ", ".join(f"{share:.0%} at {name}" for name, share in shares.items()),
        "depends" if min(shares.values()) > 0.95 else "does not hold",
        "Weak teams are rated above their strength at every σ > 0 (rating noise works against it, and wins at large γ: "
        "Figure 7). The paper calls the same picture under-performing in Section 2, where teams above R = θ play "
        "worse than "
        "their rating, and over-performing here.",
        on="the reading of over-performing: rated above strength, yes; playing better than rated, no",
        figures=(4, 7),
    )


CHECKS = (ratings_converge_to_strength, all_equal_for_large_spread, weak_over_strong_under)
