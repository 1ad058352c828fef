"""What a sweep gives stands in the order in which its function gave it, from memory and from a disk alike."""

import zipfile

import xarray as xr

import kinelo as kn
from kinelo.results.layout import read_dataset
from kinelo.sweeps.store import packed, unpacked

GIVEN = ["zeta", "alpha", "mid", "beta", "kappa", "eta"]


def several(a):
    return {name: a + k for k, name in enumerate(GIVEN)}


def test_variables_keep_their_order_on_a_disk(tmp_path):
    in_memory, stored = kn.sweep(several, {"a": [1, 2]}), kn.sweep(several, {"a": [1, 2]}, out=tmp_path / "out")
    assert list(in_memory.data_vars) == list(stored.data_vars) == GIVEN and in_memory.identical(stored)
    assert list(read_dataset(tmp_path / "out" / "data.zarr").data_vars) == sorted(GIVEN)


def test_a_point_of_an_earlier_version_is_read_by_name(tmp_path):
    point = xr.Dataset(several(3)).assign_coords(theta=("team", [1.0, 2.0]))
    (tmp_path / "new.zip").write_bytes(packed(point))
    with zipfile.ZipFile(tmp_path / "new.zip") as new, zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        for name in sorted(new.namelist()):
            old.writestr(zipfile.ZipInfo(name), new.read(name))
    assert list(unpacked(tmp_path / "new.zip").data_vars) == GIVEN
    assert list(unpacked(tmp_path / "old.zip").data_vars) == sorted(GIVEN)
    assert unpacked(tmp_path / "old.zip").identical(unpacked(tmp_path / "new.zip"))
