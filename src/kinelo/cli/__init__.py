"""The command line. Each command has a file of its own and imports what it needs when it runs."""

import gc
import sys
import warnings
from typing import TextIO

from kinelo.cli.app import app
from kinelo.cli.commands import warn_of_plugins
from kinelo.cli.streams import option_words, prepare_streams
from kinelo.errors import InputError, KineloWarning

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
            warn_of_plugins()
            app()
        finally:
            # What cannot be written is said while it can still be said.
            sys.stdout.flush()
    except InputError as error:
        print(f"kinelo: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from kinelo.cli.last_resort import give_up

        give_up(error)


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
