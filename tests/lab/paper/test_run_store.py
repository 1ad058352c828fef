"""The Paper tab shows what report.json says, and replaces nothing without being asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_report import made, put
from starlette.testclient import TestClient

from kinelo.errors import InputError
from kinelo.lab.paper.run_store import folder_for, reports
from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings
from kinelo.paper.content import content_of


def test_reports_of_both_scales_are_found_in_folders_of_their_own(tmp_path):
    assert reports(tmp_path / "paper") == []
    put(tmp_path / "paper", "full")
    put(tmp_path / "paper-quick", "quick")
    full, quick = reports(tmp_path / "paper")
    assert (full["scale"], quick["scale"]) == ("full", "quick")
    assert full["claims"] == content_of(made("full"))["claims"] and full["counts"]["holds"] == 1
    assert "2.83 · 10⁸ matches" in full["abstract"][0]
    assert [one["picture"] for one in quick["figures"]] == ["/paper/quick/figure-01.png"]  # the only one that was drawn


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "kinelo report 0"}', "[" * 100_000])
def test_a_report_that_cannot_be_read_says_so(tmp_path, text):
    put(tmp_path / "paper", "full")
    (tmp_path / "paper" / "report.json").write_text(text, encoding="utf-8")
    (one,) = reports(tmp_path / "paper")
    assert "make the reproduction again" in one["problem"] and one["page"] == "/paper/full/report.html"


def test_only_two_scales():
    with pytest.raises(InputError, match="quick or full"):
        folder_for(Path("paper"), "../../etc")


def test_nothing_is_replaced_without_being_asked_to(tmp_path):
    put(tmp_path / "paper", "full")
    put(tmp_path / "paper-quick", "quick")
    before = (tmp_path / "paper" / "report.html").read_bytes()
    app = create_app(Settings(paper=tmp_path / "paper"))
    own = {"origin": "http://127.0.0.1:8000"}
    with (
        TestClient(app, base_url="http://127.0.0.1:8000") as visitor,
        visitor.websocket_connect("ws://127.0.0.1:8000/live", headers=own) as socket,
    ):
        page = socket.receive_json()["page"]
        for scale in ("full", "quick"):
            answer = visitor.post(f"/api/pages/{page}/paper/make", json={"scale": scale}, headers=own)
            assert answer.status_code == 409 and "holds a report already" in answer.json()["error"]
        assert visitor.post(f"/api/pages/{page}/paper/make", json={"scale": {}}, headers=own).status_code == 400
        assert len(visitor.get("/api/paper").json()["reports"]) == 2
        assert visitor.get("/paper/full/report.html").content == before
        for path in ("/paper/full/report.json", "/paper/other/report.html", "/paper/full/..%2freport.html"):
            assert visitor.get(path).status_code == 404
    json.loads((tmp_path / "paper" / "report.json").read_text(encoding="utf-8"))
