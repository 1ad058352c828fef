"""Contests of many sides in study files and sweeps: each point is its own run, and one that was stopped ends alike."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.results.layout import read_dataset
from kinelo.studies import read_study
from kinelo.studies.simulation import run_simulation
from kinelo.sweeps.study import run_study_sweep

STUDY = """
title = "Contests"
gamma = 0.1
[outcome]
kind = "tanh"
nu = 0.5
[schedule]
kind = "field"
size = 3
[league]
kind = "homogeneous"
sigma = 1.0
teams = 12
[simulate]
steps = 40
matches_per_step = 5
realisations = 3
record_every = 4
seed = 1
"""
LEAGUE = kn.homogeneous(sigma=1.0, teams=12)
PLAN = {"steps": 40, "matches_per_step": 5, "realisations": 3, "record_every": 4, "seed": 1}


def system(size):
    return kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1, schedule=kn.model.Field(size))


def study(folder, more=""):
    path = folder / "study.toml"
    path.write_text(STUDY + more, encoding="utf-8")
    return path


def test_each_size_of_a_sweep_is_a_run_of_that_size(tmp_path):
    table = run_study_sweep(study(tmp_path, "[sweep]\nschedule.size = [2, 3, 7]\n"))
    for size in (2, 3, 7):
        run = kn.simulate(system(size), LEAGUE, **PLAN)
        point = table.sel({"schedule.size": size})
        assert np.array_equal(point.rating.values, run.rating.values)
        assert point.rating.dims == ("realisation", "step", "team")
        assert point.time.values.tolist() == run.time.values.tolist()
        assert point.step.values.tolist() == run.step.values.tolist()
    assert table.time.dims == ("schedule.size", "step") and table.time.values[:, -1].tolist() == pytest.approx(
        [size * 200 / 12 for size in (2, 3, 7)]
    )
    duels = kn.simulate(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1), LEAGUE, **PLAN)
    assert np.array_equal(table.sel({"schedule.size": 2}).rating.values, duels.rating.values)


def test_a_sweep_of_settled_states_has_one_map_and_less_noise(tmp_path):
    def settled(size):
        state = kn.stationary(system(size), LEAGUE, noise="gaussian")
        return {"slope": kn.stationary(system(size), LEAGUE).slope, "noise": state.variance.mean()}

    table = kn.sweep(settled, {"size": [2, 3, 5, 9]}, out=tmp_path / "kept")
    assert np.ptp(table.slope.values) == 0.0 and (np.diff(table.noise.values) < 0).all()
    again = kn.sweep(settled, {"size": [2, 3, 5, 9]}, out=tmp_path / "kept")
    assert again.noise.values.tolist() == table.noise.values.tolist()


def test_a_run_that_was_stopped_ends_at_the_same_bytes(tmp_path):
    plan = read_study(study(tmp_path))
    whole = run_simulation(plan, tmp_path / "whole")

    def stop(played):
        if played:
            seen.append(played)
        if len(seen) == 3:
            raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        run_simulation(plan, tmp_path / "parts", advance=stop)
    resumed = run_simulation(plan, tmp_path / "parts")
    assert resumed.rating.values.tobytes() == whole.rating.values.tobytes()
    kept = read_dataset(tmp_path / "parts" / "data.zarr")
    assert kept.schedule == "Field(size=3)" and kept.rating.values.tobytes() == whole.rating.values.tobytes()
