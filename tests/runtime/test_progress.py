import io
import sys

from kinelo.runtime.progress import stages


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
