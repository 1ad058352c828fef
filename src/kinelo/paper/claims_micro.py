"""Statements of the paper's Section 2: results of matches, set-ups R1 and R2."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.paper.claim import AllEvidence, Check, Claim, judged, judged_twice
from kinelo.paper.summary import line_through

SECTION = "Section 2"


def result_is_a_probability(evidence: AllEvidence) -> Claim:
    """P(S = 1) = b is printed; b takes negative values."""
    b = float(Tanh(0.5).b(-1.0))
    return Claim(
        f"{SECTION}, line-ups",
        "P(S = 1) = b(λᵢ − λⱼ)",
        f"b(−1) = {b:.4f} at ν = 0.5; (1 + b)/2 = {(1 + b) / 2:.4f}",
        judged(0 <= b <= 1),
        "b is an expected result in [−1, 1]; the probability that gives it is (1 + b)/2, which is what is "
        "simulated here.",
    )


def variance_of_results(evidence: AllEvidence) -> Claim:
    """Var S against (b')² V and against 1 − s²."""
    nu, sigma, d, draws = 0.5, 1.0, 1.0, 400_000
    generator = np.random.default_rng(101)
    difference = d + math.sqrt(2) * sigma * generator.standard_normal(draws)
    result = np.where(generator.random(draws) < (1 + np.tanh(nu * difference)) / 2, 1.0, -1.0)
    measured, printed = float(result.var()), float(Tanh(nu).b_prime(d)) ** 2 * 2 * sigma**2
    s = float(expected_result(Tanh(nu), Normal([d, 0.0], sigma))[0, 1])
    return Claim(
        f"{SECTION}, equation for Var S",
        "Var S ≈ (b′)² (σᵢ² + σⱼ²)",
        f"drawn {measured:.4f}; printed formula {printed:.4f}; 1 − s² = {1 - s * s:.4f} (ν = 0.5, σ = 1, d = 1)",
        judged(abs(printed - measured) < 0.1 * measured),
        "The printed formula is the variance of b(λᵢ − λⱼ); a result of ±1 has variance 1 − s².",
    )


def spread_grows_in_r1(evidence: AllEvidence) -> Claim:
    """σ_i of R1 grows in proportion to i − 1."""
    r1 = evidence[1]["R1"]
    i = np.arange(r1.sizes["team"])
    rate = float(i @ r1.expected_sigma.values / (i @ i))
    straight = float(np.corrcoef(i, r1.expected_sigma.values)[0, 1])
    return Claim(
        f"{SECTION}, set-up R1, Figure 1a",
        "all teams have θ ≈ 5 with increasing variance",
        f"root mean square σᵢ = {rate:.6f} (i − 1), correlation {straight:.4f}; θ between "
        f"{r1.theta.min():.2f} and {r1.theta.max():.2f}",
        judged(straight > 0.99 and abs(float(r1.theta.mean()) - 5) < 0.1),
        "The spread grows in proportion to the team's number (theory: 0.0031435 per team), the mean strengths "
        "stay near 5.",
        figures=(1,),
    )


def spread_is_one_in_r2(evidence: AllEvidence) -> Claim:
    """The caption of Figure 2b says σ = 1."""
    r2 = evidence[1]["R2"]
    typical = float(np.sqrt((r2.sigma.values[:-2] ** 2).mean()))
    low, high = r2.attrs["inner_95"]
    return Claim(
        "Figure 2b, caption",
        "set-up R2 has constant variance σ = 1",
        f"σ = {typical:.4f} (root mean square of 198 teams; 95 % within {low:.3f}–{high:.3f})",
        judged(abs(typical - 1) < 0.1),
        "1 is the standard deviation of a player's η; eleven of 23 players with strengths η/11 vary much less in sum.",
        figures=(1,),
    )


def r2_spreads_alike(evidence: AllEvidence) -> Claim:
    """Variances of R2 are of the same order; Germany's and Brazil's are larger."""
    sigma = evidence[1]["R2"].sigma.values
    ratio = float(sigma[:-2].max() / sigma[:-2].min())
    return Claim(
        f"{SECTION}, set-up R2, Figure 1b",
        "the variances of the 198 teams are of the same order, those of Germany and Brazil significantly higher",
        f"largest over smallest σ {ratio:.2f}; Germany and Brazil {sigma[-2] / np.median(sigma[:-2]):.1f} times "
        f"the median",
        judged(ratio < 5 and sigma[-2] > 2 * np.median(sigma[:-2])),
        "The second half is an assumption here (σ = 1): the paper's own spread of the two teams is not published.",
        figures=(1,),
    )


def r1_clusters(evidence: AllEvidence) -> Claim:
    """R1 clusters around (5, 5)."""
    run = evidence[2]["R1"]
    theta, rating = run.theta.values, run.settled.values
    centre = (float(theta.mean()), float(rating.mean()))
    return Claim(
        f"{SECTION}, Figure 2a",
        "set-up R1 clusters around (θ, R) = (5, 5)",
        f"centre ({centre[0]:.3f}, {centre[1]:.3f}); standard deviations {theta.std():.3f} and {rating.std():.3f}",
        judged(max(abs(centre[0] - 5), abs(centre[1] - 5), rating.std()) < 0.5),
        "Every team is nearly as strong as every other, and the mean of the ratings never changes.",
        figures=(2,),
    )


def r1_over_and_under(evidence: AllEvidence) -> Claim:
    """Teams with θ < 5 lie above the diagonal, those with θ > 5 below: slope below one."""
    small, large = evidence[2]["R1"], evidence[2]["R1, large γ"]
    return Claim(
        f"{SECTION}, Figure 2a",
        "teams with θ < 5 lie above the line R = θ, teams with θ > 5 below it",
        f"slope of R on θ: {small.slope:.4f} at γ = {small.gamma:g}, {large.slope:.4f} at γ = {large.gamma:g}, "
        f"{small.limit_slope:.4f} as γ → 0",
        judged_twice(small.slope < 1, large.slope < 1),
        "Varying strength shrinks the map, rating noise stretches it; which one wins depends on γ, which the "
        "paper does not print.",
        on="γ: it holds for small steps and turns round for large ones",
        figures=(2,),
    )


def r2_steeper(evidence: AllEvidence) -> Claim:
    """The line of R2 is steeper than R = θ."""
    small, large = evidence[2]["R2"], evidence[2]["R2, large γ"]
    return Claim(
        f"{SECTION}, Figure 2b",
        "in set-up R2 the straight line has a steeper slope than R = θ",
        f"slope {_of_198(small, 'limit'):.4f} as γ → 0 (computed), {_of_198(small, 'settled'):.4f} at γ = "
        f"{small.gamma:g}, "
        f"{_of_198(large, 'settled'):.4f} at γ = {large.gamma:g} (simulated, 198 teams)",
        judged_twice(_of_198(small, "limit") > 1, _of_198(large, "settled") > 1),
        "The map itself is flatter than R = θ; it is rating noise that steepens it, visibly so only at large γ.",
        on=f"γ: not as γ → 0, yes at γ = {large.gamma:g}",
        figures=(2,),
    )


def _of_198(run: xr.Dataset, which: str) -> float:
    return line_through(run.theta.values[:-2], run[which].values[:-2])[0]


def r2_straight_and_steady(evidence: AllEvidence) -> Claim:
    """The 198 teams of R2 settle on a straight line."""
    run = evidence[2]["R2"]
    theta, rating = run.theta.values[:-2], run.settled.values[:-2]
    fit = float(np.corrcoef(theta, rating)[0, 1]) ** 2
    off = float(np.abs(run.settled - run.computed).max())
    return Claim(
        f"{SECTION}, Figure 2b",
        "the 198 teams of set-up R2 converge to a steady state on a straight line",
        f"r² = {fit:.6f}; simulated ratings within {off:.3f} of the computed stationary ones",
        judged(fit > 0.995 and off < 0.25),
        "The line bends by less than one sees, and the simulation ends where the computed state says.",
        figures=(2,),
    )


def germany_and_brazil(evidence: AllEvidence) -> Claim:
    """Germany and Brazil are outliers, rated below their strength."""
    line = evidence[11]["computed"]
    stands_out = (line.germany < line.low) & (line.brazil < line.low)
    ordinary = line.isel(run=_nearest(line, 0.25))
    assumed = line.isel(run=_nearest(line, 1.0))
    wide = line.isel(run=-1)
    first = line.sigma.values[stands_out.values]
    threshold = f"both leave the 95 % band from σ ≈ {first.min():g} on" if first.size else "they never leave the band"
    return Claim(
        f"{SECTION}, Figure 2b",
        "Germany and Brazil are clear outliers, both under-performing relative to their strength",
        "; ".join(
            f"R − θ = {float(p.germany):+.3f} and {float(p.brazil):+.3f} at σ = {float(p.sigma):g}"
            for p in (ordinary, assumed, wide)
        )
        + f"; {threshold}",
        judged_twice(bool(stands_out.values[0]), bool(stands_out.values[-1])),
        "With the spread of the other teams they do not stand out; the paper's spread is not published, so it is "
        "a parameter here.",
        on="the spread given to the two teams",
        figures=(11,),
    )


def _nearest(line: xr.Dataset, sigma: float) -> int:
    return int(np.argmin(np.abs(line.sigma.values - sigma)))


def ratings_conserved(evidence: AllEvidence) -> Claim:
    """The mean rating never changes in a simulation."""
    worst = max(run.attrs["mean_drift"] for run in evidence[2].values())
    matches = max(run.attrs["matches_per_team"] * run.sizes["team"] / 2 for run in evidence[2].values())
    return Claim(
        f"{SECTION}, update rule",
        "a match moves both ratings by opposite amounts",
        f"largest change of the mean rating over {matches:,.0f} matches in a row: {worst:.1e}",
        judged(worst < 1e-8),
        "The sum of the ratings is conserved to rounding.",
        figures=(2,),
    )


CHECKS = (
    Check((), result_is_a_probability),
    Check((), variance_of_results),
    Check((1,), spread_grows_in_r1),
    Check((1,), spread_is_one_in_r2),
    Check((1,), r2_spreads_alike),
    Check((2,), r1_clusters),
    Check((2,), r1_over_and_under),
    Check((2,), r2_straight_and_steady),
    Check((2,), r2_steeper),
    Check((11,), germany_and_brazil),
    Check((2,), ratings_conserved),
)
