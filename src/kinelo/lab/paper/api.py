"""The interface of the Paper tab: the reproductions there are, their pictures, and making them.

There is one at full scale and one quick, each in a folder of its own: the folder that the lab was started with, and
``<folder>-quick`` beside it, so that one never takes the place of the other."""

from __future__ import annotations

import asyncio
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from kinelo.errors import InputError
from kinelo.lab.serve.pages import Page, ending, read_object
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
    shown = []
    for place in SCALES:
        folder = folder_for(paper, place)
        if not (folder / HTML_NAME).is_file():
            continue
        version = int((folder / HTML_NAME).stat().st_mtime)
        described = {"place": place, "version": version, "folder": folder.name, "page": f"/paper/{place}/report.html"}
        try:
            content = read_content(folder)
        except InputError as error:
            shown.append({**described, "problem": str(error)})
            continue
        figures = [
            {**one, "picture": f"/paper/{place}/{Path(one['picture']).name}", **_links(place, folder, one)}
            for one in content["figures"]
            if picture(folder, Path(one["picture"]).name) is not None
        ]
        shown.append({**described, **{name: content[name] for name in _SHOWN}, "figures": figures})
    return shown


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


REPORT_POLICY = "sandbox allow-popups; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
WOULD_REPLACE = 409
MEDIA = {"png": "image/png", "pdf": "application/pdf", "toml": "text/plain", "zip": "application/zip"}


async def _look(request: Request) -> Response:
    return JSONResponse(await asyncio.to_thread(_shown, request.app.state.settings.paper))


def _shown(paper: Path) -> dict[str, Any]:
    """Reports and sliders; what runs figures takes a second to load, so nobody who does not ask waits for it."""
    from kinelo.lab.paper.small import KNOBS, panel_of

    sliders = {number: panel_of(number).described()["controls"] for number in KNOBS}
    return {"reports": reports(paper), "sliders": sliders}


async def _file(request: Request) -> Response:
    name, paper = request.path_params["name"], request.app.state.settings.paper
    try:
        folder = folder_for(paper, request.path_params["scale"])
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if name == HTML_NAME and (folder / HTML_NAME).is_file():
        headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-cache"}
        return FileResponse(folder / HTML_NAME, media_type="text/html", headers=headers)
    if name.endswith(".zip"):
        archive = await asyncio.to_thread(packed_runs, folder, name)
        if archive is not None:
            sent = BackgroundTask(archive.unlink, missing_ok=True)
            return FileResponse(archive, media_type=MEDIA["zip"], filename=f"kinelo-{name}", background=sent)
    path = picture(folder, name)
    if path is None:
        raise HTTPException(404, "There is no such file.")
    return FileResponse(path, media_type=MEDIA[path.suffix[1:]], headers={"Cache-Control": "no-cache"})


async def _make(request: Request) -> Response:
    page: Page = request.app.state.pages.find(request.path_params["page"])
    wanted = await read_object(request)
    scale = wanted.get("scale", "quick")
    folder = folder_for(request.app.state.settings.paper, scale if isinstance(scale, str) else repr(scale))
    if (folder / HTML_NAME).is_file() and wanted.get("replace") is not True:
        raise HTTPException(WOULD_REPLACE, f"{folder.name} holds a report already; it is replaced only if you say so.")
    await page.jobs.worker(page.key, "paper")

    async def make() -> None:
        try:
            at = str(folder.absolute())
            await page.jobs.ask(page.key, "paper", "make", page.report("paper"), folder=at, scale=scale)
            await page.say({"type": "paper", "state": "done"})
        except InputError as error:
            await page.say({"type": "paper", "state": "failed", "text": str(error)})
        finally:
            await page.jobs.end(page.key, "paper")

    page.start(make())
    return JSONResponse({})


async def _draw(request: Request) -> Response:
    """Run one figure again, small, for the values of its sliders."""
    from kinelo.lab.paper.small import estimated, small_figure

    page: Page = request.app.state.pages.find(request.path_params["page"])
    number, values = request.path_params["number"], await read_object(request)
    figure = small_figure(number, values)  # what cannot be drawn is refused at once
    report = page.report("figure")
    await report({"progress": estimated(figure)})
    words = await page.jobs.ask(
        page.key, "figure", "draw", report, number=number, values=values, folder=str(page.folder)
    )
    return JSONResponse(words)


async def _drawn(request: Request) -> Response:
    page: Page = request.app.state.pages.find(request.path_params["page"])
    path = page.folder / f"figure-{request.path_params['number']:02d}.png"
    if not path.is_file():
        raise HTTPException(404, "This figure has not been run again.")
    return FileResponse(path, media_type=MEDIA["png"], headers={"Cache-Control": "no-store"})


routes = [
    Route("/api/paper", _look),
    Route("/paper/{scale}/{name}", _file),
    Route("/api/pages/{page}/paper/make", _make, methods=["POST"]),
    Route("/api/pages/{page}/paper/cancel", ending("paper"), methods=["POST"]),
    Route("/api/pages/{page}/paper/figures/{number:int}", _draw, methods=["POST"]),
    Route("/api/pages/{page}/paper/figures/{number:int}", ending("figure"), methods=["DELETE"]),
    Route("/api/pages/{page}/paper/figures/{number:int}.png", _drawn),
]
