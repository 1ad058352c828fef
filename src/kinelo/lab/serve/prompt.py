"""Connections that must speak: whoever opens one and then falls silent is let go.

The whole head of a request must have come within :data:`HEAD_SECONDS` of the connection, or of the answer before it.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0


class PromptProtocol(H11Protocol):
    """Uvicorn's protocol with a limit on how long a request may take to arrive."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait_for_a_request()

    def on_response_complete(self) -> None:
        """Wait for the next request of a connection that is kept."""
        super().on_response_complete()
        self._wait_for_a_request()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A WebSocket is kept alive by its pings."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_a_request(self) -> None:
        self._stop_waiting()
        self._patience = self.loop.call_later(HEAD_SECONDS, self._let_go)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _let_go(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
