"""A stored solution is the one in memory, continues bit for bit, and `time` means the same in both."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
import kinelo.results.store
from kinelo.cli import app
from kinelo.studies.solution import run_solution
from kinelo.studies.study import parse_study

PLAN = {
    "gamma": 0.05,
    "outcome": {"kind": "tanh", "nu": 0.5},
    "population": {"kind": "uniform", "theta": [4.0, 10.0, 12], "r": [4.0, 10.0, 24], "sigma": 1.0},
    "solve": {"until": 8.0, "closure": "taylor", "samples": 40, "save_at": [0.0, 3.0, 8.0]},
}


@pytest.fixture(scope="module")
def study():
    return parse_study(PLAN, "test")


def all_bytes(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_an_interrupted_solution_ends_bit_identical(study, tmp_path, monkeypatch):
    run_solution(study, tmp_path / "whole")
    monkeypatch.setattr(kinelo.results.store, "INTERVAL", 0.0)
    for last in (0.0, 1.3, 1.4, 4.0, 8.0):

        def stop(state, last=last):
            if state.time >= last:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_solution(study, tmp_path / "run", watch=stop)
    run_solution(study, tmp_path / "run")
    assert all_bytes(tmp_path / "run") == all_bytes(tmp_path / "whole")


def test_a_stored_solution_is_the_one_that_solve_gives(study, tmp_path):
    stored = run_solution(study, tmp_path / "run")
    direct = kn.solve(
        study.system, study.teams, until=8.0, closure="taylor", samples=40, save_at=[0.0, 3.0, 8.0]
    )  # fmt: skip
    assert set(stored.variables) == set(direct.variables)
    for name in direct.variables:
        assert stored[name].dims == direct[name].dims
        np.testing.assert_allclose(stored[name], direct[name], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(stored.density, direct.density)
    np.testing.assert_array_equal(stored.time, [0.0, 3.0, 8.0])
    assert stored.attrs["steps"] == direct.attrs["steps"] and stored.attrs["ended"] == direct.attrs["ended"]


def test_a_steady_end_is_kept(tmp_path):
    plan = PLAN | {"solve": {"until": 500.0, "samples": 50, "stop": "steady", "steady_below": 1e-2}}
    run = run_solution(parse_study(plan, "test"), tmp_path / "run")
    again = run_solution(parse_study(plan, "test"), tmp_path / "run")
    assert run.attrs["ended"] == "steady" and float(run.time[-1]) < 500
    assert run.identical(again)


STUDY = """
title = "few cells"
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
population = { kind = "uniform", theta = [4.0, 10.0, 12], r = [4.0, 10.0, 24], sigma = 1.0 }
solve = { until = 8.0, samples = 40 }
"""


@pytest.mark.long
def test_solve_resumes_after_a_kill(tmp_path):
    """A process killed between two samples, and then continued with --resume."""
    (tmp_path / "few.toml").write_text(STUDY, encoding="utf-8")
    program = """
        import os, sys
        import kinelo.results.store as store
        from kinelo.cli import main
        store.INTERVAL = 0.0
        append = store.RunStore.append
        def dying(self, row, state):
            append(self, row, state)
            if self.rows == 15:
                os._exit(9)
        store.RunStore.append = dying
        sys.argv = ["kinelo", "study", "solve", "few.toml", "--out", "run"]
        main()
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, capture_output=True)
    assert killed.returncode == 9 and not (tmp_path / "run" / "population.zarr").exists()
    arguments = ["study", "solve", str(tmp_path / "few.toml"), "--out"]
    refused = CliRunner().invoke(app, [*arguments, str(tmp_path / "run")])
    assert refused.exit_code != 0
    for folder, more in (("run", ["--resume"]), ("run", ["--resume"]), ("whole", [])):
        done = CliRunner().invoke(app, [*arguments, str(tmp_path / folder), *more])
        assert done.exit_code == 0, done.output
    assert all_bytes(tmp_path / "run") == all_bytes(tmp_path / "whole")
