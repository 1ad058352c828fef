"""Every statement of the paper that can be measured, in the paper's order."""

from __future__ import annotations

from contextlib import suppress

from kinelo.paper import claims_homogeneous, claims_macro, claims_micro
from kinelo.paper.claim import AllEvidence, Claim

CHECKS = (*claims_micro.CHECKS, *claims_macro.CHECKS, *claims_homogeneous.CHECKS)


def check_claims(evidence: AllEvidence) -> tuple[list[Claim], int]:
    """Measure every statement whose figures are there; also return how many had to be left out.

    >>> claims, left_out = check_claims({})
    >>> claims[0].judgement, left_out > 0
    ('does not hold', True)
    """
    claims = []
    for check in CHECKS:
        # A figure file that a reader changed may lack the run that a statement is about.
        with suppress(KeyError):
            if set(check.needs) <= set(evidence):
                claims.append(check.measure(evidence))
    return claims, len(CHECKS) - len(claims)
