"""Runs that Kinelo 0.2 wrote are read, with the numbers they had."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.results.layout import read_dataset

KEPT = Path(__file__).parent / "runs_of_0.2.zip"
RATINGS = [[7.0, 7.0, 7.0], [4.408154207547582, 7.140516365558121, 9.451329426894306],
           [4.643407298915818, 6.983776458342197, 9.37281624274202]]  # fmt: skip
"""What 0.2.0 printed of the run, beside it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("old")
    zipfile.ZipFile(KEPT).extractall(place)
    return place


def test_a_simulation_is_read(folder):
    run = read_dataset(folder / "sim" / "run" / "data.zarr")
    assert run.rating.dims == ("time", "realisation", "team")
    assert run.rating.values[:, 0].tolist() == RATINGS
    assert run.attrs["kinelo_version"] == "0.2.0" and run.step.values.tolist() == [0, 20, 40]


def test_a_solution_is_read(folder):
    run = read_dataset(folder / "sol" / "population.zarr")
    assert (run.sizes["theta"], run.sizes["sigma"], run.sizes["r"]) == (4, 1, 6)
    assert run.rating_given_theta.values[-1] == pytest.approx(
        [6.562316947794628, 6.842350488043195, 7.157649511956805, 7.4376830522053705], rel=0
    )
    assert np.allclose(run.mass, 1.0)


def test_what_is_finished_is_not_computed_again(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = (folder / "sim" / "run" / "manifest.json").read_bytes()
    done = CliRunner().invoke(app, ["study", "simulate", "study.toml", "--out", "sim", "--resume"])
    assert done.exit_code == 0 and (folder / "sim" / "ratings.png").exists(), done.output
    assert (folder / "sim" / "run" / "manifest.json").read_bytes() == before


def test_its_study_file_is_read(folder):
    from kinelo.studies import read_study

    assert read_study(folder / "study.toml").system == kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
