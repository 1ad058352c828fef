"""What every request passes first: who may ask, and how much may be sent.

Without a token only this machine can ask, and Host must name it, so that no page of a browser reaches the service
under a foreign name. A body that is too long, or does not keep coming, is refused before it is read.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinelo.runtime.listening import host_name, is_loopback
from kinelo.runtime.serving import is_known, make_known, prompt
from kinelo.service.metrics import Metrics
from kinelo.service.settings import TOKEN, Settings

OPEN = ("/health",)
"""What may be asked without a token."""
ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
"""Said with every answer."""
MOST_AT_ONCE, MOST_STRANGERS = 1000, 50
"""Requests that one process takes on at the same time, and those without the token of which it demands one."""


def refusal(status: int, sentence: str, **headers: str) -> JSONResponse:
    """An answer that says in a sentence why a request was not carried out."""
    return JSONResponse({"error": sentence}, status, headers=headers)


class Guard:
    """Wraps the application: refuses with a sentence, counts what passes."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._busy = {True: 0, False: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, pass on, count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, taken, receive = time.perf_counter(), 500, 0, prompt(receive)

        async def receive_limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._settings.most_bytes:
                raise HTTPException(413, self._most(), {"Connection": "close"})
            return message

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *ALWAYS]
            await send(message)

        try:
            answer = self._refused(scope, Headers(scope=scope))
            stranger = bool(self._settings.token) and not is_known(scope)
            if answer is None and self._busy[stranger] >= (MOST_STRANGERS if stranger else MOST_AT_ONCE):
                answer = refusal(503, "Too many ask at once; try again.", **{"Retry-After": "1"})
            if answer is not None:
                await answer(scope, receive, send_noted)
                return
            self._busy[stranger] += 1
            try:
                await self._app(scope, receive_limited, send_noted)
            finally:
                self._busy[stranger] -= 1
        finally:
            route: Any = scope.get("route")
            name = getattr(route, "path", "other")
            self._metrics.note(scope["method"], name, status, time.perf_counter() - begin)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        token = self._settings.token
        if len(headers.getlist("host")) > 1:
            return refusal(400, "A request has one Host.", Connection="close")
        if not token:
            if is_loopback(host_name(headers.get("host", ""))):
                return self._too_long(headers)
            return refusal(421, "This service does not answer to that name.")
        if scope["path"] in OPEN:
            return self._too_long(headers)
        kind, _, brought = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and secrets.compare_digest(brought.strip().encode("latin-1"), token.encode()):
            make_known(scope)
            return self._too_long(headers)
        words = f"A token is needed: send Authorization: Bearer and the value of {TOKEN}."
        return refusal(401, words, **{"WWW-Authenticate": "Bearer"})

    def _too_long(self, headers: Headers) -> Response | None:
        length = headers.get("content-length", "")
        if (length.isdecimal() and len(length) < 19 and int(length) <= self._settings.most_bytes) or not length:
            return None
        return refusal(413, self._most(), Connection="close")

    def _most(self) -> str:
        return f"A request may have {self._settings.most_bytes:,} bytes; send several."
