"""One function at many points: ``u(x₁, …, x_d)`` for every x of a grid or list, as a dataset with named axes.

Lines of the sweep are computed in this process, or on the workers of a Dask client (:func:`results_of`).

Along an axis of resolutions a sweep converges: between neighbours ``e_k = ‖u_{k+1} − u_k‖`` (root mean square); where
``e ~ h^p`` and resolutions grow by ratios q, the order is ``p = ln(e_{k−1} / e_k) / ln q_k``. Against a known limit,
``e_k = ‖u_k − u‖``.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from kinelo.errors import InputError, in_one_line, warn
from kinelo.presentation import counted
from kinelo.runtime.extras import require
from kinelo.runtime.progress import Advance, Progress, progress_bar
from kinelo.runtime.workers import answers, check_client, threads_of
from kinelo.sweeps.axes import Axes, Over, axes_of
from kinelo.sweeps.point import FAILURE, PREVIOUS, Line, PointResult, Together, assemble, run_line

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client

    from kinelo.sweeps.store import SweepStore


def sweep(
    function: Callable[..., Any],
    over: Over,
    *,
    along: str | None = None,
    out: Path | str | None = None,
    client: Client | None = None,
    retry: bool = False,
    progress: Progress = False,
) -> xr.Dataset:
    """Compute a function at every point and return the results over the parameters, by name.

    Parameters
    ----------
    function
        Takes the parameters as keywords; gives a number, an array, a mapping of them, or an ``xarray.Dataset``. All
        points must give the same variables with the same shapes.
    over
        Parameters and their values: ``{"nu": [0.5, 1.0], "sigma": [1, 2]}`` is a grid, ``[{"nu": 0.5, "sigma": 1},
        …]`` a list of points, which becomes the dimension ``point``.
    along
        Axis of continuation: each line along it is one task, computed from its first point on, and the function
        receives what it last gave on that line as the keyword ``previous`` (None at the first point).
    out
        Folder that receives every point as it ends. The same call continues what is there; another sweep is refused.
    client
        A ``dask.distributed.Client``, to compute on its workers. The result is the same, to the last bit.
    retry
        Compute points again that failed before (with ``along``, their whole line).
    progress
        True shows a progress bar; a function is called with a few words now and then.

    Returns
    -------
    xarray.Dataset
        A point that fails stops no other: it holds NaN, its sentence stands in ``failure``, and a warning says so.

    Examples
    --------
    >>> import kinelo as kn
    >>> def expected(nu, sigma):
    ...     return kn.expected_result(kn.Tanh(nu=nu), kn.Normal([4.0, 7.0], sigma))[1, 0]
    >>> table = kn.sweep(expected, {"nu": [0.25, 0.5], "sigma": [0.5, 1.0, 2.0]})
    >>> table.value.dims, table.value.sel(nu=0.5).values.round(3).tolist()
    (('nu', 'sigma'), [0.884, 0.817, 0.632])
    """
    axes = axes_of(over)
    if not callable(function):
        raise InputError(f"function must be a function of the parameters, not {function!r}.")
    axes.lines(along)
    check_keywords(function, axes, along)
    inputs = {**function_inputs(function), "over": axes.describe(), "along": along}
    attributes = {"function": inputs["function"]}
    with progress_bar("Computing points", len(axes), wanted=progress) as advance:
        return run_sweep(function, axes, inputs, attributes, along, Storage(out, retry), client, advance)


class Storage(NamedTuple):
    """Where points are stored as they end (None: nowhere), and whether those that failed are computed again."""

    out: Path | str | None
    retry: bool


def run_sweep(
    function: Callable[..., Any],
    axes: Axes,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any],
    along: str | None,
    storage: Storage,
    client: Client | None,
    advance: Advance,
) -> xr.Dataset:
    """Compute what is not stored yet and put all points together; ``inputs`` tell this sweep from others."""
    if client is not None:
        check_client(client)
    opened: AbstractContextManager[SweepStore | None] = nullcontext()
    if storage.out is not None:
        require("zarr")
        from kinelo.sweeps.store import SweepStore

        opened = SweepStore(storage.out, inputs)
    with opened as store:
        lines = axes.lines(along)
        if store is not None:
            # Lines with a point that is not stored, or that failed and is to be tried again: from their beginning.
            if storage.retry:
                failed = store.failed()
                store.forget({index for line in lines if failed.intersection(line) for index in line})
            stored = store.done()
            lines = [line for line in lines if not stored.issuperset(line)]
            store.forget({index for line in lines for index in line} & stored)
        results_at: dict[int, PointResult] = {}
        done = len(axes) - sum(map(len, lines))
        advance(done)
        work: list[Line] = [[(index, axes.point(index)) for index in line] for line in lines]
        if along is None and isinstance(function, Together):
            work = function.batches(
                [point for line in work for point in line], 1 if client is None else threads_of(client)
            )
        for results in results_of(function, work, along is not None, client):
            for point in results:
                if store is None:
                    results_at[point.index] = point
                else:
                    store.keep(point)
            done += len(results)
            advance(done)
        read = results_at.__getitem__ if store is None else store.read
        dataset = assemble(axes, map(read, range(len(axes))), attributes)
        if store is not None:
            store.finish(dataset)
    if FAILURE in dataset:
        failures = [text for text in dataset[FAILURE].values.ravel().tolist() if text]
        points = counted(dataset[FAILURE].size, "point", "points")
        sentence = f"{len(failures)} of {points} could not be computed; the first says: {failures[0]}"
        warn(sentence)
    return dataset


def check_keywords(function: Callable[..., Any], axes: Axes, along: str | None) -> None:
    """Refuse parameters that the function does not take, and functions that need more than the parameters."""
    names = [*axes.values, *([PREVIOUS] if along is not None else [])]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    accepted = [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    listed = ", ".join(accepted) or "none"
    for name in names:
        if name not in accepted and not open_ended:
            why = f" (what it gave at the point before, since along = {along!r})" if name == PREVIOUS else ""
            raise InputError(f"The function does not take the parameter {name!r}{why}; it takes {listed}.")
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError as error:
        raise InputError(f"The function cannot be called with {', '.join(names)} alone: {error}.") from None


def function_inputs(function: Callable[..., Any]) -> dict[str, Any]:
    """Name and source of a function, and what a partial one was given; what it closes over is not looked at."""
    given: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        given |= {str(k): repr(v) for k, v in enumerate(function.args)}
        given |= {name: repr(value) for name, value in function.keywords.items()}
        function = function.func
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", type(function).__qualname__)
    try:
        source = textwrap.dedent(inspect.getsource(function))
        digest = hashlib.blake2b(source.encode(), digest_size=16).hexdigest()
    except (OSError, TypeError):
        digest = ""
    return {"function": f"{module}.{name}", "source of the function": digest, "arguments": given}


def results_of(
    function: Callable[..., Any], lines: Sequence[Line], continued: bool, client: Client | None
) -> Iterator[list[PointResult]]:
    """Yield every line as it ends; one that no worker could compute is a line of failed points.

    A batch that no worker could compute is tried again point by point.
    """
    if client is None:
        yield from (run_line(line, function, continued) for line in lines)
        return
    again: list[Line] = []
    for k, result in answers(client, run_line, lines, function, continued):
        if not isinstance(result, BaseException):
            yield result
        elif continued or len(lines[k]) == 1:
            yield [PointResult(index, None, in_one_line(result)) for index, _ in lines[k]]
        else:
            again += [[point] for point in lines[k]]
    if again:
        yield from results_of(function, again, continued, client)


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

    if not isinstance(dataset, xr.Dataset):
        raise InputError(f"dataset must be what kn.sweep returned, not {dataset!r}.")
    there = isinstance(variable, str) and variable in dataset.data_vars
    if not there or dataset[variable].dtype.kind not in "biuf":
        numbers = ", ".join(str(name) for name in dataset.data_vars if dataset[name].dtype.kind in "biuf")
        raise InputError(f"variable must be one of {numbers}, not {variable!r}.")
    part = dataset[variable]
    named = isinstance(axis, str) and axis in part.dims and axis in dataset.coords
    if not named or dataset[axis].dtype.kind not in "iuf":
        raise InputError(f"axis must be an axis of numbers of {variable!r}, not {axis!r}.")
    part = part.sortby(axis).transpose(axis, ...)
    sizes, values = part[axis].values.tolist(), part.values.astype(float)
    if len(set(sizes)) < len(sizes) or len(sizes) < 2 or min(sizes) <= 0:
        raise InputError(f"A convergence table needs at least two different positive values of {axis}.")
    if limit is None:
        errors = [_size(b - a) for a, b in pairwise(values)] + [math.nan]
    else:
        try:
            end = np.broadcast_to(np.asarray(limit, dtype=float), values[0].shape)
        except (TypeError, ValueError, OverflowError):
            end = np.full(1, math.nan)
        if not np.isfinite(end).all():
            raise InputError(
                f"limit must be a finite number or numbers of shape {list(values[0].shape)}, not {limit!r}."
            )
        errors = [_size(value - end) for value in values]
    orders = [None] + [
        math.log(a / b) / math.log(fine / coarse) if a > 0 and b > 0 else None
        for a, b, coarse, fine in zip(errors, errors[1:], sizes, sizes[1:])
    ]
    shown: dict[str, Any] = {axis: sizes, "error": [None if math.isnan(e) else e for e in errors], "order": orders}
    return pl.DataFrame(shown, schema_overrides={"error": pl.Float64, "order": pl.Float64})


def _size(difference: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(difference))))
