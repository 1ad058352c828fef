"""The interface of the Paper tab: what has been made, its pictures, and making it."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from kinelo.errors import InputError
from kinelo.lab.paper.run_store import folder_for, picture, reports
from kinelo.lab.serve.pages import Page
from kinelo.lab.serve.reading import read_object
from kinelo.paper.stored import HTML_NAME

REPORT_POLICY = "sandbox allow-popups; default-src 'none'; img-src data:; style-src 'unsafe-inline'"
WOULD_REPLACE = 409


async def _look(request: Request) -> Response:
    return JSONResponse({"reports": await asyncio.to_thread(reports, request.app.state.settings.paper)})


async def _file(request: Request) -> Response:
    name, paper = request.path_params["name"], request.app.state.settings.paper
    try:
        folder = folder_for(paper, request.path_params["scale"])
    except InputError as error:
        raise HTTPException(404, str(error)) from None
    if name == HTML_NAME and (folder / HTML_NAME).is_file():
        headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-cache"}
        return FileResponse(folder / HTML_NAME, media_type="text/html", headers=headers)
    path = picture(folder, name)
    if path is None:
        raise HTTPException(404, "there is no such figure.")
    return FileResponse(path, media_type="image/png", headers={"Cache-Control": "no-cache"})


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


routes = [
    Route("/api/paper", _look),
    Route("/paper/{scale}/{name}", _file),
    Route("/api/pages/{page}/paper/make", _make, methods=["POST"]),
    Route("/api/pages/{page}/paper/cancel", _cancel, methods=["POST"]),
]
