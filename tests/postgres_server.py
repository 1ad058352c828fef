"""A PostgreSQL server of the tests' own, in a temporary folder, and where books are kept in tests."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from patience import PATIENCE


def server_binaries() -> Path | None:
    """Where the server's programs lie."""
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((place for place in places if (place / "postgres").exists()), None)


class Server:
    """A cluster on a Unix socket in its own folder; root hands it to the user postgres."""

    def __init__(self, binaries: Path, *, durable: bool = False) -> None:
        self.binaries, self.durable = binaries, durable
        self.folder = Path(tempfile.mkdtemp(prefix="kn-pg-", dir="/tmp"))
        self.as_user: list[str] = []
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self.as_user = ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
        self.folder.chmod(0o755)
        self.call("initdb", "-D", str(self.data), "-U", "kinelo", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self.start()
        self.made, self.emptied = 0, []

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def call(self, program: str, *words: str) -> None:
        done = subprocess.run([*self.as_user, str(self.binaries / program), *words], capture_output=True, text=True,
                              cwd="/tmp", timeout=PATIENCE)  # fmt: skip
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        options = (
            f"-k {self.folder} -c listen_addresses='' -c max_connections=40 -c fsync={'on' if self.durable else 'off'}"
        )
        self.call(
            "pg_ctl", "-D", str(self.data), "-w", "-t", "240", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self, how: str = "fast") -> None:
        self.call("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def kill(self) -> None:
        """End all its processes at once, as a lack of memory or of power does."""
        first = int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        os.kill(first, signal.SIGSTOP)  # it starts no others meanwhile
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="utf-8").split()
        for one in (first, *map(int, children)):
            os.kill(one, signal.SIGKILL)
        while any(Path(f"/proc/{one}").exists() for one in (first, *children)):
            time.sleep(0.005)

    def address(self) -> str:
        """The address of an empty database."""
        if self.emptied:
            return self.emptied.pop()
        self.made += 1
        self.ask("postgres", f"CREATE DATABASE book_{self.made}")
        return self.of(f"book_{self.made}")

    def of(self, name: str) -> str:
        return f"postgresql:///{name}?host={self.folder}&user=kinelo"

    def ask(self, name: str, sql: str) -> None:
        import psycopg

        with psycopg.connect(self.of(name), autocommit=True) as one:
            one.execute(sql)

    def take_back(self, address: str) -> None:
        """Empty a database for the next test: a new one is 300 files, which take longer to make and to delete."""
        name = address.partition("///")[2].partition("?")[0]
        self.ask("postgres", f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        self.ask(name, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        self.emptied.append(address)


@pytest.fixture(scope="session")
def server():
    binaries = server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed (kinelo[postgres])")
    if os.getuid() == 0 and (shutil.which("setpriv") is None or "postgres" not in {u.pw_name for u in pwd.getpwall()}):
        pytest.skip("root may not run PostgreSQL, and there is no user postgres")
    one = Server(binaries)
    yield one
    one.stop("immediate")
    shutil.rmtree(one.folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Where a new book may be kept: in a file, and in a server."""
    if request.param == "sqlite":
        yield str(tmp_path / "book.db")
    else:
        server = request.getfixturevalue("server")
        yield (address := server.address())
        server.take_back(address)


def in_turn(kinds: Iterable[str], *quick: str) -> pytest.MarkDecorator:
    """Each quick kind (else: each) in a file or in a server, in turn; in `make test-long` all of them in both."""
    places = ("sqlite", "postgresql") if server_binaries() else ("sqlite",)
    turns = {(kind, places[k % len(places)]) for k, kind in enumerate(quick or kinds)}
    cases = [(kind, place) for kind in kinds for place in ("sqlite", "postgresql")]
    marks = [() if case in turns else pytest.mark.long for case in cases]
    return pytest.mark.parametrize(
        ("kind", "address"), [pytest.param(*case, marks=mark) for case, mark in zip(cases, marks)], indirect=["address"]
    )
