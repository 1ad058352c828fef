"""Packages of others add raters, outcomes and commands; a broken one costs a sentence, never the program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PLUGINS = Path(__file__).parent / "plugins"
SOURCE = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
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
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PLUGINS / package), *SOURCE])}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


EACH = """
import contextlib, io, json, sys
from kinelo.cli import main

said = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["kinelo", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main()
        except SystemExit as end:
            code = end.code
    said.append([code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(said))
"""


def type_each(*commands: list[str], folder: Path, package: str = "good") -> list[Said]:
    """Commands one after the other in one process: what it loads, it loads once."""
    done = run("-c", EACH, json.dumps(commands), folder=folder, package=package)
    assert done.returncode == 0, done.stderr
    return [Said(*one) for one in json.loads(done.stdout)]


def test_a_rater_is_known_by_its_name(folder):
    helped, rated, kept = type_each(
        ["rate", "--help"],
        ["rate", "results.csv", "--rater", "frequencies", "--book", "kept"],
        ["book", "kept"],
        folder=folder,
    )
    known = " ".join(helped.out.replace("-\n", "-").split()).replace("- ", "-")
    assert "bradley-terry or frequencies, or a class" in known
    assert rated.code == 0, rated.err
    assert kept.code == 0 and "Frequencies" in kept.out and "60" in kept.out, kept.err
    [gone] = type_each(["book", "kept"], folder=folder, package="broken")
    assert gone.code == 2 and "kinelo_sample_plugin:Frequencies" in gone.err and "Traceback" not in gone.err


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
    [wrong] = type_each(["diagnose", "study.toml"], folder=folder)
    assert wrong.code == 2 and "algebraic cannot be made from rat" in wrong.err


def test_commands_stand_in_the_help_and_run(folder):
    helped, greeting, greeted, pair = type_each(
        ["--help"], ["greet", "--help"], ["greet", "--name", "Ashford"], ["pair", "two"], folder=folder
    )
    assert "greet" in helped.out and "A command of kinelo-sample-plugin 1.2" in helped.out and helped.err == ""
    assert "Greet a league." in greeting.out
    assert greeted.out == "Good morning, Ashford.\n" and pair.out == "2\n"


def test_a_broken_package_costs_sentences_when_it_is_asked_for(folder):
    package = "of kinelo-broken-plugin 0.1"
    for words in (("devices",), ("--help",)):
        done = run("-m", "kinelo", *words, folder=folder, package="broken")
        assert done.returncode == 0 and done.stdout
        assert sorted(done.stderr.splitlines()) == [
            f"kinelo: warning: The plug-in {name} {package} is left out: Kinelo has one of that name."
            for name in ("kalman", "rate")
        ]
    sentences = {
        "gone": "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'",
        "leaving": "cannot be loaded: SystemExit: 3",
        "number": "is no command: it is neither a function nor a typer.Typer.",
        "unreadable": "is no command: AssertionError: List types with complex sub-types are not currently supported",
    }
    each = type_each(*([name] for name in sentences), folder=folder, package="broken")
    for done, (name, sentence) in zip(each, sentences.items(), strict=True):
        assert done.code == 2
        assert done.err.splitlines()[-1] == f"kinelo: The plug-in {name} {package} {sentence}"


@pytest.mark.parametrize(
    ("metadata", "points"),
    [
        (b"Metadata-Version: 2.1\nName: odd\nVersion: 1\n", b"[kinelo.commands]\nodd\n"),
        (b"Metadata-Version: 2.1\nName: odd\nVersion: 1\n", b"[kinelo.commands]\nodd = not a module!\n"),
        (b"Metadata-Version: 2.1\n", b"[kinelo.commands]\nodd = json:dumps\n"),
        (b"\xff\xfe\x00", b"[kinelo.commands]\nodd = json:dumps\n"),
        (b"Metadata-Version: 2.1\nName: odd\nVersion: 1\n", b"\xff\xfe\x00["),
    ],
)
def test_broken_metadata_never_break_the_help(metadata, points, folder):
    info = folder / "packages" / "odd-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_bytes(metadata)
    (info / "entry_points.txt").write_bytes(points)
    done = run("-m", "kinelo", "--help", folder=folder, package=str(folder / "packages"))
    assert done.returncode == 0 and "Rate a league" in done.stdout and "Traceback" not in done.stderr, done.stderr


def test_help_imports_no_command_of_another_package(folder):
    packages = folder / "packages"
    (packages / "loud-1.dist-info").mkdir(parents=True)
    (packages / "loud-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1\n")
    (packages / "loud-1.dist-info" / "entry_points.txt").write_text("[kinelo.commands]\nshout = loud:shout\n")
    (packages / "loud.py").write_text("print('IMPORTED')\ndef shout(): print('HEY')\n")
    helped = run("-m", "kinelo", "--help", folder=folder, package=str(packages))
    assert "shout" in helped.stdout and "IMPORTED" not in helped.stdout
    assert run("-m", "kinelo", "shout", folder=folder, package=str(packages)).stdout == "IMPORTED\nHEY\n"


def test_a_broken_rater_is_refused_when_it_is_asked_for(folder):
    sentences = {
        "gone": "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'",
        "unlike": "is not the class of a rater: it lacks fit and one_step_ahead.",
    }
    commands = (["rate", "results.csv", "--rater", name] for name in sentences)
    each = type_each(*commands, folder=folder, package="broken")
    for done, (name, sentence) in zip(each, sentences.items(), strict=True):
        assert done.code == 2
        assert done.err.splitlines()[-1] == f"kinelo: The plug-in {name} of kinelo-broken-plugin 0.1 {sentence}"


def test_a_broken_outcome_is_refused_when_it_is_asked_for(folder):
    (folder / "study.toml").write_text(STUDY.replace("algebraic", "gone"))
    [done] = type_each(["diagnose", "study.toml"], folder=folder, package="broken")
    assert done.code == 2 and "The plug-in gone of kinelo-broken-plugin 0.1 cannot be loaded" in done.err
    (folder / "study.toml").write_text(STUDY.replace('"algebraic", rate', '"tanh", nu'))
    known = run("-c", ASKED, folder=folder, package="broken")
    assert known.stdout.startswith("Tanh ")
    assert "The plug-in tanh of kinelo-broken-plugin 0.1 is left out: Kinelo has one of that name." in known.stderr
