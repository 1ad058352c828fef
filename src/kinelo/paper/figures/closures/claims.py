"""What the paper says about expected results."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged_under
from kinelo.paper.figures.closures.evidence import Closures

SMALL = 0.05


@check(
    202, "Section 2, Taylor expansion; used throughout Section 3", needs=("closures",),
    statement="⟨S⟩ ≈ b(θᵢ − θⱼ) + ½ b″(θᵢ − θⱼ)(σᵢ² + σⱼ²)",
    criterion=f"largest error below {SMALL:g} at the smallest σ and at the largest; depends if at one of them only",
)  # fmt: skip
def taylor_closure(evidence: Closures) -> Finding:
    """⟨S⟩ ≈ b + ½ b'' V: how far off, and where it turns back."""
    error = np.abs(evidence.win["exact"] - evidence.win["taylor"]).max(axis=1)
    turns = [f"{s:g}" for s, win in zip(evidence.sigma, evidence.win["taylor"]) if (np.diff(win) < 0).any()]
    return Finding(
        "largest error of the win probability: "
        + ", ".join(f"{e:.4f} at σ = {s:g}" for s, e in zip(evidence.sigma, error))
        + (f"; falls with growing d at σ = {', '.join(turns)}" if turns else ""),
        judged_under(bool(error[0] < SMALL), bool(error[-1] < SMALL)),
        "Good while νσ is well below 1/√2 = 0.707; beyond it a stronger team can be predicted to win less often.",
        on="νσ",
        figures=(8,),
    )


CHECKS = (taylor_closure,)
