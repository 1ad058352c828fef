"""``kinelo simulate`` killed at any moment and resumed ends at the bytes of a run left alone."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kinelo.cli import app
from kinelo.studies import read_study
from kinelo.studies.simulation import run_simulation

STUDY = """
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
league = { kind = "homogeneous", teams = 30, sigma = 1.0 }
simulate = { steps = 60, matches_per_step = 25, realisations = 4, record_every = 1, seed = 1 }
"""
# Every record is a checkpoint, and takes long enough for a kill to fall anywhere between and within them.
CHILD = """
import sys, time
import kinelo.micro.simulate as simulate, kinelo.results.store as store
store.INTERVAL, simulate.FIRST_ROUND = 0.0, int(sys.argv.pop(1))
commit = store.RunStore._commit
def slow(self, **how):
    time.sleep(0.02)
    commit(self, **how)
store.RunStore._commit = slow
from kinelo.cli import main
main()
"""


def stored(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows_kept(run: Path) -> int:
    return max((int(path.stem.removeprefix("state-")) for path in run.glob("state-*.npz")), default=0)


@pytest.mark.xdist_group("processes")
def test_a_killed_run_ends_at_the_same_bytes(tmp_path):
    study, out, draw = tmp_path / "study.toml", tmp_path / "out", random.Random(7)
    study.write_text(STUDY, encoding="utf-8")
    seen = [0]
    for threads, matches in ((1, 16), (2, 1 << 14)):
        more = ["--resume"] if out.exists() else []
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(matches), "simulate", str(study), "--out", str(out), "--threads",
             str(threads), *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while process.poll() is None and rows_kept(out / "run") <= seen[-1]:
            time.sleep(0.005)
        time.sleep(draw.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL
        seen.append(rows_kept(out / "run"))
    assert 0 < seen[1] < seen[2] < 61
    done = CliRunner().invoke(app, ["simulate", str(study), "--out", str(out), "--resume"])
    assert done.exit_code == 0, done.output
    run_simulation(read_study(study), tmp_path / "whole", threads=1)
    assert stored(out / "run") == stored(tmp_path / "whole")
