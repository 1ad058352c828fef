"""Faults put in by hand, one at a time, and the tests that should notice them.

    python verification/mutants.py                    # every fault of verification/mutants.toml
    python verification/mutants.py --only pictures    # those whose file or name holds a word
    python verification/mutants.py --list mine.toml   # a list of your own

A list is TOML: each ``[[mutant]]`` has a ``file`` below ``src/kinelo``, the text to ``find`` there (it must stand there
exactly once) and what to ``replace`` it with, and the ``tests`` to run, below ``tests``: files, folders or single tests
(``file.py::test``). Faults are made in a copy of the tree. A fault whose tests still pass has survived: a line that no
test guards. The exit code is the number of survivors and of faults that could not be put in, at most 100.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "docs", "studies", "pyproject.toml", "README.md", "mkdocs.yml", "site_tools")


def main() -> int:
    """Try each fault and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=Path(__file__).with_suffix(".toml"))
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    mutants = tomllib.loads(asked.list.read_text(encoding="utf-8"))["mutant"]
    chosen = [one for one in mutants if asked.only in one["file"] or asked.only in one.get("name", "")]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "kinelo"
        copy_tree(tree)
        outcomes = [try_fault(tree, one) for one in chosen]
    count = {word: outcomes.count(word) for word in ("killed", "SURVIVED", "NOT FOUND")}
    print(", ".join(f"{number} {word}" for word, number in count.items()), f"of {len(chosen)}")
    return min(count["SURVIVED"] + count["NOT FOUND"], 100)


def copy_tree(tree: Path) -> None:
    """Copy what tests need, without compiled files."""
    tree.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, tree / name)


def try_fault(tree: Path, mutant: dict[str, Any]) -> str:
    """Put the fault in, run its tests, take it out again; print and return what became of it."""
    path = tree / "src" / "kinelo" / mutant["file"]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant["find"]) != 1:
        outcome = "NOT FOUND"
    else:
        path.write_text(text.replace(mutant["find"], mutant["replace"]), encoding="utf-8")
        outcome = "killed" if tests_fail(tree, mutant["tests"]) else "SURVIVED"
        path.write_text(text, encoding="utf-8")
    print(f"{outcome:9}  {mutant['file']}: {mutant.get('name', mutant['find'][:60])!r}", flush=True)
    return outcome


def tests_fail(tree: Path, tests: list[str]) -> bool:
    """Whether one of these tests fails in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header"]
    done = subprocess.run(
        [*command, *(f"tests/{one}" for one in tests)], cwd=tree, env=environment, capture_output=True
    )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"The tests {', '.join(tests)} did not run:\n{done.stdout.decode()[-2000:]}")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
