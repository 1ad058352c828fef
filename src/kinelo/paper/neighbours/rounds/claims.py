"""What is said of ratings updated once per round."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.neighbours.rounds.evidence import RoundsEvidence

DIVERGED = 1000.0


@check(
    3, "Junca 2021, round robin", needs=("rounds",), statement="the mean map settles exactly where K N sup b′ < 2",
    criterion="no γ above the bound settles; depends if one does",
)  # fmt: skip
def contraction(evidence: RoundsEvidence) -> Finding:
    """Where orbits settle, against the bound."""
    settled = evidence.gamma[evidence.period == 1]
    return Finding(
        f"settles up to γ = {settled.max():.3f}; exact threshold {evidence.critical:.4f}, bound {evidence.bound:.4f}",
        "depends" if settled.max() > evidence.bound else judged(True),
        "Below the bound every start converges, but it is sharp only for equal strengths, and the map contracts "
        "uniformly only on bounded sets, because b′ vanishes far out.",
        on="whether strengths are equal",
        figures=(2,),
    )


@check(
    4, "Junca 2021, round robin", needs=("rounds",), statement="beyond the threshold ratings diverge",
    criterion=f"ratings of some orbit more than {DIVERGED:,g} points apart",
)  # fmt: skip
def divergence(evidence: RoundsEvidence) -> Finding:
    """Orbits beyond the threshold."""
    beyond = evidence.period[evidence.gamma > evidence.critical]
    periods = ", ".join(str(one) if one else "none" for one in sorted({int(one) for one in beyond}))
    return Finding(
        f"periods found beyond it: {periods} rounds; ratings stay within {np.ptp(evidence.orbit[:, 1]):.1f} points",
        judged(bool(np.ptp(evidence.orbit[:, 1]) > DIVERGED)),
        "Results are bounded, so ratings alternate between two tables instead; with noise this shows as variance.",
        figures=(2,),
    )


CHECKS = (contraction, divergence)
