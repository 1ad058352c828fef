"""What a page has done with its league, so that a worker which died can be replaced by one that knows it all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kinelo.lab.serve.jobs import Jobs, Worker

CHANGES_TABLES = ("sample", "look", "forget", "open_session")
RESTORED = ("kind", "keep", "name")
"""What of an upload is needed to take it again."""


class LeagueLog:
    """The successful tasks of one page that still matter, in order; tables lie in files of the page's folder."""

    def __init__(self) -> None:
        self._tasks: list[tuple[str, dict[str, Any]]] = []
        self._worker: Worker | None = None
        self._restoring = asyncio.Lock()

    def note(self, task: str, arguments: dict[str, Any], answer: dict[str, Any]) -> None:
        """Remember a task that succeeded, and forget those that it undoes."""
        if task in CHANGES_TABLES:
            self._drop("rate", "rank")
        if task == "sample":
            self._drop_tables()
        elif task == "open_session":
            self._drop_tables()
            for kind, keep in arguments["keep"].items():
                if kind in answer["tables"]:
                    name = answer["tables"][kind]["name"]
                    self._tasks.append(("restore", {"kind": kind, "keep": keep, "name": name}))
            return
        elif task == "look":
            if any(other == "sample" for other, _ in self._tasks):  # a file of one's own ends the made-up league
                self._drop_tables()
            self._drop_kind(arguments["kind"])
            task = "restore"
        elif task == "forget" and not any(other == "sample" for other, _ in self._tasks):
            self._drop_kind(arguments["kind"])
            return
        elif task == "rate":
            self._drop("rate", "rank")
        elif task == "rank":
            self._drop("rank")
        elif task != "forget":
            return
        self._tasks.append((task, arguments))

    def _drop(self, *names: str) -> None:
        self._tasks = [(task, arguments) for task, arguments in self._tasks if task not in names]

    def _drop_tables(self) -> None:
        for task, arguments in self._tasks:
            if task == "restore":
                Path(arguments["keep"]).unlink(missing_ok=True)
        self._tasks = []

    def _drop_kind(self, kind: str) -> None:
        for task, arguments in list(self._tasks):
            if task in ("restore", "forget") and arguments["kind"] == kind:
                if task == "restore":
                    Path(arguments["keep"]).unlink(missing_ok=True)
                self._tasks.remove((task, arguments))

    async def restored(self, jobs: Jobs, page: str) -> None:
        """See that the page has a worker that knows its league."""
        async with self._restoring:
            worker = await jobs.worker(page, "rating")
            if worker is self._worker:
                return
            for task, arguments in self._tasks:
                needed = (
                    {name: arguments[name] for name in ("kind", "keep", "name")} if task == "restore" else arguments
                )
                await jobs.ask(page, "rating", task, **needed)
            self._worker = worker
