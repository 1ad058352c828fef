"""Answers that were read once and are kept: what commands, services and lines of Python say of small leagues.

A kept file is a transcript. A line that begins with ``$`` is a command (``cat FILE`` shows a file, or a page's words),
``GET``, ``POST`` or ``DELETE`` a request to the service of ``book.db`` (behind ``LAB`` to the lab), ``>>>`` Python; the
lines below are the answer.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import json
import re
import shlex
import shutil
import sys
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import lab_visitor
import numpy as np
import polars as pl
import pytest
from drawing import drawn, remember_keys
from interfaces import options, requests
from matplotlib.figure import Figure

import kinelo as kn
from kinelo.cli import main
from kinelo.presentation import Table
from kinelo.raters.balance import Balance
from kinelo.raters.explanation import Account, Explanation
from kinelo.raters.preview import Preview

HERE = Path(__file__).parent
KEPT = sorted((HERE / "kept").glob("*.txt"))
ASKED = re.compile(r"(\$|GET|POST|DELETE|LAB|>>>) ")
NUMBER = re.compile(r"\d+\.?\d*(?:e[+-]?\d+)?|\.\d+")
DIGITS = 6
"""Significant digits that are kept of a number; more differ between processors."""
LAST_DIGITS = 2
"""By how many units of its last digit a number with decimals may differ."""
LONGEST_PATH = 48
"""Signs that are kept of a line that is drawn."""
TOOK = re.compile(r', "seconds": [^,}]+|,?worker="\d+"| in \d+ s(?=\. Report)|(?:elapsed|left) [\d:]+')
NOTHING = re.compile(r"-?\d+\.\d+e-1[1-9]")
NO_ANSWER = frozenset({"residual", "iterations", "teams", "system"})
"""Names of what differs between processors, or was asked with."""
ROUNDING = 1e-9
"""Below it `look` says 0."""
TURNS = ("positive", "above_zero", "in_points", "prior_counts", "learnt", "by_kind")
"""What parameters of raters may be besides."""
SPEED = re.compile(r"matches/s$|_seconds_|^! .*\d% +(?:[-\d]+:|elapsed|left|Checking)")
SIGN_OF_ZERO = re.compile(r"[-−+](?=0*\.?0+(?![\d.]))")
PADDING = re.compile(r"(?<=\[) +| +(?=\])")
"""Spaces within the brackets of an array, which hang on the last digits of its numbers."""
COUNTED = re.compile(r"-\d|(?: \w+)? (?:match|side|row|contest|player|vote|name|day|entr|race|time)")
"""What stands behind a whole number that is no estimate: the rest of a date, or what is counted."""


def asked_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """What a transcript asks, each with the lines of its answer; lines before the first are remarks."""
    asked, answer = "", []
    for line in text.splitlines():
        if ASKED.match(line):
            yield asked, answer
            asked, answer = line, []
        else:
            answer.append(line)
    yield asked, answer


class Words(HTMLParser):
    """The words of a page: a line for each block and each row of a table, and where what is drawn begins."""

    BLOCKS = frozenset({"p", "h1", "h2", "h3", "tr", "li", "figcaption", "div", "summary", "title", "text", "option"})

    DRAWN = frozenset({"path", "polyline", "polygon", "line", "rect", "circle"})
    WHERE = frozenset({"d", "points", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "scope"})

    def __init__(self) -> None:
        super().__init__()
        self.text, self.hidden = "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in ("script", "style")
        self.text += "\n" if tag in self.BLOCKS else " | " if tag in ("td", "th") else ""
        if tag in self.DRAWN:
            where = [
                re.sub(r"(?<=.{40})[\d.]+$", "", str(value)[:LONGEST_PATH])
                for name, value in attrs
                if name in self.WHERE
            ]
            self.text += f"\n{tag} {' '.join(where)}"

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")
        self.text += "\n" if tag in self.BLOCKS else ""

    def handle_data(self, data: str) -> None:
        self.text += "" if self.hidden else re.sub(r"\s+", " ", data)

    def lines(self) -> list[str]:
        return [line.strip() for line in self.text.splitlines() if line.strip()]


def words_of(text: str) -> str:
    """The words of a page, and where what is drawn begins."""
    page = Words()
    page.feed(text)
    return "\n".join(page.lines())


def shown(number: re.Match[str], digits: int = DIGITS) -> str:
    """A number with at most so many significant digits."""
    plain = number[0]
    significant = re.sub(r"e.*", "", plain).replace(".", "").lstrip("0")
    return number[0] if len(significant) <= digits or "." not in plain else f"{float(plain):.{digits}g}"


def say(*answers: Any) -> None:
    """Print answers: pictures as `drawn`, tables row by row, lines of those that speak in sentences."""
    for one in answers:
        if isinstance(one, Figure):
            print(*drawn(one), sep="\n")
        elif isinstance(one, pl.DataFrame):
            print(one.write_csv(), end="")
        elif isinstance(one, Table):
            rows = [[column.label for column in one.columns], *one.cells()]
            print(*[one.title] * bool(one.title), *(" | ".join(row) for row in rows), *one.below, sep="\n")
        elif hasattr(one, "lines"):
            if isinstance(one, Balance | Preview | Explanation | Account):
                say(one.table())
            print(*one.lines(), sep="\n")
        else:
            print(one)


def rough(*answers: Any) -> None:
    """Print answers with three digits of every number: what an optimiser finds differs more between machines."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        say(*answers)
    print(NUMBER.sub(lambda number: shown(number, 3), out.getvalue()), end="")


def read(read_table: Any = kn.read_matches, /, **columns: list[Any]) -> None:
    """Print what is read of a table, row by row, and what is not used."""
    table = read_table(columns)
    lost = table.rejected
    rejected = [f"row {row}: {why} {what}" for row, why, what in zip(lost.row, lost.reason, lost.content, strict=True)]
    say(table, *map(table._line, range(len(table))), *rejected, *(f"note: {note}" for note in table.notes))


def look(*results: Any) -> None:
    """Print what results hold: every public number with five digits, one name a line."""
    for one in results:
        if isinstance(one, str) or (not hasattr(one, "__dict__") and not hasattr(one, "_fields")):
            print(_plain(one))
            continue
        print(type(one).__name__)
        for name in getattr(one, "_fields", dir(one)):
            try:
                value = getattr(one, name, None)
            except kn.InputError as error:
                value = f"! {error}"
            if name[0] != "_" and name not in NO_ANSWER and not callable(value):
                said = _plain(abs(value) if name == "mode" else value)  # an eigenvector has no sign
                print(f" {name}: {said}" if said else f" {name}")


def offer(*places: Any) -> None:
    """Print what a package offers that may be left out: functions, classes and their methods with what is then taken.

    Of raters also where parameters are searched: the value of one never fitted, and the ends.
    """
    for place in places:
        for name in sorted(place.__all__):
            shown = getattr(place, name)
            if not callable(shown) or (isinstance(shown, type) and issubclass(shown, Exception)):
                continue
            members = sorted(vars(shown).items()) if isinstance(shown, type) else []
            methods = [(f"{name}.{key}", one) for key, one in members if key[0] != "_" and inspect.isfunction(one)]
            for key, one in [(name, shown), *methods]:
                given = inspect.signature(one).parameters.values()
                taken = [a for a in given if a.default is not a.empty and a.name[0] != "_"]
                if taken:
                    print(f"{key}: {', '.join(f'{a.name}={_taken(a.default)}' for a in taken)}")
            for one in getattr(shown, "_declared_parameters", ()):
                ends = (
                    f"{one.default:g}, from {one.low:g} to {one.high:g}; largest {one.largest:g}, vague {one.vague:g}"
                )
                print(f" {one.name}: {', '.join([ends, *(word for word in TURNS if getattr(one, word))])}")


def _taken(value: Any) -> str:
    return value.__name__ if callable(value) else str(value)


def _plain(value: Any) -> str:
    """Numbers with five digits, arrays row by row, pairs and tuples of names one after the other."""
    if value is None or isinstance(value, bool | str | np.bool_):
        return str(value)
    if isinstance(value, float | np.floating) or getattr(value, "shape", None) == ():
        return f"{value:.5g}" if not abs(value) < ROUNDING else "0"
    if hasattr(value, "_fields"):
        return " ".join(f"{name}={_plain(getattr(value, name))}" for name in value._fields if name not in NO_ANSWER)
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return "".join(f"\n  {_plain(row)}" for row in value)
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + " ".join(map(_plain, list(value))) + "]"
    return str(value) if type(value).__repr__ is not object.__repr__ else ""


def _chances(forecast: Any) -> list[Any]:
    return [getattr(forecast, name) for name in ("probabilities", "win", "expected_place") if hasattr(forecast, name)]


def tell(rater: Any, played: Any, coming: Any = None) -> None:
    """Print what a rater found: ratings, its last forecasts one step ahead, and those of what comes."""
    ahead = copy.deepcopy(rater).one_step_ahead(played)
    say(rater.fit(played), rater.ratings_)
    chances = [table[-5:] for table in _chances(ahead)]
    if coming is not None:
        chances += _chances(rater.predict(coming))
    for table in chances:
        for row in table:
            print(*([f"{one:.6g}" for one in row] if getattr(row, "shape", ()) else [f"{row:.6g}"]))


class Asking:
    """A folder with the leagues in which one transcript asks."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(HERE / "leagues", folder, dirs_exist_ok=True)
        self.folder, self.client, self.visitor = folder, None, None
        self.names: dict[str, Any] = {
            "kn": kn,
            "np": np,
            "pl": pl,
            "tell": tell,
            "say": say,
            "rough": rough,
            "read": read,
            "look": look,
            "offer": offer,
            "Words": Words,
            "options": options,
        }
        of_lab = ("live", "verdict", "scenes", "knock", "reproduced", "paces")
        self.names |= {name: getattr(lab_visitor, name) for name in of_lab}

    def __enter__(self) -> Asking:
        self.patch = pytest.MonkeyPatch()
        self.patch.chdir(self.folder)
        self.patch.setenv("COLUMNS", "120")
        self.patch.syspath_prepend(str(HERE.parent / "paper"))
        remember_keys(self.patch)
        return self

    def __exit__(self, *_: object) -> None:
        if self.visitor is not None:
            self.visitor.close()
        if self.client is not None:
            self.client.__exit__(None, None, None)
        self.patch.undo()

    def answer(self, asked: str) -> list[str]:
        """The lines of an answer, as they are kept."""
        kind, _, rest = asked.partition(" ")
        ask = {"$": self._command, ">>>": self._python, "LAB": self._visit}.get(kind) or (
            lambda words: self._request(kind, words)
        )
        text = ask(rest).replace(str(self.folder), "FOLDER")
        lines = [re.sub(r"([━─])\1+", r"\1", re.sub(r"(?<=\S) +", " ", line)).rstrip() for line in text.splitlines()]
        return [TOOK.sub("", NUMBER.sub(shown, NOTHING.sub("0.0", line))) for line in lines if not SPEED.search(line)]

    def _command(self, words: str) -> str:
        program, *arguments = shlex.split(words)
        if program == "cat":
            if not Path(arguments[0]).exists():
                return "[no such file]"
            text = Path(arguments[0]).read_text(encoding="utf-8")
            if not arguments[0].endswith(".html"):
                return text
            return words_of(text)
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            patch.setattr(sys, "argv", ["kinelo", *arguments])
            patch.setattr(warnings, "showwarning", warnings.showwarning)
            with pytest.raises(SystemExit) as ended, warnings.catch_warnings():
                main()
        code = f"[exit {ended.value.code}]\n" if ended.value.code else ""
        return out.getvalue() + "".join(f"! {line}\n" for line in err.getvalue().splitlines()) + code

    def _python(self, line: str) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                exec(compile(line + "\n", "<answers>", "single"), self.names)
            except kn.InputError as error:
                print(f"! {error}")
        return out.getvalue() + "".join(f"! {one.message}\n" for one in said)

    def _visit(self, words: str) -> str:
        self.visitor = self.visitor or lab_visitor.Visitor(self.folder)
        method, _, rest = words.partition(" ")
        return self.visitor.ask(method, rest, words_of)

    def _request(self, method: str, words: str) -> str:
        if self.client is None:
            from starlette.testclient import TestClient

            from kinelo.service.app import create_app
            from kinelo.service.settings import Settings

            app = create_app(Settings("book.db"))
            self.client = TestClient(app, base_url="http://127.0.0.1:8000").__enter__()
        path, _, body = words.partition(" ")
        answer = self.client.request(method, path, content=body or None, headers={"Content-Type": "application/json"})
        status = "" if answer.status_code == 200 else f"[status {answer.status_code}]\n"
        if "json" not in answer.headers.get("content-type", ""):
            return status + (words_of(answer.text) if "html" in answer.headers["content-type"] else answer.text)
        if path == "/openapi.json":
            return requests(answer.json())
        text = json.dumps(answer.json(), ensure_ascii=False, indent=1)
        return status + re.sub(r"([\[{])([^\[\]{}]*)([\]}])", lambda one: " ".join(one[0].split()), text)


def alike(kept: str, said: str) -> bool:
    """Whether two lines agree: words and counts exactly, other numbers within `LAST_DIGITS` of their last digit.

    >>> alike("Ann 1612 of 40 matches", "Ann 1613 of 40 matches"), alike("of 40 matches", "of 41 matches")
    (True, False)
    >>> alike("a loss of .6931", "a loss of .6933"), alike("a loss of .6931", "a loss of .6934")
    (True, False)
    >>> alike("from 0.1 to 0.35", "from 0.2 to 0.35"), alike("at most 200 teams", "at most 201 teams")
    (False, False)
    """
    if kept == said:
        return True
    kept, said = PADDING.sub("", SIGN_OF_ZERO.sub("", kept)), PADDING.sub("", SIGN_OF_ZERO.sub("", said))
    if NUMBER.split(kept) != NUMBER.split(said):
        return False
    ours, theirs = list(NUMBER.finditer(kept)), list(NUMBER.finditer(said))
    return len(ours) == len(theirs) and all(
        abs(_value(one) - _value(other)) <= 1.0001 * _tolerance(one, kept[one.end() :])
        for one, other in zip(ours, theirs, strict=True)
    )


def _value(number: re.Match[str]) -> float:
    return float(number[0])


def _tolerance(number: re.Match[str], behind: str) -> float:
    """By how much a number may differ: a count by nothing, nor one of few digits or a round one, as limits are."""
    plain, _, power = number[0].partition("e")
    if "." not in plain and not power:
        return 0.0 if len(plain) < 3 or plain.endswith("0") or COUNTED.match(behind) else 1.0
    if len(plain.replace(".", "").strip("0")) < 3 and int(power or 0) > -6:
        return 0.0
    unit = 10.0 ** -len(plain.partition(".")[2])
    return LAST_DIGITS * unit * 10.0 ** int(power or 0)
