"""Ctrl-C that cannot get lost.

Python drops a KeyboardInterrupt that happens to strike inside a destructor or a callback of compiled code.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def lasting_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function to be called now and then, which raises KeyboardInterrupt if Ctrl-C was pressed at all."""
    pressed = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    # A shell starts its background jobs with Ctrl-C ignored; that is left so.
    if before is signal.SIG_IGN:
        yield check
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
