"""The reproductions that the Paper tab shows: one at full scale, one quick, each in a folder of its own.

The folder that the lab was started with is for the full scale; a quick look is made beside it, in ``<folder>-quick``,
so that one never takes the place of the other.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.paper.folder import HTML_NAME, read_content

SCALES = ("full", "quick")
FIGURE_FILE = re.compile(r"(figure-\d{2})\.(png|pdf|toml|zip)")
KEPT_IN = {"png": "figures", "pdf": "figures", "toml": "studies", "zip": "runs"}
LARGEST_DATA = 500 * 2**20
"""Bytes of runs that are packed for a visitor; more are taken from the folder."""


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
    described = {"place": place, "version": version, "folder": folder.name, "page": f"/paper/{place}/report.html"}
    try:
        content = read_content(folder)
    except InputError as error:
        return {**described, "problem": str(error)}
    drawn = [one for one in content["figures"] if picture(folder, Path(one["picture"]).name) is not None]
    figures = [
        {**one, "picture": f"/paper/{place}/{Path(one['picture']).name}", **_links(place, folder, one)} for one in drawn
    ]
    return {**described, **{name: content[name] for name in _SHOWN}, "figures": figures}


_SHOWN = ("scale", "abstract", "counts", "claims", "untested", "glossary")


def _links(place: str, folder: Path, figure: dict[str, Any]) -> dict[str, str | None]:
    """Where the PDF, the study file and the runs of a figure are, as far as there are any."""
    stem = Path(figure["picture"]).stem
    found = {"pdf": picture(folder, f"{stem}.pdf"), "study": picture(folder, f"{stem}.toml")}
    links: dict[str, str | None] = {name: path and f"/paper/{place}/{path.name}" for name, path in found.items()}
    size = sum(path.stat().st_size for path in run_files(folder, stem))
    return {**links, "data": f"/paper/{place}/{stem}.zip" if 0 < size <= LARGEST_DATA else None}


def picture(folder: Path, name: str) -> Path | None:
    """The file of a figure, if it is one: its picture, its PDF or its study."""
    known = FIGURE_FILE.fullmatch(name)
    path = folder / KEPT_IN[known[2]] / name if known else folder
    return path if known and path.is_file() else None


def run_files(folder: Path, stem: str) -> list[Path]:
    """Every file of the runs behind a figure."""
    return sorted(path for run in (folder / "runs").glob(f"{stem}-*") for path in run.rglob("*") if path.is_file())


def packed_runs(folder: Path, name: str) -> Path | None:
    """The runs behind a figure as one archive, in a file that the caller removes; None where there are none."""
    known = FIGURE_FILE.fullmatch(name)
    files = run_files(folder, known[1]) if known and known[2] == "zip" else []
    if not files or sum(path.stat().st_size for path in files) > LARGEST_DATA:
        return None
    with (
        tempfile.NamedTemporaryFile(prefix="kinelo-lab-", suffix=".zip", delete=False) as archive,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as pack,  # the runs are compressed already
    ):
        for path in files:
            pack.write(path, path.relative_to(folder / "runs"))
    return Path(archive.name)
