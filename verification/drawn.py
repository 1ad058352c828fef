"""Faults drawn by lot: how many of them the tests notice, by package and by kind, and which ones live.

    python verification/drawn.py --record               # once: which tests reach which line, at what cost
    python verification/drawn.py --drawn 200 --seed 7      # draw, put in one at a time, and report
    python verification/drawn.py --drawn 50 --seed 7 --only theory --processes 2
    python verification/drawn.py --drawn 50 --seed 7 --show # only print what would be put in

A line of code of ``src/kinelo`` is drawn (each with the same chance, whatever its package), then one of the kinds of
faults that can be made on it (`KINDS`), then one of its places. A tenth of the faults are drawn among numbers inside
sentences, a tenth among orders of rows: a lot over all lines hardly meets them.

``--record tests/theory tests/model`` records a part of the tests, enough for faults of a package. The machine may do
other things meanwhile: a test that fails, for want of time say, is left out.

The tests that reach the line run, quickest first, until one fails or `PATIENCE` is over. One that fails without the
fault as well counts for nothing: whatever noticed a fault has passed without it, too. Compiled loops are not traced:
there those of the Python functions that call them run. What was recorded for a line that has moved is found by
comparing the file with the one that was recorded; a new line has the tests of its neighbours in the same function.
Nor are child processes traced: `STARTERS` says which tests start those that alone run some of the files.

Faults without effect are listed in ``equivalent.toml``, each with its reason, and set apart. The exit code is 0 if at
least `GOAL` of the others were noticed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import mutants
from mutants import BROKEN, KILLED, ROOT, SURVIVED

SOURCE = ROOT / "src" / "kinelo"
RECORD = Path(os.environ.get("KINELO_REACH", ROOT / "build" / "reach"))
"""What is recorded; a part of the tests may be recorded elsewhere, beside the record of all."""
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
PATIENCE = 120.0
"""Processor seconds of tests, as recorded, that may run for one fault."""
GOAL = 0.9
STRATA = {"number in a sentence": 0.1, "order of rows": 0.1}
"""Kinds of which a part of all faults is drawn among themselves."""
COMPILED = {"formula", "kernel", "inlined", "part", "borrowing", "inner", "njit", "jit"}
"""Decorators of functions that a tracer does not see."""
LISTS = ("[offered]", "[parts]")
"""Kept answers that read what is offered, and what is then taken, from the code itself: they reach no line of it."""
STARTERS = {"gpu": "tests/micro/test_gpu.py"}
"""Folders whose code only child processes run, and the tests that start these."""


class Edit(NamedTuple):
    """A fault of one kind: the text between two places of a file is replaced."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    kind: str = ""


class Drawn(NamedTuple):
    """A drawn fault, as `mutants` puts it in, and the tests that reach its line."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    changed: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"line {self.line}, {self.kind}: {self.before.strip()}  →  {self.after.strip()}"

    def path(self, tree: Path) -> Path:
        return tree / "src" / "kinelo" / self.file

    def fits(self, tree: Path) -> bool:
        return self.path(tree).read_text(encoding="utf-8") != self.changed

    def put_into(self, text: str) -> str:
        return self.changed


# What can be done to a piece of code: each kind gives the edits it can make of a node.


TURNED = {ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in",
          ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
SIGN_TURNED = {ast.Add: "-", ast.Sub: "+"}
TIMES_TURNED = {ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}
SHIFTED = {ast.Lt: "<=", ast.Gt: ">=", ast.LtE: "<", ast.GtE: ">"}
OTHER_CALL = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
              "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor"}  # fmt: skip
OTHER_WORD = {"home": "away", "away": "home", "rows": "days", "days": "rows", "first": "last", "last": "first",
              "low": "high", "high": "low", "winner": "loser", "before": "after", "after": "before"}  # fmt: skip
SHAPING = {"sqrt", "square", "abs", "log", "exp"}
SORTING = {"sorted", "argsort", "lexsort"}
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases", "keywords"}
"""Fields of a definition in which no fault is made."""


class Places:
    """The edits that can be made in one file, by line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bytes = [line.encode() for line in text.splitlines(keepends=True)]
        self.edits: dict[int, list[Edit]] = defaultdict(list)
        tree = ast.parse(text)
        self.names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
        self.names |= {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
        skipped = set()
        for node in ast.walk(tree):
            # Annotations, docstrings and what only type checkers read are no code.
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                skipped.add(node)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                skipped.add(node)
        self._walk(tree, skipped)

    def _walk(self, node: ast.AST, skipped: set[ast.AST]) -> None:
        if node in skipped:
            return
        for edit in self._of(node):
            self.edits[edit.start[0]].append(edit)
        for field, child in ast.iter_fields(node):
            if field in UNTOUCHED and not isinstance(node, ast.Call):
                continue
            for one in child if isinstance(child, list) else [child]:
                if isinstance(one, ast.AST) and not (isinstance(node, ast.JoinedStr) and isinstance(one, ast.Constant)):
                    self._walk(one, skipped)

    def segment(self, node: ast.AST) -> str:
        """The text of a node; `ast.get_source_segment` splits the file anew each time."""
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            return self.bytes[first][node.col_offset : node.end_col_offset].decode()
        inner = self.bytes[first + 1 : last]
        ends = self.bytes[first][node.col_offset :], self.bytes[last][: node.end_col_offset]
        return b"".join([ends[0], *inner, ends[1]]).decode()

    def _span(self, node: ast.AST, text: str) -> Edit:
        return Edit((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), text)

    def _between(self, left: ast.AST, right: ast.AST, text: str) -> Edit:
        return Edit((left.end_lineno, left.end_col_offset), (right.lineno, right.col_offset), text)

    def _of(self, node: ast.AST) -> Iterator[Edit]:
        for kind, make in KINDS.items():
            for edit in make(self, node):
                yield edit._replace(kind=kind)

    # One method a kind.

    def comparison(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            for table in (TURNED, SHIFTED):
                if type(node.ops[0]) in table and self._adjoin(node.left, node.comparators[0]):
                    yield self._between(node.left, node.comparators[0], f" {table[type(node.ops[0])]} ")

    def _adjoin(self, left: ast.AST, right: ast.AST) -> bool:
        """Whether nothing but an operator stands between two nodes, on one line: no parenthesis of theirs."""
        if left.end_lineno != right.lineno:
            return False
        gap = self.bytes[right.lineno - 1][left.end_col_offset : right.col_offset]
        return b"(" not in gap and b")" not in gap

    def constant(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            value = node.value
            others = [value + 1, value - 1] if type(value) is int else [2 * value if value else 1.0, 0.5 * value]
            for other in others:
                if other != value:
                    yield self._span(node, f"({other!r})" if other < 0 else repr(other))
        if isinstance(node, ast.Constant) and type(node.value) is bool:
            yield self._span(node, repr(not node.value))

    def term_dropped(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            yield self._span(node, self.segment(node.left))
            if isinstance(node.op, (ast.Add, ast.Mult)):
                yield self._span(node, self.segment(node.right))

    def sign(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BinOp) and type(node.op) in SIGN_TURNED and self._adjoin(node.left, node.right):
            yield self._between(node.left, node.right, f" {SIGN_TURNED[type(node.op)]} ")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield self._span(node, self.segment(node.operand))

    def times_and_divided(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BinOp) and type(node.op) in TIMES_TURNED and self._adjoin(node.left, node.right):
            yield self._between(node.left, node.right, f" {TIMES_TURNED[type(node.op)]} ")

    def other_function(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Call):
            called = self.segment(node.func)
            head, dot, name = called.rpartition(".")
            if name in OTHER_CALL:
                yield self._span(node.func, head + dot + OTHER_CALL[name])

    def logic(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BoolOp):
            parts = [self.segment(one) for one in node.values]
            other = " or " if isinstance(node.op, ast.And) else " and "
            yield self._span(node, "(" + other.join(f"({one})" for one in parts) + ")")
            yield self._span(node, "(" + parts[0] + ")")
            yield self._span(node, "(" + parts[-1] + ")")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            yield self._span(node, f"({self.segment(node.operand)})")

    def other_name(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            head, dot, name = self.segment(node).rpartition(".")
            other = "_".join(OTHER_WORD.get(word, word) for word in name.split("_"))
            if other != name and other in self.names:  # a name that is not there is noticed by whoever comes along
                yield self._span(node, head + dot + other)

    def square_forgotten(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            yield self._span(node, f"({self.segment(node.left)})")
        if isinstance(node, ast.Call) and len(node.args) == 1 and self.segment(node.func).rpartition(".")[2] in SHAPING:
            yield self._span(node, f"({self.segment(node.args[0])})")

    def index(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            inside = node.slice
            if isinstance(inside, ast.Name):
                yield self._span(inside, f"{inside.id} - 1")
            elif isinstance(inside, ast.Slice):
                for end in (inside.lower, inside.upper):
                    if end is not None:
                        yield self._span(end, f"({self.segment(end)}) + 1")

    def branch(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, (ast.If, ast.IfExp)):
            for forced in ("True", "False"):
                yield self._span(node.test, forced)

    def statement_dropped(self, node: ast.AST) -> Iterator[Edit]:
        dropped = isinstance(node, (ast.Raise, ast.Continue, ast.AugAssign)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        )
        if dropped:
            yield self._span(node, "pass")

    def option_passed_over(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Call) and node.keywords:
            given = [self.segment(one) for one in node.args]
            for passed_over in node.keywords:
                rest = [one for one in node.keywords if one is not passed_over]
                words = [(f"{one.arg}=" if one.arg else "**") + self.segment(one.value) for one in rest]
                if passed_over.arg:
                    yield self._span(node, f"{self.segment(node.func)}({', '.join(given + words)})")

    def sentence_number(self, node: ast.AST) -> Iterator[Edit]:
        if (
            isinstance(node, ast.FormattedValue)
            and isinstance(node.format_spec, ast.JoinedStr)
            and self._placed(node.value)
        ):
            spec = "".join(str(one.value) for one in node.format_spec.values if isinstance(one, ast.Constant))
            if spec[-1:] in ("f", "g", "e", "%", "d", ","):
                text = self.segment(node.value)
                yield self._span(node.value, f"(3 * ({text}) + 1)")
        if isinstance(node, ast.JoinedStr):
            values = [one for one in node.values if isinstance(one, ast.FormattedValue) and one.format_spec is None]
            if len(values) > 1 and self._placed(values[0].value) and self._placed(values[1].value):
                yield self._span(values[0].value, self.segment(values[1].value))

    def _placed(self, node: ast.AST) -> bool:
        """Whether Python knows where in the file it stands: before 3.12 not inside every f-string."""
        try:
            return ast.dump(ast.parse(self.segment(node).strip(), mode="eval").body) == ast.dump(node)
        except (SyntaxError, ValueError, IndexError):
            return False

    def order_of_rows(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Call):
            name = self.segment(node.func).rpartition(".")[2]
            turned = [
                one
                for one in node.keywords
                if one.arg in ("reverse", "descending") and isinstance(one.value, ast.Constant)
            ]
            for one in turned:
                yield self._span(one.value, repr(not one.value.value))
            if name in SORTING and not turned:
                yield self._span(node, f"{self.segment(node)}[::-1]")


KINDS: dict[str, Callable[[Places, ast.AST], Iterator[Edit]]] = {
    "comparison": Places.comparison,
    "constant": Places.constant,
    "term dropped": Places.term_dropped,
    "sign": Places.sign,
    "times and divided": Places.times_and_divided,
    "other function": Places.other_function,
    "logic": Places.logic,
    "other name": Places.other_name,
    "square forgotten": Places.square_forgotten,
    "index": Places.index,
    "branch": Places.branch,
    "statement dropped": Places.statement_dropped,
    "option passed over": Places.option_passed_over,
    "number in a sentence": Places.sentence_number,
    "order of rows": Places.order_of_rows,
}


def apply(text: str, edit: Edit) -> str:
    """The text with an edit; columns count bytes, as those of `ast` do."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    (first, left), (last, right) = edit.start, edit.end
    changed = lines[first - 1][:left] + edit.text.encode() + lines[last - 1][right:]
    return b"".join([*lines[: first - 1], changed, *lines[last:]]).decode()


def sources() -> list[Path]:
    """All files that faults are drawn from."""
    return sorted(path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts)


def draw(count: int, seed: int, only: str) -> list[tuple[str, Edit]]:
    """Lines by lot, and a fault for each."""
    chance = random.Random(seed)
    files = {path.relative_to(SOURCE).as_posix(): path for path in sources()}
    places = {file: Places(path.read_text(encoding="utf-8")) for file, path in files.items() if only in file}
    lines = [(file, line) for file, of in places.items() for line in sorted(of.edits)]
    by_stratum = {kind: [] for kind in STRATA}
    for file, line in lines:
        for kind in {edit.kind for edit in places[file].edits[line]} & STRATA.keys():
            by_stratum[kind].append((file, line))
    found: dict[tuple[str, Edit], None] = {}
    for _ in range(50 * count if lines else 0):
        lot, stratum = chance.random(), None
        for kind, part in STRATA.items():
            if lot < part and by_stratum[kind]:
                stratum = kind
                break
            lot -= part
        file, line = chance.choice(by_stratum[stratum] if stratum else lines)
        of = places[file]
        kinds = sorted({edit.kind for edit in of.edits[line]})
        kind = stratum or chance.choice(kinds)
        edit = chance.choice([one for one in of.edits[line] if one.kind == kind])
        if (file, edit) in found:
            continue
        changed = apply(of.text, edit)
        try:
            if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(of.text)):
                continue
        except SyntaxError:
            continue
        found[file, edit] = None
        if len(found) == count:
            break
    return list(found)


# Which tests reach a line.


class Reach:
    """What was recorded: the tests that ran each line of each file, and the processor time of every test."""

    def __init__(self) -> None:
        from coverage import CoverageData

        if not (RECORD / "coverage").exists():
            raise SystemExit("Nothing is recorded yet: run this script with --record once (half an hour).")
        self.data = CoverageData(str(RECORD / "coverage"))
        self.data.read()
        self.commit = (RECORD / "commit").read_text(encoding="utf-8").strip()
        self.times: dict[str, float] = json.loads((RECORD / "times.json").read_text(encoding="utf-8"))
        self.here = {test: _stands(test) for test in self.times}

    @cache  # noqa: B019
    def by_line(self, file: str) -> dict[int, set[str]]:
        """Tests of each line of a file as it was recorded."""
        contexts = self.data.contexts_by_lineno(str(SOURCE / file))
        return {line: {one.rpartition("|")[0] for one in of if one} for line, of in contexts.items()}

    @cache  # noqa: B019
    def recorded(self, file: str) -> list[str]:
        """The lines of a file as it was recorded."""
        shown = subprocess.run(
            ["git", "show", f"{self.commit}:src/kinelo/{file}"], capture_output=True, text=True, cwd=ROOT, check=False
        )
        return shown.stdout.splitlines()

    @cache  # noqa: B019
    def moved(self, file: str) -> dict[int, int]:
        """Where each line of today stood."""
        today = (SOURCE / file).read_text(encoding="utf-8").splitlines()
        blocks = difflib.SequenceMatcher(None, self.recorded(file), today, autojunk=False).get_matching_blocks()
        return {block.b + k + 1: block.a + k + 1 for block in blocks for k in range(block.size)}

    def of_lines(self, file: str, first: int, last: int) -> set[str]:
        """Tests that reach any of these lines of today."""
        by_line, moved = self.by_line(file), self.moved(file)
        return {test for line in range(first, last + 1) for test in by_line.get(moved.get(line, -1), ())}

    def of_line(self, file: str, line: int) -> set[str]:
        """Tests that reach a line; of a line not traced those that reach its function, or who calls it."""
        tests = self.of_lines(file, line, line)
        if starter := next((STARTERS[folder] for folder in Path(file).parts[:-1] if folder in STARTERS), None):
            return tests | {test for test in self.times if test.startswith(starter)}
        enclosing = [one for one in FUNCTIONS.of_file[file] if one.first <= line <= one.last]
        if not enclosing:  # runs at import, for whoever was first: what it names is used elsewhere
            for function in (one for name in named_at(file, line) for one in FUNCTIONS.callers(name)):
                tests = tests | self.of_lines(function.file, function.body, function.last)
        for function in reversed(enclosing):
            if tests:
                break
            # The line that names a function runs when its module is imported, whoever does that.
            tests = self.of_lines(file, function.body, function.last)
        if enclosing and (not tests or enclosing[0].compiled):  # which some tests may run as it is written
            # One inside another is called by that one: the outermost is who others name.
            seen, waiting = set(), [enclosing[0]]
            while waiting:
                function = waiting.pop()
                if function in seen:
                    continue
                seen.add(function)
                reached = self.of_lines(function.file, function.body, function.last)
                tests |= reached
                if not reached or function.compiled:
                    waiting += FUNCTIONS.callers(function.name)
        return tests

    def chosen(self, file: str, line: int) -> tuple[str, ...]:
        """Those of the tests that run: of its own package and kept answers first, as far as patience lasts."""
        package = file.split("/")[0].removesuffix(".py")
        folder = f"tests/{package}"
        tests = {test for test in self.of_line(file, line) if self.here.get(test)}
        if not tests and (ROOT / folder).is_dir():  # only child processes reach it, or only import does
            tests = {test for test in self.times if test.startswith(folder) and self.here[test]}
        tests |= {test for test in self.times if test.endswith(LISTS) and self.here[test]}
        near = (folder, "tests/answers/")
        ordered = sorted(tests, key=lambda test: (self.times[test] * (1 if test.startswith(near) else 4), test))
        chosen, spent = [], 0.0
        for test in ordered:
            spent += self.times[test]
            if spent > PATIENCE and chosen:
                break
            chosen.append(test.removeprefix("tests/"))
        return tuple(chosen)


@cache
def _assigned(file: str) -> list[tuple[int, int, frozenset[str]]]:
    """First and last line of what a module or one of its classes assigns, and the names."""
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    blocks = [tree, *(one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))]
    found = [one for block in blocks for one in block.body if isinstance(one, (ast.Assign, ast.AnnAssign))]
    return [
        (one.lineno, one.end_lineno or one.lineno, frozenset(
            name.id for target in getattr(one, "targets", [getattr(one, "target", None)])
            for name in ast.walk(target) if isinstance(name, ast.Name)
        ))
        for one in found
    ]  # fmt: skip


def named_at(file: str, line: int) -> set[str]:
    """Names that a line outside of functions gives a value."""
    return {name for first, last, names in _assigned(file) if first <= line <= last for name in names}


@cache
def _definitions(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r"def (\w+)", path.read_text(encoding="utf-8"))) if path.is_file() else frozenset()


def _stands(test: str) -> bool:
    """Whether a recorded test is still there."""
    file, _, name = test.partition("[")[0].partition("::")
    return name.split("::")[-1] in _definitions(ROOT / file)


class Function(NamedTuple):
    """A function of the package: its lines, whether it is compiled, and the names it mentions."""

    file: str
    name: str
    first: int
    body: int
    last: int
    compiled: bool
    mentions: frozenset[str]


class Functions:
    """All functions of the package, made when first asked for."""

    @cached_property
    def of_file(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for path in sources():
            file = path.relative_to(SOURCE).as_posix()
            found[file] = []
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
                    names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
                    marks = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
                    own = Function(
                        file, node.name, node.lineno, node.body[0].lineno, node.end_lineno or node.lineno,
                        bool(marks & COMPILED), frozenset(names),
                    )  # fmt: skip
                    found[file].append(own)
        return found

    def callers(self, name: str) -> list[Function]:
        return [one for of in self.of_file.values() for one in of if name in one.mentions and one.name != name]


FUNCTIONS = Functions()


def record(tests: list[str], processes: int) -> int:
    """Run all tests, or these, once under `coverage`, and keep which line each reaches and what it takes."""
    RECORD.mkdir(parents=True, exist_ok=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=True)
    (RECORD / "commit").write_text(head.stdout, encoding="utf-8")
    settings = {
        "KINELO_TEST_TIMES": str(RECORD / "times.json"),
        "COVERAGE_FILE": str(RECORD / "coverage"),
        "PYTHONPATH": str(Path(__file__).parent),
        "OPENBLAS_NUM_THREADS": "1",
        "POLARS_MAX_THREADS": "1",
    }
    options = ["-n", str(processes), "--dist", "loadfile", "--no-loadscope-reorder", "-p", "recording"]
    options += ["--cov=src/kinelo", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", "-q", *options, *tests]
    return subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=False).returncode


# Putting them in.


def equivalents() -> set[tuple[str, str, str]]:
    """Faults without effect: file, line before and line after."""
    if not EQUIVALENT.exists():
        return set()
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("fault", [])
    return {(one["file"], one["before"], one["after"]) for one in listed}


def prepared(file: str, edit: Edit, reach: Reach) -> Drawn:
    """A drawn fault with its tests."""
    text = (SOURCE / file).read_text(encoding="utf-8")
    changed = apply(text, edit)
    line = edit.start[0]
    before, after = text.splitlines()[line - 1], changed.splitlines()[line - 1]
    return Drawn(file, line, edit.kind, before, after, changed, reach.chosen(file, line))


def try_drawn(faults: list[Drawn], processes: int, name: str = "") -> dict[Drawn, str]:
    """What became of each fault."""
    trees: SimpleQueue[Path] = SimpleQueue()
    failing, sound = set[str](), set[str]()
    for number in range(processes):
        tree = ROOT / "build" / "mutants" / f"drawn-{name}{number}"
        mutants.copy_tree(tree)
        trees.put(tree)

    def tried(fault: Drawn) -> str:
        tree = trees.get()
        try:
            outcome = try_fault(tree, fault, failing, sound)
        finally:
            trees.put(tree)
        print(f"{outcome:9} {fault.file} {fault.name}  [{len(fault.tests)} tests]", flush=True)
        return outcome

    with ThreadPoolExecutor(processes) as pool:
        outcomes = dict(zip(faults, pool.map(tried, faults)))
    for test in sorted(failing):
        print(f"Fails without any fault, and counts for none: {test}")
    return outcomes


def try_fault(tree: Path, fault: Drawn, failing: set[str], sound: set[str]) -> str:
    """What became of a fault: it counts as noticed where the test that fails passes without it.

    Those that do go into ``sound``; those that fail without it go into ``failing``, and the others run again.
    """
    if not fault.tests:
        return SURVIVED
    while tests := tuple(test for test in fault.tests if test not in failing):
        if mutants.run_tests(tree, tests, fault) == 0:
            return SURVIVED
        failed = ended_at(tree, tests)[0]
        if failed in sound or mutants.run_tests(tree, (failed,), None) == 0:
            sound.add(failed)
            return KILLED
        failing.update(ended_at(tree, tests))
    return BROKEN


def ended_at(tree: Path, tests: tuple[str, ...]) -> list[str]:
    """Those of the tests at which the latest run ended: one that failed, those of a file that cannot be imported, or
    those that are no longer there."""
    ended = mutants.latest(tree).read_text(encoding="utf-8") if mutants.latest(tree).exists() else ""
    absent = re.findall(r"^ERROR: not found: (.+)$", (tree / "output.txt").read_text(encoding="utf-8"), re.MULTILINE)
    places = [place.removeprefix(f"{tree}/") for place in (ended, *absent) if place]
    found = [test for test in tests for place in places if f"tests/{test}::".startswith(f"{place}::")]
    return found or list(tests)


def interval(noticed: int, of: int) -> tuple[float, float]:
    """95 % of a share (Jeffreys)."""
    from scipy.stats import beta

    low = beta.ppf(0.025, noticed + 0.5, of - noticed + 0.5) if noticed else 0.0
    high = beta.ppf(0.975, noticed + 0.5, of - noticed + 0.5) if noticed < of else 1.0
    return float(low), float(high)


def report(outcomes: dict[Drawn, str]) -> str:
    """Noticed and drawn, by package and by kind."""
    lines = []
    for title, key in (("package", lambda one: one.file.split("/")[0]), ("kind", lambda one: one.kind)):
        lines.append(f"{title:24} noticed  of   share (95 %)")
        groups: dict[str, list[bool]] = defaultdict(list)
        for fault, outcome in outcomes.items():
            groups[key(fault)].append(outcome == KILLED)
        for name, killed in [*sorted(groups.items()), ("all", [one == KILLED for one in outcomes.values()])]:
            low, high = interval(sum(killed), len(killed))
            share = sum(killed) / max(len(killed), 1)
            lines.append(f"{name:24} {sum(killed):7} {len(killed):4}   {share:.0%} ({low:.0%} to {high:.0%})")
    return "\n".join(lines)


def main() -> int:
    """Draw, put in, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", nargs="*", metavar="TESTS")
    parser.add_argument("--drawn", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if asked.record is not None:
        return record(asked.record, asked.processes)
    reach, without_effect = Reach(), equivalents()
    faults = [prepared(file, edit, reach) for file, edit in draw(asked.drawn, asked.seed, asked.only)]
    apart = [fault for fault in faults if (fault.file, fault.before.strip(), fault.after.strip()) in without_effect]
    faults = [fault for fault in faults if fault not in apart]
    if asked.show:
        for fault in faults:
            print(f"{fault.file} {fault.name}  [{len(fault.tests)} tests]")
        return 0
    # A package has copies of its own, so that several can be measured at once.
    tried = try_drawn(faults, asked.processes, re.sub(r"\W+", "-", asked.only))
    outcomes = {fault: outcome for fault, outcome in tried.items() if outcome != BROKEN}
    print(report(outcomes))
    if len(outcomes) < len(tried):
        print(f"{len(tried) - len(outcomes)} not counted: none of their tests passes without them.")
    if apart:
        print(f"{len(apart)} set apart as without effect ({EQUIVALENT.name}).")
    for fault, outcome in tried.items():
        if outcome != KILLED:
            print(f"{outcome}: {fault.file} {fault.name}")
    return 0 if sum(one == KILLED for one in outcomes.values()) >= GOAL * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
