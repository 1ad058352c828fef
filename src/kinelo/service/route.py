"""Questions in JSON: each route has one compiled reader and one compiled writer, and is reached without detours.

FastAPI describes these routes and answers all others. What it does to find a route, to read a body and to write an
answer takes nearly as long as a forecast.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from kinelo.service.guard import refusal


class JsonRoute(APIRoute):
    """A route whose endpoint takes a request and a ``body``; one without a body is left to FastAPI.

    Words of an address that the route does not take are refused.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers requests of this route."""
        self.question: Any = None
        shapes, answer = get_type_hints(self.endpoint, include_extras=True), self.endpoint
        taken = [one.alias for one in self.dependant.query_params]
        look_up = super().get_route_handler()

        async def handle_words(request: Request) -> Response:
            unknown = next((word for word in request.query_params if word not in taken), None)
            if unknown is not None:
                may = f"it takes {', '.join(taken)}" if taken else "it takes nothing behind a question mark"
                return refusal(422, f"{request.url.path:.80} does not take {unknown!r:.60}; {may}.")
            return await look_up(request)

        if "body" not in shapes:
            return handle_words
        read = TypeAdapter(shapes["body"]).validate_json
        write = TypeAdapter(shapes["return"]).dump_json

        async def handle(request: Request) -> Response:
            if request.query_params:
                return await handle_words(request)
            if not is_json(request.headers.get("content-type", "")):
                return refusal(422, "The service takes JSON: send Content-Type: application/json.")
            try:
                body = read(await whole(request.receive))
            except ValidationError as error:
                found = error.errors(include_url=False, include_input=False)
                raise RequestValidationError([one | {"loc": ("body", *one["loc"])} for one in found]) from None
            return Response(write(await answer(request, body)), media_type="application/json")

        self.question = handle
        return handle


class Straight:
    """Wraps an application of FastAPI: leads questions in JSON to their routes, and everything else to it."""

    def __init__(self, app: FastAPI) -> None:
        self._app, found = app, [route for route in app.routes if isinstance(route, JsonRoute) and route.question]
        self._routes = {(method, route.path): route for route in found for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
            return
        scope["app"], scope["route"] = self._app, route
        request = Request(scope, receive)
        try:
            answer = await route.question(request)
        except Exception as error:
            refused: Any = self._app.exception_handlers
            sentence = next((refused[kind] for kind in type(error).__mro__ if kind in refused), None)
            if sentence is None:
                raise
            answer = await sentence(request, error)
        await answer(scope, receive, send)


async def whole(receive: Receive) -> bytes:
    """The body of a request."""
    parts, incomplete = [], True
    while incomplete:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HTTPException(400, "The request broke off.")
        parts.append(message.get("body", b""))
        incomplete = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def is_json(content_type: str) -> bool:
    """Whether a body says that it is JSON; a page of a browser cannot say so of what it sends elsewhere.

    >>> is_json("application/json; charset=utf-8"), is_json("text/plain")
    (True, False)
    """
    kind, _, subkind = content_type.partition(";")[0].strip().lower().partition("/")
    return kind == "application" and (subkind == "json" or subkind.endswith("+json"))
