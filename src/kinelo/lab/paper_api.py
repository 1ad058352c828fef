"""Interface of the Rate tab."""

from starlette.routing import Route

routes: list[Route] = []
