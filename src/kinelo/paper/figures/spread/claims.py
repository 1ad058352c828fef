"""What the paper says about the spread of its two leagues."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figures.spread.evidence import Spread

NEEDS = ("spread",)
NEAR_FIVE = 0.5


@check(
    210, "Section 2, set-up R1, Figure 1a", needs=NEEDS,
    quote="all teams have an approximate team strength of θᵢ ≈ 5 with increasing variance",
    statement="in set-up R1 the spread grows with the number of the team",
    criterion="correlation of σᵢ with i above 0.99, and σᵢ grows",
)  # fmt: skip
def spread_grows_in_r1(evidence: Spread) -> Finding:
    """σ_i of R1 grows in proportion to i − 1."""
    r1 = needed(evidence.leagues, "R1")
    i = np.arange(r1.theta.size)
    rate = float(i @ r1.expected_sigma / (i @ i))
    straight = float(np.corrcoef(i, r1.expected_sigma)[0, 1])
    return Finding(
        f"root mean square σᵢ = {rate:.6f} (i − 1), correlation {straight:.4f}",
        judged(straight > 0.99 and rate > 0),
        "The spread grows in proportion to the team's number (theory: 0.0031435 per team).",
        figures=(1,),
    )


@check(
    211, "Section 2, set-up R1", needs=NEEDS,
    quote="all teams have an approximate team strength of θᵢ ≈ 5",
    statement="in set-up R1 every team has a mean strength near 5",
    criterion=f"mean of θ within 0.1 of 5, and every θᵢ within {NEAR_FIVE:g} of it; depends if one of the two only",
)  # fmt: skip
def strengths_near_five_in_r1(evidence: Spread) -> Finding:
    """θ_i of R1 scatters around 5, the more the larger i."""
    theta = needed(evidence.leagues, "R1").theta
    far = np.abs(theta - 5)
    return Finding(
        f"mean {theta.mean():.3f}, standard deviation {theta.std():.3f}, single teams from {theta.min():.2f} to "
        f"{theta.max():.2f}; {np.mean(far < NEAR_FIVE):.0%} lie within {NEAR_FIVE:g} of 5",
        judged_under(bool(abs(theta.mean() - 5) < 0.1), bool((far < NEAR_FIVE).all())),
        "The squads are drawn at random, and a team's mean strength scatters with its spread: what is 5 is the mean of "
        "the teams, not each of them.",
        on="what ≈ allows: the teams on average yes, single teams not",
        figures=(1,),
    )


@check(
    220, "Section 2, set-up R2, Figure 1b", needs=NEEDS,
    quote="the variances σᵢ² are of the same order … it is signficantly higher in the generated data set",
    statement="the spreads of the 198 teams of R2 are of the same order, those of Germany and Brazil significantly "
    "higher",
    criterion="largest σ of the 198 below 5 times their smallest, and both others above twice their median",
)  # fmt: skip
def r2_spreads_alike(evidence: Spread) -> Finding:
    """Variances of R2 are of the same order; Germany's and Brazil's are larger."""
    sigma = needed(evidence.leagues, "R2").sigma
    ratio = float(sigma[:-2].max() / sigma[:-2].min())
    outer = float(sigma[-2:].min() / np.median(sigma[:-2]))
    return Finding(
        f"largest over smallest σ {ratio:.2f}; Germany and Brazil {outer:.1f} times the median",
        judged(ratio < 5 and outer > 2),
        "The second half is an assumption here (σ = 1): the paper's own spread of the two teams is not published.",
        figures=(1,),
    )


@check(
    231, "Figure 2b, caption", needs=NEEDS,
    quote="constant variance σ = 1 in the team performance", statement="the teams of set-up R2 have σ = 1",
    criterion="root mean square of σ within 0.1 of 1",
)  # fmt: skip
def spread_is_one_in_r2(evidence: Spread) -> Finding:
    """The caption of Figure 2b says σ = 1."""
    r2 = needed(evidence.leagues, "R2")
    typical = float(np.sqrt((r2.sigma[:-2] ** 2).mean()))
    return Finding(
        f"σ = {typical:.4f} (root mean square of {r2.theta.size - 2} teams; 95 % within {r2.inner_95[0]:.3f}–"
        f"{r2.inner_95[1]:.3f})",
        judged(abs(typical - 1) < 0.1),
        "1 is the standard deviation of a player's η; eleven of 23 players with strengths η/11 vary much less in sum.",
        figures=(1,),
    )


CHECKS = (spread_grows_in_r1, strengths_near_five_in_r1, r2_spreads_alike, spread_is_one_in_r2)
