"""Classes that users bring, named as ``module:Class``: from a module on Python's path, in the working folder, or in the
folder of the file that names it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from kinelo.errors import InputError


def imported(name: str, what: str) -> Any:
    """What ``module:Class`` names; one sentence about ``what`` was wanted where it cannot be had.

    >>> imported("fractions:Fraction", "number")
    <class 'fractions.Fraction'>
    """
    module, _, kind = name.partition(":")
    with found_in(Path.cwd()):
        try:
            found: Any = import_module(module)
            for part in kind.split("."):
                found = getattr(found, part)
        except Exception as error:  # a module of a user's may raise anything when it is imported
            said = str(error).strip().splitlines() or [type(error).__name__]
            kind = "" if isinstance(error, ImportError | AttributeError | ValueError) else f"{type(error).__name__}: "
            raise InputError(f"The {what} {name} was not found: {kind}{said[0]}") from None
    return found


@contextmanager
def found_in(folder: Path) -> Iterator[None]:
    """Modules of this folder are found meanwhile."""
    here = str(folder.resolve())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        yield
    finally:
        if added:
            sys.path.remove(here)
