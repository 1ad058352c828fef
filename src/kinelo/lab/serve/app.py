"""The lab as an ASGI application: the page, its modules, plotly.js from the installed package, and the interface.

Every request is checked before anything else sees it. Host must name this server, so that a foreign name pointed at it
gets nothing. What changes something, and every WebSocket, must come from the lab's own page (Origin). Where a token is
set, a cookie or header must carry it; the first visit brings it in the address of the page and is sent on to the
address without it. A body must keep coming."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.lab.explore.controls import Controls, described_presets
from kinelo.lab.explore.explorer import SPEEDS, Pools
from kinelo.lab.explore.live import warm_up
from kinelo.lab.paper.api import routes as paper_routes
from kinelo.lab.rate.api import routes as league_routes
from kinelo.lab.rate.reading import RateNumbers, ReadingPanel
from kinelo.lab.rate.tables import SAMPLES
from kinelo.lab.serve.jobs import Jobs, Worker
from kinelo.lab.serve.pages import Pages, read_object
from kinelo.lab.serve.settings import Limits, Settings, code_as_svg
from kinelo.raters.choice import AUTOMATIC, Choice, all_raters
from kinelo.runtime.serving import GUARDED, ReadyServer, make_known, prompt

REFUSED_SOCKET = 4403

SAFE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Wraps the application; refuses with a sentence, and adds protective headers to what passes."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    out.setdefault(name, value)
            await send(message)

        await self._app(scope, prompt(receive), send_protected)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        if not self._settings.accepts_host(hosts[0] if len(hosts) == 1 else ""):
            return PlainTextResponse("This server does not answer to that name.", 421)
        must_be_own = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        try:
            origin = urlsplit(headers.get("origin", "")).netloc.lower()
        except ValueError:
            origin = ""
        if must_be_own and not (origin and origin == headers.get("host", "").lower()):
            return PlainTextResponse("This request does not come from the lab's own page.", 403)
        token = self._settings.token
        if token is None:
            return None
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        # Other programs of this machine may have set cookies of any shape.
        cookies = (part.partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
        brought = [value.strip() for name, _, value in cookies if name.strip() == self._settings.cookie]
        if any(_matches(value, token) for value in ([bearer] if kind.lower() == "bearer" else []) + brought):
            make_known(scope)
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        in_address = any(name == "token" and _matches(value, token) for name, value in query)
        # Only the page itself is opened this way, so that no address can lead a visitor elsewhere.
        if in_address and scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/":
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            answer = RedirectResponse("/" + (f"?{rest}" if rest else ""), 303)
            # Lax, because a link to the lab may be clicked on another page; what changes something asks for Origin.
            answer.set_cookie(self._settings.cookie, token, httponly=True, samesite="lax", path="/")
            return answer
        return PlainTextResponse("A token is needed: open the address that `kinelo lab` printed when it started.", 401)


def _matches(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


async def _refuse(scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": REFUSED_SOCKET, "reason": "refused"})
        return
    for name, value in SAFE_HEADERS.items():
        answer.headers.setdefault(name, value)
    await answer(scope, receive, send)


WORKER_KINDS = {"foresee": "theory", "judge": "theory", "scene": "guide"}
"""The kind of worker behind each question."""


class TheoryService:
    """Asks each question of the process for it; a page that moves on takes back what has not begun."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._workers: dict[str, asyncio.Task[Worker]] = {}

    async def _worker(self, task: str) -> Worker:
        starting = self._workers.get(task)
        if starting is None or (starting.done() and (starting.exception() or starting.result().ended)):
            starting = self._workers[task] = asyncio.create_task(Worker.start(WORKER_KINDS[task], self._limits))
        return await asyncio.shield(starting)

    async def warm_up(self) -> None:
        """Start the processes before anybody asks."""
        for task in WORKER_KINDS:
            await self._worker(task)

    async def ask(self, worker: str, task: str, **arguments: Any) -> Any:
        """What a worker answers: of "judge" also the lines of a diagnosis or its page, of "scene" the list of them."""
        return await (await self._worker(worker)).ask(task, **arguments)

    async def foresee(self, controls: Controls) -> dict[str, Any] | None:
        """The stationary map and the answer that comes with it; None where both take seconds."""
        return await self.ask("foresee", "foresee", controls=controls.to_dict())

    async def judge(self, controls: Controls) -> dict[str, Any]:
        """The map and the whole answer of theory."""
        return await self.ask("judge", "judge", controls=controls.to_dict())

    async def end(self) -> None:
        """End the processes."""
        for starting in self._workers.values():
            await (await starting).end()


STATIC = Path(__file__).parents[1] / "static"
STATIC_FILES = frozenset(os.listdir(STATIC))
MEDIA = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
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
            pools.play.submit(_kept_file, _plotly_file())
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
            Route("/", _file),
            Route("/static/{name}", _file),
            Route("/plotly.js", _plotly),
            Route("/join.svg", _join),
            Route("/api/about", _about),
            Route("/api/theory", _theory, methods=["POST"]),
            Route("/api/diagnosis", _diagnosis, methods=["POST"]),
            Route("/api/diagnosis.html", _diagnosis, methods=["POST"]),
            WebSocketRoute("/live", live),
            Route("/api/guide", _guide),
            Route("/api/guide/{number:int}", _guide),
            Route("/api/guide/{number:int}/guesses", _guesses, methods=["GET", "POST"]),
            *league_routes,
            *paper_routes,
        ],
        middleware=[Middleware(Guard, settings=settings), Middleware(GZipMiddleware, compresslevel=LEVEL)],
        exception_handlers={InputError: _complaint, HTTPException: _complaint},
        lifespan=lifespan,
    )
    app.state.settings, app.state.pages, app.state.jobs, app.state.theory = settings, pages, jobs, theory
    app.state.scenes = {}
    return app


async def _complaint(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code)
    return JSONResponse({"error": str(error)}, 400)


GZIPPED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


class Kept(NamedTuple):
    """What is the same for every visitor: made and compressed once, since a class asks for it all at once."""

    plain: bytes
    packed: bytes
    tag: str

    @classmethod
    def of(cls, content: bytes) -> Kept:
        """The content with its compressed form, and a tag by which a browser that has it is told so."""
        return cls(content, gzip.compress(content, LEVEL, mtime=0), f'"{blake2b(content, digest_size=12).hexdigest()}"')

    def sent(self, request: Request, kind: str, cached: str = "no-cache") -> Response:
        """The answer to one who takes it compressed, has it already, or neither."""
        headers = {"Cache-Control": cached, "ETag": self.tag}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.plain, media_type=kind, headers=headers)
        return Response(self.packed, media_type=kind, headers={**headers, **GZIPPED})


@lru_cache(maxsize=64)
def _kept_file(path: Path) -> Kept:
    return Kept.of(path.read_bytes())


async def _file(request: Request) -> Response:
    """The page itself, or one of its files."""
    name = request.path_params.get("name", "index.html")
    if name not in STATIC_FILES or Path(name).suffix not in MEDIA:
        raise HTTPException(404)
    return _kept_file(STATIC / name).sent(request, MEDIA[Path(name).suffix])


def _plotly_file() -> Path:
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


async def _plotly(request: Request) -> Response:
    kept = await run_in_threadpool(_kept_file, _plotly_file())
    return kept.sent(request, "text/javascript", "private, max-age=86400")


async def _join(request: Request) -> Response:
    """The way into a lab that is shared, as a QR code."""
    settings = request.app.state.settings
    if not settings.shared:
        raise HTTPException(404, "This lab is not shared; start it with --share.")
    return Response(code_as_svg(settings.address), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


CHOSEN_ON_MATCHES = Choice("", "Automatic", "the best of them on your matches")


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
                for name, one in {AUTOMATIC: CHOSEN_ON_MATCHES, **all_raters()}.items()
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


async def _diagnosis(request: Request) -> Response:
    """The diagnosis of a position of the controls in the units of the page: its lines, or as a page to share."""
    body = await read_object(request)
    units = body.pop("units", "elo")
    if units not in ("elo", "paper"):
        raise InputError("Units are elo or paper.")
    asked = {"controls": Controls.read(body).to_dict(), "units": units}
    theory: TheoryService = request.app.state.theory
    if request.url.path.endswith(".html"):
        return HTMLResponse(await theory.ask("judge", "share", **asked))
    return JSONResponse(await theory.ask("judge", "rows", **asked))


async def _guide(request: Request) -> Response:
    """The list of scenes, or all pictures of one."""
    theory: TheoryService = request.app.state.theory
    number = request.path_params.get("number")
    key = (number, "" if number is None else request.query_params.get("units", "elo"))
    scenes: dict[tuple[int | None, str], Kept] = request.app.state.scenes
    if key not in scenes:
        task, asked = ("scenes", {}) if number is None else ("scene", {"number": number, "units": key[1]})
        scenes[key] = Kept.of(bytes(JSONResponse(await theory.ask("scene", task, **asked)).body))
    return scenes[key].sent(request, "application/json")


async def _guesses(request: Request) -> Response:
    """What those who share this lab guessed in a scene, by answers: a guess in, and the counts out, without names."""
    choice = (await read_object(request)).get("choice", -1) if request.method == "POST" else None
    theory: TheoryService = request.app.state.theory
    return JSONResponse(await theory.ask("scene", "guess", number=request.path_params["number"], choice=choice))


def serve(settings: Settings, listener: socket.socket, *, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``announce`` is called with the address once the lab answers."""
    # Short turns between threads: a frame should not wait for a league at play.
    sys.setswitchinterval(0.001)
    if settings.port == 0:
        settings = replace(settings, port=listener.getsockname()[1])

    def when_ready() -> None:
        announce(settings.address)
        if browser:
            webbrowser.open(settings.address)

    config = uvicorn.Config(
        create_app(settings, warm=True),
        **GUARDED,
        loop="asyncio",
        ws="websockets-sansio",
        ws_max_size=settings.limits.message_bytes,
        ws_max_queue=8,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=2,
    )
    try:
        ReadyServer(config, when_ready).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
