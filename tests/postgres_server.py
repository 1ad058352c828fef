"""A PostgreSQL server of the tests' own, in a temporary folder, and where books are kept in tests."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
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
        self.made = 0

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
        """The address of a new database."""
        import psycopg

        self.made += 1
        with psycopg.connect(f"postgresql:///postgres?host={self.folder}&user=kinelo", autocommit=True) as one:
            one.execute(f"CREATE DATABASE book_{self.made}")
        return f"postgresql:///book_{self.made}?host={self.folder}&user=kinelo"


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
    return str(tmp_path / "book.db") if request.param == "sqlite" else request.getfixturevalue("server").address()
