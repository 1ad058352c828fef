"""A law is added to a copy of the package as CONTRIBUTING says, word for word, and the tests that find laws find it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def steps_of(text: str) -> list[tuple[str, bool, str]]:
    """The files that the recipe names with what it has written there: whole, or as lines that change."""
    recipe = text[text.index("### A law\n") : text.index("### A rater\n")]
    lines = [line[8:] for line in recipe.splitlines() if line.startswith(" " * 8) or not line.strip()]
    parts = re.split(r"^# (\S+\.py)(, changed)?\n", "\n".join(lines), flags=re.M)[1:]
    return [(file, bool(how), body.strip("\n") + "\n") for file, how, body in zip(*[iter(parts)] * 3, strict=True)]


def change(source: str, lines: str) -> str:
    """Put the lines with + in and take those with − out; what stands between two dots of three is left as it is."""
    for part in re.split(r"^ \.\.\.\n", lines, flags=re.M):
        rows = part.strip("\n").splitlines()
        old = "".join(row[1:] + "\n" for row in rows if not row.startswith("+"))
        new = "".join(row[1:] + "\n" for row in rows if not row.startswith("-"))
        assert source.count(old) == 1, f"stands {source.count(old)} times:\n{old}"
        source = source.replace(old, new)
    return source


def run_tests(package: Path, chosen: str) -> None:
    """The tests of every law, of this copy of the package, hold and have seen the law that was added."""
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", chosen]
    ended = subprocess.run(
        [*command, str(ROOT / "tests/agreement/test_every_law.py")], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(package.parent)}, timeout=600, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    assert "Algebraic(nu=0.45)] PASSED" in ended.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The package with a law whose formula is Python's, and with one that loops know."""
    steps = steps_of((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [step[:2] for step in steps] == [
        ("model/algebraic.py", False), ("model/algebraic.py", True), ("play/laws.py", True),
    ]  # fmt: skip
    made = []
    for count in (1, 3):
        package = tmp_path_factory.mktemp("recipe") / "kinelo"
        shutil.copytree(ROOT / "src/kinelo", package, ignore=shutil.ignore_patterns("__pycache__"))
        for file, changes, body in steps[:count]:
            path = package / file
            path.write_text(change(path.read_text(encoding="utf-8"), body) if changes else body, encoding="utf-8")
        made.append(package)
    return made


# A repr of the law that was added, beside that of the law of the same name which the tests have themselves.
LAW = "Algebraic and 0.45"
QUICK = "compiled_outcomes or digests or book_keeps or every_class"


def test_a_class_alone_is_found_and_refused_where_it_has_no_formula(packages):
    run_tests(packages[0], f"({LAW}) and ({QUICK}) or every_class or (study_file and algebraic)")


def test_a_formula_for_the_loops_is_that_of_the_class(packages):
    run_tests(packages[1], f"({LAW}) and ({QUICK}) or every_class or (study_file and algebraic)")


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1])
def test_every_loop_rater_and_book_takes_the_law_or_refuses_it(packages, place):
    run_tests(packages[place], f"{LAW} or no_loop_knows")
