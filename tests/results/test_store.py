import errno
import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from toy_run import INPUTS, LAYOUT, ROWS, advance, all_bytes, run

import kinelo.results.disk
import kinelo.results.manifest
import kinelo.results.store
from kinelo.errors import InputError
from kinelo.results.layout import read_zarr
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


def test_a_run_killed_at_random_moments_ends_bit_identical(uninterrupted, tmp_path):
    """SIGKILL at six moments drawn with a fixed seed, then to the end."""
    draw = random.Random(20)
    program = [sys.executable, str(Path(__file__).with_name("toy_run.py")), str(tmp_path / "run")]
    killed = 0
    for _ in range(6):
        process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        timer = threading.Timer(draw.uniform(0.0, 0.12), process.send_signal, [signal.SIGKILL])
        timer.start()
        killed += process.wait() == -signal.SIGKILL
        timer.cancel()
        process.stdout.close()
    assert killed >= 3
    assert subprocess.run(program, check=False, capture_output=True).returncode == 0
    assert all_bytes(tmp_path / "run") == all_bytes(uninterrupted)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


class Crash(BaseException):
    """Ends the program wherever it is."""


def crash_at_call(monkeypatch, number: int, error: BaseException):
    """Make the ``number``-th operation that touches the disk fail, half of the time after having been carried out."""
    calls = 0

    def failing(original, after):
        def operation(*arguments, **options):
            nonlocal calls
            calls += 1
            mine = calls
            if mine == number and not after:
                raise error
            result = original(*arguments, **options)
            if mine == number and after:
                raise error
            return result

        return operation

    after = number % 2 == 0
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


def test_a_crash_at_any_disk_operation_is_survived(uninterrupted, tmp_path):
    expected = all_bytes(uninterrupted)
    for number in [*range(1, 24), *range(24, 300, 23)]:
        folder = tmp_path / str(number) / "run"
        with pytest.MonkeyPatch.context() as patch:
            crash_at_call(patch, number, Crash())
            with pytest.raises(Crash):
                run(folder)
        run(folder)
        assert all_bytes(folder) == expected


def test_a_kill_during_finish_is_survived(uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setattr(RunStore, "_commit", lambda *_, **__: (_ for _ in ()).throw(Crash()))
    with pytest.raises(Crash):
        run(tmp_path / "run", interval=1e9)
    monkeypatch.undo()
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
    with pytest.raises(InputError, match=r"growth is 3\.9 there and 4 here"):
        RunStore.open(uninterrupted, {**INPUTS, "growth": 4}, LAYOUT)
    assert all_bytes(uninterrupted) == before


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="is not a run that Kinelo stored"):
        RunStore.open(tmp_path, INPUTS, LAYOUT)
    assert all_bytes(tmp_path) == {"thesis.tex": b"precious"}


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "run").write_text("precious")
    with pytest.raises(InputError, match="not a run"):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    assert (tmp_path / "run").read_text() == "precious"


@pytest.mark.parametrize("name", ["data.zarr/rating/c/7/0", "data.zarr/rating/zarr.json", "manifest.json"])
@pytest.mark.parametrize("harm", ["flip", "cut", "remove"])
def test_a_damaged_store_is_refused_and_left_alone(uninterrupted, tmp_path, name, harm):
    folder = tmp_path / "run"
    run(folder)
    path = folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == "remove":
        path.unlink()
    else:
        path.write_bytes(content if harm == "flip" else content[: len(content) // 2])
    before = all_bytes(folder)
    with pytest.raises(InputError, match=r"damaged|not a run|another format"):
        run(folder)
    assert all_bytes(folder) == before


def test_another_format_is_refused(uninterrupted, tmp_path):
    run(tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    document = json.loads(path.read_text()) | {"format": "kinelo run 99"}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="another format"):
        run(tmp_path / "run")


def test_one_process_at_a_time(tmp_path):
    with (
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT),
        pytest.raises(InputError, match="Another process is working on"),
    ):
        RunStore.open(tmp_path / "run", INPUTS, LAYOUT)
    RunStore.open(tmp_path / "run", INPUTS, LAYOUT).close()


def test_rows_not_yet_computed_read_as_nan(tmp_path):
    with RunStore.open(tmp_path / "run", INPUTS, LAYOUT, interval=0) as store:
        store.append({"rating": np.ones(50), "spread": np.float64(0)}, {"x": np.ones(50)})
        assert np.isnan(store.dataset().rating.values[1:]).all()
        assert (store.dataset().rating.values[0] == 1).all()
