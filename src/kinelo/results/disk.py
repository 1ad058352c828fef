"""Folders on disk: made whole or not at all, and what goes wrong said in one sentence."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kinelo.errors import InputError
from kinelo.runtime.atomic import check_name, sync_folder

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def disk_errors_in_words(folder: Path, advice: str = "run the command again", needed: int = 0) -> Iterator[None]:
    """Turn an operating-system error while writing into an :class:`InputError` the user can act on.

    ``needed`` is the number of bytes that are still to be written, where it is known.

    >>> with disk_errors_in_words(Path("out")):
    ...     raise OSError(errno.EACCES, "Permission denied")
    Traceback (most recent call last):
    kinelo.errors.InputError: The folder out cannot be written: permission denied.
    """
    check_name(folder)
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            space = f"at least {max(needed / 1e6, 1):.0f} MB" if needed else "some space"
            free = free_space(folder)
            left = "" if free is None else f" ({free / 1e6:.0f} MB left)"
            raise InputError(
                f"The disk that holds {folder} is full{left}: free {space} there, then {advice}; "
                "everything finished so far is kept."
            ) from error
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(f"The folder {folder} cannot be written: {reason}.") from error


def free_space(folder: Path) -> int | None:
    """Bytes left on the disk that holds ``folder``, which need not exist yet."""
    for place in (folder, *folder.absolute().parents):
        with suppress(OSError):
            if place.is_dir():
                return shutil.disk_usage(place).free
    return None


def check_space(folder: Path, needed: float, what: str, remedy: str) -> None:
    """Refuse, before anything is written, what the disk cannot hold."""
    free = free_space(folder)
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs {_size(needed)} on the disk that holds {folder}, but {_size(free)} are free there; {remedy}."
        )


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.2f} MB"


def holds_something(folder: Path) -> bool:
    """Whether ``folder`` exists and is anything but an empty folder."""
    if not folder.exists() and not folder.is_symlink():
        return False
    return not folder.is_dir() or any(folder.iterdir())


@contextmanager
def new_folder(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give an empty temporary sibling of ``target``; rename it to ``target`` if the block succeeds, else remove it.

    An empty folder at ``target`` is replaced; anything else there makes the rename fail. ``durable`` waits for the disk
    before the rename, so that a loss of power cannot leave the name without its content.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in target.parent.glob(f".{target.name}.*.partial"):
        with suppress(FileNotFoundError):
            lock = lock_folder(leftover)
            if lock is not None:  # nobody works on it any more
                shutil.rmtree(leftover, ignore_errors=True)
                os.close(lock)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    temporary.mkdir()
    lock = None
    try:
        lock = lock_folder(temporary)
        yield temporary
        if durable:  # wait until every file and name below is on the disk
            for place, _, files in os.walk(temporary):
                for name in files:
                    sync_file(Path(place, name))
                sync_folder(Path(place))
        os.replace(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)
    sync_folder(target.parent)


def lock_folder(folder: Path) -> int | None:
    """Hold ``folder`` for this process until the returned handle is closed; None if another process holds it.

    The system drops the hold when a process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:
        raise InputError(
            "Runs are stored only where folders can be locked, which Windows cannot: work in its Subsystem for Linux "
            "or keep results in memory with kinelo.simulate, kinelo.solve and kinelo.sweep without out."
        ) from None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def sync_file(path: Path) -> None:
    """Wait until the content of one file is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_writable_folder(folder: Path) -> Path:
    """Return ``folder``, made if need be, or say why nothing can be written there."""
    with disk_errors_in_words(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{os.getpid()}.probe"
        probe.write_bytes(b"")
        probe.unlink()
    return folder
