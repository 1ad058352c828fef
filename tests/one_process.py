"""Commands and lines of Python one after the other in one process of their own: what it loads, it loads once."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

EACH = """
import contextlib, io, json, sys

said = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["kinelo", *words]
    from kinelo.cli import main
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = exec(words[1], {"__name__": "asked"}) if words[0] == "-c" else main()
        except SystemExit as end:
            code = end.code
    said.append([code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(said))
"""


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def type_each(
    *commands: list[str], folder: Path, first: str = "", environment: Mapping[str, str] | None = None
) -> list[Said]:
    """What each command said, ``["-c", lines]`` those of Python; ``first`` are lines that come before any import."""
    words = [sys.executable, "-c", first + EACH, json.dumps(commands)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Said(*one) for one in json.loads(done.stdout)]
