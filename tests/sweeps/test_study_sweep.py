"""Sweeps of study files: on the command line, their pictures, and their convergence."""

import sys
import warnings

import numpy as np
import pytest
import xarray as xr

import kinelo as kn
from kinelo.cli import main
from kinelo.errors import InputError
from kinelo.pictures.style import picture_bytes
from kinelo.pictures.sweep import draw_sweep
from kinelo.sweeps.study import read_sweep, run_study_sweep

STUDY = """
title = "Small"
gamma = 0.05
[outcome]
kind = "tanh"
nu = 0.5
[league]
kind = "homogeneous"
sigma = 1.0
teams = 6
[simulate]
steps = 20
seed = 1
"""


def written(folder, text):
    path = folder / "study.toml"
    path.write_text(STUDY + text, encoding="utf-8")
    return path


def test_a_point_of_a_study_is_that_study(tmp_path):
    path = written(tmp_path, "[sweep]\noutcome.nu = [0.25, 0.5]\nleague.sigma = [1.0, 2.0]\n")
    table = run_study_sweep(path)
    league = kn.homogeneous(sigma=2.0, teams=6)
    run = kn.simulate(kn.RatingSystem(kn.Tanh(nu=0.25), gamma=0.05), league, steps=20, seed=1)
    point = table.sel({"outcome.nu": 0.25, "league.sigma": 2.0})
    assert np.array_equal(point.rating.values, run.rating.values)
    gap = run.rating.values[0, -1] - league.theta
    assert point.distance == pytest.approx(gap.std(), rel=1e-12)


def test_laws_of_ones_own_are_swept_where_their_code_is_allowed(tmp_path):
    law = "import math\nimport kinelo as kn\nfrom dataclasses import dataclass\n\n@dataclass(frozen=True)\n"
    law += "class Steep(kn.model.Outcome):\n    rate: float = 1.0\n"
    law += "    def scalar_b(self):\n        rate = self.rate\n        return lambda z: math.tanh(rate * z)\n"
    (tmp_path / "swept_laws.py").write_text(law, encoding="utf-8")
    path = written(tmp_path, "[sweep]\noutcome.rate = [0.25, 0.5]\n")
    study = path.read_text(encoding="utf-8").replace('"tanh"\nnu = 0.5', '"swept_laws:Steep"\nrate = 0.5')
    path.write_text(study, encoding="utf-8")
    with pytest.raises(InputError, match="allow_code=True"):
        run_study_sweep(path)
    rating = run_study_sweep(path, allow_code=True).rating
    plain = kn.simulate(
        kn.RatingSystem(kn.Tanh(nu=0.25), gamma=0.05), kn.homogeneous(sigma=1.0, teams=6), steps=20, seed=1
    )
    np.testing.assert_allclose(rating.sel({"outcome.rate": 0.25}), plain.rating, rtol=1e-12, atol=1e-12)
    assert not np.allclose(rating[0], rating[1])


def test_points_and_what_to_compute(tmp_path):
    points = 'compute = "stationary"\npoints = [{gamma = 0.1, outcome.nu = 1.0}, {gamma = 0.2, outcome.nu = 0.5}]'
    table = run_study_sweep(written(tmp_path, f"[sweep]\n{points}"))
    assert table.rating.dims == ("point", "team") and table.gamma.values.tolist() == [0.1, 0.2]
    state = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.2), kn.homogeneous(sigma=1.0, teams=6))
    assert np.array_equal(table.rating.values[1], state.rating)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a .sweep. section"),
        ("[sweep]\noutcome.mu = [1.0]", "unknown key.*mu"),
        ("[sweep]\noutcome.nu = 1.0", "outcome.nu must be a list of values"),
        ("[sweep]\noutcome.nu = []", "outcome.nu has no values"),
        ("[sweep]\nleague.sigma = [-1.0]", "sigma"),
        ('[sweep]\ncompute = "dream"\ngamma = [0.1]', "sweep.compute must be one of simulate, solve, stationary"),
        ("[sweep]\npoints = [{gamma = 0.1}, {outcome.nu = 1.0}]", "set in some only"),
        ("[sweep]\npoints = [{gamma = 0.1}]\ngamma = [1.0]", "takes points or axes"),
        ("[sweep]\ngamma.step = [1.0]", "is a value and has no keys"),
    ],
)
def test_a_section_that_cannot_be_swept_is_refused_before_anything_runs(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_sweep(written(tmp_path, text))


@pytest.fixture
def kinelo(tmp_path, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["kinelo", "study", "sweep", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.chdir(tmp_path)
    return run


def test_the_command_sweeps_tells_of_failures_and_tries_again(tmp_path, kinelo):
    path = written(tmp_path, "[sweep]\nleague.sigma = [1.0, -2.0]\n")
    code, told = kinelo("study.toml", "--out", "there")
    assert code == 0 and "2 points. 1 of them could not be computed (--retry tries again)" in told.out
    table = xr.open_zarr(tmp_path / "there" / "sweep" / "data.zarr", consolidated=False, chunks=None)
    assert np.isnan(table.distance.values[1]) and np.isfinite(table.distance.values[0])
    assert (tmp_path / "there" / "sweep.png").read_bytes()[:4] == b"\x89PNG"
    code, told = kinelo("study.toml", "--out", "there")
    assert code == 2 and "already holds a run: add --resume" in told.err
    assert kinelo("study.toml", "--out", "there", "--retry")[0] == 0
    path.write_text(path.read_text().replace("-2.0", "2.0"))
    code, told = kinelo("study.toml", "--out", "there", "--resume")
    assert code == 2 and "holds another sweep" in told.err
    code, told = kinelo("study.toml", "--workers", "2", "--scheduler", "tcp://127.0.0.1:9")
    assert code == 2 and "exclude each other" in told.err


def test_pictures_follow_the_number_of_axes():
    def wave(**at):
        return {"height": sum(at.values()), "rows": np.arange(2.0)}

    ten = list(range(10))
    kinds = {}
    for name, over in {
        "line": {"a": ten},
        "family": {"a": [1, 2], "b": ten},
        "heat": {"a": ten, "b": ten},
        "multiples": {"a": ten, "b": ten, "c": [1, 2]},
        "grid": {"a": [1, 2], "b": ten, "c": [1, 2], "d": [1, 2, 3]},
    }.items():
        figure = draw_sweep(kn.sweep(wave, over))
        panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        kinds[name] = (len(panels), len(panels[0].lines), len(panels[0].collections))
        assert name not in ("heat", "grid") or picture_bytes(figure)[:4] == b"\x89PNG"
    assert kinds == {
        "line": (1, 1, 0), "family": (1, 2, 0), "heat": (1, 0, 1), "multiples": (2, 0, 1), "grid": (4, 3, 0),
    }  # fmt: skip
    table = kn.sweep(wave, {"a": ten})
    assert "mean over rows_0" in draw_sweep(table, "rows").axes[0].get_ylabel()
    with pytest.raises(InputError, match="variable must be one of height, rows"):
        draw_sweep(table, "depth")
    with pytest.raises(InputError, match="5 axes cannot be drawn"):
        draw_sweep(kn.sweep(wave, {name: [1] for name in "abcde"}))


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("limit", [None, [1.0, 2.0]])
def test_orders_are_those_of_the_error(power, limit):
    table = kn.sweep(lambda n: np.array([1.0, 2.0]) + np.array([3.0, -1.0]) / n**power, {"n": [40, 10, 20, 80]})
    found = kn.sweeps.convergence_table(table, "value", "n", limit)
    assert found["n"].to_list() == [10, 20, 40, 80]
    assert np.allclose(found["order"].drop_nulls().to_numpy(), power, atol=1e-9)
    assert found["error"][0] == pytest.approx(5**0.5 * abs((0.5**power if limit is None else 0) - 1) / 10**power)
