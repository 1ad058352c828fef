"""Rating systems as a book keeps them: the names of Kinelo's own laws with their numbers, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kinelo.errors import InputError
from kinelo.model.outcome import Davidson, Probit, Tanh
from kinelo.model.pairing import AllPlayAll, Local, Window
from kinelo.model.schedule import Period, Rounds
from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps
from kinelo.model.system import RatingSystem

LAWS: dict[str, type] = {
    law.__name__: law
    for law in (
        Tanh, Probit, Davidson, AllPlayAll, Local, Window, FallingSteps, FideSteps, DeviationSteps, Rounds, Period,
    )
}  # fmt: skip


def plain_system(system: RatingSystem) -> dict[str, Any]:
    """A rating system in words and numbers; a law that users bring is refused.

    >>> plain_system(RatingSystem(Tanh(nu=0.5), gamma=0.05))["outcome"]
    {'kind': 'Tanh', 'nu': 0.5}
    """
    return {part.name: plain_law(part.name, getattr(system, part.name)) for part in fields(system)}


def system_of(plain: dict[str, Any]) -> RatingSystem:
    """The rating system that was kept.

    >>> system_of(plain_system(RatingSystem(Tanh(nu=0.5)))) == RatingSystem(Tanh(nu=0.5))
    True
    """
    return RatingSystem(**{name: law_of(value) for name, value in plain.items()})


def plain_law(name: str, value: Any) -> Any:
    """A law in words and numbers."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, tuple):
        return list(value)
    kind = type(value)
    # The very class: one that derives from it may say something else under the same numbers.
    if LAWS.get(kind.__name__) is not kind:
        raise InputError(
            f"A rating book keeps systems of Kinelo's own laws, and the {name} {kind.__qualname__} is not one of them."
        )
    held = {part.name: getattr(value, part.name) for part in fields(value)}
    return {"kind": kind.__name__, **{part: list(v) if isinstance(v, tuple) else v for part, v in held.items()}}


def law_of(value: Any) -> Any:
    """The law that was kept."""
    if not isinstance(value, dict):
        return value
    numbers = dict(value)
    return LAWS[numbers.pop("kind")](**numbers)
