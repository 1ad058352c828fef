"""Files that a user or somebody else's folder names: read, or refused in a sentence; nothing is ever waited for."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from kinelo.errors import InputError

KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def check_file(path: Path) -> None:
    """Refuse a name under which there is no file, or none that may be read; links are followed."""
    os.close(_opened(path, "file"))


def check_tree(folder: Path) -> None:
    """Refuse a folder that holds anything but folders and files, which whoever reads them would wait for."""
    for place, _, names in os.walk(folder):
        for name in names:
            check_file(Path(place, name))


def read_file(path: Path, what: str = "file") -> bytes:
    """The content of a file; ``what`` says what it is meant to be.

    >>> read_file(Path("no-such.toml"), "study file")
    Traceback (most recent call last):
    kinelo.errors.InputError: There is no study file no-such.toml.
    """
    with os.fdopen(_opened(path, what), "rb") as file:
        try:
            return file.read()
        except OSError as error:
            raise _unreadable(path, what, error) from None


def read_text(path: Path, what: str = "file") -> str:
    """The content of a file of text."""
    try:
        return read_file(path, what).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"The {what} {path} cannot be read: it is not text in UTF-8 ({error.reason}).") from None


def read_json(path: Path, what: str = "file") -> Any:
    """What a file of JSON holds, however deep; the caller looks whether it is what was expected."""
    try:
        return json.loads(read_text(path, what))
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"The {what} {path} cannot be read: it is nested too deeply.") from None
    except ValueError as error:
        raise InputError(f"The {what} {path} cannot be read: it is not JSON ({error}).") from None


def _opened(path: Path, what: str) -> int:
    try:
        # Without O_NONBLOCK a pipe would be waited for until somebody writes to it.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise InputError(f"There is no {what} {path}.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, what, error) from None
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return handle
    os.close(handle)
    raise InputError(f"The {what} {path} cannot be read: it is {KINDS.get(stat.S_IFMT(kind), 'a device')}.")


def _unreadable(path: Path, what: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"The {what} {path} cannot be read: {reason[0].lower()}{reason[1:]}.")
