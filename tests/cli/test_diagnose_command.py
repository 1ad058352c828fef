"""``kinelo diagnose`` as a user meets it."""

import json
import subprocess
import sys

import pytest

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
"""


def kinelo(*arguments, cwd):
    command = [sys.executable, "-m", "kinelo.cli", "diagnose", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_prints_the_verdict_and_draws_the_map(study, tmp_path):
    done = kinelo(study, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("Condition (B')", "Rating noise", "What to change", "Picture: study-map.png"):
        assert words in done.stdout
    assert (tmp_path / "study-map.png").read_bytes().startswith(b"\x89PNG")
    assert kinelo(study, cwd=tmp_path).returncode == 0  # the picture is replaced


def test_writes_a_folder(study, tmp_path):
    out = tmp_path / "verdict"
    done = kinelo(study, "--out", out, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed == json.loads((out / "verdict.json").read_text(encoding="utf-8"))
    assert printed["condition"]["holds"] is True
    assert "<table>" in (out / "verdict.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in out.iterdir()) == ["map.png", "verdict.html", "verdict.json"]
    again = kinelo(study, "--out", out, cwd=tmp_path)
    assert again.returncode == 2
    assert "exists and is not empty" in again.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("sigma = 1.0", "sigma = -1.0"), "sigma must be 0 or more"),
        (("sigma = 1.0", "sigma = 1.0\ntheta = [0, 4000]"), "No stationary ratings exist"),
        (("teams", "team"), "unknown key"),
    ],
)
def test_bad_studies_leave_nothing_behind(study, tmp_path, change, words):
    study.write_text(STUDY.replace(*change), encoding="utf-8")
    done = kinelo(study, "--out", tmp_path / "verdict", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_a_study_without_a_league(study, tmp_path):
    study.write_text(STUDY.split("[league]")[0], encoding="utf-8")
    done = kinelo(study, cwd=tmp_path)
    assert done.returncode == 2
    assert "needs a [league] section" in done.stderr
