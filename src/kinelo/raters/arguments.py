"""Arguments of a rater, declared once: a field of its class says what a number may be, and where ``fit`` seeks it.

``parameters`` and ``options``, checks, ``get_params``, ``repr`` and estimation are made of the fields. Every number is
checked whenever it is set, by the constructor or later.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import Field, field, replace
from functools import cache
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Self

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Option, Parameter, Switch
from kinelo.model.validation import plain
from kinelo.raters.streaming import LOOK

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


def estimated(default: float, low: float, high: float, positive: bool, meaning: str, **more: bool) -> Any:
    """A field for a number that ``fit`` estimates where it is None; arguments are those of :class:`Parameter`."""
    return field(default=None, metadata={DECLARED: Parameter("", default, low, high, positive, meaning, **more)})


def fixed(default: Any, low: float = -math.inf, *, above: bool = False, open: bool = False) -> Any:
    """A field for a number that is never estimated; arguments are those of :class:`Option`."""
    return field(default=default, metadata={DECLARED: Option("", low, above=above, open=open)})


def switch(default: bool) -> Any:
    """A field for what a rater does or does not do."""
    return field(default=default, metadata={DECLARED: Switch("")})


class Arguments:
    """What a rater is made with, and the numbers that stand for arguments left at None."""

    parameters: ClassVar[tuple[Parameter, ...]] = ()
    options: ClassVar[tuple[Any, ...]] = ()
    _declared: ClassVar[Mapping[str, Any]] = {}
    _unidentified: Mapping[str, float] = MappingProxyType({})
    parameters_: Mapping[str, float] = MappingProxyType({})
    look: int | None = LOOK
    """How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        fields = {name: one for name, one in vars(cls).items() if isinstance(one, Field) and DECLARED in one.metadata}
        if fields:
            own = [replace(one.metadata[DECLARED], name=name) for name, one in fields.items()]
            cls.parameters = tuple(one for one in own if isinstance(one, Parameter))
            cls.options = tuple(one for one in own if not isinstance(one, Parameter))
        cls._declared = {one.name: one for one in (*cls.parameters, *cls.options, LOOKED_AT)}

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._declared:
            self._declared[name].check(type(self).__name__, value)
            value = plain(value)
        super().__setattr__(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor as they stand (``deep`` is there for scikit-learn, and changes nothing)."""
        return {name: getattr(self, name) for name in _defaults(type(self).__init__)}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; what was fitted stays as it is until the next ``fit``."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(type(self).__init__)
        shown = []
        for name, value in self.get_params().items():
            usual = defaults[name]
            if hasattr(value, "columns"):  # a table does not fit into a line, and comparing it gives a table
                shown.append(f"{name}=<{len(value)} rows>")
            elif isinstance(value, Mapping) and len(value) > MOST_ENTRIES:
                shown.append(f"{name}=<{len(value)} names>")
            elif (tuple(value) if isinstance(value, list) else value) != usual:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters the user left to be estimated, and that the matches fitted can say something about."""
        own = self._in_own_unit()
        return tuple(
            p for p in own if getattr(self, p.name) is None and p.name not in self._unidentified and not p.learnt
        )

    def _in_own_unit(self) -> tuple[Parameter, ...]:
        """All parameters, with defaults and ranges in the rating points that this rater counts in."""
        return self.parameters

    def _unidentified_parameters(self, matches: Any) -> Mapping[str, float]:
        """Parameters these matches say nothing about (ties where nobody draws), with the value to take instead."""
        return {}

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the user's, else the unidentified one, else the estimate, else the default."""
        self._check_estimates(estimated)
        values = {p.name: p.default for p in self._in_own_unit()} | dict(estimated or {}) | dict(self._unidentified)
        own = {name: getattr(self, name) for name in values}
        return {name: float(value if own[name] is None else own[name]) for name, value in values.items()}

    def _check_estimates(self, estimated: object) -> None:
        """Refuse what are no estimates: numbers by the names of parameters."""
        if estimated is None:
            return
        if not isinstance(estimated, Mapping) or not all(
            isinstance(name, str) and (hasattr(self, name) or name in FIXED_BY_PLAIN_ELO) and isinstance(value, Real)
            for name, value in estimated.items()
        ):
            raise InputError(f"estimates are numbers by the names of parameters, not {estimated!r:.60}.")


@cache
def _defaults(constructor: Callable[..., None]) -> Mapping[str, Any]:
    """Arguments of a constructor with their defaults, read once: audits make hundreds of raters."""
    found = inspect.signature(constructor).parameters
    return {name: one.default for name, one in found.items() if name != "self"}
