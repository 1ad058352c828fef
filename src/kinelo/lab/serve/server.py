"""Serving the lab: a browser if wanted, a clean end."""

from __future__ import annotations

import socket
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings
from kinelo.runtime.serving import GUARDED, ReadyServer


def serve(settings: Settings, listener: socket.socket, *, browser: bool, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``announce`` is called with the address once the lab answers."""
    # Short turns between threads: a frame should not wait for a league at play.
    sys.setswitchinterval(0.001)
    if settings.port == 0:
        settings = replace(settings, port=listener.getsockname()[1])

    def when_ready() -> None:
        announce(settings.address)
        if browser:
            webbrowser.open(settings.address)

    config = uvicorn.Config(
        create_app(settings, warm=True),
        **GUARDED,
        loop="asyncio",
        ws="websockets-sansio",
        ws_max_size=settings.limits.message_bytes,
        ws_max_queue=8,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        timeout_graceful_shutdown=2,
    )
    try:
        ReadyServer(config, when_ready).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
