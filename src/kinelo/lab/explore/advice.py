"""What the page advises, in words and numbers of its own units, and the steps that one press applies."""

from __future__ import annotations

from typing import Any

from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.fair import PricedStep, Search, offered_steps, on_slider
from kinelo.lab.explore.theory import typical_sigma
from kinelo.lab.explore.verdict import FAIR, TheoryAnswer
from kinelo.lab.units import Units

WORTH_OFFERING = 0.98
"""A step is offered for its smaller miss from this share of the present one on."""
SLOPE_READ_AS_ONE = 0.02
"""Ratings whose gaps are this near to those of strengths are read as they are."""


def advice(theory: TheoryAnswer, controls: Controls, units: Units) -> list[str]:
    """Sentences: what would make ratings right on average, at which price, and which step misses least."""
    if not theory.whole:
        return []
    words = [] if theory.parts else [_on_scale(theory, controls, units)]
    if (least := _worth(theory)) is not None:
        words.append(_on_miss(theory, least, controls, units))
    if theory.forecast is not None and abs(theory.forecast - 1) > SLOPE_READ_AS_ONE:
        words.append(
            f"Multiply gaps between ratings by {theory.forecast:.2f} before you read them as gaps in strength."
        )
    return words


def offers(theory: TheoryAnswer, controls: Controls, units: Units) -> list[dict[str, Any]]:
    """Steps that the slider can hold, each with the words of its button."""
    offered = []
    fair = None if theory.fair is None or abs(theory.slope - 1) <= FAIR else theory.fair
    for step, why in ((fair, "right on average"), (_worth(theory), "misses least")):
        gamma = None if step is None else on_slider(step.gamma)
        if gamma is not None and gamma != controls.gamma:
            offered.append({"gamma": gamma, "label": f"Apply {units.step(gamma)}: {why}"})
    return offered


def _worth(theory: TheoryAnswer) -> PricedStep | None:
    return theory.least if theory.least is not None and theory.least.miss < WORTH_OFFERING * theory.miss else None


def _on_scale(theory: TheoryAnswer, controls: Controls, units: Units) -> str:
    """About the slope of ratings on strengths."""
    varies = typical_sigma(controls) > 0
    if abs(theory.slope - 1) <= FAIR:
        if varies:
            return "Luck stretches the ratings by as much as the ups and downs of the teams shrink them."
        return "Teams that never vary are rated fairly here: the step is so small that luck hardly stretches the scale."
    if theory.search is not None and theory.fair is None:
        return _nothing_found(theory.search, controls, units)
    if theory.fair is None:
        return f"Divide gaps between ratings by {theory.slope:.2f} before you read them as gaps in strength."
    if theory.fair.gamma == 0:
        return "Teams that never vary are rated fairly only by very small steps, because luck stretches the scale."
    return _on_fair_step(theory, theory.fair, controls, units)


def _on_fair_step(theory: TheoryAnswer, fair: PricedStep, controls: Controls, units: Units) -> str:
    price = (
        f"luck in a rating is then ± {units.points(fair.luck)} {units.word} instead of ± {units.points(theory.luck)}, "
        f"and it misses true strength by {units.points(fair.miss)} instead of {units.points(theory.miss)}."
    )
    if on_slider(fair.gamma) is None:
        return f"Ratings would be right on average at {units.step(fair.gamma)}, beyond the end of the slider: {price}"
    change = "Raising" if fair.gamma > controls.gamma else "Lowering"
    return f"{change} the step to {units.step(fair.gamma)} would make ratings right on average: {price}"


def _on_miss(theory: TheoryAnswer, least: PricedStep, controls: Controls, units: Units) -> str:
    low, high = offered_steps()
    ends = {low: ", the smallest offered", high: ", the largest offered"}
    calm = " once they have settled" if least.gamma < controls.gamma and not theory.parts else ""
    strength = "present" if theory.parts else "true"
    return (
        f"Ratings miss {strength} strength least at {units.step(least.gamma)}{ends.get(least.gamma, '')}: "
        f"by {units.points(least.miss)} {units.word}{calm}, instead of {units.points(theory.miss)}."
    )


def _nothing_found(search: Search, controls: Controls, units: Units) -> str:
    """How far a search for a fair step size got."""
    tried = (
        f"No step was found at which ratings are right on average: the slope is {search.slope:.2f} at "
        f"{units.step(search.reached)}"
    )
    if not search.settles:
        return f"{tried}, and a little further on luck leaves no stable ratings."
    return f"{tried}, the {'largest' if search.reached >= controls.gamma else 'smallest'} step offered here."
