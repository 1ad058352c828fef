"""One point of a sweep: the function is called, and what it returns becomes a dataset, or its error a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import xarray as xr

from kinelo.errors import InputError, in_one_line

VALUE = "value"
PREVIOUS = "previous"
"""The keyword by which a function receives what it gave at the point before, along the axis of continuation."""

RESULT_TYPES = "biufU"
"""Kinds of NumPy types that a result may have: truth values, whole numbers, floats, text."""


@dataclass(frozen=True)
class PointResult:
    """One point: its dataset, or None and the sentence that says why."""

    index: int
    dataset: xr.Dataset | None
    failure: str = ""


Line = Sequence[tuple[int, Mapping[str, Any]]]
"""Numbers and keywords of the points of a line, in order."""


@runtime_checkable
class Together(Protocol):
    """A function of one point that computes many at once with the same results, and says which."""

    def __call__(self, **settings: Any) -> Any:
        """What one point gives."""
        ...

    def compute_batch(self, points: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        """What each point of a batch gives, the same as by itself."""
        ...

    def batches(self, points: Line, workers: int) -> list[Line]:
        """All of these points, in lines that are computed together; which they are must change no result."""
        ...


def run_line(points: Line, function: Callable[..., Any], continued: bool) -> list[PointResult]:
    """Compute the points of one line in order; at once if they are a batch of a function that can.

    With ``continued`` the function receives its last result as the keyword ``previous``, None at the first point.
    """
    if not continued and len(points) > 1 and isinstance(function, Together):
        try:
            results = function.compute_batch([settings for _, settings in points])
            return [PointResult(k, as_dataset(result, at)) for (k, at), result in zip(points, results, strict=True)]
        except Exception:  # computed one by one, each point that fails says so with a sentence of its own
            pass
    ended = []
    previous = None
    for index, settings in points:
        more = {PREVIOUS: previous} if continued else {}
        try:
            result = function(**settings, **more)
            ended.append(PointResult(index, as_dataset(result, settings)))
            previous = result
        except Exception as error:  # one point that cannot be computed must not stop the others
            ended.append(PointResult(index, None, in_one_line(error)))
    return ended


def as_dataset(result: Any, settings: Mapping[str, Any]) -> xr.Dataset:
    """A result as a dataset: a number or array is called ``value``, the parts of a mapping have their own names.

    >>> as_dataset({"mean": 1.0, "rating": np.zeros(3)}, {}).sizes
    Frozen({'rating_0': 3})
    """
    if isinstance(result, xr.Dataset):
        dataset = result
    elif isinstance(result, xr.DataArray):
        dataset = result.to_dataset(name=str(result.name or VALUE))
    elif isinstance(result, Mapping):
        dataset = xr.Dataset({str(name): _variable(str(name), part) for name, part in result.items()})
    else:
        dataset = xr.Dataset({VALUE: _variable(VALUE, result)})
    if not dataset.data_vars:
        raise InputError("The function gave a result without any variable.")
    for name in (*dataset.variables, *dataset.dims):
        if name in settings:
            raise InputError(f"The function gives a variable called {name!r}, which is an axis of the sweep.")
    for name, variable in dataset.variables.items():
        if variable.dtype.kind not in RESULT_TYPES:
            raise InputError(f"The function gives {name!r} of type {variable.dtype}; numbers and text are accepted.")
    return dataset.compute()


def _variable(name: str, part: Any) -> Any:
    if isinstance(part, xr.DataArray):
        return part
    array = (
        np.asarray(part)
        if isinstance(part, bool | int | float | str | list | tuple | np.generic | np.ndarray)
        else None
    )
    if array is None or array.dtype.kind not in RESULT_TYPES:
        raise InputError(
            f"The function gave {type(part).__name__} for {name!r}; "
            "accepted are numbers, arrays, a mapping of them, or an xarray.Dataset."
        )
    return tuple(f"{name}_{k}" for k in range(array.ndim)), array
