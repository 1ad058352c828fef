"""Theory for the live pages, from a process for each kind of question: maps are quick, diagnoses and scenes are not."""

from __future__ import annotations

import asyncio
from typing import Any

from kinelo.lab.explore.controls import Controls
from kinelo.lab.serve.jobs import Worker
from kinelo.lab.serve.settings import Limits

WORKER_KINDS = {"foresee": "theory", "judge": "theory", "scene": "guide"}
"""The kind of worker behind each question."""


class TheoryService:
    """Asks each question of the process for it; a page that moves on takes back what has not begun."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._workers: dict[str, asyncio.Task[Worker]] = {}

    async def _worker(self, task: str) -> Worker:
        starting = self._workers.get(task)
        if starting is None or (starting.done() and (starting.exception() or starting.result().ended)):
            starting = self._workers[task] = asyncio.create_task(Worker.start(WORKER_KINDS[task], self._limits))
        return await asyncio.shield(starting)

    async def warm_up(self) -> None:
        """Start the processes before anybody asks."""
        for task in WORKER_KINDS:
            await self._worker(task)

    async def foresee(self, controls: Controls) -> dict[str, Any] | None:
        """The stationary map and the answer that comes with it; None where both take seconds."""
        return await (await self._worker("foresee")).ask("foresee", controls=controls.to_dict())

    async def judge(self, controls: Controls) -> dict[str, Any]:
        """The map and the whole answer of theory."""
        return await (await self._worker("judge")).ask("judge", controls=controls.to_dict())

    async def rows(self, controls: Controls, units: str) -> list[list[str]]:
        """Every line of the diagnosis."""
        return await (await self._worker("judge")).ask("rows", controls=controls.to_dict(), units=units)

    async def share(self, controls: Controls, units: str) -> str:
        """The diagnosis as a page to share."""
        return await (await self._worker("judge")).ask("share", controls=controls.to_dict(), units=units)

    async def scenes(self) -> list[dict[str, Any]]:
        """Titles and controls of the guided visit."""
        return await (await self._worker("scene")).ask("scenes")

    async def scene(self, number: int, units: str) -> dict[str, Any]:
        """A scene of the guided visit at every stop of its control."""
        return await (await self._worker("scene")).ask("scene", number=number, units=units)

    async def end(self) -> None:
        """End the processes."""
        for starting in self._workers.values():
            await (await starting).end()
