"""The verdict beside the picture. The running league is the judge: theory is believed where the league bears it out.

A verdict is in one of four states. ``expected``: theory has an answer and the league has not settled, or is not sure
enough of its own numbers. ``agree``: the league has settled where theory said. ``disagree``: it has not, beyond doubt.
``no theory``: nothing is claimed, and only the league's own numbers are shown.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from kinelo.advice.league_evidence import Evidence, Measured
from kinelo.lab.explore.advice import advice, offers
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.verdict import FAIR, TheoryAnswer
from kinelo.lab.units import Units

State = Literal["expected", "agree", "disagree", "no theory"]
PENDING = "…"
DOUBT = 4.0
"""Standard errors of the league beyond which a difference is no accident; many looks at one league need more than 2."""
SLOPE_TOLERANCE, LUCK_TOLERANCE = 0.05, 0.15
"""Shares of what is shown by which theory may be off before it misleads: both are larger than what ten teams differ
from very many."""
MATCHES_ALLOWED = 4.0
"""A league not where theory said after this many times the matches that theory gave it has been given its time."""
PAPER_UNITS = Units()


def state_of(theory: TheoryAnswer, league: Evidence | None) -> State:
    """Which of the four states theory and league are in."""
    if theory.missing or (league is not None and league.outgrown):
        return "no theory"
    if league is None:
        return "expected"
    overdue = theory.matches is not None and league.matches > MATCHES_ALLOWED * theory.matches
    if not league.settled and not overdue:
        return "expected"
    if slopes_differ(theory, league) or luck_differs(theory, league):
        return "disagree"
    near = _near(theory.slope, league.slope, SLOPE_TOLERANCE) and _near(theory.luck, league.luck, LUCK_TOLERANCE)
    return "agree" if near and league.settled else "expected"


def slopes_differ(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether the league's slope is another one, by more than chance, and so much that the words would be wrong."""
    if not _apart(theory.slope, league.slope):
        return False
    off = abs(league.slope.value - theory.slope)
    return off > SLOPE_TOLERANCE * abs(theory.slope) or meaning(theory.slope) != meaning(league.slope.value)


def luck_differs(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether the league's ratings stray by more or less than theory says, beyond chance."""
    return _apart(theory.luck, league.luck) and abs(league.luck.value - theory.luck) > LUCK_TOLERANCE * theory.luck


def _apart(theory: float, league: Measured) -> bool:
    return abs(league.z_score(theory)) > DOUBT


def _near(theory: float, league: Measured, tolerance: float) -> bool:
    """Whether the league shows theory's number within the tolerance, and knows its own number better than that."""
    return max(abs(league.value - theory), 2 * league.error) <= tolerance * abs(theory)


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


def headline(state: State, theory: TheoryAnswer, league: Evidence | None, units: Units = PAPER_UNITS) -> str:
    """One sentence for the state."""
    if state == "no theory" and not theory.missing:
        return "The walk has spread the league beyond what theory was asked about: watch what it does."
    if state == "no theory":
        return "Theory has no answer here: watch what the league does."
    if state == "expected":
        settled = league is not None and league.settled
        words = "The league is not sure enough of its own numbers yet." if settled else "The league is still settling."
        return f"Theory expects that {meaning(theory.slope)}. {words}"
    words = meaning(theory.slope)
    if state == "agree" or league is None:
        return f"{words[0].upper()}{words[1:]}: theory and league agree."
    if slopes_differ(theory, league):
        expected, shown = f"a slope of {theory.slope:.2f}", f"{league.slope.value:.2f}"
    else:
        stray = "miss strength" if theory.parts else "stray"
        expected = f"ratings that {stray} by ± {units.points(theory.luck)}"
        shown = f"± {units.points(league.luck.value)}"
    return f"Theory and league disagree: theory says {expected}, the league shows {shown}."


def judged(
    theory: TheoryAnswer, league: Evidence | None, controls: Controls | None = None, units: Units = PAPER_UNITS
) -> dict[str, Any]:
    """The verdict as the page shows it, every number in the units of the page."""
    controls = Controls() if controls is None else controls
    state = state_of(theory, league)
    believed = state in ("expected", "agree")
    return {
        "state": state,
        "headline": headline(state, theory, league, units),
        "facts": facts(state, theory, league, units, "contests" if controls.sides > 2 else "matches"),
        "advice": " ".join(advice(theory, controls, units)) if believed else theory.missing,
        "offers": offers(theory, controls, units) if believed else [],
        "caveats": list(theory.caveats),
        "whole": believed and theory.whole,
    }


Fact = dict[str, str | None]


def facts(
    state: State, theory: TheoryAnswer, league: Evidence | None, units: Units = PAPER_UNITS, played: str = "matches"
) -> list[Fact]:
    """The numbers that matter: theory's, what the league shows of them, and what they mean."""
    slope, luck_shown = _shown(league, units)
    answered = state != "no theory"
    missed = "points by which a rating misses present strength"
    facts_shown: list[Fact] = [
        {
            "value": f"{theory.slope:.2f}" if answered else "no answer",
            "league": slope,
            "text": "rating points shown for each point of true strength",
        },
        {
            "value": f"± {units.points(theory.luck)}" if answered else "no answer",
            "league": luck_shown,
            "text": f"{missed if theory.parts else 'points of mere luck in a rating'} (one standard deviation)",
        },
    ]
    if not answered and not math.isnan(theory.slope):
        facts_shown[0]["text"] = (
            f"rating points shown for each point of true strength; {theory.slope:.2f} if steps were tiny"
        )
    if state in ("no theory", "disagree"):
        return facts_shown
    if theory.parts:
        luck, lag, bias = (units.points(part) for part in theory.parts)
        words = f"points of it are lag: ratings trail strengths that move. Luck makes ± {luck}, bias ± {bias}"
        return [*facts_shown, {"value": f"± {lag}", "league": None, "text": words}]
    return [*facts_shown, *_facts_at_rest(theory, units, played)]


def _facts_at_rest(theory: TheoryAnswer, units: Units, played: str) -> list[Fact]:
    matches = theory.matches
    settled = PENDING if matches is None else f"{matches:,.0f}" if math.isfinite(matches) else "never"
    off = units.points(abs(theory.bias))
    side = "off" if not off.strip("0.") else "too low" if theory.bias < 0 else "too high"
    text = f"points {side}: where the strongest team ends up on average"
    facts: list[Fact] = [{"value": off, "league": None, "text": text}]
    if not math.isnan(theory.miss):
        words = "points by which ratings miss true strength, bias and luck together (root mean square)"
        facts.insert(0, {"value": units.points(theory.miss), "league": None, "text": words})
    text = f"{played} per team until the whole league has settled"
    return [*facts, {"value": settled, "league": None, "text": text}]


def _shown(league: Evidence | None, units: Units) -> tuple[str, str]:
    if league is None:
        return PENDING, PENDING
    sofar = "" if league.settled else " so far"
    slope, luck = league.slope, league.luck
    return (
        f"{slope.value:.2f}{sofar} (standard error {slope.error:.2g})",
        f"± {units.points(luck.value)}{sofar} (standard error {luck.error * units.factor:.2g})",
    )
