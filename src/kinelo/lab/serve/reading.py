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
    try:
        content = json.loads(body)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise InputError("the request must hold a JSON object.")
    return content
