"""The live run of one page: restarts when a slider moves, plays on its clock, and sends the newest frame.

At most one frame is under way. The page acknowledges a frame once it has drawn it. Until then the league plays on and
nothing is sent, so a slow browser sees fewer frames and never a queue of old ones. A page that stays silent (a hidden
tab) pauses its league."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from kinelo.errors import InputError
from kinelo.lab.control import shown
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.live import LiveRun
from kinelo.lab.explore.verdict import TheoryAnswer, judged

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


SEED = 1
REST_SECONDS = 0.25
"""The diagnosis takes longer than the map: it waits until the sliders have been still for this long."""
JUDGE_SECONDS = 0.5
"""How often the league on screen is held against theory."""


@dataclass(frozen=True)
class Pools:
    """Threads that play, and one that begins new runs, so that no restart queues behind leagues at play."""

    play: Executor
    begin: Executor


class Theory(Protocol):
    """What an explorer wants to know; :class:`kinelo.lab.serve.app.TheoryService` answers it."""

    async def foresee(self, controls: Controls) -> dict[str, Any] | None:
        """The stationary map and the answer that comes with it; None where both take seconds."""
        ...

    async def judge(self, controls: Controls) -> dict[str, Any]:
        """The map and the whole answer of theory."""
        ...


class Explorer:
    """One page's live league. ``say`` sends a message, ``show`` a frame."""

    def __init__(
        self,
        pools: Pools,
        theory: Theory,
        say: Callable[[dict[str, Any]], Awaitable[None]],
        show: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self._pools, self._theory, self._say, self._show = pools, theory, say, show
        self._pacer = Pacer()
        self._run: LiveRun | None = None
        self._pinned: LiveRun | None = None
        self._wanted: tuple[Controls, int, Controls | None] | None = None
        self._number = 0
        self._theory_task: asyncio.Task[None] | None = None
        self._answer: TheoryAnswer | None = None
        self._final, self._units = False, "elo"
        self._judged_at = 0.0

    async def hear(self, message: dict[str, Any]) -> None:
        """Take one message of the page."""
        match message.get("type"):
            case "start":
                seed, pin = message.get("seed", SEED), message.get("pin")
                try:
                    controls = Controls.read(message.get("controls", {}))
                    pinned = None if pin is None else Controls.read(pin)
                    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**31:
                        raise InputError(f"seed must be a whole number from 0 to 2147483647, not {shown(seed)}.")
                except InputError as error:
                    await self._say({"type": "refused", "text": str(error)})
                    return
                self._wanted = (controls, seed, pinned)
                self._pacer.wake()
            case "drawn":
                self._pacer.acknowledge(message.get("sequence"))
            case "pause":
                self._pacer.paused = message.get("paused") is True
                self._pacer.wake()
            case "units":
                self._units = "paper" if message.get("units") == "paper" else "elo"
                if self._run is not None:
                    await self._say_verdict(self._run)
            case "speed":
                self._pacer.set_speed(message.get("speed"))

    async def play(self) -> None:
        """Go on for as long as the page is there."""
        try:
            while True:
                if self._wanted is not None:
                    controls, seed, pinned = self._wanted
                    self._wanted = None
                    self._number += 1
                    loop, number = asyncio.get_running_loop(), self._number
                    new = await loop.run_in_executor(self._pools.begin, LiveRun, number, controls, seed)
                    beside = None
                    if pinned is not None:
                        begin = partial(LiveRun, number, pinned, seed, pinned=True)
                        beside = await loop.run_in_executor(self._pools.begin, begin)
                    self._let_go(self._run, self._pinned)
                    self._run, self._pinned = new, beside
                    self._answer, self._final = None, False
                    self._pacer.forget()
                    await self._say(new.opening())
                    await self._show(new.frame(self._pacer.next_sequence(), beside))
                    if self._theory_task is not None:
                        self._theory_task.cancel()
                    self._theory_task = asyncio.create_task(self._predict(new))
                await self._move()
                if self._wanted is None:
                    await (self._pacer.change() if self._run is None else self._pacer.wait())
        finally:
            if self._theory_task is not None:
                self._theory_task.cancel()
            self._let_go(self._run, self._pinned)

    def _let_go(self, *runs: LiveRun | None) -> None:
        """Close runs where they play, because they may still be playing."""
        with contextlib.suppress(RuntimeError):  # the threads are gone when the server ends
            for run in runs:
                if run is not None:
                    self._pools.play.submit(run.close)

    async def _move(self) -> None:
        run = self._run
        if run is None or self._pacer.paused or self._pacer.abandoned:
            return
        due, loop, beside = self._pacer.matches_due(), asyncio.get_running_loop(), self._pinned
        await loop.run_in_executor(self._pools.play, run.advance, due)
        if beside is not None:  # to the same clock as the league it is compared with
            await loop.run_in_executor(self._pools.play, beside.advance, run.matches - beside.matches)
        if self._pacer.ready and self._wanted is None:
            await self._show(run.frame(self._pacer.next_sequence(), beside))
            if time.monotonic() - self._judged_at > JUDGE_SECONDS:
                await self._say_verdict(run)

    async def _say_verdict(self, run: LiveRun) -> None:
        """Send what theory says and whether the league bears it out."""
        self._judged_at = time.monotonic()
        if self._answer is None or run is not self._run:
            return
        league = await asyncio.get_running_loop().run_in_executor(self._pools.play, run.evidence)
        if self._answer is not None and run is self._run:
            verdict = judged(self._answer, league, run.controls, run.controls.units(self._units))
            await self._say({"type": "verdict", "run": run.number, "final": self._final, **verdict})

    async def _predict(self, run: LiveRun) -> None:
        """Send the map with its answer, and the whole answer once the sliders rest."""
        try:
            foreseen = await self._theory.foresee(run.controls)
            if foreseen is not None:
                await self._say_theory(run, foreseen)
            await asyncio.sleep(REST_SECONDS)
            whole = await self._theory.judge(run.controls)
            if foreseen is None:
                await self._say_theory(run, whole)
            self._answer = TheoryAnswer.from_dict(whole["answer"])
        except InputError as error:
            known = self._answer or TheoryAnswer(math.nan, math.nan, math.nan)
            self._answer = replace(known, missing=str(error))
        self._final = True
        await self._say_verdict(run)

    async def _say_theory(self, run: LiveRun, answer: dict[str, Any]) -> None:
        line = answer["map"]
        run.line = (np.array(line["theta"]), np.array(line["rating"]))
        await self._say({"type": "theory", "run": run.number, **line})
        self._answer = TheoryAnswer.from_dict(answer["answer"])
        await self._say_verdict(run)
