"""Whether a file to be written is a page to share."""

from __future__ import annotations

from pathlib import Path
from typing import TypeGuard

from kinelo.errors import InputError


def is_page(path: Path | None) -> TypeGuard[Path]:
    """Whether the name ends as that of a page does.

    >>> is_page(Path("Ratings.HTML")), is_page(Path("ratings.csv")), is_page(None)
    (True, False, False)
    """
    return path is not None and path.suffix.lower() in (".html", ".htm")


def page_name(path: Path | None) -> Path | None:
    """Return the name of a page, checked before the work that it shows.

    >>> page_name(Path("audit.pdf"))
    Traceback (most recent call last):
    kinelo.errors.InputError: The name of a page ends in .html, not as audit.pdf does.
    """
    if path is not None and not is_page(path):
        raise InputError(f"The name of a page ends in .html, not as {path} does.")
    return path
