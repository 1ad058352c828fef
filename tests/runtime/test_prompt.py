"""Connections that fall silent are let go, and heads that do not end are refused; those that ask are answered."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from types import ModuleType

import pytest

uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed (kinelo[lab])")
from starlette.exceptions import HTTPException  # noqa: E402

from kinelo.runtime import serving  # noqa: E402
from patience import PATIENCE  # noqa: E402

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
KNOWN = b"GET /known HTTP/1.1\r\nHost: x\r\n\r\n"
LONG_ONE = b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = b"x" * (1 << 24)
"""More than any socket keeps."""
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def _loaded(name: str, parser: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as it is where a parser of HTTP is the one that is installed."""
    pytest.importorskip(parser, reason=f"{parser} is not installed")
    kinds = importlib.import_module(f"uvicorn.protocols.http.{parser}_impl")
    protocol = kinds.HttpToolsProtocol if parser == "httptools" else kinds.H11Protocol
    monkeypatch.setattr("uvicorn.protocols.http.auto.AutoHTTPProtocol", protocol)
    spec = importlib.util.spec_from_file_location(name, serving.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["httptools", "h11"])
def module(request, monkeypatch) -> ModuleType:
    return _loaded(f"serving_with_{request.param}", request.param, monkeypatch)


@contextlib.asynccontextmanager
async def _served(module: ModuleType) -> AsyncIterator[int]:
    async def app(scope, receive, send) -> None:
        if scope["path"] == "/known":
            module.make_known(scope)
        taken, message = 0, {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            taken += len(message.get("body", b""))
        await asyncio.sleep(0.4)  # longer than the patience of these tests: an answer may take its time
        body = LONG if scope["path"] == "/long" else f"{taken}ok".encode()
        head = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, **module.GUARDED, lifespan="off", timeout_keep_alive=900)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    await serving


def _run(module: ModuleType, story: Callable[[int], Awaitable[None]], head_seconds: float = 0.2) -> None:
    module.HEAD_SECONDS = head_seconds

    async def whole() -> None:
        async with _served(module) as port:
            await asyncio.wait_for(story(port), PATIENCE)

    asyncio.run(whole())


async def _rest(reader: asyncio.StreamReader) -> bytes:
    """All that still comes; nothing more where the connection was reset."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1 << 16):
            found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_is_let_go(module, sent):
    async def story(port: int) -> None:
        visits = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for _, writer in visits:
            writer.write(sent)
        for reader, writer in visits:
            assert await reader.read() == b""  # the other side has closed
            writer.close()

    _run(module, story)


@pytest.mark.parametrize("sent", [LONG_ONE, LONG_ONE + REQUEST], ids=["once", "twice"])
def test_whoever_does_not_read_an_answer_is_let_go(module, sent):
    """And whoever reads it slowly, for longer than the patience with silence, gets all of it."""
    module.ANSWER_SECONDS = 1.0
    lost = []
    told = module.PromptProtocol.connection_lost
    module.PromptProtocol.connection_lost = lambda self, error: (told(self, error), lost.append(self))

    async def story(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port)) as deaf:
            deaf.sendall(sent)
            while not lost:
                await asyncio.sleep(0.05)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(LONG_ONE)
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(8):
            assert len(await reader.readexactly(len(LONG) // 8)) == len(LONG) // 8
            await asyncio.sleep(0.2)
        writer.close()

    _run(module, story)


def test_an_answer_may_take_its_time_and_then_the_next_request_is_awaited(module):
    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(REQUEST)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HT")
        assert await reader.read() == b""
        writer.close()

    _run(module, story)


@pytest.mark.parametrize("where", ["head", "many", "address", "chunk", "trailer"])
def test_a_head_that_does_not_end_is_refused(module, where):
    """Also where it stands between the parts of a body, or after it."""
    begin, endless = {
        "head": (b"GET / HTTP/1.1\r\nHost: x\r\nA: ", b"a" * 1000),
        "many": (b"GET / HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n" * 200),
        "address": (b"GET /", b"a" * 1000),
        "chunk": (CHUNKED + b"2;a=", b"a" * 1000),
        "trailer": (CHUNKED + b"2\r\nab\r\n0\r\nA: ", b"a" * 1000),
    }[where]

    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(begin)
        with contextlib.suppress(ConnectionError):
            for _ in range(4 * module.MOST_HEAD // 1000):
                writer.write(endless)
                await writer.drain()
        said = await _rest(reader)
        assert said.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400")) and b'{"error": "The ' in said
        writer.close()

    _run(module, story, PATIENCE)


def test_long_heads_and_bodies_within_the_limits_are_read(module):
    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST[:-2] + b"A: " + b"a" * (module.MOST_HEAD - 100) + b"\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        body = b"b" * (9 * module.MOST_HEAD)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert (await reader.readuntil(b"ok")).endswith(b"%dok" % len(body))
        writer.write(CHUNKED + b"1000\r\n" + b"b" * 4096 + b"\r\n" + b"1;a=b\r\nb\r\n" * (module.MOST_HEAD // 2))
        writer.write(b"0\r\n\r\n")
        assert (await reader.readuntil(b"ok")).endswith(b"%dok" % (4096 + module.MOST_HEAD // 2))
        writer.close()

    _run(module, story, PATIENCE)


@pytest.mark.parametrize("sent", [b"", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"])
def test_of_too_many_silent_connections_the_oldest_go_and_whoever_asks_is_answered(module, sent):
    module.MOST_SILENT = 30

    async def story(port: int) -> None:
        known, to_known = await asyncio.open_connection("127.0.0.1", port)
        to_known.write(KNOWN)
        await known.readuntil(b"ok")
        visits = []
        for _ in range(40):
            visits.append(await asyncio.open_connection("127.0.0.1", port))
            visits[-1][1].write(sent)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        for oldest, _ in visits[:10]:
            assert await _rest(oldest) == b""
        assert [one.at_eof() for one, _ in visits[-25:]] == [False] * 25
        to_known.write(KNOWN)  # who brought the token is not among them, though it waits for longest
        assert (await known.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        for _, one in [*visits, (reader, writer), (known, to_known)]:
            one.close()

    _run(module, story, PATIENCE)


@pytest.mark.parametrize("sent", [b"\x00 garbage\r\n\r\n", CHUNKED + b"zz\r\n"])
def test_what_is_no_http_is_refused_in_a_sentence_after_the_answers_before_it(module, sent):
    async def story(port: int) -> None:
        if not sent.startswith(CHUNKED):  # its answer would be that its body does not come
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(REQUEST + REQUEST + sent)
            answers = await _rest(reader)
            assert answers.count(b"HTTP/1.1 200") == 2 and answers.rfind(b"HTTP/1.1 400") != 0
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        assert b'{"error": "The request is no HTTP that can be read."}' in await _rest(reader)
        writer.close()

    _run(module, story, PATIENCE)


def test_whoever_leaves_while_several_answers_are_due_leaves_no_error_behind(monkeypatch, capfd):
    loops = pytest.importorskip("uvloop", reason="uvloop is not installed")  # asyncio lets one write to who has left
    module = _loaded("serving_for_those_who_leave", "httptools", monkeypatch)

    async def story() -> None:
        async with _served(module) as port:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(REQUEST * 5)
            await writer.drain()
            await asyncio.sleep(0.1)
            writer.transport.abort()
            await asyncio.sleep(0.6)

    with asyncio.Runner(loop_factory=loops.new_event_loop) as runner:
        runner.run(story())
    assert "Exception" not in capfd.readouterr().err


@pytest.mark.parametrize("ws", ["none", "auto"])
def test_requests_for_another_protocol_are_answered_in_this_one_and_fill_no_log(module, ws, capfd):
    """Uvicorn advises developers with every such request; whatever else it says is still said."""
    module.GUARDED["ws"] = ws

    async def story(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST[:-2] + b"Connection: Upgrade\r\nUpgrade: other\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.close()
        logging.getLogger("uvicorn.error").warning("Something else.")

    _run(module, story, PATIENCE)
    assert capfd.readouterr().err.splitlines() == ["WARNING:  Something else."]


def test_a_body_that_trickles_is_given_up(monkeypatch):
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.05)

    async def trickle():
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def story(parts: int) -> None:
        receive = serving.prompt(trickle)
        for _ in range(parts):
            await receive()

    with pytest.raises(HTTPException, match="did not come"):
        asyncio.run(story(10_000))
    monkeypatch.setattr(serving, "BODY_SECONDS", PATIENCE)
    asyncio.run(story(100))
