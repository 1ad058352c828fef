"""Packages of others add raters, outcomes and commands; a broken one costs a sentence, never the program."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from kinelo.runtime import plugins
from one_process import Said, type_each

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


LAB = """
import json
from starlette.testclient import TestClient
from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings

client = TestClient(create_app(Settings()), base_url="http://127.0.0.1:8000")
print(json.dumps([one for one in client.get("/api/about").json()["raters"] if one["name"] == "frequencies"]))
"""
ASKED = """
import warnings
from pathlib import Path
from kinelo.studies import read_study

system = read_study(Path("NAME.toml")).system
print(type(system.outcome).__name__, round(float(system.outcome.b(2.0)), 6))
"""
WITH_GOOD = {
    "asked": ["-c", ASKED.replace("NAME", "study")],
    "rate help": ["rate", "--help"],
    "rated": ["rate", "results.csv", "--rater", "frequencies", "--book", "kept"],
    "kept": ["book", "kept"],
    "lab": ["-c", LAB],
    "wrong": ["study", "diagnose", "wrong.toml"],
    "help": ["--help"],
    "greeting": ["greet", "--help"],
    "greeted": ["greet", "--name", "Ashford"],
    "pair": ["pair", "two"],
}
NO_COMMANDS = {
    "gone": "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'",
    "leaving": "cannot be loaded: SystemExit: 3",
    "number": "is no command: it is neither a function nor a typer.Typer.",
    "unreadable": "is no command: AssertionError: List types with complex sub-types are not currently supported",
}
NO_RATERS = {
    "gone": "cannot be loaded: ModuleNotFoundError: No module named 'kinelo_gone'",
    "unlike": "is not the class of a rater: it lacks fit and one_step_ahead.",
}
WITH_BROKEN = {
    "own": ["-c", ASKED.replace("NAME", "own")],
    "kept": ["book", "kept"],
    "outcome": ["study", "diagnose", "gone.toml"],
    **{f"command {name}": [name] for name in NO_COMMANDS},
    **{f"rater {name}": ["rate", "results.csv", "--rater", name] for name in NO_RATERS},
}


def fill(folder: Path) -> Path:
    (folder / "results.csv").write_text(TABLE)
    (folder / "study.toml").write_text(STUDY)
    (folder / "wrong.toml").write_text(STUDY.replace("rate = 0.5", "rat = 0.5"))
    (folder / "gone.toml").write_text(STUDY.replace("algebraic", "gone"))
    (folder / "own.toml").write_text(STUDY.replace('"algebraic", rate', '"tanh", nu'))
    return folder


@pytest.fixture
def folder(tmp_path):
    return fill(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("shared"))


def beside(package: str) -> dict[str, str]:
    """The environment of a process beside which a package is installed."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(PLUGINS / package), *SOURCE])}


@pytest.fixture(scope="module")
def good(shared) -> dict[str, Said]:
    each = type_each(*WITH_GOOD.values(), folder=shared, environment=beside("good"))
    return dict(zip(WITH_GOOD, each, strict=True))


@pytest.fixture(scope="module")
def broken(shared, good) -> dict[str, Said]:
    """The book that was kept with the good package is there."""
    each = type_each(*WITH_BROKEN.values(), folder=shared, environment=beside("broken"))
    return dict(zip(WITH_BROKEN, each, strict=True))


def run(*words: str, folder: Path, package: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=beside(package), capture_output=True, text=True, check=False
    )


def test_a_rater_is_known_by_its_name(good, broken):
    known = " ".join(good["rate help"].out.replace("-\n", "-").split()).replace("- ", "-")
    assert "score or frequencies, or a class" in known
    assert good["rated"].code == 0, good["rated"].err
    kept, gone = good["kept"], broken["kept"]
    assert kept.code == 0 and "Frequencies" in kept.out and "60" in kept.out, kept.err
    assert gone.code == 2 and "kinelo_sample_plugin:Frequencies" in gone.err and "Traceback" not in gone.err


def test_a_rater_is_in_the_list_of_the_lab(good):
    assert json.loads(good["lab"].out) == [
        {
            "name": "frequencies",
            "kind": "Frequencies",
            "meaning": "added by kinelo-sample-plugin 1.2",
            "needs_lineups": False,
        }
    ], good["lab"].err


def test_an_outcome_is_known_in_study_files(good):
    assert good["asked"].out == f"Algebraic {1 / 2**0.5:.6f}\n", good["asked"].err
    assert good["wrong"].code == 2 and "algebraic cannot be made from rat" in good["wrong"].err


def test_commands_stand_in_the_help_and_run(good):
    helped = good["help"]
    assert "greet" in helped.out and "A command of kinelo-sample-plugin 1.2" in helped.out and helped.err == ""
    assert "Greet a league." in good["greeting"].out
    assert good["greeted"].out == "Good morning, Ashford.\n" and good["pair"].out == "2\n"


def test_a_broken_package_costs_sentences_when_it_is_asked_for(folder, broken):
    package = "of kinelo-broken-plugin 0.1"
    for words in (("--devices",), ("--help",)):
        done = run("-m", "kinelo", *words, folder=folder, package="broken")
        assert done.returncode == 0 and done.stdout
        assert sorted(done.stderr.splitlines()) == [
            f"kinelo: warning: The plug-in {name} {package} is left out: Kinelo has one of that name."
            for name in ("kalman", "rate")
        ]
    for name, sentence in NO_COMMANDS.items():
        said = broken[f"command {name}"]
        assert said.code == 2
        assert said.err.splitlines()[-1] == f"kinelo: The plug-in {name} {package} {sentence}"


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


def test_of_two_packages_the_first_by_name_gives_the_plug_in(monkeypatch):
    """In whatever order they are found; one that is listed twice is one."""
    points = [
        EntryPoint(name, f"{package}:Rater", group)
        for name, package, group in (
            ("same", "second", "kinelo.raters"), ("same", "first", "kinelo.raters"), ("own", "third", "kinelo.raters"),
            ("same", "zeroth", "kinelo.outcomes"), ("kalman", "first", "kinelo.raters"),
        )
    ]  # fmt: skip
    for order in (points, points[::-1], points + points):
        found = [SimpleNamespace(entry_points=[point]) for point in order]
        monkeypatch.setattr(plugins, "distributions", lambda found=found: found)
        kept, complaints = plugins._sorted_out("kinelo.raters", ("kalman",))
        assert {name: point.value for name, point in kept.items()} == {"own": "third:Rater", "same": "first:Rater"}
        assert complaints == [
            "The plug-in kalman of first is left out: Kinelo has one of that name.",
            "The plug-in same of second is left out: first has one of that name.",
        ]


def test_help_imports_no_command_of_another_package(folder):
    packages = folder / "packages"
    (packages / "loud-1.dist-info").mkdir(parents=True)
    (packages / "loud-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1\n")
    (packages / "loud-1.dist-info" / "entry_points.txt").write_text("[kinelo.commands]\nshout = loud:shout\n")
    (packages / "loud.py").write_text("print('IMPORTED')\ndef shout(): print('HEY')\n")
    helped = run("-m", "kinelo", "--help", folder=folder, package=str(packages))
    assert "shout" in helped.stdout and "IMPORTED" not in helped.stdout
    assert run("-m", "kinelo", "shout", folder=folder, package=str(packages)).stdout == "IMPORTED\nHEY\n"


def test_a_broken_rater_is_refused_when_it_is_asked_for(broken):
    for name, sentence in NO_RATERS.items():
        said = broken[f"rater {name}"]
        assert said.code == 2
        assert said.err.splitlines()[-1] == f"kinelo: The plug-in {name} of kinelo-broken-plugin 0.1 {sentence}"


def test_a_broken_outcome_is_refused_when_it_is_asked_for(broken):
    gone, own = broken["outcome"], broken["own"]
    assert gone.code == 2 and "The plug-in gone of kinelo-broken-plugin 0.1 cannot be loaded" in gone.err
    assert own.out.startswith("Tanh ")
    assert "The plug-in tanh of kinelo-broken-plugin 0.1 is left out: Kinelo has one of that name." in own.err
