"""A process beside a service, which does with a large book what would keep forecasts waiting.

Python runs one thread of a process at a time, and reads or frees 100,000 ratings at once: forecasts would wait for up
to half a second. All workers of a service share one process. It is started with a service of a large book, else when
it is asked first, and ends when nobody has asked for ten minutes, or when the service is gone. What it had not
committed by its end does not count.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Client, Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kinelo.book.book import RatingBook
from kinelo.book.database import UnreachableError
from kinelo.errors import KineloWarning

IDLE_SECONDS = 600.0
NICENESS = 10
"""By how much the process gives way to those who forecast."""
LOST = (
    "The process that rates matches again has ended. What was being sent may count or not: send it again, a match with "
    "an identifier counts once."
)


class Beside:
    """Starts the process when somebody asks at ``address``, which only this user can reach; as a context, ends it."""

    def __init__(self, open_book: Callable[..., RatingBook], *words: Any) -> None:
        self.opening, self.process = (open_book, *words), None
        # The name of a socket has some 100 letters at most, which a folder that users name may exceed.
        self.folder = TemporaryDirectory(prefix="kinelo-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)
        self.address = str(Path(self.folder.name, "beside"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.address)
        self.listener.listen()
        self.ended, self.end = get_context("spawn").Pipe(duplex=False)
        self.thread = threading.Thread(target=self._start_when_asked)
        self.thread.start()

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        self.end.close()  # which all who wait at the other end notice
        self.thread.join()
        self.ended.close()
        self.listener.close()
        self.folder.cleanup()

    def begin(self) -> None:
        """Start the process before it is asked."""
        Client(self.address).close()

    def _start_when_asked(self) -> None:
        while self.ended not in wait([self.listener, self.ended]):
            self.process = get_context("spawn").Process(target=_answer, args=(self.listener, self.ended, *self.opening))
            self.process.start()
            self.process.join()


def ask_beside(address: str, name: str, *words: Any) -> Any:
    """What the book's way of going on answers (:class:`kinelo.book.carrying.Carrying`), or raise what it raises."""
    try:
        with Client(address) as pipe:
            pipe.send((name, words))
            answer = pipe.recv()
    except (EOFError, OSError):
        raise UnreachableError(LOST) from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _answer(listener: socket.socket, ended: Any, open_book: Callable[..., RatingBook], *words: Any) -> None:
    """Answer one after the other in a process of its own; the service is told to end, this is not."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    warnings.simplefilter("ignore", KineloWarning)
    os.nice(NICENESS)
    gc.disable()  # else all rows are looked through while others wait
    book = None
    while listener in wait([listener, ended], IDLE_SECONDS):
        # Whoever asked may be gone.
        with Connection(listener.accept()[0].detach()) as pipe, suppress(EOFError, OSError):
            name, asked = pipe.recv()
            try:
                if book is None:  # its truth is its length, which is counted
                    book = open_book(*words)
                answer = getattr(book._carrying, name)(*asked)
            except Exception as error:
                answer = error
            pipe.send(answer)
        gc.collect()
    if book is not None:
        book.close()
