"""Schedulers that cannot be used, and what takes long on a real cluster of two processes (the rest: ``runtime``)."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.runtime import workers
from kinelo.runtime.workers import scheduler_client

pytest.importorskip("distributed", reason="needs kinelo[dask]")


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(workers, "ANSWER_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://here"):
        with pytest.raises(InputError, match="No Dask scheduler answers at"), scheduler_client(address):
            pass


def test_a_scheduler_without_workers_is_told(monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(workers, "WORKERLESS_SECONDS", 0.2)
    nobody = LocalCluster(n_workers=0, processes=False, dashboard_address=":0")
    with nobody, Client(nobody) as client, pytest.raises(InputError, match="has had no worker for 0 s; start workers"):
        kn.sweep(lambda x: x, {"x": [1]}, client=client)


LONG = """
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
league = { kind = "homogeneous", teams = 20, sigma = 1.0 }
simulate = { steps = STEPS, seed = 1 }
[sweep]
gamma = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]
"""


def somebody_left(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long
def test_ctrl_c_ends_a_sweep_and_its_workers_and_resume_completes_it(tmp_path):
    """As a terminal does it: the signal goes to every process at once."""
    (tmp_path / "study.toml").write_text(LONG.replace("STEPS", "300_000"))
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from kinelo.cli import main; main()"
    )
    command = [
        sys.executable,
        "-c",
        program,
        "study",
        "sweep",
        str(tmp_path / "study.toml"),
        "--out",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(
        [*command, "--workers", "2"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    points = tmp_path / "out" / "sweep" / "points"
    while process.poll() is None and not [*points.glob("*.zip")]:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "go on with --resume" in said and "Traceback" not in said and "distributed" not in said
    for _ in range(1000):  # Python's tracker of shared resources ends a moment after what it tracks
        if not somebody_left(process.pid):
            break
        time.sleep(0.01)
    assert not somebody_left(process.pid)
    kept = tree(points)
    assert 0 < len(kept) < 8
    subprocess.run([*command, "--resume"], check=True, capture_output=True)
    assert tree(points).items() >= kept.items() and len(tree(points)) == 8


@pytest.mark.long
def test_a_point_that_needs_too_much_memory_is_told_and_the_others_stay(client, tmp_path):
    def greedy(x, least=3_000_000_000):
        held = []
        while x == 2 and len(held) * 50_000_000 < least:
            held.append(np.ones(50_000_000, dtype=np.uint8))
            time.sleep(0.01)
        return x**2

    with pytest.warns(KineloWarning, match="1 of 3 points .*too much memory"):
        far = kn.sweep(greedy, {"x": [1, 2, 3]}, client=client, out=tmp_path / "far")
    assert far.value.values.tolist()[::2] == [1.0, 9.0] and "too much memory" in str(far.failure.values[1])
    near = kn.sweep(lambda x: x**2, {"x": [1, 2, 3]}, out=tmp_path / "near")
    assert near.value.values[2] == 9
    stored = tree(tmp_path / "near" / "points")
    assert tree(tmp_path / "far" / "points") == {name: stored[name] for name in ("0.zip", "2.zip")}
