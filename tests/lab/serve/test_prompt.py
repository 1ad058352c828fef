"""Connections that fall silent are let go; those that speak are not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import uvicorn

from kinelo.lab.serve import prompt
from kinelo.lab.serve.prompt import PromptProtocol
from patience import PATIENCE

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def _app(scope, receive, send) -> None:
    if scope["type"] == "http":
        await asyncio.sleep(0.4)  # longer than the patience of these tests: an answer may take its time
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def _served() -> AsyncIterator[int]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(_app, http=PromptProtocol, lifespan="off", log_level="error", timeout_keep_alive=30)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    await serving


def _run(monkeypatch: pytest.MonkeyPatch, story: Callable[[int], Awaitable[None]]) -> None:
    monkeypatch.setattr(prompt, "HEAD_SECONDS", 0.2)

    async def whole() -> None:
        async with _served() as port:
            await asyncio.wait_for(story(port), PATIENCE)

    asyncio.run(whole())


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_is_let_go(monkeypatch, sent):
    async def story(port: int) -> None:
        visits = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for _, writer in visits:
            writer.write(sent)
        for reader, writer in visits:
            assert await reader.read() == b""  # the other side has closed
            writer.close()

    _run(monkeypatch, story)


def test_an_answer_may_take_its_time_and_then_the_next_request_is_awaited(monkeypatch):
    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(REQUEST)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HT")
        assert await reader.read() == b""
        writer.close()

    _run(monkeypatch, story)
