"""What theory says of a position of the controls, whether the league on the page bears it out, and what to change.

A verdict is in one of four states. ``expected``: theory has an answer and the league has not settled (its teams have
not played the matches that theory gives it), or is not sure enough of its own numbers. ``agree``: it has settled where
theory said. ``disagree``: it has not, beyond doubt. ``no theory``: nothing is claimed, and only the league's own
numbers are shown.

Steps worth applying are the one at which ratings are right on average and the one that misses strength least. Where
opponents depend on ratings, the first is looked for, for want of a formula: from the present step the search goes
towards slope 1 by factors of :data:`FACTOR` until the slope has passed it, the slider ends, or luck leaves no stable
ratings; between the last two steps it goes by the chord, in the logarithm of γ."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from kinelo.advice.diagnosis import Diagnosis
from kinelo.advice.league_evidence import Evidence, Measured
from kinelo.errors import InputError, NoStationaryState
from kinelo.lab.control import Slider
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import PredictedMap, diagnosis_in, heard, is_slow, predicted_map, typical_sigma
from kinelo.lab.units import Units
from kinelo.pages.page import share_page

FACTOR = 1.5
CHORDS = 6
UNIT_SLOPE_TOLERANCE = 0.002
"""A slope this near to 1 is 1."""


STEPS_TRIED, FEW_STEPS_TRIED = 9, 4
"""Steps of the slider that are tried for the least miss."""


@dataclass(frozen=True)
class PricedStep:
    """A step size with its price: the luck in a rating, and how far it misses strength, bias and luck together."""

    gamma: float
    luck: float
    miss: float


@dataclass(frozen=True)
class Search:
    """What was found. ``gamma`` is None where nothing was; the slope got as far as ``slope`` at step ``reached``, and
    ``settles`` says whether ratings settle at the step after that.
    """

    gamma: float | None
    reached: float
    slope: float
    settles: bool = True


def look_for_fair_step(controls: Controls) -> Search:
    """Look for a step size at which the slope of ratings on strengths is 1."""
    low, high = offered_steps()
    step = controls.gamma
    slope = _slope(controls, step)
    if slope is None:
        return Search(None, step, float("nan"), settles=False)
    rising = slope < 1
    while step < high if rising else step > low:
        there = min(step * FACTOR, high) if rising else max(step / FACTOR, low)
        beyond = _slope(controls, there)
        if beyond is None:
            return Search(None, step, slope, settles=False)
        if (beyond < 1) != rising:
            return _between(controls, (step, slope), (there, beyond))
        step, slope = there, beyond
    return Search(None, step, slope)


def _between(controls: Controls, near: tuple[float, float], far: tuple[float, float]) -> Search:
    """Step size of slope 1 between two steps, each given with its slope, on either side of 1."""
    gamma = near[0]
    for _ in range(CHORDS):
        share = (1 - near[1]) / (far[1] - near[1])
        gamma = near[0] * (far[0] / near[0]) ** share
        slope = _slope(controls, gamma)
        if slope is None:
            return Search(None, *near, settles=False)
        if abs(slope - 1) <= UNIT_SLOPE_TOLERANCE:
            break
        near, far = ((gamma, slope), far) if (slope < 1) == (near[1] < 1) else (near, (gamma, slope))
    return Search(gamma, gamma, 1.0)


def _slope(controls: Controls, gamma: float) -> float | None:
    found = _at(controls, gamma)
    return None if found is None else found.slope


def _at(controls: Controls, gamma: float) -> PredictedMap | None:
    """The map at another step; None where there is none."""
    try:
        found = predicted_map(controls.but(gamma=gamma))
    except (NoStationaryState, InputError):
        return None
    return None if found.missing else found


def offered_steps() -> tuple[float, float]:
    """Smallest and largest step of the slider."""
    control = Controls.controls()["gamma"]
    assert isinstance(control, Slider)
    return control.low, control.high


def on_slider(gamma: float) -> float | None:
    """A step as the slider can hold it, to three digits; None where it lies beyond the ends."""
    low, high = offered_steps()
    rounded = float(f"{gamma:.3g}")
    return rounded if low <= rounded <= high else None


def priced(controls: Controls, gamma: float) -> PricedStep | None:
    """A step with what it costs; None where there is no answer."""
    found = _at(controls, gamma)
    return None if found is None else PricedStep(gamma, found.luck, found.miss)


def least_miss(controls: Controls) -> PricedStep | None:
    """The step on the slider at which ratings miss strength least, of a ladder over it."""
    low, high = offered_steps()
    # Where opponents depend on ratings, an answer takes seconds at large steps: only smaller ones are tried.
    steps = (
        np.geomspace(low, high, STEPS_TRIED)
        if controls.pairing == "all"
        else np.geomspace(low, controls.gamma, FEW_STEPS_TRIED)
    )
    rungs = (priced(controls, float(f"{gamma:.3g}")) for gamma in steps)
    return min((one for one in rungs if one is not None), key=lambda one: one.miss, default=None)


FAIR = 0.02
"""A slope this near to 1 is called fair."""


@dataclass(frozen=True)
class TheoryAnswer:
    """The answer of theory. ``missing`` says why there is none; ``matches`` is None until it is known.

    ``bias`` is that of the strongest team, ``luck`` the standard deviation of a rating, ``miss`` how far it misses
    strength, ``matches`` what each team plays until the league has settled. ``fair`` is the step at which ratings are
    right on average (``search`` says how far one was looked for in vain), ``least`` the one that misses least. Where
    strengths move, ``parts`` are what luck, lag and bias contribute to the miss, and ``forecast`` is what gaps between
    ratings are to be multiplied with.
    """

    slope: float
    bias: float
    luck: float
    miss: float = math.nan
    missing: str = ""
    caveats: tuple[str, ...] = ()
    matches: float | None = None
    whole: bool = False
    fair: PricedStep | None = None
    search: Search | None = None
    least: PricedStep | None = None
    forecast: float | None = None
    parts: tuple[float, float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON holds it; what never happens takes -1 matches."""
        never = self.matches is not None and not math.isfinite(self.matches)
        miss = None if math.isnan(self.miss) else self.miss
        return {**asdict(self), "matches": -1.0 if never else self.matches, "miss": miss}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> TheoryAnswer:
        """The answer that :meth:`to_dict` wrote."""
        made = {
            "matches": math.inf if plain["matches"] == -1.0 else plain["matches"],
            "miss": math.nan if plain["miss"] is None else plain["miss"],
            "caveats": tuple(plain["caveats"]),
            "parts": tuple(plain["parts"]) if plain["parts"] else None,
            "search": Search(**plain["search"]) if plain["search"] else None,
            **{name: PricedStep(**plain[name]) if plain[name] else None for name in ("fair", "least")},
        }
        return cls(**{**{name: plain[name] for name in cls.__dataclass_fields__}, **made})


def first_answer(foreseen: PredictedMap) -> TheoryAnswer:
    """What is known with the map, until the diagnosis is there."""
    bias = float((foreseen.rating - foreseen.theta)[-1])
    known = TheoryAnswer(foreseen.slope, bias, foreseen.luck, foreseen.miss, foreseen.missing, foreseen.caveats)
    return replace(known, parts=foreseen.parts)


@lru_cache(maxsize=256)
def whole_answer(controls: Controls) -> TheoryAnswer:
    """The whole diagnosis; that of the map alone where there is no diagnosis."""
    first = first_answer(predicted_map(controls))
    if first.missing:
        return first
    caveats = list(first.caveats)
    with heard(caveats):
        try:
            diagnosis = diagnosis_in(controls, "paper")
        except NoStationaryState as error:
            return replace(first, missing=str(error))
        except InputError:  # theory has a map for more leagues than a diagnosis
            return replace(first, caveats=tuple(dict.fromkeys(caveats)))
        answer = _moving(first, diagnosis, controls) if first.parts else _at_rest(first, diagnosis, controls)
    return replace(answer, whole=True, caveats=tuple(dict.fromkeys(caveats)))


def _moving(first: TheoryAnswer, found: Diagnosis, controls: Controls) -> TheoryAnswer:
    """Where strengths move: the step that follows them best, if there is a step to choose."""
    motion = found.motion
    forecast = None if motion is None or motion.tracking is None else motion.tracking.forecast_slope
    best = None if motion is None else motion.best
    if best is None or controls.steps == "glicko":
        return replace(first, forecast=forecast)
    low, high = offered_steps()
    if low <= best.gamma <= high:
        return replace(first, forecast=forecast, least=PricedStep(best.gamma, best.parts.noise**0.5, best.error**0.5))
    return replace(first, forecast=forecast, least=priced(controls, min(max(best.gamma, low), high)))


def _at_rest(first: TheoryAnswer, diagnosis: Diagnosis, controls: Controls) -> TheoryAnswer:
    answer = replace(
        first, slope=diagnosis.slope, bias=float(diagnosis.state.bias[-1]), luck=diagnosis.rating_noise,
        matches=diagnosis.matches_until_converged,
    )  # fmt: skip
    if controls.steps == "glicko":
        return answer
    least = None if is_slow(controls) else least_miss(controls)
    best, luck = diagnosis.unbiased_gamma, diagnosis.noise_when_unbiased
    if best is None and controls.schedule == "rounds":
        return replace(answer, least=least)
    if best is None and abs(diagnosis.slope - 1) > FAIR:
        search = look_for_fair_step(controls)
        fair = None if search.gamma is None else priced(controls, search.gamma)
        return replace(answer, least=least, fair=fair, search=search)
    if best is None:
        return replace(answer, least=least)
    # Without bias on average, what is left is luck, and the little that a straight line does not show.
    fair = priced(controls, best) if offered_steps()[0] <= best <= offered_steps()[1] else None
    miss = math.sqrt(diagnosis.error_when_unbiased or 0.0)
    return replace(answer, least=least, fair=fair or PricedStep(best, luck or 0.0, miss))


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
        low, high = offered_steps()
        ends = {low: ", the smallest offered", high: ", the largest offered"}
        calm = " once they have settled" if least.gamma < controls.gamma and not theory.parts else ""
        words.append(
            f"Ratings miss {'present' if theory.parts else 'true'} strength least at {units.step(least.gamma)}"
            f"{ends.get(least.gamma, '')}: by {units.points(least.miss)} {units.word}{calm}, instead of "
            f"{units.points(theory.miss)}."
        )
    if theory.forecast is not None and abs(theory.forecast - 1) > SLOPE_READ_AS_ONE:
        words.append(
            f"Multiply gaps between ratings by {theory.forecast:.2f} before you read them as gaps in strength."
        )
    return words


def _worth(theory: TheoryAnswer) -> PricedStep | None:
    return theory.least if theory.least is not None and theory.least.miss < WORTH_OFFERING * theory.miss else None


def _on_scale(theory: TheoryAnswer, controls: Controls, units: Units) -> str:
    """About the slope of ratings on strengths."""
    varies = typical_sigma(controls) > 0
    if abs(theory.slope - 1) <= FAIR:
        if varies:
            return "Luck stretches the ratings by as much as the ups and downs of the teams shrink them."
        return "Teams that never vary are rated fairly here: the step is so small that luck hardly stretches the scale."
    if theory.search is not None and theory.fair is None:  # how far a search for a fair step got
        search = theory.search
        tried = (
            f"No step was found at which ratings are right on average: the slope is {search.slope:.2f} at "
            f"{units.step(search.reached)}"
        )
        if not search.settles:
            return f"{tried}, and a little further on luck leaves no stable ratings."
        return f"{tried}, the {'largest' if search.reached >= controls.gamma else 'smallest'} step offered here."
    if theory.fair is None:
        return f"Divide gaps between ratings by {theory.slope:.2f} before you read them as gaps in strength."
    if theory.fair.gamma == 0:
        return "Teams that never vary are rated fairly only by very small steps, because luck stretches the scale."
    fair = theory.fair
    price = (
        f"luck in a rating is then ± {units.points(fair.luck)} {units.word} instead of ± {units.points(theory.luck)}, "
        f"and it misses true strength by {units.points(fair.miss)} instead of {units.points(theory.miss)}."
    )
    if on_slider(fair.gamma) is None:
        return f"Ratings would be right on average at {units.step(fair.gamma)}, beyond the end of the slider: {price}"
    change = "Raising" if fair.gamma > controls.gamma else "Lowering"
    return f"{change} the step to {units.step(fair.gamma)} would make ratings right on average: {price}"


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
    if not has_settled(theory, league) or not (league.settled or overdue):
        return "expected"
    strays = abs(league.luck.value - theory.luck) > LUCK_TOLERANCE * theory.luck
    if slopes_differ(theory, league) or (strays and _apart(theory.luck, league.luck)):
        return "disagree"
    near = _near(theory.slope, league.slope, SLOPE_TOLERANCE) and _near(theory.luck, league.luck, LUCK_TOLERANCE)
    return "agree" if near and league.settled else "expected"


def has_settled(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether every team has played what the league takes to settle; without that number, whether it looks at rest."""
    if theory.matches is None or math.isinf(theory.matches):
        return league.settled
    return league.matches >= round(theory.matches)


def slopes_differ(theory: TheoryAnswer, league: Evidence) -> bool:
    """Whether the league's slope is another one, by more than chance, and so much that the words would be wrong."""
    if not _apart(theory.slope, league.slope):
        return False
    off = abs(league.slope.value - theory.slope)
    return off > SLOPE_TOLERANCE * abs(theory.slope) or meaning(theory.slope) != meaning(league.slope.value)


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


def headline(state: State, theory: TheoryAnswer, league: Evidence | None, units: Units, played: str) -> str:
    """One sentence for the state."""
    if state == "no theory" and not theory.missing:
        return "The walk has spread the league beyond what theory was asked about: watch what it does."
    if state == "no theory":
        return "Theory has no answer here: watch what the league does."
    if state == "expected":
        if league is not None and has_settled(theory, league):
            words = "The league has settled, and is not sure enough of its own numbers yet."
        elif theory.matches == math.inf:
            words = "The whole league never settles."
        elif theory.matches is None or league is None:
            words = "The league is still settling."
        else:
            so_far = math.floor(league.matches)
            words = f"The league is still settling: {so_far:,} of {theory.matches:,.0f} {played} per team."
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
    # Steps that the slider can hold, each with the words of its button.
    fair = None if theory.fair is None or abs(theory.slope - 1) <= FAIR else theory.fair
    played = "contests" if controls.sides > 2 else "matches"
    offered = []
    for step, why in ((fair, "right on average"), (_worth(theory), "misses least")):
        gamma = None if step is None else on_slider(step.gamma)
        if gamma is not None and gamma != controls.gamma:
            offered.append({"gamma": gamma, "label": f"Apply {units.step(gamma)}: {why}"})
    return {
        "state": state,
        "headline": headline(state, theory, league, units, played),
        "facts": facts(state, theory, league, units, played),
        "advice": " ".join(advice(theory, controls, units)) if believed else theory.missing,
        "offers": offered if believed else [],
        "caveats": list(theory.caveats),
        "whole": believed and theory.whole,
    }


Fact = dict[str, str | None]


def facts(state: State, theory: TheoryAnswer, league: Evidence | None, units: Units, played: str) -> list[Fact]:
    """The numbers that matter: theory's, what the league shows of them, and what they mean."""
    slope, luck_shown = _shown(theory, league, units)
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
    if theory.missing and not math.isnan(theory.slope):
        facts_shown[0]["text"] = (
            f"rating points shown for each point of true strength; {theory.slope:.2f} if steps were tiny"
        )
    if state in ("no theory", "disagree"):
        return facts_shown
    if theory.parts:
        luck, lag, bias = (units.points(part) for part in theory.parts)
        words = f"points of it are lag: ratings trail strengths that move. Luck makes ± {luck}, bias ± {bias}"
        return [*facts_shown, {"value": f"± {lag}", "league": None, "text": words}]
    matches = theory.matches
    settled = PENDING if matches is None else f"{matches:,.0f}" if math.isfinite(matches) else "never"
    off = units.points(abs(theory.bias))
    side = "off" if not off.strip("0.") else "too low" if theory.bias < 0 else "too high"
    if not math.isnan(theory.miss):
        words = "points by which ratings miss true strength, bias and luck together (root mean square)"
        facts_shown.append({"value": units.points(theory.miss), "league": None, "text": words})
    text = f"points {side}: where the strongest team ends up on average"
    facts_shown.append({"value": off, "league": None, "text": text})
    text = f"{played} per team until the whole league has settled"
    if matches is not None and math.isfinite(matches) and league is not None and has_settled(theory, league):
        text += ", as it has by now"
    return [*facts_shown, {"value": settled, "league": None, "text": text}]


def _shown(theory: TheoryAnswer, league: Evidence | None, units: Units) -> tuple[str, str]:
    if league is None:
        return PENDING, PENDING
    sofar = "" if has_settled(theory, league) else " so far"
    slope, luck = league.slope, league.luck
    return (
        f"{slope.value:.2f}{sofar} (standard error {slope.error:.2g})",
        f"± {units.points(luck.value)}{sofar} (standard error {luck.error * units.factor:.2g})",
    )


DIAGNOSIS = "Where the ratings of this league end up"


class TheoryController:
    """Answers for positions of the sliders, and is warm from the start."""

    def __init__(self) -> None:
        self.judge(Controls().to_dict())  # loads what every later answer needs

    def foresee(self, controls: dict[str, Any]) -> dict[str, Any] | None:
        """The map, with what it says at a glance; None where that takes seconds and :meth:`judge` has it."""
        read = Controls.read(controls)
        if is_slow(read):
            return None
        foreseen = predicted_map(read)
        return {"map": foreseen.to_dict(), "answer": first_answer(foreseen).to_dict()}

    def judge(self, controls: dict[str, Any]) -> dict[str, Any]:
        """The map and the whole answer."""
        read = Controls.read(controls)
        return {"map": predicted_map(read).to_dict(), "answer": whole_answer(read).to_dict()}

    def rows(self, controls: dict[str, Any], units: str) -> list[list[str]]:
        """Every line of the diagnosis, in the units of the page."""
        return [list(row) for row in diagnosis_in(Controls.read(controls), units).rows()]

    def share(self, controls: dict[str, Any], units: str) -> str:
        """The diagnosis as a page to share."""
        return share_page(diagnosis_in(Controls.read(controls), units), title=DIAGNOSIS)
