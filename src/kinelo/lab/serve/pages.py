"""The pages that are open: each is one WebSocket, and everything done for it ends when it closes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from kinelo.errors import InputError
from kinelo.lab.explore.explorer import Explorer, Pools, Theory
from kinelo.lab.rate.league_log import LeagueLog
from kinelo.lab.serve.jobs import Jobs, Report
from kinelo.lab.serve.reading import json_object
from kinelo.lab.serve.settings import Limits

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
                await self._hear(message.get("text"))
        finally:
            playing.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await playing
            await self._leave()

    async def _hear(self, text: str | None) -> None:
        message = None if text is None else json_object(text)
        if message is None:
            await self.say({"type": "complaint", "text": "a message must be a JSON object, as text."})
            return
        await self._explorer.hear(message)

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
