"""The process behind a page's long work: ``python -m kinelo.lab.serve.worker KIND MEMORY``.

Reads requests ``{"task": ..., "arguments": {...}}`` as lines of JSON and writes ``{"progress": ...}``, then
``{"result": ...}`` or ``{"error": "one sentence"}``. When the server goes away, so does this process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
import warnings
from typing import Any, BinaryIO

from kinelo.errors import InputError, KineloWarning
from kinelo.runtime.compiling import NOTICE

NICENESS = 3
"""Work behind the scenes gives way to what is on somebody's screen."""


CONTROLLERS = {
    "rating": ("kinelo.lab.rate.controller", "RatingController"),
    "audit": ("kinelo.lab.rate.controller", "AuditController"),
    "compare": ("kinelo.lab.rate.controller", "CompareController"),
    "guide": ("kinelo.lab.guide.scenes", "GuideController"),
    "theory": ("kinelo.lab.explore.verdict", "TheoryController"),
    "paper": ("kinelo.lab.paper.small", "PaperController"),
    "figure": ("kinelo.lab.paper.small", "PaperController"),
}
"""Who does each kind of work: a module that is loaded in the process alone, and a class."""


def main(kind: str, memory: int) -> None:
    """Serve requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers
    with contextlib.suppress(ImportError):  # not on every platform
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    os.nice(NICENESS)
    module, name = CONTROLLERS[kind]
    of_kind = getattr(importlib.import_module(module), name)
    quick = kind in ("guide", "theory")  # no progress is said of what takes moments
    controller = of_kind() if quick else of_kind(lambda progress: _write(answers, {"progress": progress}))
    if kind in ("rating", "audit", "compare"):  # whose progress is words
        NOTICE.say = lambda words: _write(answers, {"progress": words or "Compiled; the work goes on"})
    while True:
        _write(answers, _answer(controller, requests.get()))


def _read(requests: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os.killpg(0, signal.SIGKILL)  # also what the work has started


def _write(answers: BinaryIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content, allow_nan=False).encode() + b"\n")
    answers.flush()


def _answer(controller: Any, line: bytes) -> dict[str, Any]:
    request = json.loads(line)
    task = getattr(controller, request["task"])
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", KineloWarning)
            result = task(**request["arguments"])
        remarks = [str(warning.message) for warning in warned]
        return {"result": result | {"warnings": remarks} if isinstance(result, dict) else result}
    except InputError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "this needs more memory than the lab allows for one job."}
    except BaseException as error:  # a panic of compiled code is no Exception, and the page's tables live here
        traceback.print_exc()
        return {"error": f"the lab failed at this ({type(error).__name__}); what it printed has the details."}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
