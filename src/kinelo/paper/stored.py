"""A report as it lies on disk, read back without loading what made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.runtime.reading import read_json

REPORT_FORMAT = "kinelo report 1"
JSON_NAME, HTML_NAME = "report.json", "report.html"


def read_content(folder: Path) -> dict[str, Any]:
    """Read the report of a reproduction back, or say what is wrong with it."""
    path = folder / JSON_NAME
    try:
        content = read_json(path)
    except InputError:
        raise InputError(f"{path} is missing or cannot be read; make the reproduction again.") from None
    if not isinstance(content, dict) or content.get("format") != REPORT_FORMAT:
        raise InputError(f"{path} was not written by this version of Kinelo; make the reproduction again.")
    return content
