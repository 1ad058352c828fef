"""The live run of one page: restarts when a slider moves, plays on its clock, and sends the newest frame."""

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
from kinelo.lab.explore.judgement import judged
from kinelo.lab.explore.live import LiveRun
from kinelo.lab.explore.pacing import Pacer
from kinelo.lab.explore.verdict import TheoryAnswer

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
    """What an explorer wants to know; :class:`kinelo.lab.serve.theory_service.TheoryService` answers it."""

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
                await self._ask_for_start(message)
            case "drawn":
                self._pacer.acknowledge(message.get("sequence"))
            case "pause":
                self._pacer.set_paused(message.get("paused"))
            case "units":
                self._units = "paper" if message.get("units") == "paper" else "elo"
                if self._run is not None:
                    await self._say_verdict(self._run)
            case "speed":
                self._pacer.set_speed(message.get("speed"))

    async def _ask_for_start(self, message: dict[str, Any]) -> None:
        seed = message.get("seed", SEED)
        try:
            controls = Controls.read(message.get("controls", {}))
            pin = message.get("pin")
            pinned = None if pin is None else Controls.read(pin)
            if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**31:
                raise InputError(f"seed must be a whole number from 0 to 2147483647, not {shown(seed)}.")
        except InputError as error:
            await self._say({"type": "refused", "text": str(error)})
            return
        self._wanted = (controls, seed, pinned)
        self._pacer.wake()

    async def play(self) -> None:
        """Go on for as long as the page is there."""
        try:
            while True:
                if self._wanted is not None:
                    await self._restart()
                await self._move()
                await self._wait()
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

    async def _wait(self) -> None:
        if self._wanted is None:
            await (self._pacer.change() if self._run is None else self._pacer.wait())

    async def _restart(self) -> None:
        assert self._wanted is not None
        (controls, seed, pinned), self._wanted = self._wanted, None
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

    async def _say_theory(self, run: LiveRun, found: dict[str, Any]) -> None:
        line = found["map"]
        run.line = (np.array(line["theta"]), np.array(line["rating"]))
        await self._say({"type": "theory", "run": run.number, **line})
        self._answer = TheoryAnswer.from_dict(found["answer"])
        await self._say_verdict(run)
