"""One pattern for the first argument of theory: a rating system, or its outcome alone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from kinelo.errors import InputError, KineloWarning
from kinelo.model.outcome import Outcome
from kinelo.model.system import RatingSystem

P = ParamSpec("P")
T = TypeVar("T")


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


def formerly_outcome(function: Callable[P, T]) -> Callable[P, T]:
    """Take ``outcome=`` for what is now called ``system=``, with a warning."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        if "outcome" in kwargs and "system" not in kwargs:
            warnings.warn(
                f"The first argument of {function.__name__} is now called system; an outcome may still be given there.",
                KineloWarning,
                stacklevel=2,
            )
            kwargs["system"] = kwargs.pop("outcome")
        return function(*args, **kwargs)

    return called
