"""The interface of the Paper tab: what has been made, its pictures, and making it."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from kinelo.errors import InputError
from kinelo.lab.paper.report_reading import FIGURE_FILE, read_report
from kinelo.lab.serve.pages import Page
from kinelo.lab.serve.reading import read_object

REPORT_POLICY = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"


async def _look(request: Request) -> Response:
    folder = request.app.state.settings.paper
    report = folder / "report.html"
    if not report.is_file():
        return JSONResponse({"made": False})
    text = await asyncio.to_thread(report.read_text, encoding="utf-8")
    found = await asyncio.to_thread(read_report, text)
    return JSONResponse({**found.described(folder), "version": int(report.stat().st_mtime)})


async def _picture(request: Request) -> Response:
    name = request.path_params["name"]
    path = request.app.state.settings.paper / "figures" / name
    if not FIGURE_FILE.fullmatch(name) or not path.is_file():
        raise HTTPException(404, "there is no such figure.")
    return FileResponse(path, media_type="image/png", headers={"Cache-Control": "no-cache"})


async def _report(request: Request) -> Response:
    path = request.app.state.settings.paper / "report.html"
    if not path.is_file():
        raise HTTPException(404, "there is no report yet.")
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


async def _make(request: Request) -> Response:
    page: Page = request.app.state.pages.find(request.path_params["page"])
    scale = (await read_object(request)).get("scale", "quick")
    if scale not in ("quick", "full"):
        raise InputError(f"scale must be quick or full, not {scale!r}.")
    await page.jobs.worker(page.key, "paper")
    page.start(_make_for(page, str(request.app.state.settings.paper.absolute()), scale))
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
    Route("/paper/report.html", _report),
    Route("/paper/{name}", _picture),
    Route("/api/pages/{page}/paper/make", _make, methods=["POST"]),
    Route("/api/pages/{page}/paper/cancel", _cancel, methods=["POST"]),
]
