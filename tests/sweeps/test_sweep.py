"""Sweeps: what they return, how they are stored, continued and tried again, and what they refuse."""

import functools
import hashlib
import itertools
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.sweeps import sweep as sweeping


def product(x, y):
    return x * 10 + y


def picky(x, y):
    if (x, y) == (2, 1):
        raise InputError("x = 2 and y = 1 do not go together.")
    return {"sum": x + y, "word": f"w{x}", "row": np.arange(3) * y}


def walk(x, y, previous=None):
    return y if previous is None else previous * 2 + x


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=4), st.lists(st.floats(-9, 9), min_size=1, max_size=4))
def test_a_grid_holds_the_function_at_every_pair(xs, ys):
    value = kn.sweep(product, {"x": xs, "y": ys}).value
    assert value.dims == ("x", "y")
    assert value.values.tolist() == [[x * 10 + y for y in ys] for x in xs]
    assert value.x.values.tolist() == xs and value.y.values.tolist() == ys


def test_a_list_of_points_is_one_dimension_with_both_parameters():
    table = kn.sweep(product, [{"x": 1, "y": 2}, {"y": 5, "x": 3}])
    assert table.value.dims == ("point",) and table.value.values.tolist() == [12, 35]
    assert table.x.values.tolist() == [1, 3] and table.y.values.tolist() == [2, 5]


def test_datasets_keep_their_dimensions_coordinates_and_common_attributes():
    def run(x):
        values = xr.Dataset({"r": ("team", [x, 2.0 * x])}, coords={"team": ["A", "B"], "day": ("team", [x, 1])})
        return values.assign_attrs(law="tanh", x_was=x)

    table = kn.sweep(run, {"x": [1.0, 3.0]})
    assert table.r.dims == ("x", "team") and table.r.sel(x=3.0, team="B") == 6.0
    assert table.team.dims == ("team",) and table.day.dims == ("x", "team") and "day" in table.coords
    assert table.attrs["law"] == "tanh" and "x_was" not in table.attrs


def test_laws_can_be_an_axis_and_are_named_by_what_they_print():
    def win(outcome):
        return kn.expected_result(outcome, kn.Fixed([0.0, 1.0]))[1, 0]

    table = kn.sweep(win, {"outcome": [kn.Tanh(nu=0.5), kn.model.Probit(nu=0.5)]})
    assert table.outcome.values.tolist() == [repr(kn.Tanh(nu=0.5)), repr(kn.model.Probit(nu=0.5))]


def test_a_failed_point_is_told_and_stops_no_other(tmp_path):
    with pytest.warns(KineloWarning, match="1 of 4 points.*do not go together"):
        table = kn.sweep(picky, {"x": [1, 2], "y": [1, 2]}, out=tmp_path / "s")
    assert table.failure.sel(x=2, y=1) == "x = 2 and y = 1 do not go together."
    assert np.isnan(table["sum"].sel(x=2, y=1)) and table["sum"].sel(x=2, y=2) == 4.0
    assert table.word.sel(x=2, y=1) == "" and table.word.sel(x=2, y=2) == "w2"
    assert table.row.sel(x=1, y=2).values.tolist() == [0, 2, 4]
    stored = xr.open_zarr(tmp_path / "s" / "data.zarr", consolidated=False, chunks=None)
    xr.testing.assert_identical(stored.load(), table)


def test_an_interrupted_sweep_continues_and_ends_with_the_same_bytes(tmp_path):
    calls = []

    def counted(x, y, stop=False):
        calls.append((x, y))
        if len(calls) == 3 and stop:
            raise KeyboardInterrupt
        return product(x, y)

    run = functools.partial(kn.sweep, over={"x": [1, 2], "y": [1, 2]})
    run(counted, out=tmp_path / "whole")
    calls.clear()
    patch = pytest.MonkeyPatch()
    patch.setattr(sweeping, "run_line", lambda line, f, *rest: original(line, functools.partial(f, stop=True), *rest))
    original = kn.sweeps.point.run_line
    with pytest.raises(KeyboardInterrupt):
        run(counted, out=tmp_path / "cut")
    patch.undo()
    assert sorted(p.name for p in (tmp_path / "cut" / "points").iterdir()) == ["0.zip", "1.zip"]
    calls.clear()
    run(counted, out=tmp_path / "cut")
    assert calls == [(2, 1), (2, 2)]
    assert tree(tmp_path / "cut") == tree(tmp_path / "whole")
    calls.clear()
    run(counted, out=tmp_path / "cut")
    assert calls == []


def test_retry_computes_just_the_failed_points(tmp_path):
    (tmp_path / "broken").write_text("")
    calls = []

    def moody(x):
        calls.append(x)
        if x > 1 and (tmp_path / "broken").exists():
            raise RuntimeError("no luck\ntoday")
        return x

    with pytest.warns(KineloWarning, match="2 of 3 points.*RuntimeError: no luck today"):
        kn.sweep(moody, {"x": [1, 2, 3]}, out=tmp_path / "s")
    (tmp_path / "broken").unlink()
    with pytest.warns(KineloWarning):
        kn.sweep(moody, {"x": [1, 2, 3]}, out=tmp_path / "s")
    assert calls == [1, 2, 3]
    table = kn.sweep(moody, {"x": [1, 2, 3]}, out=tmp_path / "s", retry=True)
    assert calls == [1, 2, 3, 2, 3] and table.value.values.tolist() == [1, 2, 3] and "failure" not in table
    kn.sweep(moody, {"x": [1, 2, 3]}, out=tmp_path / "fresh")
    assert tree(tmp_path / "s") == tree(tmp_path / "fresh")


def test_continuation_runs_along_its_axis_from_the_first_point():
    table = kn.sweep(walk, {"x": [1, 2, 3], "y": [5, 7]}, along="x")
    assert table.value.sel(y=5).values.tolist() == [5, 12, 27]
    assert table.value.sel(y=7).values.tolist() == [7, 16, 35]


def test_a_line_that_lost_a_point_is_computed_again_from_its_beginning(tmp_path):
    run = functools.partial(kn.sweep, walk, {"x": [1, 2, 3], "y": [5, 7]}, along="x")
    whole = run(out=tmp_path / "s")
    before = tree(tmp_path / "s")
    (tmp_path / "s" / "points" / "4.zip").unlink()
    xr.testing.assert_identical(run(out=tmp_path / "s"), whole)
    assert tree(tmp_path / "s") == before


def test_after_a_failure_a_line_goes_on_from_its_last_result():
    def fragile(x, previous):
        if x == 2:
            raise ValueError("two")
        return 1 if previous is None else previous + x

    with pytest.warns(KineloWarning, match="ValueError: two"):
        table = kn.sweep(fragile, {"x": [1, 2, 3]}, along="x")
    assert table.value.values[[0, 2]].tolist() == [1.0, 4.0] and np.isnan(table.value.values[1])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: kn.sweep(product, {"x": [1], "z": [2]}), "does not take the parameter 'z'; it takes x, y"),
        (lambda: kn.sweep(product, {"x": [1]}), "cannot be called with x alone"),
        (lambda: kn.sweep(product, {"x": [1], "y": []}), "y has no values"),
        (lambda: kn.sweep(product, {"x": [1], "y": 3}), "y must be a list of values, not 3"),
        (lambda: kn.sweep(product, {}), "at least one parameter"),
        (lambda: kn.sweep(product, [{"x": 1, "y": 2}, {"x": 1}]), "'y' is set in some only"),
        (lambda: kn.sweep(product, "xy"), "over must be a mapping"),
        (lambda: kn.sweep(3, {"x": [1]}), "function must be"),
        (lambda: kn.sweep(product, {"x": [1], "y": [2]}, along="z"), "along must be one of the axes x, y"),
        (lambda: kn.sweep(product, {"x": [1], "y": [2]}, along="x"), "does not take the parameter 'previous'"),
        (lambda: kn.sweep(lambda x: object(), {"x": [1]}), "No point.*accepted are numbers, arrays"),
        (lambda: kn.sweep(lambda x: {"x": 1}, {"x": [1]}), "'x', which is an axis"),
        (lambda: kn.sweep(lambda x: np.zeros(x), {"x": [1, 2]}), "same shape.*'x': 1.*'x': 2"),
        (lambda: kn.sweep(lambda x: {f"v{x}": 1}, {"x": [1, 2]}), "same variables; 'v1' differs"),
        (lambda: kn.sweep(product, {"x": [1], "y": [2]}, client="tcp://nowhere"), "client must be"),
        (lambda: kn.sweep(product, {"x": [1], "y": [2]}, out=3), "out must be the name of a folder"),
        (lambda: kn.sweep(lambda **k: 1, {f"x{k}": range(99) for k in range(4)}), "at most 1,000,000"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_folders_of_other_sweeps_and_foreign_ones_are_left_alone(tmp_path):
    kn.sweep(product, {"x": [1], "y": [2]}, out=tmp_path / "s")
    before = tree(tmp_path / "s")
    with pytest.raises(InputError, match="holds another sweep: its over is"):
        kn.sweep(product, {"x": [1], "y": [3]}, out=tmp_path / "s")
    with pytest.raises(InputError, match="holds another sweep: its function is"):
        kn.sweep(lambda x, y: 1, {"x": [1], "y": [2]}, out=tmp_path / "s")
    assert tree(tmp_path / "s") == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="not a sweep that Kinelo stored"):
        kn.sweep(product, {"x": [1], "y": [2]}, out=tmp_path / "mine")
    (tmp_path / "s" / "points" / "0.zip").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        kn.sweep(product, {"x": [1], "y": [2]}, out=tmp_path / "s")


def test_the_order_of_work_changes_nothing(tmp_path):
    original = sweeping.results_of
    trees = []
    for k, order in enumerate(itertools.islice(itertools.permutations(range(4)), 0, 24, 7)):
        patch = pytest.MonkeyPatch()
        patch.setattr(
            kn.sweeps.sweep,
            "results_of",
            lambda f, lines, *rest, order=order: original(f, [lines[i] for i in order], *rest),
        )
        with pytest.warns(KineloWarning):
            kn.sweep(picky, {"x": [1, 2], "y": [1, 2]}, out=tmp_path / str(k))
        patch.undo()
        trees.append(tree(tmp_path / str(k)))
    assert len(trees) == 4 and all(one == trees[0] for one in trees)
