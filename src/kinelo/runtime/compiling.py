"""Says that code is being compiled, which a first use waits for: on terminals, in notebooks, in the lab.

Code that is on disk already is read, not compiled, and nothing is said. :mod:`kinelo.play.formula` reports what Numba
begins and ends to :data:`NOTICE`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

PATIENCE = 1.0
"""Seconds of compiling before a word is said, and between one word and the next."""
USUAL = "Compiling once, about 30 s"
"""What the first fit takes on two cores of today."""

Say = Callable[[str], None]
"""Called with a few words, and with none where compiling ends."""


class Notice:
    """Counts the seconds that a process compiles, and says them from the first second on.

    ``begin`` and ``end`` come in pairs, one inside the other where a function compiles those that it calls.

    >>> seconds = iter([0.0, 0.4, 3.2, 5.0])
    >>> notice = Notice(print, lambda: next(seconds))
    >>> notice.begin(), notice.begin(), notice.end(), notice.end()
    Compiling once, about 30 s: 3 s so far
    <BLANKLINE>
    (None, None, None, None)
    """

    def __init__(self, say: Say | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.say = say
        self._clock = clock
        self._depth, self._began, self._spent, self._said = 0, 0.0, 0.0, 0.0
        self._shown: Say | None = None

    def begin(self) -> None:
        """A function is going to be compiled."""
        now = self._clock()
        if self._depth == 0:
            self._began = now
        self._depth += 1
        self._tell(now)

    def end(self) -> None:
        """A function was compiled."""
        now = self._clock()
        self._depth -= 1
        if self._depth:
            self._tell(now)
            return
        self._spent += now - self._began
        if self._shown is not None:
            self._shown("")
            self._shown = None

    def _tell(self, now: float) -> None:
        seconds = self._spent + now - self._began
        if seconds - self._said < PATIENCE:
            return
        say = self.say
        if say is None and "ipykernel" in sys.modules:
            say = _once
        elif say is None:
            with suppress(AttributeError, ValueError):  # no stream, or one that is closed
                if sys.stderr.isatty():
                    say = _over if sys.stderr is sys.__stderr__ else _once  # a progress bar takes whole lines
        if say is not None:
            say(f"{USUAL}: {seconds:.0f} s so far")
            self._said, self._shown = seconds, say


def _over(words: str) -> None:
    """Write over the last line of the terminal; no words leave it empty."""
    sys.stderr.write(f"\r{' ' * (len(USUAL) + 20)}\r{words}")
    sys.stderr.flush()


_told: list[str] = []


def _once(words: str) -> None:
    """Say it the first time, in a line of its own."""
    if words and not _told:
        _told.append(words)
        print(f"{USUAL}.", file=sys.stderr)


NOTICE = Notice()
"""What this process says; ``NOTICE.say`` is where it says it, if not to whoever reads along."""
