"""The folder of a reproduction: recognised by a mark, never mixed with anything else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kinelo.errors import InputError
from kinelo.paper.catalogue import PACKAGES_OF_PLACES, study_texts
from kinelo.paper.figure import FigureStudy
from kinelo.results.disk import disk_errors_in_words, holds_something, make_writable_folder
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.reading import read_file, read_json

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
    own = (
        {}
        if source is not None
        else {f"{name}.toml": text.encode() for what in PACKAGES_OF_PLACES for name, text in study_texts(what)}
    )
    with disk_errors_in_words(folder):
        target.mkdir(exist_ok=True)
        for figure in figures:
            content = own[figure.source] if source is None else read_file(source / figure.source)
            replace_file(target / f"{figure.name}.toml" if source is None else target / figure.source, content)
    return target
