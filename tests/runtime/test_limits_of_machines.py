"""What a machine allows: its memory and a container's, threads of linear algebra, libraries that are not there."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from kinelo.errors import InputError
from kinelo.runtime import blas, extras, limits
from refusals import check_refusal

GIB = 2**30


def test_what_just_fits_is_begun(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 3 * GIB)
    limits.check_memory(3 * GIB, "A league", "use fewer teams")
    check_refusal(
        (
            lambda: limits.check_memory(3.6 * GIB, "A league", "use fewer teams"),
            "A league needs 3.6 GiB, but 3.0 GiB of memory are free; use fewer teams.",
        )
    )
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    limits.check_memory(1e30, "A league", "use fewer teams")


def test_a_container_allows_what_it_has_left_and_what_it_keeps_of_files(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "_GROUP", tmp_path)
    whole = limits.available_memory()
    assert whole is not None and whole > 10_000
    (tmp_path / "memory.stat").write_text("anon 70\ninactive_file 300\nactive_file 20\nshmem 9\n")
    (tmp_path / "memory.max").write_text("9000\n")
    for used, left in ((5000, 4320), (9500, 0)):
        (tmp_path / "memory.current").write_text(f"{used}\n")
        assert limits.available_memory() == left
    (tmp_path / "memory.max").write_text("max\n")
    unlimited = limits.available_memory()
    assert unlimited is not None and unlimited > 10_000


def test_memory_is_that_of_the_machine_where_the_system_does_not_say_what_is_free(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "_GROUP", tmp_path)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "MemTotal: 9 kB\nMemAvailable:   7 kB\n")
    assert limits.available_memory() == 7 * 1024
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "nothing")
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 11}.__getitem__)
    assert limits.available_memory() == 4096 * 11
    monkeypatch.delattr("os.sysconf")
    assert limits.available_memory() is None


class Library:
    """Linear algebra that remembers how many threads it was told to use."""

    def __init__(self, name, number):
        self.filepath, self.num_threads, self.told = name, number, []

    def set_num_threads(self, number):
        self.num_threads = number
        self.told.append(number)


def test_the_first_block_sets_threads_and_the_last_puts_them_back(monkeypatch):
    first, second = Library("a", 4), Library("b", 2)
    there = [first]
    monkeypatch.setattr(blas, "_libraries", lambda with_scipy: there)
    with blas.one_blas_thread():
        there = [first, second]
        with suppress(KeyError), blas.one_blas_thread():
            assert (first.told, second.told) == ([1], [1])
            raise KeyError
        assert (first.num_threads, second.num_threads) == (1, 1)
    assert (first.told, second.told) == ([1, 4], [1, 2])
    first.num_threads = 3  # what was before is asked anew
    with blas.one_blas_thread():
        pass
    assert first.told == [1, 4, 1, 3]


def test_libraries_that_are_missing_are_named_with_the_extras_that_bring_them(monkeypatch):
    def lacking(*names):
        there = set(names)
        monkeypatch.setattr(extras, "import_module", lambda name: 1 / (name not in there))

    monkeypatch.setattr(extras, "ImportError", ZeroDivisionError, raising=False)
    lacking("matplotlib", "segno", "fastexcel")
    extras.require("zarr", "starlette")
    one = 'Pictures need matplotlib. Install "kinelo[plot]" (in a checkout ".[plot]").'
    check_refusal((lambda: extras.require("zarr", "matplotlib"), one))
    # The lab brings what pictures need.
    several = (
        "Pictures need matplotlib, a lab that is shared needs segno, spreadsheets (.xlsx) need fastexcel. Install "
        '"kinelo[excel,lab]" (in a checkout ".[excel,lab]").'
    )
    check_refusal((lambda: extras.require("matplotlib", "segno", "zarr", "fastexcel"), several))
    lacking("zarr", "matplotlib")
    with pytest.raises(InputError, match=r'^Studies and stored runs need zarr, pictures need .* "kinelo\[study\]"'):
        extras.require("zarr", "matplotlib")


def test_versions_name_what_is_there(monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def version(name):
        if name == "zarr":
            raise PackageNotFoundError
        return SimpleNamespace(numpy="9.8").__dict__.get(name, "1")

    monkeypatch.setattr("importlib.metadata.version", version)
    found = extras.library_versions()
    assert list(found) == ["kinelo", "python", "numpy", "scipy", "numba", "xarray", "matplotlib"]
    assert found["numpy"] == "9.8"
