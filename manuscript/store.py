"""Results of the manuscript's studies, each in a JSON file with a stamp; only what is missing or stale is computed."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from evidence import FUNCTIONS, Evidence, NoData
from kinelo._version import __version__
from kinelo.paper.figure import FigureStudy, read_figures
from kinelo.paper.runs import carry_out, finished_run, has_run, run_folder

HERE = Path(__file__).parent
STUDIES, RESULTS, RUNS = HERE / "studies", HERE / "results", HERE / "build"
BENCHMARKS = HERE.parent / "benchmarks" / "results.json"


def stamp_of(name: str) -> str:
    """Digest of what a result was asked: its study file and the functions that evaluate it.

    Kinelo's own theory is not in it: after a change there, ``make manuscript AGAIN=1`` computes everything.
    """
    text = (STUDIES / f"{name}.toml").read_text(encoding="utf-8")
    text += "".join(_syntax(one) for one in _used(FUNCTIONS[name]))
    if name == "forecasts":
        stored = json.loads(BENCHMARKS.read_text(encoding="utf-8"))
        text += json.dumps([part for key, part in sorted(stored.items()) if key.startswith(("Forecasts", "Contests"))])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
    """Whether a result is there and belongs to its study as it stands."""
    return (RESULTS / f"{name}.json").exists() and read_result(name)["stamp"] == stamp_of(name)


def update(again: bool = False) -> list[str]:
    """Compute what is missing or stale, and return what was said on the way."""
    said = []
    for figure in read_figures(STUDIES):
        if is_fresh(figure.draw) and not again:
            continue
        try:
            found = _evaluate(figure)
        except NoData as error:
            if not (RESULTS / f"{figure.draw}.json").exists():
                raise
            said.append(f"{error} What is stored is used.")
            continue
        _write(figure.draw, found)
        said.append(f"{figure.draw}: computed.")
    return said


def _evaluate(figure: FigureStudy) -> Evidence:
    runs = {}
    for name, study in figure.studies.items():
        if has_run(study):
            folder = run_folder(RUNS, figure, name, study)
            carry_out(study, folder, lambda done: None, None)
            runs[name] = finished_run(study, folder)
    return FUNCTIONS[figure.draw](figure, runs)


def _write(name: str, found: Evidence) -> None:
    RESULTS.mkdir(exist_ok=True)
    content = {
        "study": f"{name}.toml", "kinelo": __version__, "stamp": stamp_of(name), "values": found.values,
        "series": found.series,
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
