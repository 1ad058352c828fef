"""What is said of a Glicko-type model."""

from __future__ import annotations

from kinelo.paper.claim import Finding, check, judged, judged_under
from kinelo.paper.neighbours.deviations.evidence import DeviationEvidence


@check(
    5, "Conclusion, outlook on Glicko", needs=("deviations",),
    statement="the deviation shrinks for those who play",
    criterion="RD falls from above where it settles and from below; depends if from one of them only",
)  # fmt: skip
def deviation_shrinks(evidence: DeviationEvidence) -> Finding:
    """RD from above and from below."""
    falls, rises = evidence.falling[-1] < evidence.falling[0], evidence.rising[-1] < evidence.rising[0]
    return Finding(
        f"RD settles at {evidence.settled:.3f}: from {evidence.falling[0]:.3f} it falls, from {evidence.rising[0]:.3f} "
        f"it {'falls' if rises else 'rises'}",
        judged_under(bool(falls), bool(rises)),
        "Playing brings information, time takes it; below the balance ignorance grows even while playing.",
        on="whether RD lies above where it settles",
        figures=(3,),
    )


@check(
    6,
    "Conclusion, outlook on Glicko",
    needs=("deviations",),
    statement="the mean rating is conserved, as in Elo",
    criterion="speed of the mean rating within 2 standard errors of 0",
)
def mean_conserved(evidence: DeviationEvidence) -> Finding:
    """Speed of the mean rating."""
    return Finding(
        f"speed per match: simulated {evidence.speed:.2e} ± {2 * evidence.speed_error:.0e}, computed "
        f"{evidence.still_speed:.2e} without noise and {evidence.noisy_speed:.2e} with it",
        judged(abs(evidence.speed) < 2 * evidence.speed_error),
        "Two sides move by steps of their own, so points are made and lost; in a lopsided league the whole scale "
        "travels.",
        figures=(3,),
    )


CHECKS = (deviation_shrinks, mean_conserved)
