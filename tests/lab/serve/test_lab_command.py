"""``kinelo lab`` as a user types it."""

from __future__ import annotations

import socket

import pytest
from running_lab import Lab

from one_process import type_each


def test_where_it_cannot_listen_is_one_sentence(tmp_path):
    """A port that is none, one in use and an address of another machine."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cases = {port: (["--port", port], "must lie between 0 and 65535") for port in ("-1", "65536", "99999")}
        cases["taken"] = ["--port", str(taken.getsockname()[1])], "already in use"
        cases["elsewhere"] = ["--host", "192.0.2.1", "--port", "0"], "not an address of this machine"
        asked = [["lab", "--no-browser", *options] for options, _ in cases.values()]
        for said, (_, words) in zip(type_each(*asked, folder=tmp_path), cases.values(), strict=True):
            assert said.code == 2 and words in said.err and said.err.count("\n") == 1


def test_ctrl_c_ends_it_cleanly_and_beyond_loopback_the_address_carries_a_token(tmp_path):
    lab = Lab(tmp_path, "--host", "0.0.0.0")
    assert "?token=" in lab.address and lab.interrupt() == 0
    assert "Traceback" not in lab.said and list(tmp_path.iterdir()) == []


def test_sharing_opens_the_network_and_refuses_without_one(monkeypatch):
    pytest.importorskip("segno")
    from typer.testing import CliRunner

    from kinelo.cli.commands import app
    from kinelo.errors import InputError
    from kinelo.lab.serve.settings import code_as_text
    from kinelo.runtime import listening

    def serve(settings, listener, *, browser, announce):
        asked.append(settings)
        announce("http://10.0.0.7:8000/?token=abc")

    class Probe(socket.socket):
        found = "10.0.0.7"

        def connect(self, address):
            pass

        def getsockname(self):
            return (self.found, 1)

    asked: list = []
    monkeypatch.setattr(listening.socket, "socket", Probe)
    monkeypatch.setattr("kinelo.lab.serve.settings.open_socket", lambda settings: None)
    monkeypatch.setattr("kinelo.lab.serve.app.serve", serve)
    ended = CliRunner().invoke(app, ["lab", "--share", "--no-browser"], catch_exceptions=False)
    [settings] = asked
    assert settings.host == "0.0.0.0" and settings.shared
    assert settings.address == f"http://10.0.0.7:8000/?token={settings.token}"
    assert (
        code_as_text("http://10.0.0.7:8000/?token=abc") in ended.output and "Whoever has this address" in ended.output
    )
    Probe.found = "127.0.0.1"
    with pytest.raises(InputError, match="on no network"):
        CliRunner().invoke(app, ["lab", "--share", "--no-browser"], catch_exceptions=False)


def test_options_reach_the_server(monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from kinelo.cli.commands import app

    asked = []
    monkeypatch.setattr("kinelo.lab.serve.settings.open_socket", lambda settings: settings.port)
    monkeypatch.setattr("kinelo.lab.serve.app.serve", lambda *given, **more: asked.append((*given, more)))
    words = ["lab", "--port", "8123", "--host", "127.0.0.2", "--paper", str(tmp_path / "mine"), "--no-browser"]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    [(settings, listener, more)] = asked
    assert (settings.port, settings.host, settings.paper) == (8123, "127.0.0.2", tmp_path / "mine")
    assert listener == 8123
    assert more["browser"] is False
