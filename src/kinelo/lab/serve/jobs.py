"""Long work done for a page, each in a process of its own that ends with the page.

The process speaks lines of JSON: it reads requests and answers with progress, a result or a sentence about what went
wrong. Nothing is pickled, and ending the process frees all it held.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.serve.settings import Limits
from kinelo.runtime.workers import SAFE_PATH

LONGEST_LINE = 2**27
Report = Callable[[dict[str, Any]], Awaitable[None]]


class WorkerDied(InputError):
    """The process ended before the work was done."""

    def __init__(self) -> None:
        super().__init__("the work was ended before it was done.")


class Worker:
    """A process, with all that it starts, for one kind of work: "rating", "audit", "paper", "theory" and others."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._busy = asyncio.Lock()
        self._dying = False

    @classmethod
    async def start(cls, kind: str, limits: Limits) -> Worker:
        """Start the process; it loads what it needs while nobody waits yet."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, SAFE_PATH, "-m", "kinelo.lab.serve.worker", kind, str(limits.worker_memory),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE, start_new_session=True,
        )  # fmt: skip
        return cls(process)

    @property
    def ended(self) -> bool:
        """Whether the process is gone, or answers no more and is about to be."""
        return self._dying or self._process.returncode is not None

    async def ask(self, task: str, report: Report | None = None, /, **arguments: Any) -> Any:
        """Have a task done; progress goes to ``report``.

        Whoever stops waiting before the task has begun takes it back; one that has begun is finished unheard.
        """
        begun = asyncio.Event()
        work = asyncio.ensure_future(self._exchange(begun, task, report, arguments))
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if not begun.is_set():
                work.cancel()
            raise

    async def _exchange(self, begun: asyncio.Event, task: str, report: Report | None, arguments: dict[str, Any]) -> Any:
        async with self._busy:
            begun.set()
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None and stdout is not None
            try:
                stdin.write(json.dumps({"task": task, "arguments": arguments}).encode() + b"\n")
                await stdin.drain()
                while line := await stdout.readline():
                    answer = json.loads(line)
                    if "error" in answer:
                        raise InputError(answer["error"])
                    if "result" in answer:
                        return answer["result"]
                    if report is not None:
                        await report(answer)
            except (ConnectionError, ValueError) as error:
                if isinstance(error, InputError):
                    raise
            # Its pipe has closed: it is not handed out again, though the system may not have buried it yet.
            self._dying = True
            self.kill()
            raise WorkerDied

    def kill(self) -> None:
        """Stop the process at once, without waiting for it to be gone."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # it leads a group of its own

    async def end(self) -> None:
        """Stop the process and wait until it is gone."""
        self.kill()
        await self._process.wait()


class Jobs:
    """The workers of all pages, up to a limit of each kind."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._workers: dict[tuple[str, str], Worker] = {}
        self._most: dict[str, int] = dict.fromkeys(("rating", "audit", "compare"), limits.rating_workers)
        self._most |= {"paper": limits.paper_jobs, "figure": limits.figure_workers}

    def running(self, kind: str) -> int:
        """Number of workers of a kind."""
        return sum(1 for (_, other), worker in self._workers.items() if other == kind and not worker.ended)

    async def worker(self, page: str, kind: str) -> Worker:
        """Return the page's worker of a kind, started if it has none."""
        key = (page, kind)
        if key in self._workers and self._workers[key].ended:
            del self._workers[key]
        if key not in self._workers:
            if self.running(kind) >= self._most[kind]:
                raise InputError(f"All {self._most[kind]} places for this kind of work are taken; try again later.")
            self._workers[key] = await Worker.start(kind, self._limits)
        return self._workers[key]

    async def ask(self, page: str, kind: str, task: str, report: Report | None = None, /, **arguments: Any) -> Any:
        """Have a task done by the page's worker, within the time allowed."""
        worker = await self.worker(page, kind)
        seconds = self._limits.paper_seconds if kind == "paper" else self._limits.job_seconds
        try:
            async with asyncio.timeout(seconds):
                return await worker.ask(task, report, **arguments)
        except TimeoutError:
            await self.end(page, kind)
            raise InputError(f"This took longer than {seconds:g} seconds and was stopped.") from None

    async def end(self, page: str, *kinds: str) -> None:
        """End the page's workers, of some kinds or all."""
        keys = [key for key in self._workers if key[0] == page and (not kinds or key[1] in kinds)]
        for key in keys:
            self._workers[key].kill()
        for key in keys:
            await self._workers[key].end()
            self._workers.pop(key, None)

    async def end_all(self) -> None:
        """End everything."""
        for page in {page for page, _ in self._workers}:
            await self.end(page)
