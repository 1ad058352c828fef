"""The command line. Each command has a file of its own and imports what it needs when it runs."""

import sys

from kinelo.cli.app import app
from kinelo.errors import InputError


def main() -> None:
    """Run the command line; bad input becomes one sentence and exit code 2."""
    try:
        app()
    except InputError as error:
        print(f"kinelo: {error}", file=sys.stderr)
        sys.exit(2)


__all__ = ["app", "main"]
