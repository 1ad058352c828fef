"""Whatever a user does: one sentence, exit code 2, and no traceback."""

import subprocess
from pathlib import Path

import pytest
from typed import STUDY, one_sentence, started
from typed import kinelo as command

import kinelo.runtime.limits


@pytest.fixture(autouse=True)
def _small_machine(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kinelo.runtime.limits, "available_memory", lambda: 4 * 2**30)


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
        (("teams = 12", "teams = 1_000_000_000"), "needs 44.7 GiB, but 4.0 GiB of memory are free"),
        (("realisations = 3", "realisations = 1_000_000_000"), "GiB of memory are free"),
        (("steps = 40", "steps = 1_000_000_000_000_000_000"), "use record_every = "),
        (("steps = 40\nrealisations = 3\nrecord_every = 10", "steps = 1_000_000_000_000_000_000"), "years"),
        (
            ("steps = 40\nrealisations = 3\nrecord_every = 10", "steps = 1_000_000\nrecord_every = 1"),
            "at most 100,000",
        ),
    ],
    ids=lambda value: value[1][:30] if isinstance(value, tuple) else "",
)
def test_a_study_that_cannot_be_done(change, words):
    Path("study.toml").write_text(STUDY.replace(*change))
    assert words in one_sentence(command("study", "simulate", "study.toml", "--out", "out"))
    assert not Path("out").exists()


def test_a_disk_too_small_is_said_before_the_run(monkeypatch):
    monkeypatch.setattr("kinelo.results.disk.free_space", lambda folder: 10_000)
    Path("study.toml").write_text(STUDY)
    assert "5 records needs" in one_sentence(command("study", "simulate", "study.toml", "--out", "out"))
    assert not Path("out").exists()


def test_a_name_too_long_for_the_system():
    Path("study.toml").write_text(STUDY)
    assert "file name too long" in one_sentence(command("study", "simulate", "study.toml", "--out", "x" * 5000)).lower()


@pytest.mark.parametrize("words", [("rate", "league.csv"), ("backtest", "league.csv")])
def test_the_name_of_a_picture_is_checked_before_the_work(words):
    assert "ends in .png, .pdf or .svg" in one_sentence(command(*words, "--picture", "x.xyz"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "memory of this machine does not suffice"),
        (OSError(5, "Input/output error", "disk"), "disk: input/output error."),
        (ValueError("a library\nsays no."), "did not foresee (ValueError: a library says no); set KINELO_TRACEBACK=1"),
    ],
)
def test_what_nobody_foresaw_is_one_sentence(monkeypatch, error, words):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("kinelo.studies.study.read_study", fail)
    assert words in one_sentence(command("study", "simulate", "study.toml"))
    monkeypatch.setenv("KINELO_TRACEBACK", "1")
    assert "Traceback" in command("study", "simulate", "study.toml").stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_output_is_one_sentence():
    with open("/dev/full", "w") as full:
        done = started("--version", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, "kinelo: The output: no space left on device.\n")
