"""Arrays of a state that was stored: a file may be damaged or forged, and compiled loops check no bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.dated import LATEST
from kinelo.model.validation import LARGEST

PREFIX = "parameter_"
"""How the names of parameters begin among the arrays."""
SEPARATOR = "\x1f"
"""Stands between two words that are kept as one, such as a condition and its level."""
ANY = -1
"""A length that nothing prescribes."""
LAST_DAY = int(LATEST.view(np.int64))
"""No match is as late."""
FIRST_DAY = -(2**62)
"""No day is earlier, that of those who have never played included."""
MOST = LARGEST**2
"""No number that a rater stores is larger in size: the square of the largest that may be given."""


def taken_whole(from_arrays: Callable[[Any, Mapping[str, NDArray[Any]]], None]) -> Any:
    """Have a rater take over stored arrays whole, or stay as it was and say in a sentence what is wrong with them."""

    @wraps(from_arrays)
    def checked(self: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
        if not isinstance(arrays, Mapping) or not all(
            isinstance(name, str) and isinstance(array, np.ndarray) for name, array in arrays.items()
        ):
            raise InputError(f"A state of {type(self).__name__} is a mapping from names to arrays, as to_arrays gives.")
        before = dict(vars(self))
        try:
            from_arrays(self, arrays)
        except Exception as error:  # forged arrays may contradict one another in any way
            vars(self).clear()
            vars(self).update(before)
            if isinstance(error, InputError | MemoryError):
                raise
            lacks = f"{error} is missing" if isinstance(error, KeyError) else "they do not fit together"
            raise InputError(f"These arrays are no state of {type(self).__name__}: {lacks}.") from None

    return checked


def stored(
    arrays: Mapping[str, NDArray[Any]], name: str, kind: str, shape: tuple[int, ...], low: float | None = None,
    below: float | None = None,
) -> NDArray[Any]:  # fmt: skip
    """A copy of a stored array: refused unless it holds numbers of a kind (``"f"``, ``"i"``) in a shape, all of them
    within ``MOST``, not less than ``low`` and less than ``below``.

    >>> stored({"own": np.array([4, -1])}, "own", "i", (2,), -1, 5).tolist()
    [4, -1]
    >>> stored({"own": np.array([5, -1])}, "own", "i", (2,), -1, 5)
    Traceback (most recent call last):
    kinelo.errors.InputError: The array 'own' of a stored state holds numbers out of range.
    """
    values = arrays[name]
    same = values.ndim == len(shape) and all(want in (ANY, length) for want, length in zip(shape, values.shape))
    if values.dtype.kind != kind or not same:
        raise InputError(f"The array {name!r} of a stored state has another shape than its rater stores.")
    if values.size and not (
        np.abs(values, dtype=float).max() <= MOST
        and (low is None or values.min() >= low)
        and (below is None or values.max() < below)
    ):
        raise InputError(f"The array {name!r} of a stored state holds numbers out of range.")
    return np.array(values, order="C")


def stored_names(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[str, ...]:
    """Names as they were stored; refused where one stands twice."""
    found = arrays[name]
    names = tuple(found.tolist()) if found.dtype.kind == "U" and found.ndim == 1 else None
    if names is None or len(set(names)) < len(names):
        raise InputError(f"The array {name!r} of a stored state must hold names, each of them once.")
    return names
