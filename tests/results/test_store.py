import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from toy_run import INPUTS, LAYOUT, ROWS, advance, all_bytes, run

import kinelo.results.disk
import kinelo.results.manifest
import kinelo.results.store
from kinelo.errors import InputError
from kinelo.results.layout import Layout, read_zarr
from kinelo.results.manifest import content_digest
from kinelo.results.store import RunStore


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(folder)
    return folder


def test_a_finished_run_holds_every_row(uninterrupted):
    data = read_zarr(uninterrupted / "data.zarr")
    x = np.linspace(0.1, 0.9, 50)
    for row in range(ROWS):
        x = advance(x)
        assert (data.rating.values[row] == x).all()
        assert data.spread.values[row] == x.std()
    assert data.rating.shape == (ROWS, 50)
    assert data.attrs["last"] == x[0]
    assert data.attrs["gamma"] == 0.05
    assert data.name.values.tolist() == ["Germany", "Brazil"]


def test_checkpoint_interval_does_not_change_the_bytes(uninterrupted, tmp_path):
    run(tmp_path / "run", interval=1e9)
    assert all_bytes(tmp_path / "run") == all_bytes(uninterrupted)


@pytest.mark.long
def test_a_run_killed_at_random_moments_ends_bit_identical(uninterrupted, tmp_path):
    """SIGKILL at three moments drawn with a fixed seed, then to the end."""
    draw = random.Random(20)
    program = [sys.executable, str(Path(__file__).with_name("toy_run.py")), str(tmp_path / "run")]
    killed = 0
    for _ in range(3):
        process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        timer = threading.Timer(draw.uniform(0.0, 0.12), process.send_signal, [signal.SIGKILL])
        timer.start()
        killed += process.wait() == -signal.SIGKILL
        timer.cancel()
        process.stdout.close()
    assert killed >= 1
    assert subprocess.run(program, check=False, capture_output=True).returncode == 0
    assert all_bytes(tmp_path / "run") == all_bytes(uninterrupted)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


class Crash(BaseException):
    """Ends the program wherever it is."""


def crash_at_call(monkeypatch, number: int, error: BaseException):
    """Make the ``number``-th operation that touches the disk fail, half of the time after having been carried out."""
    calls = count(1)  # of several threads

    def failing(original, after):
        def operation(*arguments, **options):
            mine = next(calls)
            if mine == number and not after:
                raise error
            result = original(*arguments, **options)
            if mine == number and after:
                raise error
            return result

        return operation

    after = number % 2 == 0
    # Waiting for the disk changes nothing that is looked at here.
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    for module, name in (
        (kinelo.results.store, "replace_file"),
        (kinelo.results.store, "sync_file"),
        (kinelo.results.manifest, "replace_file"),
        (kinelo.results.disk, "sync_file"),
        (kinelo.results.store, "file_digest"),
        (kinelo.results.store.np, "savez"),
        (kinelo.results.store.os, "replace"),
    ):
        monkeypatch.setattr(module, name, failing(getattr(module, name), after))


def test_a_crash_at_any_disk_operation_is_survived(tmp_path):
    run(tmp_path / "whole", rows=3)
    expected, crashes = all_bytes(tmp_path / "whole"), 0
    for number in count(1):
        folder = tmp_path / str(number) / "run"
        with pytest.MonkeyPatch.context() as patch:
            crash_at_call(patch, number, Crash())
            try:
                run(folder, rows=3)
            except Crash:
                crashes += 1
                # The operation that failed is past: this run meets no other.
                run(folder, rows=3)
        assert all_bytes(folder) == expected
        if crashes < number:
            break
    assert crashes > 20


def test_a_kill_during_finish_is_survived(uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setattr(RunStore, "_commit", lambda *_, **__: (_ for _ in ()).throw(Crash()))
    with pytest.raises(Crash):
        run(tmp_path / "run", interval=1e9)
    monkeypatch.undo()
    # Whoever opens it before it is finished finds it as it was begun: all rows to come, and no attribute of the end.
    (tmp_path / "run" / "data.zarr" / "theta" / "zarr.json").unlink()
    with RunStore.open(tmp_path / "run", INPUTS, LAYOUT) as begun:
        data = begun.dataset()
        assert data.attrs == {"gamma": 0.05} and data.sizes["team"] == 50 and data.rating.shape[0] == LAYOUT.rows
        assert np.isnan(data.rating.values).all()
    run(tmp_path / "run")
    assert all_bytes(tmp_path / "run") == all_bytes(uninterrupted)


def test_a_full_disk_is_said_and_loses_nothing_finished(uninterrupted, tmp_path, monkeypatch):
    crash_at_call(monkeypatch, 101, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(InputError, match=r"disk that holds .* is full \(\d+ MB left\): free at least 1 MB .* --resume"):
        run(tmp_path / "run")
    monkeypatch.undo()
    store = RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    assert store.rows > 5
    store.close()
    run(tmp_path / "run")
    assert all_bytes(tmp_path / "run") == all_bytes(uninterrupted)


def test_a_finished_run_is_not_computed_again(uninterrupted):
    before = {p: p.stat().st_mtime_ns for p in uninterrupted.rglob("*")}
    store = run(uninterrupted)
    assert store.complete
    assert {p: p.stat().st_mtime_ns for p in uninterrupted.rglob("*")} == before


def test_other_inputs_are_refused(uninterrupted):
    before = all_bytes(uninterrupted)
    # The first by name that differs is said, whether it is there, here or on both sides.
    for changed, said in (
        ({"growth": 4}, "growth is 3.9 there and 4 here"),
        ({"growth": 4, "zeal": 1}, "growth is 3.9 there and 4 here"),
        ({"ardour": 1, "growth": 4}, "ardour is None there and 1 here"),
    ):
        with pytest.raises(InputError) as refused:
            RunStore.open(uninterrupted, {**INPUTS, **changed}, LAYOUT)
        assert str(refused.value) == (f"{uninterrupted} holds a run with other inputs: {said}; choose another folder.")
    assert all_bytes(uninterrupted) == before


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError) as refused:
        RunStore.open(tmp_path, INPUTS, LAYOUT)
    assert str(refused.value) == (
        f"{tmp_path} is not a run that Kinelo stored; it is left alone, choose another folder."
    )
    assert all_bytes(tmp_path) == {"thesis.tex": b"precious"}


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "run").write_text("precious")
    with pytest.raises(InputError, match="not a run"):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    assert (tmp_path / "run").read_text() == "precious"


@pytest.mark.parametrize("name", ["data.zarr/rating/c/7/0", "data.zarr/rating/zarr.json", "manifest.json"])
@pytest.mark.parametrize("harm", ["flip", "cut", "remove"])
def test_a_damaged_store_is_refused_and_left_alone(uninterrupted, tmp_path, name, harm):
    folder = shutil.copytree(uninterrupted, tmp_path / "run")
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == "remove":
        path.unlink()
    else:
        path.write_bytes(content if harm == "flip" else content[: len(content) // 2])
    before = all_bytes(folder)
    with pytest.raises(InputError) as refused:
        run(folder)
    assert all_bytes(folder) == before
    if (name, harm) == ("manifest.json", "remove"):
        assert "is not a run that Kinelo stored" in str(refused.value)
    else:
        assert str(refused.value) == (
            f"The stored run {folder} is damaged ({name} is missing or changed); it is left alone, remove the folder "
            "or choose another one to compute it again."
        )


def test_another_format_is_refused(uninterrupted, tmp_path):
    shutil.copytree(uninterrupted, tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    document = json.loads(path.read_text()) | {"format": "kinelo run 99"}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as refused:
        run(tmp_path / "run")
    said = f"{tmp_path / 'run'} was stored in another format ('kinelo run 99'); choose another folder."
    assert str(refused.value) == said


def unfinished(folder: Path) -> Path:
    """A run stopped after a few rows, with rows beyond its checkpoint."""
    with RunStore.open(folder, INPUTS, LAYOUT, interval=0) as store:
        store.append({"rating": np.ones(50), "spread": np.float64(1)}, {"x": np.linspace(0.1, 0.9, 50)})
        store._interval = 1e9
        store.append({"rating": np.ones(50), "spread": np.float64(1)}, {"x": np.ones(50)})
    return folder


def test_continuing_deletes_only_what_the_store_wrote(tmp_path):
    folder = unfinished(tmp_path / "run")
    (tmp_path / "precious").write_text("elsewhere")
    own = [
        "state-7.npz",
        ".manifest.json.123.tmp",
        f"data.zarr/rating/c/9/0.{'0' * 32}.partial",
        "data.zarr/rating/c/9/0",
    ]
    mine = [
        "notes.txt",
        "picture.png",
        "data.zarr/notes",
        "data.zarr/rating/c/notes",
        "state-7.npz.bak",
        "kept/state-1.npz",
    ]
    for name in own + mine:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("something")
    (folder / "state-8.npz").symlink_to(tmp_path / "precious")
    RunStore.open(folder, INPUTS, LAYOUT).close()
    assert not [name for name in own if (folder / name).exists()]
    assert all((folder / name).read_text() == "something" for name in mine)
    assert (folder / "state-8.npz").read_text() == "elsewhere"


def test_a_run_is_the_work_of_one_version(uninterrupted, tmp_path, monkeypatch):
    folder = unfinished(tmp_path / "run")
    monkeypatch.setattr(kinelo.results.store, "__version__", "99.0")
    before = all_bytes(folder)
    with pytest.raises(InputError) as refused:
        RunStore.open(folder, INPUTS, LAYOUT)
    assert str(refused.value) == (
        f"{folder} holds a run that Kinelo {kinelo.__version__} began and did not finish; continue it with that "
        "version, or choose another folder to compute it with 99.0."
    )
    assert all_bytes(folder) == before
    with RunStore.open(uninterrupted, INPUTS, LAYOUT) as finished:
        assert finished.complete


def rewritten(folder: Path, **changes) -> None:
    """Change the manifest's content as another version might have written it, digest and all."""
    path = folder / "manifest.json"
    document = json.loads(path.read_text())
    content = {name: value for name, value in (document["content"] | changes).items() if value is not None}
    path.write_text(json.dumps(document | {"content": content, "digest": content_digest(content)}))


def test_fields_of_another_version_are_named(tmp_path, monkeypatch):
    rewritten(unfinished(tmp_path / "run"), zest=1, colour="blue", hue="light")
    with pytest.raises(InputError) as refused:
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    assert str(refused.value) == (
        f"The stored run {tmp_path / 'run'} says 'colour', which Kinelo {kinelo.__version__} does not know: it comes "
        "from another version; it is left alone, choose another folder."
    )
    rewritten(unfinished(tmp_path / "old"), version=None, state="state-1.npz")
    monkeypatch.setattr(kinelo.results.store, "__version__", "99.0")
    with pytest.raises(InputError, match=r"Kinelo 0\.1\.0 began"):
        RunStore.open(tmp_path / "old", INPUTS, LAYOUT)


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PK")])
def test_a_state_that_is_gone_meanwhile_is_not_taken_for_none(tmp_path, harm):
    folder = unfinished(tmp_path / "run")
    with RunStore.open(folder, INPUTS, LAYOUT) as store:
        harm(folder / "state-1.npz")
        with pytest.raises(InputError, match=r"is damaged \(state-1\.npz is missing or changed\)"):
            _ = store.state


def test_one_process_at_a_time(tmp_path):
    with RunStore.open(tmp_path / "run", INPUTS, LAYOUT), pytest.raises(InputError) as refused:
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    said = f"Another process is working on {tmp_path / 'run'}; wait for it or choose another folder."
    assert str(refused.value) == said
    RunStore.open(tmp_path / "run", INPUTS, LAYOUT).close()


def test_rows_not_yet_computed_read_as_nan(tmp_path):
    with RunStore.open(tmp_path / "run", INPUTS, LAYOUT, interval=0) as store:
        store.append({"rating": np.ones(50), "spread": np.float64(0)}, {"x": np.ones(50)})
        assert np.isnan(store.dataset().rating.values[1:]).all()
        assert (store.dataset().rating.values[0] == 1).all()


def test_a_system_without_locks_of_folders_is_told_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(InputError, match="which Windows cannot"):
        run(tmp_path / "run")
    assert not (tmp_path / "run").exists() and not list(tmp_path.iterdir())


def test_rows_come_back_as_they_were_given(tmp_path):
    """Doubles, whole numbers, values out of order, a single number, NaN here and there, and nothing but NaN."""
    layout = Layout(rows=2, fixed={}, series={"r": (("a", "b"), (2, 3)), "n": (("a",), (2,)), "x": ((), ())})
    rows = [
        {"r": np.arange(6.0).reshape(3, 2).T, "n": np.array([1, 2]), "x": np.float64(-0.0)},
        {"r": np.array([[0.1, np.nan, -0.0], [1e300, np.inf, 5e-324]]), "n": np.array([np.nan] * 2), "x": 7},
    ]
    with RunStore.open(tmp_path / "run", {}, layout) as store:
        for row in rows:
            store.append(row, {})
        store.finish()
        stored = store.dataset()
    for name in layout.series:
        given = np.stack([np.asarray(row[name], dtype=np.float64) for row in rows])
        assert stored[name].values.tobytes() == given.tobytes()
    assert "data.zarr/n/c/0/0" in all_bytes(tmp_path / "run"), "one file per row"
    assert "data.zarr/n/c/1/0" not in all_bytes(tmp_path / "run"), "none for a row of nothing but NaN"


@pytest.mark.parametrize(
    "files",
    [
        {"../stolen": "x"},
        {"data.zarr/../../stolen": "x"},
        {"": "x"},
        {"data.zarr//x": "x"},
        {"a\\..\\b": "x"},
        {".": "x"},
        7,
    ],
)
def test_a_manifest_that_names_files_elsewhere_is_damaged(uninterrupted, tmp_path, files):
    shutil.copytree(uninterrupted, tmp_path / "run")
    rewritten(tmp_path / "run", files=files)
    with pytest.raises(InputError, match="damaged"):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)


@pytest.mark.parametrize("state", ["../state-1.npz", "state", 7])
def test_a_manifest_that_names_a_state_elsewhere_is_damaged(tmp_path, state):
    rewritten(unfinished(tmp_path / "run"), state=state)
    with pytest.raises(InputError, match="damaged"):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)


def test_a_file_elsewhere_is_damage_even_where_it_is_as_the_manifest_says(uninterrupted, tmp_path):
    shutil.copytree(uninterrupted, tmp_path / "run")
    files = json.loads((tmp_path / "run" / "manifest.json").read_text())["content"]["files"]
    name, digest = next(iter(files.items()))
    (tmp_path / "run" / name).rename(tmp_path / "taken")
    rewritten(
        tmp_path / "run", files={other: one for other, one in files.items() if other != name} | {"../taken": digest}
    )
    with pytest.raises(InputError, match="damaged"):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
