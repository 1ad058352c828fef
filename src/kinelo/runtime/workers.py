"""Work on many machines: a function of independent items, computed wherever a Dask client sends them.

Dask decides what runs where and what runs again after a worker was lost; nothing here does. An item and what all items
share are sent as bytes, so that a task has its own copy of everything: what one does cannot change another's result.
"""

from __future__ import annotations

import logging
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinelo._version import __version__
from kinelo.errors import InputError, KineloWarning, in_one_line, warn
from kinelo.runtime.extras import library_versions, require

if TYPE_CHECKING:
    from distributed import Client

ANSWER_SECONDS = 10.0
"""Seconds in which a scheduler must answer."""

WORKERLESS_SECONDS = 60.0
"""Seconds in which a scheduler without workers must find one."""

RETURN = "300 s"
"""Time in which a process of a local cluster must be back after it died."""

SAFE_PATH = "-P"
"""How Kinelo starts Python: without the working folder on its path, where any file might have a library's name."""

LOST = "every worker that computed it died, which is how a computation that needs too much memory ends."


def answers(
    client: Client, function: Callable[..., Any], items: Sequence[Any], *shared: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the number of an item and ``function(item, *shared)``, as they end; an exception is given, not raised."""
    from distributed import as_completed

    common = _as_bytes((function, shared))
    sent = [_as_bytes(item) for item in items]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        # Without pure=False two equal items would be one task.
        asked = {"common": common, "version": __version__, "sender": os.getpid(), "pure": False}
        futures = client.map(_answer, sent, **asked)
    number = {future.key: k for k, future in enumerate(futures)}
    try:
        for future in as_completed(futures, raise_errors=False):
            try:
                # Waits where a result was lost with its worker and is being computed again.
                result, sentences = future.result()
            except Exception as error:
                killed = type(error).__name__ == "KilledWorker"
                result, sentences = InputError(LOST) if killed else error, []
            for text in sentences:
                warn(text)
            yield number[future.key], result
            future.release()
    finally:
        client.cancel(futures)


def collected(client: Client, function: Callable[..., Any], items: Sequence[Any], *shared: Any) -> list[Any]:
    """What :func:`answers` gives, in the order of the items; the first exception is raised."""
    results: list[Any] = [None] * len(items)
    for k, result in answers(client, function, items, *shared):
        if isinstance(result, BaseException):
            raise result
        results[k] = result
    return results


def threads_of(client: Client) -> int:
    """How many tasks the workers of a client compute at once."""
    there: Any = client.nthreads()
    return max(1, sum(there.values()))


def pieces(count: int, client: Client, least: int = 1, most: int | None = None) -> list[range]:
    """Numbers 0 … count − 1 in even ranges, some for each thread of the workers, of ``least`` to ``most`` numbers.

    ``least`` gives way where it would leave a thread idle.
    Which ranges these are must not change a result: they follow the workers that are there.
    """
    threads = threads_of(client)
    size = max(min(least, -(-count // threads)), -(-count // (4 * threads)))
    size = size if most is None else min(size, most)
    return [range(first, min(first + size, count)) for first in range(0, count, max(size, 1))]


def _as_bytes(thing: Any) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(thing)
    except Exception as error:
        raise InputError(f"This cannot be sent to workers ({in_one_line(error)}).") from None


def _answer(item: bytes, common: bytes, version: str, sender: int) -> tuple[Any, list[str]]:
    """On a worker: compute one item, and hand back what Kinelo warned of."""
    if version != __version__:
        raise InputError(f"A worker has Kinelo {__version__} and this work was started with {version}.")
    import cloudpickle
    from distributed import get_worker

    function, shared = cloudpickle.loads(common)
    argument = cloudpickle.loads(item)
    # Python's record of warnings belongs to a process: threads that share one leave them where they arise.
    if get_worker().state.nthreads > 1 or os.getpid() == sender:
        return function(argument, *shared), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KineloWarning)
        result = function(argument, *shared)
    sentences = list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, KineloWarning)))
    for one in caught:
        if not issubclass(one.category, KineloWarning):
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)
    return result, sentences


def check_client(client: Any) -> None:
    """Refuse what is no Dask client, one without workers, and workers with another version of Kinelo."""
    require("distributed")
    from distributed import Client

    if not isinstance(client, Client):
        raise InputError(f"client must be a dask.distributed.Client, not {client!r}.")
    threads: Any = client.nthreads()
    if not threads:
        try:
            client.wait_for_workers(1, timeout=WORKERLESS_SECONDS)
        except TimeoutError:
            raise InputError(
                f"The Dask scheduler has had no worker for {WORKERLESS_SECONDS:.0f} s; start workers, then try again."
            ) from None
    ours = library_versions()
    versions: Any = client.run(library_versions, on_error="return")
    for worker, theirs in versions.items():
        if not isinstance(theirs, Mapping):
            raise InputError(f"The worker {worker} cannot use Kinelo ({in_one_line(theirs)}).")
        if theirs["kinelo"] != ours["kinelo"]:
            raise InputError(
                f"The worker {worker} has Kinelo {theirs['kinelo']} and this process {ours['kinelo']}; "
                "install the same version everywhere."
            )
        other = [f"{name} {theirs.get(name)}" for name in ours if theirs.get(name) != ours[name]]
        if other:
            unlike = f"the worker {worker} has {', '.join(other)}, unlike this process; last digits may differ."
            warn(unlike)


def client_of(workers: int | None, scheduler: str | None) -> AbstractContextManager[Client | None]:
    """The client that a command was asked for: so many processes here, or those of a scheduler; None if neither."""
    if workers is not None and scheduler is not None:
        raise InputError("--workers and --scheduler exclude each other.")
    if workers is not None:
        return local_client(workers)
    return nullcontext() if scheduler is None else scheduler_client(scheduler)


@contextmanager
def local_client(workers: int, memory_limit: str = "auto") -> Iterator[Client]:
    """A cluster of so many processes on this machine, for the time of the block."""
    require("distributed")
    from distributed import Client, LocalCluster

    settings: Any = import_module("dask.config")
    # Port 0 is any free one: by default Dask tries its usual port first and warns where that is taken.
    alone: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    # What Dask warns of while workers die or are ended is said in words of our own, where it matters.
    alone["silence_logs"] = logging.ERROR
    with (
        _default_kept(),
        _safe_paths(),
        # Dask gives a worker up that has not come back by then, which a busy machine can take longer for than 15 s.
        settings.set({"distributed.deploy.lost-worker-timeout": RETURN}),
    ):
        with _ctrl_c_waits():
            cluster = LocalCluster(n_workers=workers, memory_limit=memory_limit, **alone)
        try:
            with Client(cluster) as client:
                yield client
        finally:
            # Dask kills workers that do not end in time, and fails where a busy machine takes a second to bury them.
            with suppress(TimeoutError):
                cluster.close()


@contextmanager
def _safe_paths() -> Iterator[None]:
    """Processes that multiprocessing starts meanwhile begin as with ``SAFE_PATH``; it hands them this one's path."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Have Ctrl-C wait for the end of the block. Threads and processes that are started in it never see one.

    A terminal sends it to all processes at once; workers are ended by the process that started them, not by a signal
    in the middle of whatever they do.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # Python starts its tracker of shared resources with the first process, and lets Ctrl-C through when it has.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def scheduler_client(address: str) -> Iterator[Client]:
    """A client of the scheduler at ``address``, or a sentence if none answers."""
    require("distributed")
    from distributed import Client

    with _default_kept():
        try:
            client = Client(address, timeout=ANSWER_SECONDS)
        except (OSError, ValueError, TypeError) as error:
            reason = in_one_line(error).split(" after ")[0]
            raise InputError(f"No Dask scheduler answers at {address!r} ({reason}).") from None
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
