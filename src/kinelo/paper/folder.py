"""The folder of a reproduction: recognised by a mark, never mixed with anything else; its report is read back without
loading what made it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.paper.catalogue import PACKAGES_OF_PLACES, study_texts
from kinelo.paper.figure import FigureStudy
from kinelo.results.disk import disk_errors_in_words, holds_something, make_writable_folder
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.reading import read_file, read_json

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


FOLDER_MARK = "reproduction.json"
FOLDER_FORMAT = "kinelo reproduction 1"


def open_folder(folder: Path, *, resume: bool) -> Path:
    """Return the folder to work in: a new one, or with ``resume`` that of an earlier reproduction.

    A folder that holds anything else is refused and left alone.
    """
    if holds_something(folder):
        if not _is_reproduction(folder):
            raise InputError(
                f"{folder} holds something that is not a reproduction; it is left alone, choose another --out."
            )
        if not resume:
            raise InputError(
                f"{folder} already holds a reproduction: add --resume to continue it (what is finished is kept), "
                "or choose another --out."
            )
        return make_writable_folder(folder)
    make_writable_folder(folder)
    with disk_errors_in_words(folder):
        replace_file(folder / FOLDER_MARK, json.dumps({"format": FOLDER_FORMAT}).encode() + b"\n", durable=True)
    return folder


def _is_reproduction(folder: Path) -> bool:
    try:
        return read_json(folder / FOLDER_MARK).get("format") == FOLDER_FORMAT
    except (InputError, AttributeError):
        return False


def copy_studies(figures: Sequence[FigureStudy], folder: Path, source: Path | None) -> Path:
    """Put the figure files that were used beside the results, to be changed and run again with ``--studies``."""
    target = folder / "studies"
    sources = (
        {}
        if source is not None
        else {f"{name}.toml": text.encode() for what in PACKAGES_OF_PLACES for name, text in study_texts(what)}
    )
    with disk_errors_in_words(folder):
        target.mkdir(exist_ok=True)
        for figure in figures:
            content = sources[figure.source] if source is None else read_file(source / figure.source)
            replace_file(target / f"{figure.name}.toml" if source is None else target / figure.source, content)
    return target
