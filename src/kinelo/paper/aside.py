"""A process beside this one that answers requests in order, and ends when this one does, however it ends.

It is a module run as a program: it calls :func:`serve` with the function that answers.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
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
    """``ask`` returns at once with the promise of an answer; use as a context manager."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __enter__(self) -> Aside:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is answered by the process that started this one
        )
        self._pool = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def ask(self, *request: object) -> Future[Any]:
        """Have the function of the other process called; what Kinelo warns of there is warned of here."""
        return self._pool.submit(self._ask, request)

    def _ask(self, request: tuple[object, ...]) -> Any:
        try:
            sent = pickle.dumps(request)
        except Exception as error:
            raise Unsent(str(error)) from None
        to, back = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        try:
            pickle.dump(sent, to)
            to.flush()
            answer, complaint, told = pickle.load(back)
        except (EOFError, BrokenPipeError):
            raise RuntimeError(f"The process {self._module} ended unexpectedly.") from None
        for text in told:
            warnings.warn(text, KineloWarning, stacklevel=2)
        if complaint is not None:
            raise complaint
        return answer


def serve(answer: Callable[..., Any]) -> None:
    """Answer the requests of the process that started this one until it is gone."""
    replies, sys.stdout = sys.stdout.buffer, sys.stderr
    while True:
        try:
            sent = pickle.load(sys.stdin.buffer)
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
