"""What the lab and the service share of serving: a server that says when it answers, and requests that keep coming.

Whoever connects must ask: a connection on which no whole request has come, and that brought no token, is closed after
:data:`HEAD_SECONDS`, and earlier where there are more than :data:`MOST_SILENT` of them, the oldest first. Whoever asks
must read: a connection that takes nothing of its answer for :data:`ANSWER_SECONDS` is cut.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import signal
import socket
import time
from collections.abc import Callable
from http import HTTPStatus
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Protocol

HEAD_SECONDS = 10.0
"""The longest time from a connection, or from the answer before, to the end of the head of a request."""
ANSWER_SECONDS = 30.0
"""The longest time in which nothing of an answer is taken that waits to be sent."""
BODY_SECONDS = 30.0
"""The longest silence within the body of a request."""
BODY_RATE = 4096
"""Bytes a second that a body has on average after that time."""
MOST_HEAD = 1 << 15
"""Bytes that a head, or what stands between two parts of a body, may always have; twice as many are refused."""
MOST_SILENT = 500
"""Connections that one process lets wait for a request."""
SAYS_WHAT_IT_READ = hasattr(Protocol, "on_body")
"""Whether the parser tells of heads and bodies as they come (httptools); h11 limits heads itself."""


class ReadyServer(uvicorn.Server):
    """A server that calls ``when_ready`` once it answers."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, then say so."""
        await super().startup(sockets)
        if not self.should_exit:
            self._when_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End when told to, in order; uvicorn would send itself the same signal again after that."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


class PromptProtocol(Protocol):
    """Uvicorn's protocol with limits on how long a request may take to arrive, and on all that is not its body."""

    _patience: asyncio.TimerHandle | None = None
    _hearing: asyncio.TimerHandle | None = None
    _since = _unread = 0.0
    _asked: tuple[Any, ...] = ()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; where too many keep the server waiting, the tenth that did for longest is let go."""
        super().connection_made(transport)
        self._wait_for_a_request()
        if len(self.connections) > MOST_SILENT:
            silent = [one for one in self.connections if isinstance(one, PromptProtocol) and one.is_silent()]
            if len(silent) > MOST_SILENT:
                for one in sorted(silent, key=lambda one: one._since)[: MOST_SILENT // 10]:
                    one.transport.close()

    def is_silent(self) -> bool:
        """Whether the server waits for a request, or for the rest of it, by somebody who brought no token."""
        if self.transport.is_closing() or (self.cycle and is_known(self.cycle.scope)):
            return False
        return not self.cycle or self.cycle.response_complete or self.cycle.more_body

    def data_received(self, data: bytes) -> None:
        """Read, as long as what comes is body or not too long."""
        for start in range(0, len(data), MOST_HEAD):
            if self.transport.is_closing():
                return
            self._unread += min(MOST_HEAD, len(data) - start)
            super().data_received(data[start : start + MOST_HEAD])
            if SAYS_WHAT_IT_READ and self._unread > MOST_HEAD:
                self._refuse(431, f"The head of a request may have {MOST_HEAD:,} bytes.")

    def on_headers_complete(self) -> None:
        """A head is read."""
        self._unread = 0
        super().on_headers_complete()
        self._asked = (*(one for one in self._asked if not one.response_complete), self.cycle)

    def on_body(self, body: bytes) -> None:
        """A part of a body is read."""
        self._unread = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Wait for the next request of a connection that is kept."""
        super().on_response_complete()
        self._wait_for_a_request()

    def pause_writing(self) -> None:
        """An answer waits to be read: as long as some of it is."""
        super().pause_writing()
        self._see_what_is_read()

    def _see_what_is_read(self, left: float = math.inf) -> None:
        """Cut a connection that has taken nothing since so many bytes were left."""
        if self._hearing is not None:
            self._hearing.cancel()
        now = self.transport.get_write_buffer_size()
        if now >= left:
            self.transport.abort()
        elif now:
            self._hearing = self.loop.call_later(ANSWER_SECONDS, self._see_what_is_read, now)

    def handle_websocket_upgrade(self, *request: Any) -> None:
        """A WebSocket is kept alive by its pings."""
        self._stop_waiting()
        super().handle_websocket_upgrade(*request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more, and no answer is sent; uvicorn knows this of the last request alone."""
        self._stop_waiting()
        if self._hearing is not None:
            self._hearing.cancel()
        for one in self._asked:
            one.disconnected = True
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say that nothing can be made of what came."""
        self._refuse(400, "The request is no HTTP that can be read.")

    def _refuse(self, status: int, sentence: str) -> None:
        """End the connection with a sentence, unless answers to what came before are still to be heard."""
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy and (getattr(self, "pipeline", ()) or not self.cycle.more_body):
            self.cycle.keep_alive = False
            return
        if not busy or not self.cycle.response_started:
            body = json.dumps({"error": sentence}).encode()
            head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            self.transport.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        self.transport.close()

    def _wait_for_a_request(self) -> None:
        self._stop_waiting()
        self._since = self.loop.time()
        self._patience = self.loop.call_later(HEAD_SECONDS, self._let_go)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _let_go(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
            self._see_what_is_read()  # a connection is not closed before all was taken


def is_no_advice(record: logging.LogRecord) -> bool:
    """Whether a line of uvicorn's log is no advice for developers on a request for another protocol.

    Whoever sends such requests is answered in this protocol, and could fill the log.
    """
    return not record.getMessage().startswith(("Unsupported upgrade request", "No supported WebSocket library"))


logging.getLogger("uvicorn.error").addFilter(is_no_advice)

GUARDED: dict[str, Any] = {
    "http": PromptProtocol, "h11_max_incomplete_event_size": MOST_HEAD, "server_header": False, "proxy_headers": False,
    "access_log": False, "log_level": logging.WARNING,
}  # fmt: skip
"""Options of uvicorn for a server that strangers can reach."""


def make_known(scope: Scope) -> None:
    """Note that a request brought the token."""
    scope.setdefault("state", {})["known"] = True


def is_known(scope: Any) -> bool:
    """Whether a request brought the token."""
    return scope.get("state", {}).get("known", False)


def prompt(receive: Receive) -> Receive:
    """Receive a request whose body must keep coming; after it, only the end of the connection is waited for."""
    waiting, begin, taken = True, 0.0, 0

    async def receive_promptly() -> Message:
        nonlocal waiting, begin, taken
        if not waiting:
            return await receive()
        now = time.monotonic()
        begin = begin or now
        try:
            async with asyncio.timeout(min(BODY_SECONDS, begin + BODY_SECONDS + taken / BODY_RATE - now)):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The rest of the request did not come.", {"Connection": "close"}) from None
        waiting, taken = message.get("more_body", False), taken + len(message.get("body", b""))
        return message

    return receive_promptly
