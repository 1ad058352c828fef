"""One pattern for the first argument of theory: a rating system, or its outcome alone."""

from __future__ import annotations

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome
from kinelo.model.system import RatingSystem


def as_system(system: object) -> RatingSystem:
    """A rating system, or one made of an outcome alone."""
    if isinstance(system, Outcome):
        return RatingSystem(system)
    if not isinstance(system, RatingSystem):
        raise InputError(
            "system must be a RatingSystem, or an outcome (Tanh, Probit, Davidson or your own kinelo.Outcome), "
            f"not {system!r}."
        )
    return system
