"""One point of a sweep: the function is called, and what it returns becomes a dataset, or its error a sentence.

All points make one dataset: its first axes are the parameters, by name. Points that failed hold NaN (whole numbers
become floats for it, text is empty), and ``failure`` says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kinelo._version import __version__
from kinelo.errors import InputError, in_one_line
from kinelo.sweeps.axes import Axes

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


FAILURE = "failure"


def assemble(axes: Axes, points: Iterator[PointResult], attributes: Mapping[str, Any]) -> xr.Dataset:
    """Join the results of all points in the order of the axes; all must have variables of the same names and shapes."""
    first: tuple[int, xr.Dataset] | None = None
    whole: dict[Hashable, NDArray[Any]] = {}
    failures = np.full(len(axes), "", dtype=object)
    gaps = False
    shared: dict[str, Any] = {}
    for point in points:
        dataset = point.dataset
        if dataset is None:
            failures[point.index], gaps = point.failure, True
            continue
        if first is None:
            first = (point.index, dataset)
            shared = dict(dataset.attrs)
            # Every variable but the coordinates that label a dimension.
            varying = [dataset[name] for name in dataset.variables if name not in dataset.dims]
            whole = {part.name: np.zeros((len(axes), *part.shape), dtype=part.dtype) for part in varying}
        _check_alike(axes, first, point.index, dataset)
        shared = {name: value for name, value in shared.items() if _same(dataset.attrs.get(name), value)}
        for name, room in whole.items():
            values = dataset[name].values
            if values.dtype.kind == "U" and values.dtype.itemsize > room.dtype.itemsize:
                room = whole[name] = room.astype(values.dtype)
            room[point.index] = values
    if first is None:
        raise InputError(f"No point of the sweep could be computed; the first says: {failures[0]}")
    result = xr.Dataset(coords={name: (dims, values) for name, (dims, values) in axes.coordinates().items()})
    example = first[1]
    for name, room in whole.items():
        part = example[name]
        if gaps and room.dtype.kind != "U":
            room = room.astype(np.float64)
            room[failures != ""] = math.nan
        variable = ((*axes.dims, *part.dims), room.reshape(*axes.shape, *part.shape), part.attrs)
        result = result.assign_coords({name: variable}) if name in example.coords else result.assign({name: variable})
    fixed = {name: example[name].variable for name in example.dims if name in example.coords}
    result = result.assign_coords(fixed)
    if gaps:
        result[FAILURE] = (axes.dims, failures.astype(str).reshape(axes.shape), {"long_name": "why a point failed"})
    return result.assign_attrs({**shared, **attributes, "kinelo_version": __version__})


def _check_alike(axes: Axes, first: tuple[int, xr.Dataset], index: int, other: xr.Dataset) -> None:
    start, example = first
    if set(example.variables) != set(other.variables):
        odd = sorted(map(str, set(example.variables) ^ set(other.variables)))[0]
        raise InputError(
            f"The points of a sweep must give the same variables; {odd!r} differs {_between(axes, start, index)}."
        )
    for name, variable in example.variables.items():
        there = other.variables[name]
        alike = (
            variable.dims == there.dims and variable.shape == there.shape and variable.dtype.kind == there.dtype.kind
        )
        if alike and name in example.dims:
            alike = np.array_equal(variable.values, there.values)
        if not alike:
            raise InputError(
                f"The points of a sweep must give variables of the same shape, type and labels; {name!r} differs "
                f"{_between(axes, start, index)}."
            )


def _between(axes: Axes, one: int, other: int) -> str:
    return f"between the points {axes.point(one)} and {axes.point(other)}"


def _same(one: Any, other: Any) -> bool:
    return (
        bool(np.array_equal(one, other)) if isinstance(other, np.ndarray) else type(one) is type(other) and one == other
    )
