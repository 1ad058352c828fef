"""Results of the manuscript's studies, each in a JSON file with stamps; only what is missing or stale is computed."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

import kinelo
from evidence import FUNCTIONS, Evidence
from kinelo._version import __version__
from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.reproduce import carry_out, finished_run, has_run, run_folder

HERE = Path(__file__).parent
STUDIES, RESULTS, RUNS = HERE / "studies", HERE / "results", HERE / "build"


def stamp_of(name: str) -> str:
    """Digest of what a result was asked: its study file and the functions that evaluate it."""
    text = (STUDIES / f"{name}.toml").read_text(encoding="utf-8")
    text += "".join(_syntax(one) for one in _used(FUNCTIONS[name]))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def library_digest() -> str:
    """Digest of every module of Kinelo: a result is stale once any of them has changed."""
    package = Path(kinelo.__file__).parent
    content = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:16]


def _syntax(function: FunctionType) -> str:
    """What a function does, whatever its layout and comments."""
    return ast.dump(ast.parse(inspect.getsource(function)))


def _used(function: FunctionType) -> list[FunctionType]:
    """A function and those of its own module that it calls, in turn."""
    found, waiting = [], [function]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.append(one)
        names = {name for code in _codes(one.__code__) for name in code.co_names}
        others = (one.__globals__.get(name) for name in sorted(names))
        waiting += [other for other in others if inspect.isfunction(other) and other.__module__ == one.__module__]
    return sorted(found, key=lambda one: one.__name__)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those within it (comprehensions, inner functions)."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def read_result(name: str) -> dict[str, Any]:
    """A stored result."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def is_fresh(name: str) -> bool:
    """Whether a result is there and belongs to its study and to the library as they stand."""
    if not (RESULTS / f"{name}.json").exists():
        return False
    result = read_result(name)
    return (result["stamp"], result.get("library")) == (stamp_of(name), library_digest())


def update(again: bool = False) -> list[str]:
    """Compute what is missing or stale, or with ``again`` everything; what is stale and has no data is an error."""
    said = []
    for figure in read_figures(STUDIES):
        if is_fresh(figure.draw) and not again:
            continue
        begin = time.monotonic()
        _write(figure.draw, _evaluate(figure, again))
        said.append(f"{figure.draw}: computed in {time.monotonic() - begin:.0f} s.")
        print(said[-1], flush=True)
    return said


def _evaluate(figure: FigureStudy, again: bool) -> Evidence:
    """Runs of another state of the library lie apart and are not used."""
    runs, place = {}, RUNS / library_digest()
    if again:
        shutil.rmtree(place, ignore_errors=True)
    for name, study in figure.studies.items():
        if has_run(study):
            folder = run_folder(place, figure, name, study)
            carry_out(study, folder, lambda done: None, None)
            runs[name] = finished_run(study, folder)
    return FUNCTIONS[figure.draw](figure, runs)


def _write(name: str, found: Evidence) -> None:
    RESULTS.mkdir(exist_ok=True)
    content = {
        "study": f"{name}.toml", "kinelo": __version__, "stamp": stamp_of(name), "library": library_digest(),
        "values": found.values, "series": found.series,
    }  # fmt: skip
    text = json.dumps(_plain(content), ensure_ascii=False, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """Ready for JSON, numbers to ten digits."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.10g}")
    return int(value) if isinstance(value, np.integer) else value
