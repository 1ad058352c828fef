"""Files that are either the old one or the new one, never half of either.

:func:`write_file` writes where a user said; :func:`replace_file` writes a file of a folder that Kinelo keeps.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path

from kinelo.errors import InputError

PERMISSIONS = 0o777


LONGEST_NAME = 255
"""Bytes of the name of a file or folder, on every system."""


def check_name(path: Path | str) -> None:
    """Refuse text that is the name of no file on any system.

    >>> check_name("a\\0b")
    Traceback (most recent call last):
    kinelo.errors.InputError: 'a\\x00b' is no name of a file.
    """
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded or max(map(len, encoded.split(b"/"))) > LONGEST_NAME:
        raise InputError(f"{str(path)!r:.80} is no name of a file.")


def write_file(path: Path | str, content: bytes) -> None:
    """Put ``content`` where a user asked for it.

    A file is replaced whole, also the one that a link leads to, and keeps its permissions. A stream (``/dev/stdout``,
    ``/dev/fd/3``), a pipe or a terminal is written to. Nothing else is touched: what is no file is never replaced by
    one.
    """
    check_name(path)
    handle = _open_handle(Path(path))
    if handle is not None:
        _write_to(os.dup(handle), content)
        return
    target = Path(os.path.realpath(path))
    try:
        kind = target.stat().st_mode
    except FileNotFoundError:
        replace_file(target, content)
        return
    if stat.S_ISREG(kind):
        replace_file(target, content, mode=stat.S_IMODE(kind) & PERMISSIONS)
    elif stat.S_ISDIR(kind):
        raise InputError(f"{path} is a folder; name a file to write to.")
    elif stat.S_ISFIFO(kind) or stat.S_ISCHR(kind):
        _write_to(_opened(target, path), content)
    else:
        raise InputError(f"{path} is neither a file nor a pipe nor a terminal; name a file to write to.")


def replace_file(path: Path, content: bytes, *, durable: bool = False, mode: int | None = None) -> None:
    """Put ``content`` at ``path`` through a temporary sibling and a rename; ``durable`` waits for the disk.

    What stood there before is gone, whatever it was: a link among the files of a stranger's folder leads nowhere.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)  # of a process that had the same number and was killed
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def _open_handle(path: Path) -> int | None:
    """The stream of this process that a path names, following links; None if it names none.

    To open such a path anew would write over the beginning of a file that the stream has been writing to.
    """
    for _ in range(40):  # links that lead in a circle end as what cannot be opened
        folder = os.path.realpath(path.parent)
        if re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd|/dev/fd", folder) and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(folder, os.readlink(path))
    return None


def _opened(target: Path, named: Path | str) -> int:
    """A pipe or a device to write to; a pipe that nobody reads is refused rather than waited for."""
    try:
        handle = os.open(target, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise InputError(f"Nobody reads from {named}; start its reader first, or name a file.") from None
        raise
    os.set_blocking(handle, True)
    return handle


def _write_to(handle: int, content: bytes) -> None:
    """Write to a stream, behind what was printed before, and close this handle of it."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def sync_folder(folder: Path) -> None:
    """Wait until names made or renamed in ``folder`` are on the disk (Windows keeps its own order of names)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
