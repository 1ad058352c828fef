"""What the report on the neighbouring models says beside its figures and statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ASSUMPTIONS = (
    "The sources were available as abstracts: where they leave a rule open, it is chosen here.",
    "Learning: winners gain what losers lose by βX, X the expected result or the result; skill is learned, the luck of "
    "the day is not.",
    "Rounds: strengths that move do so between rounds; K multiplies S − b, so it is γ (chess K = 2γ).",
    "Glicko: the deviation grows on the league's clock, c² per match of a team, whether the team plays or not.",
)
NOT_PROVED = (
    ("t^{1/3}", "ratings of a league driven apart spread like t^{1/3}", "A formal expansion; the run agrees with it."),
    ("closures", "mean and covariance at a finite step", "Gaussian closures: within about 1 % where they were tried."),
)


def neighbour_words(scale: str, figures: int, counts: Mapping[str, int]) -> dict[str, Any]:
    """What replaces the paper's own words in the content of a report."""
    size = "at full scale" if scale == "full" else "at a reduced scale, for a quick look"
    tally = f"{counts['holds']} hold, {counts['does not hold']} do not, and {counts['depends']} depend on something"
    return {
        "neighbours": True,
        "shown_by": None,
        "abstract": [
            "Ratings do not reach strengths that move; a whole round rated at once overshoots beyond a "
            "threshold and then alternates; deviations settle and their scale can travel; and among teams that play "
            "equally often a well chosen constant step follows as well as Glicko.",
            "The paper ends by naming what it leaves open: learning, form, tournaments in rounds, a kinetic model of "
            f"Glicko. Here are {figures} figures of these models, {size}, and what is said of them: of "
            f"{sum(counts.values())} statements {tally}.",
        ],
        "untested": [dict(zip(("place", "statement", "because"), row)) for row in NOT_PROVED],
        "readings": [],
        "assumptions": list(ASSUMPTIONS),
    }
