"""Reading what a page sends: small JSON objects, and nothing larger."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from kinelo.errors import InputError


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
