"""Packages of others add raters, outcomes and commands; a broken one costs a sentence, never the program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parent / "plugins"
TABLE = "date,home,away,result\n" + "".join(
    f"2020-{1 + n // 28:02d}-{1 + n % 28:02d},{'ABC'[n % 3]},{'ABC'[(n + 1) % 3]},{(1, 0.5, 1, 0)[n % 4]}\n"
    for n in range(60)
)
STUDY = """
gamma = 0.05
outcome = {kind = "algebraic", rate = 0.5}
league = {kind = "normal", theta = [0.0, 1.0, 3.0], sigma = 1.0}
simulate = {steps = 4, seed = 1}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "results.csv").write_text(TABLE)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(*words: str, folder: Path, package: str = "good") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(PLUGINS / package)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_rater_is_known_by_its_name(folder):
    helped = run("-m", "kinelo", "rate", "--help", folder=folder)
    assert "bradley-terry or frequencies, or a class" in " ".join(helped.stdout.replace("-\n", "-").split()).replace(
        "- ", "-"
    )
    book = folder / "kept"
    rated = run("-m", "kinelo", "rate", "results.csv", "--rater", "frequencies", "--book", str(book), folder=folder)
    assert rated.returncode == 0, rated.stderr
    said = run("-m", "kinelo", "book", str(book), folder=folder)
    assert said.returncode == 0 and "Frequencies" in said.stdout and "60" in said.stdout, said.stderr
    gone = run("-m", "kinelo", "book", str(book), folder=folder, package="broken")
    assert gone.returncode == 2 and "kinelo_sample_plugin:Frequencies" in gone.stderr and "Traceback" not in gone.stderr


LAB = """
import json
from starlette.testclient import TestClient
from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings

client = TestClient(create_app(Settings()), base_url="http://127.0.0.1:8000")
print(json.dumps([one for one in client.get("/api/about").json()["raters"] if one["name"] == "frequencies"]))
"""


def test_a_rater_is_in_the_list_of_the_lab(folder):
    done = run("-c", LAB, folder=folder)
    assert json.loads(done.stdout) == [
        {
            "name": "frequencies",
            "kind": "Frequencies",
            "meaning": "added by kinelo-sample-plugin 1.2",
            "needs_lineups": False,
        }
    ], done.stderr


ASKED = """
import warnings
from pathlib import Path
from kinelo.studies import read_study

system = read_study(Path("study.toml")).system
print(type(system.outcome).__name__, round(float(system.outcome.b(2.0)), 6))
"""


def test_an_outcome_is_known_in_study_files(folder):
    done = run("-c", ASKED, folder=folder)
    assert done.stdout == f"Algebraic {1 / 2**0.5:.6f}\n", done.stderr
    (folder / "study.toml").write_text(STUDY.replace("rate = 0.5", "rat = 0.5"))
    wrong = run("-m", "kinelo", "diagnose", "study.toml", folder=folder)
    assert wrong.returncode == 2 and "algebraic cannot be made from rat" in wrong.stderr


def test_commands_stand_in_the_help_and_run(folder):
    helped = run("-m", "kinelo", "--help", folder=folder)
    assert "greet" in helped.stdout and "Greet a league." in helped.stdout and helped.stderr == ""
    assert run("-m", "kinelo", "greet", "--name", "Ashford", folder=folder).stdout == "Good morning, Ashford.\n"
    assert run("-m", "kinelo", "pair", "two", folder=folder).stdout == "2\n"


def test_a_broken_package_costs_sentences(folder):
    done = run("-m", "kinelo", "devices", folder=folder, package="broken")
    package = "of kinelo-broken-plugin 0.1"
    gone = "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'"
    assert done.returncode == 0 and done.stdout
    assert sorted(done.stderr.splitlines()) == sorted(
        f"kinelo: warning: The plug-in {sentence}"
        for sentence in (
            f"kalman {package} is left out: Kinelo has one of that name.",
            f"rate {package} is left out: Kinelo has one of that name.",
            f"gone {package} {gone}",
            f"leaving {package} cannot be loaded: SystemExit: 3",
            f"number {package} is no command: it is neither a function nor a typer.Typer.",
            f"unreadable {package} is no command: AssertionError: "
            "List types with complex sub-types are not currently supported",
        )
    )


@pytest.mark.parametrize(
    ("rater", "sentence"),
    [
        ("gone", "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'"),
        ("unlike", "is not the class of a rater: it lacks fit and one_step_ahead."),
    ],
)
def test_a_broken_rater_is_refused_when_it_is_asked_for(rater, sentence, folder):
    done = run("-m", "kinelo", "rate", "results.csv", "--rater", rater, folder=folder, package="broken")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"kinelo: The plug-in {rater} of kinelo-broken-plugin 0.1 {sentence}"


def test_a_broken_outcome_is_refused_when_it_is_asked_for(folder):
    (folder / "study.toml").write_text(STUDY.replace("algebraic", "gone"))
    done = run("-m", "kinelo", "diagnose", "study.toml", folder=folder, package="broken")
    assert done.returncode == 2 and "The plug-in gone of kinelo-broken-plugin 0.1 cannot be loaded" in done.stderr
    (folder / "study.toml").write_text(STUDY.replace('"algebraic", rate', '"tanh", nu'))
    done = run("-c", ASKED, folder=folder, package="broken")
    assert done.stdout.startswith("Tanh ")
    assert "The plug-in tanh of kinelo-broken-plugin 0.1 is left out: Kinelo has one of that name." in done.stderr
