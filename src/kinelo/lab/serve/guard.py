"""Who may talk to the lab: checks on every request before anything else sees it.

Host must name this server, so that a foreign name pointed at it gets nothing. What changes something, and every
WebSocket, must come from the lab's own page (Origin). Where a token is set, a cookie or header must carry it; the first
visit brings it in the address of the page and is sent on to the address without it. A body must keep coming.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kinelo.lab.serve.settings import Settings
from kinelo.runtime.serving import host_of, make_known, prompt

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
        if not self._settings.accepts_host(host_of(headers)):
            return PlainTextResponse("This server does not answer to that name.", 421)
        must_be_own = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if must_be_own and not _same_origin(headers):
            return PlainTextResponse("This request does not come from the lab's own page.", 403)
        token = self._settings.token
        if token is None:
            return None
        if any(_matches(value, token) for value in (_bearer(headers), *_cookies(headers, self._settings.cookie))):
            make_known(scope)
            return None
        return self._admit(scope, token)

    def _admit(self, scope: Scope, token: str) -> Response:
        """Answer a request without a valid cookie: let it in if its address brings the token."""
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        brought = any(name == "token" and _matches(value, token) for name, value in query)
        # Only the page itself is opened this way, so that no address can lead a visitor elsewhere.
        if brought and scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == "/":
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            answer = RedirectResponse("/" + (f"?{rest}" if rest else ""), 303)
            # Lax, because a link to the lab may be clicked on another page; what changes something asks for Origin.
            answer.set_cookie(self._settings.cookie, token, httponly=True, samesite="lax", path="/")
            return answer
        return PlainTextResponse("A token is needed: open the address that `kinelo lab` printed when it started.", 401)


def _same_origin(headers: Headers) -> bool:
    try:
        origin = urlsplit(headers.get("origin", "")).netloc
    except ValueError:
        return False
    return bool(origin) and origin.lower() == headers.get("host", "").lower()


def _matches(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode(), token.encode())


def _cookies(headers: Headers, name: str) -> list[str]:
    """Values of the cookies of a name; other programs of this machine may have set cookies of any shape."""
    pairs = (part.partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
    return [value.strip() for found, _, value in pairs if found.strip() == name]


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
