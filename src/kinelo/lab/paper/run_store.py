"""The reproductions that the Paper tab shows: one at full scale, one quick, each in a folder of its own.

The folder that the lab was started with is for the full scale; a quick look is made beside it, in ``<folder>-quick``,
so that one never takes the place of the other.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.paper.stored import HTML_NAME, read_content

SCALES = ("full", "quick")
FIGURE_FILE = re.compile(r"figure-\d{2}\.png")


def folder_for(paper: Path, scale: str) -> Path:
    """Where a reproduction of a scale lives.

    >>> folder_for(Path("reproduction"), "quick")
    PosixPath('reproduction-quick')
    """
    if scale not in SCALES:
        raise InputError(f"scale must be quick or full, not {scale!r}.")
    return paper if scale == "full" else paper.with_name(f"{paper.name}-quick")


def reports(paper: Path) -> list[dict[str, Any]]:
    """Every report there is, as the page shows it; one that cannot be read says why."""
    return [
        _report(scale, folder) for scale in SCALES if (folder := folder_for(paper, scale)).joinpath(HTML_NAME).is_file()
    ]


def _report(place: str, folder: Path) -> dict[str, Any]:
    version = int((folder / HTML_NAME).stat().st_mtime)
    known = {"place": place, "version": version, "folder": folder.name, "page": f"/paper/{place}/report.html"}
    try:
        content = read_content(folder)
    except InputError as error:
        return {**known, "problem": str(error)}
    drawn = [one for one in content["figures"] if picture(folder, Path(one["picture"]).name) is not None]
    figures = [{**one, "picture": f"/paper/{place}/{Path(one['picture']).name}"} for one in drawn]
    return {**known, **{name: content[name] for name in _SHOWN}, "figures": figures}


_SHOWN = ("scale", "abstract", "counts", "claims", "untested", "glossary")


def picture(folder: Path, name: str) -> Path | None:
    """The file of a figure, if it is one."""
    path = folder / "figures" / name
    return path if FIGURE_FILE.fullmatch(name) and path.is_file() else None
