"""The interface of the guided visit: the list of scenes, and a scene for the values of its controls."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kinelo.lab.guide.scenes import described_scenes
from kinelo.lab.serve.reading import read_object


async def _scenes(request: Request) -> Response:
    return JSONResponse(described_scenes())


async def _scene(request: Request) -> Response:
    values = await read_object(request)
    return JSONResponse(await request.app.state.theory.scene(request.path_params["number"], values))


routes = [Route("/api/guide", _scenes), Route("/api/guide/{number:int}", _scene, methods=["POST"])]
