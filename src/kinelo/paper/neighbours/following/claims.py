"""What is said of filters against constant steps."""

from __future__ import annotations

import math

from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.neighbours.following.evidence import FollowingEvidence


@check(
    7, "common belief", needs=("following",),
    statement="a filter (Glicko) follows form better than the best constant K, at equal playing rates",
    criterion="error of Glicko below that of the best constant step by more than 3 standard errors",
)  # fmt: skip
def filter_beats_constant(evidence: FollowingEvidence) -> Finding:
    """Glicko against the best constant step, both simulated."""
    k = int(evidence.run_error.argmin())
    elo, doubt = float(evidence.run_error[k]), math.hypot(evidence.run_uncertainty[k], evidence.glicko_uncertainty)
    return Finding(
        f"error {elo:.4f} at γ = {evidence.run_gamma[k]:g} (least computed {evidence.least:.4f} at "
        f"{evidence.best:.3f}), Glicko {evidence.glicko:.4f}; the difference has a standard error of {doubt:.4f}",
        judged(evidence.glicko < elo - 3 * doubt),
        "A deviation pays where playing rates or newcomers differ; among teams that play equally often the best step "
        "is the same for all.",
        figures=(4,),
    )


CHECKS = (filter_beats_constant,)
