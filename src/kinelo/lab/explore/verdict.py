"""What theory says of a position of the sliders: the numbers of ``kn.diagnose``, with what would make ratings fair.

What the page shows of it is decided in :mod:`~kinelo.lab.explore.judgement`, beside what the league shows.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from kinelo.advice.diagnosis import Diagnosis, diagnose
from kinelo.advice.motion import motion_rows
from kinelo.advice.words import rows_of
from kinelo.errors import InputError, NoStationaryState
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.fair import Search, look_for_fair_step
from kinelo.lab.explore.theory import PredictedMap, heard, league_of, predicted_map

FAIR = 0.02
"""A slope this near to 1 is called fair."""


@dataclass(frozen=True)
class Offer:
    """A step size that makes ratings fair, with its price: the luck in a rating (one standard deviation) there."""

    gamma: float
    luck: float


@dataclass(frozen=True)
class TheoryAnswer:
    """The answer of theory. ``missing`` says why there is none; ``matches`` is None until it is known.

    ``bias`` is that of the strongest team, ``luck`` the standard deviation of a rating, ``matches`` what each team
    plays until the league has settled. Where strengths move, ``luck`` is the error of a rating and ``parts`` what luck,
    lag and bias contribute to it.
    """

    slope: float
    bias: float
    luck: float
    missing: str = ""
    caveats: tuple[str, ...] = ()
    matches: float | None = None
    advice: str = ""
    offer: Offer | None = None
    lines: tuple[tuple[str, str], ...] = ()
    parts: tuple[float, float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON holds it; what never happens takes -1 matches."""
        never = self.matches is not None and not math.isfinite(self.matches)
        return {**asdict(self), "matches": -1.0 if never else self.matches}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> TheoryAnswer:
        """The answer that :meth:`to_dict` wrote."""
        matches, offer = plain["matches"], plain["offer"]
        return cls(
            **{
                **{name: plain[name] for name in cls.__dataclass_fields__},
                "matches": math.inf if matches == -1.0 else matches,
                "offer": Offer(**offer) if offer else None,
                "caveats": tuple(plain["caveats"]),
                "parts": tuple(plain["parts"]) if plain["parts"] else None,
                "lines": tuple((name, finding) for name, finding in plain["lines"]),
            }
        )


def first_answer(foreseen: PredictedMap) -> TheoryAnswer:
    """What is known with the map, until the diagnosis is there."""
    bias = float((foreseen.rating - foreseen.theta)[-1])
    known = TheoryAnswer(foreseen.slope, bias, foreseen.luck, foreseen.missing, foreseen.caveats)
    return replace(known, parts=foreseen.parts)


@lru_cache(maxsize=256)
def whole_answer(controls: Controls) -> TheoryAnswer:
    """The whole diagnosis; that of the map alone where there is no diagnosis."""
    first = first_answer(predicted_map(controls))
    if first.missing:
        return first
    caveats = list(first.caveats)
    with heard(caveats):
        try:  # the league on the page is the check
            found = diagnose(controls.system, league_of(controls), controls.dynamics, check=False)
        except NoStationaryState as error:
            return replace(first, missing=str(error))
        except InputError:  # theory has a map for more leagues than a diagnosis
            return replace(first, caveats=tuple(dict.fromkeys(caveats)))
    words, offer = _motion_advice(found, controls) if first.parts else advice(found, controls)
    answer = replace(first, caveats=tuple(dict.fromkeys(caveats)), advice=words, offer=offer)
    if first.parts:
        return replace(answer, lines=tuple(motion_rows(found.motion)))
    return replace(
        answer, slope=found.slope, bias=float(found.state.bias[-1]), luck=found.rating_noise,
        matches=found.matches_until_converged, lines=(*rows_of(found), *motion_rows(found.motion)),
    )  # fmt: skip


def _motion_advice(found: Diagnosis, controls: Controls) -> tuple[str, Offer | None]:
    """What the library advises where strengths move, and the step that follows them best."""
    words = " ".join(found.advice)
    best = None if found.motion is None else found.motion.best
    nothing = best is None or controls.steps == "glicko" or words.startswith("Nothing")
    if best is None or nothing or not 0.01 <= best.gamma <= 1:
        return words, None
    error = best.error**0.5
    price = f"At γ = {best.gamma:.2g} a rating misses strength by ± {error:.2f} points (one standard deviation)."
    return f"{words} {price}", Offer(best.gamma, error)


def advice(found: Diagnosis, controls: Controls) -> tuple[str, Offer | None]:
    """What would make the ratings fair, as far as it is known, and the step to apply."""
    gamma, best, luck = controls.gamma, found.unbiased_gamma, found.noise_when_unbiased
    if abs(found.slope - 1) <= FAIR:
        return "The luck in the ratings just makes up for the ups and downs of the teams.", None
    if controls.steps == "glicko" or (best is None and controls.schedule == "rounds"):
        return f"Divide gaps between ratings by {found.slope:.2f} before you read them as gaps in strength.", None
    if best is None:
        search = look_for_fair_step(controls)
        best = search.gamma
        if best is None:
            return nothing_found(gamma, search), None
        luck = predicted_map(replace(controls, gamma=best)).luck
    if best == 0 or luck is None:
        return (
            "These teams do not vary at all: only very small steps rate them fairly, because luck stretches the scale.",
            None,
        )
    change = "Raising" if best > gamma else "Lowering"
    price = (
        f"A rating then strays by ± {luck:.2f} points instead of ± {found.rating_noise:.2f} (one standard deviation)."
    )
    return f"{change} the step size γ to about {best:.2g} would make ratings fair. {price}", Offer(best, luck)


def nothing_found(gamma: float, search: Search) -> str:
    """How far a search for a fair step size got."""
    tried = (
        f"No step size was found that makes ratings fair: the slope is {search.slope:.2f} at γ = {search.reached:.2g}"
    )
    if not search.settles:
        return f"{tried}, and a little further on luck leaves no stable ratings."
    return f"{tried}, the {'largest' if search.reached >= gamma else 'smallest'} step offered here."
