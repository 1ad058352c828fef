"""Evidence computed in a process of its own."""

import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import kinelo as kn
from kinelo.paper.aside import Aside, Failed
from kinelo.paper.figure import read_figures
from kinelo.paper.theory import Theory, evidence_of


def bytes_of(evidence):
    return pickle.dumps(evidence)


def test_a_process_of_its_own_gives_what_this_one_gives(tmp_path):
    """A figure of theory alone; and one with something that no other process can read, which is computed here."""
    figure = read_figures(scale="quick", wanted=[8])[0]
    unsendable = replace(figure, parameters={**figure.parameters, "beside": lambda: 0})
    with Theory() as theory:
        apart = theory(figure, tmp_path)
        here = theory(unsendable, tmp_path)
        with pytest.raises(kn.InputError, match="nu must be a finite number, not None"):
            theory(replace(figure, parameters=dict.fromkeys(figure.parameters)), tmp_path)
        assert bytes_of(theory(figure, tmp_path)) == bytes_of(apart), "it goes on after a failure"
    assert bytes_of(apart) == bytes_of(here) == bytes_of(evidence_of(figure, tmp_path))


ANSWERING = """
import sys, warnings
sys.path.insert(0, {src!r})
from kinelo.errors import InputError, KineloWarning
from kinelo.paper.aside import serve

def answer(question):
    if question == "warn":
        warnings.warn("take care", KineloWarning)
    elif question == "refuse":
        raise InputError("not so")
    elif question == "miss":
        raise KeyError("R1")
    elif question == "end":
        sys.exit(0)
    else:
        return 1 / question

serve(answer, sys.stdin.buffer, sys.stdout.buffer)
"""


@pytest.fixture
def aside(tmp_path, monkeypatch):
    (tmp_path / "answering.py").write_text(ANSWERING.format(src=str(Path(kn.__file__).parents[1])))
    monkeypatch.chdir(tmp_path)
    with Aside("answering") as one:
        yield one


def test_answers_refusals_warnings_and_an_early_end_reach_who_asked(aside):
    assert aside.ask(4).result(timeout=60) == 0.25
    with pytest.warns(kn.KineloWarning, match="^take care$"):
        aside.ask("warn").result(timeout=60)
    for question, error, words in (("refuse", kn.InputError, "^not so$"), ("miss", KeyError, "R1")):
        with pytest.raises(error, match=words):
            aside.ask(question).result(timeout=60)
    with pytest.raises(Failed, match="ZeroDivisionError"):
        aside.ask(0).result(timeout=60)
    with pytest.raises(RuntimeError, match="The process answering ended unexpectedly"):
        aside.ask("end").result(timeout=60)


def test_theory_is_loaded_by_nobody_who_only_starts_it():
    code = "import sys, kinelo.paper.theory; print([n for n in ('numba', 'scipy', 'xarray') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_program_of_one_thread_is_doubled_and_ends_with_its_double():
    """The double knows what the program has loaded, prints nowhere, and is gone when the program is, even if killed."""
    code = (
        "import os, signal\n"
        "from kinelo.paper.aside import Aside\n"
        "loaded = 'of the program'\n"
        "def answer(question):\n"
        "    print('not here')\n"
        "    return os.getpid(), loaded, question\n"
        "with Aside('no.such.module', answer) as aside:\n"
        "    pid, found, asked = aside.ask('what').result(timeout=60)\n"
        "    assert pid != os.getpid() and (found, asked) == (loaded, 'what')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # Whoever reads what the program printed waits until its double, which could print too, is gone.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL and done.stderr == "not here\n"
