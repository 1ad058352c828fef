"""An alarm for calls that hang; processor time counts, and compiling kernels does not, however long it takes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event


class Hang(BaseException):
    """A call took too long."""


class Alarm(event.Listener):
    """Raises :class:`Hang` after ``longest`` seconds of processor time in a call."""

    def __init__(self, longest: float) -> None:
        self.longest, self._calling, self._compiling = longest, False, 0

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Listen to what is compiled meanwhile; outside, nothing rings."""

        def ring(number: int, frame: object) -> None:
            raise Hang

        before = signal.signal(signal.SIGPROF, ring)
        try:
            with event.install_listener("numba:compile", self):
                yield
        finally:
            self.stop()
            signal.signal(signal.SIGPROF, before)

    def start(self) -> None:
        """A call begins."""
        self._calling = True
        self._set()

    def stop(self) -> None:
        """It has ended."""
        self._calling = False
        self._set()

    def on_start(self, event: object) -> None:
        """Numba begins to compile."""
        self._compiling += 1
        self._set()

    def on_end(self, event: object) -> None:
        """It has compiled."""
        self._compiling -= 1
        self._set()

    def _set(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, self.longest if self._calling and not self._compiling else 0)
