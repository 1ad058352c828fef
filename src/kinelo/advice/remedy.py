r"""What to change: the one thing that lowers the error most, with what it costs.

The error is ``E = bias + noise + lag``, the mean square of rating less strength about the league's means. Two things
can be changed without another rater: the size of the steps, whose best value trades noise against bias and lag, and the
scale on which ratings are read, whose best factor is the slope C/U of strengths on ratings and leaves ``V − C²/U``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kinelo.advice.design_theory import expected_error
from kinelo.advice.judged import Judged, JudgedLeague, judge, rescaled
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Learning, Turnover
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.presentation import significant
from kinelo.theory.moving.best import BestGamma
from kinelo.theory.moving.following import Parts
from kinelo.theory.moving.open_league import OpenLeague
from kinelo.theory.state import StationaryState

if TYPE_CHECKING:
    from kinelo.advice.check import Check

WORTH_SAYING = 0.05
"""Share of the error that a remedy saves at least."""
MATERIAL = 0.01
"""Share of the variance of strengths that it saves at least."""
MOST_HALVINGS = 12


@dataclass(frozen=True)
class Remedy:
    """One change, and the error before and after it.

    Attributes
    ----------
    kind
        ``"step"``: other steps; ``"scale"``: read ratings on another scale.
    sentence
        What to do, what it saves and what it costs.
    before, after
        The error by cause; of another scale only the total is known, as ``after.total``.
    system
        The changed system, to be diagnosed again; None where only the reading changes.
    factor
        By how much to multiply rating gaps; 1 where steps change.
    check
        What a league played with the remedy showed, where one was.
    """

    kind: Literal["step", "scale"]
    sentence: str
    before: Parts
    after: Parts
    system: RatingSystem | None
    factor: float = 1.0
    check: Check | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words."""
        plain: dict[str, Any] = {
            "kind": self.kind, "sentence": self.sentence, "error_before": self.before.total,
            "error_after": self.after.total, "factor": self.factor,
            "check": None if self.check is None else self.check.to_dict(),
        }  # fmt: skip
        if self.system is not None and isinstance(self.system.gamma, float):
            plain["gamma"] = self.system.gamma
        return plain


class Case(NamedTuple):
    """What a remedy is looked for: system and league, where ratings rest, what was found, at this step and by γ at
    others, and how long ratings take to settle with steps so many times as large.
    """

    system: RatingSystem
    league: JudgedLeague
    turnover: Turnover | None
    still: StationaryState
    found: Judged
    best: BestGamma | None
    known: dict[float, Judged]
    settling: Callable[[Judged, float], float]

    def judged(self, system: RatingSystem) -> Judged:
        """The league under other steps, solved once."""
        step: Any = system.gamma
        if step not in self.known:
            self.known[step] = judge(system, self.league, self.still, self.found.state)
        return self.known[step]


def find_remedy(case: Case) -> Remedy | None:
    """The remedy that lowers the error most, if one is worth it."""
    if case.found.moments.V == 0 or not case.found.state.stable:
        return None
    remedies = [one for one in (_other_steps(case), _other_scale(case)) if one is not None]
    worth = [one for one in remedies if _worth(one.before.total, one.after.total, case.found.moments.V)]
    return min(worth, key=lambda one: one.after.total, default=None)


def _worth(before: float, after: float, V: float) -> bool:
    return before - after > max(WORTH_SAYING * before, MATERIAL * V)


def _other_scale(case: Case) -> Remedy | None:
    """Multiply rating gaps by the slope of strengths on ratings."""
    moments, before = case.found.moments, case.found.parts
    if case.turnover is not None or moments.C <= 0:
        return None
    factor = moments.forecast_slope
    after = moments.V - moments.C * factor
    where = "too close together" if factor > 1 else "too far apart"
    luck = factor < 1 and moments.rating_slope < 1
    why = ", because luck spreads them by more than they fall short of strengths" if luck else ""
    sentence = (
        f"Multiply rating gaps by {factor:.3f} before you read them as gaps in strength: ratings lie {where} for that"
        f"{why}. {_falls(before.total, after)}. It costs nothing: ratings and their order stay as they are."
    )
    return Remedy("scale", sentence, before, Parts(0.0, 0.0, after), None, factor)


def _other_steps(case: Case) -> Remedy | None:
    """Steps of the best size."""
    try:
        factor, error = _best_factor(case)
        system = None if factor == 1 else rescaled(case.system, factor)
        if system is None:
            return None
        before, after = error(1.0), error(factor)
        verb, old, new = "Raise" if factor > 1 else "Reduce", case.system.gamma, system.gamma
        change = f"Multiply all steps by {factor:.3g}"
        if isinstance(old, float) and isinstance(new, float):
            change = f"{verb} γ from {old:.3g} to {new:.3g}"
        elif isinstance(old, DeviationSteps) and isinstance(new, DeviationSteps):
            change = f"{verb} the growth of deviations from {old.growth:.3g} to {new.growth:.3g}"
        words = f"{change}: {_falls(before, after, lower=True)}."
        if factor > 1:
            was, will = (math.sqrt(max(one, 0.0)) for one in (case.found.parts.noise, after.noise))
            if will > was:
                words += f" The price is luck: it moves a rating by ± {will:.2g} instead of ± {was:.2g}."
        else:
            was, will = case.settling(case.found, 1.0), case.settling(case.judged(system), factor)
            if was < will < math.inf:
                units = "matches" if case.system.sides == 2 else "contests"
                words += f" The price is time: the league takes about {will:,.0f} {units} per team to settle instead "
                words += f"of {was:,.0f}."
        return Remedy("step", words, before, after, system)
    except (InputError, NoStationaryState):
        return None


ErrorAt = Callable[[float], Parts]


def _best_factor(case: Case) -> tuple[float, ErrorAt]:
    """By how much to multiply all steps, and the error as a function of that."""
    system, league, V = case.system, case.league, case.found.moments.V
    parts_at: dict[float, Parts] = {1.0: case.found.parts}
    if isinstance(league.dynamics, Learning) or rescaled(system, 1.0) is None:
        return 1.0, parts_at.__getitem__
    if case.turnover is not None:
        parts_at.clear()

    def error(factor: float) -> Parts:
        if factor not in parts_at:
            other = rescaled(system, factor)
            assert other is not None
            if case.turnover is None:
                parts_at[factor] = case.judged(other).parts
            else:
                parts_at[factor] = _open(other, league, case.turnover)
        return parts_at[factor]

    if case.best is not None and isinstance(system.gamma, float):
        best, floor = case.best.gamma / system.gamma, case.best.error
        if best > 0:
            parts_at[best] = case.best.parts  # the same as judged, but for rounding in γ
    else:
        best, floor = _search(error)
    if best > 0:
        return best, error
    # The smaller the better: as small as is worth the wait.
    goal = floor + max(WORTH_SAYING * floor, MATERIAL * V)
    factor, curve = 1.0, case.best if isinstance(system.gamma, float) else None
    for _ in range(MOST_HALVINGS):
        # The curve is known well enough to choose by; a league is solved whole at the step chosen only.
        if (error(factor).total if curve is None else curve.error_near(factor * system.step)) <= goal:
            break
        factor /= 2
    return factor, error


def _search(error: ErrorAt) -> tuple[float, float]:
    """The best factor on a ladder of halves and doubles, refined by a parabola; 0 where the smallest is best."""

    def total(power: int) -> float:
        try:
            return error(2.0**power).total
        except NoStationaryState:
            return math.inf

    power, way = 0, 1 if total(1) < total(0) else -1
    while total(power + way) < total(power):
        power += way
        if abs(power) == MOST_HALVINGS:
            return (0.0 if way < 0 else 2.0**power), total(power)
    around = [total(power + one) for one in (-1, 0, 1)]
    if not math.isfinite(sum(around)):
        return 2.0**power, around[1]
    shift = (around[0] - around[2]) / (2 * (around[0] - 2 * around[1] + around[2]))
    best = 2.0 ** (power + shift)
    return (best, error(best).total) if error(best).total < around[1] else (2.0**power, around[1])


def with_newcomers(judged: Judged, system: RatingSystem, league: JudgedLeague, turnover: Turnover) -> Judged:
    """What was found, with the moments and the error of all who play, newcomers included, where theory knows them."""
    with suppress(InputError, NoStationaryState):
        if isinstance(system.gamma, float):
            state = OpenLeague(system, league.strengths, league.dynamics, turnover)(system.gamma)
            return replace(judged, moments=state.moments, parts=state.parts)
        return replace(judged, parts=_open(system, league, turnover))
    return judged


def _open(system: RatingSystem, league: JudgedLeague, turnover: Turnover) -> Parts:
    """The error of an open league, newcomers included."""
    dynamics, error = turnover if league.dynamics is None else (league.dynamics, turnover), None
    if isinstance(league.strengths, Strength):
        error = expected_error(system, league.strengths, dynamics, 0.0)
    if error is None:
        raise InputError("There is no theory of this open league.")
    return error


def _falls(before: Parts | float, after: Parts | float, *, lower: bool = False) -> str:
    first, last = (one.total if isinstance(one, Parts) else one for one in (before, after))
    sentence = f"{'t' if lower else 'T'}he mean square error falls from {significant(first)} to {significant(last)}"
    if isinstance(before, Parts) and isinstance(after, Parts):
        pairs = [(name, getattr(before, name), getattr(after, name)) for name in ("bias", "noise", "lag")]
        ends = [(name, significant(a, 2), significant(b, 2)) for name, a, b in pairs if max(a, b) > 0.02 * first]
        sentence += f" ({', '.join(f'{name} {one} → {other}' for name, one, other in ends)})"
    return sentence
