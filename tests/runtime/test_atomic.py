"""Where a user says to write: files are replaced whole, streams are written to, and nothing else is replaced."""

import os
import pty
import re
import stat
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import matplotlib.figure
import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.cli.loading import write_csv
from kinelo.matches.dated import Rejects
from kinelo.pictures.population import save_film
from kinelo.runtime.atomic import replace_file, write_file

SOURCES = Path(kn.__file__).parent


@cache
def verdict():
    return kn.diagnose(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], 1.0), check=False)


WRITERS = {
    "a.txt": lambda path: write_file(path, b"new"),
    "a.csv": lambda path: write_csv(pl.DataFrame({"a": [1]}), path),
    "b.csv": lambda path: Rejects.of("matches", [3], ["missing"]).write(path),
    "a.png": lambda path: kn.plot.save(matplotlib.figure.Figure(figsize=(1, 1)), path),
    "a.html": lambda path: kn.write_page(verdict(), path),
    "a.gif": lambda path: save_film(np.arange(3.0), np.arange(3.0), [(0.0, np.ones((3, 3)))] * 2, path),
}
"""What writes where a user says, under a name of its kind."""


@pytest.fixture
def wrong_word():
    """The sentence with which a path is refused."""

    def said(write, path):
        with pytest.raises(kn.InputError) as refused:
            write(path)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    return said


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_no_file_is_written_to_or_refused_and_never_replaced(name, tmp_path, wrong_word):
    write, plain = WRITERS[name], tmp_path / name
    write(plain)
    content = plain.read_bytes()
    assert content and os.listdir(tmp_path) == [name]

    pipe = tmp_path / f"pipe-{name}"
    os.mkfifo(pipe)
    assert "Nobody reads from" in wrong_word(write, pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)
    open_meanwhile = os.open(pipe, os.O_WRONLY)  # the reader sees the end when this is closed as well
    read = []
    reader = threading.Thread(target=lambda: read.append(os.fdopen(reading, "rb").read()))
    reader.start()
    write(pipe)
    os.close(open_meanwhile)
    reader.join()
    assert read == [content] and stat.S_ISFIFO(pipe.stat().st_mode)

    folder = tmp_path / f"folder-{name}"
    folder.mkdir()
    assert "folder" in wrong_word(write, folder) and folder.is_dir()

    link = tmp_path / f"link-{name}"
    target = tmp_path / "elsewhere" / f"target-{name}"
    target.parent.mkdir()
    link.symlink_to(Path("elsewhere") / target.name)
    for _ in range(2):  # also where the link leads to nothing yet
        write(link)
        assert link.is_symlink() and target.read_bytes() == content
        target.write_bytes(b"old")
    link.unlink()
    link.symlink_to(link.name)
    if name == "a.txt":
        with pytest.raises(OSError, match="levels of symbolic links"):
            write(link)
    else:
        wrong_word(write, link)
    assert link.is_symlink() and sorted(os.listdir(target.parent)) == [target.name]


def test_a_device_stays_a_device(tmp_path):
    """As root, a terminal named by mistake could be renamed away; a terminal of our own shows it and is written to."""
    ours, theirs = pty.openpty()
    name = os.ttyname(theirs)
    link = tmp_path / "a.csv"
    link.symlink_to(name)
    for path in (name, link):
        write_csv(pl.DataFrame({"a": [12]}), Path(path))
        assert stat.S_ISCHR(os.stat(name).st_mode) and os.read(ours, 100).split() == [b"a", b"12"]
    os.close(ours)
    os.close(theirs)


def test_what_a_full_device_takes_is_said(wrong_word):
    if not os.access("/dev/full", os.W_OK) or not stat.S_ISCHR(os.stat("/dev/full").st_mode):
        pytest.skip("there is no /dev/full to write to")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", lambda *paths: pytest.fail("a device was about to be replaced"))
        assert "is full" in wrong_word(lambda path: write_csv(pl.DataFrame({"a": [1]}), path), Path("/dev/full"))


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("where", ["file", "pipe"])
def test_streams_are_written_behind_what_was_printed(path, where, tmp_path):
    """A file that a shell has opened for the command goes on being that file."""
    if path == "link":
        path = tmp_path / "link"
        path.symlink_to("/dev/stdout")
    code = f"print('before')\nfrom kinelo.runtime.atomic import write_file\nwrite_file({str(path)!r}, b'during\\n')\n"
    command = [sys.executable, "-c", f"{code}print('after')"]
    if where == "pipe":
        said = subprocess.run(command, capture_output=True, check=True).stdout
    else:
        with (tmp_path / "shell.txt").open("wb") as file:
            subprocess.run(command, stdout=file, check=True)
            assert os.path.samestat(os.fstat(file.fileno()), (tmp_path / "shell.txt").stat())
        said = (tmp_path / "shell.txt").read_bytes()
    assert said.split() == [b"before", b"during", b"after"]


def test_a_stream_of_this_process_is_written_behind_what_was_printed(tmp_path, monkeypatch):
    with (tmp_path / "out.txt").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        print("printed")
        write_file(f"/dev/fd/{stream.fileno()}", b"written\n")
    assert (tmp_path / "out.txt").read_text() == "printed\nwritten\n"


@pytest.mark.parametrize(
    ("durable", "waited"), [(True, ["file", "renamed", "folder"]), (False, ["renamed"])], ids=["durable", "plain"]
)
def test_what_is_durable_is_on_the_disk_before_it_has_its_name_and_its_name_after(
    durable, waited, tmp_path, monkeypatch
):
    """Also the last byte: a file that is still in memory would be on the disk without it."""
    done, sync, rename = [], os.fsync, os.replace

    def fsync(handle):
        there = os.fstat(handle)
        done.append("folder" if stat.S_ISDIR(there.st_mode) else "file" if there.st_size == 3 else "a part")
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("renamed"), rename(*names)))
    replace_file(tmp_path / "kept", b"new", durable=durable)
    assert done == waited and (tmp_path / "kept").read_bytes() == b"new"


def test_a_file_keeps_its_permissions_and_is_whole_or_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "private.csv"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == 0o640
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        write_file(path, b"newer")
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["private.csv"]


def test_a_file_of_a_folder_that_kinelo_keeps_replaces_a_link_and_leads_nowhere(tmp_path):
    precious, kept = tmp_path / "precious", tmp_path / "kept"
    precious.write_bytes(b"mine")
    kept.symlink_to(precious)
    (tmp_path / f".kept.{os.getpid()}.tmp").symlink_to(precious)
    replace_file(kept, b"content")
    assert precious.read_bytes() == b"mine" and kept.read_bytes() == b"content" and not kept.is_symlink()


def test_two_files_of_a_folder_may_be_written_at_once(tmp_path, monkeypatch):
    rename = os.replace

    def meanwhile(temporary, path):
        if path.name == "one":
            replace_file(tmp_path / "two", b"2")
        rename(temporary, path)

    monkeypatch.setattr(os, "replace", meanwhile)
    replace_file(tmp_path / "one", b"1")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"1", "two": b"2"}


WRITE_THEMSELVES = {
    "runtime/atomic.py",  # their home
    "book", "results/disk.py", "results/store.py", "sweeps/store.py",  # folders that Kinelo keeps
    "lab",  # folders of the lab's own, in the place for temporary files
    "cli/output.py",  # the null device, where a stream is closed
    "cli/rate.py",  # a table into memory, which write_file then writes
}  # fmt: skip
WRITING = re.compile(
    r"""\bos\.(replace|rename)\(|\bshutil\.move\(|\.write_(bytes|parquet|excel)\(|\.to_(netcdf|csv|parquet)\("""
    r"""|\bpath\.write_text\(|\bopen\([^)\n]*["'][rb]*[wax+]"""
)


def test_whatever_writes_a_file_does_so_at_home():
    """A new way to write a file goes through ``write_file``, or is listed here with its reason."""
    found = {}
    for source in SOURCES.rglob("*.py"):
        for line in source.read_text(encoding="utf-8").splitlines():
            if WRITING.search(line) and not line.lstrip().startswith((">>>", "...")):
                found.setdefault(str(source.relative_to(SOURCES)), []).append(line.strip())
    beyond = {
        name: lines
        for name, lines in found.items()
        if not any(name == one or name.startswith(f"{one}/") for one in WRITE_THEMSELVES)
    }
    assert not beyond and len(found) > 5, beyond
