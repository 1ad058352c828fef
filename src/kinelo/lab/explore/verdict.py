"""What theory says of a position of the controls: numbers of ``kn.diagnose``, and steps with their price.

What the page shows of it is decided in :mod:`~kinelo.lab.explore.judgement`, beside what the league shows.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from kinelo.advice.diagnosis import Diagnosis
from kinelo.errors import InputError, NoStationaryState
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.fair import PricedStep, Search, least_miss, look_for_fair_step, offered_steps, priced
from kinelo.lab.explore.theory import PredictedMap, diagnosis_in, heard, is_slow, predicted_map

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


def _at_rest(first: TheoryAnswer, found: Diagnosis, controls: Controls) -> TheoryAnswer:
    answer = replace(
        first, slope=found.slope, bias=float(found.state.bias[-1]), luck=found.rating_noise,
        matches=found.matches_until_converged,
    )  # fmt: skip
    if controls.steps == "glicko":
        return answer
    least = None if is_slow(controls) else least_miss(controls)
    best, luck = found.unbiased_gamma, found.noise_when_unbiased
    if best is None and controls.schedule == "rounds":
        return replace(answer, least=least)
    if best is None and abs(found.slope - 1) > FAIR:
        search = look_for_fair_step(controls)
        fair = None if search.gamma is None else priced(controls, search.gamma)
        return replace(answer, least=least, fair=fair, search=search)
    if best is None:
        return replace(answer, least=least)
    # Without bias on average, what is left is luck, and the little that a straight line does not show.
    fair = priced(controls, best) if offered_steps()[0] <= best <= offered_steps()[1] else None
    miss = math.sqrt(found.error_when_unbiased or 0.0)
    return replace(answer, least=least, fair=fair or PricedStep(best, luck or 0.0, miss))
