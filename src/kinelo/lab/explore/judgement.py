"""The verdict beside the picture. The running league is the judge: theory is believed where the league bears it out.

A verdict is in one of four states. ``expected``: theory has an answer and the league has not settled. ``agree``: the
league has settled where theory said. ``disagree``: it has not, beyond doubt. ``no theory``: nothing is claimed, and
only the league's own numbers are shown.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from kinelo.lab.explore.evidence import Evidence, Measured
from kinelo.lab.explore.verdict import FAIR, TheoryAnswer

State = Literal["expected", "agree", "disagree", "no theory"]
PENDING = "…"
MISSED = "points by which a rating misses present strength (one standard deviation)"
DOUBT = 4.0
"""Standard errors of the league beyond which a difference is no accident; many looks at one league need more than 2."""
SLOPE_TOLERANCE, LUCK_TOLERANCE = 0.05, 0.15
"""Shares by which theory may be off before it misleads: both are larger than what ten teams differ from very many."""
PATIENCE = 4.0
"""A league not where theory said after this many times the matches that theory gave it has been given its time."""


def state_of(theory: TheoryAnswer, league: Evidence | None) -> State:
    """Which of the four states theory and league are in."""
    if theory.missing or (league is not None and league.outgrown):
        return "no theory"
    if league is None:
        return "expected"
    overdue = theory.matches is not None and league.matches > PATIENCE * theory.matches
    if not league.settled and not overdue:
        return "expected"
    return "disagree" if slopes_differ(theory, league) or luck_differs(theory, league) else "agree"


def slopes_differ(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether the league's slope is another one, by more than chance, and so much that the words would be wrong."""
    if not _apart(theory.slope, league.slope):
        return False
    off = abs(league.slope.value - theory.slope)
    return off > SLOPE_TOLERANCE * max(theory.slope, 1.0) or meaning(theory.slope) != meaning(league.slope.value)


def luck_differs(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether the league's ratings stray by more or less than theory says, beyond chance."""
    return _apart(theory.luck, league.luck) and abs(league.luck.value - theory.luck) > LUCK_TOLERANCE * theory.luck


def _apart(theory: float, league: Measured) -> bool:
    return abs(league.z_score(theory)) > DOUBT


def meaning(slope: float) -> str:
    """What the slope of ratings on strengths means for strong and weak teams.

    >>> meaning(0.8)
    'strong teams are under-rated, weak teams over-rated'
    """
    if slope < 1 - FAIR:
        return "strong teams are under-rated, weak teams over-rated"
    if slope > 1 + FAIR:
        return "strong teams are over-rated, weak teams under-rated"
    return "on average, ratings tell the true strength"


def headline(state: State, theory: TheoryAnswer, league: Evidence | None, point: float = 1.0) -> str:
    """One sentence for the state."""
    if state == "no theory" and not theory.missing:
        return "The walk has spread the league beyond what theory was asked about: watch what it does."
    if state == "no theory":
        return "Theory has no answer here: watch what the league does."
    if state == "expected":
        return f"Theory expects that {meaning(theory.slope)}. The league is still settling."
    words = meaning(theory.slope)
    if state == "agree" or league is None:
        return f"{words[0].upper()}{words[1:]}: theory and league agree."
    if slopes_differ(theory, league):
        said, shown = f"a slope of {theory.slope:.2f}", f"{league.slope.value:.2f}"
    else:
        stray = "miss strength" if theory.parts else "stray"
        said, shown = f"ratings that {stray} by ± {points(theory.luck, point)}", f"± {points(league.luck.value, point)}"
    return f"Theory and league disagree: theory says {said}, the league shows {shown}."


def points(value: float, point: float) -> str:
    """A number of points: with two digits after the point, or whole where points are small."""
    return f"{value * point:.2f}" if point == 1.0 else f"{value * point:.0f}"


def judged(theory: TheoryAnswer, league: Evidence | None, point: float = 1.0) -> dict[str, Any]:
    """The verdict as the page shows it; ``point`` is what one point of the sliders counts on the page."""
    state = state_of(theory, league)
    believed = state in ("expected", "agree")
    return {
        "state": state,
        "headline": headline(state, theory, league, point),
        "facts": facts(state, theory, league, point),
        "advice": theory.advice if believed else theory.missing,
        "offer": {"gamma": theory.offer.gamma, "luck": theory.offer.luck} if believed and theory.offer else None,
        "caveats": list(theory.caveats),
        "lines": [{"name": name, "finding": finding} for name, finding in theory.lines] if believed else None,
    }


def facts(
    state: State, theory: TheoryAnswer, league: Evidence | None, point: float = 1.0
) -> list[dict[str, str | None]]:
    """The numbers that matter: theory's, what the league shows of them, and what they mean."""
    slope, luck_shown = _shown(league, point)
    found: list[dict[str, str | None]] = [
        {
            "value": "no answer" if state == "no theory" else f"{theory.slope:.2f}",
            "league": slope,
            "text": "rating points shown for each point of true strength",
        },
        {
            "value": "no answer" if state == "no theory" else f"± {points(theory.luck, point)}",
            "league": luck_shown,
            "text": MISSED if theory.parts else "points of mere luck in a rating (one standard deviation)",
        },
    ]
    if state == "no theory" and not math.isnan(theory.slope):
        found[0]["text"] = f"rating points shown for each point of true strength; {theory.slope:.2f} if steps were tiny"
    if state in ("no theory", "disagree"):
        return found
    if theory.parts:
        luck, lag, bias = (points(part, point) for part in theory.parts)
        words = f"points of it are lag: ratings trail strengths that move. Luck makes ± {luck}, bias ± {bias}"
        return [*found, {"value": f"± {lag}", "league": None, "text": words}]
    settled = (
        PENDING if theory.matches is None else f"{theory.matches:,.0f}" if math.isfinite(theory.matches) else "never"
    )
    return [
        *found,
        {
            "value": points(abs(theory.bias), point),
            "league": None,
            "text": f"points too {'low' if theory.bias < 0 else 'high'}: where the strongest team ends up on average",
        },
        {"value": settled, "league": None, "text": "matches per team until the whole league has settled"},
    ]


def _shown(league: Evidence | None, point: float) -> tuple[str, str]:
    if league is None:
        return PENDING, PENDING
    sofar = "" if league.settled else " so far"
    slope, luck = league.slope, league.luck
    return (
        f"{slope.value:.2f}{sofar} (standard error {slope.error:.2g})",
        f"± {points(luck.value, point)}{sofar} (standard error {luck.error * point:.2g})",
    )
