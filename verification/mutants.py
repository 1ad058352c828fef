"""Faults put in by hand, one at a time, and the tests that should notice them.

    python verification/mutants.py                    # every fault of verification/mutants.toml
    python verification/mutants.py --only pictures    # those whose file or name holds a word
    python verification/mutants.py --list mine.toml   # a list of your own
    python verification/mutants.py --processes 2      # two faults at a time, each in its own copy of the tree

A list is TOML: each ``[[mutant]]`` has a ``file`` below ``src/kinelo``, the text to ``find`` there (it must stand there
exactly once) and what to ``replace`` it with, and the ``tests`` to run, below ``tests``: files, folders or single tests
(``file.py::test``). Faults are made in a copy of the tree below ``build/mutants``, which later runs use again. Each
selection of tests runs once without a fault: it has to pass, or its faults tell nothing. A fault whose tests still pass
has survived: a line that no test guards. At the end stand a table by package and the faults that were not killed; the
exit code is their number, at most 100.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import importlib.util
import multiprocessing
import os
import shutil
import sys
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
COPIED = (
    "src", "tests", "docs", "studies", "verification", "site_tools", "pyproject.toml", "README.md", "CHANGELOG.md",
    "mkdocs.yml", "Makefile",
)  # fmt: skip
OUTCOMES = KILLED, SURVIVED, MISSING, BROKEN = "killed", "SURVIVED", "NOT FOUND", "TESTS FAIL WITHOUT IT"
NEVER_BEGAN = 70
"""Exit code where pytest was not called; 1 will not do, which failing tests have too."""
DID_NOT_RUN = 3, 5, NEVER_BEGAN
"""Exit codes of pytest where no test was run, for a reason that lies in no fault."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "pytest",
        "hypothesis",
        "schemathesis.pytest.plugin",
        "numba",
        "polars",
        "scipy.stats",
        "xarray",
        "matplotlib.pyplot",
    ]
)


class Fault(NamedTuple):
    """One fault and the tests that should notice it."""

    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    name: str

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Fault:
        name = entry.get("name", entry["find"][:60])
        return cls(entry["file"], entry["find"], entry["replace"], tuple(entry["tests"]), name)

    def path(self, tree: Path) -> Path:
        """The file it is put into."""
        return tree / "src" / "kinelo" / self.file

    def fits(self, tree: Path) -> bool:
        """Whether the text that it changes stands in its file exactly once."""
        path = self.path(tree)
        return path.is_file() and path.read_text(encoding="utf-8").count(self.find) == 1

    def put_into(self, text: str) -> str:
        """The text of its file with the fault."""
        return text.replace(self.find, self.replace)


def read_list(path: Path = LIST) -> list[Fault]:
    """The faults of a list."""
    return [Fault.read(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]


def main() -> int:
    """Try each fault and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    chosen = [fault for fault in read_list(asked.list) if asked.only in fault.file or asked.only in fault.name]
    outcomes = try_all(chosen, [ROOT / "build" / "mutants" / f"{asked.list.stem}-{n}" for n in range(asked.processes)])
    print(table(outcomes))
    lasting = [fault for fault, outcome in outcomes.items() if outcome != KILLED]
    for fault in lasting:
        print(f"{outcomes[fault]}: {fault.file}: {fault.name}")
    return min(len(lasting), 100)


def try_all(faults: list[Fault], trees: list[Path]) -> dict[Fault, str]:
    """What became of each fault; those with the same tests are tried in one tree, one after another."""
    by_tests: dict[tuple[str, ...], list[Fault]] = defaultdict(list)
    for fault in faults:
        by_tests[fault.tests].append(fault)
    idle: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        copy_tree(tree)
        idle.put(tree)

    def try_group(group: list[Fault]) -> list[tuple[Fault, str]]:
        tree = idle.get()
        try:
            return list(try_faults(tree, group))
        finally:
            idle.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        return dict(pair for pairs in pool.map(try_group, by_tests.values()) for pair in pairs)


def copy_tree(tree: Path) -> None:
    """Bring a copy of what tests need up to date; compiled files stay: their names or times tell whether they hold."""
    for name in COPIED:
        source = ROOT / name
        files = [path for path in source.rglob("*") if path.is_file()] if source.is_dir() else [source]
        wanted = {path.relative_to(ROOT) for path in files if "__pycache__" not in path.parts}
        for path in (tree / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.relative_to(tree) not in wanted:
                path.unlink()
        for path in wanted:
            copied = tree / path
            if not copied.exists() or not filecmp.cmp(ROOT / path, copied, shallow=False):
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, copied)
    copy_kernels(tree)


def copy_kernels(tree: Path) -> None:
    """Let a copy begin with the machine code that lies beside the sources; Numba names a folder of it after theirs."""

    def named(folder: Path) -> str:
        return f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}"

    for folder in {path.parent for path in (ROOT / "src").rglob("*.py")}:
        for code in (ROOT / "src" / "kinelo" / "__pycache__").glob(f"*/{named(folder)}"):
            copied = tree / code.parent.relative_to(ROOT) / named(tree / folder.relative_to(ROOT))
            if not copied.exists():
                shutil.copytree(code, copied)


def try_faults(tree: Path, group: list[Fault]) -> Iterator[tuple[Fault, str]]:
    """Try faults that have the same tests, after these have passed without a fault."""
    sound = run_tests(tree, group[0].tests, None) == 0
    for fault in group:
        outcome = try_fault(tree, fault) if sound else BROKEN
        print(f"{outcome:9}  {fault.file}: {fault.name!r}", flush=True)
        yield fault, outcome


def try_fault(tree: Path, fault: Fault) -> str:
    """Run the tests of a fault with it; return what became of it."""
    if not fault.fits(tree):
        return MISSING
    return SURVIVED if run_tests(tree, fault.tests, fault) == 0 else KILLED


def run_tests(tree: Path, tests: tuple[str, ...], fault: Fault | None) -> int:
    """Exit code of pytest in the copy, in a process forked from one that has imported what tests import most.

    Below 0 where a signal ended it, as a fault in compiled code may.
    """
    latest(tree).unlink(missing_ok=True)
    run = FORKS.Process(target=_in_fork, args=(tree, tests, fault))
    run.start()
    run.join()
    if run.exitcode in DID_NOT_RUN:
        raise SystemExit(f"The tests {', '.join(tests)} did not run: see {tree / 'output.txt'}.")
    return run.exitcode


def _in_fork(tree: Path, tests: tuple[str, ...], fault: Fault | None) -> None:
    """Put the fault in, run the tests, take it out again."""
    output = os.open(tree / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(tree)
    sys.path.insert(0, str(tree / "src"))
    os.environ |= {"PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False  # a module is compiled once, not for every fault
    os.environ.setdefault("KINELO_DATA", str(ROOT.parent / "shared" / "data"))
    code = NEVER_BEGAN
    try:
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        with put_in(tree, fault) if fault else nullcontext():
            code = int(pytest.main([*options, *(f"tests/{one}" for one in tests)], plugins=[Latest(latest(tree))]))
    except Exception:
        traceback.print_exc()
    sys.exit(code)


def latest(tree: Path) -> Path:
    """The file that names the test which ran last in a copy: the one that failed, if any did."""
    return tree / "latest-test"


class Latest:
    """A plug-in of pytest that writes which test begins, so that even a run which a signal ends names its last."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.file.write_text(nodeid, encoding="utf-8")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and report.nodeid:  # the session, which has no name, fails with a file of it
            self.file.write_text(report.nodeid, encoding="utf-8")


@contextmanager
def put_in(tree: Path, fault: Fault) -> Iterator[None]:
    """The copy with a fault, meanwhile; of kernels, those are compiled again into which it may be compiled."""
    path, found = (
        fault.path(tree),
        importlib.util.find_spec("kinelo"),
    )  # what is imported by now stays without the fault
    imported = Path(found.origin).parent if found and found.origin else None
    assert imported in path.parents, f"tests would import {imported}"
    text, times = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(fault.put_into(text), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def table(outcomes: dict[Fault, str]) -> str:
    """Outcomes counted by package, the last row for all."""
    count = Counter((of, outcome) for fault, outcome in outcomes.items() for of in (fault.file.split("/")[0], "all"))
    shown = [outcome for outcome in OUTCOMES if outcome in outcomes.values()]
    lines = [" " * 12 + "".join(f"{outcome:>{len(outcome) + 2}}" for outcome in shown)]
    for package in [*sorted({package for package, _ in count} - {"all"}), "all"]:
        lines.append(f"{package:12}" + "".join(f"{count[package, one]:>{len(one) + 2}}" for one in shown))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
