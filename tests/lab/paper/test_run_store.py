"""The Paper tab shows what report.json says, and replaces nothing without being asked to."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from made_report import made, put
from starlette.testclient import TestClient

from kinelo.errors import InputError
from kinelo.lab.paper.api import folder_for, reports
from kinelo.lab.paper.small import KNOBS, PaperController, estimated, small_figure
from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings
from kinelo.paper.figure import read_figures
from kinelo.paper.report import content_of


def test_reports_of_both_scales_are_found_in_folders_of_their_own(tmp_path):
    assert reports(tmp_path / "paper") == []
    put(tmp_path / "paper", "full")
    put(tmp_path / "paper-quick", "quick")
    full, quick = reports(tmp_path / "paper")
    assert (full["scale"], quick["scale"]) == ("full", "quick")
    assert full["claims"] == content_of(made("full"))["claims"] and full["counts"]["holds"] == 1
    assert "2.83 · 10⁸ matches" in full["abstract"][1]
    assert [one["picture"] for one in quick["figures"]] == ["/paper/quick/figure-01.png"]  # the only one that was drawn


def test_each_figure_leads_to_its_files(tmp_path):
    folder = tmp_path / "paper"
    put(folder, "full")
    (folder / "figures" / "figure-01.pdf").write_bytes(b"%PDF")
    for place, text in (
        ("studies/figure-01.toml", "figure = 1"),
        ("runs/figure-01-R1-ab/x/0", "1"),
        ("runs/figure-11-a/0", "2"),
    ):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    [one] = reports(folder)[0]["figures"]
    assert [one[name] for name in ("pdf", "study", "data")] == [
        f"/paper/full/figure-01.{end}" for end in ("pdf", "toml", "zip")
    ]
    with TestClient(create_app(Settings(paper=folder)), base_url="http://127.0.0.1:8000") as visitor:
        assert visitor.get(one["pdf"]).content == b"%PDF" and visitor.get(one["study"]).text == "figure = 1"
        packed = zipfile.ZipFile(io.BytesIO(visitor.get(one["data"]).content))
        assert packed.namelist() == ["figure-01-R1-ab/x/0"] and packed.read("figure-01-R1-ab/x/0") == b"1"
        for missing in ("figure-02.pdf", "figure-02.zip", "figure-1.toml", "..%2freproduction.json"):
            assert visitor.get(f"/paper/full/{missing}").status_code == 404
    shutil.rmtree(folder / "runs")
    assert reports(folder)[0]["figures"][0]["data"] is None


def test_at_their_defaults_the_sliders_of_a_figure_change_nothing_but_the_number_of_teams():
    for number in KNOBS:
        [quick] = read_figures(scale="quick", wanted=[number])
        small = small_figure(number, {})
        assert small.parameters == quick.parameters
        for name, study in quick.studies.items():
            plan = study.model_dump()
            if number == 4:
                plan["league"]["teams"] = 100
            assert small.studies[name].model_dump() == plan


def test_a_figure_is_run_again_with_the_values_of_its_sliders(tmp_path):
    steps = []
    words = PaperController(steps.append).draw(8, {"nu": 0.9}, str(tmp_path))
    assert "ν = 0.9." in words["caption"] and (tmp_path / "figure-08.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["figure-08.png"] and [
        (one["label"], one["share"]) for one in steps
    ] == [("theory and drawing", 0.0)]
    assert steps[0]["seconds"] > 0 and estimated(small_figure(8, {}))["seconds"] > 0
    assert small_figure(3, {"until": 7}).studies["[4, 10]"].solve.until == 7
    assert {s.league.sigma for s in small_figure(6, {"sigma": 0.5}).studies.values()} == {0.5}
    for number, values, complaint in (
        (10, {}, "no sliders for figure 10"),
        (8, {"nu": 9}, "between"),
        (8, {"x": 1}, "no control 'x'"),
    ):
        with pytest.raises(InputError, match=complaint):
            small_figure(number, values)


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


def test_a_run_says_how_far_it_is_and_ends_near_its_end(tmp_path):
    steps = []
    PaperController(steps.append).draw(11, {}, str(tmp_path))
    shares = [one["share"] for one in steps]
    assert (
        shares == sorted(shares) and shares[0] == 0.0 and shares[-1] < 1 and steps[-1]["label"] == "theory and drawing"
    )
    assert all(one["seconds"] >= 0 for one in steps) and len({one["label"] for one in steps}) > 2
