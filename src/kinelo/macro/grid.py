"""Cells in (θ, σ, r): equal cells along each axis, or a single value of σ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.validation import Array, nonnegative, number, whole
from kinelo.runtime.limits import check_memory

Cells: TypeAlias = tuple[float, float, int]
Index: TypeAlias = NDArray[np.intp]
LEAST_CELLS = 3


@dataclass(frozen=True)
class Axis:
    """``count`` equal cells from ``low`` to ``high``; a single value when the two are equal.

    >>> Axis.of("r", (0.0, 10.0, 5)).centres
    array([1., 3., 5., 7., 9.])
    """

    low: float
    high: float
    count: int

    @classmethod
    def of(cls, name: str, cells: object) -> Axis:
        """Read ``(low, high, cells)``, or say what is wrong with it."""
        if isinstance(cells, Axis):
            return cells
        if not isinstance(cells, tuple | list) or len(cells) != 3:
            raise InputError(f"{name} must be (low, high, cells), not {cells!r}.")
        low, high = number(f"{name}[0]", cells[0]), number(f"{name}[1]", cells[1])
        if not low < high:
            raise InputError(f"{name} must be (low, high, cells) with low < high, not ({low:g}, {high:g}, {cells[2]}).")
        return cls(low, high, whole(f"{name}[2], the number of cells,", cells[2], LEAST_CELLS))

    @classmethod
    def of_spread(cls, cells: object) -> Axis:
        """Read the axis of σ: ``(low, high, cells)`` with low ≥ 0, or one value shared by all teams."""
        if isinstance(cells, tuple | list | Axis):
            axis = cls.of("sigma", cells)
            if axis.low < 0:
                raise InputError(f"sigma must be 0 or more, but its range starts at {axis.low:g}.")
            return axis
        value = nonnegative("sigma", cells)
        return cls(value, value, 1)

    @property
    def is_point(self) -> bool:
        """Whether this axis is a single value rather than cells."""
        return self.low == self.high

    @cached_property
    def width(self) -> float:
        """Width of a cell; 1 for a single value, so that densities are then per unit of the other variables."""
        return 1.0 if self.is_point else (self.high - self.low) / self.count

    @cached_property
    def centres(self) -> Array:
        """Midpoints of the cells."""
        if self.is_point:
            return np.array([self.low])
        return self.low + (np.arange(self.count, dtype=np.float64) + 0.5) * self.width

    @cached_property
    def faces(self) -> Array:
        """Ends of the cells, one more than there are cells."""
        return self.low + np.arange(self.count + 1, dtype=np.float64) * self.width

    def share(self, values: Array) -> tuple[Index, Index, Array]:
        """Split unit masses at ``values`` between the two nearest cells so that their mean is kept.

        Returns the lower cell, the upper cell and the part of the upper one. Masses in the outer half of an end cell
        go to that cell.
        """
        if self.is_point:
            nothing = np.zeros(values.shape, dtype=np.intp)
            return nothing, nothing, np.zeros(values.shape)
        position = np.clip((values - self.low) / self.width - 0.5, 0, self.count - 1)
        lower = np.minimum(position.astype(np.intp), self.count - 2)
        return lower, lower + 1, position - lower


@dataclass(frozen=True)
class Grid:
    """The product of the axes; arrays on it have shape (theta, sigma, r) with r contiguous.

    Where form comes and goes there is a fourth axis, between theta and sigma: the distance of a team's strength of the
    day from its own mean θ.
    """

    theta: Axis
    sigma: Axis
    r: Axis
    form: Axis | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along θ, form where there is such an axis, σ and r."""
        return tuple(axis.count for axis in self.axes.values())

    @property
    def axes(self) -> dict[str, Axis]:
        """The axes by name, in the order of an array's dimensions."""
        form = {} if self.form is None else {"form": self.form}
        return {"theta": self.theta, **form, "sigma": self.sigma, "r": self.r}

    @property
    def labels(self) -> int:
        """Number of (θ, form, σ) cells: teams of one label differ only in their rating."""
        return math.prod(self.shape[:-1])

    @property
    def label_area(self) -> float:
        """Δθ Δσ, times the width of a cell of form where there is such an axis."""
        return math.prod(axis.width for name, axis in self.axes.items() if name != "r")

    @property
    def volume(self) -> float:
        """Δθ Δσ Δr."""
        return self.label_area * self.r.width

    @cached_property
    def label_theta(self) -> Array:
        """Strength of each label, σ running fastest: θ, and form on top of it."""
        theta = self.theta.centres
        if self.form is not None:
            theta = np.add.outer(theta, self.form.centres).ravel()
        return np.repeat(theta, self.sigma.count)

    @cached_property
    def label_sigma(self) -> Array:
        """σ of each label."""
        return np.tile(self.sigma.centres, self.labels // self.sigma.count)

    def check_memory(self, copies: int, what: str) -> None:
        """Refuse, before anything is allocated, what cannot fit into memory."""
        check_memory(
            8 * math.prod(self.shape) * copies,
            f"{what} on {' × '.join(map(str, self.shape))} cells ({' × '.join(self.axes)})",
            "use fewer cells or save fewer times",
        )
