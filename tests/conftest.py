"""What every test needs: an empty folder to work in, and where the real match data lies."""

import fcntl
import gc
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

ROOT = Path(__file__).parents[1]
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(ROOT / ".hypothesis"))
# The many processes that tests start take a third of the time where modules were compiled before.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


# A process that runs one command builds all of them once, in 50 ms. Tests run hundreds of commands in one process.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)


def _compiled_once(compile: Callable[..., Any]) -> Callable[..., Any]:
    """``compile`` of a kernel, after whichever process of this run is at it: it then finds what that one stored."""
    held: set[str] = set()

    def compiled(dispatcher: Any, signature: Any) -> Any:
        folder = dispatcher._cache.cache_path
        with global_compiler_lock:
            if folder is None or folder in held:  # not stored, or part of a kernel of the same module
                return compile(dispatcher, signature)
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "lock"), "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                held.add(folder)
                try:
                    return compile(dispatcher, signature)
                finally:
                    held.remove(folder)

    return compiled


CPUDispatcher.compile = _compiled_once(CPUDispatcher.compile)

# How long an example takes says more of the machine than of the law. Every run tries the same examples; `make search`
# draws new ones, and what it finds is kept in the test as an @example.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", print_blob=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_configure() -> None:
    """No garbage is looked for while tests are collected: all that is made then stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays to the end, and is not looked through again at every search for garbage."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives a browser comes first: it waits more than it computes, so that other tests fill its pauses.

    Files in this folder come before those in folders: they go through the whole package and take longest.
    """
    here = Path(__file__).parent
    items.sort(key=lambda item: (item.get_closest_marker("browser") is None, item.path.parent != here))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files go to processes whole; those that visit the lab go to one, which starts one lab and one browser."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/lab" if nodeid.startswith("tests/lab/test_") else super()._split_scope(nodeid)

    return Files(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def _empty_working_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What lies in the folder from which the tests are started, a reproduction say, is none of their business."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("working-folder"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Two worker processes with little memory, which give up on a task once it has cost the second one its life."""
    pytest.importorskip("distributed", reason="needs kinelo[dask]")
    import dask

    from kinelo.runtime.workers import local_client

    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), local_client(2, "900MB") as client:
        yield client


@pytest.fixture(scope="session")
def match_data() -> Path:
    """Folder of the real match data: KINELO_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("KINELO_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "intl_football" / "matches.csv").exists():
        pytest.skip(f"no match data at {folder}: set KINELO_DATA to the folder that holds it")
    return folder


@pytest.fixture
def few_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit plays its league again six times: for tests that look at no interval of K, at half of the time."""
    monkeypatch.setattr("kinelo.advice.audit.audit.REPLAYS", 6)
    monkeypatch.setattr("kinelo.advice.audit.outlook.MOST_REPLAYS", 6)
