"""All points of a sweep as one dataset: its first axes are the parameters, by name.

Points that failed hold NaN (whole numbers become floats for it, text is empty), and ``failure`` says why.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.sweeps.axes import Axes
from kinelo.sweeps.point import PointResult

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
            whole = {name: _room(len(axes), dataset[name]) for name in _varying(dataset)}
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
        values = _with_gaps(room, failures != "") if gaps else room
        variable = ((*axes.dims, *part.dims), values.reshape(*axes.shape, *part.shape), part.attrs)
        result = result.assign_coords({name: variable}) if name in example.coords else result.assign({name: variable})
    fixed = {name: example[name].variable for name in example.dims if name in example.coords}
    result = result.assign_coords(fixed)
    if gaps:
        result[FAILURE] = (axes.dims, failures.astype(str).reshape(axes.shape), {"long_name": "why a point failed"})
    return result.assign_attrs({**shared, **attributes, "kinelo_version": __version__})


def _varying(dataset: xr.Dataset) -> list[Hashable]:
    """Every variable but the coordinates that label a dimension."""
    return [name for name in dataset.variables if name not in dataset.dims]


def _room(points: int, part: xr.DataArray) -> NDArray[Any]:
    return np.zeros((points, *part.shape), dtype=part.dtype)


def _with_gaps(values: NDArray[Any], failed: NDArray[np.bool_]) -> NDArray[Any]:
    if values.dtype.kind == "U":
        return values
    values = values.astype(np.float64)
    values[failed] = math.nan
    return values


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
