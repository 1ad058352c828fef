import io
import sys

import pytest

from kinelo.runtime.progress import _short, progress_bar, speaker, stages


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_says_what_is_being_done_and_leaves_nothing_behind(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with stages(True) as stage:
        stage("Reading matches", 0.0)
        stage("Playing again", 0.75)
    written = shown.getvalue()
    assert "Playing again" in written and "━" in written
    assert written.rstrip().endswith("\x1b[2K")  # the line is wiped at the end


def test_without_a_wish_nothing_is_said(capsys):
    with stages(False) as stage:
        stage("Reading matches", 0.5)
    assert capsys.readouterr() == ("", "")


def test_a_bar_shows_what_is_done_and_how_fast(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with progress_bar("Playing", 4000.0, wanted=True, unit="matches") as advance:
        for done in (1000.0, 2000.0, 3000.0):
            advance(done)
    written = shown.getvalue()
    assert "Playing" in written and "75%" in written and " matches/s" in written
    with progress_bar("Playing", 4000.0, wanted=True) as advance:
        advance(4000.0)
    assert "100%" in (rest := shown.getvalue()[len(written) :]) and "/s" not in rest


@pytest.mark.parametrize(
    ("total", "done", "said"),
    [(200.0, [1.0, 100.0, 101.0, 104.0], ["0 %", "50 %", "52 %"]), (0.0, [0.0, 0.0], ["100 %"])],
)
def test_a_function_gets_each_per_cent_once(total, done, said, capsys):
    heard = []
    for wanted in (heard.append, False):
        with progress_bar("Playing", total, wanted=wanted) as advance:
            for part in done:
                advance(part)
    assert heard == [f"Playing: {part}" for part in said]
    assert capsys.readouterr() == ("", "")


def test_stages_go_to_a_function_the_terminal_or_nobody(capsys):
    heard = []
    for wanted in (heard.append, True, False, None):
        speaker(wanted)("Reading")
    assert heard == ["Reading"] and capsys.readouterr() == ("", "Reading\n")
    with stages(heard.append) as stage:
        stage("Playing", 0.5)
    assert heard == ["Reading", "Playing"]


@pytest.mark.parametrize(
    ("value", "said"),
    [(999.4, "999"), (1e3, "1.0 k"), (1549.0, "1.5 k"), (1e6, "1.0 M"), (2.34e8, "234.0 M"), (1e9, "1.0 G")],
)
def test_rates_are_short(value, said):
    assert _short(value) == said
