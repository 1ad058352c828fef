"""Does any public call end in an error of Python's, a crash or a hang when it is handed nonsense?

    python verification/nonsense.py [--piece 2/8] [--seed 1] [--pairs 4] [NAME …]

Every argument of every valid call of ``tests/bad_input.py`` and ``tests/bad_ratings.py`` is replaced by each of some
fifty kinds of nonsense, every public method of what users hold (``HELD`` of ``tests/test_nonsense_to_methods.py``) is
called with each of them, and ``--pairs`` more calls an argument have two spoilt at once, drawn from the seed. Each name
runs in a process of its own.

A call may answer, refuse with an InputError of one line, or raise a TypeError that Kinelo wrote or that says which
arguments the call takes. Anything else is counted and printed with where it came from: other errors, warnings of NumPy
turned errors of NumPy, a TypeError out of a library, a sentence of several lines, more than ``LONGEST`` seconds of
processor time without a word of how long it will take, the end of the process. The exit code is 1 where there are any.
"""

from __future__ import annotations

import argparse
import datetime
import decimal
import fractions
import inspect
import json
import math
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

import kinelo as kn

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from alarm import Alarm, Hang  # noqa: E402  # pyright: ignore[reportMissingImports]
from bad_input import CALLS, first, made_of  # noqa: E402  # pyright: ignore[reportMissingImports]
from bad_ratings import RATER_CALLS  # noqa: E402  # pyright: ignore[reportMissingImports]
from test_nonsense_to_methods import BETWEEN_PARTS, HELD  # noqa: E402  # pyright: ignore[reportMissingImports]

LONGEST = 10
"""Seconds of a processor after which a call that said nothing hangs; compiling does not count."""
ALARM = Alarm(LONGEST)
MEMORY = 12 << 30
"""Bytes of addresses a process may have; what wants more is refused by Kinelo or ends in an error of memory."""

NONSENSE: dict[str, Callable[[], object]] = {
    "None": lambda: None, "True": lambda: True, "nan": lambda: math.nan, "inf": lambda: math.inf,
    "-inf": lambda: -math.inf, "0": lambda: 0, "-1": lambda: -1, "-1.5": lambda: -1.5, "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324, "10**9": lambda: 10**9, "10**18": lambda: 10**18, "10**30": lambda: 10**30,
    "10**400": lambda: 10**400, "-10**400": lambda: -(10**400), "1j": lambda: 1j,
    "Decimal": lambda: decimal.Decimal("NaN"), "Fraction": lambda: fractions.Fraction(1, 3),
    "2.5 exactly": lambda: decimal.Decimal("2.5"), "2**63": lambda: 2**63, "float32": lambda: np.float32(2.5),
    "float16": lambda: np.float16(0.3), "int8": lambda: np.int8(3), "uint64": lambda: np.uint64(2**63 + 1),
    "longdouble": lambda: np.longdouble(2.5), "bool_": lambda: np.bool_(True), "str_": lambda: np.str_("A"),
    "nothing in 32 bits": lambda: np.float32(math.nan), "in itself": lambda: in_itself(),
    "empty text": lambda: "", "text": lambda: "nonsense", "lines": lambda: "a\nb\x00\u202e",
    "long text": lambda: "A" * 20_000,
    "surrogate": lambda: "\ud800", "bytes": lambda: b"x", "bytearray": lambda: bytearray(b"\xff"),
    "path": lambda: pathlib.Path("no/such/file.csv"), "folder": lambda: pathlib.Path("."),
    "[]": list, "[1]": lambda: [1], "[None]": lambda: [None], "[nan, 1]": lambda: [math.nan, 1.0],
    "[[A], [B]]": lambda: [["A"], ["B"]], "ragged": lambda: [[1.0], [1.0, 2.0]], "deep": lambda: nested(600),
    "texts": lambda: ["A", "B", "A"], "mixed": lambda: ["A", 1, None, [2]], "huge in list": lambda: [10**400, 1],
    "()": lambda: (), "(1, 2, 3)": lambda: (1, 2, 3), "{}": dict, "{a: 1}": lambda: {"a": 1},
    "{1: {}}": lambda: {1: {2: {}}}, "{A: nan}": lambda: {"A": math.nan}, "set": lambda: {1, "A"},
    "range": lambda: range(3), "generator": lambda: (n for n in range(3)), "deque": lambda: deque([1, 2]),
    "array": lambda: np.array([1.0, 2.0]), "0-d array": lambda: np.array(5), "no array": lambda: np.array([]),
    "3-d array": lambda: np.zeros((2, 2, 2)), "text array": lambda: np.array(["A", "B"]),
    "object array": lambda: np.array([None, {}, 1], dtype=object), "complex array": lambda: np.array([1j, 2.0]),
    "bool array": lambda: np.array([True, False, True]),
    "records": lambda: np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]),
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [True, False, True]),
    "NaT": lambda: np.datetime64("NaT"), "year 9999": lambda: np.datetime64("9999-12-31"),
    "date": lambda: datetime.date(2020, 2, 29), "time": lambda: datetime.datetime(1, 1, 1, tzinfo=datetime.UTC),
    "timedelta": lambda: datetime.timedelta(days=1), "frame": lambda: pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
    "empty frame": pl.DataFrame, "lazy frame": lambda: pl.LazyFrame({"a": [1]}), "series": lambda: pl.Series([1, 2, 3]),
    "function": lambda: len, "lambda": lambda: lambda *a, **k: None, "class": lambda: dict, "module": lambda: math,
    "object": object, "rater": lambda: kn.TeamElo.classic(k=20), "law": lambda: kn.Tanh(nu=0.5),
}  # fmt: skip
"""What it is called → what makes it anew, as some are spent when they are used."""


def nested(depth: int) -> list:
    """Lists in lists."""
    result: list = []
    for _ in range(depth):
        result = [result]
    return result


def in_itself() -> list:
    """A list that holds itself."""
    result: list = [1.0]
    result.append(result)
    return result


def place(error: BaseException) -> str:
    """The innermost line of Kinelo's that an error passed through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/src/kinelo/" in f.filename]
    return f"{frames[-1].filename.split('/src/')[1]}:{frames[-1].lineno} {frames[-1].name}" if frames else "the call"


def raw(error: BaseException) -> str:
    """What is wrong with an error, or nothing."""
    if isinstance(error, kn.InputError):
        text = str(error)
        if not text.strip() or re.search(r"[\n\r\x00]", text):
            return "a sentence of several lines"
        return "a sentence of more than 1,000 characters" if len(text) > 1002 else ""
    if isinstance(error, TypeError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = "/src/kinelo/" in last.filename
        if (ours and (last.line or "").startswith("raise")) or re.search(
            r"(missing \d+ required|unexpected keyword|takes (from )?\d+|got multiple values|takes (no|exactly one))",
            str(error),
        ):
            return ""
    return type(error).__name__


def outcome_of(call: Callable[[], object], shown: str) -> tuple[str, str]:
    """What is wrong with a call and where, or two empty texts."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ALARM.start()
        try:
            answer = call()
            if inspect.isgenerator(answer):
                first(answer)
        except Hang as error:
            if any(re.search(r"takes (at least|about)", str(w.message)) for w in said) or "10**9" in shown:
                return "", ""  # a thousand million is much, and no nonsense
            return "Hang", place(error)
        except Exception as error:
            ALARM.stop()
            wrong = raw(error)
            return (f"{wrong}: {' '.join(str(error)[:90].split())}", place(error)) if wrong else ("", "")
        finally:
            ALARM.stop()
    return "", ""


def spoilt_calls(name: str, pairs: int, seed: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Calls of one name with nonsense in one argument, or in two, and how they look."""
    call, good = (CALLS | RATER_CALLS)[name]
    good = made_of(good)

    def spoil(**kinds: str) -> tuple[str, Callable[[], object]]:
        shown = ", ".join(f"{argument}={kind}" for argument, kind in kinds.items())
        return f"{name}({shown})", lambda: call(**good | {a: NONSENSE[kind]() for a, kind in kinds.items()})

    for argument in good:
        for kind in NONSENSE:
            yield spoil(**{argument: kind})
    g = np.random.default_rng([seed, *name.encode()])
    arguments, kinds = list(good), list(NONSENSE)
    for _ in range(pairs * len(good) if len(good) > 1 else 0):
        one, other = g.choice(len(arguments), 2, replace=False)
        yield spoil(**{arguments[one]: kinds[g.integers(len(kinds))], arguments[other]: kinds[g.integers(len(kinds))]})


def method_calls(kind: str, pairs: int, seed: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Calls of every public method of what users hold, and how they look."""
    for name, _ in inspect.getmembers(type(HELD[kind]()), callable):
        if name.startswith("_") or name in BETWEEN_PARTS:
            continue
        try:
            listed = inspect.signature(getattr(HELD[kind](), name)).parameters.values()
        except (TypeError, ValueError):
            continue
        places = [p for p in listed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        needed = sum(p.default is p.empty for p in places)
        optional = [p.name for p in listed if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY]
        for nonsense, made in NONSENSE.items():
            if places:
                number = max(needed, 1)
                yield (
                    f"{kind}.{name}({', '.join([nonsense] * number)})",
                    lambda name=name, made=made, number=number: getattr(HELD[kind](), name)(
                        *[made() for _ in range(number)]
                    ),
                )
            for option in optional if not needed else ():
                yield (
                    f"{kind}.{name}({option}={nonsense})",
                    lambda name=name, made=made, option=option: getattr(HELD[kind](), name)(**{option: made()}),
                )


def sweep(name: str, pairs: int, seed: int) -> tuple[int, list[tuple[str, str, str]]]:
    """How many calls one name had, and those that went wrong."""

    def die(number, frame):
        os._exit(99)

    signal.signal(signal.SIGALRM, die)
    held = name.removeprefix("methods of ")
    listed = method_calls(held, pairs, seed) if held != name else spoilt_calls(name, pairs, seed)
    calls, wrong = 0, []
    with ALARM.armed():
        for shown, call in listed:
            calls += 1
            signal.alarm(180 * LONGEST)
            print(shown, file=sys.stderr, flush=True)
            what, where = outcome_of(call, shown)
            if what:
                wrong.append((shown, what, where))
    return calls, wrong


def apart(name: str, pairs: int, seed: int) -> tuple[int, list[tuple[str, str, str]]]:
    """The same in a process of its own, in an empty folder, with a limit on memory."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if not child:
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            with open("log", "w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            try:
                result = sweep(name, pairs, seed)
            except BaseException:
                traceback.print_exc()
                os._exit(98)
            pathlib.Path("result.json").write_text(json.dumps(result))
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        found = pathlib.Path(folder, "result.json")
        if status or not found.is_file():
            lines = pathlib.Path(folder, "log").read_text(errors="replace").splitlines()[-1:]
            return 0, [(" ".join(lines), f"the process ended ({status})", name)]
        calls, wrong = json.loads(found.read_text())
        return calls, [tuple(w) for w in wrong]


def main() -> int:
    """Print what went wrong, by where it came from."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--piece", default="1/1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=4)
    asked = parser.parse_args()
    names = [*CALLS, *RATER_CALLS, *(f"methods of {kind}" for kind in HELD)]
    part, parts = map(int, asked.piece.split("/"))
    names = [n for n in names if n in asked.names] if asked.names else names[part - 1 :: parts]
    calls, wrong = 0, []
    for name in names:
        number, bad = apart(name, asked.pairs, asked.seed)
        calls, wrong = calls + number, wrong + bad
        print(f"{name}: {number} calls, {len(bad)} wrong", flush=True)
        for shown, what, where in bad:
            print(f"  {where}: {what}  [{shown[:150]}]", flush=True)
    print()
    for where, number in Counter(where for *_, where in wrong).most_common():
        print(f"{number:5d}  {where}")
    print(f"{len(wrong)} of {calls} calls ended in anything but an answer or a sentence.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
