"""The rhythm of a live run: at most one frame under way, and the newest one when the page is ready for it.

The page acknowledges a frame once it has drawn it. Until then the league plays on and nothing is sent, so a slow
browser sees fewer frames and never a queue of old ones. A page that stays silent (a hidden tab) pauses its league.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

FRAME_SECONDS = 1 / 30
SLOW_SECONDS = 1 / 12
"""Between two advances while the page still draws the last frame."""
LONGEST_SECONDS = 0.25
"""The most that one advance plays for: a server that was held up does not rush."""
PATIENCE_SECONDS = 1.5
SPEEDS = (1.0, 3000.0)
"""Matches per team and second."""
FIRST_SPEED = 80.0


class Pacer:
    """Clock, speed and acknowledgements of one live run."""

    def __init__(self) -> None:
        self.speed, self.paused = FIRST_SPEED, False
        self.sequence = 0
        self._acknowledged = 0
        self._sent_at = 0.0
        self._ticked_at = time.monotonic()
        self._changed = asyncio.Event()
        self._woken = False

    def set_speed(self, speed: object) -> None:
        """Take a speed in matches per team and second, within the range offered."""
        if isinstance(speed, int | float) and not isinstance(speed, bool) and speed == speed:
            self.speed = float(min(max(speed, SPEEDS[0]), SPEEDS[1]))

    def set_paused(self, paused: object) -> None:
        """Stop the clock or let it run."""
        self.paused = paused is True
        self.wake()

    def acknowledge(self, sequence: object) -> None:
        """The page has drawn this frame."""
        if isinstance(sequence, int) and self._acknowledged < sequence <= self.sequence:
            self._woken |= self.abandoned
            self._acknowledged = sequence
            self._changed.set()

    def wake(self) -> None:
        """Let the run look up at once."""
        self._woken = True
        self._changed.set()

    def forget(self) -> None:
        """Begin anew: no frame is under way, and no time has passed."""
        self._acknowledged = self.sequence
        self._ticked_at = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether the page has drawn all that was sent."""
        return self._acknowledged == self.sequence

    @property
    def abandoned(self) -> bool:
        """Whether the page has left a frame undrawn for so long that nobody can be looking."""
        return not self.ready and time.monotonic() - self._sent_at > PATIENCE_SECONDS

    def next_sequence(self) -> int:
        """Number of the frame about to be sent."""
        self.sequence += 1
        self._sent_at = time.monotonic()
        return self.sequence

    def matches_due(self) -> float:
        """Matches per team that the clock has gained since the last call."""
        now = time.monotonic()
        elapsed, self._ticked_at = now - self._ticked_at, now
        return self.speed * min(elapsed, LONGEST_SECONDS)

    async def wait(self) -> None:
        """Until the next frame is due or something changes; while nothing moves, until something changes."""
        if self.paused or self.abandoned:
            await self.change()
            self._ticked_at = time.monotonic()
            return
        while not self._woken:  # a frame drawn meanwhile brings the next one forward
            due = self._ticked_at + (FRAME_SECONDS if self.ready else SLOW_SECONDS) - time.monotonic()
            if due <= 0.0:
                await asyncio.sleep(0)
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), due)
            self._changed.clear()
        self._woken = False

    async def change(self) -> None:
        """Until a restart or a pause is asked for, or the page looks again after a silence."""
        while not self._woken:
            await self._changed.wait()
            self._changed.clear()
        self._woken = False
