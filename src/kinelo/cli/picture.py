"""The name of a picture, checked before the work that it shows."""

from __future__ import annotations

from pathlib import Path

from kinelo.errors import InputError
from kinelo.runtime.extras import require

FORMATS = ("png", "pdf", "svg")


def picture_name(path: Path | None) -> Path | None:
    """Return the name if its ending says a format that can be drawn, and pictures can be drawn at all.

    >>> picture_name(Path("map.xyz"))
    Traceback (most recent call last):
    kinelo.errors.InputError: A picture's name ends in .png, .pdf or .svg, not as map.xyz does.
    """
    if path is not None and path.suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"A picture's name ends in .png, .pdf or .svg, not as {path} does.")
    if path is not None:
        require("matplotlib")
    return path
