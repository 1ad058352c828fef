"""One writer at a time: the lock of a book's folder, on every system that Python knows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK_SECONDS = 0.05


@contextmanager
def locked(folder: Path, *, writing: bool = True) -> Iterator[None]:
    """Hold the folder's lock; a writer sweeps away what a dead one left half-written.

    A book that lies where nothing can be written has no writers either: it is read without a lock.
    """
    try:
        file = (folder / ".lock").open("a+")
    except OSError:
        if writing:
            raise
        yield
        return
    with file:
        _hold(file)
        try:
            if writing:
                for leftover in folder.glob(".*.tmp"):
                    leftover.unlink(missing_ok=True)
            yield
        finally:
            _release(file)


def _hold(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            except OSError:
                time.sleep(LOCK_SECONDS)
            else:
                return
    else:
        fcntl.flock(file, fcntl.LOCK_EX)


def _release(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_UN)
