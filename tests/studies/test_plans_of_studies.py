"""Runs that cannot be carried out are refused before anything is written, with what they would take."""

import itertools
import shutil
from collections import namedtuple

import pytest
from typer.testing import CliRunner

import kinelo as kn
import kinelo.micro.matches
from kinelo.cli import app
from kinelo.paper.figure import read_figures
from kinelo.paper.reproduce import check_plan
from kinelo.studies import read_study
from kinelo.studies.plan import run_bytes
from kinelo.studies.solution import run_solution

BASE = 'gamma = 0.05\noutcome = { kind = "tanh", nu = 0.5 }\n'
LEAGUE = 'league = { kind = "homogeneous", teams = 30, sigma = 1.0 }\n'
GRID = 'population = {{ kind = "uniform", theta = [4.0, 10.0, {n}], r = [4.0, 10.0, {n}], sigma = 1.0 }}\n'
SMALL = GRID.format(n=6)
Disk = namedtuple("Disk", "total used free")


@pytest.fixture
def full_disk(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Disk(2**30, 2**30, 50_000))


def refusal(tmp_path, command, text):
    """What the command line says; it must leave nothing behind."""
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(text, encoding="utf-8")
    ended = CliRunner().invoke(app, ["study", command, str(study), "--out", str(out)])
    assert isinstance(ended.exception, kn.InputError) and not out.exists() and not ended.output
    return str(ended.exception)


def test_a_solution_of_years_is_refused(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(BASE + SMALL + "solve = { until = 1e18 }\n", encoding="utf-8")
    with pytest.raises(kn.InputError, match=r"in about .* steps would take at least .* years"):
        run_solution(read_study(study), tmp_path / "run")
    teams = kn.macro.Population.uniform(theta=(4, 10, 6), r=(4, 10, 6), sigma=1.0)
    for dt in ("cfl", 1e-3):
        with pytest.raises(kn.InputError, match="years on this machine; use an earlier until"):
            kn.solve(kn.RatingSystem(kn.Tanh(nu=0.5)), teams, until=1e18, dt=dt)


def test_one_that_stops_when_it_is_steady_is_asked_for_the_time_to_its_first_sample():
    system, teams = (
        kn.RatingSystem(kn.Tanh(nu=0.5)),
        kn.macro.Population.uniform(theta=(4, 10, 6), r=(4, 10, 6), sigma=1.0),
    )
    assert kn.solve(system, teams, until=1e7, stop="steady", samples=10**6, save_at=[0.0]).attrs["ended"] == "steady"
    with pytest.raises(kn.InputError, match="years"):
        kn.solve(system, teams, until=1e18, stop="steady")


@pytest.mark.parametrize("samples", [10**9, 10**12])
def test_more_samples_than_a_run_keeps_are_refused(tmp_path, samples):
    said = refusal(tmp_path, "solve", BASE + SMALL + f"solve = {{ until = 1.0, samples = {samples} }}\n")
    assert "asks for more records than a stored run keeps; use at most 100,000" in said


def test_a_grid_that_no_memory_holds_is_refused(tmp_path):
    said = refusal(tmp_path, "solve", BASE + GRID.format(n=500_000) + "solve = { until = 1.0 }\n")
    assert "500000 × 1 × 500000 cells" in said and "GiB" in said


def test_a_solution_that_no_disk_holds_is_refused(tmp_path, full_disk):
    said = refusal(tmp_path, "solve", BASE + GRID.format(n=60) + "solve = { until = 1.0, save_at = [0.1, 0.2, 1.0] }\n")
    assert "A solution on 60 × 1 × 60 cells kept at 3 times needs" in said and "0.05 MB are free" in said


def test_what_a_solution_takes_on_the_disk_is_about_what_was_said(tmp_path):
    text = BASE + GRID.format(n=60) + "solve = { until = 0.5, save_at = [0.1, 0.2, 0.5], samples = 4 }\n"
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    study = read_study(tmp_path / "study.toml")
    run_solution(study, tmp_path / "run")
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert 0.3 * run_bytes(study) < sum(-(-path.stat().st_size // 4096) * 4096 for path in files) < 3 * run_bytes(study)


@pytest.mark.parametrize(
    ("run", "axis"),
    [
        ("simulate = { steps = 100_000_000_000_000_000, seed = 1 }\n", "outcome.nu = [0.1, 0.2]\n"),
        (SMALL + "solve = { until = 1e15, dt = 1e-6 }\n", "outcome.nu = [0.1, 0.2]\n"),
    ],
)
def test_a_sweep_of_years_is_refused(tmp_path, run, axis):
    said = refusal(tmp_path, "sweep", BASE + LEAGUE + run + "[sweep]\n" + axis)
    assert "A sweep of 2 points would take at least" in said and "years" in said


def test_a_sweep_that_no_disk_holds_is_refused(tmp_path, full_disk):
    run = "simulate = { steps = 1000, record_every = 10, seed = 1 }\n"
    said = refusal(tmp_path, "sweep", BASE + LEAGUE + run + "[sweep]\noutcome.nu = [0.1, 0.2, 0.3]\n")
    assert "A sweep of 3 points needs" in said and "MB are free there" in said


def test_an_endless_axis_is_refused(monkeypatch):
    monkeypatch.setattr("kinelo.sweeps.axes.MOST_POINTS", 10_000)
    with pytest.raises(kn.InputError, match="at most 10,000 are accepted"):
        kn.sweep(lambda n: n, {"n": itertools.count()})


def test_a_reproduction_that_no_disk_holds_or_of_years_is_refused(tmp_path, full_disk):
    figures = read_figures()
    with pytest.raises(kn.InputError, match=r"^(Figure \d+, .*: A run of|The reproduction of) .* needs .* are free"):
        check_plan(figures, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_matches_beyond_memory_or_that_never_happen_are_refused(monkeypatch):
    monkeypatch.setattr(kinelo.micro.matches, "LONGEST_SILENCE", 50_000)
    league = kn.Normal([0.0, 100.0], 1.0)
    with pytest.raises(kn.InputError, match=r"A list of 1,000,000,000,000,000 matches needs .* GiB"):
        kn.micro.simulate_matches(kn.RatingSystem(kn.Tanh(nu=0.5)), league, matches=10**15, seed=1)
    apart = kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Window(1.0, smoothing=0.0))
    with pytest.raises(kn.InputError, match="the pairing keeps these teams apart"):
        kn.micro.simulate_matches(apart, league, matches=5, seed=1, start=[0.0, 100.0])
