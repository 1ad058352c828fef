"""The command line as a user meets it: help, version, results, and one sentence with exit code 2 for bad input."""

import subprocess
import sys

import pytest
import xarray as xr
from typed import STUDY, kinelo, one_sentence, started


def test_version_and_help():
    assert started("--version").stdout.startswith("kinelo ")
    shown = kinelo("--help")
    assert shown.returncode == 0 and "Example" in shown.stdout and "simulate" in shown.stdout


def test_help_and_import_load_nothing_heavy():
    heavy = ("numpy", "numba", "xarray", "polars", "matplotlib", "pydantic")
    code = f"import sys, kinelo.cli; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout.strip() == "[]"


def test_simulate_writes_zarr_and_a_picture(study, tmp_path):
    out = tmp_path / "result"
    shown = kinelo("study", "simulate", study, "--out", out)
    assert shown.returncode == 0, shown.stderr
    assert "3,000 matches played" in shown.stdout
    run = xr.open_zarr(out / "run" / "data.zarr", consolidated=False, chunks=None)
    assert run.rating.sizes == {"time": 5, "realisation": 3, "team": 12}
    assert (out / "ratings.png").read_bytes().startswith(b"\x89PNG")
    resumed = kinelo("study", "simulate", study, "--out", out, "--resume")
    assert resumed.returncode == 0, resumed.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("gamma = 0.05", "gamma = -1"), "gamma must be greater than 0"),
        (("sigma = 1.0", "sigma = nan"), "finite number"),
        (("teams = 12", "teams = 1"), "teams must be a whole number of at least 2"),
        (("steps = 40", "stepps = 40"), "unknown key 'simulate.stepps'"),
        (("[simulate]", "[simulation]"), "unknown key 'simulation'"),
    ],
)
def test_a_bad_study_is_one_sentence_and_exit_code_2(study, tmp_path, change, words):
    study.write_text(STUDY.replace(*change))
    shown = kinelo("study", "simulate", study, "--out", tmp_path / "result")
    assert words in one_sentence(shown)
    assert not (tmp_path / "result").exists()


def test_an_output_folder_that_exists_is_refused_and_untouched(study, tmp_path):
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "thesis.txt").write_text("precious")
    shown = kinelo("study", "simulate", study, "--out", tmp_path / "result")
    assert shown.returncode == 2 and "exists and is not empty" in shown.stderr
    assert [path.name for path in (tmp_path / "result").iterdir()] == ["thesis.txt"]


def test_an_output_folder_that_cannot_be_made_is_refused(study, tmp_path):
    (tmp_path / "file").write_text("in the way")
    shown = kinelo("study", "simulate", study, "--out", tmp_path / "file" / "result")
    assert "cannot be written" in one_sentence(shown)


def test_resuming_another_study_is_refused(study, tmp_path):
    assert kinelo("study", "simulate", study, "--out", tmp_path / "result").returncode == 0
    study.write_text(STUDY.replace("seed = 1", "seed = 2"))
    shown = kinelo("study", "simulate", study, "--out", tmp_path / "result", "--resume")
    assert shown.returncode == 2 and "other inputs" in shown.stderr
    missing = kinelo("study", "simulate", study, "--out", tmp_path / "nothing", "--resume")
    assert missing.returncode == 2 and "nothing to resume" in missing.stderr


def test_no_arguments_shows_help_and_unknown_commands_are_refused():
    assert "Usage" in kinelo().stdout + kinelo().stderr
    assert kinelo("fly").returncode == 2
