"""Single matches in memory, books and the service, as ratios of one run to others that do the same.

In memory: openskill. Books: plain sqlite3 and psycopg that write one match and the rows of its two sides in a
transaction, and pgbench with a transaction of one insert. Over HTTP: times of forecasts beside matches that are
written, by clients that ask again at once (closed loop) and by clients that ask at moments of their own (open loop).
``KINELO_BENCH_PLAYERS=2000,5000`` tries it out with fewer players.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "service")]
MEMORY = "Single matches in memory: processor time"
BOOKS = "Books: durable matches a second"
HTTP = "The service over HTTP"
PLAYERS = [int(number) for number in os.environ.get("KINELO_BENCH_PLAYERS", "100000,1000000").split(",")]
MATCHES, TURNS = 1000, 3
DAY = "2024-05-01"
SECONDS = 4.0
RATE = 5.0
"""Questions a second of a client that asks at moments of its own."""


def still() -> kn.TeamElo:
    """A rater of which matches share nothing."""
    return kn.TeamElo.classic(k=20, ties=0.3, home_advantage=0.0)


# In memory


def microseconds(work: Callable[[int], object], turns: int = 12, count: int = 200) -> float:
    """Processor time of one call, the least of several turns."""
    found = []
    for turn in range(turns):
        begin = time.process_time()
        for k in range(count):
            work(turn * count + k)
        found.append((time.process_time() - begin) / count)
    return 1e6 * min(found)


def test_single_matches_in_memory(table):
    models = pytest.importorskip("openskill.models")
    rng, names = random.Random(1), [f"P{k}" for k in range(1000)]
    tens = [rng.sample(names, 10) for _ in range(3000)]
    model = models.PlackettLuce()
    theirs = {name: model.rating() for name in names}
    teams = [[ten[:5], ten[5:]] for ten in tens]
    side, rank = kn.TeamElo(), kn.RankElo()
    for ten in tens:
        side.update_one(ten[0], ten[1], "win", date=DAY)
        rank.update_one(ten[:8], date=DAY)

    def rated(groups: list[list[str]]) -> None:
        after = model.rate([[theirs[name] for name in group] for group in groups])
        theirs.update((name, one) for group, ones in zip(groups, after) for name, one in zip(group, ones))

    cases = {
        "update_one, TeamElo, two sides": (
            25, lambda k: side.update_one(tens[k][0], tens[k][1], "win", date=DAY),
            lambda k: rated([[tens[k][0]], [tens[k][1]]])),
        "update_one, RankElo, five against five": (
            100, lambda k: rank.update_one(teams[k], date=DAY), lambda k: rated(teams[k])),
        "update_one, RankElo, eight": (
            120, lambda k: rank.update_one(tens[k][:8], date=DAY), lambda k: rated([[name] for name in tens[k][:8]])),
        "predict_one, RankElo, five against five": (
            40, lambda k: rank.predict_one(teams[k], date=DAY),
            lambda k: model.predict_win([[theirs[name] for name in group] for group in teams[k]])),
    }  # fmt: skip
    for what, (goal, ours, others) in cases.items():
        own, other = microseconds(ours), microseconds(others)
        said = f"{own:.0f} µs, {own / other:.1f} times openskill's ({other:.0f} µs)"
        table(MEMORY).row(what, said, f"{goal} µs", own <= goal)


# Books


def filled(address: str, players: int) -> kn.RatingBook:
    """A book of so many players who have played, of whom rows are made by the database."""
    book = kn.RatingBook(address, still())
    book.update_one("P0", "P1", "win", match_id="first", date=DAY)
    counted = "WITH RECURSIVE count(k) AS (SELECT 2 UNION ALL SELECT k + 1 FROM count WHERE k < ?) SELECT k FROM count"
    with book._database.transaction():
        book._database.run(
            "INSERT INTO slot (kind, name, mean, variance, deviation, games, last_day) "
            f"SELECT 'side', 'P' || k, 1500.0, 40000.0, 200.0, 3, 19800 FROM ({counted}) AS players", (players - 1,)
        )  # fmt: skip
    return book


@pytest.fixture(scope="module")
def copy_of(tmp_path_factory):
    """Copies of books, and of plain files, with so many players: each is made once."""
    folder = tmp_path_factory.mktemp("filled")

    def copy(make: Callable[[str, int], object], players: int, to: Path) -> str:
        kept = folder / f"{make.__name__}-{players}"
        if not kept.exists():
            make(str(kept), players).close()  # type: ignore[attr-defined]
        return shutil.copy(kept, to)

    return copy


def pairs(players: int, seed: int, matches: int = MATCHES) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    return [(f"P{a}", f"P{b}") for a, b in (rng.sample(range(players), 2) for _ in range(matches))]


def per_second(work: Callable[[int, str, str], object], meetings: list[tuple[str, str]]) -> float:
    begin = time.perf_counter()
    for k, (home, away) in enumerate(meetings):
        work(k, home, away)
    return len(meetings) / (time.perf_counter() - begin)


def opened(path: str, synchronous: str) -> sqlite3.Connection:
    one = sqlite3.connect(path, isolation_level=None)
    one.execute("PRAGMA journal_mode = WAL")
    one.execute(f"PRAGMA synchronous = {synchronous}")
    return one


def plain_sqlite(path: str, players: int) -> sqlite3.Connection:
    one = opened(path, "NORMAL")
    one.execute("CREATE TABLE match (id TEXT PRIMARY KEY, date TEXT, home TEXT, away TEXT, result REAL)")
    one.execute("CREATE TABLE slot (name TEXT PRIMARY KEY, mean REAL, deviation REAL, games INTEGER, last INTEGER)")
    one.execute("BEGIN")
    one.executemany("INSERT INTO slot VALUES (?, 1500, 200, 3, 19800)", ((f"P{k}",) for k in range(players)))
    one.execute("COMMIT")
    return one


PLAIN = (
    "INSERT INTO match VALUES ({}, {}, {}, {}, {})",
    "UPDATE slot SET mean = mean + 1, deviation = 199, games = games + 1, last = 19801 WHERE name = {}",
)


def plainly(one, mark: str) -> Callable[[int, str, str], None]:
    """What anybody would write: a match and two rows."""
    insert, update = (sql.replace("{}", mark) for sql in PLAIN)

    def write(k: int, home: str, away: str) -> None:
        one.execute("BEGIN")
        one.execute(insert, (f"m{k}", DAY, home, away, 1.0))
        for name in sorted((home, away)):
            one.execute(update, (name,))
        one.execute("COMMIT")

    return write


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
@pytest.mark.parametrize("players", PLAYERS)
def test_one_match_at_a_time_into_sqlite(players, synchronous, tmp_path, table, copy_of):
    book = kn.RatingBook(copy_of(filled, players, tmp_path / "book.db"), synchronous=synchronous)
    plain = plainly(opened(copy_of(plain_sqlite, players, tmp_path / "plain.db"), synchronous), "?")
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(TURNS):
        meetings = pairs(players, turn)
        ours.append(per_second(
            lambda k, a, b, turn=turn: book.update_one(a, b, "win", match_id=f"{turn}-{k}", date=DAY), meetings
        ))  # fmt: skip
        theirs.append(per_second(lambda k, a, b, turn=turn: plain(10 * MATCHES * turn + k, a, b), meetings))
    ratio = max(ours) / max(theirs)
    what = f"update_one into SQLite, {players:,} players, synchronous={synchronous}"
    said = f"{max(ours):,.0f} a second, {ratio:.2f} of plain sqlite3 ({max(theirs):,.0f})"
    table(BOOKS).row(what, said, "0.5", ratio >= 0.5)
    assert len(book) == TURNS * MATCHES + 1


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
def test_a_thousand_matches_as_a_list_into_sqlite(synchronous, tmp_path, table, copy_of):
    """One transaction of many, as plain sqlite3 would write it."""
    players = PLAYERS[0]
    book = kn.RatingBook(copy_of(filled, players, tmp_path / "book.db"), synchronous=synchronous)
    one = opened(copy_of(plain_sqlite, players, tmp_path / "plain.db"), synchronous)
    insert, update = (sql.replace("{}", "?") for sql in PLAIN)
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(TURNS):
        meetings = [(f"{turn}-{k}", a, b) for k, (a, b) in enumerate(pairs(players, turn))]
        begin = time.perf_counter()
        book.add([{"match_id": k, "home": a, "away": b, "result": 1, "date": DAY} for k, a, b in meetings])
        ours.append(MATCHES / (time.perf_counter() - begin))
        begin = time.perf_counter()
        one.execute("BEGIN")
        one.executemany(insert, [(k, DAY, a, b, 1.0) for k, a, b in meetings])
        one.executemany(update, [(name,) for _, a, b in meetings for name in (a, b)])
        one.execute("COMMIT")
        theirs.append(MATCHES / (time.perf_counter() - begin))
    what = f"add of a list of {MATCHES:,} into SQLite, {players:,} players, synchronous={synchronous}"
    said = f"{max(ours):,.0f} a second, {max(ours) / max(theirs):.2f} of plain sqlite3 ({max(theirs):,.0f})"
    table(BOOKS).row(what, said, "", None)
    assert len(book) == TURNS * MATCHES + 1


def test_contests_one_at_a_time_into_sqlite(tmp_path, table):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=0.0, regression=0.1))
    rng, names, found = random.Random(1), [f"P{k}" for k in range(PLAYERS[0])], []
    for turn in range(TURNS):
        tens = [rng.sample(names, 10) for _ in range(MATCHES // 4)]
        begin = time.perf_counter()
        for k, ten in enumerate(tens):
            book.update_one([ten[:5], ten[5:]], match_id=f"{turn}-{k}", date=DAY)
        found.append(len(tens) / (time.perf_counter() - begin))
    table(BOOKS).row(
        "update_one, five against five, into SQLite, synchronous=FULL", f"{max(found):,.0f} a second", "", None
    )


def test_opening_many_players(tmp_path, table, copy_of):
    """In a process of its own; VmHWM, since ru_maxrss begins with the memory of the process that started it."""
    players = PLAYERS[-1]
    path = copy_of(filled, players, tmp_path / "book.db")
    code = ("import re, sys, time, kinelo as kn\n"
            "kn.RatingBook, kn.TeamElo\n"
            "begin = time.perf_counter()\n"
            "book = kn.RatingBook(sys.argv[1])\n"
            "took = time.perf_counter() - begin\n"
            "book.update_one('P5', 'P7', 'win', match_id=sys.argv[2], date='2024-05-01')\n"
            "book.predict_one('P5', 'P7')\n"
            "status = open('/proc/self/status').read()\n"
            "print(took, int(re.search(r'VmHWM:\\s+(\\d+)', status).group(1)) / 1024)\n")  # fmt: skip
    answers = []
    for turn in range(4):
        command = [sys.executable, "-c", code, path, f"turn {turn}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answers.append(tuple(map(float, done.stdout.split())))
    took, memory = (min(values) for values in zip(*answers[1:]))  # the first may compile
    table(BOOKS).row(f"opening a book of {players:,} players", f"{1e3 * took:.0f} ms", "100 ms", took < 0.1)
    said = f"{memory:.0f} MB"
    table(BOOKS).row("memory of a program that has opened it, written and forecast", said, "250 MB", memory < 250)


@pytest.fixture(scope="module")
def durable():
    """A PostgreSQL server that waits for its disk."""
    pytest.importorskip("psycopg")
    from postgres_server import Server, server_binaries

    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed")
    one = Server(binaries, durable=True)
    yield one
    one.stop("immediate")


def test_one_and_four_writers_into_postgresql(durable, table):
    import psycopg

    players, matches, speeds = PLAYERS[0], MATCHES // 2, []
    for writers in (1, 4):
        found = {}
        for what in ("book", "plain"):
            address = durable.address()
            if what == "book":
                filled(address, players).close()
            else:
                _plain_tables(psycopg, address, players)
            code = WRITER.format(what=what, address=address, matches=matches, players=players)
            children = [subprocess.Popen([sys.executable, "-c", code, str(who)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True) for who in range(writers)]  # fmt: skip
            for child in children:
                child.stdout.readline()
            begin = time.perf_counter()
            for child in children:
                child.stdin.write("go\n")
                child.stdin.flush()
            for child in children:
                assert child.wait() == 0
            found[what] = writers * matches / (time.perf_counter() - begin)
        simplest = _pgbench(durable, writers)
        ratio = found["book"] / found["plain"]
        said = f"{found['book']:,.0f} a second, {ratio:.2f} of plain psycopg ({found['plain']:,.0f}), "
        said += (f"{found['book'] / simplest:.2f} of pgbench with one insert ({simplest:,.0f})" if simplest
                 else "pgbench is not installed")  # fmt: skip
        table(BOOKS).row(f"update_one into PostgreSQL, {writers} writers", said, "0.5", ratio >= 0.5)
        speeds.append(found["book"])
    gain = speeds[1] / speeds[0]
    table(BOOKS).row("four writers against one", f"{gain:.2f} times", "1.2", gain >= 1.2)


def _pgbench(server, clients: int) -> float:
    """Transactions a second of pgbench with the simplest transaction that is durable: one insert of two numbers."""
    beside = os.pathsep.join([str(server.binaries), str((server.binaries / "postgres").resolve().parent)])
    program = shutil.which("pgbench", path=beside) or shutil.which("pgbench")
    if program is None:
        return 0.0
    import psycopg

    address = server.address()
    with psycopg.connect(address, autocommit=True) as one:
        one.execute("CREATE TABLE simplest (client INTEGER, number INTEGER)")
    insert = "\\set number random(1, 1000000)\nINSERT INTO simplest VALUES (:client_id, :number);\n"
    command = [program, "-n", "-f", "-", "-c", str(clients), "-j", str(min(clients, 2)), "-T", "4", address]
    done = subprocess.run(command, input=insert, check=True, capture_output=True, text=True)
    return float(re.findall(r"tps = ([\d.]+)", done.stdout)[-1])


def _plain_tables(psycopg, address: str, players: int) -> None:
    with psycopg.connect(address, autocommit=True) as one:
        one.execute(
            "CREATE TABLE match (id TEXT PRIMARY KEY, date DATE, home TEXT, away TEXT, result DOUBLE PRECISION)"
        )
        one.execute("CREATE TABLE slot (name TEXT PRIMARY KEY, mean DOUBLE PRECISION, deviation DOUBLE PRECISION, "
                    "games BIGINT, last BIGINT)")  # fmt: skip
        one.execute(f"INSERT INTO slot SELECT 'P' || k, 1500, 200, 3, 19800 FROM generate_series(0, {players - 1}) k")


WRITER = """
import random, sys
who = int(sys.argv[1])
rng = random.Random(who)
meetings = [(f"P{{a}}", f"P{{b}}") for a, b in (rng.sample(range({players}), 2) for _ in range({matches}))]
if {what!r} == "book":
    import kinelo as kn
    book = kn.RatingBook({address!r})
    work = lambda k, a, b: book.update_one(a, b, "win", match_id=f"{{who}}-{{k}}", date="2024-05-01")
    book.predict_one("P0", "P1")
    work("warm", "P0", "P1")
else:
    import psycopg
    one = psycopg.connect({address!r}, autocommit=True)
    def work(k, a, b):
        one.execute("BEGIN")
        one.execute("INSERT INTO match VALUES (%s, '2024-05-01', %s, %s, 1.0)", (f"{{who}}-{{k}}", a, b))
        for name in sorted((a, b)):
            one.execute("UPDATE slot SET mean = mean + 1, deviation = 199, games = games + 1, last = 19801 "
                        "WHERE name = %s", (name,))
        one.execute("COMMIT")
print("ready", flush=True)
sys.stdin.readline()
for k, (a, b) in enumerate(meetings):
    work(k, a, b)
"""


# Over HTTP


async def asked(reader, writer, path: str, body: dict[str, object]) -> None:
    """Ask a question on a connection, and wait for its answer."""
    said = json.dumps(body).encode()
    writer.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                 b"\r\n" % (path.encode(), len(said)) + said)  # fmt: skip
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE).group(1))
    answer = await reader.readexactly(length)
    assert head.startswith(b"HTTP/1.1 200"), answer


async def client(
    port: int, who: int, rate: float, begin: float, players: int, took: dict[str, list[float]], writes: int = 5,
    seconds: float = SECONDS,
) -> None:  # fmt: skip
    """Ask on one connection: of five questions (or so many), one writes a match and the others ask for forecasts.

    Without a rate each question follows the answer to the one before it. With one, questions come at random moments,
    so many a second, and their time counts from that moment, also where the answer before it was still awaited.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    rng, k, moment = random.Random(who), 0, begin
    while True:
        moment = moment + rng.expovariate(rate) if rate else max(time.perf_counter(), begin)
        if moment >= begin + seconds:
            break
        await asyncio.sleep(max(moment - time.perf_counter(), 0.0)) if rate else None
        home, away = (f"P{number}" for number in rng.sample(range(players), 2))
        path, body = "/forecast", {"home": home, "away": away}
        if k % writes == who % writes:
            path, body = "/matches", {**body, "match_id": f"{who}-{k}-{begin}", "result": 1, "date": DAY}
        await asked(reader, writer, path, body)
        took[path].append(time.perf_counter() - moment)
        k += 1
    writer.close()


async def clients(
    port: int, count: int, players: int, rate: float = 0.0, writes: int = 5, seconds: float = SECONDS
) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {"/forecast": [], "/matches": []}
    begin = time.perf_counter() + 0.1
    each = (client(port, who, rate, begin, players, took, writes, seconds) for who in range(count))
    await asyncio.gather(*each)
    return took


def warm(port: int, players: int, writes: int = 2) -> None:
    """Ask until every worker answers, and has compiled what it needs."""
    until = time.monotonic() + 120.0
    while True:
        try:
            asyncio.run(clients(port, 16, players, writes=writes))
            return
        except (OSError, asyncio.IncompleteReadError):
            assert time.monotonic() < until
            time.sleep(0.3)


PEER = """
import threading
from contextlib import asynccontextmanager

import anyio
import psycopg
from fastapi import FastAPI
from pydantic import BaseModel


@asynccontextmanager
async def living(app):
    anyio.to_thread.current_default_thread_limiter().total_tokens = 2  # connections of each worker
    yield


app, own = FastAPI(lifespan=living), threading.local()


class Match(BaseModel):
    home: str
    away: str
    match_id: str = ""
    result: float = 0.0
    date: str = ""


def connection():
    if not hasattr(own, "connection"):
        own.connection = psycopg.connect({address!r}, autocommit=True)
    return own.connection


def ratings(one, match, lock=""):
    rows = one.execute("SELECT name, mean FROM slot WHERE name = ANY(%s) ORDER BY name" + lock,
                       ([match.home, match.away],)).fetchall()
    known = dict(rows)
    return known[match.home], known[match.away]


@app.post("/forecast")
def forecast(match: Match):
    home, away = ratings(connection(), match)
    return {{"win": 1.0 / (1.0 + 10.0 ** ((away - home) / 400.0))}}


@app.post("/matches")
def played(match: Match):
    one = connection()
    with one.transaction():
        home, away = ratings(one, match, " FOR UPDATE")
        new = one.execute("INSERT INTO match VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1",
                          (match.match_id, match.date, match.home, match.away, match.result)).fetchone()
        if new is not None:
            step = 24.0 * (match.result - 1.0 / (1.0 + 10.0 ** ((away - home) / 400.0)))
            for name, mean in sorted([(match.home, home + step), (match.away, away - step)]):
                one.execute("UPDATE slot SET mean = %s, games = games + 1 WHERE name = %s", (mean, name))
    return {{"new": int(new is not None)}}
"""
"""A service with plain Elo and the same durability: what one writes in an afternoon."""


PORT = 8765


def plain_service(folder: Path, address: str) -> subprocess.Popen:
    """The plain service with four workers."""
    (folder / "plain_service.py").write_text(PEER.format(address=address), encoding="utf-8")
    command = [sys.executable, "-m", "uvicorn", "plain_service:app", "--port", str(PORT), "--workers", "4",
               "--log-level", "error", "--no-access-log"]  # fmt: skip
    return subprocess.Popen(command, cwd=folder)


def test_live_load_beside_a_plain_service(durable, tmp_path, table):
    """Both with four workers on PostgreSQL, in pairs of short rounds; who asks again at once."""
    import psycopg
    from running_service import Service

    players = PLAYERS[0]
    ours, theirs = durable.address(), durable.address()
    filled(ours, players).close()
    _plain_tables(psycopg, theirs, players)
    service, peer = Service(tmp_path, ours, "--workers", "4"), plain_service(tmp_path, theirs)
    try:
        processes = {"ours": service.process.pid, "plain": peer.pid}
        ports = {"ours": int(service.address.rpartition(":")[2]), "plain": PORT}
        for one in ports.values():
            warm(one, players)
        for count in (1, 8, 32):
            for what, writes in (("/forecast", 10**9), ("/matches", 1)):
                found: dict[str, list[float]] = {name: [] for name in ports}
                spent = dict.fromkeys(ports, 0.0)
                for turn in range(PAIRS):
                    for name, one in list(ports.items())[:: 1 - 2 * (turn % 2)]:
                        before = processor_time(processes[name])
                        took = asyncio.run(clients(one, count, players, writes=writes, seconds=PAIR_SECONDS))
                        spent[name] += processor_time(processes[name]) - before
                        found[name].append(len(took[what]) / PAIR_SECONDS)
                ratios = sorted(our / their for our, their in zip(found["ours"], found["plain"]))
                ratio, (ours_us, plain_us) = ratios[PAIRS // 2], (
                    1e6 * spent[name] / (sum(found[name]) * PAIR_SECONDS) for name in ("ours", "plain")
                )  # fmt: skip
                said = (
                    f"{sorted(found['ours'])[PAIRS // 2]:,.0f} a second, {ratio:.2f} of a plain service (of {PAIRS} "
                    f"pairs {ratios[1]:.2f} to {ratios[-2]:.2f} without the outermost); {ours_us:,.0f} µs of processor "
                    f"time, {plain_us:,.0f} of the plain one"
                )
                who = "1 client" if count == 1 else f"{count} clients"
                table(HTTP).row(f"POST {what}, {who}, four workers, PostgreSQL", said, "0.8", ratio >= 0.8)
    finally:
        peer.terminate()
        service.terminate()


PAIRS, PAIR_SECONDS = 9, 1.2
DAY_SECONDS, DAY_CLIENTS = 18.0, 12
"""Seconds of the day, and connections of those who send matches, and of those who ask for forecasts: on one connection
who asks would wait for the match that was sent before.
"""
MATCHES_A_SECOND = {0: 200.0, 2: 120.0}
"""In the peak of the recorded day, its middle third, by how many come late; a third of them before and after."""


def played(address: str, players: int) -> kn.RatingBook:
    """A book in which everybody has played once, which can be rated again."""
    book, order = kn.RatingBook(address, still()), random.Random(5).sample(range(players), players)
    sides = {side: [f"P{name}" for name in order[at::2]] for at, side in enumerate(("home", "away"))}
    book.add(kn.read_matches(sides | {
        "match_id": [f"begin {k}" for k in range(players // 2)], "result": [1, 0] * (players // 4),
        "date": [str(np.datetime64("2024-04-01") + k * 25 // (players // 2)) for k in range(players // 2)],
    }))  # fmt: skip
    return book


def recorded_day(players: int, late: int) -> list[tuple[float, str, dict[str, object]]]:
    """What is sent at which second: matches as they end, with a peak, of which a twentieth is sent twice; two forecasts
    for each; and so many that come late, and as many that are put right.
    """
    rng, moment, sent = random.Random(6), 0.0, []
    while moment < DAY_SECONDS:
        moment += rng.expovariate(MATCHES_A_SECOND[late] / (1.0 if 1 / 3 < moment / DAY_SECONDS < 2 / 3 else 3.0))
        home, away = (f"P{name}" for name in rng.sample(range(players), 2))
        match = {"home": home, "away": away, "match_id": f"m{len(sent)}", "result": rng.choice([0, 1]), "date": DAY}
        sent.append((moment, "/matches", match))
        if rng.random() < 0.05:
            sent.append((moment + rng.random(), "/matches", match))
        sent += [(moment + rng.random(), "/forecast", {"home": home, "away": f"P{rng.randrange(players)}"})] * 2
    for k in range(late):
        at, _, match = rng.choice([one for one in sent if one[1] == "/matches" and one[0] < DAY_SECONDS / 2])
        sent.append((at + DAY_SECONDS / 3, "/matches", match | {"result": 0.5}))
        sent.append((at + DAY_SECONDS / 4, "/matches", match | {"match_id": f"late {k}", "date": "2024-04-28"}))
    return sorted(sent, key=lambda one: one[0])


async def sent_by_many(port: int, sent: list[tuple[float, str, dict[str, object]]]) -> dict[str, list[float]]:
    """Seconds from the moment at which each was to be sent to its answer."""
    took: dict[str, list[float]] = {"/forecast": [], "/matches": []}
    waiting = {path: iter([one for one in sent if one[1] == path]) for path in took}
    begin = time.perf_counter() + 0.2

    async def one(path: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for moment, _, body in waiting[path]:
            await asyncio.sleep(max(begin + moment - time.perf_counter(), 0.0))
            await asked(reader, writer, path, body)
            took[path].append(time.perf_counter() - begin - moment)
        writer.close()

    await asyncio.gather(*(one(path) for path in took for _ in range(DAY_CLIENTS)))
    return took


@pytest.mark.parametrize("late", [0, 2])
def test_a_recorded_day(durable, tmp_path, table, late):
    """Four workers on PostgreSQL; none may be lost or counted twice. Processor time says what a machine would do that
    has its two cores for service and database."""
    import psycopg
    from running_service import Service

    address = durable.address()
    players, fill = (PLAYERS[0], played) if late else (PLAYERS[-1], filled)
    fill(address, players).close()
    sent, what = recorded_day(players, late), f"a recorded day, {players:,} players, four workers, PostgreSQL"
    service = Service(tmp_path, address, "--workers", "4")
    try:
        port = int(service.address.rpartition(":")[2])
        warm(port, players)
        with kn.RatingBook(address) as book:
            before = len(book)
        _day(durable, service.process, port, sent, what + f", {late} late and {late} put right" * bool(late), table)
    finally:
        service.terminate()
    book = kn.RatingBook(address)
    assert len(book) == before + len({str(body["match_id"]) for _, path, body in sent if path == "/matches"})
    if late:
        assert book.check() == []
        return
    plain = durable.address()
    _plain_tables(psycopg, plain, players)
    peer = plain_service(tmp_path, plain)
    try:
        warm(PORT, players)
        _day(durable, peer, PORT, sent, f"{what}, the plain service", table)
    finally:
        peer.terminate()


def _day(durable, process: subprocess.Popen, port: int, sent: list, what: str, table) -> None:
    """Send a day to a service, and say how long answers took."""
    cluster = int((durable.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
    processes = {"service": process.pid, "PostgreSQL": cluster}
    before = {name: processor_time(one) for name, one in processes.items()}
    took = asyncio.run(sent_by_many(port, sent))
    spent = {name: 1e6 * (processor_time(one) - before[name]) for name, one in processes.items()}
    for path in took:
        half, most = (quantile(took[path], part) for part in (0.5, 0.99))
        said = f"p50 {half:.0f} ms, p99 {most:.0f} ms, {len(took[path]) / DAY_SECONDS:,.0f} a second; of every request "
        said += " and ".join(f"{time / len(sent):,.0f} µs of {name}" for name, time in spent.items())
        goal = "p99 below 20 ms" if path == "/forecast" and not what.endswith("service") else ""
        table(HTTP).row(f"POST {path}, {what}", said, goal, most < 20.0 if goal else None)


def quantile(values: list[float], part: float) -> float:
    return 1e3 * sorted(values)[min(int(part * len(values)), len(values) - 1)]


def processor_time(process: int) -> float:
    """Seconds of processor time that a process has taken, and those that it started."""
    folder = Path(f"/proc/{process}")
    try:
        fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        children = (folder / "task" / str(process) / "children").read_text(encoding="utf-8").split()
    except FileNotFoundError:  # PostgreSQL ends some of its own
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_time(int(child)) for child in children)


def test_forecasts_beside_matches_over_http(tmp_path, table, copy_of):
    pytest.importorskip("fastapi")
    from running_service import Service

    players = PLAYERS[0]
    service = Service(tmp_path, copy_of(filled, players, tmp_path / "book.db"))
    try:
        port = int(service.address.rpartition(":")[2])
        asyncio.run(clients(port, 2, players))
        for rate in (0.0, RATE):
            for count in (1, 16, 64):
                before = processor_time(service.process.pid)
                took = asyncio.run(clients(port, count, players, rate))
                spent, asked_for = processor_time(service.process.pid) - before, sum(map(len, took.values()))
                way = f"asking {rate:g} times a second each" if rate else "asking again at once"
                for what, goal in (("/forecast", "p99 below 10 ms"), ("/matches", "")):
                    half, most = quantile(took[what], 0.5), quantile(took[what], 0.99)
                    said = f"p50 {half:.1f} ms, p99 {most:.1f} ms, {len(took[what]) / SECONDS:,.0f} a second"
                    if goal:
                        said += (
                            f"; all {asked_for / SECONDS:,.0f} a second, {1e6 * spent / asked_for:.0f} µs of the server"
                        )
                    who = "1 client" if count == 1 else f"{count} clients"
                    met = most < 10.0 if goal else None
                    table(HTTP).row(f"POST {what}, {who} {way}, {players:,} players", said, goal, met)
    finally:
        service.terminate()
