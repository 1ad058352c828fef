"""What no part of Kinelo has put into words: still one sentence and exit code 2.

With the environment variable KINELO_TRACEBACK set, Python's own report comes first.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

LONGEST_SHOWN = 60


def give_up(error: BaseException) -> NoReturn:
    """Say what went wrong and end the program."""
    if isinstance(error, BrokenPipeError):
        # Whoever read the output has gone: there is nobody to tell.
        _leave(1)
    if os.environ.get("KINELO_TRACEBACK"):
        traceback.print_exception(error)
    with suppress(OSError):
        print(f"kinelo: {sentence(error)}", file=sys.stderr)
    _leave(2)


def sentence(error: BaseException) -> str:
    """One sentence about an error that was not foreseen.

    >>> sentence(FileNotFoundError(errno.ENOENT, "No such file or directory", "league.csv"))
    'league.csv: no such file or directory.'
    >>> sentence(MemoryError())
    'The memory of this machine does not suffice for that; use fewer teams, cells, realisations or records.'
    """
    if isinstance(error, MemoryError):
        return "The memory of this machine does not suffice for that; use fewer teams, cells, realisations or records."
    if isinstance(error, RecursionError):
        return "The input is nested too deeply to be read."
    if isinstance(error, OSError):
        name = str(error.filename) if error.filename else "The output" if error.errno == errno.ENOSPC else "The system"
        name = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"
        return f"{name}: {(error.strerror or str(error) or type(error).__name__).lower()}."
    words = " ".join(str(error).split()).rstrip(".") or "no reason given"
    return (
        f"Something went wrong that Kinelo did not foresee ({type(error).__name__}: {words}); "
        "set KINELO_TRACEBACK=1 to see where."
    )


def _leave(code: int) -> NoReturn:
    """End the program; what is left of the output cannot be written and would only be complained about once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
