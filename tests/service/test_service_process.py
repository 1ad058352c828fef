"""`kinelo serve` as a process: it finishes what was begun, and being killed loses and doubles nothing."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest
from running_service import Service
from typer.testing import CliRunner

import kinelo as kn
from kinelo.book.milestones import season_table
from kinelo.cli import app
from kinelo.runtime.listening import listen_at, share
from patience import PATIENCE

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
testing = pytest.importorskip("starlette.testclient")
from kinelo.service.app import create_app  # noqa: E402
from kinelo.service.settings import Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
SIDES = "ABCDEFGHIJ"


def rater() -> kn.TeamElo:
    return kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0)


def row(k: int) -> dict:
    home, away = random.Random(k).sample(SIDES, 2)
    return {"match_id": f"m{k}", "home": home, "away": away, "result": (k % 3) / 2, "date": "2024-05-01"}


def finished_after_sigterm(service: Service, rows: list[dict]) -> dict:
    """The answer to a request of which the service has read the beginning when it is told to end."""
    body = json.dumps(rows).encode()
    host, port = service.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as one:
        one.sendall(b"POST /matches HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))  # fmt: skip
        answer = one.recv(1000)
        assert answer.startswith(b"HTTP/1.1 100")
        service.process.terminate()
        one.sendall(body)
        while part := one.recv(1000):
            answer += part
    assert service.process.wait(PATIENCE) == 0 and b"HTTP/1.1 200" in answer
    return json.loads(answer.rpartition(b"\r\n\r\n")[2])


def kill_again_and_again(folder, address: str, kills: int, seed: int) -> None:
    """Five send matches, which share transactions, to a service that is killed at any moment; who gets no answer sends
    again.

    At the end the service is told to end while a request is under way, which it finishes.
    """
    kn.RatingBook(address, rater()).close()
    service, rng, numbers = Service(folder, address), random.Random(seed), itertools.count()

    def send_on(k: int, acknowledged: list[int]) -> int:
        """The match that was not answered."""
        with contextlib.suppress(URLError, HTTPException, ConnectionError):
            while service.ask("/matches", row(k))[0] == 200:
                acknowledged.append(k)
                k = next(numbers)
        return k

    waiting = [next(numbers) for _ in range(5)]
    for _ in range(kills):
        assert service.ask("/matches", row(waiting[0]))[0] == 200
        threading.Timer(rng.uniform(0.0, 0.15), service.process.kill).start()
        acknowledged: list[int] = []
        with ThreadPoolExecutor(5) as pool:
            waiting = list(pool.map(lambda k, into=acknowledged: send_on(k, into), waiting))
        service.process.wait(PATIENCE)
        with kn.RatingBook(address) as book:
            assert {f"m{k}" for k in acknowledged} <= set(book.matches().match_id.tolist())
        service.start()
    for k in waiting[1:]:
        assert service.ask("/matches", row(k))[0] == 200
    k = next(numbers)
    rows = [row(waiting[0]), *(row(k + n) for n in range(399))]
    assert finished_after_sigterm(service, rows)["new"] >= 399
    book = kn.RatingBook(address)
    assert sorted(book.matches().match_id.tolist()) == sorted(f"m{n}" for n in range(k + 399))
    assert book.check() == []


def test_a_killed_service_has_lost_and_doubled_nothing_and_ends_when_told(tmp_path):
    kill_again_and_again(tmp_path, str(tmp_path / "book.db"), 1, seed=1)


@pytest.mark.long
def test_a_service_killed_many_times_has_lost_and_doubled_nothing(address, tmp_path):
    kill_again_and_again(tmp_path, address, 40, seed=2)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux deals connections out")
def test_connections_are_dealt_out_to_the_processes_of_a_service(monkeypatch):
    """Of 24 connections dealt out by lot, one of two queues has fewer than 3 once in 28,000 times. Of a queue that
    all share the first who looks takes nearly everyone."""
    from kinelo.service.app import own_queue

    first = listen_at("127.0.0.1", 0, "The service")
    held, address = share(first, "The service"), first.getsockname()
    monkeypatch.setattr(Settings, "handed_over", lambda: Settings("book.db", port=address[1]))
    loops, taken = [own_queue() for _ in range(2)], [0, 0]

    def protocol(which):
        taken[which] += 1
        return asyncio.Protocol()

    servers = [
        loop.run_until_complete(loop.create_server(partial(protocol, which), sock=first))
        for which, loop in enumerate(loops)
    ]
    asking = [socket.create_connection(address) for _ in range(24)]
    for loop, server in zip(loops, servers, strict=True):
        loop.run_until_complete(asyncio.sleep(0.05))
        server.close()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
    for one in (first, held, *asking):
        one.close()
    assert sum(taken) == 24 and min(taken) >= 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux deals connections out")
def test_several_processes_have_queues_of_their_own_and_one_has_not(tmp_path, monkeypatch):
    """What uvicorn is started with; meanwhile nobody else begins at this port, and the port is free after that."""
    import uvicorn

    from kinelo.service.app import OWN_QUEUE, own_queue, serve

    settings, asked, module = (
        Settings(str(tmp_path / "b.db"), rater="team", port=0, workers=2),
        [],
        "kinelo.service.app",
    )
    monkeypatch.setattr(Settings, "hand_over", lambda self: asked.append(self.port))

    def run(application, *, fd, workers, loop, **options):
        with pytest.raises(kn.InputError, match=f"port {asked[0]} is already in use"):
            share(socket.socket(fileno=os.dup(fd)), "The service")
        shared = socket.socket(fileno=os.dup(fd)).getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
        asked.append((application, workers, loop, shared))

    monkeypatch.setattr(uvicorn, "run", run)
    serve(settings, lambda address: None)
    assert asked[1:] == [(f"{module}:create", 2, OWN_QUEUE, 1)] and f"{module}:{own_queue.__name__}" == OWN_QUEUE
    first = listen_at("127.0.0.1", asked[0], "The service")
    share(first, "The service").close()
    first.close()


@pytest.mark.long
def test_two_processes_serve_one_book(server, tmp_path):
    address = server.address()
    kn.RatingBook(address, rater()).close()
    service = Service(tmp_path, address, "--workers", "2", KINELO_TOKEN="sixteen letters at least")
    bearer = {"Authorization": "Bearer sixteen letters at least"}
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if service.ask("/health")[0] == 200:
                break
        except (URLError, ConnectionError):
            time.sleep(0.2)
    assert service.ask("/ratings")[0] == 401
    sent, answers = [row(k) for k in range(60)], []

    def send(own: int) -> None:
        for k in range(0, 60, 2):  # each match is sent by two
            answers.append(service.ask("/matches", sent[(k + own // 2) % 60], **bearer))

    senders = [threading.Thread(target=send, args=(own,)) for own in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(PATIENCE)
    assert {status for status, _ in answers} == {200} and len(answers) == 120
    assert sum(said["new"] for _, said in answers) == 60
    assert service.terminate() == 0
    book = kn.RatingBook(address)
    assert len(book) == 60 and book.check() == []


def test_what_cannot_be_served_is_said_in_a_sentence(tmp_path):
    cases = {
        "no rating book nothing.db; name a rater": ["nothing.db"],
        "KINELO_TOKEN": ["nothing.db", "--host", "0.0.0.0"],
        "--port": ["nothing.db", "--port", "70000"],
        "--workers": ["nothing.db", "--workers", "0"],
        "There is no rater": ["nothing.db", "--rater", "best"],
    }
    for word, words in cases.items():
        with pytest.raises(kn.InputError, match=word):
            CliRunner().invoke(app, ["serve", "--port", "0", *words], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_the_rater_of_contests_is_named_as_on_other_commands(tmp_path, monkeypatch):
    """``--rater rank`` starts a book of RankElo, ``--rater team``, which rates both, one of TeamElo."""
    asked = []
    monkeypatch.setattr("kinelo.service.app.serve", lambda settings, announce: asked.append(settings.rater))
    for name in ("rank", "team", "kinelo:RankElo"):
        CliRunner().invoke(app, ["serve", str(tmp_path / "a.db"), "--rater", name], catch_exceptions=False)
    assert asked == ["kinelo:RankElo", "team", "kinelo:RankElo"]


def contest(k: int) -> dict:
    players = random.Random(1000 + k).sample([f"p{n}" for n in range(14)], 6)
    order = [players[:3], players[3:]] if k % 2 else players
    return {"contest_id": f"g{k}", "order": order, "date": f"2024-05-{1 + k // 20:02}"}


class InThisProcess:
    """A service without a process of its own, which answers as one."""

    def __init__(self, folder: Path, book: str) -> None:
        self.book = book
        self.start()

    def start(self) -> None:
        app = create_app(Settings(self.book))
        self.client = testing.TestClient(app, base_url="http://127.0.0.1:8000").__enter__()

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and answer."""
        answer = self.client.get(path) if body is None else self.client.post(path, json=body)
        return answer.status_code, answer.json()

    def kill(self) -> None:
        self.client.__exit__(None, None, None)

    terminate = kill


@pytest.mark.parametrize("service", [InThisProcess, pytest.param(Service, marks=pytest.mark.long)])
def test_two_services_on_one_database_are_one_book(server, tmp_path, service):
    """Contests are sent to both side by side, some to both; one is killed and started again; seasons are closed and
    parameters learnt at one and known to the other; each says what the other says, and all is one run over the book."""
    address = server.address()
    kn.RatingBook(address, kn.RankElo()).close()
    both = [service(tmp_path, address) for _ in range(2)]

    def send(service: Service, rows) -> None:
        for k in rows:
            for _ in range(20):
                try:
                    assert service.ask("/contests", contest(k))[0] == 200
                    break
                except (URLError, HTTPException, ConnectionError):
                    time.sleep(0.2)
            else:
                raise AssertionError(f"contest {k} was never answered")

    def side_by_side(*rows) -> None:
        threads = [threading.Thread(target=send, args=pair) for pair in zip(both, rows)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    def same(path: str) -> dict:
        (status, one), (other_status, other) = (service.ask(path) for service in both)
        assert status == other_status == 200 and one == other
        return one

    try:
        side_by_side(range(0, 60, 2), range(1, 60, 2))
        wish = {"name": "One", "reset": 0.3, "date": "2024-05-03"}
        closed = [service.ask("/seasons", wish) for service in both]
        assert closed[0] == closed[1] and closed[0][0] == 200
        assert same("/seasons")["seasons"] == [closed[0][1]] and same("/seasons/One")["total"] == 14
        both[1].kill()
        killed = threading.Thread(target=both[1].start)
        killed.start()
        send(both[0], range(60, 80))
        killed.join()
        side_by_side(range(80, 110), range(100, 130))
        assert both[1].ask("/refit", {})[0] == 200 and len(same("/milestones")["milestones"]) == 2
        side_by_side(range(130, 140), range(140, 150))
        assert same("/ratings?limit=100")["total"] == 14
        rule = {"bounds": {"Low": 0.5, "High": 0.5}, "by": "share", "placement": 3, "every": 1}
        assert both[0].ask("/tiers", rule)[0] == 200 and same("/leaderboard")["total"] == 14
        assert same("/ratings/p3?history=20&neighbours=2")["history"]
    finally:
        for service in both:
            service.terminate()
    book = kn.RatingBook(address)
    assert len(book) == 150 and book.check() == [] and len(season_table(book, "One")) == 14
