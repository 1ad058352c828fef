"""A service on a read replica answers as the primary does, and says in a sentence that it cannot write."""

from __future__ import annotations

import shutil
import time

import psycopg
import pytest
from running_service import Service

import kinelo as kn
from patience import PATIENCE

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")


@pytest.fixture
def replica(server):
    """A standby of the tests' server that streams, in a folder of its own; the address of a book on it, by name."""
    folder = server.folder / "replica"
    server.call("pg_basebackup", "-D", str(folder), "-h", str(server.folder), "-U", "kinelo", "-R", "-c", "fast")
    sockets = server.folder / "sockets"
    sockets.mkdir()
    if server.as_user:
        shutil.chown(sockets, "postgres")
    options = f"-k {sockets} -c listen_addresses='' -c fsync=off"
    server.call("pg_ctl", "-D", str(folder), "-w", "-t", "240", "-l", str(server.folder / "replica.log"), "-o", options,
                "start")  # fmt: skip
    yield lambda address: address.replace(f"host={server.folder}", f"host={sockets}")
    server.call("pg_ctl", "-D", str(folder), "-w", "-m", "immediate", "stop")


def test_a_replica_answers_as_the_primary_does_and_writes_nothing(server, replica, tmp_path):
    address = server.address()
    book = kn.RatingBook(address, kn.RankElo())
    rows = [{"match_id": f"g{k}", "order": [["A", "B"], ["C", "D"]][:: (-1) ** k], "date": f"2024-05-{k + 1:02}"}
            for k in range(20)]  # fmt: skip
    book.add(rows)
    book.season("One", reset=0.2)

    def caught_up() -> None:
        with psycopg.connect(address) as one:
            (written,) = one.execute("SELECT pg_current_wal_lsn()::text").fetchone()
        with psycopg.connect(replica(address), dbname="postgres") as other:  # the book's may not be there yet
            until = time.monotonic() + PATIENCE
            while not other.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (written,)).fetchone()[0]:
                assert time.monotonic() < until
                time.sleep(0.05)

    caught_up()
    service = Service(tmp_path, replica(address))
    try:
        for _ in range(2):
            names = [row["name"] for row in service.ask("/ratings")[1]["ratings"]]
            assert names == book.ratings_["name"].to_list()
            status, said = service.ask("/forecast", {"entrants": [["A", "B"], ["C", "D"]]})
            assert status == 200
            assert [one["win"] for one in said["entrants"]] == book.predict_one([["A", "B"], ["C", "D"]]).win.tolist()
            assert service.ask("/seasons")[1]["seasons"][0]["name"] == "One"
            book.update_one(["A", "D"], match_id="late", date="2024-06-01")
            caught_up()
        status, said = service.ask("/contests", {"contest_id": "new", "order": ["A", "B"]})
        assert status == 422 and "read-only" in said["error"] and "nothing was changed" in said["error"]
        assert service.ask("/health")[0] == 200 and len(book) == 21
    finally:
        service.terminate()
