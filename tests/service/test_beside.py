"""What a service leaves to a process beside it: what would keep forecasts waiting, with the same book at the end."""

from __future__ import annotations

import gc
import os
import random
import signal
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.client import HTTPException
from multiprocessing import Pipe, active_children, parent_process
from multiprocessing.connection import Client
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from running_service import Service

import kinelo as kn
from kinelo.book import carrying
from kinelo.book.database import UnreachableError
from kinelo.errors import InputError
from kinelo.service import beside
from kinelo.service.beside import Beside, ask_beside
from patience import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
NAMES = [f"N{k}" for k in range(12)]
LATE = {"match_id": "late", "home": "N3", "away": "N7", "result": 1, "date": "2024-03-05"}


def rater() -> kn.TeamElo:
    return kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0)


def begun(address: str, matches: int = 40) -> kn.RatingBook:
    """A book of so many matches on twenty days."""
    rng, book = random.Random(4), kn.RatingBook(address, rater())
    sides = [rng.sample(NAMES, 2) for _ in range(matches)]
    book.add(kn.read_matches({
        "match_id": [f"m{k}" for k in range(matches)], "home": [one[0] for one in sides],
        "away": [one[1] for one in sides], "result": [k % 3 / 2 for k in range(matches)],
        "date": [str(np.datetime64("2024-03-01") + k * 20 // matches) for k in range(matches)],
    }))  # fmt: skip
    return book


def held(book: kn.RatingBook) -> list[list[tuple]]:
    """All that stands in a book, but for the numbers by which a server counts."""
    questions = (
        "SELECT kind, name, mean, variance, games, last_day, more FROM slot ORDER BY name",
        "SELECT match_id, CAST(date AS TEXT), home, away, result, weight, place FROM match ORDER BY match_id",
        "SELECT name, value FROM common ORDER BY name",
        "SELECT key FROM about ORDER BY key",
        "SELECT number, CAST(date AS TEXT), matches FROM checkpoint ORDER BY number",
    )
    return [book._database.rows(sql) for sql in questions]


def never(*_: object) -> None:
    raise AssertionError("rated again in this process")


def test_a_large_book_is_rated_again_in_another_process_with_the_same_bytes(address, tmp_path, monkeypatch, capfd):
    """The match that came late, the one put right, a table, and what is taken out; all is committed by the answer."""
    client_of = pytest.importorskip("fastapi.testclient").TestClient
    from kinelo.service.app import create_app, open_book
    from kinelo.service.settings import Settings

    twin, book = begun(str(tmp_path / "twin.db")), begun(address)
    sent = [LATE, LATE | {"result": 0.5}, [LATE | {"match_id": f"list {k}"} for k in range(3)]]
    expected = [(1, 0, 0), (0, 0, 1), (3, 0, 0)]
    for one in sent:
        twin.add(one if isinstance(one, list) else [one])
    twin.remove("m9")
    monkeypatch.setattr(carrying, "LARGE", 39)
    monkeypatch.setattr(carrying.Carrying, "rate_again", never)
    before = set(active_children())
    with Beside(open_book, Settings(address)) as process:
        app = create_app(Settings(address, beside=process.address))
        with client_of(app, base_url="http://localhost") as client:
            for one, counted in zip(sent, expected, strict=True):
                answer = client.post("/matches", json=one)
                assert answer.status_code == 200, answer.text
                assert tuple(answer.json().values()) == counted
            assert len(book) == 44  # committed by the time of the answer
            assert client.post("/matches", json=LATE | {"match_id": "odd", "home": "N7"}).status_code == 422
            assert client.delete("/matches/m9").json()["date"] == "2024-03-05"
            assert client.delete("/matches/m9").status_code == 404
            assert len(set(active_children()) - before) == 1
    assert set(active_children()) <= before and "KineloWarning" not in capfd.readouterr().err
    assert held(book) == held(twin) and book.check() == []


def test_only_what_concerns_all_of_a_large_book_is_left_to_another(tmp_path, monkeypatch):
    book, asked = begun(str(tmp_path / "book.db")), []
    book._carrying.beside = lambda *words: asked.append(words)
    day = {"home": "N1", "away": "N2", "result": 1, "date": "2024-05-01"}
    monkeypatch.setattr(carrying, "LARGE", 41)
    book.update_one(**LATE)  # of 40 matches, and then of 41, which are not more than 41
    book.update_one(**LATE | {"result": 0})
    assert asked == [] and len(book) == 41 and book.remove("m4") == 1
    book.update_one(**day)
    book.update_one(**day | {"home": "new"})
    assert len(book) == 42
    book.update_one(**day, weight=0.5)  # comes last: not a matter of all
    book.add([day | {"home": "N5"}, day | {"home": "N6"}])
    book.update_one(**LATE | {"result": 0})  # known
    assert asked == [] and len(book) == 45
    monkeypatch.setattr(carrying, "LARGE", 44)
    book.update_one(**LATE | {"result": 0.5})
    ((name, matches, alone),) = asked
    assert (name, matches.match_id.tolist(), alone) == ("add", ["late"], True)
    book.erase("N8")
    book.remove(["m1", "m2"])
    assert asked[1:] == [("remove", ["m1", "m2"])] and len(book) == 45
    # A rater that is kept as a whole reads everyone for every match.
    monkeypatch.setattr(carrying, "LARGE", 0)
    book = kn.RatingBook(tmp_path / "whole.db", kn.KalmanElo(walk=30.0, prior_spread=200.0, covariance="full"))
    book._carrying.beside = never
    for k in range(3):
        book.update_one(**day, match_id=f"k{k}")
    assert len(book) == 3


def dies(address: str) -> kn.RatingBook:
    """A book of which the process dies when all is written but the ratings."""
    book = kn.RatingBook(address)
    if parent_process() is not None:
        book._carrying.save = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
    return book


def test_a_process_that_dies_loses_and_doubles_nothing(address, tmp_path, monkeypatch):
    monkeypatch.setattr(carrying, "LARGE", 39)
    twin, book = begun(str(tmp_path / "twin.db")), begun(address)
    before = held(book)
    with Beside(dies, address) as process:
        book._carrying.beside = partial(ask_beside, process.address)
        with pytest.raises(UnreachableError, match=r"has ended.*may count or not: send it again"):
            book.update_one(**LATE)
        assert held(book) == before
        process.opening = kn.RatingBook, address  # the next one
        assert book.update_one(**LATE) == twin.update_one(**LATE) == carrying.Added(1, 0)
        assert book.update_one(**LATE) == carrying.Added(0, 1)
    assert held(book) == held(twin)


def test_a_contest_and_a_refusal_pass_from_process_to_process(tmp_path, monkeypatch):
    (long := tmp_path / ("long" * 30)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))  # too long for the name of a socket
    path = str(tmp_path / "book.db")
    book = kn.RatingBook(path, kn.RankElo())
    for k in range(4):
        book.update_one(["A", "B", "C"], match_id=f"c{k}", date=f"2024-05-0{k + 2}")
    with Beside(kn.RatingBook, path) as beside_it:
        asking = partial(ask_beside, beside_it.address)
        assert stat.S_IMODE(Path(beside_it.address).parent.stat().st_mode) == 0o700  # nobody else may ask
        late = book._contests_said([{"order": ["C", "A"], "date": "2024-05-01"}], ["late"])
        assert beside_it.process is None
        assert asking("add", late, True) == carrying.Added(1, 0)
        with pytest.raises(InputError, match="holds no match 'none'"):
            asking("remove", ["none"])
        process = beside_it.process
        assert asking("remove", ["late"]) == 1 and beside_it.process is process
        own, other = (os.getpriority(os.PRIO_PROCESS, who) for who in (0, process.pid))
        assert other == min(own + 10, 19)  # forecasts come first
    assert not process.is_alive() and not Path(beside_it.address).parent.exists()
    assert book.check() == [] and len(book) == 4


@pytest.fixture
def own(monkeypatch) -> Iterator[list[int]]:
    """What the other process does with itself is undone in this one afterwards; its priority stays."""
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    given: list[int] = []
    monkeypatch.setattr(os, "nice", given.append)
    yield given
    gc.enable()
    for one, handler in handlers.items():
        signal.signal(one, handler)


@pytest.fixture
def listener(tmp_path) -> Iterator[socket.socket]:
    """A socket at ``tmp_path / "ask"``, at which a process may answer."""
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "ask"))
        one.listen()
        yield one


def test_a_process_that_nobody_asks_ends_and_the_next_finds_who_came_meanwhile(own, listener, tmp_path, monkeypatch):
    monkeypatch.setattr(beside, "IDLE_SECONDS", 0.01)
    path = str(tmp_path / "book.db")
    begun(path).close()
    ended, end = Pipe()
    gone = threading.Timer(30.0, end.close)
    gone.start()
    try:
        for match in ("m1", "m2"):
            with Client(str(tmp_path / "ask")) as asking:  # before anybody answers
                asking.send(("remove", ([match],)))
                beside._answer(listener, ended, kn.RatingBook, path)
                assert gone.is_alive()  # it has not waited for that
                assert asking.recv() == 1
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == [signal.SIG_IGN] * 2
        assert own == [10, 10]
    finally:
        gone.cancel()


@pytest.mark.parametrize("asked", [True, False])
def test_a_process_whose_service_is_gone_ends_in_silence_with_its_work_done(own, listener, tmp_path, asked):
    path = str(tmp_path / "book.db")
    begun(path).close()
    ended, end = Pipe()
    if asked:
        with Client(str(tmp_path / "ask")) as asking:
            asking.send(("remove", (["m1"],)))
    end.close()
    beside._answer(listener, ended, kn.RatingBook, path)  # there is nobody to answer
    with kn.RatingBook(path) as book:
        assert len(book) == 40 - asked


def test_a_book_that_cannot_be_opened_is_an_answer(own, listener, tmp_path):
    """Else whoever asks would wait, while one process after the other fails."""
    ended, end = Pipe()
    with Client(str(tmp_path / "ask")) as asking:
        asking.send(("remove", (["m1"],)))
        end.close()
        (tmp_path / "no.db").write_text("no book, but long enough to be looked at" * 40, encoding="utf-8")
        beside._answer(listener, ended, kn.RatingBook, str(tmp_path / "no.db"))
        assert isinstance(asking.recv(), InputError)


def children(process: int) -> set[int]:
    """Processes that a process has started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]) == process:
                found.add(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look processes up in")
def test_a_service_that_is_killed_meanwhile_leaves_no_process_and_a_whole_book(tmp_path):
    pytest.importorskip("fastapi")
    with begun(path := str(tmp_path / "book.db"), carrying.LARGE + 1) as book:
        service = Service(tmp_path, path)
        until = time.monotonic() + PATIENCE
        while len(started := children(service.process.pid)) < 2:  # that, and what Python starts with it, unasked
            assert time.monotonic() < until
            time.sleep(0.01)

        def send() -> None:
            try:
                service.ask("/matches", LATE)
            except (URLError, HTTPException, ConnectionError):
                return

        sending = threading.Thread(target=send)
        sending.start()
        time.sleep(0.2)
        service.kill()
        sending.join(PATIENCE)
        while any(Path(f"/proc/{one}").exists() for one in started):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert len(book) in (carrying.LARGE + 1, carrying.LARGE + 2)
        service.start()
        status, answer = service.ask("/matches", LATE)
        assert status == 200 and answer["new"] + answer["known"] == 1
        assert service.terminate() == 0
        assert len(book) == carrying.LARGE + 2 and book.check() == []
