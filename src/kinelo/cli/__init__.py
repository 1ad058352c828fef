"""The command line. Commands import what they need when they run."""

from __future__ import annotations

import errno
import gc
import os
import sys
import traceback
import warnings
from contextlib import suppress
from typing import NoReturn, TextIO

from kinelo.cli.commands import app, taken_names
from kinelo.cli.output import option_words, prepare_streams
from kinelo.errors import InputError, KineloWarning
from kinelo.runtime.plugins import warn_of_plugins_left_out

LONGEST_SHOWN = 60


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
        return f"{name}: {(error.strerror or str(error) or 'no reason given').lower()}."
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


RARELY = 100_000
"""New objects between two searches for garbage."""


def main() -> None:
    """Run the command line; bad input becomes one sentence and exit code 2, a warning one line."""
    prepare_streams()
    warnings.showwarning = _say_warning
    # A command holds little that refers to itself; to look for it as often as is usual takes a tenth of the time.
    gc.set_threshold(RARELY)
    try:
        try:
            # Which raters and commands of other packages are left out, and why.
            from kinelo.raters.choice import TAKEN

            warn_of_plugins_left_out("kinelo.raters", TAKEN)
            warn_of_plugins_left_out("kinelo.commands", taken_names())
            app()
        finally:
            # What cannot be written is said while it can still be said.
            sys.stdout.flush()
    except InputError as error:
        print(f"kinelo: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _leave(1)  # Whoever read the output has gone: there is nobody to tell.
    except Exception as error:
        if os.environ.get("KINELO_TRACEBACK"):
            traceback.print_exception(error)
        with suppress(OSError):
            print(f"kinelo: {sentence(error)}", file=sys.stderr)
        _leave(2)


_show_in_full = warnings.showwarning


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print Kinelo's own warnings as one line; where in the source they arise helps no user."""
    if issubclass(category, KineloWarning):
        print(f"kinelo: warning: {option_words(str(message))}", file=sys.stderr)
    else:
        _show_in_full(message, category, filename, lineno, file, line)


__all__ = ["app", "main"]
