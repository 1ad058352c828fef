"""A lab without a browser: its routes, with the work of its workers done in this process, and leagues that play."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import re
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from kinelo.errors import InputError

NOT_TOLD = re.compile(r"-?[\d.]+(?:e[+-]\d+)?(?= \(hardly matters\))")
"""Parameters of which matches say nothing: where a search for them ends differs between processors."""
VARYING = ("seconds", "version")
"""What is another number at every run or release."""
HERE = "http://127.0.0.1:8000"
FEW, FEW_NUMBERS, WIDTH = 26, 8, 150
"""Longest list of rows and of numbers that is kept whole, and signs of a line."""


class WorkHere:
    """In place of a worker process: the same controllers, asked in the same lines of JSON, at once."""

    ended = False
    said: ClassVar[list[str]] = []
    """How far work says that it is; emptied by whoever reads it."""

    def __init__(self, kind: str) -> None:
        from kinelo.lab.serve.worker import CONTROLLERS

        module, name = CONTROLLERS[kind]
        made = getattr(importlib.import_module(module), name)
        self._controller = made() if kind in ("guide", "theory") else made(self._tell)

    def _tell(self, progress: Any) -> None:
        self.said.append(progress if isinstance(progress, str) else progress["label"])

    async def ask(self, task: str, report: Any = None, /, **arguments: Any) -> Any:
        from kinelo.lab.serve.worker import _answer

        line = json.dumps({"task": task, "arguments": arguments}).encode()
        answer = json.loads(json.dumps(_answer(self._controller, line), allow_nan=False))
        if "error" in answer:
            raise InputError(answer["error"])
        return answer["result"]

    def kill(self) -> None:
        """Nothing runs."""

    async def end(self) -> None:
        """Nothing runs."""


class Visitor:
    """One page of a lab: what it asks and what it is answered, in lines."""

    def __init__(self, folder: Path) -> None:
        from starlette.testclient import TestClient

        from kinelo.lab.serve.app import create_app
        from kinelo.lab.serve.jobs import Worker
        from kinelo.lab.serve.settings import Settings

        async def start(_: type, kind: str, limits: Any) -> WorkHere:
            return WorkHere(kind)

        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(Worker, "start", classmethod(start))
        app = create_app(Settings(paper=folder / "paper", shared=True))
        self._client = TestClient(app, base_url=HERE).__enter__()
        self._socket = self._client.websocket_connect("ws://127.0.0.1:8000/live", headers={"origin": HERE}).__enter__()
        self._page = self._socket.receive_json()["page"]
        WorkHere.said.clear()

    def close(self) -> None:
        self._socket.__exit__(None, None, None)
        self._client.__exit__(None, None, None)
        self._patch.undo()

    def ask(self, method: str, words: str, of_page: Any) -> str:
        """The answer to a request, shortened: ``~`` is what belongs to the page, ``@FILE`` a body from a file.

        ``HEADERS`` asks like ``GET`` for what stands above the answer, ``QUIETLY`` and a request for nothing but its
        status. ``SAY`` sends a message to the live league and waits for the verdict of theory, or for a refusal.
        """
        if method == "SAY":
            return self._say(json.loads(words))
        if method == "QUIETLY":
            method, _, words = words.partition(" ")
            return self.ask(method, words, of_page).partition("\n")[0].partition("{")[0]
        path, _, body = words.partition(" ")
        content = Path(body[1:]).read_bytes() if body.startswith("@") else body.encode() or None
        headers = {"origin": HERE, "accept-encoding": "identity"}
        path = path.replace("~", f"/api/pages/{self._page}")
        answer = self._client.request(method.replace("HEADERS", "GET"), path, content=content, headers=headers)
        status = "" if answer.status_code == 200 else f"[status {answer.status_code}]\n"
        status += "".join(f"· {words}\n" for words in dict.fromkeys(WorkHere.said))
        WorkHere.said.clear()
        kind = answer.headers.get("content-type", "")
        if method == "HEADERS":
            apart = ("etag", "last-modified", "date", "content-length")
            return status + "\n".join(f"{name}: {value}" for name, value in answer.headers.items() if name not in apart)
        if "json" in kind:
            return status + NOT_TOLD.sub("…", shortened(answer.json()))
        return status + (NOT_TOLD.sub("…", of_page(answer.text)) if "html" in kind else answer.text)

    def _say(self, message: dict[str, Any]) -> str:
        self._socket.send_json(message)
        if message.get("type") in ("pause", "speed", "drawn"):
            return ""
        heard = []
        while not heard or (heard[-1]["type"] not in ("refused", "complaint") and not heard[-1].get("final")):
            received = self._socket.receive()
            if text := received.get("text"):
                heard.append(json.loads(text))
        return "\n".join(shortened(one) for one in heard if one["type"] != "started")


def knock(settings: Any, *requests: str) -> None:
    """Print how a lab of these settings answers requests: a method, a path and headers (``name: value``) each."""
    from starlette.testclient import TestClient

    from kinelo.lab.serve.app import create_app

    client = TestClient(create_app(settings), base_url=HERE, follow_redirects=False)
    for one in requests:
        method, path, *headers = one.split(" ", 2)
        client.cookies.clear()
        given = dict(pair.split(": ", 1) for pair in headers[0].split("; ")) if headers else {}
        answer = client.request(method, path, headers={"accept-encoding": "identity"} | given)
        kept = ("location", "set-cookie", "content-encoding", "vary", "cache-control")
        shown = [f"{name}: {answer.headers[name]}" for name in kept if name in answer.headers]
        print(answer.status_code, *shown, "" if answer.status_code == 200 else answer.text, sep=" | ")


def reproduced(folder: str, scale: str) -> None:
    """Put a reproduction that took no time into a folder, with a run of the first figure."""
    spec = importlib.util.spec_from_file_location("made_report", Path(__file__).parents[1] / "lab" / "made_report.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.put(Path(folder), scale)
    for name in ("figures/figure-01.pdf", "studies/figure-01.toml", "runs/figure-01-R1-ab/x"):
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("kept", encoding="utf-8")


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def paces(*steps: tuple[str, Any]) -> None:
    """Print what a live run's pacer says after each step: ``wait`` so many seconds, ``speed``, ``sent``, ``drawn``."""
    from kinelo.lab.explore import explorer

    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explorer, "time", clock)
        pacer = explorer.Pacer()
        for what, value in steps:
            if what == "wait":
                clock.now += value
            else:
                {"speed": pacer.set_speed, "drawn": pacer.acknowledge, "sent": lambda _: pacer.next_sequence()}[what](
                    value
                )
            print(what, value, f"speed {pacer.speed:g}, ready {pacer.ready}, abandoned {pacer.abandoned},", end=" ")
            print(f"due {pacer.matches_due():.6g}, woken {pacer._woken}")


def live(
    given: dict[str, Any], matches: float, *, seed: int = 1, pin: dict[str, Any] | None = None, units: str = "elo"
) -> None:
    """Print what a page is sent of a league that plays: how it opens, a frame now and after so many matches of a team,
    and what it shows after many more."""
    from kinelo.lab.explore.controls import Controls
    from kinelo.lab.explore.live import LiveRun

    run = LiveRun(3, Controls.read(given), seed)
    beside = None if pin is None else LiveRun(3, Controls.read(pin), seed, pinned=True)
    opening: dict[str, Any] = run.opening()
    opening.pop("controls")
    print(shortened(opening | {"python": opening["python"][units]}))
    for frame in range(2):
        print(shortened(_numbers(run.frame(7 + frame, beside), run.teams)))
        run.advance(matches)
        if beside is not None:
            beside.advance(run.matches)
    for _ in range(2 if run.film else 60):  # where none is solved beside, until there are enough moments to judge by
        run.advance(matches)
    evidence = run.evidence()
    shown = evidence and vars(evidence) | {name: vars(getattr(evidence, name)) for name in ("slope", "luck")}
    print("evidence:", shortened(shown))
    run.close()
    if beside is not None:
        beside.close()


def _numbers(frame: bytes, teams: int) -> dict[str, Any]:
    (length,) = struct.unpack_from("<I", frame)
    numbers = json.loads(frame[4 : 4 + length])
    rest = frame[4 + length :]
    shades = [] if not numbers["density"] else np.frombuffer(rest[-48 * 96 :], np.uint8)[::311].tolist()
    floats = np.frombuffer(rest[: len(rest) - (48 * 96 if numbers["density"] else 0)], "<f4")
    return numbers | {"floats": floats.tolist(), "shades": shades}


def shortened(content: Any, indent: str = "") -> str:
    """JSON in lines of about `WIDTH` signs: numbers to four digits, no empty fields, the middle of long lists left out.

    >>> shortened({"a": [1.23456, None], "b": list(range(10)), "c": None})
    '{ "a": [1.235, null], "b": "10: 0 2 4 6 8 9" }'
    """
    if isinstance(content, float):
        return json.dumps(float(f"{content:.4g}")) if math.isfinite(content) else str(content)
    if isinstance(content, str) and "\n" in content:
        return "\n".join(["", *(f"{indent}  | {line}".rstrip() for line in content.splitlines())])
    if not isinstance(content, dict | list | tuple):
        return json.dumps(content, ensure_ascii=False)
    if isinstance(content, dict):
        parts = [
            f'"{name}": {shortened(one, indent + " ")}'
            for name, one in content.items()
            if one not in (None, "", [], ()) and name not in VARYING
        ]
        ends = "{ ", " }"
    else:
        if len(content) > FEW_NUMBERS and all(isinstance(one, int | float | None) for one in content):
            some = [*content[:: -(-len(content) // 5)], content[-1]]
            return f'"{len(content)}: {" ".join(shortened(one) for one in some)}"'
        some = list(content) if len(content) <= FEW else [*content[:4], f"… {len(content)} in all", *content[-2:]]
        parts, ends = [shortened(one, indent + " ") for one in some], ("[", "]")
    line = f"{ends[0]}{', '.join(parts)}{ends[1]}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    lines = parts[:1]
    for part in parts[1:]:
        fits = "\n" not in lines[-1] + part and not part.startswith(("[", "{")) and len(lines[-1]) + len(part) < WIDTH
        lines[-1] += ", " + part if fits else ","
        lines += [] if fits else [part]
    inside = f"\n{indent} ".join(lines)
    return f"{ends[0].strip()}\n{indent} {inside}\n{indent}{ends[1].strip()}"


def verdict(answer: dict[str, Any], league: tuple[float, ...] | None = None, units: str = "elo", **given: Any) -> None:
    """Print the verdict on an answer of theory, given by its fields, and a league's slope, luck and matches.

    The league's numbers are value, error and independent snapshots of slope, then of luck, then matches.
    """
    from kinelo.advice.league_evidence import Evidence, Measured
    from kinelo.lab.explore.controls import Controls
    from kinelo.lab.explore.verdict import PricedStep, Search, TheoryAnswer, judged

    controls = Controls.read(given)
    made = {**answer}
    made |= {name: PricedStep(*made[name]) for name in ("fair", "least") if name in made}
    made |= {"search": Search(*made["search"])} if "search" in made else {}
    theory = TheoryAnswer(**{"slope": 0.8, "bias": -0.31, "luck": 0.4, "miss": 0.75, "whole": True, **made})
    assert repr(TheoryAnswer.from_dict(json.loads(json.dumps(theory.to_dict())))) == repr(theory)
    shown = None
    if league is not None:
        slope, luck = Measured(*league[:3], steady=league[2] > 0), Measured(*league[3:6], steady=True)
        shown = Evidence(slope, luck, league[6], outgrown=bool(league[7:]))
    print(shortened(judged(theory, shown, controls, controls.units(units))))


def scenes(units: str, **stops: Any) -> None:
    """Print scenes of the guide, each at one stop: charts, sentences, lines of Python."""
    from kinelo.lab.guide.matches import UNITS
    from kinelo.lab.guide.scenes import scenes as all_scenes

    for name, value in stops.items():
        print(shortened(all_scenes()[int(re.sub(r"\D", "", name)) - 1].draw(UNITS[units], value).to_dict()))
