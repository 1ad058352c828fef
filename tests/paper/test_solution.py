import numpy as np
import pytest
from tiny import write_studies

import kinelo as kn
import kinelo.results.store
from kinelo.paper.figure import read_figures
from kinelo.paper.kinetic import summed
from kinelo.paper.solution import run_solution


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    (figure,) = read_figures(write_studies(tmp_path_factory.mktemp("studies")), wanted=[5])
    return figure.studies["σ = 1"]


def all_bytes(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_an_interrupted_solution_ends_bit_identical(study, tmp_path, monkeypatch):
    run_solution(study, tmp_path / "whole")
    monkeypatch.setattr(kinelo.results.store, "INTERVAL", 0.0)
    for last in (0.0, 1.3, 1.4, 4.0, 8.0):

        def stop(time, last=last):
            if time >= last:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_solution(study, tmp_path / "run", advance=stop)
    run_solution(study, tmp_path / "run")
    assert all_bytes(tmp_path / "run") == all_bytes(tmp_path / "whole")


def test_a_stored_solution_is_the_one_that_solve_gives(study, tmp_path):
    stored = run_solution(study, tmp_path / "run")
    direct = kn.solve(study.system, study.teams, until=8.0, closure="taylor", samples=40)
    np.testing.assert_array_equal(stored.density, direct.density.isel(time=-1))
    np.testing.assert_array_equal(stored.energy, direct.energy)
    np.testing.assert_allclose(stored.stationary_distance, direct.stationary_distance, atol=1e-12)
    np.testing.assert_array_equal(stored.time, direct.series_time)
    np.testing.assert_allclose(summed(stored.density, "sigma"), direct.density_theta_r.isel(time=-1), rtol=1e-12)
    assert stored.attrs["steps"] == direct.attrs["steps"]
