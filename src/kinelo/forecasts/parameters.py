"""Arguments of a rater, declared once: a field of its class says what a number may be, and where ``fit`` seeks it.

``parameters`` and ``options``, checks, ``get_params``, ``repr`` and estimation are made of the fields. Every number is
checked whenever it is set, by the constructor or later. :class:`Estimates` are what was found.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import Field, dataclass, field, replace
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from kinelo.errors import InputError
from kinelo.model.validation import LARGEST

PRIOR_WIDTHS = 6.0
"""How many standard deviations of the search's prior make the range of a parameter."""


MOST_ENTRIES = 5
"""Names of a mapping that are shown one by one."""

LARGEST_INTEGER = 10**9
"""Whole numbers beyond this have squares that compiled loops cannot count."""


def check_number(owner: str, name: str, value: object, low: float, high: float = math.inf, above: bool = False) -> Any:
    """Return a finite number from ``low`` (or, with ``above``, beyond it) to ``high`` as Python has it; refuse others.

    >>> check_number("TeamElo", "step", -3.0, 0.0)
    Traceback (most recent call last):
    kinelo.errors.InputError: TeamElo(step=-3.0) cannot be used: step is a finite number of at least 0.
    """
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    too_large = isinstance(value, int | np.integer) and abs(value) > LARGEST_INTEGER  # unlike 1e12
    kept = number and not too_large and abs(float(value)) <= LARGEST and low <= value <= high  # type: ignore[operator]
    if kept and (value > low or not above):  # type: ignore[operator]
        return float(value) if isinstance(value, float | np.floating) else int(value)  # type: ignore[arg-type]
    bounds = "" if low == -math.inf else f" above {low:g}" if above else f" of at least {low:g}"
    bounds += "" if high == math.inf else f" and at most {high:g}"
    bounds += f"; a whole number is at most {LARGEST_INTEGER:,} in size" if too_large else ""
    shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:60]}…"
    raise InputError(f"{owner}({name}={shown}) cannot be used: {name} is a finite number{bounds}.")


@dataclass(frozen=True)
class Parameter:
    """A number that a rater needs: ``default`` where nothing was fitted, and the range in which it is sought.

    ``positive`` asks the search to work on its logarithm. A user may give any finite number, from 0 on where the range
    is; ``above_zero`` says that 0 itself makes no sense, ``in_points`` that it counts rating points, ``prior_counts``
    that the prior around the default knows something, so that there is a standard error even where matches add little.
    One that is ``learnt`` is never sought: it begins at its default, as uncertain as its range is wide, and follows the
    matches. ``largest`` is the largest size that may be given, ``vague`` a factor on the width of the prior. One that
    holds ``by_kind`` of slot may be given as a mapping from kinds to numbers.
    """

    name: str
    default: float
    low: float
    high: float
    positive: bool
    meaning: str
    above_zero: bool = False
    in_points: bool = False
    prior_counts: bool = False
    learnt: bool = False
    largest: float = math.inf
    vague: float = 1.0
    by_kind: bool = False
    open: ClassVar[bool] = True

    @property
    def prior_width(self) -> float:
        """Standard deviation of what is believed of it before any match."""
        return self.vague * (self.high - self.low) / PRIOR_WIDTHS

    def in_unit(self, unit: float) -> Parameter:
        """The parameter where a rating point is worth ``1 / unit`` of the usual one.

        >>> Parameter("step", 15.0, 0.2, 300.0, True, "points", in_points=True).in_unit(0.01).high
        3.0
        """
        if not self.in_points:
            return self
        return replace(self, default=unit * self.default, low=unit * self.low, high=unit * self.high)

    def check(self, owner: str, value: object) -> Any:
        """The value as Python has it; None asks for an estimate, and what no rater can use is refused."""
        if self.by_kind and isinstance(value, Mapping):
            return {kind: self.check(owner, number) for kind, number in value.items()}
        if value is not None:
            lowest = 0.0 if self.low >= 0 else -self.largest
            value = check_number(owner, self.name, value, lowest, self.largest, above=self.above_zero)
        return value


@dataclass(frozen=True)
class Option:
    """A number of a rater that is given and never sought; ``open`` also allows None."""

    name: str
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    open: bool = False

    def check(self, owner: str, value: object) -> Any:
        """The value as Python has it; what no rater can use is refused."""
        if value is not None or not self.open:
            value = check_number(owner, self.name, value, self.low, self.high, self.above)
        return value


@dataclass(frozen=True)
class Switch:
    """What a rater does or does not do: True or False."""

    name: str

    def check(self, owner: str, value: object) -> bool:
        """The truth as Python has it; what is neither true nor false is refused."""
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{owner}({self.name}={value!r:.60}) cannot be used: {self.name} is True or False.")
        return bool(value)


DECLARED = "declared"
LOOKED_AT = Option("look", 1.0, open=True)

FIXED_BY_PLAIN_ELO = frozenset(
    (
        "contraction", "home_step", "margin_scale", "margin_weight", "newcomer_boost", "regression",
        "settling_matches", "spread",
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


def fixed(
    default: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False, open: bool = False
) -> Any:
    """A field for a number that is never estimated; arguments are those of :class:`Option`."""
    return field(default=default, metadata={DECLARED: Option("", low, high, above=above, open=open)})


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


@dataclass(frozen=True)
class Estimates:
    """Parameters found by one-step-ahead likelihood.

    Attributes
    ----------
    values, standard_errors
        By parameter name; a standard error is NaN where the likelihood is flat or the estimate stands at a bound. The
        noise of margins, which follows from the others, has none.
    log_likelihood
        Of the training matches at ``values``.
    matches
        How many matches were used.
    at_bounds
        Parameters whose search ended at an end of their range, where the best value may lie beyond.
    moved
        False where no step of the search lowered the loss, so that all values are the defaults.

    >>> found = Estimates({"step": 20.0}, {"step": 3.0}, log_likelihood=-55.0, matches=60)
    >>> found.values["step"], found.at_bounds
    (20.0, ())
    """

    values: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    matches: int
    at_bounds: tuple[str, ...] = ()
    moved: bool = True
