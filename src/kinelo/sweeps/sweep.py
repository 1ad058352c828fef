"""One function at many points: ``u(x₁, …, x_d)`` for every x of a grid or list, as a dataset with named axes.

Lines of the sweep are computed in this process, or on the workers of a Dask client (:func:`results_of`).
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr

from kinelo.errors import InputError, KineloWarning, in_one_line
from kinelo.runtime.extras import require
from kinelo.runtime.progress import Advance, Progress, progress_bar
from kinelo.runtime.workers import answers, check_client, threads_of
from kinelo.sweeps.assembly import FAILURE, assemble
from kinelo.sweeps.axes import Axes, Over, axes_of
from kinelo.sweeps.point import PREVIOUS, Line, PointResult, Together, run_line

if TYPE_CHECKING:
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

    out: Path | str | None = None
    retry: bool = False


NO_STORAGE = Storage()


def run_sweep(
    function: Callable[..., Any],
    axes: Axes,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any],
    along: str | None = None,
    storage: Storage = NO_STORAGE,
    client: Client | None = None,
    advance: Advance = lambda done: None,
) -> xr.Dataset:
    """Compute what is not stored yet and put all points together; ``inputs`` tell this sweep from others."""
    if client is not None:
        check_client(client)
    with nullcontext() if storage.out is None else _open_store(storage.out, inputs) as store:
        lines = axes.lines(along)
        if store is not None:
            lines = _open_lines(store, lines, storage.retry)
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
        dataset = assemble(axes, _in_order(read, len(axes)), attributes)
        if store is not None:
            store.finish(dataset)
    _warn_of_failures(dataset)
    return dataset


def _open_store(out: Path | str, inputs: Mapping[str, Any]) -> SweepStore:
    require("zarr")
    from kinelo.sweeps.store import SweepStore

    return SweepStore(out, inputs)


def _in_order(read: Callable[[int], PointResult], points: int) -> Iterator[PointResult]:
    return (read(index) for index in range(points))


def _open_lines(store: SweepStore, lines: list[list[int]], retry: bool) -> list[list[int]]:
    """Lines with a point that is not stored, or that failed where that is to be tried again: from their beginning."""
    if retry:
        failed = store.failed()
        store.forget({index for line in lines if failed.intersection(line) for index in line})
    done = store.done()
    rest = [line for line in lines if not done.issuperset(line)]
    store.forget({index for line in rest for index in line} & done)
    return rest


def _warn_of_failures(dataset: xr.Dataset) -> None:
    if FAILURE in dataset:
        failures = [text for text in dataset[FAILURE].values.ravel().tolist() if text]
        sentence = (
            f"{len(failures)} of {dataset[FAILURE].size} points could not be computed; the first says: {failures[0]}"
        )
        warnings.warn(sentence, KineloWarning, stacklevel=4)


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
