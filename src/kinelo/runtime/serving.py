"""What the lab and the service share of serving: a server that says when it answers, and bodies that keep coming."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

BODY_SECONDS = 30.0
"""The longest silence within the body of a request."""


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


def prompt(receive: Receive) -> Receive:
    """Receive a request whose body must keep coming; after it, only the end of the connection is waited for."""
    waiting = True

    async def receive_promptly() -> Message:
        nonlocal waiting
        if not waiting:
            return await receive()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The rest of the request did not come.") from None
        waiting = message.get("more_body", False)
        return message

    return receive_promptly
