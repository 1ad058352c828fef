"""``kinelo study diagnose`` as a user meets it."""

import json

import pytest
from typed import STUDY, kinelo, one_sentence

import kinelo as kn


@pytest.fixture(autouse=True)
def _there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_prints_the_verdict_and_draws_the_map(study, tmp_path):
    (tmp_path / "study-map.png").write_bytes(b"a picture of before, which is replaced")
    done = kinelo("study", "diagnose", study)
    assert done.returncode == 0, done.stderr
    for words in ("Condition (B')", "Rating noise", "What to change", "Picture: study-map.png"):
        assert words in done.stdout
    assert (tmp_path / "study-map.png").read_bytes().startswith(b"\x89PNG")


def test_writes_a_folder(study, tmp_path):
    out = tmp_path / "verdict"
    done = kinelo("study", "diagnose", study, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed == json.loads((out / "verdict.json").read_text(encoding="utf-8"))
    assert printed["condition"]["holds"] is True and printed["check"] is None
    assert "<table" in (out / "verdict.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in out.iterdir()) == ["map.png", "verdict.html", "verdict.json"]
    again = kinelo("study", "diagnose", study, "--out", out)
    assert "exists and is not empty" in one_sentence(again)


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
    done = kinelo("study", "diagnose", study, "--out", tmp_path / "verdict")
    assert words in one_sentence(done)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_a_study_without_a_league(study, tmp_path):
    study.write_text(STUDY.split("[league]")[0], encoding="utf-8")
    done = kinelo("study", "diagnose", study)
    assert "needs a [league] section" in one_sentence(done)


@pytest.mark.parametrize("folder", [False, True])
def test_strengths_that_move_count_with_a_folder_and_without(study, tmp_path, folder):
    study.write_text(STUDY + '[dynamics]\nkind = "form"\nrate = 0.02\nspread = 0.7\n', encoding="utf-8")
    done = kinelo("study", "diagnose", study, "--json", *(("--out", tmp_path / "verdict") if folder else ()))
    league = kn.homogeneous(sigma=1.0, teams=12)
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05)
    best = kn.best_gamma(system, league, kn.model.Form(0.02, 0.7))
    assert json.loads(done.stdout)["motion"]["best"]["gamma"] == pytest.approx(best.gamma)


def test_a_league_is_played_beside_the_theory_where_that_is_asked_for(study):
    league, system = kn.homogeneous(sigma=1.0, teams=12), kn.RatingSystem(kn.Tanh(0.5), gamma=0.05)
    done = kinelo("study", "diagnose", study, "--check", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["check"] == kn.diagnose(system, league, check=True).check.to_dict()
