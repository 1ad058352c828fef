"""Checks of arguments that all packages share: numbers, whole numbers, arrays.

Each returns the value in the type that the code works with, or fails with one sentence that names the argument and what
is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError

Array = NDArray[np.float64]

LARGEST, SMALLEST = 1e50, 1e-50
"""Sizes beyond which squares of products of a few numbers are no numbers any more."""

LARGEST_WHOLE = 1 << 62
"""What compiled code can count to."""


def one_line(value: object) -> str:
    """What somebody handed over, short and without line breaks.

    >>> one_line("a\\nb"), one_line([0, 1])
    ("'a\\\\nb'", '[0, 1]')
    """
    return " ".join(repr(value).split())[:60]


def number(name: str, value: object) -> float:
    """Return ``value`` as a finite float, or say that it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{name} must be a finite number, not {value!r}.")
    if abs(value) > LARGEST or value != value:
        shown = value if isinstance(value, float) else f"one of {len(str(value))} digits"
        raise InputError(f"{name} must be a finite number of at most {LARGEST:g} in size, not {shown}.")
    return float(value)


def plain(value: Any) -> Any:
    """A number or a truth of NumPy's as one of Python's, which compiled code takes; anything else as it is.

    >>> import numpy as np
    >>> plain(np.float32(2.5)), plain(np.longdouble(2.5)), plain(np.int8(3)), plain(np.True_), plain("A")
    (2.5, 2.5, 3, True, 'A')
    """
    for theirs, ours in ((np.floating, float), (np.integer, int), (np.bool_, bool)):
        if isinstance(value, theirs):
            return ours(value)
    return value


def positive(name: str, value: object) -> float:
    """Return ``value`` as a number above zero."""
    result = number(name, value)
    if result <= 0:
        raise InputError(f"{name} must be greater than 0, not {result:g}.")
    if result < SMALLEST:
        raise InputError(f"{name} must be at least {SMALLEST:g}, not {result:g}.")
    return result


def nonnegative(name: str, value: object) -> float:
    """Return ``value`` as a number that is zero or more."""
    result = number(name, value)
    if result < 0:
        raise InputError(f"{name} must be 0 or more, not {result:g}.")
    return result


def whole(name: str, value: object, least: int) -> int:
    """Return ``value`` as an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    if value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value}.")
    if value > LARGEST_WHOLE:
        raise InputError(f"{name} must be at most {LARGEST_WHOLE}, not a number of {len(str(value))} digits.")
    return int(value)


def is_text(value: object) -> bool:
    """Whether something is text that can be written to a file; lone halves of characters cannot.

    >>> is_text("Göteborg"), is_text("\\ud800"), is_text(7)
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def flag(name: str, value: object) -> bool:
    """Return ``value`` as the True or False that it is."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r:.60}.")
    return bool(value)


def finite_array(name: str, value: ArrayLike, *dimensions: int) -> Array:
    """Return a read-only copy of ``value`` as finite floats with one of the given numbers of dimensions, or any.

    >>> finite_array("sigma", 2, 0, 1)
    array(2.)
    >>> finite_array("sigma", [[1.0], [1.0, 2.0]], 0, 1)
    Traceback (most recent call last):
    kinelo.errors.InputError: sigma must be an array of numbers with 0 or 1 dimension(s).
    """
    words = " or ".join(map(str, dimensions))
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        shape = f" with {words} dimension(s)" if dimensions else ""
        raise InputError(f"{name} must be an array of numbers{shape}.") from None
    if dimensions and result.ndim not in dimensions:
        raise InputError(f"{name} must have {words} dimension(s), not {result.ndim}.")
    fine = np.abs(result) <= LARGEST
    if not fine.all():
        where = tuple(int(k) for k in np.argwhere(~fine)[0])
        bound = "finite" if not math.isfinite(result[where]) else f"at most {LARGEST:g} in size"
        raise InputError(f"{name} must be {bound}, but the entry at {list(where)} is {result[where]}.")
    result.setflags(write=False)
    return result


def team_vector(name: str, value: ArrayLike) -> Array:
    """Return ``value`` as one finite number per team, for at least two teams."""
    result = finite_array(name, value, 1)
    if result.size < 2:
        raise InputError(f"{name} must list at least 2 teams, not {result.size}.")
    return result


def is_list(value: object) -> bool:
    """Whether something is a list, or what is as good as one: a tuple, an array, a series, a range.

    >>> is_list([1]), is_list(np.array([1])), is_list("AB"), is_list({1, 2}), is_list(np.array(1)), is_list(list)
    (True, True, False, False, False, False)
    """
    several = hasattr(value, "__getitem__") and hasattr(value, "__len__") and getattr(value, "shape", None) != ()
    return several and not isinstance(value, type | str | bytes | bytearray | Mapping)
