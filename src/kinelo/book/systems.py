"""Rating systems as a book keeps them: the names of Kinelo's own laws with their numbers, and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in_laws
from kinelo.model.system import RatingSystem


def kept_laws() -> dict[str, type[Law]]:
    """Every built-in law that is part of a rating system, by the name of its class."""
    parts = {part.name for part in fields(RatingSystem)}
    return {one.law.__name__: one.law for one in built_in_laws(Law) if one.law.section in parts}


def plain_system(system: RatingSystem) -> dict[str, Any]:
    """A rating system in words and numbers; a law that users bring is refused.

    >>> from kinelo.model.outcome import Tanh
    >>> plain_system(RatingSystem(Tanh(nu=0.5), gamma=0.05))["outcome"]
    {'kind': 'Tanh', 'nu': 0.5}
    """
    return {part.name: plain_law(part.name, getattr(system, part.name)) for part in fields(system)}


def system_of(plain: dict[str, Any]) -> RatingSystem:
    """The rating system that was kept.

    >>> from kinelo.model.outcome import Tanh
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
    if kept_laws().get(kind.__name__) is not kind:
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
    return kept_laws()[numbers.pop("kind")](**numbers)
