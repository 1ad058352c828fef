"""What is said of ratings that follow strengths."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged
from kinelo.paper.neighbours.learning.evidence import LearningEvidence


@check(
    1, "Introduction, on Jabin and Junca", needs=("learning",),
    statement="ratings converge to strengths, here: strengths that learn",
    criterion="error below 0.001 as γ → 0",
)  # fmt: skip
def ratings_converge(evidence: LearningEvidence) -> Finding:
    """The error as γ → 0."""
    runs = ", ".join(f"{e:.4f} ± {2 * u:.4f} at γ = {g:g}" for g, e, u in zip(*_runs(evidence)))
    return Finding(
        f"error {evidence.floor:.4f} as γ → 0 (slope of ratings on strengths {evidence.slope:.3f}); simulated {runs}",
        judged(evidence.floor < 1e-3),
        "Strengths move on while ratings follow: a lag stays however small the step.",
        figures=(1,),
    )


@check(
    2, "Düring, Torregrossa, Wolfram 2019", needs=("learning",),
    statement="ratings show how strengths spread when winners gain what losers lose",
    criterion="exponents of growth within 0.1 of each other",
)  # fmt: skip
def ratings_show_spread(evidence: LearningEvidence) -> Finding:
    """Growth exponents over the last half of the run."""
    late = evidence.time > evidence.time[-1] / 4
    powers = [
        np.polyfit(np.log(evidence.time[late]), np.log(spread[late]), 1)[0]
        for spread in (evidence.strength_spread, evidence.rating_spread)
    ]
    return Finding(
        f"strengths grow like t^{powers[0]:.2f}, ratings like t^{powers[1]:.2f}",
        judged(abs(powers[0] - powers[1]) < 0.1),
        "Once the stronger always wins, results say who is better but no longer by how much.",
        figures=(1,),
    )


def _runs(evidence: LearningEvidence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return evidence.run_gamma, evidence.run_error, evidence.run_uncertainty


CHECKS = (ratings_converge, ratings_show_spread)
