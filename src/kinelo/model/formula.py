"""How compiled code receives laws: by a formula in plain Python, or, where they are built in, by a small code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from kinelo.errors import InputError
from kinelo.model.digest import law_digest

Scalar: TypeAlias = Callable[[float], float]
"""A formula in plain Python: made of ``math`` calls, closing over plain numbers only, so that it can be compiled."""

FAR = 1e12
"""Differences of rating up to which a user's formula is checked; nothing lies beyond."""

Code: TypeAlias = tuple[int, float, float]
"""A built-in law as compiled code knows it: its kind and two parameters."""


def called(name: str, formula: Scalar, z: float) -> float:
    """The value of a user's formula, or one sentence on why there is none."""
    try:
        value = formula(z)
    except (ArithmeticError, ValueError, TypeError, NameError) as error:
        raise InputError(f"{name} must be a function of one number, but at {z:g} it fails: {error}.") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} must return a finite number, but at {z:g} it returns {value!r}.")
    return float(value)


def guarded(formula: Scalar) -> Scalar:
    """The formula, held at its last value where Python overflows far out, as ``math.sinh`` does."""
    if not _overflows(formula, FAR):
        return formula
    low, high = 0.0, FAR
    while high - low > 1e-6 * high and high > 1e-300:
        middle = math.sqrt(low * high) if low > 0 else 1e-9 * high
        if _overflows(formula, middle):
            high = middle
        else:
            low = middle
    edge = low
    return lambda z: formula(z if -edge < z < edge else math.copysign(edge, z))


def _overflows(formula: Scalar, z: float) -> bool:
    try:
        formula(z)
    except OverflowError:
        return True
    except (ArithmeticError, ValueError, TypeError, NameError):
        # Said in a sentence where the formula is checked.
        return False
    return False


def described(formula: Scalar) -> str:
    """A formula in a word: its name and a few digits that tell it from others."""
    return f"{getattr(formula, '__name__', type(formula).__name__)} {law_digest(formula)[:8]}"
