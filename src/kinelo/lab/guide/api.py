"""The interface of the guided visit: the list of scenes, and all pictures of one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def _scenes(request: Request) -> Response:
    return JSONResponse(await request.app.state.theory.scenes())


async def _scene(request: Request) -> Response:
    units = request.query_params.get("units", "elo")
    return JSONResponse(await request.app.state.theory.scene(request.path_params["number"], units))


routes = [Route("/api/guide", _scenes), Route("/api/guide/{number:int}", _scene)]
