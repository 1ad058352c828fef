"""Who may talk to the lab: checks on every request before anything else sees it.

Host must name this server, so that a foreign name pointed at it gets nothing. What changes something, and every
WebSocket, must come from the lab's own page (Origin). Where a token is set, a cookie or header must carry it; the first
visit brings it in the address and is sent on to the address without it.
"""

from __future__ import annotations

import secrets
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinelo.lab.serve.settings import Settings

COOKIE = "kinelo_token"
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

        await self._app(scope, receive, send_protected)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._settings.accepts_host(headers.get("host", "")):
            return PlainTextResponse("This server does not answer to that name.", 421)
        must_be_own = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if must_be_own and not _same_origin(headers):
            return PlainTextResponse("This request does not come from the lab's own page.", 403)
        token = self._settings.token
        if token is None or _matches(_cookie(headers), token) or _matches(_bearer(headers), token):
            return None
        return self._admit(scope, token)

    def _admit(self, scope: Scope, token: str) -> Response:
        """Answer a request without a valid cookie: let it in if its address brings the token."""
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if scope["type"] == "http" and scope["method"] == "GET" and _matches(query.pop("token", ""), token):
            rest = urlencode(query)
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
            return answer
        return PlainTextResponse("A token is needed: open the address that `kinelo lab` printed when it started.", 401)


def _same_origin(headers: Headers) -> bool:
    origin = headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _matches(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


def _cookie(headers: Headers) -> str:
    jar = SimpleCookie(headers.get("cookie", ""))
    return jar[COOKIE].value if COOKIE in jar else ""


def _bearer(headers: Headers) -> str:
    kind, _, value = headers.get("authorization", "").partition(" ")
    return value if kind.lower() == "bearer" else ""


async def _refuse(scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": REFUSED_SOCKET, "reason": "refused"})
        return
    for name, value in SAFE_HEADERS.items():
        answer.headers.setdefault(name, value)
    await answer(scope, receive, send)
