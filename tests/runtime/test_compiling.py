"""Who waits for code to be compiled is told so, once and where somebody reads."""

import gc
import sys

import pytest
from numba import njit

from kinelo.play import formula
from kinelo.runtime import compiling
from kinelo.runtime.compiling import NOTICE, Notice


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_seconds_add_up_over_functions_and_are_said_once_a_second():
    said, clock = [], Clock()
    notice = Notice(said.append, clock)
    for began, ended in ((0.0, 0.9), (5.0, 5.05)):
        clock.now = began
        notice.begin()
        clock.now = ended
        notice.end()
    assert said == [], "less than a second of compiling, whatever passed between"
    for depth_at in (10.0, 10.2, 10.3):
        clock.now = depth_at
        notice.begin()
    assert said == ["Compiling once, about 30 s: 1 s so far"], "0.95 s before and 0.2 s now; 0.1 s later nothing"
    clock.now = 14.0
    notice.end()
    notice.end()
    assert said[1:] == ["Compiling once, about 30 s: 5 s so far"]
    notice.end()
    assert said[2:] == [""], "the outermost function is done"
    clock.now = 99.0
    notice.begin()
    notice.end()
    assert len(said) == 3


def test_what_numba_compiles_is_noticed_and_what_is_there_is_not(monkeypatch):
    heard, collecting = [], []
    monkeypatch.setattr(formula.NOTICE, "begin", lambda: heard.append("begin") or collecting.append(gc.isenabled()))
    monkeypatch.setattr(formula.NOTICE, "end", lambda: heard.append("end"))
    assert formula.NOTICE is NOTICE

    @njit
    def twice(x):
        return 2 * x

    assert twice(3) == 6
    assert heard.count("begin") == heard.count("end") >= 1
    assert not any(collecting) and gc.isenabled(), "no garbage is looked for meanwhile"
    heard.clear()
    assert twice(4) == 8
    assert heard == []


class Terminal:
    def __init__(self, terminal):
        self.terminal, self.text = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def words(notice, clock):
    clock.now = 0.0
    notice.begin()
    clock.now = 2.0
    notice.begin()
    clock.now = 4.0
    notice.begin()
    for _ in range(3):
        notice.end()


@pytest.mark.parametrize("own", [True, False])
def test_a_terminal_shows_one_line_that_goes_away(monkeypatch, own):
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    monkeypatch.delitem(sys.modules, "ipykernel")
    monkeypatch.setattr(compiling, "_told", [])
    terminal, clock = Terminal(True), Clock()
    monkeypatch.setattr(sys, "stderr", terminal)
    if own:
        monkeypatch.setattr(sys, "__stderr__", terminal)
    words(Notice(clock=clock), clock)
    if own:
        lines = terminal.text.split("\r")
        assert [line.strip() for line in lines if line.strip()] == [
            "Compiling once, about 30 s: 2 s so far",
            "Compiling once, about 30 s: 4 s so far",
        ]
        assert lines[-1] == "", "nothing is left of it"
    else:
        assert terminal.text == "Compiling once, about 30 s.\n", "a bar below it takes whole lines"


def test_a_notebook_is_told_once_and_a_file_never(monkeypatch):
    monkeypatch.setattr(compiling, "_told", [])
    stream, clock = Terminal(False), Clock()
    monkeypatch.setattr(sys, "stderr", stream)
    words(Notice(clock=clock), clock)
    assert stream.text == ""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    words(Notice(clock=clock), clock)
    words(Notice(clock=clock), clock)
    assert stream.text == "Compiling once, about 30 s.\n"


def test_a_part_of_a_kernel_runs_from_python_as_it_is_written():
    """Its machine code has no entry for that: to call it would end the process without a word."""

    @formula.inlined
    def half(x):
        return x / 2

    @formula.kernel
    def quarter(x):
        return half(half(x))

    assert (quarter(3.0), half(3.0)) == (0.75, 1.5)
    assert len(half.overloads) == 1
