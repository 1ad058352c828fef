"""A pipe, a folder, a link to nothing or JSON without end in the place of a file: one sentence, at once, no traces."""

import json
import os
import signal

import numpy as np
import pytest
import xarray as xr

import kinelo as kn
from bad_input import matches
from kinelo.lab.rate.controller import read_session
from kinelo.paper.figure import read_figures
from kinelo.paper.folder import FOLDER_MARK, _is_reproduction, read_content
from kinelo.results.layout import Layout, read_dataset, write_dataset
from kinelo.results.store import RunStore
from kinelo.studies import read_study
from kinelo.sweeps.store import SweepStore
from kinelo.sweeps.study import read_sweep

LAYOUT = Layout(rows=2, fixed={}, series={"rating": (("team",), (2,))})
GAMES = {"home": ["A"], "away": ["B"], "result": [1.0]}
DEEP = [
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"format": ' + "[" * 3000 + "]" * 3000 + "}",
    "{}",
    "[]",
    "null",
    "5",
    '"',
    "\0",
]


def stored_run(folder):
    with RunStore.open(folder, {"seed": 1}, LAYOUT, interval=0.0) as store:
        store.append({"rating": np.zeros(2)}, state={"row": np.array(1)})


def reopened_run(path):
    with RunStore.open(path.parent, {"seed": 1}, LAYOUT) as store:
        return store.state


def stored_sweep(folder):
    kn.sweep(lambda n: 1 / n, {"n": [1, 0]}, out=folder)


def stored_dataset(folder):
    write_dataset(xr.Dataset({"x": ("n", [1.0, 2.0])}), folder)


def read_whole(path):
    """A dataset is read when it is used; a part that is missing is empty there."""
    return read_dataset(next(one for one in path.parents if one.name == "data"))


READERS = {
    "games.csv": (None, kn.read_matches),
    "races.csv": (None, kn.read_contests),
    "line-ups.csv": (None, lambda path: kn.read_matches(GAMES, path)),
    "aliases.csv": (None, lambda path: kn.read_matches(GAMES, aliases=path)),
    "many.parquet": (None, lambda path: list(kn.matches.scan_matches(path).pieces())),
    "races.parquet": (None, lambda path: list(kn.matches.scan_contests(path).chunks())),
    "start.csv": (None, lambda path: kn.TeamElo.classic(k=20, start=path).fit(matches())),
    "k.csv": (None, lambda path: kn.TeamElo.classic(k=20, k_of=path).fit(matches())),
    "in-use.csv": (None, lambda path: kn.audit(matches(), ratings=path)),
    "study.toml": (None, read_study),
    "sweep.toml": (None, read_sweep),
    "figures/one.toml": (None, lambda path: read_figures(path.parent)),
    "session.json": (None, lambda path: read_session(path, "session", 10, 10)),
    "report.json": (None, lambda path: read_content(path.parent)),
    "run/manifest.json": (stored_run, reopened_run),
    "run/state-1.npz": (stored_run, reopened_run),
    "data/zarr.json": (stored_dataset, read_whole),
    "data/x/zarr.json": (stored_dataset, read_whole),
    "data/x/c/0": (stored_dataset, read_whole),
    "swept/manifest.json": (stored_sweep, lambda path: stored_sweep(path.parent)),
}
"""File → what makes the folder it lies in, and what reads it."""


NO_HARM = ("{}", "[]", "null", "5")
"""Texts that some readers may take."""
WAITED_FOR = ("pipe", "link to nothing", "link to itself", "link to a device")


def in_the_way():
    """What may stand where a file is expected, each put there by a function of its path."""
    yield "folder", lambda path: path.mkdir()
    yield "pipe", os.mkfifo
    yield "link to nothing", lambda path: path.symlink_to("nowhere")
    yield "link to itself", lambda path: path.symlink_to(path.name)
    yield "link to a device", lambda path: path.symlink_to("/dev/null")
    yield "link to a folder", lambda path: path.symlink_to(".")
    for text in DEEP:
        yield text[:12], lambda path, text=text: path.write_text(text)


def tree(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.fixture
def at_once():
    """Whatever waits for a pipe is interrupted."""

    def late(number, frame):
        raise TimeoutError("something waited for a file")

    before = signal.signal(signal.SIGALRM, late)
    yield lambda: signal.alarm(60)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_gets_one_sentence_and_reading_leaves_no_trace(name, tmp_path, monkeypatch, at_once):
    make, read = READERS[name]
    monkeypatch.chdir(tmp_path)
    for number, (kind, put) in enumerate(in_the_way()):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / name
        if make is not None:
            make(folder / name.partition("/")[0])
            path.unlink()
        path.parent.mkdir(exist_ok=True)
        put(path)
        before = tree(folder)
        at_once()
        try:
            read(path)
        except kn.InputError as refused:
            said = str(refused)
        else:
            said = ""
            assert kind in NO_HARM or (name.startswith("data/x") and kind not in WAITED_FOR), kind
        assert "\n" not in said and tree(folder) == before, kind


def test_a_reproduction_is_known_by_its_mark_alone(tmp_path, at_once):
    at_once()
    for number, (_, put) in enumerate(in_the_way()):
        folder = tmp_path / str(number)
        folder.mkdir()
        put(folder / FOLDER_MARK)
        assert not _is_reproduction(folder)


def test_a_point_of_a_sweep_that_is_damaged_says_so(tmp_path, at_once):
    at_once()
    with pytest.warns(kn.KineloWarning):
        stored_sweep(tmp_path / "swept")
    document = json.loads((tmp_path / "swept/manifest.json").read_text())
    [failed] = (tmp_path / "swept/failed").iterdir()
    [point] = (tmp_path / "swept/points").iterdir()
    for _, put in in_the_way():
        with SweepStore(tmp_path / "swept", document["inputs"]) as store:
            for path in (failed, point):
                kept = path.read_bytes()
                path.unlink()
                put(path)
                with pytest.raises(kn.InputError, match="is damaged"):
                    store.read(int(path.stem))
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
                path.write_bytes(kept)
