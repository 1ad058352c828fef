"""Every statement of the paper that can be measured, and those that cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinelo.paper.catalogue import checks, place_of
from kinelo.paper.claim import Claim


def check_claims(evidence: Mapping[str, Any]) -> tuple[list[Claim], int]:
    """Measure every statement whose figures are there; also return how many need figures that are not.

    >>> claims, left_out = check_claims({})
    >>> claims[0].judgement, left_out > 0
    ('does not hold', True)
    """
    every = checks(next(map(place_of, evidence), "paper"))
    claims = [one.claim(evidence) for one in every if set(one.needs) <= set(evidence)]
    return claims, len(every) - len(claims)


UNTESTED = (
    (
        "Theorems 1 and 2",
        "a unique classical solution exists for all times",
        "Existence and uniqueness cannot be measured: a computation approximates a solution that it takes for "
        "granted. That "
        "every run here stays bounded and converges under refinement is consistent with them, no more.",
    ),
    (
        "Appendix, derivation",
        "the kinetic equation is the limit of the Boltzmann-type equation",
        "The derivation is formal. What can be measured is its outcome: matches and density agree (Figures 4 and 5).",
    ),
    (
        "Introduction",
        "ratings converge to the strengths if strengths do not vary (Jabin and Junca)",
        "A theorem of another paper. The case σ = 0 of Figures 4 and 5 agrees with it.",
    ),
    (
        "Section 3, end of the analysis",
        "the stationary states cannot be computed explicitly",
        "That no formula exists cannot be measured; none is known here either. For w ≡ 1 the states minimise a convex "
        "functional, and an iteration finds them to any number of digits: every computed map of this report is one.",
    ),
    (
        "Conclusion",
        "an equation with diffusion in θ, and a kinetic model of Glicko",
        "Proposals for later work, without a statement to test.",
    ),
)
"""Place, statement, and why it is not measured."""
