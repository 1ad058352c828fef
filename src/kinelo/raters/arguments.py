"""Arguments of a rater, declared once: a field of its class says what a number may be, and where ``fit`` seeks it.

``parameters`` and ``options``, checks, ``get_params``, ``repr`` and estimation are made of the fields. Every number is
checked whenever it is set, by the constructor or later.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import Field, field, replace
from functools import cache
from numbers import Real
from typing import Any

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Option, Parameter, Switch

MOST_ENTRIES = 5
DECLARED = "declared"
LOOKED_AT = Option("look", 1.0, open=True)

FIXED_BY_PLAIN_ELO = frozenset(
    (
        "contraction", "home_step", "margin_scale", "margin_weight", "newcomer_boost", "regression",
        "settling_matches", "spread", "ties_step",
    )
)  # fmt: skip
"""Parameters that plain Elo tells the values of without taking them as arguments."""


def estimated(
    default: float, low: float, high: float, positive: bool, meaning: str, *, kw_only: bool = False, **more: Any
) -> Any:
    """A field for a number that ``fit`` estimates where it is None; arguments are those of :class:`Parameter`, and
    whether it is given by its name alone.
    """
    declared = Parameter("", default, low, high, positive, meaning, **more)
    return field(default=None, kw_only=kw_only, metadata={DECLARED: declared})


def fixed(default: Any, low: float = -math.inf, *, above: bool = False, open: bool = False) -> Any:
    """A field for a number that is never estimated; arguments are those of :class:`Option`."""
    return field(default=default, metadata={DECLARED: Option("", low, above=above, open=open)})


def switch(default: bool) -> Any:
    """A field for what a rater does or does not do."""
    return field(default=default, metadata={DECLARED: Switch("")})


def declared_fields(cls: type) -> tuple[Any, ...]:
    """What a class declares of its arguments, in order."""
    fields = {name: one for name, one in vars(cls).items() if isinstance(one, Field) and DECLARED in one.metadata}
    return tuple(replace(one.metadata[DECLARED], name=name) for name, one in fields.items())


def checked_estimates(estimated: Mapping[str, float] | None, names: Container[str]) -> dict[str, float]:
    """A copy of estimates; what are no numbers by these names is refused."""
    if estimated is None:
        return {}
    if not isinstance(estimated, Mapping) or not all(
        isinstance(name, str) and name in names and isinstance(value, Real) for name, value in estimated.items()
    ):
        raise InputError(f"estimates are numbers by the names of parameters, not {estimated!r:.60}.")
    return dict(estimated)


@cache
def default_arguments(constructor: Callable[..., None]) -> Mapping[str, Any]:
    """Arguments of a constructor with their defaults, read once: audits make hundreds of raters."""
    found = inspect.signature(constructor).parameters
    return {name: one.default for name, one in found.items() if name != "self"}
