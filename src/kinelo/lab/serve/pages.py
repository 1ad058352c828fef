"""The pages that are open: each is one WebSocket, and everything done for it ends when it closes.

A page remembers what it has done with its league, so that a worker which died can be replaced by one that knows it
all. It sends small JSON objects, and nothing larger."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from kinelo.errors import InputError
from kinelo.lab.explore.explorer import Explorer, Pools, Theory
from kinelo.lab.serve.jobs import Jobs, Report, Worker
from kinelo.lab.serve.settings import Limits


async def read_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body, within the limit of its size."""
    limit = request.app.state.settings.limits.request_bytes
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise HTTPException(413, f"a request may hold at most {limit:,} bytes.")
    content = json_object(body)
    if content is None:
        raise InputError("The request must hold a JSON object.")
    return content


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the JSON object that a text holds, or None where it holds none, or one nested or written beyond sense.

    >>> json_object('{"a": 1}'), json_object("[]"), json_object("[" * 10_000), json_object('{"a": "\\ud800"}')
    ({'a': 1}, None, None, None)
    """
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False).encode()  # half a character cannot be written anywhere
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


CHANGES_TABLES = ("sample", "look", "forget", "open_session")
RESTORED = ("kind", "keep", "name")
"""What of an upload is needed to take it again."""


class LeagueLog:
    """The successful tasks of one page that still matter, in order; tables lie in files of the page's folder."""

    def __init__(self) -> None:
        self._tasks: list[tuple[str, dict[str, Any]]] = []
        self._worker: Worker | None = None
        self._restoring = asyncio.Lock()

    def note(self, task: str, arguments: dict[str, Any], answer: dict[str, Any]) -> None:
        """Remember a task that succeeded, and forget those that it undoes."""
        if task in CHANGES_TABLES:
            self._drop("rate", "rank")
        if task == "sample":
            self._drop_tables()
        elif task == "open_session":
            self._drop_tables()
            for kind, keep in arguments["keep"].items():
                if kind in answer["tables"]:
                    name = answer["tables"][kind]["name"]
                    self._tasks.append(("restore", {"kind": kind, "keep": keep, "name": name}))
            return
        elif task == "look":
            if any(other == "sample" for other, _ in self._tasks):  # a file of one's own ends the made-up league
                self._drop_tables()
            self._drop_kind(arguments["kind"])
            task = "restore"
        elif task == "forget" and not any(other == "sample" for other, _ in self._tasks):
            self._drop_kind(arguments["kind"])
            return
        elif task == "rate":
            self._drop("rate", "rank")
        elif task == "rank":
            self._drop("rank")
        elif task != "forget":
            return
        self._tasks.append((task, arguments))

    def _drop(self, *names: str) -> None:
        self._tasks = [(task, arguments) for task, arguments in self._tasks if task not in names]

    def _drop_tables(self) -> None:
        for task, arguments in self._tasks:
            if task == "restore":
                Path(arguments["keep"]).unlink(missing_ok=True)
        self._tasks = []

    def _drop_kind(self, kind: str) -> None:
        for task, arguments in list(self._tasks):
            if task in ("restore", "forget") and arguments["kind"] == kind:
                if task == "restore":
                    Path(arguments["keep"]).unlink(missing_ok=True)
                self._tasks.remove((task, arguments))

    async def restored(self, jobs: Jobs, page: str) -> None:
        """See that the page has a worker that knows its league."""
        async with self._restoring:
            worker = await jobs.worker(page, "rating")
            if worker is self._worker:
                return
            for task, arguments in self._tasks:
                needed = {name: arguments[name] for name in RESTORED} if task == "restore" else arguments
                await jobs.ask(page, "rating", task, **needed)
            self._worker = worker


NO_PLACE_LEFT = 4429


class Page:
    """One visitor: a socket, a live league, jobs, and a folder for what was uploaded."""

    def __init__(self, socket: WebSocket, pools: Pools, theory: Theory, jobs: Jobs) -> None:
        self.key = secrets.token_urlsafe(16)
        self.jobs = jobs
        self.uploading = False
        self.league = LeagueLog()
        self._socket = socket
        self._sending = asyncio.Lock()
        self._explorer = Explorer(pools, theory, self.say, self._show)
        self._folder: Path | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something for the page beside everything else; it is cancelled when the page leaves."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def folder(self) -> Path:
        """A folder of the page's own; names in it are never the visitor's."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="kinelo-lab-"))
        return self._folder

    async def say(self, message: dict[str, Any]) -> None:
        """Send a message."""
        async with self._sending:
            await self._socket.send_text(json.dumps(message))

    def report(self, subject: str) -> Report:
        """Return a function that tells the page how far a job is."""

        async def tell(answer: dict[str, Any]) -> None:
            await self.say({"type": "progress", "subject": subject, "progress": answer.get("progress")})

        return tell

    async def _show(self, frame: bytes) -> None:
        async with self._sending:
            await self._socket.send_bytes(frame)

    async def live(self) -> None:
        """Listen and play until the page leaves."""
        await self.say({"type": "welcome", "page": self.key})
        playing = asyncio.create_task(self._explorer.play())
        try:
            while (message := await self._socket.receive())["type"] != "websocket.disconnect":
                if playing.done():
                    playing.result()
                text = message.get("text")
                content = None if text is None else json_object(text)
                if content is None:
                    await self.say({"type": "complaint", "text": "a message must be a JSON object, as text."})
                else:
                    await self._explorer.hear(content)
        finally:
            playing.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await playing
            await self._leave()

    async def _leave(self) -> None:
        for task in self._tasks:
            task.cancel()
        try:
            await self.jobs.end(self.key)
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)


class Pages:
    """All open pages, up to a limit."""

    def __init__(self, pools: Pools, theory: Theory, jobs: Jobs, limits: Limits) -> None:
        self._pools, self._theory, self._jobs, self._limits = pools, theory, jobs, limits
        self._open: dict[str, Page] = {}

    def __len__(self) -> int:
        return len(self._open)

    def find(self, key: str) -> Page:
        """Return the page of this key, or say that it has left."""
        page = self._open.get(key)
        if page is None:
            raise InputError("This page is no longer connected to the lab; reload it.")
        return page

    async def receive(self, socket: WebSocket) -> None:
        """Serve one WebSocket for as long as it is open."""
        await socket.accept()
        if len(self._open) >= self._limits.pages:
            await socket.close(NO_PLACE_LEFT, f"all {self._limits.pages} places are taken; try again later")
            return
        page = Page(socket, self._pools, self._theory, self._jobs)
        self._open[page.key] = page
        try:
            await page.live()
        except WebSocketDisconnect:
            pass
        finally:
            del self._open[page.key]


def ending(kind: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers a request to end a page's work of a kind."""

    async def end(request: Request) -> Response:
        page: Page = request.app.state.pages.find(request.path_params["page"])
        await page.jobs.end(page.key, kind)
        return JSONResponse({})

    return end
