"""The points of a sweep: a grid, the product of its axes, or a list of points.

Points are numbered in the order in which the axes are given, the last one running fastest. Along the axis named by
``along`` they are strung into lines; without it, every point is a line of its own. A line is the unit of work.
A study at a point is the study with some of its keys changed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError

POINT = "point"
"""The dimension of a list of points."""

MOST_POINTS = 1_000_000

Over = Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Axes:
    """Values by name of parameter; ``dims`` and ``shape`` are those of the points."""

    values: Mapping[str, Sequence[Any]]
    dims: tuple[str, ...]
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return math.prod(self.shape)

    def point(self, index: int) -> dict[str, Any]:
        """The keywords of one point.

        >>> axes_of({"nu": [0.5, 1.0], "sigma": [1, 2]}).point(1)
        {'nu': 0.5, 'sigma': 2}
        """
        if self.dims == (POINT,):
            return {name: values[index] for name, values in self.values.items()}
        places = np.unravel_index(index, self.shape)
        return {name: values[int(k)] for (name, values), k in zip(self.values.items(), places, strict=True)}

    def lines(self, along: str | None) -> list[list[int]]:
        """Points in lines along one axis, each to be computed from its first point to its last.

        >>> axes_of({"nu": [0.5, 1.0], "sigma": [1, 2]}).lines("nu")
        [[0, 2], [1, 3]]
        """
        numbers = np.arange(len(self)).reshape(self.shape)
        if along is None:
            return [[int(k)] for k in numbers.ravel()]
        if not isinstance(along, str) or along not in self.dims:
            raise InputError(f"along must be one of the axes {', '.join(self.dims)}, not {along!r}.")
        axis = self.dims.index(along)
        return np.moveaxis(numbers, axis, -1).reshape(-1, self.shape[axis]).tolist()

    def coordinates(self) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
        """Every parameter as a coordinate: numbers and words as they are, anything else by what it prints as."""
        listed = self.dims == (POINT,)
        return {name: ((POINT,) if listed else (name,), _labels(values)) for name, values in self.values.items()}

    def describe(self) -> dict[str, Any]:
        """What tells these points from others, as plain values."""
        return {
            "points": "list" if self.dims == (POINT,) else "grid",
            **{name: [_plain(value) for value in values] for name, values in self.values.items()},
        }


def axes_of(over: Over) -> Axes:
    """Read ``over``: a mapping of names to values makes a grid, a sequence of mappings a list of points."""
    if isinstance(over, Mapping):
        axes = _grid(over)
    elif isinstance(over, Sequence) and not isinstance(over, str):
        axes = _listed(over)
    else:
        raise InputError(f"over must be a mapping of parameters to their values or a list of points, not {over!r}.")
    if len(axes) > MOST_POINTS:
        raise InputError(f"The sweep has {len(axes):,} points, and at most {MOST_POINTS:,} are accepted.")
    return axes


def _grid(over: Mapping[str, Iterable[Any]]) -> Axes:
    if not over:
        raise InputError("over must name at least one parameter.")
    values: dict[str, Sequence[Any]] = {}
    for name, given in over.items():
        _check_name(name)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InputError(f"over: {name} must be a list of values, not {given!r}.")
        values[name] = [_item(value) for value in islice(given, MOST_POINTS + 1)]
        if not values[name]:
            raise InputError(f"over: {name} has no values.")
    return Axes(values, tuple(values), tuple(len(one) for one in values.values()))


def _listed(over: Sequence[Mapping[str, Any]]) -> Axes:
    if not over or not all(isinstance(point, Mapping) and point for point in over):
        raise InputError("over must hold at least one point, each a mapping of parameters to their values.")
    names = list(over[0])
    for name in names:
        _check_name(name)
    for k, point in enumerate(over):
        if set(point) != set(names):
            odd = sorted(set(point) ^ set(names), key=str)[0]
            raise InputError(
                f"over: all points must set the same parameters; {odd!r} is set in some only (see point {k})."
            )
    return Axes({name: [_item(point[name]) for point in over] for name in names}, (POINT,), (len(over),))


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or name == POINT:
        raise InputError(f"over: a parameter needs a name other than {POINT!r}, not {name!r}.")


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


def _labels(values: Sequence[Any]) -> NDArray[Any]:
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=bool)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array([value if isinstance(value, str) else repr(value) for value in values], dtype=str)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def changed(content: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A study with some of its keys set.

    >>> changed({"gamma": 0.1, "outcome": {"kind": "tanh", "nu": 1}}, {"outcome.nu": 2})
    {'gamma': 0.1, 'outcome': {'kind': 'tanh', 'nu': 2}}
    """
    content = copy.deepcopy(dict(content))
    for name, value in settings.items():
        *sections, key = name.split(".")
        place = content
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise InputError(f"{section!r} of {name!r} is a value and has no keys.")
        place[key] = value
    return content
