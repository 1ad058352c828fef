"""Books: durable matches a second, opening and memory, as ratios of one run to plain SQLite and plain psycopg.

The plain ones write the same: one match and the two rows of its sides, in a transaction.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import kinelo as kn
from kinelo.raters.slots import SlotRow

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
SECTION = "Books: durable matches a second"
MATCHES = 1000
DAY = "2024-05-01"


def still() -> kn.TeamElo:
    """A rater of which matches share nothing."""
    return kn.TeamElo.classic(k=20, ties=0.3, home_advantage=0.0)


def pairs(players: int, seed: int = 1) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    return [(f"P{a}", f"P{b}") for a, b in (rng.sample(range(players), 2) for _ in range(MATCHES))]


def filled(address: str, players: int, **how: str) -> kn.RatingBook:
    """A book of so many players who have played."""
    book = kn.RatingBook(address, still(), **how)
    book.update_one("P0", "P1", "win", match_id="first", date=DAY)
    with book._database.transaction():
        book._store.write([SlotRow("side", f"P{k}", 1500.0, 40000.0, 3, 19800) for k in range(2, players)])
    return book


def per_second(work: Callable[[int, str, str], object], meetings: list[tuple[str, str]]) -> float:
    begin = time.perf_counter()
    for k, (home, away) in enumerate(meetings):
        work(k, home, away)
    return len(meetings) / (time.perf_counter() - begin)


def plain_sqlite(path: Path, players: int, synchronous: str) -> sqlite3.Connection:
    one = sqlite3.connect(path, isolation_level=None)
    one.execute("PRAGMA journal_mode = WAL")
    one.execute(f"PRAGMA synchronous = {synchronous}")
    one.execute("CREATE TABLE match (id TEXT PRIMARY KEY, date TEXT, home TEXT, away TEXT, result REAL)")
    one.execute("CREATE TABLE slot (name TEXT PRIMARY KEY, mean REAL, deviation REAL, games INTEGER, last INTEGER)")
    one.execute("BEGIN")
    one.executemany("INSERT INTO slot VALUES (?, 1500, 200, 3, 19800)", [(f"P{k}",) for k in range(players)])
    one.execute("COMMIT")
    return one


def plainly(one, mark: str) -> Callable[[int, str, str], None]:
    """What anybody would write: a match and two rows."""
    insert = f"INSERT INTO match VALUES ({', '.join([mark] * 5)})"
    update = f"UPDATE slot SET mean = mean + 1, deviation = 199, games = games + 1, last = 19801 WHERE name = {mark}"

    def write(k: int, home: str, away: str) -> None:
        one.execute("BEGIN")
        one.execute(insert, (f"m{k}", DAY, home, away, 1.0))
        for name in sorted((home, away)):
            one.execute(update, (name,))
        one.execute("COMMIT")

    return write


@pytest.mark.parametrize("synchronous", ["FULL", "NORMAL"])
@pytest.mark.parametrize("players", [100_000, 1_000_000])
def test_one_match_at_a_time_into_sqlite(players, synchronous, tmp_path, table):
    book = filled(str(tmp_path / "book.db"), players, synchronous=synchronous)
    plain = plainly(plain_sqlite(tmp_path / "plain.db", players, synchronous), "?")
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(3):
        meetings = pairs(players, turn)
        ours.append(per_second(
            lambda k, a, b, turn=turn: book.update_one(a, b, "win", match_id=f"{turn}-{k}", date=DAY), meetings
        ))  # fmt: skip
        theirs.append(per_second(lambda k, a, b, turn=turn: plain(10 * MATCHES * turn + k, a, b), meetings))
    ratio = max(ours) / max(theirs)
    what = f"update_one into SQLite, {players:,} players, synchronous={synchronous}"
    said = f"{max(ours):,.0f} a second, {ratio:.2f} of plain sqlite3 ({max(theirs):,.0f})"
    table(SECTION).row(what, said, "0.5", ratio >= 0.5)
    assert len(book) == 3 * MATCHES + 1


def test_opening_a_million_players(tmp_path, table):
    filled(str(tmp_path / "book.db"), 1_000_000).close()
    code = ("import sys, time, resource, kinelo as kn\n"
            "kn.RatingBook, kn.TeamElo\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "begin = time.perf_counter()\n"
            "book = kn.RatingBook(sys.argv[1])\n"
            "took = time.perf_counter() - begin\n"
            "print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "book.db")], capture_output=True, text=True)
    took, memory = map(float, done.stdout.split())
    fast, small = took < 0.1, memory < 250
    table(SECTION).row("opening a book of 1,000,000 players", f"{1e3 * took:.0f} ms", "100 ms", fast)
    table(SECTION).row("memory of the program then", f"{memory:.0f} MB", "250 MB", small)


def test_one_and_four_writers_into_postgresql(table):
    psycopg = pytest.importorskip("psycopg")
    from postgres_server import Server, server_binaries

    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed")
    server, speeds = Server(binaries, durable=True), []
    try:
        for writers in (1, 4):
            found = {}
            for what in ("book", "plain"):
                address = server.address()
                if what == "book":
                    filled(address, 100_000).close()
                else:
                    _plain_tables(psycopg, address)
                code = WRITER.format(what=what, address=address, matches=MATCHES // 2)
                children = [subprocess.Popen([sys.executable, "-c", code, str(who)], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, text=True) for who in range(writers)]  # fmt: skip
                for child in children:
                    child.stdout.readline()
                begin = time.perf_counter()
                for child in children:
                    child.stdin.write("go\n")
                    child.stdin.flush()
                for child in children:
                    child.wait()
                found[what] = writers * (MATCHES // 2) / (time.perf_counter() - begin)
            ratio = found["book"] / found["plain"]
            said = f"{found['book']:,.0f} a second, {ratio:.2f} of plain psycopg ({found['plain']:,.0f})"
            table(SECTION).row(f"update_one into PostgreSQL, {writers} writers", said, "0.5", ratio >= 0.5)
            speeds.append(found["book"])
        gain = speeds[1] / speeds[0]
        table(SECTION).row("four writers against one", f"{gain:.2f} times", "1.2", gain >= 1.2)
    finally:
        server.stop("immediate")


def _plain_tables(psycopg, address: str) -> None:
    with psycopg.connect(address, autocommit=True) as one:
        one.execute(
            "CREATE TABLE match (id TEXT PRIMARY KEY, date DATE, home TEXT, away TEXT, result DOUBLE PRECISION)"
        )
        one.execute("CREATE TABLE slot (name TEXT PRIMARY KEY, mean DOUBLE PRECISION, deviation DOUBLE PRECISION, "
                    "games BIGINT, last BIGINT)")  # fmt: skip
        one.execute("INSERT INTO slot SELECT 'P' || k, 1500, 200, 3, 19800 FROM generate_series(0, 99999) AS k")


WRITER = """
import random, sys
who = int(sys.argv[1])
rng = random.Random(who)
meetings = [(f"P{{a}}", f"P{{b}}") for a, b in (rng.sample(range(100_000), 2) for _ in range({matches}))]
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
