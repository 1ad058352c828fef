"""The interface of the Paper tab: what has been made, its pictures, and making it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from kinelo.errors import InputError
from kinelo.lab.paper.run_store import folder_for, packed_runs, picture, reports
from kinelo.lab.serve.pages import Page
from kinelo.lab.serve.reading import read_object
from kinelo.paper.folder import HTML_NAME

REPORT_POLICY = "sandbox allow-popups; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
WOULD_REPLACE = 409
MEDIA = {"png": "image/png", "pdf": "application/pdf", "toml": "text/plain", "zip": "application/zip"}


async def _look(request: Request) -> Response:
    found, sliders = await asyncio.to_thread(_shown, request.app.state.settings.paper)
    return JSONResponse({"reports": found, "sliders": sliders})


def _shown(paper: Path) -> tuple[list[dict[str, Any]], dict[int, list[dict[str, Any]]]]:
    """Reports and sliders; what runs figures takes a second to load, so nobody who does not ask waits for it."""
    from kinelo.lab.paper.small import described_knobs

    return reports(paper), described_knobs()


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
    page.start(_make_for(page, str(folder.absolute()), scale))
    return JSONResponse({})


async def _make_for(page: Page, folder: str, scale: str) -> None:
    try:
        await page.jobs.ask(page.key, "paper", "make", page.report("paper"), folder=folder, scale=scale)
        await page.say({"type": "paper", "state": "done"})
    except InputError as error:
        await page.say({"type": "paper", "state": "failed", "text": str(error)})
    finally:
        await page.jobs.end(page.key, "paper")


async def _cancel(request: Request) -> Response:
    page: Page = request.app.state.pages.find(request.path_params["page"])
    await page.jobs.end(page.key, "paper")
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


async def _stop(request: Request) -> Response:
    page: Page = request.app.state.pages.find(request.path_params["page"])
    await page.jobs.end(page.key, "figure")
    return JSONResponse({})


routes = [
    Route("/api/paper", _look),
    Route("/paper/{scale}/{name}", _file),
    Route("/api/pages/{page}/paper/make", _make, methods=["POST"]),
    Route("/api/pages/{page}/paper/cancel", _cancel, methods=["POST"]),
    Route("/api/pages/{page}/paper/figures/{number:int}", _draw, methods=["POST"]),
    Route("/api/pages/{page}/paper/figures/{number:int}", _stop, methods=["DELETE"]),
    Route("/api/pages/{page}/paper/figures/{number:int}.png", _drawn),
]
