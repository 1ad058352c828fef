"""A process beside this one that answers requests in order, and ends when this one does, however it ends.

A program with one thread is doubled as it stands where the system can, so that nothing is loaded twice. Otherwise a
module is run as a program, which calls :func:`serve`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, cast

from kinelo.errors import InputError, KineloWarning


class Unsent(Exception):
    """A request that the other process cannot read."""


class Failed(Exception):
    """What the other process says of an answer that failed."""


class Aside:
    """``ask`` returns at once with the promise of an answer; use as a context manager.

    ``module`` answers as a program; ``answer`` is the function it does so with, for a process made by doubling.
    """

    def __init__(self, module: str, answer: Callable[..., Any] | None = None) -> None:
        self._module, self._answer = module, answer

    def __enter__(self) -> Aside:
        if self._answer is not None and sys.platform == "linux" and threading.active_count() == 1:
            self._pid, self._to, self._back = _doubled(self._answer)
        else:
            # Ctrl-C is answered by the process that started this one.
            process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            process.returncode = 0  # it is waited for by its number, as a doubled one is
            self._pid, self._to, self._back = (
                process.pid,
                cast(IO[bytes], process.stdin),
                cast(IO[bytes], process.stdout),
            )
        self._pool = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        for pipe in (self._to, self._back):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def ask(self, *request: object) -> Future[Any]:
        """Have the function of the other process called; what Kinelo warns of there is warned of here."""
        return self._pool.submit(self._ask, request)

    def _ask(self, request: tuple[object, ...]) -> Any:
        try:
            sent = pickle.dumps(request)
        except Exception as error:
            raise Unsent(str(error)) from None
        try:
            pickle.dump(sent, self._to)
            self._to.flush()
            answer, complaint, told = pickle.load(self._back)
        except (EOFError, BrokenPipeError):
            raise RuntimeError(f"The process {self._module} ended unexpectedly.") from None
        for text in told:
            warnings.warn(text, KineloWarning, stacklevel=2)
        if complaint is not None:
            raise complaint
        return answer


def _doubled(answer: Callable[..., Any]) -> tuple[int, IO[bytes], IO[bytes]]:
    """A double of this process that does nothing but answer: its number, and pipes to it and back."""
    (read_request, write_request), (read_reply, write_reply) = os.pipe(), os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.close(write_request)
            os.close(read_reply)
            serve(answer, os.fdopen(read_request, "rb"), os.fdopen(write_reply, "wb"))
        finally:
            # Nothing of what the other has begun is ended here.
            os._exit(0)
    os.close(read_request)
    os.close(write_reply)
    return pid, os.fdopen(write_request, "wb"), os.fdopen(read_reply, "rb")


def serve(answer: Callable[..., Any], requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer the requests of the process that started this one until it is gone; what is printed goes to stderr."""
    sys.stdout = sys.stderr
    while True:
        try:
            sent = pickle.load(requests)
        except EOFError:
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", KineloWarning)
            reply = _answered(answer, sent)
        told = list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, KineloWarning)))
        pickle.dump((*reply, told), replies)
        replies.flush()


def _answered(answer: Callable[..., Any], sent: bytes) -> tuple[Any, Exception | None]:
    try:
        request = pickle.loads(sent)
    except Exception as error:
        return None, Unsent(str(error))
    try:
        return answer(*request), None
    except InputError as error:
        return None, InputError(str(error))
    except KeyError as missing:
        return None, KeyError(*missing.args)
    except Exception:
        return None, Failed(traceback.format_exc())
