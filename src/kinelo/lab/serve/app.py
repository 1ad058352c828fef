"""The lab as an ASGI application: the page, its modules, plotly.js from the installed package, and the interface."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.lab.explore.controls import Controls, described_presets
from kinelo.lab.explore.explorer import Pools
from kinelo.lab.explore.live import warm_up
from kinelo.lab.explore.pacing import SPEEDS
from kinelo.lab.guide import api as guide_api
from kinelo.lab.paper import api as paper_api
from kinelo.lab.rate import api as league_api
from kinelo.lab.rate.numbers import RateNumbers
from kinelo.lab.rate.reading import ReadingPanel
from kinelo.lab.rate.samples import SAMPLES
from kinelo.lab.serve.guard import Guard
from kinelo.lab.serve.jobs import Jobs
from kinelo.lab.serve.pages import Pages
from kinelo.lab.serve.reading import read_object
from kinelo.lab.serve.settings import Settings
from kinelo.lab.serve.sharing import code_as_svg
from kinelo.lab.serve.theory_service import TheoryService
from kinelo.raters.choice import AUTOMATIC, all_raters

STATIC = Path(__file__).parents[1] / "static"
LEVEL = 6
"""Of compression; 9 takes a third longer for 0.2 % less."""


def create_app(settings: Settings, *, warm: bool = False) -> Starlette:
    """Build the application for one server; ``warm`` loads compiled code and theory before the first visitor comes."""
    pools = Pools(ThreadPoolExecutor(2, "play"), ThreadPoolExecutor(1, "begin"))
    jobs, theory = Jobs(settings.limits), TheoryService(settings.limits)
    pages = Pages(pools, theory, jobs, settings.limits)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if warm:
            pools.play.submit(_packed_plotly)
            pools.begin.submit(warm_up)
            await theory.warm_up()
        yield
        await jobs.end_all()
        await theory.end()
        for pool in (pools.play, pools.begin):
            pool.shutdown(wait=False, cancel_futures=True)

    async def live(socket: WebSocket) -> None:
        await pages.receive(socket)

    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/plotly.js", _plotly),
            Route("/join.svg", _join),
            Route("/api/about", _about),
            Route("/api/theory", _theory, methods=["POST"]),
            Route("/api/diagnosis", _diagnosis, methods=["POST"]),
            Route("/api/diagnosis.html", _shared_diagnosis, methods=["POST"]),
            WebSocketRoute("/live", live),
            *guide_api.routes,
            *league_api.routes,
            *paper_api.routes,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, settings=settings), Middleware(GZipMiddleware, compresslevel=LEVEL)],
        exception_handlers={InputError: _complaint, HTTPException: _http_complaint},
        lifespan=lifespan,
    )
    app.state.settings, app.state.pages, app.state.jobs, app.state.theory = settings, pages, jobs, theory
    return app


async def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


def _plotly_file() -> Path:
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


@lru_cache(maxsize=1)
def _packed_plotly() -> bytes:
    """plotly.js compressed once: for each of thirty visitors anew it would take seconds."""
    return gzip.compress(_plotly_file().read_bytes(), LEVEL, mtime=0)


async def _plotly(request: Request) -> Response:
    kind, headers = "text/javascript", {"Cache-Control": "private, max-age=86400"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(_plotly_file(), media_type=kind, headers=headers)
    packed = await run_in_threadpool(_packed_plotly)
    encoding = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(packed, media_type=kind, headers={**headers, **encoding})


async def _join(request: Request) -> Response:
    """The way into a lab that is shared, as a QR code."""
    settings = request.app.state.settings
    if not settings.shared:
        raise HTTPException(404, "This lab is not shared; start it with --share.")
    return Response(code_as_svg(settings.address), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def _about(request: Request) -> Response:
    settings = request.app.state.settings
    limits = settings.limits
    return JSONResponse(
        {
            "version": __version__,
            "join": settings.address if settings.shared else None,
            **Controls.described(),
            "presets": described_presets(),
            "speeds": SPEEDS,
            "raters": [
                {"name": name, "kind": one.kind, "meaning": one.meaning, "needs_lineups": one.needs_lineups}
                for name, one in all_raters().items()
            ]
            + [
                {
                    "name": AUTOMATIC,
                    "kind": "Automatic",
                    "meaning": "the best of them on your matches",
                    "needs_lineups": False,
                }
            ],
            "reading": ReadingPanel.described(),
            "numbers": RateNumbers.described()["controls"],
            "samples": [{"name": name, "label": label} for name, label in SAMPLES.items()],
            "limits": {"upload_bytes": limits.upload_bytes, "rows": limits.rows},
        }
    )


async def _theory(request: Request) -> Response:
    """The stationary map of a position of the sliders, for a setting that is pinned beside the live one."""
    controls, theory = Controls.read(await read_object(request)), request.app.state.theory
    return JSONResponse(await theory.foresee(controls) or await theory.judge(controls))


async def _asked(request: Request) -> tuple[Controls, str]:
    """A position of the controls, and the units of the page."""
    body = await read_object(request)
    units = body.pop("units", "elo")
    if units not in ("elo", "paper"):
        raise InputError("Units are elo or paper.")
    return Controls.read(body), units


async def _diagnosis(request: Request) -> Response:
    """Every line of the diagnosis of a position of the controls."""
    return JSONResponse(await request.app.state.theory.rows(*await _asked(request)))


async def _shared_diagnosis(request: Request) -> Response:
    """The diagnosis of a position of the controls as a page to share."""
    return HTMLResponse(await request.app.state.theory.share(*await _asked(request)))


async def _complaint(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


async def _http_complaint(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)
