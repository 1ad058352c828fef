"""Output that is closed, cut off or ASCII only: what was computed is printed, and nothing ends in a traceback."""

import json
import os
import subprocess
import sys

import pytest
from typed import STUDY, kinelo

from patience import PATIENCE

CODE = (
    "import sys; sys.path.insert(0, {folder!r}); from kinelo.cli import main; sys.argv = ['kinelo', *{words!r}]; main()"
)

EACH = """
import sys; sys.path.insert(0, {folder!r})
from kinelo.cli import main
for words in {commands!r}:
    sys.argv = ["kinelo", *words]
    try:
        main()
    except SystemExit as ended:
        if ended.code: raise
"""


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("date,home,away,result\n2024-01-01,Ash,Łódź,1\n2024-01-02,Łódź,Ash,0.5\n", encoding="utf-8")
    return path


def run(*commands, encoding):
    """Commands one after the other in a process, which ends where one of them fails."""
    code = EACH.format(folder=os.path.dirname(__file__), commands=[[*map(str, words)] for words in commands])
    environment = os.environ | {"PYTHONIOENCODING": encoding, "COLUMNS": "120"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=PATIENCE)


def test_ascii_terminals_get_signs_in_words(results):
    words = ("rate", results, "--rater", "scripted:Scripted", "--least-matches", "0", "--active-days", "9999")
    typed = ("predict", "--results", results, "--rater", "scripted:Scripted", "--match", "Łódź - Ash", "--json")
    said = run(words, typed, encoding="ascii")
    assert said.returncode == 0 and b"Traceback" not in said.stderr
    plain, brace, told = said.stdout.decode("ascii").partition("{")
    assert "+-" in plain and "1650" in plain
    assert "±" in kinelo(*words).stdout
    assert json.loads(brace + told)["forecasts"][0]["home"] == "Łódź"


def test_a_closed_output_is_no_error(results):
    code = CODE.format(folder=os.path.dirname(__file__), words=["rate", str(results), "--rater", "scripted:Scripted"])
    command = f'exec {sys.executable} -c "$CODE" >&-'
    done = subprocess.run(
        ["bash", "-c", command], env=os.environ | {"CODE": code}, capture_output=True, timeout=PATIENCE
    )
    assert done.returncode == 0 and b"Traceback" not in done.stderr and b"foresee" not in done.stderr


def test_a_reader_that_leaves_is_no_error(results):
    code = CODE.format(folder=os.path.dirname(__file__), words=["rate", str(results), "--rater", "scripted:Scripted"])
    command = f'set -o pipefail; {sys.executable} -c "$CODE" | true'
    done = subprocess.run(
        ["bash", "-c", command], env=os.environ | {"CODE": code}, capture_output=True, timeout=PATIENCE
    )
    assert b"Traceback" not in done.stderr and b"foresee" not in done.stderr


def test_json_has_no_nan(capsys):
    from kinelo.cli.output import echo_json

    echo_json({"a": [1.5, float("nan")], "b": (float("inf"), "x")})
    assert json.loads(capsys.readouterr().out) == {"a": [1.5, None], "b": [None, "x"]}


def test_the_folder_of_a_run_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    assert kinelo("study", "simulate", "study.toml", "--out", "out").returncode == 0
    again = kinelo("study", "simulate", "study.toml", "--out", "out")
    assert again.returncode == 2
    assert again.stderr == "kinelo: out already holds a run: add --resume to continue it, or choose another --out.\n"


@pytest.mark.parametrize("command", ["rate", "backtest"])
def test_a_folder_where_a_file_is_expected_is_one_sentence(command, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = kinelo(command, results, "--rater", "scripted:Scripted", "--out", ".")
    assert said.returncode == 2 and "Traceback" not in said.stderr
    assert said.stderr.splitlines()[-1] == "kinelo: . is a folder; name a file to write to, such as table.csv."
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    (tmp_path / "study.toml").write_text(STUDY)
    assert kinelo("study", "simulate", tmp_path / "study.toml", "--out", ".").returncode == 0
