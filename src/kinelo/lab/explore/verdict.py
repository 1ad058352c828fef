"""The verdict beside the picture: the numbers of ``kn.diagnose`` with words for somebody who has not read the paper."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from kinelo.advice.diagnosis import Diagnosis, diagnose
from kinelo.advice.words import rows_of
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.fair import Search, look_for_fair_step
from kinelo.lab.explore.theory import PredictedMap, many_teams

PENDING = "…"
FAIR = 0.02
"""A slope this near to 1 is called fair."""


def first_words(foreseen: PredictedMap) -> dict[str, Any]:
    """What can be said as soon as the map is known, until the diagnosis is there."""
    return {
        "headline": headline(foreseen.slope),
        "facts": facts(
            foreseen.slope, float((foreseen.rating - foreseen.theta)[-1]), float(foreseen.deviation.mean()), None
        ),
        "advice": "",
    }


@lru_cache(maxsize=256)
def verdict(controls: Controls) -> dict[str, Any]:
    """Headline, facts, advice, and the whole diagnosis in lines, for one position of the sliders."""
    found = diagnose(controls.system, many_teams(controls))
    return {
        "headline": headline(found.slope),
        "facts": facts(found.slope, float(found.state.bias[-1]), found.rating_noise, found.matches_until_converged),
        "advice": advice(found, controls),
        "lines": [{"name": name, "finding": finding} for name, finding in rows_of(found)],
    }


def headline(slope: float) -> str:
    """What the slope of ratings on strengths means.

    >>> headline(0.8)
    'Strong teams are under-rated, weak teams over-rated.'
    """
    if slope < 1 - FAIR:
        return "Strong teams are under-rated, weak teams over-rated."
    if slope > 1 + FAIR:
        return "Strong teams are over-rated, weak teams under-rated."
    return "On average, ratings tell the true strength."


def facts(slope: float, bias: float, noise: float, matches: float | None) -> list[dict[str, str]]:
    """The four numbers that matter, each with what it means; ``bias`` is that of the strongest team."""
    settled = PENDING if matches is None else f"{matches:,.0f}" if math.isfinite(matches) else "never"
    return [
        {"value": f"{slope:.2f}", "text": "rating points shown for each point of true strength"},
        {
            "value": f"{abs(bias):.2f}",
            "text": f"points too {'low' if bias < 0 else 'high'}: where the strongest team ends up on average",
        },
        {"value": f"± {noise:.2f}", "text": "points of mere luck in a rating (one standard deviation)"},
        {"value": settled, "text": "matches per team until the whole league has settled"},
    ]


def advice(found: Diagnosis, controls: Controls) -> str:
    """What would make the ratings fair, as far as it is known."""
    gamma, best = controls.gamma, found.unbiased_gamma
    if abs(found.slope - 1) <= FAIR:
        return "The luck in the ratings just makes up for the ups and downs of the teams."
    if best is None:
        search = look_for_fair_step(controls)
        best = search.gamma
        if best is None:
            return nothing_found(gamma, search)
    if best == 0:
        return (
            "These teams do not vary at all: only very small steps rate them fairly, because luck stretches the scale."
        )
    if best > gamma:
        return (
            f"Raising the step size γ to about {best:.2g} would make ratings fair, at the price of more luck in each."
        )
    return f"Lowering the step size γ to about {best:.2g} would make ratings fair."


def nothing_found(gamma: float, search: Search) -> str:
    """How far a search for a fair step size got."""
    tried = (
        f"No step size was found that makes ratings fair: the slope is {search.slope:.2f} at γ = {search.reached:.2g}"
    )
    if not search.settles:
        return f"{tried}, and a little further on luck leaves no stable ratings."
    return f"{tried}, the {'largest' if search.reached >= gamma else 'smallest'} step offered here."
