"""A process beside a service, which does with a large book what would keep forecasts waiting.

Python runs one thread of a process at a time, and reads or frees 100,000 ratings at once: forecasts would wait for up
to half a second. The process is started when it is asked first, and ends when nobody has asked for a minute, or when
the service is gone. What it had not committed by its end does not count.
"""

from __future__ import annotations

import gc
import os
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

from kinelo.book.book import RatingBook
from kinelo.book.database import UnreachableError
from kinelo.errors import KineloWarning

IDLE_SECONDS = 60.0
NICENESS = 10
"""By how much the process gives way to those who forecast."""
LOST = (
    "The process that rates matches again has ended. What was being sent may count or not: send it again, a match with "
    "an identifier counts once."
)


class Beside:
    """Asks a process that has opened the book itself; one thread at a time."""

    def __init__(self, open_book: Callable[..., RatingBook], *words: Any) -> None:
        self.opening = open_book, *words
        self.process: Any = None

    def __call__(self, name: str, *words: Any) -> Any:
        """What the book's way of going on answers (:class:`kinelo.book.carrying.Carrying`), or raise what it raises."""
        if self.process is None or not self.process.is_alive():
            spawn = get_context("spawn")
            self.pipe, theirs = spawn.Pipe()
            self.process = spawn.Process(target=_answer, args=(theirs, *self.opening))
            self.process.start()
            theirs.close()  # so that its end is seen
        try:
            self.pipe.send((name, words))
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self.close()
            raise UnreachableError(LOST) from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.pipe.close()
            self.process.join()


def _answer(pipe: Any, open_book: Callable[..., RatingBook], *words: Any) -> None:
    """Answer in a process of its own until the service has closed its end; that is told to end, this is not."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    warnings.simplefilter("ignore", KineloWarning)
    os.nice(NICENESS)
    gc.disable()  # else all rows are looked through while others wait
    with open_book(*words) as book, suppress(EOFError, OSError):  # of a pipe whose other end is gone
        while pipe.poll(IDLE_SECONDS):
            name, asked = pipe.recv()
            try:
                answer = getattr(book._carrying, name)(*asked)
            except Exception as error:
                answer = error
            pipe.send(answer)
            gc.collect()
