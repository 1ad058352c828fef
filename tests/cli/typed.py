"""The command line as a user types it, in this process or in one of its own, and a small study to type it on."""

import contextlib
import io
import subprocess
import sys
import types
import warnings

import pytest

from kinelo.cli import main

STUDY = """
title = "A small league"
gamma = 0.05
[outcome]
kind = "tanh"
nu = 0.5
[league]
kind = "homogeneous"
teams = 12
sigma = 1.0
[simulate]
steps = 40
realisations = 3
record_every = 10
seed = 1
"""


def kinelo(*arguments):
    """Run the command line in this process, as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["kinelo", *map(str, arguments)])
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        with pytest.raises(SystemExit) as ended:
            main()
    return types.SimpleNamespace(returncode=ended.value.code or 0, stdout=out.getvalue(), stderr=err.getvalue())


def started(*arguments, **options):
    """Run the command line as a process."""
    command = [sys.executable, "-m", "kinelo.cli", *map(str, arguments)]
    return subprocess.run(command, **({"capture_output": True, "text": True} | options))


def one_sentence(answer):
    """What a refused command said: one sentence, exit code 2, no traceback."""
    said = answer.stderr
    assert answer.returncode == 2, said
    assert said.startswith("kinelo: ") and said.count("\n") == 1 and "Traceback" not in said, said
    return said
