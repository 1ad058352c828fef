"""Where the lines of a sweep are computed: in this process, or wherever a Dask client sends them.

Dask decides what runs where and what runs again after a worker was lost; nothing here does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinelo._version import __version__
from kinelo.errors import InputError, KineloWarning
from kinelo.results.provenance import library_versions
from kinelo.sweeps.point import PointResult, run_line, sentence

if TYPE_CHECKING:
    from distributed import Client

Line = Sequence[tuple[int, Mapping[str, Any]]]
ANSWER = 10.0
"""Seconds in which a scheduler must answer."""


def results_of(
    function: Callable[..., Any], lines: Sequence[Line], continued: bool, client: Client | None
) -> Iterator[list[PointResult]]:
    """Yield every line as it ends."""
    if client is None:
        for line in lines:
            yield run_line(function, line, continued, __version__)
        return
    from distributed import as_completed

    # Without pure=False two points with equal arguments would be one task.
    futures = client.map(run_line, [function] * len(lines), lines, continued=continued, version=__version__, pure=False)
    of = {future.key: line for future, line in zip(futures, lines, strict=True)}
    try:
        for future in as_completed(futures, raise_errors=False):
            try:
                # Waits where a result was lost with its worker and is being computed again.
                result = future.result()
            except Exception as error:
                result = [PointResult(index, None, _lost(error)) for index, _ in of[future.key]]
            yield result
            future.release()
    finally:
        client.cancel(futures)


def _lost(error: Exception) -> str:
    if type(error).__name__ == "KilledWorker":
        return "every worker that computed it died, which is how a computation that needs too much memory ends."
    return sentence(error)


def check_client(client: Any) -> None:
    """Refuse what is no Dask client, and workers with another version of Kinelo."""
    _dask()
    from distributed import Client

    if not isinstance(client, Client):
        raise InputError(f"client must be a dask.distributed.Client, not {client!r}.")
    here = library_versions()
    answers: Any = client.run(library_versions, on_error="return")
    for worker, there in answers.items():
        if not isinstance(there, Mapping):
            raise InputError(f"the worker {worker} cannot use Kinelo ({sentence(there)}).")
        if there["kinelo"] != here["kinelo"]:
            raise InputError(
                f"the worker {worker} has Kinelo {there['kinelo']} and this process {here['kinelo']}; "
                "install the same version everywhere."
            )
        other = [f"{name} {there.get(name)}" for name in here if there.get(name) != here[name]]
        if other:
            told = f"the worker {worker} has {', '.join(other)}, unlike this process; last digits may differ."
            warnings.warn(told, KineloWarning, stacklevel=3)


@contextmanager
def local_client(workers: int) -> Iterator[Client]:
    """A cluster of so many processes on this machine, for the time of the block."""
    _dask()
    from distributed import Client, LocalCluster

    alone: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with _default_kept(), LocalCluster(n_workers=workers, **alone) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def scheduler_client(address: str) -> Iterator[Client]:
    """A client of the scheduler at ``address``, or a sentence if none answers."""
    _dask()
    from distributed import Client

    with _default_kept():
        try:
            client = Client(address, timeout=ANSWER)
        except (OSError, ValueError, TypeError) as error:
            reason = sentence(error).split(" after ")[0]
            raise InputError(f"no Dask scheduler answers at {address!r} ({reason}).") from None
        with client:
            yield client


@contextmanager
def _default_kept() -> Iterator[None]:
    """Leave Dask's default scheduler as it was: a client that found none keeps itself as the default."""
    settings: Any = import_module("dask.config")
    before = settings.get("scheduler", None)
    try:
        yield
    finally:
        if before is None:
            settings.config.pop("scheduler", None)
        else:
            settings.set(scheduler=before)


def _dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError("Dask is not installed; it comes with pip install 'kinelo[dask]'.") from None
