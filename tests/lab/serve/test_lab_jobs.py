"""Work in processes of its own: answered, limited, taken back, ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import pytest

from kinelo.errors import InputError
from kinelo.lab.explore.controls import Controls
from kinelo.lab.serve.app import TheoryService
from kinelo.lab.serve.jobs import Jobs, Worker
from kinelo.lab.serve.settings import Limits
from patience import PATIENCE


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_work_is_limited_in_number_and_time_and_ends_with_its_page():
    async def story() -> None:
        jobs = Jobs(Limits(rating_workers=1, job_seconds=0.05))
        worker = await jobs.worker("page", "rating")
        process = worker._process.pid
        os.kill(process, signal.SIGSTOP)  # it answers nothing, however fast the machine is
        with pytest.raises(InputError, match="places"):
            await jobs.worker("other", "rating")
        with pytest.raises(InputError, match=r"longer than 0\.05 seconds"):
            await jobs.ask("page", "rating", "sample")
        assert gone(process) and jobs.running("rating") == 0
        again = await jobs.worker("page", "rating")
        await jobs.end("page")
        assert gone(again._process.pid)

    asyncio.run(story())


def test_answers_and_complaints_come_back():
    async def story() -> None:
        worker = await Worker.start("rating", Limits())
        said = []

        async def report(answer) -> None:
            said.append(answer["progress"])

        with pytest.raises(InputError, match="no results yet"):
            await worker.ask("rate", columns={}, rater="team")
        seen = await worker.ask("sample")
        columns = {f["name"]: f["guess"] for t in seen["tables"].values() for f in t["fields"] if f["guess"]}
        rated = await worker.ask("rate", report, columns=columns, rater="glicko")
        assert len(rated["leaderboard"]["rows"]) == 22 and said[0] == "Reading the file"
        await worker.end()
        with pytest.raises(InputError, match="ended before"):
            await worker.ask("sample")

    asyncio.run(story())


def test_questions_that_nobody_waits_for_are_taken_back():
    async def story() -> None:
        worker = await Worker.start("guide", Limits())
        asked, write = [], worker._process.stdin.write
        worker._process.stdin.write = lambda line: (asked.append(json.loads(line)["task"]), write(line))
        first = asyncio.create_task(worker.ask("scenes"))
        await asyncio.sleep(0)
        unheard = [asyncio.create_task(worker.ask("scene", number=1, units="elo")) for _ in range(500)]
        await asyncio.sleep(0)
        for question in unheard:
            question.cancel()
        assert len(await first) == len(await worker.ask("scenes")) == 7
        assert asked == ["scenes", "scenes"]
        await worker.end()

    asyncio.run(story())


def test_a_server_that_dies_takes_its_workers_along():
    async def story() -> int:
        worker = await Worker.start("guide", Limits())
        await worker.ask("scenes")
        worker._process._transport.get_pipe_transport(0).close()  # what the end of the server does to its pipes
        await asyncio.wait_for(worker._process.wait(), PATIENCE)
        return worker._process.pid

    assert gone(asyncio.run(story()))


def test_theory_comes_back_after_its_process_was_killed():
    async def story() -> None:
        theory = TheoryService(Limits())
        first = await theory.foresee(Controls())
        assert first["map"]["slope"] == pytest.approx(0.792, abs=0.002)
        (await theory._workers["foresee"]).kill()
        await (await theory._workers["foresee"])._process.wait()
        assert await theory.foresee(Controls()) == first
        await theory.end()

    asyncio.run(story())
