"""``kinelo study solve``: a study file becomes densities on disk, a picture and, if asked for, a film."""

import numpy as np
import pytest
from typer.testing import CliRunner

from kinelo.cli import app
from kinelo.errors import InputError
from kinelo.pictures.population import check_film
from kinelo.results.layout import read_dataset
from kinelo.studies.study import parse_study

STUDY = """
title = "Small"
gamma = 0.05
[outcome]
kind = "tanh"
nu = 0.5
[population]
kind = "concentrated"
rating = "theta"
theta = [4, 10, 12]
r = [4, 10, 20]
sigma = {sigma}
[solve]
until = 2.0
samples = 4
save_at = [0.0, 1.0, 2.0]
"""


def run(tmp_path, *options, sigma="1.0", text=STUDY):
    study = tmp_path / "study.toml"
    study.write_text(text.replace("{sigma}", sigma), encoding="utf-8")
    return CliRunner().invoke(app, ["study", "solve", str(study), "--out", str(tmp_path / "out"), *options])


@pytest.mark.parametrize("sigma", [pytest.param("1.0", marks=pytest.mark.long), "[0.2, 1.0, 4]"])
def test_densities_picture_and_film(tmp_path, sigma):
    result = run(tmp_path, "--film", "gif", sigma=sigma)
    assert result.exit_code == 0, result.output
    stored = read_dataset(tmp_path / "out" / "population.zarr")
    assert stored.time.values.tolist() == [0.0, 1.0, 2.0]
    assert stored.density.sum() * 0.5 * 0.3 * (1 if sigma == "1.0" else 0.2) == pytest.approx(3)
    assert (tmp_path / "out" / "population.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "out" / "population.gif").read_bytes()[:3] == b"GIF"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "population.gif",
        "population.png",
        "population.zarr",
        "run",
    ]


def test_an_mp4_or_what_is_missing_for_it(tmp_path, monkeypatch):
    from matplotlib.animation import writers

    if writers.is_available("ffmpeg"):
        assert run(tmp_path, "--film", "mp4").exit_code == 0
        assert b"ftyp" in (tmp_path / "out" / "population.mp4").read_bytes()[:12]
    monkeypatch.setattr(type(writers), "is_available", lambda self, name: False)
    with pytest.raises(InputError, match="needs the program ffmpeg, which is not installed; a gif needs nothing"):
        check_film("mp4")
    with pytest.raises(InputError, match="a gif or an mp4, not 'avi'"):
        check_film("avi")


def test_a_folder_with_content_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    result = run(tmp_path)
    assert isinstance(result.exception, InputError) and "not empty" in str(result.exception)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("until = 2.0", "until = -1.0", "until must lie in the future"),
        ("until = 2.0", "until = 2.0\nscheme = 'weno'", "solve.scheme"),
        ("r = [4, 10, 20]", "r = [10, 4, 20]", r"\[population\] r must be"),
        ("theta = [4, 10, 12]", "theta = [4, 10]", "population"),
        ('kind = "concentrated"', 'kind = "ring"', "population.kind must be one of"),
        ("samples = 4", "sample = 4", "unknown key 'solve.sample'; accepted here: until, closure"),
    ],
)
def test_bad_studies_are_refused_and_leave_nothing(tmp_path, before, after, message):
    result = run(tmp_path, text=STUDY.replace(before, after))
    assert isinstance(result.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise result.exception
    assert not (tmp_path / "out").exists()


def test_a_study_without_sections_says_which_it_needs(tmp_path):
    short = STUDY[: STUDY.index("[population]")]
    result = run(tmp_path, text=short)
    assert "needs a [solve] section" in str(result.exception)


def test_every_kind_of_population_builds():
    base = {"gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}}
    cells = {"theta": [4, 10, 12], "r": [4, 10, 20], "sigma": 1.0}
    for kind, extra in (("uniform", {}), ("gaussian", {"r_mean": 6.0, "r_sd": 0.5}), ("concentrated", {"rating": 6.0})):
        study = parse_study(base | {"population": {"kind": kind, **cells, **extra}})
        expected = 7.0 if kind == "uniform" else 6.0
        assert np.isclose(study.teams.mean_rating, expected, atol=1e-3)
