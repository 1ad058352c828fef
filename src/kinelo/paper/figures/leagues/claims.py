"""What the paper says about where the teams of R1 and R2 end up."""

from __future__ import annotations

import numpy as np

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figures.leagues.evidence import LeagueRun, Leagues
from kinelo.paper.summary import line_through

NEEDS = ("leagues",)


@check(
    205, "Section 2, update rule", needs=NEEDS, statement="a match moves both ratings by opposite amounts",
    criterion="largest change of the mean rating below 1e-8",
)  # fmt: skip
def ratings_conserved(evidence: Leagues) -> Finding:
    """The mean rating never changes in a simulation."""
    worst = max(run.mean_drift for run in evidence.runs.values())
    matches = max(run.matches_per_team * run.theta.size / 2 for run in evidence.runs.values())
    return Finding(
        f"largest change of the mean rating over {matches:,.0f} matches in a row: {worst:.1e}",
        judged(worst < 1e-8),
        "The sum of the ratings is conserved to rounding.",
        figures=(2,),
    )


@check(
    230, "Section 2, Figure 2a", needs=NEEDS,
    quote="we see clustering around the point (θ, R) = (5, 5)", statement="set-up R1 clusters around (5, 5)",
    criterion="mean of θ and of R within 0.5 of 5, and the standard deviation of R below 0.5",
)  # fmt: skip
def r1_clusters(evidence: Leagues) -> Finding:
    """R1 clusters around (5, 5)."""
    run = needed(evidence.runs, "R1")
    theta, rating = run.theta, run.settled
    off = max(abs(theta.mean() - 5), abs(rating.mean() - 5), rating.std())
    return Finding(
        f"centre ({theta.mean():.3f}, {rating.mean():.3f}); standard deviations {theta.std():.3f} and "
        f"{rating.std():.3f}",
        judged(bool(off < 0.5)),
        "The mean of the ratings never changes, and the teams scatter around it by about half a point.",
        figures=(2,),
    )


@check(
    232, "Section 2, Figure 2a", needs=NEEDS,
    quote="teams with θ < 5 consistently under-perform and conversely θ > 5 over-perform, as they lie above and "
    "below the "
    "line θ = R, respectively",
    statement="in set-up R1 teams with θ < 5 lie above the line R = θ, teams with θ > 5 below it",
    criterion="slope below 1 at the small γ and at the large one; depends if at one of them only",
)  # fmt: skip
def r1_over_and_under(evidence: Leagues) -> Finding:
    """Teams with θ < 5 lie above the diagonal, those with θ > 5 below: slope below one."""
    small, large = needed(evidence.runs, "R1"), needed(evidence.runs, "R1, large γ")
    return Finding(
        f"slope of R on θ: {small.slope:.4f} at γ = {small.gamma:g}, {large.slope:.4f} at γ = {large.gamma:g}, "
        f"{small.limit_slope:.4f} as γ → 0",
        judged_under(small.slope < 1, large.slope < 1),
        "Varying strength shrinks the map, rating noise stretches it; which one wins depends on γ, which the paper "
        "does not "
        "print.",
        on="γ: it holds for small steps and turns round for large ones",
        figures=(2,),
    )


@check(
    233, "Section 2, Figure 2b", needs=NEEDS,
    quote="we see convergence towards a steady state for the 198 teams",
    statement="the 198 teams of set-up R2 settle, on a straight line",
    criterion="r² above 0.995, and every rating within 0.25 of the computed one",
)  # fmt: skip
def r2_straight_and_steady(evidence: Leagues) -> Finding:
    """The 198 teams of R2 settle on a straight line."""
    run = needed(evidence.runs, "R2")
    fit = float(np.corrcoef(run.theta[:-2], run.settled[:-2])[0, 1]) ** 2
    off = float(np.abs(run.settled - run.computed).max())
    return Finding(
        f"r² = {fit:.6f}; simulated ratings within {off:.3f} of the computed stationary ones",
        judged(fit > 0.995 and off < 0.25),
        "The line bends by less than one sees, and the simulation ends where the computed state says.",
        figures=(2,),
    )


@check(
    234, "Section 2, Figure 2b", needs=NEEDS,
    quote="this straight line has a steeper slope than θ = R",
    statement="in set-up R2 the slope of R on θ is above 1",
    criterion="slope above 1 as γ → 0 and at the large γ; depends if at one of them only",
)  # fmt: skip
def r2_steeper(evidence: Leagues) -> Finding:
    """The line of R2 is steeper than R = θ."""
    small, large = needed(evidence.runs, "R2"), needed(evidence.runs, "R2, large γ")
    limit, steep = _slope_of_198(small, small.limit), _slope_of_198(large, large.settled)
    return Finding(
        f"slope {limit:.4f} as γ → 0 (computed), {_slope_of_198(small, small.settled):.4f} at γ = {small.gamma:g}, "
        f"{steep:.4f} at γ = {large.gamma:g} (simulated, 198 teams)",
        judged_under(limit > 1, steep > 1),
        "The map itself is flatter than R = θ; it is rating noise that steepens it, visibly so only at large γ.",
        on=f"γ: not as γ → 0, yes at γ = {large.gamma:g}",
        figures=(2,),
    )


def _slope_of_198(run: LeagueRun, rating: Array) -> float:
    return line_through(run.theta[:-2], rating[:-2])[0]


CHECKS = (ratings_conserved, r1_clusters, r1_over_and_under, r2_straight_and_steady, r2_steeper)
