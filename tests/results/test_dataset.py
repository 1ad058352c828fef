import errno
import os

import numpy as np
import pytest
import xarray as xr

from kinelo.errors import InputError
from kinelo.results import disk
from kinelo.results.dataset import read_dataset, write_dataset
from kinelo.results.disk import make_writable_folder
from kinelo.results.manifest import canonical_json, content_digest
from kinelo.results.provenance import provenance


@pytest.fixture
def dataset():
    names = ["Germany", "Brazil", "Team 1"]
    return xr.Dataset(
        {"rating": (("time", "team"), np.random.default_rng(1).normal(size=(4, 3)))},
        coords={"team": names, "time": np.arange(4.0)},
        attrs={"gamma": 0.05, "seeds": [1, 2]},
    )


def test_round_trip(dataset, tmp_path):
    write_dataset(dataset, tmp_path / "a" / "run.zarr")
    xr.testing.assert_identical(read_dataset(tmp_path / "a" / "run.zarr").load(), dataset)


def test_an_existing_folder_with_content_is_refused(dataset, tmp_path):
    (tmp_path / "run.zarr").mkdir()
    (tmp_path / "run.zarr" / "note").write_text("mine")
    with pytest.raises(InputError, match="exists and is not empty"):
        write_dataset(dataset, tmp_path / "run.zarr")
    assert [p.name for p in (tmp_path / "run.zarr").iterdir()] == ["note"]


def test_an_empty_folder_is_used(dataset, tmp_path):
    (tmp_path / "run.zarr").mkdir()
    write_dataset(dataset, tmp_path / "run.zarr")
    assert read_dataset(tmp_path / "run.zarr").sizes["team"] == 3


def test_a_failure_leaves_nothing(dataset, tmp_path, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "sync_file", full)
    with pytest.raises(InputError, match="is full"):
        write_dataset(dataset, tmp_path / "run.zarr")
    assert list(tmp_path.iterdir()) == []


def test_leftovers_of_a_killed_process_are_removed_but_not_those_in_use(dataset, tmp_path):
    (tmp_path / ".run.zarr.1.partial").mkdir()
    (tmp_path / ".run.zarr.2.partial").mkdir()
    held = disk.lock_folder(tmp_path / ".run.zarr.2.partial")
    assert held is not None
    write_dataset(dataset, tmp_path / "run.zarr")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".run.zarr.2.partial", "run.zarr"]
    os.close(held)


def test_what_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no zarr\.json"):
        read_dataset(tmp_path)


def test_a_file_where_a_folder_is_needed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        make_writable_folder(tmp_path / "file" / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write anywhere")
def test_an_unwritable_folder(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(InputError, match="cannot be written: permission denied"):
        make_writable_folder(tmp_path / "locked" / "out")


def test_digest_depends_on_content_only():
    a = {"x": np.float64(1.5), "y": np.array([1, 2]), "z": (True, None)}
    b = {"z": [True, None], "y": [1, 2], "x": 1.5}
    assert canonical_json(a) == canonical_json(b)
    assert content_digest(a) == content_digest(b)
    assert content_digest(a) != content_digest({**b, "x": 1.6})


def test_provenance_names_no_machine():
    found = provenance(seconds=1.5, seeds=[3]).as_dict()
    assert found["seconds"] == 1.5
    assert found["seeds"] == [3]
    assert {"kinelo", "python", "numpy", "numba"} <= set(found["versions"])
    assert os.uname().nodename not in canonical_json(found)
