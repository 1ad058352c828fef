"""How fast a sweep converges along an axis of resolutions, and to what order.

Between neighbours ``e_k = ‖u_{k+1} − u_k‖`` (root mean square); where ``e ~ h^p`` and resolutions grow by ratios q, the
order is ``p = ln(e_{k−1} / e_k) / ln q_k``. Against a known limit, ``e_k = ‖u_k − u‖``.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from kinelo.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def convergence_table(dataset: xr.Dataset, variable: str, axis: str, limit: ArrayLike | None = None) -> pl.DataFrame:
    """Errors and observed orders of a variable along an axis of resolutions (cells, nodes, steps: larger is finer).

    Parameters
    ----------
    dataset
        What :func:`kinelo.sweep` returned.
    variable, axis
        The variable, and the axis along which it converges; errors are root mean squares over everything else.
    limit
        What it converges to; by default each resolution is held against the next finer one.

    >>> import kinelo as kn
    >>> table = kn.sweep(lambda cells: 1.0 + 1.0 / cells**2, {"cells": [10, 20, 40, 80]})
    >>> convergence_table(table, "value", "cells")["order"].round(6).to_list()
    [None, 2.0, 2.0, None]
    """
    import polars as pl

    sizes, values = _along(dataset, variable, axis)
    if limit is None:
        errors = [_size(b - a) for a, b in pairwise(values)] + [math.nan]
    else:
        errors = [_size(value - _checked_limit(limit, values[0].shape)) for value in values]
    orders = [None] + [
        math.log(a / b) / math.log(fine / coarse) if a > 0 and b > 0 else None
        for a, b, coarse, fine in zip(errors, errors[1:], sizes, sizes[1:])
    ]
    shown: dict[str, Any] = {axis: sizes, "error": [None if math.isnan(e) else e for e in errors], "order": orders}
    return pl.DataFrame(shown, schema_overrides={"error": pl.Float64, "order": pl.Float64})


def _along(dataset: object, variable: str, axis: str) -> tuple[list[float], np.ndarray]:
    if not isinstance(dataset, xr.Dataset):
        raise InputError(f"dataset must be what kn.sweep returned, not {dataset!r}.")
    known = isinstance(variable, str) and variable in dataset.data_vars
    if not known or dataset[variable].dtype.kind not in "biuf":
        numbers = ", ".join(str(name) for name in dataset.data_vars if dataset[name].dtype.kind in "biuf")
        raise InputError(f"variable must be one of {numbers}, not {variable!r}.")
    part = dataset[variable]
    named = isinstance(axis, str) and axis in part.dims and axis in dataset.coords
    if not named or dataset[axis].dtype.kind not in "iuf":
        raise InputError(f"axis must be an axis of numbers of {variable!r}, not {axis!r}.")
    part = part.sortby(axis).transpose(axis, ...)
    sizes = part[axis].values.tolist()
    if len(set(sizes)) < len(sizes) or len(sizes) < 2 or min(sizes) <= 0:
        raise InputError(f"A convergence table needs at least two different positive values of {axis}.")
    return sizes, part.values.astype(float)


def _checked_limit(limit: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    try:
        given = np.broadcast_to(np.asarray(limit, dtype=float), shape)
    except (TypeError, ValueError, OverflowError):
        given = np.full(1, math.nan)
    if not np.isfinite(given).all():
        raise InputError(f"limit must be a finite number or numbers of shape {list(shape)}, not {limit!r}.")
    return given


def _size(difference: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(difference))))
