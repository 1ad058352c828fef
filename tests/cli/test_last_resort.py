"""Whatever a user does: one sentence, exit code 2, and no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

import kinelo.memory
from kinelo.cli import main

STUDY = """
gamma = 0.05
[outcome]
kind = "tanh"
nu = 0.5
[league]
kind = "homogeneous"
teams = 10
sigma = 1.0
[simulate]
steps = 40
seed = 1
record_every = 10
"""


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run the command line in this process and return its exit code and what it said on the error stream."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["kinelo", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kinelo.memory, "available_memory", lambda: 4 * 2**30)
    return run


def one_sentence(answer):
    code, said = answer
    assert code == 2, said
    assert said.startswith("kinelo: ") and said.count("\n") == 1 and "Traceback" not in said, said
    return said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("steps = 40", "steps = -5"), "simulate.steps"),
        (("seed = 1", "seed = -1"), "simulate.seed"),
        (("nu = 0.5", "nu = 1e308"), "nu must be"),
        (("nu = 0.5", "nu = 1e30"), "use a smaller nu"),
        (("sigma = 1.0", "sigma = 1e308"), "sigma must be"),
        (("sigma = 1.0", "sigma = 1e30"), "use a smaller nu, or rescale the strengths"),
        (("nu = 0.5", f"nu = {'[' * 5000}0.5{']' * 5000}"), "nested too deeply"),
        (("teams = 10", "teams = 1_000_000_000"), "needs 44.7 GiB, but 4.0 GiB of memory are free"),
        (("seed = 1", "seed = 1\nrealisations = 1_000_000_000"), "GiB of memory are free"),
        (("steps = 40", "steps = 1_000_000_000_000_000_000"), "use record_every = "),
        (("steps = 40\nseed = 1\nrecord_every = 10", "steps = 1_000_000_000_000_000_000\nseed = 1"), "years"),
        (
            ("steps = 40\nseed = 1\nrecord_every = 10", "steps = 1_000_000\nseed = 1\nrecord_every = 1"),
            "at most 100,000",
        ),
    ],
    ids=lambda value: value[1][:30] if isinstance(value, tuple) else "",
)
def test_a_study_that_cannot_be_done(command, change, words):
    Path("study.toml").write_text(STUDY.replace(*change))
    assert words in one_sentence(command("simulate", "study.toml", "--out", "out"))
    assert not Path("out").exists()


def test_a_disk_too_small_is_said_before_the_run(command, monkeypatch):
    monkeypatch.setattr("kinelo.results.disk.free_space", lambda folder: 10_000)
    Path("study.toml").write_text(STUDY)
    assert "5 records needs" in one_sentence(command("simulate", "study.toml", "--out", "out"))
    assert not Path("out").exists()


def test_a_name_too_long_for_the_system(command):
    Path("study.toml").write_text(STUDY)
    assert "file name too long" in one_sentence(command("simulate", "study.toml", "--out", "x" * 5000)).lower()


@pytest.mark.parametrize("words", [("rate", "league.csv"), ("backtest", "league.csv")])
def test_the_name_of_a_picture_is_checked_before_the_work(command, words):
    assert "ends in .png, .pdf or .svg" in one_sentence(command(*words, "--picture", "x.xyz"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "memory of this machine does not suffice"),
        (OSError(5, "Input/output error", "disk"), "disk: input/output error."),
        (ValueError("a library\nsays no."), "did not foresee (ValueError: a library says no); set KINELO_TRACEBACK=1"),
    ],
)
def test_what_nobody_foresaw_is_one_sentence(command, monkeypatch, error, words):
    def fail(path):
        raise error

    monkeypatch.setattr("kinelo.studies.read_study", fail)
    assert words in one_sentence(command("simulate", "study.toml"))
    monkeypatch.setenv("KINELO_TRACEBACK", "1")
    assert "Traceback" in command("simulate", "study.toml")[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_output_is_one_sentence():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kinelo.cli", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert (done.returncode, done.stderr) == (2, "kinelo: The output: no space left on device.\n")
