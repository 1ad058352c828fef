"""What the paper says about Germany and Brazil."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged_under
from kinelo.paper.figures.outliers.evidence import Outliers


@check(
    235, "Section 2, Figure 2b", needs=("outliers",),
    quote="the German and Brazilian team are clear outliers, both are under-performing relative to their strengths",
    statement="Germany and Brazil end up below their strength, outside of the range of the other teams",
    criterion="R − θ of both below the others' 95 % band at the smallest σ and at the largest; depends if at one only",
)  # fmt: skip
def germany_and_brazil(evidence: Outliers) -> Finding:
    """Germany and Brazil are outliers, rated below their strength."""
    line = evidence.computed
    stands_out = (line.germany < line.low) & (line.brazil < line.low)
    told = [int(np.argmin(np.abs(line.sigma - sigma))) for sigma in (0.25, 1.0)] + [-1]
    first = line.sigma[stands_out]
    threshold = f"both leave the 95 % band from σ ≈ {first.min():.2g} on" if first.size else "they never leave the band"
    return Finding(
        "; ".join(f"R − θ = {line.germany[k]:+.3f} and {line.brazil[k]:+.3f} at σ = {line.sigma[k]:.3g}" for k in told)
        + f"; {threshold}",
        judged_under(bool(stands_out[0]), bool(stands_out[-1])),
        "With the spread of the other teams they do not stand out; the paper's spread is not published, so it is a "
        "parameter "
        "here.",
        on="the spread given to the two teams",
        figures=(11,),
    )


CHECKS = (germany_and_brazil,)
