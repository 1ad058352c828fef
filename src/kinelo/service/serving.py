"""Serving a book: one process or several, a clean end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import uvicorn

from kinelo.runtime.listening import listen_at
from kinelo.runtime.serving import GUARDED, ReadyServer
from kinelo.service.app import open_book
from kinelo.service.settings import Settings

APP = "kinelo.service.app:create"
LAST_SECONDS = 60
"""How long a service that is told to end goes on with what was begun."""


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until told to end (SIGTERM, Ctrl-C); ``announce`` is called with the address once the port is open."""
    listener = listen_at(settings.host, settings.port, "The service")
    settings = replace(settings, port=listener.getsockname()[1])
    try:
        open_book(settings).close()  # what is wrong with it is said before anybody asks
        settings.hand_over()
        sys.setswitchinterval(0.001)  # a forecast should not wait for a match that is being rated
        options: dict[str, Any] = {
            **GUARDED, "factory": True, "ws": "none", "timeout_graceful_shutdown": LAST_SECONDS,
        }  # fmt: skip
        if settings.workers > 1:
            announce(settings.address)
            uvicorn.run(
                APP, fd=listener.fileno(), workers=settings.workers, timeout_worker_healthcheck=LAST_SECONDS, **options
            )
        else:
            ReadyServer(uvicorn.Config(APP, **options), lambda: announce(settings.address)).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
