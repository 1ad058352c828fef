"""Where books are kept in tests: in a file, and in a PostgreSQL server of their own where one is installed."""

import os
import pwd
import shutil

import pytest
from postgres_server import Server, server_binaries


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
