import errno
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from kinelo.errors import InputError
from kinelo.results import disk
from kinelo.results.disk import make_writable_folder
from kinelo.results.layout import read_dataset, write_dataset
from kinelo.results.manifest import canonical_json, content_digest, provenance


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
    monkeypatch.setattr(disk, "free_space", lambda _: 3_700_000)
    with pytest.raises(InputError) as refused:
        write_dataset(dataset, tmp_path / "run.zarr")
    assert str(refused.value) == (
        f"The disk that holds {tmp_path / 'run.zarr'} is full (4 MB left): free some space there, then run the command "
        "again; everything finished so far is kept."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("needed", "space"), [(2_600_000, "at least 3 MB"), (300_000, "at least 1 MB"), (0, "some space")]
)
def test_a_full_disk_says_how_much_is_needed(tmp_path, monkeypatch, needed, space):
    monkeypatch.setattr(disk, "free_space", lambda _: None)
    for number, full in ((errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, False)):
        with pytest.raises(InputError) as refused, disk.disk_errors_in_words(tmp_path, "go on", needed):
            raise OSError(number, "Oh No")
        expected = (
            f"disk that holds {tmp_path} is full: free {space} there, then go on; everything finished so far is kept."
        )
        assert str(refused.value) == f"The {expected if full else f'folder {tmp_path} cannot be written: oh no.'}"


def test_room_is_asked_for_before_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "free_space", lambda _: 4_200_000)
    disk.check_space(tmp_path, 4_200_000, "A run", "choose less")
    for needed, said in ((4_230_000, "4.23 MB"), (5_600_000_000, "5.6 GB")):
        with pytest.raises(InputError) as refused:
            disk.check_space(tmp_path, needed, "A run", "choose less")
        assert str(refused.value) == (
            f"A run needs {said} on the disk that holds {tmp_path}, but 4.20 MB are free there; choose less."
        )


@pytest.mark.parametrize("durable", [True, False])
def test_a_folder_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch, durable):
    """Every file and folder in it, then the name; without asking for that nothing but the name is waited for."""
    done, target = [], tmp_path / "out"
    for name in ("sync_file", "sync_folder"):
        monkeypatch.setattr(disk, name, lambda path: done.append((Path(path).name, target.exists())))
    with disk.new_folder(target, durable=durable) as fresh:
        assert fresh == tmp_path / f".out.{os.getpid()}.partial"
        (fresh / "below").mkdir()
        (fresh / "below" / "a").write_text("")
        (fresh / "b").write_text("")
    inside = [(one, False) for one in ("a", "b", "below", fresh.name)] if durable else []
    assert sorted(done[:-1]) == sorted(inside) and done[-1] == (tmp_path.name, True)
    assert (target / "below" / "a").exists() and not fresh.exists()


def test_what_went_wrong_is_said_even_if_the_folder_is_gone(tmp_path):
    def spoil():
        with disk.new_folder(tmp_path / "out") as fresh:
            fresh.rmdir()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        spoil()
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
    with pytest.raises(InputError) as refused:
        read_dataset(tmp_path)
    assert str(refused.value) == f"{tmp_path} is not a dataset that Kinelo wrote (it has no zarr.json)."


def test_a_damaged_dataset_is_refused(dataset, tmp_path):
    write_dataset(dataset, tmp_path / "run.zarr")
    (tmp_path / "run.zarr" / "zarr.json").write_text("[1]")
    with pytest.raises(InputError) as refused:
        read_dataset(tmp_path / "run.zarr")
    words = rf"The dataset {re.escape(str(tmp_path / 'run.zarr'))} is damaged and cannot be read \(\w+Error\)\."
    assert re.fullmatch(words, str(refused.value))


def test_a_file_where_a_folder_is_needed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as refused:
        make_writable_folder(tmp_path / "file" / "out")
    assert str(refused.value) == f"The folder {tmp_path / 'file' / 'out'} cannot be written: not a directory."


def test_a_writable_folder_is_made_and_left_empty(tmp_path):
    for _ in range(2):
        assert make_writable_folder(tmp_path / "a" / "b") == tmp_path / "a" / "b"
        assert list((tmp_path / "a" / "b").iterdir()) == []


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
    assert found["cores"] == os.cpu_count()
    passed = datetime.now(UTC) - datetime.strptime(found["finished"], "%Y-%m-%dT%H:%M:%S%z")
    assert timedelta(0) <= passed < timedelta(minutes=10)
    assert os.uname().nodename not in canonical_json(found)


def test_a_processor_is_named_by_its_model(tmp_path, monkeypatch):
    """As Linux lists it, or by the kind of machine where it does not say."""
    listed = tmp_path / "cpuinfo"
    monkeypatch.setattr("kinelo.results.manifest.Path", lambda _: listed)
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    assert provenance().processor == "abacus"
    listed.write_text("processor\t: 0\nBogoMIPS\t: 50\n")
    assert provenance().processor == "abacus"
    listed.write_text("processor\t: 0\nmodel name\t: Fast: One @ 3 GHz \nmodel name\t: Slow\n")
    assert provenance().processor == "Fast: One @ 3 GHz"
